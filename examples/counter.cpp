/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counter of counter.c in C++17: all ranks increment one counter that lives at rank 0, by a
 * get and a put under one lock of a table of a thousand.
 *
 *   mpicxx -std=c++17 counter.cpp $(pkg-config --cflags --libs pawl) -o counter
 *   mpirun -n 4 ./counter
 *
 * Open MPI 4.1 needs OMPI_MCA_osc=^rdma for MPI_Win_allocate on one node.
 */
#include <pawl.hpp>

#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace
{

constexpr int turns = 1000;

/* The counter in memory of rank 0. */
class counter
{
      public:
	counter()
	{
		MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mine_,
				 &win_);
		MPI_Win_lock_all(MPI_MODE_NOCHECK, win_);
		*mine_ = 0;
		MPI_Win_sync(win_);
		MPI_Barrier(MPI_COMM_WORLD);
	}

	~counter()
	{
		MPI_Win_unlock_all(win_);
		MPI_Win_free(&win_);
	}

	counter(const counter &) = delete;
	counter &operator=(const counter &) = delete;

	long get()
	{
		long value;

		MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win_);
		MPI_Win_flush(0, win_);
		return value;
	}

	/* Flushed, for the next holder is to see it. */
	void put(long value)
	{
		MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win_);
		MPI_Win_flush(0, win_);
	}

      private:
	MPI_Win win_ = MPI_WIN_NULL;
	long *mine_ = nullptr;
};

int run()
{
	int rank, ranks;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	pawl::table table(MPI_COMM_WORLD, 1000);
	counter c;

	for (int i = 0; i < turns / 2; i++) {
		auto held = table.lock(7); /* until the end of the scope */
		c.put(c.get() + 1);
	}
	for (int i = 0; i < turns / 2; i++) {
		/* The same lock, by the standard library. */
		auto mutex = table[7];
		const std::lock_guard guard(mutex);
		c.put(c.get() + 1);
	}

	MPI_Barrier(MPI_COMM_WORLD);
	const long value = c.get(), expected = long(ranks) * turns;
	if (rank == 0)
		std::printf("counter: %ld, expected %ld\n", value, expected);
	MPI_Barrier(MPI_COMM_WORLD);
	return value == expected ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace

int main(int argc, char **argv)
{
	int status = EXIT_FAILURE;

	MPI_Init(&argc, &argv);
	try {
		status = run();
	} catch (const pawl::error &e) {
		std::fprintf(stderr, "%s: %s\n", e.phrase(), e.what());
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	}
	MPI_Finalize();
	return status;
}

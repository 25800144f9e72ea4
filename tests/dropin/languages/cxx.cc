// SPDX-License-Identifier: BSD-3-Clause
// A C++ program: words of all ranks, added to under exclusive locks, read under
// shared ones and under MPI_Win_lock_all. TEST_BREAK=1: no lock has an effect.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/tap.h"

namespace
{
class Window
{
      public:
	explicit Window(MPI_Comm comm) : win_(MPI_WIN_NULL), base_(nullptr)
	{
		MPI_Win_allocate(2 * sizeof(std::int64_t), sizeof(std::int64_t), MPI_INFO_NULL,
				 comm, &base_, &win_);
		MPI_Comm_rank(comm, &rank_);
		Lock own(*this, MPI_LOCK_EXCLUSIVE, rank_);
		base_[0] = base_[1] = 0;
	}
	~Window()
	{
		MPI_Win_free(&win_);
	}
	Window(const Window &) = delete;
	Window &operator=(const Window &) = delete;

	class Lock
	{
	      public:
		Lock(Window &w, int type, int target) : w_(w), target_(target)
		{
			MPI_Win_lock(type, target, assertion(), w.win_);
		}
		~Lock()
		{
			MPI_Win_unlock(target_, w_.win_);
		}
		Lock(const Lock &) = delete;
		Lock &operator=(const Lock &) = delete;

	      private:
		Window &w_;
		int target_;
	};

	std::int64_t get(int target)
	{
		std::int64_t word = -1;
		MPI_Get(&word, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win_);
		MPI_Win_flush(target, win_);
		return word;
	}
	void put(int target, std::int64_t word)
	{
		MPI_Put(&word, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win_);
		MPI_Win_flush(target, win_);
	}
	void lock_all()
	{
		MPI_Win_lock_all(assertion(), win_);
	}
	void unlock_all()
	{
		MPI_Win_unlock_all(win_);
	}

      private:
	static int assertion()
	{
		const char *text = std::getenv("TEST_BREAK");
		return text && std::strcmp(text, "1") == 0 ? MPI_MODE_NOCHECK : 0;
	}
	MPI_Win win_;
	std::int64_t *base_;
	int rank_;
};

void result(bool good, int rank, const char *name)
{
	int all = good;
	MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	tap_silent = rank != 0;
	ok(all != 0, "%s", name);
}

// Time for others, within the MPI.
void pause_a_moment()
{
	for (double end = MPI_Wtime() + 20e-6; MPI_Wtime() < end;) {
		int flag;
		MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	}
}

void run(int rank, int size)
{
	std::vector<std::int64_t> done(static_cast<std::size_t>(size), 0);
	Window w(MPI_COMM_WORLD);

	MPI_Barrier(MPI_COMM_WORLD);
	double end = MPI_Wtime() + 0.1;
	for (int i = 0; i < 5 || MPI_Wtime() < end; i++) {
		int target = i % 2 ? 0 : (rank + i) % size;
		Window::Lock lock(w, MPI_LOCK_EXCLUSIVE, target);
		std::int64_t word = w.get(target);
		pause_a_moment();
		w.put(target, word + 1);
		done[static_cast<std::size_t>(target)]++;
	}
	MPI_Allreduce(MPI_IN_PLACE, done.data(), size, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	bool good = true;
	for (int t = 0; t < size; t++) {
		Window::Lock lock(w, MPI_LOCK_SHARED, t);
		good = good && w.get(t) == done[static_cast<std::size_t>(t)];
	}
	result(good, rank, "exclusive locks");

	w.lock_all();
	MPI_Barrier(MPI_COMM_WORLD);
	good = true;
	for (int t = 0; t < size; t++)
		good = good && w.get(t) == done[static_cast<std::size_t>(t)];
	w.unlock_all();
	result(good, rank, "MPI_Win_lock_all");
}
} // namespace

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	run(rank, size);
	const int status = tap_plan();
	MPI_Finalize();
	return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU time, in ns, of an uncontended std::lock_guard, for benchmarks/languages/run. */
#include <pawl.hpp>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>

/* Apart from the rest of the program, for callgrind. */
extern "C" __attribute__((noinline)) void take_turns(pawl::mutex &mutex, long turns)
{
	for (long i = 0; i < turns; i++)
		const std::lock_guard guard(mutex);
}

int main(int argc, char **argv)
{
	const long turns = argc > 1 ? std::atol(argv[1]) : 1000000;

	MPI_Init(&argc, &argv);
	{
		pawl::table table(MPI_COMM_WORLD, "d-mcs");
		pawl::mutex mutex = table[0];
		const std::clock_t begin = std::clock();

		take_turns(mutex, turns);
		std::printf("%.2f\n",
			    double(std::clock() - begin) / CLOCKS_PER_SEC / double(turns) * 1e9);
	}
	MPI_Finalize();
	return EXIT_SUCCESS;
}

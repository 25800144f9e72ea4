# SPDX-License-Identifier: BSD-3-Clause
"""CPU time, in ns, of an uncontended `with table.lock(0)`, for benchmarks/languages/run."""

import sys
import time

from mpi4py import MPI

import pawl


def main():
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    with pawl.Table(MPI.COMM_WORLD, "d-mcs") as table:
        begin = time.process_time()
        for _ in range(turns):
            with table.lock(0):
                pass
        print(f"{(time.process_time() - begin) / turns * 1e9:.2f}")


main()

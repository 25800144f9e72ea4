#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every kind of lock on one node: alone, by two, and by more ranks than a small machine
# has cores.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
lock=$builddir/tests/lock
long=${TEST_LONG-}
[ -n "$long" ] && short= || short=1
# MPICH takes seconds to create a table for ranks that share cores.
most=8
[ -n "$long" ] || [ "$TEST_MPI" != mpich ] || most=4

# A step that hangs is ended by the program's own limit.
seconds=300
[ -z "$long" ] || seconds=1800
tap_program "1 rank" mpi_run 1 $seconds "$lock/holders/exclusion" ${short:+--budget 0.02}
for ranks in 2 ${long:+4}; do
	tap_program "$ranks ranks" mpi_run $ranks $seconds "$lock/holders/exclusion" ${short:+--budget 0.04}
done
# A critical section of the MPI's own lock takes milliseconds here. Two ranks of the second MPI have
# shown that the baselines' windows work there.
except=mpi-win-lock
[ -z "$TEST_SECOND" ] || [ -n "$long" ] || except=baselines
tap_program "$most ranks" mpi_run $most $seconds "$lock/holders/exclusion" --except $except \
	${short:+--budget 0.05}
tap_program "windows by MPI_Win_create, 2 ranks" mpi_run 2 $seconds "$lock/holders/exclusion" \
	--only mpi-win-lock --set native_window=create ${short:+--budget 0.02}
# The MPI awaits requests.
tap_program "MPI_THREAD_MULTIPLE, 3 ranks" mpi_run 3 60 "$lock/holders/exclusion" --only adaptive \
	--threads 1 ${short:+--budget 0.02}
# Its servers are threads.
tap_program "rpc, 4 ranks" mpi_run 4 120 "$lock/holders/exclusion" --only rpc --threads 1 \
	${short:+--budget 0.04}
tap_program "rpc, errors" mpi_run 3 60 "$lock/calls/errors" --only rpc --threads 1
tap_program "errors, 3 ranks" mpi_run 3 120 "$lock/calls/errors"
tap_program "events, 4 ranks" mpi_run 4 60 "$lock/holders/events"
tap_program "threads, 2 ranks" mpi_run 2 120 "$lock/holders/threads" ${short:+--budget 0.04}
# Without the watchdog, as programs run by default, acquires and releases take the shortest way.
tap_program "leases, 3 ranks" mpi_run 3 120 env PAWL_WATCHDOG=0 "$lock/deaths/leases" \
	${short:+--budget 0.04}
tap_program "abandoned, 2 ranks" mpi_run 2 60 "$lock/deaths/abandon" --set max_held=1
tap_program "rehomed, 3 ranks" mpi_run 3 120 "$lock/table/rehomed"
tap_program "shrunk, 3 ranks" mpi_run 3 60 "$lock/deaths/shrunk"
tap_program "timed acquires, 4 ranks" mpi_run 4 120 "$lock/holders/timed" ${short:+--budget 0.04}
tap_program "optimistic reads, 4 ranks" mpi_run 4 120 "$lock/holders/reads" ${short:+--budget 0.04}
tap_program "waiting, 2 ranks" mpi_run 2 120 "$lock/calls/waiting"
[ -z "$long" ] || tap_program "waiting, 4 ranks" mpi_run 4 120 "$lock/calls/waiting"
tap_program "no threads, 2 ranks" mpi_run 2 60 "$lock/calls/progress"
tap_program "progress, 2 ranks" mpi_run 2 60 "$lock/calls/progress" --threads 1

finish

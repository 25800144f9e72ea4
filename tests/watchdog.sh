#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Repeated reports of a long wait, with rank, host, table and lock.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
trap 'rm -f watchdog.err' EXIT
report="pawl: rank 2 of MPI_COMM_WORLD on host $(hostname) has waited [0-9.]* s at lock 7 of a table"

# After 0.25 s, 0.5 s and 1 s; on a busy machine one of these may be missing.
reports()
{
	mpi_run 3 60 "$builddir/tests/lock/watchdog" "$1" 2>watchdog.err || return 1
	grep '^pawl: ' watchdog.err
	n=$(grep -c "^$report ($1, 9 locks) for " watchdog.err)
	[ "$n" -ge 2 ] && [ "$n" -le 4 ] && [ "$n" = "$(grep -c '^pawl: ' watchdog.err)" ]
}
# A kind that waits for a word, and one that polls.
check "a queue lock" reports d-mcs
check "a lock by compare and swap" reports cas-backoff

finish

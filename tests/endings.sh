#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tables that outlive the MPI or are inherited by a fork, and those of MPI-4's sessions.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
program=$builddir/tests/lock/table/endings
trap 'rm -f endings.out endings.err' EXIT

# ending RANKS WAY KIND: the program succeeds, finds nothing wrong, and prints $named on stderr once,
# or no message of Pawl if that is empty.
ending()
{
	mpi_run "$1" 60 "$program" "$2" "$3" >endings.out 2>endings.err
	ending_status=$?
	grep '^wrong: ' endings.out
	grep '^pawl: ' endings.err
	if [ $ending_status != 0 ]; then
		echo "status $ending_status"
		tail -n 15 endings.err
		return 1
	fi
	! grep -q '^wrong: ' endings.out || return 1
	if [ -n "$named" ]; then
		[ "$(grep -c '^pawl: ' endings.err)" = 1 ] && grep -q "^pawl: .*$named" endings.err
	else
		! grep -q '^pawl: ' endings.err
	fi
}

unfreed="(d-mcs, 9 locks) was not freed before MPI_Finalize"
named=$unfreed
check "calls after MPI_Finalize return codes" ending 2 after-finalize d-mcs
check "a table freed by a destructor of the program" ending 2 in-destructor d-mcs
check "a table that was forgotten is named" ending 2 forgotten d-mcs
check "its progress thread ends" ending 2 forgotten-thread d-mcs
named="(rpc, 9 locks) was not freed before MPI_Finalize"
check "the threads of a kind end" ending 2 forgotten rpc
named="(mt, 9 spaces) was not freed before MPI_Finalize"
check "those of a kind with ranges end" ending 2 forgotten mt
named=$unfreed
if grep -q '^Libs.private:.*-lucp\|^Requires.private:.*ucx' "$builddir/pawl.pc"; then
	check "a thread of UCX ends" ending 2 forgotten-ucx d-mcs
else
	skip "a thread of UCX ends" "no UCX in this build"
fi
named=
check "another library frees its table in MPI_Finalize" ending 2 library d-mcs
check "the child of a fork is refused, its parent goes on" ending 2 fork rma-mcs
check "before MPI_Init" ending 2 before-init d-mcs
check "a table that is held is not freed, and says so" ending 3 held rma-rw

mpi_run 1 60 "$program" session d-mcs >endings.out 2>&1
if [ $? = 77 ]; then
	skip "tables in a session" "this MPI has no sessions"
else
	for kind in d-mcs rma-mcs rma-rw; do
		check "tables of $kind in a session" ending 2 session $kind
	done
	named="(d-mcs, 9 locks) was not freed before the end of the process"
	check "a table forgotten in a session is named" ending 2 forgotten-session d-mcs
fi

finish

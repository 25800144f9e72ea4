#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every kind of lock over TCP between two hosts of two ranks.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
case $TEST_MPI in
openmpi | mpich) ;;
*) skip_all "netcluster knows Open MPI and MPICH" ;;
esac
lock=$builddir/tests/lock
short=yes seconds=120 most=300
# At full length on a busy machine; a step that hangs is ended by the program's own limit.
[ -z "${TEST_LONG-}" ] || short= seconds=900 most=1800

cluster()
{
	cluster_seconds=$1
	shift
	"$srcdir/tests/netcluster" run -n 4 --hosts 2 --mpi "$TEST_MPI" --timeout "$cluster_seconds" "$@"
}

said=$(cluster 60 -- true 2>&1)
[ $? != 77 ] || skip_all "$said"

tap_program "2 hosts x 2" cluster $most -- "$lock/holders/exclusion" --except mpi-win-lock --limit 120 \
	${short:+--budget 0.03}
tap_program "2 hosts x 2, mpi-win-lock" cluster $seconds -- "$lock/holders/exclusion" --only mpi-win-lock \
	${short:+--budget 0.05}
tap_program "2 hosts x 2, sharing" cluster $seconds -- "$lock/table/creation"
tap_program "2 hosts x 2, rpc" cluster $seconds -- "$lock/holders/exclusion" --only rpc --threads 1
tap_program "2 hosts x 2, small thresholds" cluster $seconds -- "$lock/holders/exclusion" --only rma-rw \
	--set t_l=1 --set t_r=1 --set t_w=2
tap_program "2 hosts x 2, cohorts" cluster $seconds -- "$lock/holders/cohorts"
tap_program "2 hosts x 2, operations" cluster $seconds -- "$lock/calls/operations"
[ -n "$short" ] || tap_program "2 hosts x 2, ranges" cluster $seconds -- "$lock/holders/ranges" --limit 120
tap_program "2 hosts x 2, ranges, with threads" cluster $most -- "$lock/holders/ranges" --limit 120 \
	--threads 1 ${short:+--budget 0.03}
# Messages of UCX keep the order of operations.
! grep -q '^UCX_LIBS = *-l' "$builddir/Makefile" ||
	tap_program "2 hosts x 2, ordered operations" cluster $seconds -- "$lock/holders/ranges" \
		ordered-operations
tap_program "2 hosts x 2, optimistic reads" cluster $seconds -- "$lock/holders/reads"
tap_program "2 hosts x 2, leases" cluster $seconds -- "$lock/deaths/leases"
tap_program "2 hosts x 2, homes and names" cluster $seconds -- "$lock/table/homes"
tap_program "2 hosts x 2, rehomed" cluster $seconds -- "$lock/table/rehomed" --only shiftlock
tap_program "2 hosts x 2, events" cluster $seconds -- "$lock/holders/events"
# pawl.sync of Python; an MPICH without mpi4py has a part of it.
python=$MPI4PY packages=$srcdir/python
[ -n "$python" ] || [ "$TEST_MPI" != mpich ] || ! python3 -c 'import ctypes' || {
	STANDIN_MPI=$(ldd "$builddir/.libs/libpawl.so" | sed -n 's/.*=> \(.*libmpi[^ ]*\) .*/\1/p')
	export STANDIN_MPI
	python=python3 packages=$packages:$srcdir/tests/languages/standin
}
if [ -n "$python" ] && [ -e "$builddir/.libs/libpawl.so" ]; then
	# shellcheck disable=SC2086 # a command
	tap_program "2 hosts x 2, pawl.sync" cluster $seconds -- env PYTHONDONTWRITEBYTECODE=1 \
		"PAWL_LIBRARY=$builddir/.libs/libpawl.so" "PYTHONPATH=$packages" \
		$python "$srcdir/tests/languages/sync.py" few
else
	skip "2 hosts x 2, pawl.sync" "no python3 with an mpi4py for this MPI"
fi
if [ "$TEST_MPI" = openmpi ] || [ -n "${TEST_LONG-}" ]; then # MPICH: seconds for each table
	tap_program "2 hosts x 2, holders are told, and have numbers" cluster $seconds -- \
		"$lock/deaths/abandon" --only shiftlock
	tap_program "2 hosts x 2, shrunk" cluster $seconds -- "$lock/deaths/shrunk"
fi
tap_program "2 hosts x 2, errors" cluster $seconds -- "$lock/calls/errors"
tap_program "2 hosts x 2, progress=thread" cluster $seconds -- "$lock/holders/exclusion" --only d-mcs \
	--threads 1 --set progress=thread
tap_program "2 hosts x 2, a home that sleeps" cluster $seconds -- "$lock/calls/progress" --threads 1

# crowd RANKS HOSTS DESCRIPTORS SECONDS [OPTION...]
crowd()
{
	crowd_ranks=$1 crowd_hosts=$2 crowd_most=$3 crowd_seconds=$4
	shift 4
	"$srcdir/tests/netcluster" run -n $crowd_ranks --hosts $crowd_hosts --mpi "$TEST_MPI" \
		--timeout $crowd_seconds --env PAWL_TRANSPORT=ucx "$@" -- \
		sh -c 'ulimit -n $0; exec "$1"' $crowd_most "$lock/table/connections"
}
# MPICH over UCX connects all ranks by itself.
if ! grep -q '^UCX_LIBS = *-l' "$builddir/Makefile"; then
	:
elif [ "$TEST_MPI" = mpich ]; then
	tap_program "4 hosts x 3, option connections" crowd 12 4 1024 60 \
		--env PAWL_CONNECTIONS=4
else
	tap_program "4 hosts x 8, few descriptors" crowd 32 4 72 60
	[ -z "${TEST_LONG-}" ] ||
		tap_program "8 hosts x 32, few descriptors" crowd 256 8 96 600
fi

finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every kind of lock over TCP between two hosts of two ranks.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
lock=$builddir/tests/lock
short=yes seconds=120 most=300
# At full length on a busy machine; a step that hangs is ended by the program's own limit.
[ -z "${TEST_LONG-}" ] || short= seconds=900 most=1800

# Baselines reach windows through the same layer as the library's kinds, so over hosts they are tested
# with the first MPI.
except=mpi-win-lock
[ -z "$TEST_SECOND" ] || [ -z "$short" ] || except=baselines

said=$(hosts_can_run)
[ $? != 77 ] || skip_all "$said"

tap_program "2 hosts x 2" hosts_run 2 4 $most -- "$lock/holders/exclusion" --except $except --limit 120 \
	${short:+--budget 0.03}
tap_program "2 hosts x 2, mpi-win-lock" hosts_run 2 4 $seconds -- "$lock/holders/exclusion" --only mpi-win-lock \
	${short:+--budget 0.05}
tap_program "2 hosts x 2, sharing" hosts_run 2 4 $seconds -- "$lock/table/creation"
tap_program "2 hosts x 2, rpc" hosts_run 2 4 $seconds -- "$lock/holders/exclusion" --only rpc --threads 1
tap_program "2 hosts x 2, small thresholds" hosts_run 2 4 $seconds -- "$lock/holders/exclusion" --only rma-rw \
	--set t_l=1 --set t_r=1 --set t_w=2
tap_program "2 hosts x 2, cohorts" hosts_run 2 4 $seconds -- "$lock/holders/cohorts"
tap_program "2 hosts x 2, operations" hosts_run 2 4 $seconds -- "$lock/calls/operations"
[ -n "$short" ] || tap_program "2 hosts x 2, ranges" hosts_run 2 4 $seconds -- "$lock/holders/ranges" --limit 120
tap_program "2 hosts x 2, ranges, with threads" hosts_run 2 4 $most -- "$lock/holders/ranges" --limit 120 \
	--threads 1 ${short:+--budget 0.03}
# Messages of UCX keep the order of operations.
! has_ucx ||
	tap_program "2 hosts x 2, ordered operations" hosts_run 2 4 $seconds -- "$lock/holders/ranges" \
		ordered-operations
tap_program "2 hosts x 2, optimistic reads" hosts_run 2 4 $seconds -- "$lock/holders/reads"
tap_program "2 hosts x 2, leases" hosts_run 2 4 $seconds -- "$lock/deaths/leases"
tap_program "2 hosts x 2, homes and names" hosts_run 2 4 $seconds -- "$lock/table/homes"
tap_program "2 hosts x 2, rehomed" hosts_run 2 4 $seconds -- "$lock/table/rehomed" --only shiftlock
tap_program "2 hosts x 2, events" hosts_run 2 4 $seconds -- "$lock/holders/events"
# pawl.sync of Python; an MPICH without mpi4py has a part of it.
python=$MPI4PY packages=$srcdir/python
[ -n "$python" ] || [ "$TEST_MPI" != mpich ] || ! python3 -c 'import ctypes' || {
	STANDIN_MPI=$(ldd "$builddir/.libs/libpawl.so" | sed -n 's/.*=> \(.*libmpi[^ ]*\) .*/\1/p')
	export STANDIN_MPI
	python=python3 packages=$packages:$srcdir/tests/languages/standin
}
if [ -n "$python" ] && [ -e "$builddir/.libs/libpawl.so" ]; then
	# shellcheck disable=SC2086 # a command
	tap_program "2 hosts x 2, pawl.sync" hosts_run 2 4 $seconds -- env PYTHONDONTWRITEBYTECODE=1 \
		"PAWL_LIBRARY=$builddir/.libs/libpawl.so" "PYTHONPATH=$packages" \
		$python "$srcdir/tests/languages/sync.py" few
else
	skip "2 hosts x 2, pawl.sync" "no python3 with an mpi4py for this MPI"
fi
if [ "$TEST_MPI" = openmpi ] || [ -n "${TEST_LONG-}" ]; then # MPICH: seconds for each table
	tap_program "2 hosts x 2, holders are told, and have numbers" hosts_run 2 4 $seconds -- \
		"$lock/deaths/abandon" --only shiftlock
	tap_program "2 hosts x 2, shrunk" hosts_run 2 4 $seconds -- "$lock/deaths/shrunk"
fi
tap_program "2 hosts x 2, errors" hosts_run 2 4 $seconds -- "$lock/calls/errors"
tap_program "2 hosts x 2, progress=thread" hosts_run 2 4 $seconds -- "$lock/holders/exclusion" --only d-mcs \
	--threads 1 --set progress=thread
tap_program "2 hosts x 2, a home that sleeps" hosts_run 2 4 $seconds -- "$lock/calls/progress" --threads 1

# crowd RANKS HOSTS DESCRIPTORS SECONDS [OPTION...]
crowd()
{
	crowd_ranks=$1 crowd_hosts=$2 crowd_most=$3 crowd_seconds=$4
	shift 4
	hosts_run $crowd_hosts $crowd_ranks $crowd_seconds --env PAWL_TRANSPORT=ucx "$@" -- \
		sh -c 'ulimit -n $0; exec "$1"' $crowd_most "$lock/table/connections"
}
# MPICH over UCX connects all ranks by itself.
if ! has_ucx; then
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

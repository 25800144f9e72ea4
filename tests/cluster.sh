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
short=yes
[ -z "${TEST_LONG-}" ] || short=

cluster()
{
	cluster_seconds=$1
	shift
	"$srcdir/tests/netcluster" run -n 4 --hosts 2 --mpi "$TEST_MPI" --timeout "$cluster_seconds" "$@"
}

said=$(cluster 60 -- true 2>&1)
[ $? != 77 ] || skip_all "$said"

tap_program "2 hosts x 2" cluster 300 -- "$lock/exclusion" --except mpi-win-lock --limit 120 \
	${short:+--budget 0.03}
tap_program "2 hosts x 2, mpi-win-lock" cluster 120 -- "$lock/exclusion" --only mpi-win-lock \
	${short:+--budget 0.05}
tap_program "2 hosts x 2, rpc" cluster 120 -- "$lock/exclusion" --only rpc --threads 1
tap_program "2 hosts x 2, small thresholds" cluster 120 -- "$lock/exclusion" --only rma-rw \
	--set t_l=1 --set t_r=1 --set t_w=2
tap_program "2 hosts x 2, cohorts" cluster 120 -- "$lock/cohorts"
tap_program "2 hosts x 2, operations" cluster 120 -- "$lock/operations"
# The others: range-baselines.sh.
tap_program "2 hosts x 2, ranges" cluster 120 -- "$lock/ranges" ${short:+--only citron --budget 0.03}
tap_program "2 hosts x 2, leases" cluster 120 -- "$lock/leases"
tap_program "2 hosts x 2, errors" cluster 120 -- "$lock/errors"
tap_program "2 hosts x 2, progress=thread" cluster 120 -- "$lock/exclusion" --only d-mcs \
	--threads 1 --set progress=thread
tap_program "2 hosts x 2, a home that sleeps" cluster 120 -- "$lock/progress" --threads 1

finish

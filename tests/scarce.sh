#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What one rank asks of the system and the MPI fails, at each call in turn: all ranks get the same
# code. Then operations of the MPI that fail in the middle of a call on a lock, and hosts that do not
# tell their topology.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
program=$builddir/tests/lock/table/scarce
trap 'rm -f scarce.tmp scarce.$$.*' EXIT

# A step that hangs is ended by the program.
tap_program "2 ranks" mpi_run 2 900 "$program"
tap_program "2 nodes, a thread for progress" mpi_run 2 300 "$program" --only rma-rw \
	--set topology=node:2 --set transport=mpi --set progress=thread --set t_l=node:2
if has_ucx; then
	tap_program "2 nodes, UCX" mpi_run 2 300 "$program" --only d-mcs \
		--set topology=node:2 --set transport=ucx
fi
tap_program "operations" mpi_run 2 300 "$builddir/tests/lock/calls/mpi_errors"

# counts LINES KIND COMMAND...: the ranks count under a lock of the kind, or under MPI_Win_lock; so
# many lines say that the host is taken as one node.
counts()
{
	lines=$1 kind=$2 layer=
	shift 2
	[ "$kind" != window ] || layer=LD_PRELOAD=$builddir/.libs/libpawl-mpi.so
	mpi_run 2 60 "$@" env $layer "$builddir/tests/lock/table/environment" "$kind" 2>scarce.$$.err
	status=$?
	cat scarce.$$.err
	[ $status = 0 ] && [ "$(grep -a -c 'pawl: topology: .* one node' scarce.$$.err)" = "$lines" ]
}

# A description that hwloc refuses, one that hwloc passes over in silence, ones of other machines,
# and a kernel that refuses the cores of a rank.
echo '<?xml version="1.0"?><topology version="3.0"></topology>' >scarce.$$.xml
kinds=d-mcs
[ ! -e "$builddir/.libs/libpawl-mpi.so" ] || kinds="d-mcs window"
for kind in $kinds; do
	check "hwloc cannot read the host, $kind" counts 1 $kind env "HWLOC_XMLFILE=$PWD/scarce.$$.xml"
	check "the cores of ranks are not told, $kind" counts 1 $kind env TEST_NO_AFFINITY=1
	[ $kind = d-mcs ] || [ -n "$TEST_LONG" ] || continue
	check "another machine, $kind" counts 1 $kind env "HWLOC_SYNTHETIC=pu:2(indexes=4000,4001)"
	check "odd numbers, $kind" counts 0 $kind env HWLOC_SYNTHETIC=pack:0 taskset -c 0
	[ -n "$TEST_LONG" ] || continue
	check "no component, $kind" counts 1 $kind env HWLOC_COMPONENTS=stop
	check "a larger machine, $kind" counts 0 $kind env "HWLOC_SYNTHETIC=pack:3 core:7 pu:2"
	check "no such file, $kind" counts 0 $kind env HWLOC_XMLFILE=/nonexistent taskset -c 1
done

finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Hierarchies that this machine does not have, by synthetic topologies: ranks of different synthetic
# nodes use the windows between nodes. Thresholds are small, so that every path is taken.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
lock=$builddir/tests/lock
[ -n "${TEST_LONG-}" ] && budget= || budget="--budget 0.05"

# case RANKS TOPOLOGY ARGUMENT...
case_of()
{
	ranks=$1
	topology=$2
	shift 2
	tap_program "$topology, $ranks ranks${*:+, $*}" mpi_run "$ranks" 300 "$lock/holders/exclusion" \
		--except mpi-win-lock --set "topology=$topology" $budget "$@"
}

case_for_long()
{
	[ -z "${TEST_LONG-}" ] || case_of "$@"
}

case_of 4 "node:2 core:2"
case_of 4 "node:2 core:2" --only rma-rw --set t_r=1 --set t_w=1 --set t_l=1
case_of 4 "node:2 core:2" --only rma-rw --set t_dc=4 --set t_r=1 --set t_w=2
case_of 4 "node:2 core:2" --only rma-rw --set t_dc=1
# No more ranks than a small machine has cores: no rank waits for a core,
# so this case has the most interleavings.
case_of 2 "node:2 core:1" --only rma-rw --set t_r=1 --set t_w=1 --budget 1
case_of 4 "node:4 core:1" --only rma-mcs
case_of 4 "node:4 core:1" --only alock --set local_budget=1 --set remote_budget=2
case_of 2 "node:2 core:1" --only alock
case_of 4 "node:4 core:1" --only farlock --set local_budget=1 --set remote_budget=2
case_of 2 "node:2 core:1" --only farlock --set local_budget=1000000
case_of 4 "node:2 core:2" --only adaptive --set patience=0 --set stay=1
case_of 2 "node:2 core:1" --only adaptive
case_of 4 "package:2 numa:2 core:1" --only rma-mcs --set t_l=1
case_for_long 8 "package:2 l3:2 core:2" --only rma-rw --set t_l=2 --set t_r=2
case_of 8 "rack:2 node:2 core:2" --only rma-mcs --set t_l=1
case_for_long 8 "rack:2 node:2 core:2" --only rma-rw --set t_l=2 --set t_r=1
case_for_long 8 "node:2 package:2 core:2" --only rma-mcs --set t_l=node:2,package:1
case_of 8 "node:2 package:2 core:2" --only rma-rw --set t_w=3
case_of 4 "node:2 core:2" --only rpc --threads 1
case_of 4 "node:2 core:2" --only d-mcs --set progress=eager
case_of 4 "node:2 core:2" --only dslr --set backoff_max=500
case_of 5 "cyclic rack:2 node:2 core:2" --only rma-rw
# Nodes and packages of several sizes.
case_of 3 "node:2 core:2" --only adaptive
case_of 5 "rack:2 node:2 core:2" --only rma-mcs --set t_l=1
case_of 7 "node:2 package:2 core:2" --only mgl --set t_l=1

tap_program "threads on node:2 core:2" mpi_run 4 120 "$lock/holders/threads" \
	--set "topology=node:2 core:2"
tap_program "cohorts on node:2 core:2" mpi_run 4 120 "$lock/holders/cohorts" \
	--set "topology=node:2 core:2"
tap_program "timed acquires on node:2 core:2" mpi_run 4 120 "$lock/holders/timed" \
	--set "topology=node:2 core:2"
tap_program "leases on node:2 core:2" mpi_run 4 120 "$lock/deaths/leases" --set "topology=node:2 core:2"
tap_program "abandoned on node:2 core:2" mpi_run 4 60 "$lock/deaths/abandon" --set max_held=1 \
	--set "topology=node:2 core:2"
tap_program "homes on node:2 core:2" mpi_run 4 60 "$lock/table/homes" --set "topology=node:2 core:2"
tap_program "rehomed on node:2 core:2" mpi_run 4 120 "$lock/table/rehomed" \
	--set "topology=node:2 core:2" --only adaptive
tap_program "rehomed on node:2 core:2, progress=thread" mpi_run 4 120 "$lock/table/rehomed" \
	--set "topology=node:2 core:2" --only d-mcs --threads 1 --set progress=thread
tap_program "operations on node:2 core:2" mpi_run 4 120 "$lock/calls/operations" \
	--set "topology=node:2 core:2"

finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Open MPI 4's default one-sided component, which does not work. On one node the locks still work,
# except kinds that always use the network; for these, and between hosts, creation fails with a
# message that has the cure.

user_osc=${OMPI_MCA_osc-}
. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
case $TEST_MPI:${TEST_MPI_MAJOR:-4} in
openmpi:[1-4]) ;;
*) skip_all "Open MPI 4 only" ;;
esac
[ -z "$user_osc" ] || skip_all "OMPI_MCA_osc is set"
unset OMPI_MCA_osc
lock=$builddir/tests/lock

for kind in d-mcs rma-mcs rma-rw alock cas-spin fompi-rw; do
	tap_program "default components, one node" mpi_run 2 60 "$lock/table/defaults" "$kind" one-node
done
tap_program "default components, nodes by a string" \
	mpi_run 2 60 "$lock/table/defaults" d-mcs nodes-by-string

tap_program "default components, a kind that takes the network" \
	mpi_run 2 60 "$lock/table/defaults" rdma-mcs by-network

said=$(hosts_can_run)
if [ $? = 77 ]; then
	skip "default components, two hosts" "$said"
else
	OMPI_MCA_osc=rdma,sm
	PAWL_TRANSPORT=mpi
	export OMPI_MCA_osc PAWL_TRANSPORT
	tap_program "default components, two hosts" \
		hosts_run 2 4 60 -- "$lock/table/defaults" d-mcs two-hosts
fi

finish

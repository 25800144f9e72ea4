# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the scripts that run in a guest (tests/verbs/guests).

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
lock=$builddir/tests/lock

# as_nodes RANKS SECONDS PROGRAM...: each rank is a node, and the MPI uses shared memory.
as_nodes()
{
	ranks=$1
	shift
	(
		export PAWL_TRANSPORT=ucx PAWL_TOPOLOGY="node:$ranks core:1"
		export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
		mpi_run "$ranks" "$@"
	)
}

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# In a guest, by tests/verbs.sh: what a user is told when a verbs device cannot be used.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
no_table=$builddir/tests/lock/table/no_table

# The MPI has another network, so that it starts, and the locks have what is set here. An IPv4
# address of the own host would lead to interface lo, so they have the link-local one.
if [ "$TEST_MPI" = mpich ]; then
	export UCX_TLS=sm,self
else
	export UCX_TLS=tcp,self UCX_NET_DEVICES=eth0
fi
verbs="UCX_TLS=rc_v,ud_v,self UCX_NET_DEVICES=rxe0:1 UCX_IB_GID_INDEX=0"

# as_nodes PROGRAM...: each of two ranks is a node, and the MPI uses shared memory.
as_nodes()
{
	(
		export PAWL_TRANSPORT=ucx PAWL_TOPOLOGY="node:2 core:1"
		export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
		mpi_run 2 150 "$@"
	)
}
# The last setting of a variable counts.
with()
{
	as_nodes "$no_table" $verbs "$@"
}

check "a device that is not there" told 'UCX_NET_DEVICES=mlx5_0:1' with UCX_NET_DEVICES=mlx5_0:1
check "no auxiliary transport" told 'rxe0:1.*UCX_TLS=rc_verbs,self\).*ud_verbs' \
	with UCX_TLS=rc_verbs,self
check "an address for which UCX drops what arrives" told 'rxe0:1.*cannot connect' with UCX_IB_GID_INDEX=1

# This is found by operations of the device itself.
limited()
{
	as_nodes prlimit --memlock=65536 setpriv --bounding-set=-ipc_lock,-sys_resource "$no_table" \
		$verbs UCX_ATOMIC_MODE=device UCX_TLS=rc_v,tcp,self UCX_NET_DEVICES=rxe0:1,lo
}
check "little memory may be locked" told 'ulimit -l 64 KiB.*device rc_verbs/rxe0:1: ' limited

forbidden()
{
	chmod 0 /dev/infiniband/uverbs0
	as_nodes setpriv --bounding-set=-dac_override,-dac_read_search "$no_table" $verbs
	chmod 666 /dev/infiniband/uverbs0
}
check "no right to open the device" told 'rxe0:1.*/dev/infiniband/uverbs0: Permission denied' \
	forbidden

finish

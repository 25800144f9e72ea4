# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the scripts that run in one guest: its ranks are nodes, and the locks have the device.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
lock=$builddir/tests/lock

# The MPI uses shared memory. Locks have the device, and the loopback to connect.
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader PAWL_TRANSPORT=ucx
export UCX_TLS=rc_v,ud_v,tcp,self UCX_NET_DEVICES=rxe0:1,lo UCX_IB_GID_INDEX=0 UCX_ATOMIC_MODE=device

# on_nodes NODES RANKS PROGRAM...: so many nodes of so many ranks each
on_nodes()
{
	nodes=$1
	each=$2
	shift 2
	(
		export PAWL_TOPOLOGY="node:$nodes core:$each"
		mpi_run $((nodes * each)) 300 "$@"
	)
}
# counter NAME: of the device
counter()
{
	rdma statistic show link rxe0/1 | sed "s/.* $1 \([0-9]*\).*/\1/"
}
# one_sided PACKETS: whether it has sent so many, and none for a send
one_sided()
{
	rdma statistic show link rxe0/1
	[ "$(counter sent_pkts)" -gt "$1" ] && [ "$(counter rdma_sends)" = 0 ] &&
		[ "$(counter rdma_recvs)" = 0 ]
}

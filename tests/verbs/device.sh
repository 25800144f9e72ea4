# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the scripts that run in one guest: its ranks are nodes, and the locks have the device.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
lock=$builddir/tests/lock

# The MPI uses shared memory. Locks have the device, and the loopback to connect. MPICH has UCX itself,
# and would use the device, so there the tests set what is for the locks once the MPI has begun.
device="UCX_TLS=rc_v,ud_v,tcp,self UCX_NET_DEVICES=rxe0:1,lo UCX_IB_GID_INDEX=0 UCX_ATOMIC_MODE=device"
export PAWL_TRANSPORT=ucx
if [ "$TEST_MPI" = mpich ]; then
	export UCX_TLS=sm,self TEST_VARIABLES="$device"
else
	export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
	export $device
fi

# on_nodes NODES RANKS PROGRAM...: so many nodes of so many ranks each. A step that hangs is ended
# by the program's own limit; how long all of them take depends on what else the machine does.
on_nodes()
{
	nodes=$1
	each=$2
	shift 2
	(
		export PAWL_TOPOLOGY="node:$nodes core:$each"
		mpi_run $((nodes * each)) 1200 "$@"
	)
}
# one_sided PACKETS: whether the device has sent so many, and none for a send
one_sided()
{
	(
		cd /sys/class/infiniband/rxe0/ports/1/hw_counters && grep . sent_pkts rdma_* &&
			[ "$(cat sent_pkts)" -gt "$1" ] && [ "$(cat rdma_sends rdma_recvs | tr -d '\n')" = 00 ]
	)
}

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# In a guest, by tests/verbs.sh: the MPI's own windows over a verbs device, locks in them, and the
# layer under programs whose windows and locks both have the device.

. "$srcdir/tests/verbs/device.sh"
. "$srcdir/tests/dropin-head.sh"

# UCX has nothing but the device, for the MPI, too: Open MPI's osc/ucx, and all of MPICH, whose
# ranks take each other for other hosts.
export UCX_TLS=rc_v,ud_v,self UCX_NET_DEVICES=rxe0:1 UCX_IB_GID_INDEX=0 OMPI_MCA_osc=ucx,sm
export MPIR_CVAR_NOLOCAL=1

sends()
{
	cat /sys/class/infiniband/rxe0/ports/1/hw_counters/rdma_sends
}
before=$(sends)
for kind in d-mcs rma-rw mpi-win-lock; do
	PAWL_TRANSPORT=mpi tap_program "the MPI's windows" on_nodes 2 1 "$lock/holders/exclusion" \
		--only $kind --budget 0.02 --limit 200
done
# UCX performs atomics in software here, by messages.
used()
{
	after=$(sends)
	echo "rdma_sends $before before, $after after"
	[ "$after" -gt $((before + 100)) ]
}
check "these windows had the device" used

for program in exclusive nesting phases; do
	tap_program "the layer" on_nodes 2 1 env $layer TEST_STRICT=1 "$(path_of $program)" \
		--limit 200 $budget
done

finish

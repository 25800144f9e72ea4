#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# On the first of two guests, by tests/verbs.sh: locks between two hosts over a verbs device.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
lock=$builddir/tests/lock

# The MPI has a network of its own, and nothing is set for UCX: Pawl finds the device by itself.
export PAWL_TRANSPORT=ucx OMPI_MCA_osc=^rdma,ucx OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp
export OMPI_MCA_oob_tcp_if_include=eth1 OMPI_MCA_btl_tcp_if_include=eth1
export OMPI_MCA_plm_rsh_agent=/verbs/rsh OMPI_MCA_orte_allowed_exit_without_sync=1

# on_hosts RANKS PROGRAM...: so many ranks on each of the two
on_hosts()
{
	(
		each=$1
		shift
		for name in $(env | sed -n 's/^\(\(UCX\|PAWL\|TEST\)_[A-Za-z0-9_]*\)=.*/\1/p'); do
			set -- -x "$name" "$@"
		done
		mpi_run $((2 * each)) 300 --host guest1:"$each",guest2:"$each" "$@"
	)
}

tap_program "words" on_hosts 1 "$lock/transport/ucx_words" --limit 200
tap_program "the home is stopped" on_hosts 1 "$lock/deaths/stopped" --limit 200
for kind in d-mcs rma-rw; do
	tap_program "2 hosts x 2" on_hosts 2 "$lock/holders/exclusion" --only $kind --budget 0.02 --limit 200
done

finish

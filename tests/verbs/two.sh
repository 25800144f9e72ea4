#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# On the first of two guests, by tests/verbs.sh: locks between two hosts over a verbs device.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
lock=$builddir/tests/lock

# The MPI has a network of its own, and nothing is set for UCX when the locks use it: Pawl finds the
# device by itself.
export PAWL_TRANSPORT=ucx
if [ "$TEST_MPI" = mpich ]; then
	export UCX_TLS=tcp,sm,self UCX_NET_DEVICES=eth1 TEST_VARIABLES="UCX_TLS=all UCX_NET_DEVICES=all"
else
	export OMPI_MCA_osc=^rdma,ucx OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp
	export OMPI_MCA_oob_tcp_if_include=eth1 OMPI_MCA_btl_tcp_if_include=eth1
	export OMPI_MCA_plm_rsh_agent=/verbs/rsh OMPI_MCA_orte_allowed_exit_without_sync=1
	if [ "$TEST_MPI_MAJOR" -ge 5 ]; then
		export OMPI_MCA_osc=^ucx PRTE_MCA_prte_if_include=eth1 PRTE_MCA_plm_ssh_agent=/verbs/rsh
		export PRTE_MCA_prte_allowed_exit_without_sync=1
	fi
fi
# Hydra ends all ranks when the first one leaves without MPI_Finalize, as these programs do, and
# gives a status of its own. So each rank awaits the others, and notes that it has done well.
rank='"$@" || exit
: >"$0/$PMI_RANK"
while [ "$(ls "$0" | wc -l)" -lt "$TEST_RANKS" ]; do sleep 0.1; done'

# on_hosts RANKS PROGRAM...: so many ranks on each of the two
on_hosts()
{
	(
		each=$1
		shift
		if [ "$TEST_MPI" != mpich ]; then
			for name in $(env | sed -n 's/^\(\(UCX\|PAWL\|TEST\)_[A-Za-z0-9_]*\)=.*/\1/p'); do
				set -- -x "$name" "$@"
			done
			set -- --host guest1:"$each",guest2:"$each" "$@"
		else
			export TEST_RANKS=$((2 * each))
			mpi_yields= # options come behind the launcher's name
			ended=$(mktemp -d -p /verbs)
			set -- -launcher ssh -launcher-exec /verbs/rsh -iface eth1 \
				-hosts guest1:"$each",guest2:"$each" sh -c "$rank" "$ended" "$@"
		fi
		mpi_run $((2 * each)) "${seconds:-1200}" "$@" ||
			{ [ "$TEST_MPI" = mpich ] && [ "$(ls "$ended" | wc -l)" = "$TEST_RANKS" ]; }
	)
}
# The driver takes 7 retries, which is UCX's default, for any number.
export UCX_RC_RETRY_COUNT=4

# The devices of both have sent packets, and none for a send.
one_sided()
{
	for host in guest1 guest2; do
		sent=$(/verbs/rsh $host \
			"cd /sys/class/infiniband/rxe0/ports/1/hw_counters && cat sent_pkts rdma_sends rdma_recvs")
		echo $host: $sent
		case "$(echo $sent)" in
		????*" 0 0") ;;
		*) return 1 ;;
		esac
	done
}

tap_program "words" on_hosts 1 "$lock/transport/ucx_words" --limit 200
tap_program "the home is stopped" on_hosts 1 "$lock/deaths/stopped" --limit 200
for kind in d-mcs rma-rw; do
	tap_program "2 hosts x 2" on_hosts 2 "$lock/holders/exclusion" --only $kind --budget 0.02 --limit 200
done
tap_program "2 hosts x 2" on_hosts 2 env TEST_INTERFACE=eth0 "$lock/transport/packets" --limit 400
check "all of these by the device's atomics, reads and writes, none by a send" one_sided

tap_program "queue pairs fail" on_hosts 1 env TEST_CUT=error "$lock/deaths/lost" --limit 150
tap_program "link down" on_hosts 1 env TEST_CUT="ip link set eth0 down" "$lock/deaths/lost" --limit 150

# The second guest ends, and its part of the launcher with it. What is left of that may not end, so
# it must not have the output that check awaits.
verdict=/verbs/verdict
killed()
{
	(
		exec >/tmp/said 2>&1
		seconds=400 on_hosts 1 env TEST_VERDICT=$verdict \
			TEST_CUT="die echo b >/proc/sysrq-trigger" "$lock/deaths/lost" --limit 300
	) &
	while [ ! -s $verdict ] && kill -0 $! 2>/dev/null; do sleep 1; done
	grep 'device rc_verbs/rxe0:1 has lost the connection to rank 1 on host guest2 (' $verdict ||
		{ cat /tmp/said; return 1; }
}
/verbs/rsh guest2 "ip link set eth0 up"
check "a host is killed; the error names the device, its host and a cause" killed

finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Locks over UCX: between two hosts, and between two synthetic nodes of one host.
# tests/cluster.sh has every kind of lock over two hosts, which use UCX, too, if the build has
# it.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
lock=$builddir/tests/lock
make_tmp

for nodes in "node:1 core:2" "node:2 core:1"; do
	tap_program "by the MPI, $nodes" mpi_run 2 60 env TEST_WORDS=mpi "PAWL_TOPOLOGY=$nodes" \
		"$lock/transport/ucx_words"
done

# In a build without UCX the message says so, and what the option accepts.
refused()
{
	! mpi_run 1 60 "$lock/calls/operations" --set transport=ucx >"$tmp/said" 2>&1 &&
		grep 'option transport: .*accepted: auto, mpi' "$tmp/said"
}
if ! has_ucx; then
	check "transport=ucx without UCX" refused
	finish
fi

two_nodes="topology=node:2 core:2"
kinds="d-mcs rdma-mcs adaptive mgl farlock"
[ -z "$TEST_LONG" ] || kinds="$kinds rma-mcs rma-rw shiftlock alock dslr drtm cas-backoff rdma-spin"
for kind in $kinds; do
	tap_program "2 nodes x 2" mpi_run 4 60 "$lock/holders/exclusion" --set transport=ucx \
		--only $kind --budget 0.02 --set "$two_nodes"
done
for kind in adaptive mgl; do
	tap_program "nodes of 2 and 1" mpi_run 3 60 "$lock/holders/exclusion" --set transport=ucx \
		--only $kind --budget 0.02 --set "$two_nodes"
done
tap_program "2 nodes x 2, MPI_THREAD_MULTIPLE" mpi_run 4 60 "$lock/holders/exclusion" --only d-mcs \
	--threads 1 --set transport=ucx --budget 0.02 --set "$two_nodes"

for atomics in all few; do
	[ "${TEST_SECOND-}" = 1 ] || tap_program "operations, $atomics atomics" mpi_run 4 120 \
		env TEST_ATOMICS=$atomics "$lock/calls/operations" --set transport=ucx --set "$two_nodes"
done

# Releases that do not wait, and waiters that leave.
for kind in d-mcs alock; do
	tap_program "deadlines, 2 nodes x 2" mpi_run 4 60 "$lock/holders/timed" --set transport=ucx \
		--only $kind --set "$two_nodes"
done

# Words alone: by messages, and by UCX's own operations.
PAWL_TOPOLOGY="node:2 core:1"
export PAWL_TOPOLOGY
tap_program "by messages" mpi_run 2 60 "$lock/transport/ucx_words"
tap_program "by additions and compare-and-swaps" mpi_run 2 60 env TEST_WORDS=few "$lock/transport/ucx_words"
# On one host without devices the newer protocols of UCX 1.18 have no atomics; its older ones do.
tap_program "by UCX's operations" mpi_run 2 60 env UCX_ATOMIC_MODE=guess UCX_PROTO_ENABLE=n \
	"$lock/transport/ucx_words"

info()
{
	mpi_run 2 60 env PAWL_TRANSPORT=ucx "$builddir/tools/pawl-info" | grep '^remote .* NET  *ucx'
}
check "pawl-info measures words over UCX" info

# Messages keep the order of operations.
tap_program "ordered operations" mpi_run 2 60 "$lock/holders/ranges" ordered-operations --set transport=ucx

# What UCX needs is missing on one rank; UCX says so, too.
# At full length each call fails once, with a table each time.
most=${TEST_LONG:+900}
tap_program "faults" mpi_run 4 ${most:-150} env PAWL_TRANSPORT=ucx "PAWL_TOPOLOGY=node:4 core:1" \
	UCX_LOG_LEVEL=fatal "$lock/transport/ucx_faults"

# Why a table cannot be created, with these variables of UCX.
with()
{
	PAWL_TRANSPORT=ucx mpi_run 2 60 "$lock/table/no_table" "$@"
}
check "a device that is not there is named" told 'UCX_NET_DEVICES=mlx5_0:1' \
	with UCX_NET_DEVICES=mlx5_0:1
check "transports that cannot connect are named" told 'UCX_TLS=self' with UCX_TLS=self

# The heap, descriptors and threads.
for kind in $kinds; do
	[ -z "$TEST_LONG" ] && [ $kind != d-mcs ] ||
		tap_program "one table after the other" mpi_run 2 100 "$lock/transport/ucx_growth" --limit 90 \
			--only $kind
done

# outsider MESSAGES PER_SECOND PERCENT: an attack; 0 a second: as fast as possible.
outsider()
{
	rm -f "$tmp"/job*
	timeout 150 "$lock/transport/ucx_outsider" "$tmp/job" "$1" "$2" >"$tmp/said" 2>&1 &
	TEST_OUTSIDER=$tmp/job TEST_DELAY=$3 mpi_run 2 150 "$lock/transport/ucx_victim" >"$tmp/err" 2>&1
	rc=$?
	wait $!
	cat "$tmp/said" "$tmp/err" | head -n 40
	return $rc
}
# Other users of the machine may delay locks, so there are several attempts.
undelayed()
{
	outsider 10000 1000 10 || outsider 10000 1000 10 || outsider 10000 1000 10
}
check "10000 messages of a process outside the job change nothing" outsider 10000 0 ""
[ -z "$TEST_LONG" ] || timed check "1000 a second delay locks by less than 10 %" undelayed
unset PAWL_TOPOLOGY

# Ranks are killed. See survivors.sh for the shell around each rank, and the verdict in a file.
# Open MPI's launcher ends a job in which a rank was killed, unless recovery is enabled.
survive='"$@"; while [ ! -s "$0" ]; do sleep 0.05; done'
export OMPI_MCA_orte_enable_recovery=1
death()
{
	rm -f "$tmp/verdict"
	mpi_run 4 60 sh -c "$survive" "$tmp/verdict" \
		"$lock/deaths/deaths" "$1" "$2" "$tmp/verdict" >"$tmp/err" 2>&1
	grep '^ok' "$tmp/verdict" || { cat "$tmp/verdict" "$tmp/err"; return 1; }
}

# Kinds that work over UCX and need no threads; not adaptive, whose locks need a rank of the node
# that used them last.
mortal="d-mcs rma-mcs mgl shiftlock alock cas-spin cas-backoff fompi-spin fompi-rw dslr rdma-mcs
	rdma-spin drtm citron ss lld"
deaths="d-mcs,rank cas-spin,unseen shiftlock,node citron,grow"
if [ -n "$TEST_LONG" ]; then
	deaths=
	for kind in $mortal; do
		deaths="$deaths $kind,rank $kind,unseen $kind,node"
	done
	deaths="$deaths citron,grow"
fi
for each in $deaths; do
	check "only clients that need the dead rank get an error: $each" death "${each%,*}" "${each#*,}"
done
leave()
{
	death d-mcs leave && ! grep UCX "$tmp/err"
}
timed check "ranks that end one after the other begin no connections" leave
# Writers of rma-rw need the counters of all nodes, unless there is one for all ranks.
one_counter()
{
	(PAWL_T_DC=4 && export PAWL_T_DC && death rma-rw "$1")
}
for each in ${TEST_LONG:+rank unseen node}; do
	check "only clients that need the dead rank get an error: rma-rw,$each" one_counter "$each"
done

if ! said=$(hosts_can_run); then
	skip "2 hosts" "netcluster cannot run here: $said"
	finish
fi

# Each host has one more interface, which has the same address on both hosts, like the bridges of
# containers. And the address from which it connects is on the loopback interface, as where hosts
# take part in the routing.
decoy='PATH=$PATH:/usr/sbin:/sbin
	ip link add decoy0 type veth peer name decoy1 && ip addr add 192.0.2.1/24 dev decoy0 &&
	ip link set decoy0 up && ip link set decoy1 up
	own=$(hostname) own=${own#h} other=$((3 - own))
	ip link set lo up && ip addr add 10.77.0.$own/32 dev lo &&
	ip route replace 10.77.0.$other/32 via 10.99.0.$other dev eth0 &&
	ip route replace 10.99.0.$other/32 dev eth0 src 10.77.0.$own || exit 1
	exec "$@"'
tap_program "2 hosts" hosts_run 2 2 60 --env PAWL_TRANSPORT=ucx --env TEST_INTERFACE=eth0 -- \
	sh -c "$decoy" sh "$lock/transport/ucx"

# Connections of UCX come from addresses and ports that are on no host (SNAT). Open MPI's own ones,
# which it would refuse, have other ports.
translated='PATH=$PATH:/usr/sbin:/sbin
	own=$(hostname) own=${own#h} other=$((3 - own))
	ip route replace 10.78.0.$other/32 via 10.99.0.$other dev eth0 && nft add table ip nat &&
	nft "add chain ip nat out { type nat hook postrouting priority 100 ; }" &&
	nft add rule ip nat out ip daddr 10.99.0.$other tcp dport 32768-65535 counter \
		snat to 10.78.0.$own:61000-62000 || exit 1
	"$@" || exit
	nft list table ip nat | grep -q "packets [1-9]" || { echo "nothing was translated"; exit 1; }'
if PATH=$PATH:/usr/sbin:/sbin command -v nft >/dev/null; then
	tap_program "2 hosts, translated addresses" env OMPI_MCA_btl_tcp_port_min_v4=20000 \
		OMPI_MCA_btl_tcp_port_range_v4=1000 "$srcdir/tests/netcluster" run --hosts 2 \
		--mpi "$TEST_MPI" --timeout 60 -n 2 --env PAWL_TRANSPORT=ucx -- \
		sh -c "$translated" sh "$lock/holders/exclusion" --only d-mcs --budget 0.02
else
	skip "2 hosts, translated addresses" "no nft"
fi

# Open MPI 5 aborts ranks that outlive others unless its fault tolerance is enabled.
host_death()
{
	rm -f "$tmp"/verdict*
	hosts_run 2 4 60 --env OMPI_MCA_mpi_ft_enable=1 -- sh -c "$survive" "$tmp/verdict" \
		"$lock/deaths/deaths" "$1" "$2" "$tmp/verdict" >"$tmp/err" 2>&1
	grep '^ok' "$tmp/verdict" || { cat "$tmp/verdict" "$tmp/err"; return 1; }
}
hosts="shiftlock,host citron,host"
[ -z "$TEST_LONG" ] || hosts="shiftlock,far-rank shiftlock,host dslr,far-rank dslr,host citron,far-rank citron,host"
for each in $hosts; do
	check "others go on when a rank or a host is killed: $each" host_death "${each%,*}" "${each#*,}"
done
# told RANKS HOSTS
told()
{
	rm -f "$tmp"/verdict*
	hosts_run $2 $1 120 --env OMPI_MCA_mpi_ft_enable=1 -- sh -c "$survive" "$tmp/verdict" \
		"$lock/deaths/told" "$tmp/verdict" >"$tmp/err" 2>&1
	cat "$tmp/verdict" || { cat "$tmp/err"; return 1; }
	! grep -q '^not ok' "$tmp/verdict"
}
# MPICH over UCX connects all ranks by itself.
if [ "$TEST_MPI" = openmpi ]; then
	timed check "4 hosts x 3 are told of a death" told 12 4
	[ -z "$TEST_LONG" ] || timed check "8 hosts x 8 are told of a death" told 64 8
fi
[ -z "$TEST_LONG" ] || tap_program "2 hosts x 2" hosts_run 2 4 300 \
	--env PAWL_TRANSPORT=ucx -- "$lock/holders/exclusion" --except mpi-win-lock --budget 0.02

finish

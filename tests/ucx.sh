#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Locks over UCX: between two hosts, and between two nodes that a synthetic topology
# makes of one host.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
lock=$builddir/tests/lock
tmp=ucx.$$.tmp
mkdir "$tmp"
trap 'rm -rf "$tmp"' EXIT

# In a build without UCX the option says so, and what it takes.
refused()
{
	! mpi_run 1 60 "$lock/operations" --set transport=ucx >"$tmp/said" 2>&1 &&
		grep 'option transport: .*accepted: auto, mpi' "$tmp/said"
}
if ! grep -q '^UCX_LIBS = *-l' "$builddir/Makefile"; then
	check "transport=ucx without UCX" refused
	finish
fi

two_nodes="topology=node:2 core:2"
kinds="rma-mcs rma-rw shiftlock rdma-mcs"
[ -z "$TEST_LONG" ] || kinds="$kinds d-mcs alock mgl dslr drtm cas-backoff rdma-spin"
for kind in $kinds; do
	tap_program "2 nodes x 2" mpi_run 4 60 "$lock/exclusion" --set transport=ucx \
		--only $kind --budget 0.02 --set "$two_nodes"
done

# The same operations, whatever carries them. What is far is the same, too.
count()
{
	mpi_run 4 60 sh -c "PAWL_TRANSPORT=$1 exec '$lock/operations' \
		--set '$two_nodes'" >"$tmp/$1" 2>&1
}
same_operations()
{
	count mpi && count ucx && [ "$(grep -c '^ok' "$tmp/mpi")" -gt 9 ] &&
		diff "$tmp/mpi" "$tmp/ucx"
}
check "operation counts are those of the MPI's windows" same_operations

# A rank is killed. See survivors.sh for the shell around each rank.
death()
{
	rm -f "$tmp/verdict"
	mpi_run 4 60 sh -c '"$@"; while [ ! -s "$0" ]; do sleep 0.05; done' "$tmp/verdict" \
		"$lock/peer_death" "$1" "$tmp/verdict" >"$tmp/err" 2>&1
	grep '^ok' "$tmp/verdict" || { cat "$tmp/verdict" "$tmp/err"; return 1; }
}
for kind in d-mcs rma-mcs cas-spin; do
	name="$kind: a killed rank makes what needs it fail, and nothing else"
	if [ "$TEST_MPI" = mpich ]; then
		check "$name" death $kind
	else
		skip "$name" "$TEST_MPI ends a job one of whose ranks was killed"
	fi
done

cluster()
{
	"$srcdir/tests/netcluster" run --hosts 2 --mpi "$TEST_MPI" --timeout 60 \
		--env PAWL_TRANSPORT=ucx "$@"
}
case $TEST_MPI in
openmpi | mpich) said=$(cluster -n 2 -- true 2>&1) ;;
*) false ;;
esac
if [ $? != 0 ]; then
	skip "2 hosts" "netcluster cannot run here: $said"
	finish
fi
tap_program "2 hosts" cluster -n 2 -- "$lock/ucx"
tap_program "2 hosts x 2" cluster -n 4 -- "$lock/exclusion" --except mpi-win-lock --budget 0.02

finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every kind with ranges: on one node, over nodes of a synthetic topology, and over two
# hosts; and wrong ones are caught.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
program=$builddir/tests/lock/range-baselines

long=${TEST_LONG-}

# Some have servers, which are threads.
tap_program "4 ranks, with threads" mpi_run 4 120 "$program" --threads 1
tap_program "4 ranks, node:2 core:2, with threads" mpi_run 4 120 "$program" --threads 1 \
	--set "topology=node:2 core:2"
if [ -n "$long" ]; then
	for ranks in 1 2 4; do
		tap_program "$ranks ranks" mpi_run $ranks 120 "$program"
	done
	tap_program "4 ranks, node:2 core:2" mpi_run 4 120 "$program" \
		--set "topology=node:2 core:2"
	tap_program "2 ranks, node:2 core:1" mpi_run 2 120 "$program" \
		--set "topology=node:2 core:1"
fi
for units in ${long:+1} 16; do
	tap_program "4 ranks, segments of $units" mpi_run 4 120 "$program" --only ss \
		--set segment_units=$units --set segments=$((1024 / units))
done

# violated RANKS ARGUMENT...: the program reports a violation; given more time if
# a busy machine leaves it too little to meet one.
violated()
{
	violated_ranks=$1
	shift
	for violated_budget in 0.1 1 3; do
		violated_said=$(caught mpi_run "$violated_ranks" 120 \
			"$builddir/tests/broken/range-baselines" "$@" \
			--budget "$violated_budget") || continue
		printf '%s\n' "$violated_said"
		printf '%s\n' "$violated_said" | grep -q violation && return
	done
	return 1
}
check "an ss that leaves a segment out" violated 2 --only broken-ss
check "an lld that does not always wait" violated 2 --only broken-lld
check "an it whose tree forgets a side" violated 4 --only broken-it --threads 1

case $TEST_MPI in
openmpi | mpich)
	cluster()
	{
		cluster_seconds=$1
		shift
		"$srcdir/tests/netcluster" run -n 4 --hosts 2 --mpi "$TEST_MPI" \
			--timeout "$cluster_seconds" "$@"
	}
	said=$(cluster 60 -- true 2>&1)
	if [ $? != 77 ]; then
		[ -z "$long" ] || tap_program "2 hosts x 2" cluster 120 -- "$program" --limit 100
		tap_program "2 hosts x 2, with threads" cluster 120 -- "$program" --limit 100 \
			--threads 1
	else
		skip "2 hosts x 2" "$said"
	fi
	;;
*)
	skip "2 hosts x 2" "netcluster knows Open MPI and MPICH"
	;;
esac

finish

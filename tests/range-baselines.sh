#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every kind with ranges: on one node, over nodes of a synthetic topology, and over two
# hosts. Faults: faults.sh.

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

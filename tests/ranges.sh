#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every kind with ranges: on one node, over nodes of a synthetic topology, and over two
# hosts. Faults: faults.sh.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
lock=$builddir/tests/lock
long=${TEST_LONG-}

# Some have servers, which are threads.
tap_program "4 ranks, with threads" mpi_run 4 300 "$lock/holders/ranges" --threads 1
tap_program "4 ranks, node:2 core:2, with threads" mpi_run 4 300 "$lock/holders/ranges" --threads 1 \
	--set "topology=node:2 core:2"
only=
[ -n "$long" ] || only="--only citron"
for ranks in ${long:+1 2} 4; do
	tap_program "$ranks ranks" mpi_run $ranks 300 "$lock/holders/ranges" $only
done
[ -z "$long" ] || tap_program "node:2 core:1" mpi_run 2 300 "$lock/holders/ranges" --set "topology=node:2 core:1"
tap_program "node:2 core:2" mpi_run 4 300 "$lock/holders/ranges" --set "topology=node:2 core:2"
for units in ${long:+1} 16; do
	tap_program "4 ranks, segments of $units" mpi_run 4 120 "$lock/holders/ranges" --only ss \
		--set segment_units=$units --set segments=$((1024 / units))
done
tap_program "living clients" mpi_run 2 90 "$lock/deaths/living" --budget 1.5
tap_program "operations" mpi_run 2 60 "$lock/holders/ranges" operations --set "topology=node:2 core:1"

tap_program "errors, 2 ranks" mpi_run 2 60 "$lock/calls/range_errors"
tap_program "errors, 2 ranks, with threads" mpi_run 2 60 "$lock/calls/range_errors" --threads 1

finish

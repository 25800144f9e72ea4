#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Kinds with ranges, on one node and on synthetic ones; a wrong one is caught.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
lock=$builddir/tests/lock

long=${TEST_LONG-}
for ranks in ${long:+1 2} 4; do
	tap_program "$ranks ranks" mpi_run $ranks 300 "$lock/ranges"
done
[ -z "$long" ] || tap_program "node:2 core:1" mpi_run 2 300 "$lock/ranges" --set "topology=node:2 core:1"
tap_program "node:2 core:2" mpi_run 4 300 "$lock/ranges" --set "topology=node:2 core:2"
tap_program "living clients" mpi_run 2 90 "$lock/living" --budget 1.5
tap_program "operations" mpi_run 2 60 "$lock/ranges" operations --set "topology=node:2 core:1"

tap_program "errors, 2 ranks" mpi_run 2 60 "$lock/range_errors"
# Some have servers, which are threads.
tap_program "errors, 2 ranks, with threads" mpi_run 2 60 "$lock/range_errors" --threads 1

# violated: the wrong one overlaps; given more time if a busy machine leaves it too little.
violated()
{
	for violated_budget in 0.3 1 3; do
		violated_said=$(caught mpi_run 4 120 "$builddir/tests/broken/ranges" \
			--only "$1" --budget "$violated_budget") || continue
		printf '%s\n' "$violated_said"
		printf '%s\n' "$violated_said" | grep -q violation && return
	done
	return 1
}
check "a citron that does not wait for those below" violated broken-citron

finish

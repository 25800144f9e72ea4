#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tests catch what is wrong: locks with a mistake fail the programs that the real ones pass.
# To that the MPI does not matter.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
broken=$builddir/tests/broken

# violated PROGRAM RANKS ARGUMENT...: the program reports a violation, and ends there; given more
# time if a busy machine leaves it too little to meet one, or if the broken lock hangs before.
violated()
{
	violated_program=$broken/$1
	violated_ranks=$2
	shift 2
	for violated_try in "0.3 10" "0.3 20" "1 40" "3 120"; do
		violated_said=$(mpi_run "$violated_ranks" "${violated_try#* }" "$violated_program" \
			"$@" --one-failure 1 --budget "${violated_try% *}" 2>&1)
		printf '%s\n' "$violated_said" | grep '^not ok.*violation' && return
	done
	return 1
}

check "a d-mcs that does not wait, 2 ranks" violated exclusion 2 --only broken-d-mcs
check "a d-mcs that does not wait, 4 ranks" violated exclusion 4 --only broken-d-mcs
check "an rma-rw that does not drain, ticket counters" \
	violated exclusion 4 --only broken-rma-rw --set t_r=1
check "an rma-rw that does not drain, gate counters" \
	violated exclusion 2 --only broken-rma-rw --set t_r=1 --set "topology=node:2 core:1"
check "an rma-rw that does not drain, ticket counters over nodes" \
	violated exclusion 2 --only broken-rma-rw --set t_r=1 --set "topology=node:2 core:1" --set t_dc=2
check "an mgl that does not wait, 2 ranks" violated exclusion 2 --only broken-mgl
check "an mgl that does not wait, over nodes" \
	violated exclusion 4 --only broken-mgl --set "topology=node:2 core:2"
check "an mgl whose intents shared look for nobody" violated exclusion 4 --only broken-mgl-enter
check "an mgl whose exclusive clients do not wait for intents shared" \
	violated exclusion 4 --only broken-mgl-readers
check "a shiftlock that does not drain" violated exclusion 4 --only broken-shiftlock
check "a dslr whose writers do not wait for readers" violated exclusion 4 --only broken-dslr
check "an alock of two cohorts that do not look for each other" \
	violated exclusion 2 --only broken-alock --set "topology=node:2 core:1"
check "a drtm whose writers do not wait for the lease" violated exclusion 4 --only broken-drtm
check "a citron that does not wait for those below" violated ranges 4 --only broken-citron
check "an ss that leaves a segment out" violated range-baselines 2 --only broken-ss
check "an lld that does not always wait" violated range-baselines 2 --only broken-lld
check "an it whose tree forgets a side" violated range-baselines 4 --only broken-it --threads 1
tap_program "the real ones, in the same program" mpi_run 4 120 "$broken/exclusion" --only rma-rw

finish

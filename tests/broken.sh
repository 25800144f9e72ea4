#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tests catch what is wrong: a D-MCS that skips its wait once in a hundred
# acquires, an RMA-RW whose writers do not wait for the readers inside, an mgl that does
# not wait for those who are in, and an ALock whose cohorts do not heed each other fail
# the very program that the real ones pass.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
program=$builddir/tests/broken/exclusion

# violated RANKS ARGUMENT...: the program reports a violation; given more time if
# a busy machine leaves it too little to meet one, or if the broken lock hangs before. (What
# it does after the violation, such as to hang, does not matter.)
violated()
{
	violated_ranks=$1
	shift
	for violated_try in "0.3 10" "0.3 10" "1 40" "3 120"; do
		violated_said=$(mpi_run "$violated_ranks" "${violated_try#* }" "$program" "$@" \
			--budget "${violated_try% *}" 2>&1)
		printf '%s\n' "$violated_said" | grep '^not ok.*violation' && return
	done
	return 1
}

check "a d-mcs that does not wait, 2 ranks" violated 2 --only broken-d-mcs
check "a d-mcs that does not wait, 4 ranks" violated 4 --only broken-d-mcs
check "an rma-rw that does not drain, ticket counters" \
	violated 4 --only broken-rma-rw --set t_r=1
check "an rma-rw that does not drain, gate counters" \
	violated 2 --only broken-rma-rw --set t_r=1 --set "topology=node:2 core:1"
check "an rma-rw that does not drain, ticket counters over nodes" \
	violated 2 --only broken-rma-rw --set t_r=1 --set "topology=node:2 core:1" --set t_dc=2
check "an mgl that does not wait, 2 ranks" violated 2 --only broken-mgl
check "an mgl that does not wait, over nodes" \
	violated 4 --only broken-mgl --set "topology=node:2 core:2"
check "an mgl whose intents shared look for nobody" violated 4 --only broken-mgl-enter
check "an mgl whose exclusive clients do not wait for intents shared" \
	violated 4 --only broken-mgl-readers
check "a shiftlock that does not drain" violated 4 --only broken-shiftlock
check "a dslr whose writers do not wait for readers" violated 4 --only broken-dslr
check "an alock of two cohorts that do not look for each other" \
	violated 2 --only broken-alock --set "topology=node:2 core:1"
check "a drtm whose writers do not wait for the lease" violated 4 --only broken-drtm
tap_program "the real ones, in the same program" mpi_run 4 120 "$program" --only rma-rw

finish

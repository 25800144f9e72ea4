#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tests on a real MPI find faults: the programs fail with locks that have a fault
# (src/lock/fault.h), and pass without. This does not depend on the MPI.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
faulty=$builddir/tests/faults

# violated FAULT PROGRAM RANKS ARGUMENT...: with the fault the program reports a violation and ends.
# It gets more time if a busy machine leaves it too little to find one, or if the lock hangs
# before.
violated()
{
	violated_fault=$1
	violated_program=$faulty/$2
	violated_ranks=$3
	shift 3
	for violated_try in "0.3 10" "0.3 20" "1 40" "3 120"; do
		violated_said=$(mpi_run "$violated_ranks" "${violated_try#* }" \
			env TEST_FAULT="$violated_fault" "$violated_program" "$@" \
			--one-failure 1 --budget "${violated_try% *}" 2>&1)
		printf '%s\n' "$violated_said" | grep '^not ok.*violation' && return
	done
	return 1
}

# noticed FAULT PROGRAM RANKS ARGUMENT...
noticed()
{
	check "$1, $3 ranks${4:+, $(shift 3; echo "$*")}" violated "$@"
}

unknown()
{
	! unknown_said=$(TEST_FAULT=d-mcs-nix mpi_run 1 60 "$faulty/exclusion" 2>&1) &&
		printf '%s\n' "$unknown_said" | grep 'no fault "d-mcs-nix"; accepted:'
}

two_nodes="topology=node:2 core:1"
noticed d-mcs-wait exclusion 2
noticed d-mcs-wait exclusion 4
# Ticket counters, gate counters, and ticket counters over nodes.
noticed rma-rw-drain exclusion 4 --set t_r=1
noticed rma-rw-drain exclusion 2 --set t_r=1 --set "$two_nodes"
noticed rma-rw-drain exclusion 2 --set t_r=1 --set "$two_nodes" --set t_dc=2
noticed mgl-drain exclusion 2
noticed mgl-drain exclusion 4 --set "topology=node:2 core:2"
noticed mgl-enter exclusion 4
noticed mgl-readers exclusion 4
noticed shiftlock-drain exclusion 4
noticed dslr-readers exclusion 4
noticed alock-alone exclusion 2 --set "$two_nodes"
noticed drtm-lease exclusion 4
noticed citron-drain ranges 4
noticed ss-last ranges 2
noticed lld-wait ranges 2
noticed it-most ranges 4 --threads 1
check "a fault that is none" unknown
tap_program "without a fault, in the same program" mpi_run 4 120 "$faulty/exclusion" --only rma-rw

finish

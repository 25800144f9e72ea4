#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Clients that live, under leases and permanent contention, for TEST_LIVING_SECONDS (default: ten
# minutes); TEST_LIVING_LEASE is their lease in microseconds.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
seconds=${TEST_LIVING_SECONDS:-600}
each=$((seconds / 2))
export TEST_LIVING_LEASE="${TEST_LIVING_LEASE:-200000}"
tap_program "8 ranks, $seconds s" mpi_run 8 $((4 * seconds + 60)) "$builddir/tests/lock/deaths/living" \
	--budget $each --limit $((each + 60))

finish

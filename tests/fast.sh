#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Short checks for development (make check-fast, with the unit tests): every kind of lock against the
# adversary with few seeds, and on a real MPI with two ranks.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

adversary=$builddir/tests/sim/adversary
if [ -x "$adversary" ]; then
	tap_program "adversary" timeout 60 "$adversary" --fault=none --seeds=200
else
	skip "adversary" "configured without SimGrid"
fi
mpi_can_run || { skip "2 ranks" "configured without a launcher"; finish; }
tap_program "2 ranks" mpi_run 2 60 "$builddir/tests/lock/holders/exclusion" --budget 0.01
tap_program "errors, 2 ranks" mpi_run 2 60 "$builddir/tests/lock/calls/errors"
tap_program "ranges, 2 ranks" mpi_run 2 60 "$builddir/tests/lock/holders/ranges" --budget 0.01

finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The examples run and find their own results right.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"

for example in counter hashtable; do
	check "$example, 4 ranks" mpi_run 4 60 "$builddir/examples/$example"
done
check "counter, 1 rank" mpi_run 1 60 "$builddir/examples/counter"


finish

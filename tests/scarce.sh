#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What one rank asks of the system and the MPI fails, at each call in turn: all ranks get the same
# code. Then operations of the MPI that fail in the middle of a call on a lock.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
program=$builddir/tests/lock/scarce
trap 'rm -f scarce.tmp' EXIT

# A step that hangs is ended by the program.
tap_program "2 ranks" mpi_run 2 900 "$program"
tap_program "2 nodes, a thread for progress" mpi_run 2 300 "$program" --only rma-rw \
	--set topology=node:2 --set transport=mpi --set progress=thread --set t_l=node:2
if grep -q '^UCX_LIBS = *-l' "$builddir/Makefile"; then
	tap_program "2 nodes, UCX" mpi_run 2 300 "$program" --only d-mcs \
		--set topology=node:2 --set transport=ucx
fi
tap_program "operations" mpi_run 2 300 "$builddir/tests/lock/mpi_errors"

finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Locks and a verbs device, soft-RoCE in a virtual machine (tests/verbs/guests).

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
[ "$TEST_MPI:${TEST_MPI_MAJOR:-4}" = openmpi:4 ] || skip_all "only written for Open MPI 4 so far"
grep -q '^UCX_LIBS = *-l' "$builddir/Makefile" || skip_all "a build without UCX"
machine=$builddir/tests/verbs-machine
said=$(timeout 600 "$srcdir/tests/verbs/guests" make "$machine" 2>&1)
case $? in
77) skip_all "$said" ;;
124) skip_all "no kernel within 600 s" ;;
esac

for each in failures locks; do
	tap_program "$each" "$srcdir/tests/verbs/guests" run --timeout 1800 "$machine" \
		sh "$srcdir/tests/verbs/$each.sh"
done

finish

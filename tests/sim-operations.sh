#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Locks issue the same operations in virtual time as here, near and far.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

[ -x "$builddir/tests/sim/count_simulated" ] || skip_all "configured without SimGrid"
mpi_can_run || skip_all "configured without a launcher"
make_tmp

check "an MPI job counts" mpi_run 4 120 sh -c "exec '$builddir/tests/sim/count_here' >>'$tmp/here'"
check "a simulation counts" sh -c "timeout 60 '$builddir/tests/sim/count_simulated' >'$tmp/there'"

same()
{
	grep "^$1 " "$tmp/here" >"$tmp/a"
	grep "^$1 " "$tmp/there" >"$tmp/b"
	[ "$(wc -l <"$tmp/a")" = 16 ] && diff "$tmp/a" "$tmp/b"
}
kinds=$(sed 's/ .*//' "$tmp/here" "$tmp/there" | sort -u)
check "there are kinds" [ -n "$kinds" ]
for kind in $kinds; do
	check "$kind: the same operations on 4 topologies" same "$kind"
done

finish

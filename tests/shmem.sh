#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# OpenSHMEM's locks with libpawl-shmem: preloaded, and linked before the runtime.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
layer=libpawl-shmem
. "$srcdir/tests/layers/head.sh"

[ -n "$SHMEM_LIBS" ] || skip_all "no OpenSHMEM on this MPI"
[ -e "$lib" ] || skip_all "no .libs/libpawl-shmem.so in this build"

# compile NAME LIBRARY...
compile()
{
	compile_name=$1
	shift
	$CC -g -std=c11 -D_GNU_SOURCE -I"$srcdir" "$sources/shmem_locks.c" -o "$work/$compile_name" "$@" $SHMEM_LIBS 2>&1
}
check "locks compiles" compile locks
tap_program "native, locks" mpi_run 2 60 "$work/locks"
for pes in 1 2 4; do
	tap_program "locks, $pes PEs" under $pes 60 "$work/locks"
done
for kind in $(layer_kinds); do
	tap_program "PAWL_LOCK=$kind, locks" under 2 60 PAWL_LOCK=$kind "$work/locks"
done
for pes in 1 3; do
	tap_program "numbers, $pes PEs" under $pes 60 "$work/locks" numbers
done
tap_program "PAWL_LOCK=native, locks" under 2 60 PAWL_LOCK=native "$work/locks"

check "locks without effect are noticed" notices_missing_locks under 2 60 "$work/locks"

checks_of_errors misuse "$work/locks" \
	"twice:shmem_set_lock: this PE has set the lock already" \
	"unlocked:shmem_clear_lock: this PE has not set the lock" \
	"of-another:shmem_clear_lock: this PE has not set the lock"
checks_of_all 'OpenSHMEM locks' "$work/locks" "$sources/shmem_locks.c" \
	'shmem_[a-z]*_lock(\|shmem_free('
check "a program without OpenSHMEM is told" says "no call of OpenSHMEM reached it" \
	under 2 60 "$builddir/tests/dropin/locks/exclusive" --budget 0.05

check "link it before OpenSHMEM" compile linked -L"$builddir/.libs" -lpawl-shmem -lpawl
tap_program "linked before OpenSHMEM, locks" mpi_run 2 60 env $found "$work/linked"

finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ARMCI mutexes, and the locks of Global Arrays, with libpawl-armci: linked before ARMCI.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
layer=libpawl-armci
. "$srcdir/tests/layers/head.sh"

[ -n "$ARMCI_LIBS" ] || skip_all "no ARMCI for this MPI (libarmci-mpi-dev)"
lib=$builddir/libpawl-armci.a
[ -e "$lib" ] || skip_all "no libpawl-armci.a in this build"
[ -e "$builddir/.libs/libpawl.so" ] || skip_all "no shared library in this build"

# compile NAME SOURCE LIBRARY...: natively, and NAME-pawl with the layer.
compile()
{
	compile_name=$1
	compile_source=$2
	shift 2
	$CC -g -std=c11 -D_GNU_SOURCE -I"$srcdir" "$compile_source" -o "$work/$compile_name" "$@" $ARMCI_LIBS -lm 2>&1 &&
		$CC -g -std=c11 -D_GNU_SOURCE -I"$srcdir" "$compile_source" -o "$work/$compile_name-pawl" "$@" "$lib" \
			-L"$builddir/.libs" -lpawl $ARMCI_LIBS -lm 2>&1
}
preload=$found # the layer is in the program

check "mutexes compiles" compile mutexes "$sources/armci_mutexes.c"
check "armci compiles" compile armci "$srcdir/tests/dropin/languages/armci.c"
tap_program "native, mutexes" mpi_run 2 120 "$work/mutexes"
for ranks in 1 2 4; do
	tap_program "mutexes, $ranks ranks" under $ranks 120 "$work/mutexes-pawl"
done
tap_program "ARMCI, 4 ranks" under 4 60 "$work/armci-pawl"
for kind in $(layer_kinds); do
	tap_program "PAWL_LOCK=$kind, mutexes" under 2 120 PAWL_LOCK=$kind "$work/mutexes-pawl"
done
tap_program "PAWL_LOCK=native, mutexes" under 2 120 PAWL_LOCK=native "$work/mutexes-pawl"

check "mutexes without effect are noticed" \
	notices_missing_locks under 2 60 "$work/mutexes-pawl"

checks_of_errors misuse "$work/mutexes-pawl" \
	"twice:this process has locked the mutex already" \
	"unlocked:this process has not locked the mutex" \
	"of-another:this process has not locked the mutex" \
	"no-mutex:there is no mutex 2 of process 1" \
	"created-twice:there are mutexes already"
checks_of_all 'ARMCI mutexes' "$work/mutexes-pawl" "$sources/armci_mutexes.c" 'ARMCI_Lock('

if [ -n "$GA_LIBS" ]; then
	check "a program of Global Arrays compiles" compile ga "$sources/ga_locks.c" $GA_LIBS
	tap_program "Global Arrays, native" mpi_run 2 120 "$work/ga"
	for ranks in 2 4; do
		tap_program "Global Arrays, $ranks ranks" under $ranks 120 "$work/ga-pawl"
	done
	check "which runs its locks on Pawl" says 'ARMCI mutexes' \
		under 2 60 PAWL_STATS=1 "$work/ga-pawl"
	check "locks of Global Arrays without effect are noticed" \
		notices_missing_locks under 2 60 "$work/ga-pawl"
else
	skip "Global Arrays" "libglobalarrays-dev does not link with this MPI"
fi

finish

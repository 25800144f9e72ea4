#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# LOCK, UNLOCK and CRITICAL of coarray programs with libpawl-caf: preloaded, linked before
# OpenCoarrays, and around a static one.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
layer=libpawl-caf
. "$srcdir/tests/layers/head.sh"

[ -n "$CAF_LIBS" ] || skip_all "no OpenCoarrays for this MPI (libcoarrays-$TEST_MPI-dev)"
[ -e "$lib" ] || skip_all "no .libs/libpawl-caf.so in this build"

# compile NAME SOURCE FLAG...: a coarray program.
compile()
{
	compile_name=$1
	compile_source=$2
	shift 2
	(cd "$work" && $MPIFC -g -fcoarray=lib "$sources/coarray_results.f90" "$compile_source" \
		-o "$compile_name" "$@" 2>&1)
}
for program in locks stat misuse; do
	check "$program compiles" compile $program "$sources/coarray_$program.f90" $CAF_LIBS
done
check "coarray compiles" compile coarray "$srcdir/tests/dropin/languages/coarray.f90" $CAF_LIBS

# With the runtime's locks, and more ranks than cores, MPICH takes 100 ms for a section.
native_images=2
[ "$TEST_MPI" != mpich ] || [ "$TEST_LONG" = 1 ] || native_images=1
tap_program "native, locks" mpi_run $native_images 120 "$work/locks"
if [ "$TEST_LONG" = 1 ]; then
	tap_program "locks, 1 image" under 1 120 "$work/locks"
	tap_program "stat, 2 images" under 2 60 "$work/stat"
	tap_program "coarrays, 2 images" under 2 60 "$work/coarray"
	tap_program "coarrays, 4 images" under 4 60 "$work/coarray"
fi
for images in 2 4; do
	tap_program "locks, $images images" under $images 120 "$work/locks"
done
tap_program "stat, 4 images" under 4 60 "$work/stat"
tap_program "coarrays, with libpawl-mpi" \
	mpi_run 4 60 env "LD_PRELOAD=$lib $builddir/.libs/libpawl-mpi.so" $found "$work/coarray"
for kind in $(layer_kinds); do
	tap_program "PAWL_LOCK=$kind, locks" under 2 120 PAWL_LOCK=$kind "$work/locks"
done

check "locks without effect are noticed" notices_missing_locks under 2 60 "$work/locks"

checks_of_errors "without STAT=" "$work/misuse" \
	"twice:LOCK: this image has locked the variable already" \
	"unlocked:UNLOCK: the variable is not locked" \
	"of-another:UNLOCK: another image has locked the variable" \
	"nested:CRITICAL: this image executes the block already"
checks_of_all 'coarray locks' "$work/stat" "$sources/coarray_stat.f90" 'lock('

check "ranges in PAWL_LOCK" stops 'PAWL_LOCK: "citron" is no lock with a try' \
	under 2 60 PAWL_LOCK=citron "$work/coarray"
tap_program "PAWL_LOCK=native" under $native_images 120 PAWL_LOCK=native "$work/coarray"
check "PAWL_OWNER has no effect" says "PAWL_OWNER=thread has no effect on coarray locks" \
	under 2 60 PAWL_OWNER=thread "$work/coarray"
check "a program without coarrays is told" says "no call of gfortran's coarrays reached it" \
	under 2 60 "$builddir/tests/dropin/locks/exclusive" --budget 0.05

check "link it before OpenCoarrays" \
	compile linked "$sources/coarray_stat.f90" -L"$builddir/.libs" -lpawl-caf -lpawl $CAF_LIBS
tap_program "linked before OpenCoarrays, stat" mpi_run 2 60 env $found "$work/linked"

# As pawl-caf.pc has it, around a library of one object.
static=$(for dir in $($MPIFC -print-search-dirs 2>/dev/null | sed -n 's/^libraries: =//p' | tr : ' '); do
	find "$dir/open-coarrays/$TEST_MPI/lib" -name "libcaf_$TEST_MPI.a" 2>/dev/null
done | head -n 1)
wrapped()
{
	# Only the installed library has the name of the MPI.
	wrap=$(sed -n 's/^wrap=//p' "$builddir/pawl-caf.pc" |
		sed "s|\${libdir}/libpawl-caf-[^ ]*|$builddir/.libs/libpawl-caf.a|")
	compile wrapped "$sources/coarray_stat.f90" $wrap "$static" -L"$builddir/.libs" -lpawl
}
if [ -n "$static" ] && [ -e "$builddir/.libs/libpawl-caf.a" ]; then
	check "link it around a static OpenCoarrays" wrapped
	tap_program "around a static OpenCoarrays, stat" mpi_run 2 60 env $found "$work/wrapped"
else
	skip "around a static OpenCoarrays" "no libcaf_$TEST_MPI.a, or no static library"
fi

finish

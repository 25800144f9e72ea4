#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The test programs built with AddressSanitizer and UndefinedBehaviorSanitizer, in a separate build
# tree: unit tests, every kind of lock against the adversary, and on a real MPI. At full length
# also the other programs of tests/lock, the drop-in layer, and programs with threads under
# ThreadSanitizer.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

[ "${1-}" = build ] || mpi_can_run || skip_all "configured without a launcher"
long=${TEST_LONG-}
[ -n "$long" ] && short= seeds=3000 || short=yes seeds=100
unit=$(sed -n '/^UNIT_TESTS = /,/[^\\]$/p' "$srcdir/tests/Makefile.inc" | grep -oE 'tests/unit/[a-z_0-9]+')
locks="tests/lock/holders/exclusion tests/lock/holders/ranges tests/lock/calls/errors"
[ -z "$long" ] || locks="$locks tests/lock/deaths/leases tests/lock/table/lifecycle tests/lock/calls/operations
	tests/lock/holders/threads tests/lock/calls/waiting"
sim=
[ ! -x "$builddir/tests/sim/adversary" ] || sim=tests/sim/adversary

# Both MPIs, hwloc and UCX do not free all memory at the end; tests/lifecycle.sh looks for
# leaks of Pawl. Open MPI and UCX install their own handlers for SIGSEGV.
export ASAN_OPTIONS="detect_leaks=0:abort_on_error=0:verify_asan_link_order=0"
export UBSAN_OPTIONS="print_stacktrace=1"

# build LIST PROGRAM...: into ./sanitize/LIST. One at a time: ./run-tests builds ahead.
build()
{
	mkdir -p "$builddir/sanitize" && exec 9>"$builddir/sanitize/lock" || return
	! command -v flock >/dev/null || flock 9
	build_unlocked "$@"
	build_status=$?
	exec 9>&-
	return $build_status
}

build_unlocked()
{
	build_dir=$builddir/sanitize/$1
	build_list=$1
	shift
	mkdir -p "$build_dir" && cd "$build_dir" || return
	# What this build tree has found out, but not what it was called with. Without optimisation the
	# compiler takes half of the time, which is most of this test's.
	[ -e Makefile ] || grep -v '^ac_cv_env_' "$builddir/config.cache" >config.cache 2>/dev/null
	[ -e Makefile ] || "$srcdir/configure" -C CC="$CC" --with-mpirun="$MPIRUN" \
		${short:+CFLAGS="-g1 -O0" CXXFLAGS="-g1 -O0"} \
		--disable-shared --enable-sanitizers="$build_list" >configure.out 2>&1 || {
		tail -n 5 configure.out
		return 1
	}
	build_status=0
	make -j2 "$@" >make.out 2>&1 || build_status=$?
	[ $build_status = 0 ] || tail -n 20 make.out
	cd "$builddir" && return $build_status
}

# clean PROGRAM...: run it; it fails if a sanitizer prints a finding.
clean()
{
	clean_status=0
	clean_said=$("$@" 2>&1) || clean_status=$?
	if printf '%s\n' "$clean_said" | grep -E -A 12 'Sanitizer|runtime error'; then
		return 1
	fi
	[ $clean_status = 0 ] || printf '%s\n' "$clean_said" | tail -n 20
	return $clean_status
}

made=$builddir/sanitize/address,undefined
if [ "${1-}" = build ]; then
	build address,undefined $unit $locks $sim
	exit
fi
# shellcheck disable=SC2086 # lists of names
check "builds with address,undefined" build address,undefined $unit $locks $sim
for program in $unit; do
	check "address,undefined: ${program#tests/}" clean "$made/$program"
done
if [ -n "$sim" ]; then
	# 100 seeds a kind take 5 s of a core.
	check "address,undefined: adversary" clean timeout 3000 "$made/$sim" --fault=none \
		--seeds=$seeds
else
	skip "address,undefined: adversary" "configured without SimGrid"
fi
for program in $locks; do
	case $program in
	*/errors) ranks=3 budget= ;;
	*/lifecycle) ranks=2 budget="--rounds 20" ;;
	*) ranks=2 budget="--budget 0.02" ;;
	esac
	# shellcheck disable=SC2086 # a list of arguments
	check "address,undefined: ${program#tests/}, $ranks ranks" \
		clean mpi_run $ranks 300 "$made/$program" $budget
done
[ -n "$long" ] || finish

made=$builddir/sanitize/thread
# ThreadSanitizer does not see synchronisation through another process, or through the
# MPI, which is not built with it; so there is one rank, no rdma-mcs and mcs-printed, whose words
# the MPI changes, and no rpc, whose clients and server exchange messages. A reader of drtm may read
# after its lease. The hooks of madvise() of UCX and Open MPI take a lock in threads that
# ThreadSanitizer has already ended.
export UCX_MEM_MMAP_HOOK_MODE=none UCX_MEM_EVENTS=n OMPI_MCA_opal_common_ucx_opal_mem_hooks=0
check "builds with thread" build thread tests/lock/holders/threads tests/unit/slots
check "thread: unit/slots" clean "$made/tests/unit/slots"
check "thread: lock/threads, 1 rank" \
	clean mpi_run 1 300 "$made/tests/lock/holders/threads" --except rdma-mcs,mcs-printed,rpc,drtm

finish

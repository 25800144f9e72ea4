#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# MPI programs that do not use Pawl, with the drop-in layer and without; the
# layer is preloaded, or linked before the MPI. A program that passes natively must pass
# under it, with every kind of lock that readers can share; and each test of
# mutual exclusion fails if its locks have no effect.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
. "$srcdir/tests/dropin-head.sh"

# All programs; the first ones are those that fail with locks without effect.
exclusive="exclusive shared lock_all nesting mixture windows phases threads"
all="$exclusive levels cleanup many operations dynamic objects progress misuse"
# The programs that test a kind of lock best in little time.
core="shared lock_all mixture"
# At full length the rounds of a program take minutes natively on a busy machine. A step that hangs
# is ended by --limit.
most=${TEST_LONG:+900}
most=${most:-170}

# under KIND RANKS SECONDS PROGRAM...: with the layer; KIND "default" is the layer's default.
under()
{
	under_kind=$1
	under_ranks=$2
	under_seconds=$3
	shift 3
	under_set=$layer
	[ "$under_kind" = default ] || under_set="$under_set PAWL_LOCK=$under_kind"
	mpi_run "$under_ranks" "$under_seconds" env $under_set TEST_STRICT=1 "$@"
}

# The layer must notice misuse; natively the MPI would.
native()
{
	native_ranks=$1
	native_seconds=$2
	shift 2
	mpi_run "$native_ranks" "$native_seconds" env TEST_STRICT=0 "$@"
}

# broken RUN...: the run finds a violation; it gets more time if a busy machine leaves it
# too little.
broken()
{
	for broken_budget in 0.05 0.5 2; do
		broken_said=$(TEST_BREAK=1 caught "$@" --one-failure 1 --budget "$broken_budget") &&
			break
		broken_said=
	done
	printf '%s\n' "$broken_said" | head -n 1
	[ -n "$broken_said" ]
}

# env_broken RUN PROGRAM: the same for a program without options.
env_broken()
{
	for broken_try in 1 2 3; do
		TEST_BREAK=1 caught $1 4 60 "$2" && return
	done
	return 1
}

# fails RUN...: it ends by itself, with a failure. After an abort the status of MPICH 4.2.1's
# launcher is 0 now and then.
fails()
{
	"$@" >"$work/fails" 2>&1
	fails_status=$?
	head -n 3 "$work/fails"
	[ $fails_status != 0 ] || ! grep -q '^Abort(' "$work/fails" || fails_status=1
	[ $fails_status != 0 ] && [ $fails_status != 124 ] && [ $fails_status != 137 ]
}

# A writer that waits for long says so once. The ranks mostly sleep, while others compile.
late()
{
	under default 3 60 "$programs/locks/schedule" --late $([ -n "$TEST_LONG" ] && echo 2 || echo 1)
}
[ ! -e "$lib" ] || { late >"$work/late" 2>&1; echo "status $?" >>"$work/late"; } &

# ------------------------------------------------------- programs to compile

# fortran NAME FLAG: build it with that interface, or print why that is not possible.
fortran()
{
	fortran_compiler=$(wrapper mpifort)
	[ -n "$fortran_compiler" ] && command -v "$fortran_compiler" >/dev/null ||
		{ echo "no mpifort that goes with $CC"; return 1; }
	echo "      end" >"$work/empty.f90"
	fortran_flags=
	$fortran_compiler -fallow-argument-mismatch -c "$work/empty.f90" -o "$work/empty.o" \
		2>/dev/null && fortran_flags=-fallow-argument-mismatch
	case $1 in
	mpif.h) echo "      include 'mpif.h'" ;;
	*) echo "      use $1" ;;
	esac >"$work/empty.f90"
	echo "      end" >>"$work/empty.f90"
	(cd "$work" && $fortran_compiler -c empty.f90 -o empty.o) 2>/dev/null ||
		{ echo "$fortran_compiler has no $1"; return 1; }
	$CC -c "$sources/languages/fortran_c.c" -o "$work/fortran_c.o" 2>&1 &&
		$fortran_compiler -w $fortran_flags $2 "$sources/languages/fortran.F90" \
			"$work/fortran_c.o" -o "$work/fortran-$1" 2>&1
}

cxx()
{
	cxx_compiler=$(wrapper mpicxx)
	[ -n "$cxx_compiler" ] && command -v "$cxx_compiler" >/dev/null ||
		{ echo "no mpicxx that goes with $CC"; return 1; }
	$cxx_compiler -std=c++11 -Wall -I"$srcdir" "$sources/languages/cxx.cc" -o "$work/c++" 2>&1
}

compiled=
for language in c++ fortran-mpif.h fortran-mpi fortran-mpi_f08; do
	case $language in
	c++) said=$(cxx) ;;
	fortran-mpif.h) said=$(fortran mpif.h) ;;
	fortran-mpi) said=$(fortran mpi -DUSE_MPI) ;;
	fortran-mpi_f08) said=$(fortran mpi_f08 -DUSE_MPI_F08) ;;
	esac
	if [ -x "$work/$language" ]; then
		compiled="$compiled $language"
	else
		skip "a program in $language" "$(printf '%s\n' "$said" | tail -n 1)"
	fi
done

# ------------------------------------------------------------------ natively

# With more ranks than cores MPICH takes milliseconds for a critical section.
ranks=${TEST_LONG:+4}
[ "$TEST_MPI" != mpich ] || ranks=
for program in $all; do
	if [ "$program,$TEST_MPI" = threads,openmpi ]; then
		skip "native, threads" "Open MPI's osc/ucx counts epochs without regard to threads, and ends some jobs"
		continue
	fi
	tap_program "native, $program" native ${ranks:-2} $most "$(path_of $program)" --limit 150 $budget
done
for program in $compiled; do
	tap_program "native, $program" native ${ranks:-2} 60 "$work/$program"
done
# A program without locks behaves the same under the layer, where more of them are run.
for program in ${TEST_LONG:+exclusive lock_all nesting mixture}; do
	check "native, $program notices locks without effect" broken native 2 60 \
		"$(path_of $program)"
done
for program in ${TEST_LONG:+$compiled}; do
	check "native, $program notices locks without effect" env_broken native "$work/$program"
done

if [ ! -e "$lib" ]; then
	skip "the same under the layer" "no .libs/libpawl-mpi.so in this build"
	finish
fi

# ---------------------------------------------------------- the layer itself

flushes="MPI_Win_flush MPI_Win_flush_local MPI_Win_flush_all MPI_Win_flush_local_all"
replaced()
{
	"${NM:-nm}" -D --defined-only "$lib" | awk '{ print $3 }' >"$work/symbols"
	for symbol in MPI_Win_create MPI_Win_allocate MPI_Win_allocate_shared \
		MPI_Win_create_dynamic MPI_Win_free MPI_Win_lock MPI_Win_unlock MPI_Win_lock_all \
		MPI_Win_unlock_all $flushes; do
		grep -qx "$symbol" "$work/symbols" || { echo "no $symbol"; return 1; }
	done
}
check "the layer defines the calls that it replaces" replaced
check "an unknown lock in PAWL_LOCK" fails under no-such-lock 2 60 "$programs/locks/exclusive"
refused()
{
	under declock 2 60 "$programs/locks/exclusive" >"$work/said" 2>&1
	refused_status=$?
	cat "$work/said"
	[ $refused_status != 0 ] && grep -q '"declock" is no lock for windows: .*; accepted: ' "$work/said"
}
check "PAWL_LOCK=declock, which would deadlock" refused
check "an unknown lock in the info of a window" \
	fails under default 2 60 env TEST_INFO=pawl_lock=no-such-lock "$programs/locks/exclusive"
check "an unknown option in the info of a window" \
	fails under default 2 60 env TEST_INFO=pawl_no_such_option=1 "$programs/locks/exclusive"

statistics()
{
	under default 2 60 "$programs/locks/lock_all" >"$work/quiet" 2>&1 || return 1
	under default 2 60 env PAWL_STATS=1 "$programs/locks/lock_all" >"$work/stats" 2>&1 || return 1
	! grep -vE '^(ok|1\.\.)' "$work/quiet" || { echo "not silent without PAWL_STATS"; return 1; }
	grep -i pawl "$work/stats" | grep '[1-9]'
}
check "PAWL_STATS=1 prints what was done" statistics

# Threads free windows of one pool at a time; each of the ten windows of the program is reported.
statistics_of_threads()
{
	under default 2 120 env PAWL_STATS=1 "$programs/locks/threads" $budget >"$work/stats" 2>&1
	rc=$?
	cat "$work/stats"
	[ $rc = 0 ] && { grep -q '^ok .*# SKIP' "$work/stats" ||
		[ "$(grep -c '^pawl: window.*, 2 ranks: .* call sites, by' "$work/stats")" = 10 ]; }
}
check "PAWL_STATS=1 with threads" statistics_of_threads

linked()
{
	"$builddir/libtool" --silent --mode=link $CC -D_GNU_SOURCE -std=c11 -I"$srcdir" "$sources/locks/misuse.c" \
		"$sources/area.c" "$srcdir/tests/ranks.c" "$builddir/libpawl-mpi.la" \
		-o "$work/misuse" -pthread
}
if check_linked=$(linked 2>&1); then
	tap_program "linked before the MPI, misuse" mpi_run 2 60 env TEST_STRICT=1 "$work/misuse"
else
	check "link a program with libpawl-mpi.la" linked
fi

# ----------------------------------------------------------------- under it

# MPICH takes seconds to create the tables of ranks that share cores.
ranks=4
[ -n "$TEST_LONG" ] || [ "$TEST_MPI" != mpich ] || ranks=2
for program in $all; do
	tap_program "default, $program" under default $ranks $most "$(path_of $program)" --limit 150 $budget
done
for program in $compiled; do
	tap_program "default, $program" under default 4 60 "$work/$program"
	[ -n "${TEST_SECOND-}" ] || check "default, $program notices locks without effect" \
		env_broken "under default" "$work/$program"
	# Were its calls to pass by, nobody would look at this.
	check "default, $program goes through the layer" fails under no-such-lock 4 60 \
		"$work/$program"
done
# Not threads: an MPI may fail with threads whose locks have no effect. The other programs do not
# depend on the MPI.
for program in $exclusive levels cleanup misuse; do
	[ "$program" != threads ] && [ -z "${TEST_SECOND-}" ] || continue
	check "default, $program notices locks without effect" broken under default 4 60 \
		"$(path_of $program)"
done
# Byte ranges, in a program that calls the layer's functions.
tap_program "byte ranges" mpi_run 4 120 "$programs/locks/ranges" --limit 100 $budget
[ -z "$TEST_LONG" ] || tap_program "byte ranges, threads" mpi_run 2 120 "$programs/locks/ranges" --threads 1 --limit 100 $budget
byte_ranges()
{
	mpi_run 4 60 "$programs/locks/ranges" "$@"
}
check "byte ranges without effect are noticed" broken byte_ranges
check "byte ranges of a window that keeps the MPI's locks" \
	fails mpi_run 2 60 env PAWL_LOCK=native "$programs/locks/ranges"
tap_program "native by PAWL_LOCK, exclusive" \
	mpi_run 4 120 env LD_PRELOAD="$lib" PAWL_LOCK=native TEST_STRICT=0 "$programs/locks/exclusive"
for many in 1 $([ $ranks = 2 ] || echo 8); do
	tap_program "default, $many ranks" under default $many 170 "$programs/locks/mixture" --limit 150
done

# All locks are freed with the windows.
session()
{
	mpi_run 2 60 env $layer "$programs/life/session" >"$work/said" 2>&1 &&
		[ "$(grep -o ended "$work/said" | wc -l)" = 2 ] && ! grep -q "pawl:" "$work/said" && return
	tail -n 20 "$work/said"
	return 1
}
mpi_run 1 60 "$programs/life/session" >"$work/said" 2>&1
if [ $? = 77 ]; then
	skip "windows of a session" "this MPI has no sessions"
else
	check "windows of a session" session
fi

says_once()
{
	cat "$work/late"
	grep -qx "status 0" "$work/late" && [ "$(grep -c '^pawl: ' "$work/late")" = 1 ] &&
		grep -q '^pawl: rank 1 of window late has waited .* exclusive lock of target 0:' "$work/late"
}
wait
timed check "a writer waits for readers that join, and says so once" says_once

# ------------------------------------------------------------- Pawl's atomics

atomics()
{
	atomics_ranks=$1
	shift
	under default "$atomics_ranks" $most env PAWL_ATOMICS=1 "$@" --limit 150 $budget
}
for many in $ranks 3 $([ $ranks = 2 ] && echo 5 || echo 8); do
	for seed in 1 ${TEST_LONG:+2 3 4 5}; do
		tap_program "atomics, $many ranks, seed $seed" atomics $many env TEST_SEED=$seed \
			"$programs/access/atomics"
	done
done
tap_program "atomics by info" under default 2 $most env TEST_INFO=pawl_atomics=1 \
	"$programs/access/atomics" --limit 150 $budget
[ -n "${TEST_SECOND-}" ] || check "atomics notices updates that are lost" broken atomics 4 \
	"$programs/access/atomics"
# Programs with accumulates and others.
for program in mixture phases; do
	tap_program "atomics, $program" atomics 2 "$(path_of $program)"
done
# Benchmarks and kernels; and what fails natively.
tap_program "atomics, patterns" atomics 2 "$programs/access/patterns" --defects 1
[ -z "$TEST_LONG" ] || tap_program "native, patterns" native 2 $most "$programs/access/patterns" --limit 150
[ -z "$TEST_LONG" ] || tap_program "default, patterns" under default 2 $most "$programs/access/patterns" --limit 150
for program in $compiled; do
	[ "$program" = c++ ] || tap_program "atomics, $program" under default 2 60 \
		env PAWL_ATOMICS=1 "$work/$program"
done
# All calls, in windows of each kind. lines N COMMAND...: so many lines say that windows keep the
# MPI's.
lines()
{
	lines_wanted=$1
	shift
	"$@" >"$work/said" 2>"$work/errors" || { cat "$work/said"; return 1; }
	cat "$work/errors"
	[ "$(grep -c '^pawl: windows keep the atomics of the MPI: ' "$work/errors")" = "$lines_wanted" ]
}
check "atomics, operations: all windows have them" lines 0 atomics 2 "$programs/access/operations"
check "atomics, operations: a line says which windows keep the MPI's" \
	lines 1 atomics 2 env PAWL_LOCK=native "$programs/access/operations"
check "atomics: a mistake of one rank in MPI_Win_allocate ends the job" fails under default 2 30 \
	env PAWL_ATOMICS=1 TEST_ONE_REFUSED=1 "$programs/access/operations"
# A kernel that does not let processes copy each other's memory.
without_copies()
{
	mpi_run 2 120 "$work/no-copies" env $layer PAWL_ATOMICS=1 TEST_STRICT=1 "$@" --limit 100
}
without_copies_says()
{
	lines 1 without_copies "$programs/access/operations" &&
		grep -q "the kernel does not let" "$work/errors"
}
# MPICH 4.0 hangs in MPI_Finalize on such a kernel now and then, also without the layer.
if [ "$TEST_MPI" = mpich ]; then
	skip "atomics, a kernel that refuses copies" "MPICH 4.0 hangs in MPI_Finalize there"
elif said=$($CC -D_GNU_SOURCE -std=c11 "$sources/loading/refused.c" -o "$work/no-copies" 2>&1) &&
	said=$("$work/no-copies" true 2>&1); then
	check "atomics, a kernel that refuses copies: a line says why some are the MPI's" without_copies_says
else
	skip "atomics, a kernel that refuses copies" "$(printf '%s' "$said" | head -n 1)"
fi
tap_program "atomics, info keys about accumulates" atomics $ranks "$programs/access/keys"
[ -n "${TEST_SECOND-}" ] || check "atomics, info keys: updates that are lost are noticed" broken \
	atomics 4 "$programs/access/keys"
check "an unknown value of PAWL_ATOMICS" fails under default 2 60 env PAWL_ATOMICS=yes \
	"$programs/locks/exclusive"

tap_program "more ranks than cores" under default 8 120 "$programs/locks/crowd" --limit 100

# MPI_Win_lock_all as one lock on one node, too: with many ranks, or if too few locks may be
# held for one on each target of each window.
for program in lock_all nesting mixture many; do
	tap_program "whole windows, $program" under default $ranks 120 \
		env TEST_INFO=pawl_max_held=40 "$(path_of $program)" --limit 100 $budget
done
check "whole windows, lock_all notices locks without effect" broken under default 4 60 \
	env TEST_INFO=pawl_max_held=40 "$programs/locks/lock_all"
# Variables for tables do not change the semantics of windows; a line names those without effect.
environment()
{
	under default 2 60 env PAWL_OWNER=thread PAWL_MAX_HELD=1 "$programs/locks/nesting" $budget \
		>"$work/said" 2>"$work/errors" || { cat "$work/said" "$work/errors"; return 1; }
	for variable in PAWL_OWNER=thread PAWL_MAX_HELD=1; do
		[ "$(grep -c "^pawl: $variable has no effect on windows" "$work/errors")" = 1 ] ||
			{ cat "$work/errors"; return 1; }
	done
	mpi_run 2 60 env PAWL_LEASE=1000 "$programs/locks/ranges" $budget >"$work/said" 2>"$work/errors" ||
		{ cat "$work/said" "$work/errors"; return 1; }
	grep '^pawl: PAWL_LEASE=1000 has no effect' "$work/errors"
}
check "variables that windows do not follow" environment
tap_program "PAWL_OWNER=thread" under default 2 120 env PAWL_OWNER=thread "$programs/locks/threads" \
	--limit 100 $budget
check "an option in the info of a window that is the layer's" \
	fails under default 2 60 env TEST_INFO=pawl_owner=thread "$programs/locks/exclusive"
# A slot takes memory when it is used first.
tap_program "memory" under default 2 60 env TEST_MEMORY=32 PAWL_MAX_HELD=65535 TEST_WINDOWS=3 \
	"$programs/locks/many"
# So many ranks that slots for the targets of one pool's windows (64) would exceed MOST_HELD of
# src/dropin/pool.c. Not with MPICH: its ranks poll without yielding, and on two cores this takes
# more than five minutes; what is tested does not depend on the MPI.
[ -z "$TEST_LONG" ] || [ "$TEST_MPI" = mpich ] || tap_program "66 ranks" under default 66 600 \
	env TEST_MEMORY=64 TEST_WINDOWS=66 "$programs/locks/many" --limit 280

kinds=${TEST_KINDS-$("$programs/locks/kinds")}
check "the library has kinds of lock that readers share" test -n "$kinds"
for kind in $kinds; do
	for program in ${TEST_LONG:+$all} $([ -n "$TEST_LONG" ] || echo $core); do
		tap_program "$kind, $program" under "$kind" $ranks $most "$(path_of $program)" \
			--limit 150 $budget
	done
	if [ -n "$TEST_LONG" ] || [ "$kind" = "${kinds%%[!a-z-]*}" ]; then
		tap_program "$kind by info" under default $ranks 120 env TEST_INFO="pawl_lock=$kind" \
			"$programs/locks/lock_all"
	fi
	for seed in ${TEST_LONG:+11 12 13 14 15}; do
		tap_program "$kind, seed $seed, 8 ranks" under "$kind" 8 300 \
			env TEST_SEED=$seed "$programs/locks/mixture" --limit 280 $budget
	done
done

# Random programs that end if no process waits for ever for one that waits.
seeds=${TEST_LONG:+300}
for kind in default ${TEST_LONG:+$kinds}; do
	tap_program "random programs, $kind" under "$kind" $((ranks + 1)) $most \
		"$programs/locks/schedule" --programs "${seeds:-8}" --limit 60
done

# ------------------------------------------------------------- over two hosts

said=$(hosts_can_run) || { skip "2 hosts x 2" "$said"; finish; }

cluster()
{
	hosts_run 2 4 120 -- env $layer TEST_STRICT=1 "$@" --limit 100
}
for program in ${TEST_LONG:+$all} $([ -n "$TEST_LONG" ] || echo exclusive nesting phases); do
	if [ "$program,$TEST_MPI" = cleanup,mpich ]; then
		skip "2 hosts x 2, cleanup" "MPICH's MPI_Finalize hangs now and then over several hosts"
		continue
	fi
	tap_program "2 hosts x 2, $program" cluster "$(path_of $program)"
done
tap_program "2 hosts x 2, byte ranges" cluster "$programs/locks/ranges" $budget
for kind in $kinds; do
	[ "$kind" = adaptive ] || [ -n "$TEST_LONG" ] || continue
	tap_program "2 hosts x 2, random programs, $kind" cluster env PAWL_LOCK="$kind" \
		"$programs/locks/schedule" --seed 83 --programs $([ -z "$TEST_LONG" ] && echo 4 || echo 50)
done
if [ "$TEST_MPI" = openmpi ]; then
	tap_program "2 hosts x 2, random programs, native" hosts_run 2 4 600 -- \
		"$programs/locks/schedule" --native 1 --seed 83 --programs "${seeds:-6}" --limit 100
fi
# Accumulates: by CPU within a host, by a thread of the target between hosts. With MPICH, whose ranks
# poll, this takes 7 s.
[ "$TEST_MPI" = mpich ] && [ -z "$TEST_LONG" ] ||
	tap_program "2 hosts x 2, atomics" cluster env PAWL_ATOMICS=1 "$programs/access/atomics" \
		--budget 0.02
[ -z "$TEST_LONG" ] ||
	tap_program "2 hosts x 2, patterns" cluster env PAWL_ATOMICS=1 "$programs/access/patterns" --defects 1
far_atomics()
{
	hosts_run $2 $1 300 -- env $layer PAWL_ATOMICS=1 TEST_SEED=$3 "$programs/access/atomics" --limit 280 --budget 0.2
}
for layout in ${TEST_LONG:+"3 3 1" "8 2 2" "8 3 3" "5 2 4" "2 2 5"}; do
	tap_program "atomics, ranks, hosts, seed: $layout" far_atomics $layout
done
far_says_why()
{
	cluster env PAWL_ATOMICS=1 $1 "$programs/locks/exclusive" 2>&1 |
		grep "^pawl: windows keep the atomics of the MPI: its processes are on several nodes"
}
for option in ${TEST_LONG:+PAWL_TRANSPORT=mpi PAWL_CONNECTIONS=1}; do
	check "2 hosts x 2, with $option atomics are the MPI's" far_says_why $option
done
for kind in $kinds; do
	tap_program "2 hosts x 2, $kind, mixture" cluster env PAWL_LOCK="$kind" "$programs/locks/mixture"
done

finish

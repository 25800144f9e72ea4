#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The drop-in layer together with PMPI tools before and after it, which wrap all calls or some; and
# with programs that take functions from the MPI's library itself. Exclusion holds, or the layer says
# why it is off.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
. "$srcdir/tests/dropin-head.sh"
[ -e "$lib" ] || skip_all "no .libs/libpawl-mpi.so in this build"

# preloaded LIBRARIES RANKS SECONDS PROGRAM...
preloaded()
{
	preloaded_libraries=$1
	preloaded_ranks=$2
	preloaded_seconds=$3
	shift 3
	mpi_run "$preloaded_ranks" "$preloaded_seconds" env LD_PRELOAD="$preloaded_libraries" \
		"$found" TEST_STRICT=1 "$@"
}

# shared SOURCE NAME FLAG...: compile a library to be preloaded.
shared()
{
	shared_source=$1
	shared_name=$2
	shift 2
	$CC -D_GNU_SOURCE -std=c11 -shared -fPIC "$@" "$sources/loading/$shared_source" \
		-o "$work/$shared_name.so" -ldl 2>&1
}

# ------------------------------------------------------------------ PMPI tools

# The tool counts calls, and an unknown lock is an error: so both get the calls.
is_there()
{
	preloaded "$1" 2 60 env TEST_TOOL=1 "$programs/locks/lock_all" --budget 0 >"$work/said" 2>&1 ||
		{ cat "$work/said"; return 1; }
	grep -q '^tool: [1-9]' "$work/said" || { echo "the tool saw nothing"; return 1; }
	! preloaded "$1" 2 60 env PAWL_LOCK=no-such-lock "$programs/locks/lock_all" --budget 0 \
		>"$work/said" 2>&1 || { echo "the layer saw nothing"; return 1; }
}

for wraps in 1 2 3; do
	for on in pmpi next; do
		case $wraps in
		1) what="MPI_Win_lock" ;;
		2) what="what MPI-2 has" ;;
		3) what="all calls" ;;
		esac
		tool=tool$wraps-$on
		if ! said=$(shared tool.c $tool -DWRAPS=$wraps $([ $on = pmpi ] || echo -DBY_NEXT)); then
			check "compile a tool" echo "$said"
			continue
		fi
		[ $on = pmpi ] || what="$what by RTLD_NEXT"
		for order in before after; do
			[ -n "$TEST_LONG" ] || [ $on = pmpi ] || [ $wraps$order = 2before ] || continue
			libraries="$work/$tool.so $lib"
			[ $order = before ] || libraries="$lib $work/$tool.so"
			name="a tool $order the layer, for $what"
			for program in lock_all ${TEST_LONG:+exclusive shared mixture threads misuse}; do
				tap_program "$name, $program" preloaded "$libraries" 2 120 \
					"$(path_of $program)" --limit 100 $budget
			done
			check "$name: both see the calls" is_there "$libraries"
		done
	done
done

# A program with a table of Pawl and a window: a tool sees the program's calls and
# none of the library's, and the layer gives locks to the program's window only.
turns=$(sed -n 's/.*TURNS = \([0-9]*\).*/\1/p' "$srcdir/examples/counter.c")
own_windows()
{
	preloaded "$1" 2 60 env TEST_TOOL=1 PAWL_STATS=1 "$builddir/examples/counter" \
		>"$work/said" 2>&1 || { cat "$work/said"; return 1; }
	cat "$work/said"
	# Init, Win_allocate, Win_lock_all, Put, Win_unlock_all, Win_free and Finalize
	[ "$(grep -c "^tool: $((6 + turns)) calls\$" "$work/said")" = 2 ] &&
		[ "$(grep -c '^pawl: .*window' "$work/said")" = 1 ]
}
tool=$work/tool3-pmpi.so
if [ -e "$tool" ]; then
	check "windows of the library, a tool before the layer" own_windows "$tool $lib"
	check "windows of the library, a tool after the layer" own_windows "$lib $tool"
fi

# ------------------------------------------- functions of the MPI's library itself

if said=$($CC -D_GNU_SOURCE -std=c11 -I"$srcdir" "$sources/loading/direct.c" -o "$work/direct" -ldl 2>&1); then
	direct=$work/direct
else
	check "compile direct.c" sh -c 'echo "$1"; false' sh "$said"
	finish
fi

# direct WHAT LINE: the program succeeds, and the layer prints exactly that line, or none.
direct()
{
	preloaded "$lib" 2 60 "$direct" $1 >"$work/said" 2>"$work/errors" ||
		{ cat "$work/said" "$work/errors"; return 1; }
	grep -q '^ok 1' "$work/said" || { cat "$work/said"; return 1; }
	grep '^pawl:' "$work/errors" >"$work/lines"
	cat "$work/lines"
	[ -n "$2" ] || { [ ! -s "$work/lines" ]; return; }
	grep -q "$2" "$work/lines" && [ "$(grep -vc "$2" "$work/lines")" = 0 ]
}
# An error of the window, with a line on stderr.
mixed()
{
	preloaded "$lib" 2 60 "$direct" some >"$work/said" 2>&1 && { cat "$work/said"; return 1; }
	grep '^an error' "$work/said"
}
check "a program that calls by name" direct "" ""
check "all functions from the MPI's library" direct all "no call reached it"
check "windows and locks from the MPI's library" direct windows ""
check "MPI_Win_lock from the MPI's library" direct lock "acquired past libpawl-mpi"
check "MPI_Win_lock from there every other time is an error" mixed

# ---------------------------------------------------------------------- Python

# The same through ctypes, where libraries are opened with RTLD_LOCAL.
python=$(command -v python3)
name=$(ldd "$direct" | sed -n 's|.*=> \(/[^ ]*/libmpi[a-z]*\.so[^ ]*\).*|\1|p;' | head -n 1)
in_python()
{
	preloaded "$lib" 2 60 "$python" -c '
import ctypes, sys
mpi = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_LOCAL)
mpi.MPI_Init(None, None)
mpi.MPI_Finalize()
print("ok", flush=True)' "$name" >"$work/said" 2>"$work/errors" || { cat "$work/errors"; return 1; }
	grep '^pawl:' "$work/errors" >"$work/lines"
	cat "$work/lines"
	grep -q '^ok' "$work/said" && [ "$(grep -c 'no call reached it' "$work/lines")" = 1 ]
}
if [ -n "$python" ] && [ -n "$name" ]; then
	check "MPI through ctypes" in_python
else
	skip "MPI through ctypes" "no python3, or no name of the MPI's library"
fi

# mpi4py, with the layer opened by the script and not preloaded.
opened()
{
	mpi_run 2 60 env "$found" "$@" "$python" -c '
import ctypes, runpy, sys
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
runpy.run_path(sys.argv[2], run_name="__main__")' "$lib" "$sources/languages/mpi4py_locks.py"
}
is_opened()
{
	! opened env PAWL_LOCK=no-such-lock >"$work/said" 2>&1
}
# The python3 that has it may not be the first in PATH.
for python in python3 /usr/bin/python3; do
	vendor=$("$python" -c 'from mpi4py import MPI; print(MPI.get_vendor()[0])' 2>/dev/null) && break
done
case $TEST_MPI:$vendor in
"openmpi:Open MPI" | mpich:MPICH)
	tap_program "mpi4py, after the layer was opened" opened
	check "mpi4py, after the layer was opened, goes through it" is_opened
	;;
*) skip "mpi4py, after the layer was opened" "no mpi4py for this MPI" ;;
esac

# --------------------------------------------------- more CPUs than a cpu_set_t has

# Ranks with their own cores do not yield them.
many_cpus()
{
	preloaded "$work/affinity.so $lib" 2 60 "$programs/locks/lock_all" --budget 0.02 >"$work/said" 2>&1 ||
		{ cat "$work/said"; return 1; }
	yields=$(sed -n 's/^yields: //p' "$work/said" | sort -n | tail -n 1)
	echo "yields of a rank at the most: $yields"
	[ -n "$yields" ] && [ "$yields" -lt 10 ]
}
if [ "$(nproc)" -lt 2 ]; then
	skip "more CPUs than a cpu_set_t has" "two ranks have one core"
elif said=$(shared affinity.c affinity); then
	timed check "more CPUs than a cpu_set_t has" many_cpus
else
	check "compile affinity.c" sh -c 'echo "$1"; false' sh "$said"
fi

finish

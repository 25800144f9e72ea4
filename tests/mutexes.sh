#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The code of doc/mutexes.md, before and after: it compiles without a warning, and no change is lost.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
. "$srcdir/tests/languages/head.sh"

page=$srcdir/doc/mutexes.md

# compiled NAME FLAG...: the program of a block.
compiled()
{
	name=$1
	shift
	block "$page" "$name" >"$work/$name.h"
	[ -s "$work/$name.h" ] || { echo "doc/mutexes.md has no example $name"; return 1; }
	$CC -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -DBLOCK="\"$work/$name.h\"" \
		-I"$srcdir/include" "$@" "$srcdir/tests/mutexes/main.c" $libs
}

runs()
{
	compiled "$@" -o "$work/$1" && mpi_run 3 55 "$work/$1"
}
check "MPI_Win_lock, before" runs win-before -DWINDOW=1
check "MPI_Win_lock, after" runs win-after -DWINDOW=2
check "the MCS lock of the textbooks, before" runs mcs-before
check "the MCS lock of the textbooks, after" runs mcs-after
# Natively it hangs over two hosts with Open MPI 4.1; with MPICH MPI_Finalize does.
over_hosts()
{
	hosts_run 2 4 55 -- env LD_PRELOAD="$builddir/.libs/libpawl-mpi.so" LD_LIBRARY_PATH="$builddir/.libs" \
		PAWL_ATOMICS=1 "$work/mcs-before"
}
if [ -n "${TEST_LONG-}" ] && [ "$TEST_MPI" = openmpi ]; then
	check "over two hosts, by libpawl-mpi" over_hosts
fi
check "ARMCI mutexes, before: compiles" compiled armci-before -I"$srcdir/tests/mutexes" -c \
	-o "$work/armci.o"
check "ARMCI mutexes, after" runs armci-after

if [ -n "$MPI4PY" ]; then
	export PYTHONDONTWRITEBYTECODE=1 PAWL_LIBRARY="$builddir/.libs/libpawl.so"
	export PYTHONPATH="$srcdir/python"
fi
python()
{
	block "$page" "$1" >"$work/$1.py"
	grep -q 'class Mutex' "$work/$1.py" || { echo "doc/mutexes.md has no example $1"; return 1; }
	mpi_run 3 55 $MPI4PY "$srcdir/tests/mutexes/turns.py" "$work" "$1"
}
for name in python-before python-after; do
	if [ -n "$MPI4PY" ]; then
		check "a class in Python, ${name#python-}" python $name
	else
		skip "a class in Python, ${name#python-}" "no mpi4py for this MPI"
	fi
done

finish

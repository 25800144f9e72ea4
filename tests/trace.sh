#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# PAWL_TRACE: a time line of all ranks, its form, and what pawl-trace finds in it.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
make_tmp
observe=$srcdir/tests/observe
pawl_trace()
{
	"$PYTHON" "$srcdir/tools/pawl-trace" "$@"
}

tap_program "made-up files" "$PYTHON" "$observe/findings.py" "$srcdir/tools/pawl-trace" "$tmp"

# Rank 1 holds lock 5 for 3 ms each time.
PAWL_TRACE=$tmp/contended.json mpi_run 3 60 "$builddir/examples/contended" >"$tmp/said" 2>&1
rc=$?
is_well()
{
	cat "$tmp/said"
	[ $rc = 0 ] && pawl_trace --check "$tmp/contended.json"
}
check "the program runs, and its file is well formed" is_well
pawl_trace "$tmp/contended.json" >"$tmp/summary" 2>&1
finds()
{
	cat "$tmp/summary"
	grep -q "$1" "$tmp/summary"
}
is_first()
{
	sed -n 2p "$tmp/summary" | grep 'lock 5 of table 1 '
}
timed check "the lock with the longest waits is first" is_first
check "a long hold, with rank and function" \
	finds '^lock 5 .*: long hold: rank 1 on .* held it .* ms at .*\(update_hot at\|contended\)'
check "hand-overs" finds '^[1-9][0-9]* hand-overs between 3 ranks$'
has_events()
{
	"$PYTHON" "$observe/events.py" job "$tmp/contended.json"
}
check "all ranks, the times of the holds, and hand-overs from the past" has_events

# All ranks refuse a file that cannot be written: for lack of a folder, and of room.
has_no_file()
{
	! PAWL_TRACE=$1 mpi_run 2 60 "$builddir/tests/lock/table/environment" >"$tmp/said" 2>&1 || return 1
	cat "$tmp/said"
	grep -q "rank 0: PAWL_TRACE: $1 cannot be written" "$tmp/said" &&
		grep -q 'rank 1: PAWL_TRACE: rank 0 cannot write the file' "$tmp/said"
}
check "a file in no folder is refused" has_no_file "$tmp/none/trace.json"
check "a file without room is refused" has_no_file /dev/full

# The locks of a window have the program's lines, not those of the layer, without PAWL_STATS, too.
of_window()
{
	PAWL_TRACE=$tmp/window.json mpi_run 3 60 env "LD_PRELOAD=$layer" \
		"$builddir/examples/contended" window || return 1
	pawl_trace --rows=2 "$tmp/window.json" || return 1
	line=$(grep -n 'MPI_Win_lock.*the line to find' "$srcdir/examples/contended.c" | cut -d: -f1)
	grep -o '"site": "[^"]*"' "$tmp/window.json" | sort | uniq -c | tee "$tmp/sites"
	[ "$(wc -l <"$tmp/sites")" = 1 ] && grep -q " at contended.c:$line\"" "$tmp/sites"
}
layer=$builddir/.libs/libpawl-mpi.so
if [ -e "$layer" ]; then
	check "a window" of_window
else
	skip "a window" "no shared library in this build"
fi

# Tables of ranks that the job's rank 0 is not among, and jobs that share a file.
compiles()
{
	# A library built with gcov or a sanitizer needs what the build links with.
	flags=$(sed -n 's/^LDFLAGS = //p' "$builddir/Makefile")
	# shellcheck disable=SC2086 # lists of words
	"$builddir/libtool" --tag=CC --mode=link --quiet $CC -std=c11 $flags -I"$srcdir/include" \
		"$observe/tables.c" -o "$tmp/tables" "$builddir/libpawl.la"
}
check "a program with several tables" compiles

# Each with a ring that is too small for its acquires.
lost='^the first [0-9]* acquires are lost, of 2 ranks, most of them, [0-9]*, of rank [01] on .*_MIB$'
two()
{
	PAWL_TRACE=$tmp/two.json PAWL_TRACE_MIB=1 mpi_run 2 60 "$tmp/tables" two || return 1
	pawl_trace "$tmp/two.json" >"$tmp/summary" && cat "$tmp/summary"
	[ "$(grep -c "$lost" "$tmp/summary")" = 1 ] &&
		[ "$(grep -c 'of table [12] (d-mcs, 4 locks)$' "$tmp/summary")" = 8 ]
}
check "two tables in one file, and acquires that are lost" two

# The file has a limit over all tables, which keeps the last acquires; ranks and locks are chosen.
is_limited()
{
	PAWL_TRACE=$tmp/$1 PAWL_TRACE_FILE_MIB=1 mpi_run 2 60 "$tmp/tables" two || return 1
	pawl_trace "$tmp/$1" | tee "$tmp/summary" || return 1
	text=$(gzip -dcf <"$tmp/$1" | wc -c)
	bytes=$(wc -c <"$tmp/$1")
	echo "$bytes bytes, $text of text"
	[ "$text" -le 1048576 ] && [ "$text" -ge 300000 ] && [ "$bytes" -le $((text / $2)) ] &&
		[ "$(grep -c "$lost" "$tmp/summary")" = 1 ]
}
check "the file does not grow beyond its limit" is_limited small.json 1
check "nor the text of one that is compressed, to a fifth" is_limited small.json.gz 5
is_chosen()
{
	PAWL_TRACE=$tmp/chosen.json PAWL_TRACE_RANKS=1,7 PAWL_TRACE_LOCKS=0-1 PAWL_TRACE_MIB=2 \
		mpi_run 2 60 "$tmp/tables" two || return 1
	pawl_trace "$tmp/chosen.json" >"$tmp/summary" && cat "$tmp/summary"
	[ "$(grep -c '"cat": "hold"' "$tmp/chosen.json")" = 20000 ] &&
		! grep -q '"ph": "X".*"pid": 0' "$tmp/chosen.json" &&
		! grep -q '"name": "lock [23]"' "$tmp/chosen.json" &&
		PAWL_TRACE=$tmp/chosen.json PAWL_TRACE_TIME=1000s-1001000ms \
			mpi_run 2 60 "$tmp/tables" two && ! grep -q '"ph": "X"' "$tmp/chosen.json"
}
check "ranks, locks and a time are chosen" is_chosen

# shows FILE ACQUIRES TABLES: the sum of the acquires, and the number of the tables.
shows()
{
	pawl_trace --rows=100 "$1" >"$tmp/summary" 2>&1 || { cat "$tmp/summary"; return 1; }
	cat "$tmp/summary"
	sed -n 's/.* lock [0-9]* of table \([0-9]*\) (d-mcs.*/\1/p' "$tmp/summary" | sort -u >"$tmp/found"
	[ "$(wc -l <"$tmp/found")" = "$3" ] && [ "$(gzip -dcf <"$1" | grep -c '"cat": "hold"')" = "$2" ]
}
grid()
{
	PAWL_TRACE=$tmp/$1 mpi_run 4 60 "$tmp/tables" grid && shows "$tmp/$1" 160 4
}
check "tables over rows and columns have numbers of their own" grid grid.json
check "in a compressed file, too" grid grid.json.gz
# Rank 0 of the job has no acquire in the first table of the others.
again()
{
	for once in 1 2; do
		PAWL_TRACE=$tmp/again.json.gz mpi_run 3 60 "$tmp/tables" others || return 1
		shows "$tmp/again.json.gz" 20 1 || return 1
	done
	PAWL_TRACE=$tmp/again.json mpi_run 3 60 "$tmp/tables" late && shows "$tmp/again.json" 35 2
}
check "each job begins the file, and no table of a job is lost" again
at_once()
{
	for once in 1 2; do
		PAWL_TRACE=$tmp/$1 mpi_run 3 60 "$tmp/tables" late 2 >"$tmp/said.$once" 2>&1 &
		sleep 0.2
	done
	wait
	cat "$tmp/said.1" "$tmp/said.2"
	grep -q 'is in use by another job; this process' "$tmp/said.1" "$tmp/said.2" &&
		shows "$tmp/$1" 35 2 || return 1
	for apart in "$tmp"/shared.json.*[0-9]*; do
		gzip -dcf <"$apart"
	done >"$tmp/apart"
	ls "$tmp" && [ "$(grep -c '"cat": "hold"' "$tmp/apart")" = 35 ]
}
check "two jobs at a time write files of their own" at_once shared.json.gz
is_kept()
{
	echo precious >"$tmp/$1"
	PAWL_TRACE=$tmp/$1 mpi_run 2 60 "$builddir/tests/lock/table/environment" >"$tmp/said" 2>&1
	[ $? != 0 ] && cat "$tmp/said" && grep -q "$1 exists, and is no time line" "$tmp/said" &&
		[ "$(cat "$tmp/$1")" = precious ]
}
check "a file that is no time line is kept" is_kept notes
check "also one whose name ends in .gz" is_kept notes.gz

refused()
{
	PAWL_TRACE=$tmp/none/file mpi_run 1 60 "$builddir/examples/contended" >"$tmp/said" 2>&1
	[ $? != 0 ] && cat "$tmp/said" && grep -q 'PAWL_TRACE: .* cannot be written' "$tmp/said"
}
check "a file that cannot be written" refused
is_bad()
{
	echo '{"traceEvents": [{"ph": "X", "pid": 1, "tid": 2, "ts": -1}]}' >"$tmp/bad.json"
	! pawl_trace --check "$tmp/bad.json" 2>"$tmp/said" && cat "$tmp/said" &&
		grep -q 'ts is negative' "$tmp/said"
}
check "a file that is not well formed" is_bad
is_drawn()
{
	pawl_trace "$tmp/contended.json" --quiet --picture "$tmp/picture.svg" 2>&1 &&
		grep -q '<svg' "$tmp/picture.svg" && grep -q 'other locks' "$tmp/picture.svg" &&
		pawl_trace --picture="$tmp/doc.svg" "$srcdir/doc/measured/figures/contended.json.gz" 2>&1 &&
		grep -q '<svg' "$tmp/doc.svg"
}
if "$PYTHON" -c 'import matplotlib' 2>/dev/null || /usr/bin/python3 -c 'import matplotlib' 2>/dev/null; then
	check "a picture" is_drawn
else
	skip "a picture" "no matplotlib"
fi

# Records of each wait and hold in the Open Trace Format.
is_converted()
{
	pawl_trace --quiet --otf2="$tmp/otf2" "$tmp/contended.json" || return 1
	"$1" "$observe/events.py" otf2 "$tmp/contended.json" "$tmp/otf2/traces.otf2"
}
for python in "$PYTHON" /usr/bin/python3 none; do
	"$python" -c 'import otf2' 2>/dev/null && break
done
if [ "$python" != none ]; then
	check "Open Trace Format" is_converted "$python"
else
	skip "Open Trace Format" "no module otf2"
fi

# Most clients that waited got the lock from another one, whose hold has an arrow to theirs, though
# clocks of hosts agree only within the error of a round trip. By the file alone: MPICH 4.0.2 may
# hang in MPI_Finalize.
on_hosts()
{
	hosts_run 2 4 30 --env PAWL_TRACE="$tmp/hosts.json" -- "$builddir/examples/contended"
	pawl_trace --check "$tmp/hosts.json" || return 1
	"$PYTHON" "$observe/events.py" hosts "$tmp/hosts.json"
}
thrice()
{
	"$@" || "$@" || "$@"
}
if said=$(hosts_can_run); then
	timed check "two hosts: arrows between them" thrice on_hosts
else
	skip "two hosts: arrows between them" "$said"
fi

finish

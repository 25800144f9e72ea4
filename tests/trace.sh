#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# PAWL_TRACE: a time line of all ranks, its form, and what pawl-trace finds in it.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
tmp=$PWD/trace.$$.tmp
mkdir "$tmp"
trap 'rm -rf "$tmp"' EXIT
pawl_trace()
{
	"$PYTHON" "$srcdir/tools/pawl-trace" "$@"
}

tap_program "made-up files" "$PYTHON" "$srcdir/tests/findings.py" "$srcdir/tools/pawl-trace" "$tmp"

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
	"$PYTHON" - "$tmp/contended.json" <<'PYTHON'
import json
import sys

events = json.load(open(sys.argv[1]))["traceEvents"]
holds = [e for e in events if e["ph"] == "X" and e["cat"] == "hold" and e["name"] == "lock 5"]
hands = {e["id"]: e for e in events if e["ph"] == "s"}
ends = [e for e in events if e["ph"] == "f"]
assert {e["pid"] for e in holds} == {0, 1, 2}, "all ranks hold lock 5"
slow = [e for e in holds if e["pid"] == 1]
assert min(e["dur"] for e in slow) >= 3000, "rank 1 holds it for 3 ms"
holds.sort(key=lambda e: e["ts"])
for a, b in zip(holds, holds[1:]):
    # Between the last look and the clock, another rank may have gone on.
    assert b["ts"] >= a["ts"], "in order"
late = sum(1 for e in ends if e["ts"] < hands[e["id"]]["ts"])
assert ends and late == 0, f"{late} of {len(ends)} hand-overs end before they begin"
PYTHON
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
cat >"$tmp/tables.c" <<'EOC'
#include <pawl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void check(int rc)
{
	if (rc)
		MPI_Abort(MPI_COMM_WORLD, rc);
}
static pawl_table *open_table(int color, int key)
{
	pawl_table *t;
	MPI_Comm comm;

	MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
	check(pawl_table_create(comm, "d-mcs", 4, MPI_INFO_NULL, &t));
	MPI_Comm_free(&comm);
	return t;
}
static void use(pawl_table *t, pawl_table *inner, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		check(pawl_lock_acquire(t, i % 4, PAWL_EXCLUSIVE));
		if (inner)
			use(inner, NULL, 1);
		check(pawl_lock_release(t, i % 4));
	}
}
int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pawl_table *t[2];
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (strcmp(what, "grid") == 0) {
		t[0] = open_table(rank / 2, rank), t[1] = open_table(rank % 2, rank);
		use(t[0], t[1], 20);
		check(pawl_table_free(&t[1]) + pawl_table_free(&t[0]));
	} else if (strcmp(what, "two") == 0) {
		t[0] = open_table(0, rank), t[1] = open_table(0, rank);
		use(t[0], NULL, 20000), use(t[1], NULL, 20000);
		check(pawl_table_free(&t[0]) + pawl_table_free(&t[1]));
	} else {
		t[0] = open_table(rank > 0, rank);
		use(t[0], NULL, rank > 0 ? 10 : 0);
		check(pawl_table_free(&t[0]));
		sleep(argc > 2 ? (unsigned)atoi(argv[2]) : 0);
		MPI_Barrier(MPI_COMM_WORLD);
		if (strcmp(what, "late") == 0) {
			t[0] = open_table(0, rank);
			use(t[0], NULL, 5);
			check(pawl_table_free(&t[0]));
		}
	}
	MPI_Finalize();
	return 0;
}
EOC
compiles()
{
	# A library built with gcov or a sanitizer needs what the build links with.
	flags=$(sed -n 's/^LDFLAGS = //p' "$builddir/Makefile")
	# shellcheck disable=SC2086 # lists of words
	"$builddir/libtool" --tag=CC --mode=link --quiet $CC -std=c11 $flags -I"$srcdir/include" \
		"$tmp/tables.c" -o "$tmp/tables" "$builddir/libpawl.la"
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
	"$1" - "$tmp/contended.json" "$tmp/otf2/traces.otf2" <<'PYTHON'
import collections
import json
import sys

import otf2

slices = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "X"]
expected = collections.Counter()
for e in slices:
    assert e["cat"] in ("wait", "hold"), "a program without tries"
    waits = e["cat"] == "wait"
    expected.update(["RmaRequestLock"] if waits else ["RmaAcquireLock", "RmaReleaseLock"])
found, last, ranks = collections.Counter(), {}, set()
with otf2.reader.open(sys.argv[2]) as archive:
    for location, event in archive.events:
        assert event.time >= last.get(location, 0), "in the order of time"
        last[location] = event.time
        ranks.add(location.group.name)
        if event.lock_id == 5:
            found["of lock 5"] += 1
        found[type(event).__name__] += 1
print(found, ranks)
assert len(ranks) == 3 and found.pop("of lock 5") >= 2 * 180 and found == expected, expected
PYTHON
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
cluster()
{
	"$srcdir/tests/netcluster" run -n 4 --hosts 2 --mpi "$TEST_MPI" --timeout 30 "$@"
}
on_hosts()
{
	cluster --env PAWL_TRACE="$tmp/hosts.json" -- "$builddir/examples/contended"
	pawl_trace --check "$tmp/hosts.json" || return 1
	"$PYTHON" - "$tmp/hosts.json" <<'PYTHON'
import json
import sys

events = json.load(open(sys.argv[1]))["traceEvents"]
waits = [e for e in events if e["ph"] == "X" and e["cat"] == "wait" and e["args"]["lock"] == 5]
begins = {e["id"]: e for e in events if e["ph"] == "s"}
ends = [e for e in events if e["ph"] == "f"]
host = {e["pid"]: e["args"]["name"].split()[-1] for e in events if e["name"] == "process_name"}
far = [e for e in ends if host[e["pid"]] != host[begins[e["id"]]["pid"]]]
print(f"{len(waits)} waits, {len(ends)} arrows, {len(far)} of them between {set(host.values())}")
sys.exit(not (len(set(host.values())) == 2 and far and 3 * len(ends) >= 2 * len(waits)))
PYTHON
}
thrice()
{
	"$@" || "$@" || "$@"
}
case $TEST_MPI in
openmpi | mpich) said=$(cluster -- true 2>&1) ;;
*) said="netcluster knows Open MPI and MPICH" && false ;;
esac
if [ $? = 0 ]; then
	timed check "two hosts: arrows between them" thrice on_hosts
else
	skip "two hosts: arrows between them" "$said"
fi

finish

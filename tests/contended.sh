#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# PAWL_STATS names the slow lock, the rank that holds it and the line that acquires it: for a table
# and for a window, on one node and on two hosts. PAWL_INJECT makes a lock slow.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
program=$builddir/examples/contended
layer=$builddir/.libs/libpawl-mpi.so
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The line of a call in the example.
line_of()
{
	grep -n "$1.*the line to find" "$srcdir/examples/contended.c" | cut -d: -f1
}

# The figures of the first lock and of the first call site below the titles.
first_lock()
{
	grep -A2 'locks, by total wait' "$1" | sed -n 3p
}
first_site()
{
	grep -A2 'call sites, by total wait' "$1" | sed -n 3p
}

# named FILE LOCK LINE [any]: the first row is the lock (one word for a table, two for a target),
# held longest, for 3 ms or more, by rank 1 (or any), and acquired on that line.
named()
{
	cat "$1"
	first_lock "$1" | awk -v lock="$2" -v any="${4-}" '
		{ sub(/^pawl: +/, "") }
		index($0, lock " ") == 1 {
			sub(lock, "")
			# home acquires contended total avg max-wait max-hold rank: times have units
			found = $3 >= 30 && $10 >= 3 && $11 == "ms" && ($12 == 1 || any)
		}
		END { exit !found }' || { echo "lock $2 is not first, with 3 ms by rank 1"; return 1; }
	case $(first_site "$1") in
	*" at contended.c:$3") ;;
	*) echo "not contended.c:$3"; return 1 ;;
	esac
}

# thrice SITE COMMAND...: on a busy machine another rank may lose its core for longer than 3 ms while
# it holds the lock. Then rank 1 holds it for longer, too.
thrice()
{
	thrice_site=$1
	shift
	"$@" && return
	for delay in 20ms 60ms; do
		export PAWL_INJECT="delay=$delay rank=1 site=$thrice_site"
		if "$@"; then
			unset PAWL_INJECT
			return
		fi
	done
	unset PAWL_INJECT
	return 1
}
in_table=contended.c:$(line_of HOT)
in_window=contended.c:$(line_of MPI_Win_lock)

on_table()
{
	mpi_run 4 60 env PAWL_STATS="$dir/table" "$program" && named "$dir/table" 5 "${in_table#*:}"
}
timed check "a table, one node" thrice "$in_table" on_table

on_window()
{
	mpi_run 4 60 env PAWL_STATS="$dir/window" "LD_PRELOAD=$layer" "PATH=$dir/bin:$PATH" \
		"$program" window && named "$dir/window" "target 0" "${in_window#*:}" &&
		grep -q 'window data, 4 ranks' "$dir/window"
}
# The programs that read debug information are not preloaded with the layer.
is_plain()
{
	cat "$dir/started"
	[ -s "$dir/started" ] && ! grep -v '^preloaded: $' "$dir/started"
}
if [ -e "$layer" ]; then
	mkdir "$dir/bin"
	printf '#!/bin/sh\necho "preloaded: $LD_PRELOAD" >>"%s"\nexec %s "$@"\n' \
		"$dir/started" "$(command -v addr2line)" >"$dir/bin/addr2line"
	chmod +x "$dir/bin/addr2line"
	timed check "a window, one node" thrice "$in_window" on_window
	check "addr2line without the layer" is_plain
else
	skip "a window, one node" "no shared library in this build"
	skip "addr2line without the layer" "no shared library in this build"
fi

# The layer is part of the program; a lock of a range takes others, of which it has the line.
linked()
{
	mpi_run 2 60 env PAWL_STATS="$dir/linked" "$builddir/tests/dropin/locks/ranges" >"$dir/said" 2>&1 ||
		{ cat "$dir/said"; return 1; }
	cat "$dir/linked"
	grep -q '^pawl: window, 2 ranks: ' "$dir/linked" && grep -q '^pawl: *target 1 ' "$dir/linked" &&
		grep -q ' at ranges.c:' "$dir/linked" && ! grep -E ' at (epochs|calls)\.c:' "$dir/linked"
}
check "a window, in a program that is linked with the layer" linked

quiet()
{
	mpi_run 2 60 "$program" >"$dir/quiet" 2>&1 && ! grep pawl "$dir/quiet"
}
check "nothing without PAWL_STATS" quiet

statistics=$srcdir/tests/observe/statistics.py
json()
{
	mpi_run 2 60 env PAWL_STATS=json:"$dir/json" PAWL_STATS_ROWS=3 "$program" || return 1
	cat "$dir/json"
	python3 "$statistics" table "$dir/json"
}
timed check "JSON" thrice "$in_table" json

# levels LOCK TOPOLOGY CONDITION: hand-overs by level, on a topology that is made up.
levels()
{
	mpi_run 4 60 env PAWL_STATS=json:"$dir/levels" PAWL_TOPOLOGY="$2" \
		"$builddir/benchmarks/pawl-bench" --lock="$1" --iterations=5000 --repetitions=1 ||
		return 1
	python3 "$statistics" levels "$dir/levels" "$3"
}
# Kind adaptive knows whether the lock came from another node, so none of its hand-overs is unknown.
timed check "adaptive: hand-overs within nodes and between them" \
	levels adaptive "node:2 core:2" "node > 0 and network > 0 and unknown == 0"
timed check "hand-overs within caches and between them" \
	levels rma-mcs "node:1 package:1 l3:2 core:2" "complex > 0 and node > 0 and network == 0"
timed check "hand-overs within packages and between them" \
	levels rma-mcs "node:1 package:2 core:2" "package > 0 and node > 0 and network == 0"

# The lock that is made slow comes first, in place of lock 5.
injected()
{
	mpi_run 2 60 env PAWL_STATS=json:"$dir/injected" PAWL_INJECT="delay=20ms lock=5 rank=0" \
		"$program" || return 1
	python3 "$statistics" lock "$dir/injected"
}
timed check "PAWL_INJECT makes holds of a lock longer" injected

# The call sites that are made slow: one by its function, the other by its line.
injected_site()
{
	for place in update_cold "$in_table"; do
		mpi_run 2 60 env PAWL_STATS=json:"$dir/injected" \
			PAWL_INJECT="delay=500us rank=0 site=$place" "$program" || return 1
		python3 "$statistics" site "$dir/injected" "$place" || return 1
	done
}
timed check "PAWL_INJECT: holds that begin in a function, or on a line" injected_site

refused()
{
	mpi_fails 2 60 "$dir/refused" env PAWL_INJECT="delay=1 lock=5" "$program" || return 1
	cat "$dir/refused"
	grep 'PAWL_INJECT: "delay=1" is none of' "$dir/refused"
}
check "PAWL_INJECT refuses a time without a unit" refused

# Settings, failed acquires, many holders, signals.
tap_program "observers" mpi_run 2 60 "$builddir/tests/lock/observe/observers"

# A time line of 64 ranks, with the default limits.
long_line()
{
	[ "$TEST_MPI" != mpich ] || mpi_yields=$builddir/tests/.libs/libyield.so
	PAWL_TRACE=$dir/line.json mpi_run 64 300 "$builddir/benchmarks/pawl-bench" --bench=micro \
		--lock=d-mcs --locks=100000 --no-verify --repetitions=1 --warmup=0 --iterations=25000 &&
		python3 "$srcdir/tools/pawl-trace" --rows=1 "$dir/line.json" >"$dir/said" || return 1
	wc -c "$dir/line.json" && cat "$dir/said"
	[ "$(wc -c <"$dir/line.json")" -lt 256000000 ] && grep -q 'between 64 ranks$' "$dir/said" &&
		[ "$(grep -c 'acquires are lost' "$dir/said")" = 1 ]
}
if [ -n "$TEST_LONG" ]; then
	check "a time line of 64 ranks is below 256 MB, and pawl-trace reads it" long_line
fi

no_file()
{
	mpi_run 2 60 env PAWL_STATS="$dir/none/stats" "$program" >"$dir/said" 2>&1 || return 1
	cat "$dir/said"
	grep "PAWL_STATS: $dir/none/stats cannot be written" "$dir/said" && grep 'total wait' "$dir/said"
}
check "on stderr if the file cannot be written" no_file

# What is no regular file has nothing to empty.
to_device()
{
	mpi_run 2 60 env PAWL_STATS=/dev/null "$program" >"$dir/said" 2>&1 || return 1
	mpi_run 2 60 env PAWL_STATS=/dev/stdout "$program" >"$dir/printed" 2>>"$dir/said" || return 1
	cat "$dir/said" "$dir/printed"
	! grep pawl "$dir/said" && grep 'total wait' "$dir/printed"
}
check "to a device" to_device

# The probes are in the library, with as many arguments as doc/observe.md says, and do no harm.
probes()
{
	readelf -n "$builddir/.libs/libpawl.so" >"$dir/notes" || return 1
	for probe in acquire_wait:4 acquired:5 release:4 handover:4; do
		awk -v name="${probe%:*}" -v arguments="${probe#*:}" '
			$1 == "Provider:" { ours = $2 == "pawl" }
			$1 == "Name:" { found = ours && $2 == name }
			$1 == "Arguments:" && found { n++; bad += NF - 1 != arguments }
			END { exit !n || bad }' "$dir/notes" ||
			{ grep -A3 'Provider: pawl' "$dir/notes"; echo "no $probe"; return 1; }
	done
	mpi_run 2 60 env PAWL_PROBES=1 "$program" || return 1
	mpi_fails 2 60 "$dir/refused" env PAWL_PROBES=maybe "$program" || return 1
	grep 'PAWL_PROBES: "maybe"; accepted: 0, no, off, false, 1' "$dir/refused"
}
if ! grep -q 'PAWL_HAVE_SDT' "$builddir/config.status"; then
	skip "PAWL_PROBES" "no <sys/sdt.h>"
elif ! [ -e "$builddir/.libs/libpawl.so" ]; then
	skip "PAWL_PROBES" "no shared library in this build"
else
	check "PAWL_PROBES" probes
fi

# Each rank gets SIGUSR1 while it runs, as soon as it catches it (bit 9 of SigCgt) and a second later.
signalled()
{
	mpi_run 2 60 env PAWL_STATS=1 PAWL_INJECT="delay=50ms lock=5" sh -c '
		"$0" & child=$!
		while mask=$(sed -n "s/^SigCgt:.*\(...\)$/0x\1/p" /proc/$child/status) &&
			[ -n "$mask" ] && [ $((mask & 0x200)) = 0 ]; do sleep 0.1; done
		sleep 1
		kill -USR1 $child
		wait $child' "$program" >"$dir/signal" 2>&1 || return 1
	cat "$dir/signal"
	grep -q 'rank 0 alone, so far: ' "$dir/signal" && grep -q 'rank 1 alone' "$dir/signal"
}
timed check "SIGUSR1 prints what a rank has so far" signalled

# cluster_writes FILE ARGUMENT...: run a job that prints its statistics to FILE. MPICH 4.0.2 may hang
# in MPI_Finalize, after that; so the output alone counts, and the job is ended if it is still there
# 3 s after it has written FILE.
cluster_writes()
{
	file=$1 moments=0
	shift
	rm -f "$file"
	# Not by hosts_run: the process has to be the one to end.
	"$srcdir/tests/netcluster" run -n 4 --hosts 2 --mpi "$TEST_MPI" --timeout 60 \
		${PAWL_INJECT:+--env "PAWL_INJECT=$PAWL_INJECT"} --env "PAWL_STATS=$file" "$@" &
	while kill -0 $! 2>/dev/null && [ $moments -lt 30 ]; do
		[ ! -s "$file" ] || moments=$((moments + 1))
		sleep 0.1
	done
	kill $! 2>/dev/null
	wait $!
}
if said=$(hosts_can_run); then
	on_hosts()
	{
		cluster_writes "$dir/hosts" -- "$program"
		named "$dir/hosts" 5 "${in_table#*:}" &&
			first_lock "$dir/hosts" | awk '{ exit !($NF > 0 && $(NF - 2) > 0) }'
	}
	timed check "a table, two hosts: hand-overs and operations over the network" \
		thrice "$in_table" on_hosts
	# MPI_Win_unlock waits for the MPI at the target, so any rank may hold for longest.
	window_on_hosts()
	{
		cluster_writes "$dir/hosts2" --env "LD_PRELOAD=$layer" -- "$program" window
		named "$dir/hosts2" "target 0" "${in_window#*:}" any
	}
	if [ -e "$layer" ]; then
		timed check "a window, two hosts" thrice "$in_window" window_on_hosts
	else
		skip "a window, two hosts" "no shared library in this build"
	fi
else
	skip "two hosts" "$said"
fi

finish

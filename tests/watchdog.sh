#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Repeated reports of a long wait, with rank, host, table, lock and holder; deadlocks with their
# cycles, and what pawl-stuck says of them.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
make_tmp
host=$(hostname)
report="pawl: rank 2 of MPI_COMM_WORLD on host $host has waited [0-9.]* s at lock 7 of table 2000001"
held="; held exclusively by rank 1 on host $host for [0-9.]* s$"
# The place is that of the program: its line, or without debug information the module.
called=", called by [^(]*\(watchdog.c:[0-9]*\|watchdog+0x[0-9a-f]*\)"

# After 0.25 s, 0.5 s and 1 s; on a busy machine one of these may be missing.
reports()
{
	mpi_run 3 60 "$builddir/tests/lock/observe/watchdog" "$1" 2>"$tmp/err" || return 1
	grep '^pawl: ' "$tmp/err"
	n=$(grep -c "^$report ($1, 9 locks) for [a-z ]*$called$held" "$tmp/err")
	[ "$n" -ge 2 ] && [ "$n" -le 4 ] && [ "$n" = "$(grep -c '^pawl: ' "$tmp/err")" ]
}
# A kind that waits for a word, and one that polls.
timed check "a queue lock" reports d-mcs
timed check "a lock by compare and swap" reports cas-backoff

# The program ends itself, after 3 s or when there is this file, and launchers call that a failure.
export TEST_END="$tmp/end"
# ended_at PATTERN COMMAND...: the command, whose job ends when it has said so in $tmp/err.
ended_at()
{
	said=$1
	shift
	rm -f "$TEST_END"
	: >"$tmp/err"
	while [ ! -e "$TEST_END" ]; do
		! grep -q "$said" "$tmp/err" || : >"$TEST_END"
		sleep 0.1
	done &
	watcher=$!
	status=0
	"$@" || status=$?
	: >"$TEST_END"
	wait "$watcher"
	rm -f "$TEST_END"
	return $status
}
here()
{
	here_ranks=$1
	shift
	mpi_run "$here_ranks" 30 "$builddir/tests/lock/observe/deadlock" "$@" >"$tmp/err" 2>&1 || true
	grep '^pawl: ' "$tmp/err"
}
two_hosts()
{
	two_ranks=$1
	shift
	hosts_run 2 "$two_ranks" 60 --env "TEST_END=$TEST_END" -- \
		"$builddir/tests/lock/observe/deadlock" "$@" >"$tmp/err" 2>&1 || true
	grep '^pawl: ' "$tmp/err"
}
# The same of the targets of a window.
layer=$builddir/.libs/libpawl-mpi.so
here_window()
{
	mpi_run "$1" 30 env PAWL_WATCHDOG=0.5 "LD_PRELOAD=$layer" "$builddir/tests/lock/observe/deadlock" \
		any "$2" >"$tmp/err" 2>&1 || true
	grep '^pawl: ' "$tmp/err"
}
two_hosts_window()
{
	hosts_run 2 "$1" 60 --env PAWL_WATCHDOG=0.5 --env "LD_PRELOAD=$layer" \
		--env "TEST_END=$TEST_END" -- \
		"$builddir/tests/lock/observe/deadlock" any window >"$tmp/err" 2>&1 || true
	grep '^pawl: ' "$tmp/err"
}
# A number of waits in the cycle, found when the wait has taken 0.5 to 1.0 s.
finds()
{
	waits=$1
	shift
	ended_at '^pawl: deadlock' "$@" || return 1
	sed -n 's/.*has waited \([0-9.]*\) s.*/\1/p; /^pawl: deadlock/p' "$tmp/err" |
		awk -v waits="$waits" '/deadlock/ && s <= 1.0 && gsub(/ awaits /, "") == waits { n++ }
			!/deadlock/ { s = $1 }
			END { exit n == 0 }'
}
finds_none()
{
	"$@" && ! grep 'pawl: deadlock' "$tmp/err"
}
# Rank 2, on the other host, makes no MPI calls.
counts_silent()
{
	two_hosts 3 d-mcs asleep && ! grep 'pawl: deadlock' "$tmp/err" &&
		grep '^pawl: rank 0 .* at lock 1 .*; rank 2 on host .* did not answer$' "$tmp/err"
}
timed check "a cycle of 2 ranks" finds 2 here 2 d-mcs cycle
timed check "a cycle of 3 ranks" finds 3 here 3 cas-backoff cycle
timed check "a cycle over two tables" finds 2 here 2 rma-rw tables
if [ -e "$layer" ]; then
	timed check "a cycle of 3 ranks over the targets of a window" finds 3 here_window 3 window
else
	skip "a cycle over the targets of a window" "no shared library in this build"
fi
check "a long wait without a cycle" finds_none here 3 rma-rw chain
check "a long wait of ranks with a shared lock" finds_none here 3 rma-rw shared

# A collective call that some ranks have not made yet: ranks 1 and 2 say so, once for each call.
waits_for_rank_0()
{
	mpi_run 3 30 "$builddir/tests/lock/observe/deadlock" d-mcs late 2>"$tmp/err" || return
	sort "$tmp/err"
	for call in create free; do
		for rank in 1 2; do
			grep -q "^pawl: rank $rank of 3 has waited for 0.5 s in pawl_table_$call()" "$tmp/err" ||
				return
		done
	done
	[ "$(grep -c '^pawl:' "$tmp/err")" = 4 ]
}
timed check "a collective call that one rank makes late" waits_for_rank_0

# pawl-stuck, while the job hangs. The job's processes are those that this shell has started.
plain()
{
	mpi_run 2 30 "$builddir/tests/lock/observe/deadlock" d-mcs "$1" 6
}
# Launchers end the whole job when one of its processes dies, so each rank has a shell as parent.
with_shell()
{
	mpi_run 2 30 env OMPI_MCA_orte_enable_recovery=1 PRTE_MCA_prte_enable_recovery=1 \
		sh -c '"$@"; timeout 5 sh -c "while [ ! -e \"\$TEST_END\" ]; do sleep 0.1; done"' \
		sh "$builddir/tests/lock/observe/deadlock" d-mcs "$1" 6
}
with_threads()
{
	mpi_run 2 30 env PAWL_WATCHDOG=0.5 "LD_PRELOAD=$layer" "$builddir/tests/lock/observe/deadlock" any \
		"$1" 6
}
under_test=plain
under_test()
{
	$under_test "$1"
}
look()
{
	"$builddir/tools/pawl-stuck" "$1" >"$tmp/said" 2>&1
	echo $? >"$tmp/status"
}
# A job in another PID namespace, which has the same /dev/shm.
company()
{
	mpi_run 1 30 unshare --pid --fork --mount-proc \
		env PAWL_WATCHDOG=60 "$builddir/tests/lock/table/environment" >"$tmp/company" 2>&1
	echo $? >>"$tmp/company"
}
# The job ends after that, when it has said $later, if that is not empty.
then=true later=
is_shown()
{
	rm -f "$TEST_END"
	(
		under_test "$1" >"$tmp/err" 2>&1 &
		job=$!
		i=0 # a launcher beside other jobs has taken more than 5 s to start the ranks
		while i=$((i + 1)) && [ $i -lt 200 ]; do
			sleep 0.1
			look $job
			[ "$(grep -c "^  $3" "$tmp/said")" != "$4" ] || break
		done
		$then && look $job
		i=0
		while [ -n "$later" ] && ! grep -q "$later" "$tmp/err" && i=$((i + 1)) && [ $i -lt 50 ]; do
			sleep 0.1
		done
		: >"$TEST_END"
		wait
	)
	cat "$tmp/said"
	[ "$(cat "$tmp/status")" = "$2" ] && [ "$(grep -c "^  $3" "$tmp/said")" = "$4" ] &&
		[ "$(grep -c '^rank [01] on host .*, process ' "$tmp/said")" = 2 ]
}
awaits="awaits lock [01] of table 1 (d-mcs, 9 locks) exclusively for [0-9.]* s$"
timed check "pawl-stuck: a deadlock" is_shown cycle 3 "$awaits" 2
timed check "pawl-stuck: none" is_shown chain 0 "$awaits" 1
if unshare --pid --fork --mount-proc true 2>/dev/null; then
	then=company
	not_swept()
	{
		is_shown "$@"
		rc=$?
		cat "$tmp/company"
		[ "$(tail -n 1 "$tmp/company")" = 0 ] && return $rc
	}
	timed check "pawl-stuck: beside a job of another PID namespace" not_swept cycle 3 "$awaits" 2
	then=true
else
	skip "pawl-stuck: beside a job of another PID namespace" "no PID namespaces here"
fi
if [ -e "$layer" ]; then
	under_test=with_threads later='^pawl: deadlock, unless'
	timed check "pawl-stuck: a deadlock of windows with MPI_THREAD_MULTIPLE" \
		is_shown multiple 3 "awaits lock [0-9]* of table 1 .* exclusively for [0-9.]* s$" 2
	is_conditional()
	{
		cat "$tmp/err"
		grep '^deadlock, unless another thread of these processes releases its lock: ' \
			"$tmp/said" && grep '^pawl: deadlock, unless another thread' "$tmp/err"
	}
	timed check "which another thread could end" is_conditional
else
	skip "pawl-stuck: a deadlock of windows with MPI_THREAD_MULTIPLE" \
		"no shared library in this build"
	skip "which another thread could end" "no shared library in this build"
fi
under_test=with_shell later='whose process has ended'
timed check "pawl-stuck: a holder that was killed" is_shown killed 3 "$awaits" 1
says_ended()
{
	cat "$tmp/err"
	grep "^rank 0 on host .*, process [0-9]*, which has ended; kind d-mcs does not recover:$" \
		"$tmp/said" && grep "; held exclusively by rank 0 on host $host for [0-9.]* s, whose \
process has ended; kind d-mcs does not recover$" "$tmp/err"
}
timed check "both say that the holder has ended" says_ended
is_alone()
{
	sleep 60 &
	"$builddir/tools/pawl-stuck" "$!" 2>"$tmp/said"
	status=$?
	kill "$!"
	[ $status = 1 ] && grep 'PAWL_WATCHDOG' "$tmp/said"
}
check "pawl-stuck: a process without a watchdog" is_alone
is_refused()
{
	for word in nobody 1x -1 99999999999; do
		"$builddir/tools/pawl-stuck" "$word" 2>"$tmp/said"
		[ $? = 2 ] && grep "\"$word\".*accepted" "$tmp/said" || return 1
	done
}
check "pawl-stuck: wrong argument" is_refused

hosts_checks()
{
	timed check "two hosts, a cycle of 2 ranks" finds 2 two_hosts 2 d-mcs cycle
	timed check "two hosts, over three tables" finds 3 two_hosts 3 d-mcs tables
	if [ -e "$layer" ]; then
		timed check "two hosts, over the targets of a window" finds 2 two_hosts_window 2
	else
		skip "two hosts, over the targets of a window" "no shared library in this build"
	fi
	PAWL_TRANSPORT=mpi
	export PAWL_TRANSPORT
	timed check "two hosts, through the MPI, a cycle of 3 ranks" finds 3 two_hosts 3 d-mcs cycle
	check "two hosts, through the MPI, without a cycle" finds_none two_hosts 3 d-mcs chain
	timed check "two hosts, through the MPI, with a rank that does not answer" counts_silent
}
said=$(hosts_can_run)
if [ $? = 77 ]; then
	skip "cycles over two hosts" "$said"
else
	hosts_checks
fi

finish

# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests of the layers under the locks of runtimes, after tap.sh and mpirun.sh, with
# layer=libpawl-NAME: paths, and a folder for temporary files.

mpi_can_run || skip_all "configured without a launcher"
sources=$srcdir/tests/layers
make_tmp
work=$tmp
# Each run names its kind of lock, so the environment must not.
unset PAWL_LOCK PAWL_STATS
lib=$builddir/.libs/$layer.so
found="LD_LIBRARY_PATH=$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
preload="LD_PRELOAD=$lib $found"

# under RANKS SECONDS [VARIABLE=VALUE...] PROGRAM...: with the layer loaded before it.
under()
{
	under_ranks=$1
	under_seconds=$2
	shift 2
	mpi_run "$under_ranks" "$under_seconds" env $preload "$@"
}

# stops TEXT COMMAND...: the command ends by itself, fails, and prints the text.
stops()
{
	stops_text=$1
	shift
	"$@" >"$work/stops" 2>&1
	stops_status=$?
	grep -m 1 -F "$stops_text" "$work/stops" || { head -n 5 "$work/stops"; return 1; }
	# After an abort the status of MPICH 4.2.1's launcher is 0 now and then.
	[ $stops_status != 0 ] || ! grep -q '^Abort(' "$work/stops" || stops_status=1
	! grep -q 'not stopped' "$work/stops" && [ $stops_status != 0 ] &&
		[ $stops_status != 124 ] && [ $stops_status != 137 ]
}

# says TEXT COMMAND...: the command succeeds, and prints the text.
says()
{
	says_text=$1
	shift
	"$@" >"$work/says" 2>&1 || { head -n 5 "$work/says"; return 1; }
	grep -m 1 -F "$says_text" "$work/says" || { head -n 5 "$work/says"; return 1; }
}

# silent COMMAND...: the command succeeds, and nothing that it prints is from Pawl.
silent()
{
	"$@" >"$work/silent" 2>&1 || { head -n 5 "$work/silent"; return 1; }
	! grep '^pawl' "$work/silent"
}

# notices_missing_locks RUN RANKS SECONDS PROGRAM: without locks, a check of the program fails. The
# ranks write what they print to a file themselves: when one of them ends with an error, the
# launcher may lose what the others printed last.
notices_missing_locks()
{
	: >"$work/broken"
	TEST_BREAK=1 caught into_file "$@"
}
into_file()
{
	into_status=0
	"$1" "$2" "$3" sh -c 'exec "$@" >>"$0" 2>&1' "$work/broken" "$4" || into_status=$?
	cat "$work/broken"
	return $into_status
}

# notices_deadlock COMMAND...: the watchdog has the cycle; the command does not end by itself. It is
# ended when the message is there.
notices_deadlock()
{
	: >"$work/deadlock"
	"$@" >"$work/deadlock" 2>&1 &
	deadlock_job=$!
	while kill -0 $deadlock_job 2>/dev/null && ! grep -q '^pawl: deadlock: rank' "$work/deadlock"; do
		sleep 0.2
	done
	deadlock_ended=0
	kill -0 $deadlock_job 2>/dev/null || deadlock_ended=1
	# timeout, which ends the launcher. Without this file it does so when the time is over.
	kill $(cat /proc/$deadlock_job/task/$deadlock_job/children 2>/dev/null) 2>/dev/null
	wait $deadlock_job
	grep -m 1 '^pawl: deadlock: rank' "$work/deadlock" || { head -n 5 "$work/deadlock"; return 1; }
	! grep -q 'not stopped' "$work/deadlock" && [ $deadlock_ended = 0 ]
}

# has_sites SOURCE WORD COMMAND...: the command prints statistics (PAWL_STATS=1), in which each call
# site is a line of the source that has the word.
has_sites()
{
	sites_source=$1
	sites_word=$2
	shift 2
	"$@" >"$work/sites" 2>&1 || { head -n 5 "$work/sites"; return 1; }
	sed -n '/call sites, by total wait$/,/time of an acquire/ {
		/call sites, by/d; /   call site$/d; /time of an acquire/d; s/.* at /at /; p
	}' "$work/sites" | sort | uniq -c | tee "$work/lines"
	[ -s "$work/lines" ] && while read -r sites_n sites_at sites_place; do
		case $sites_at-$sites_place in
		"at-${sites_source##*/}:"*) ;;
		*) return 1 ;;
		esac
		sed -n "${sites_place##*:}p" "$sites_source" | grep "$sites_word" || return 1
	done <"$work/lines"
}

# checks_of_all WHAT PROGRAM SOURCE CALLS: what each layer does with a variable that is wrong, and
# says or does not say of a program; WHAT: what it calls the locks in its statistics; CALLS: what
# stands in each line of the source that acquires.
checks_of_all()
{
	check "an unknown lock in PAWL_LOCK" stops 'PAWL_LOCK: "no-such-lock" is no lock of Pawl' \
		under 2 60 PAWL_LOCK=no-such-lock "$2"
	check "silent by default" silent under 2 60 "$2"
	check "PAWL_STATS=1 prints what was done" says "$1" under 2 60 PAWL_STATS=1 "$2"
	check "PAWL_STATS=1 has the program's lines" has_sites "$3" "$4" under 2 60 PAWL_STATS=1 "$2"
}

# checks_of_errors NAME PROGRAM WORD:MESSAGE...: the program, which the word tells what to do wrong,
# stops with the message; a deadlock is told and stops nothing.
checks_of_errors()
{
	errors_name=$1
	errors_program=$2
	shift 2
	for misuse in "$@"; do
		timed check "$errors_name, ${misuse%%:*}" stops "${misuse#*:}" \
			under 2 60 "$errors_program" "${misuse%%:*}"
	done
	timed check "a deadlock is reported by the watchdog" notices_deadlock \
		under 2 15 PAWL_WATCHDOG=0.5 "$errors_program" deadlock
}

# The kinds of lock that layers accept, without the default. They meet the same code of a layer: the
# short check takes one.
layer_kinds()
{
	[ "$TEST_LONG" = 1 ] || { echo d-mcs; return; }
	echo d-mcs rma-mcs rma-rw mgl alock shiftlock declock
}

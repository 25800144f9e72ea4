#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The bank of pawl-bench: no money is lost under any lock, the check notices a loss, and
# the server ends with the benchmark, in whatever way that ends.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
. "$srcdir/tests/bench.sh"
TMPDIR=$(mktemp -d) # the name of a socket has to be short
export TMPDIR
trap 'rm -rf "$tmp" "$TMPDIR"' EXIT

# bench RANKS SECONDS OPTION...
bench()
{
	bench_ranks=$1
	bench_seconds=$2
	shift 2
	mpi_run "$bench_ranks" "$bench_seconds" "$program" --bench=bank --verify=0 --warmup=0 \
		--repetitions=1 --progress=never --timeout=60 --baselines "$@"
}

said=$(bench 1 60 --locks=2 --lock=redlock --iterations=1 2>&1)
case $said in
*"without hiredis"* | *"not in PATH"*) skip_all "${said#pawl-bench: redlock: }" ;;
esac
kinds="$(bench_kinds) redlock"

# Few accounts, so that transfers meet.
sum_stays()
{
	bench 2 100 --locks=4 --iterations=300 --json >"$TMPDIR/lines" || return 1
	for kind in $kinds; do
		grep "\"lock\":\"$kind\"" "$TMPDIR/lines" | grep -q '"acquires":600,.*"violations":0,' ||
			{ echo "$kind: no line, or a wrong one"; return 1; }
	done
}
check "the sum of all balances stays under every lock" sum_stays

# Without locks it is lost: transfers that share one of their two accounts lose money.
noticed()
{
	said=$(export TEST_BREAK=1; bench 2 60 --locks=4 --fw=100 --lock=d-mcs --iterations=5000 2>&1)
	rc=$?
	printf '%s\n' "$said" | grep 'the bank has'
	[ $rc = 1 ] && printf '%s\n' "$said" | grep -q 'the bank has'
}
timed check "without locks money is lost, and that is noticed" noticed

# Over two hosts, whose clients reach the server by its port.
two_hosts()
{
	hosts_run 2 4 100 -- "$program" --bench=bank --verify=0 --warmup=0 --repetitions=1 \
		--progress=never --timeout=60 --locks=6 --lock=redlock,shiftlock --iterations=50 --json >"$TMPDIR/lines" || return 1
	for kind in redlock shiftlock; do
		grep "\"lock\":\"$kind\"" "$TMPDIR/lines" | grep '"nodes":2,' |
			grep -q '"acquires":200,.*"violations":0,' || { cat "$TMPDIR/lines"; return 1; }
	done
}
if said=$(hosts_can_run); then
	check "the sum stays over two hosts" two_hosts
else
	skip "the sum stays over two hosts" "$said"
fi

nothing_left()
{
	for i in 1 2 3 4 5 6 7 8 9 10; do
		ls -d "$TMPDIR"/pawl-bank-* 2>/dev/null || return 0
		sleep 1
	done
	return 1
}
check "nothing is left of the servers" nothing_left
killed()
{
	bench 2 5 --locks=1000 --seconds=60 --lock=d-mcs >/dev/null 2>&1 &
	for i in 1 2 3 4; do
		sleep 1
		[ ! -S "$(echo "$TMPDIR"/pawl-bank-*/socket)" ] || break
	done
	[ -S "$(echo "$TMPDIR"/pawl-bank-*/socket)" ] || { echo "there was no server"; return 1; }
	wait
	nothing_left
}
check "nor of one whose benchmark was killed" killed

refused()
{
	said=$(bench 1 60 --locks=1 --lock=d-mcs 2>&1)
	[ $? = 2 ] && printf '%s\n' "$said" | grep -e '--locks: .* accepted: from 2 on'
}
check "one account is too few" refused

finish

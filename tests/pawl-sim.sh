#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pawl-sim: same command, same figures; every machine and workload; what is wrong
# is named; and a thousand ranks take seconds.

. "$srcdir/tests/tap.sh"

program=$builddir/benchmarks/sim/pawl-sim
[ -x "$program" ] || skip_all "configured without SimGrid"
tmp=pawl-sim.$$.tmp
mkdir "$tmp"
trap 'rm -rf "$tmp"' EXIT

sim()
{
	timeout -k 5 120 "$program" --machines="$srcdir/machines" --progress=never "$@"
}

same_twice()
{
	sim --machine=xc30-aries --ranks=48 --iterations=50 --fw=20 --json "$@" >"$tmp/a" &&
		sim --machine=xc30-aries --ranks=48 --iterations=50 --fw=20 --json "$@" >"$tmp/b" &&
		cmp "$tmp/a" "$tmp/b" && grep -q '"lock"' "$tmp/a"
}
check "same command, same lines" same_twice

other_seed()
{
	! same_twice --seed=1 || cp "$tmp/a" "$tmp/first"
	same_twice --seed=2 && ! cmp -s "$tmp/a" "$tmp/first"
}
check "another seed, other lines" other_seed

# Every lock of --list has a line at every workload, but what is no lock (ranges are
# none) and those that are the MPI's (see "cannot be simulated").
complete()
{
	machine=$1
	sim --machine="$machine" --ranks=20 --iterations=20 --bench=lb,ecsb,sob,wcsb,warb,locktable,micro \
		--locks=40 --json \
		>"$tmp/lines" || return 1
	for lock in $(sim --list | awk '/^Locks/ { on = 1; next } /^$/ { on = 0 } on && !/\[ranges\]/ { print $1 }'); do
		case $lock in
		mpi-win-lock | rpc)
			sim --machine="$machine" --lock="$lock" 2>&1 | grep -q "cannot be simulated" ||
				{ echo "$lock: not refused"; return 1; }
			continue
			;;
		fompi-a) continue ;;
		esac
		lines=$(grep -c "\"lock\":\"$lock\"" "$tmp/lines")
		[ "$lines" = 7 ] || { echo "$lock: $lines lines"; return 1; }
	done
}
machines=$(sim --list | awk '/^Machines/ { on = 1; next } on { print $1 }')
check "there are machines" [ -n "$machines" ]
for machine in $machines; do
	check "all locks and workloads on $machine" complete "$machine"
done
check "the hash table holds what was inserted" \
	sim --machine=xc30-aries --ranks=40 --bench=dht --fw=20 --iterations=50

# No operation leaves the node if all locks are near.
near_stays()
{
	for locality in 95 100; do
		sim --machine=cloudlab-cx3-20nodes --ranks=40 --bench=locktable --lock=rma-mcs \
			--locality=$locality --iterations=50 --json
	done | sed -n 's/.*"far":\([0-9.]*\).*/\1/p' | {
		read -r some && read -r none && echo "$some, $none" &&
			[ "$none" = 0.0000 ] && [ "$some" != 0.0000 ]
	}
}
check "locktable: near locks stay in the node" near_stays

# complains WORDS ARGUMENT...: status 2, and a sentence with these words.
complains()
{
	words=$1
	shift
	said=$(sim "$@" 2>&1)
	rc=$?
	printf '%s\n' "$said"
	[ $rc = 2 ] && printf '%s\n' "$said" | grep -q -e "$words"
}
check "no machine" complains "--machine=NAME is needed"
check "an unknown machine" complains "cannot read" --machine=nowhere
check "an unknown option" complains "option --verify" --machine=xc30-aries --verify=1
check "an option without meaning here" complains "accepted: home,topology" \
	--machine=xc30-aries -o wait=spin
check "a bad value" complains "from 1 to 1048576" --machine=xc30-aries --ranks=0
check "a value of a lock's option" complains "option t_r" --machine=xc30-aries --ranks=4 \
	--lock=rma-rw -o t_r=0

# bad_file WORDS LINE: a machine with this line in it is refused.
bad_file()
{
	{ cat "$srcdir/machines/xc30-aries.machine"; printf '%s\n' "$2"; } >"$tmp/bad.machine"
	complains "$1" --machine="./$tmp/bad.machine"
}
check "a setting that is none" bad_file "is no setting; accepted: summary" "net colour 3"
check "a setting given twice" bad_file "given twice" "ranks 5"
check "a time that is none" bad_file "net latency group: .* is not a time" "net latency group x"
check "a duplex that is none" bad_file "one of: full, half" "net duplex quarter"

check "1024 ranks, 20 acquires each, in 5 s" \
	timeout 5 "$program" --machines="$srcdir/machines" --machine=xc30-aries --ranks=1024 \
	--lock=d-mcs --iterations=20
if [ "${TEST_LONG-}" = 1 ]; then
	check "16384 ranks, 20 acquires each, in 60 s" \
		timeout 60 "$program" --machines="$srcdir/machines" --machine=xc30-aries \
		--ranks=16384 --lock=d-mcs --iterations=20
fi

finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The workloads of pawl-bench that use many locks: every kind runs them, and their
# results are consistent.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
. "$srcdir/tests/bench.sh"

kinds=$(bench_kinds)

# Without the MPI's own, whose critical sections take milliseconds where ranks outnumber
# cores.
ours=$(printf '%s\n' $kinds | grep -v '^mpi-win-lock$' | paste -sd, -)

# bench RANKS OPTION...: JSON lines to $tmp/lines.
bench()
{
	ranks=$1
	shift
	mpi_run "$ranks" 100 "$program" --seconds=0.03 --warmup=0 --verify=0.01 --repetitions=1 \
		--progress=never --timeout=60 --json --baselines "$@" >"$tmp/lines"
}

# Every kind but the MPI's own, which has too few windows, has one line per workload.
complete()
{
	wanted=$1
	shift
	bench "$@" || { cat "$tmp/lines"; return 1; }
	for kind in $kinds; do
		[ "$kind" != mpi-win-lock ] || continue
		lines=$(grep -c "\"lock\":\"$kind\"" "$tmp/lines")
		[ "$lines" = "$wanted" ] || { echo "$kind: $lines lines"; return 1; }
	done
}

two_nodes="topology=node:2 core:1"
check "locktable and micro, 2 ranks" complete 2 2 --bench=locktable,micro --locks=1000 --zipf=0.99
check "locktable and micro, 2 ranks on 2 nodes" \
	complete 2 2 --bench=locktable,micro --locks=64 --lock="$ours" -o "$two_nodes"
check "transactions, 2 ranks on 2 nodes" complete 2 2 --bench=tatp,tpcc --locks=1000 \
	--warehouses=2 --lock="$ours" -o "$two_nodes"
# A few locks for all ranks, which contend for them.
check "transactions, 3 ranks" complete 1 3 --bench=tpcc --locks=64 --warehouses=1 \
	--lock="$ours"

# A distribution ends at 1, and never decreases.
rising()
{
	sed -n 's/.*"cdf":\[\(\[.*\]\)\].*/\1/p' "$tmp/lines" | grep . >"$tmp/cdf" || return 1
	tr -d '[]' <"$tmp/cdf" | awk -F, '
		{
			n++
			for (i = 3; i < NF; i += 2)
				if ($i + 0 < $(i - 2) + 0 || $(i + 1) + 0 <= $(i - 1) + 0)
					bad++
			if ($NF != 1)
				bad++
		}
		END { print n " distributions, " bad + 0 " bad"; exit bad || !n }'
}
check "distributions of latencies rise to 1" rising

# The hash table with a lock for each rank, and with one for each bucket; without the MPI's own, as
# above.
for locks in 2 2048; do
	check "poet, 2 ranks, $locks locks" complete 1 2 --bench=poet --locks=$locks --fw=30 \
		--lock="$ours,poet-free"
done
# The MPI moves the buckets, so all its flushes wait for another rank: a few kinds are enough.
far_buckets()
{
	bench 2 --bench=poet --zipf=0.99 --lock=adaptive,rma-rw,alock -o "$two_nodes" &&
		[ "$(grep -c '"bench":"poet"' "$tmp/lines")" = 3 ]
}
check "poet, 2 ranks on 2 nodes" far_buckets

# Ranks without a lock find half a bucket soon; the longer runs are for idle machines.
without_locks()
{
	for turns in 300 3000 30000; do
		said=$(export TEST_BREAK=1; bench 2 --bench=poet --no-verify --fw=50 --zipf=1.5 \
			--lock=cas-spin --iterations=$turns --timeout=90 2>&1)
		rc=$?
		printf '%s\n' "$said" | grep -v '^{'
		[ $rc = 0 ] || break
	done
	[ $rc = 1 ] && printf '%s\n' "$said" | grep -q 'VIOLATED'
}
timed check "poet notices locks that do not exclude" without_locks

# shares LOCALITY: of the operations of a kind that needs a fixed number, this share is far.
shares()
{
	bench 4 --bench=locktable --locks=64 --locality="$1" --lock=cas-spin --active=1 \
		--iterations=4000 -o "topology=node:2 core:2" || return 1
	line=$(cat "$tmp/lines")
	far=$(number far "$line")
	atomic=$(number atomic "$line")
	awk -v far="$far" -v all="$atomic" -v local="$1" 'BEGIN {
		got = 100 * (1 - far / all)
		print got " % of the operations are near"
		exit !(all > 0 && got > local - 2 && got < local + 2)
	}'
}
check "locality 100 %" shares 100
check "locality 85 %" shares 85

mixture()
{
	bench 2 --bench=micro --lock=rma-rw --fw=5 --iterations=40000 || return 1
	line=$(cat "$tmp/lines")
	awk -v x="$(number exclusive "$line")" -v all="$(number acquires "$line")" 'BEGIN {
		print x " of " all " are exclusive"
		exit !(all == 80000 && x / all > 0.045 && x / all < 0.055)
	}'
}
check "one acquire in 20 is exclusive" mixture
exclusive_readers()
{
	bench 2 --bench=micro --lock=d-mcs --fw=5 &&
		grep -q '"readers":"exclusive"' "$tmp/lines" &&
		! grep -q '"acquire-reader":{"count":[1-9]' "$tmp/lines"
}
check "readers of a lock without shared mode are writers, and it says so" exclusive_readers

# All figures for which there is data, each with curves or bars.
figures()
{
	bench 2 --bench=locktable,micro,tatp,tpcc --locks=1000 --warehouses=2 --lock=d-mcs,rma-rw ||
		return 1
	mv "$tmp/lines" "$tmp/lines.json"
	drawn 8 "d-mcs rma-rw" contestants locktable-cdf micro-ops tatp-cdf tpcc-cdf
}
if [ -n "$PYTHON" ]; then
	check "figures of all of them" figures
else
	skip "figures of all of them" "no python3 with numpy and matplotlib"
fi

# --progress, where stderr is no terminal: always, never, or (auto) a line every 5 s.
progress()
{
	when=$1
	shift
	mpi_run 1 100 "$program" --bench=ecsb --warmup=0 --verify=0.01 --progress="$when" "$@" \
		>"$tmp/lines" 2>"$tmp/said" || { cat "$tmp/said"; return 1; }
	tr '\r' '\n' <"$tmp/said" | sed "s/$(printf '\033')\[K//" >"$tmp/progress"
	cat "$tmp/progress"
}
always()
{
	progress always --seconds=0.01 --repetitions=2 --lock=d-mcs,rma-mcs &&
		grep -qx 'ecsb: 1 of 4: d-mcs' "$tmp/progress" &&
		grep -qxE 'ecsb: 4 of 4: rma-mcs, about [0-9]+ s left' "$tmp/progress"
}
never()
{
	progress never --seconds=0.01 --repetitions=2 --lock=d-mcs && ! grep ecsb "$tmp/progress"
}
lines()
{
	progress auto --seconds=0.5 --repetitions=12 --lock=d-mcs &&
		grep -qxE 'pawl-bench: ecsb: [0-9]+ of 12, about [0-9]+ s left; now d-mcs' "$tmp/progress"
}
check "--progress=always" always
check "--progress=never" never
check "progress without a terminal" lines

complainer() { "$program" "$@"; }
check "--locality out of range" complains "from 0 to 100" --locality=101
check "--subscribers out of range" complains "from 1 to 100000000" --subscribers=0
check "--warehouses out of range" complains "from 1 to 10000" --warehouses=many
check "--fail out of range" complains "from 0 to 0.5" --bench=micro --fail=1
check "--fail is micro's" complains "accepted with: micro" --bench=ecsb --fail=0.1
check "--fail needs a lease" complains "no lock is recovered" --bench=micro --fail=0.1 \
	--lock=shiftlock -o lease=0
check "--fail needs locks that recover" complains "recover" --bench=micro --fail=0.1 --lock=d-mcs
check "a lock that is none" complains "did you mean d-mcs?" --lock=dmcs
check "an option that is none" complains "did you mean max_held?" -o maxheld=3
check "an option that no lock named has" complains "none of the locks that take part has option t_r" \
	-o t_r=5 --lock=d-mcs
check "an option of ranges, and no ranges" complains "those that have: citron" -o k=0
check "a lock that plays no such workload" complains "none of the locks named (citron)" \
	--lock=citron --bench=ecsb

common()
{
	bench 2 --lock=d-mcs --iterations=100 -o progress=eager -o owner=process \
		-o distribution=cyclic && bench 2 --lock=d-mcs --iterations=100 -o progress=thread \
		-o threads=multiple
}
check "options of all locks" common

too_small()
{
	said=$(mpi_run 2 60 "$program" --bench=tpcc --locks=1000 --warehouses=100 2>&1)
	printf '%s\n' "$said" | grep -e '--locks: tpcc needs more than 11 for each of 100'
}
check "tpcc needs locks for its warehouses" too_small

# With locks that recover, every abandoned lock is acquired again. The lease of dslr is twice as
# long as a rank may wait for a core, because a stop within its release makes its word wrong ("Limits" in dslr.c).
survives()
{
	lease=10ms
	[ "$1" != dslr ] || lease=20ms
	bench 2 --bench=micro --locks=2 --fail=0.01 --lock="$1" --iterations=2000 -o lease=$lease ||
		{ cat "$tmp/lines"; return 1; }
	line=$(cat "$tmp/lines")
	echo "$(number abandoned "$line") abandoned"
	[ "$(number acquires "$line")" = 4000 ] && [ "$(number abandoned "$line")" -gt 0 ]
}
recovering=$("$program" --list | sed -n '/\[ranges\]/!s/^  \([^ ]*\) .*\[recovers\].*/\1/p')
for kind in $recovering; do
	$([ "$kind" != dslr ] || echo timed) check "$kind survives clients that forget" survives "$kind"
done
[ -n "$recovering" ] || skip "clients that forget" "no lock of this build recovers"

finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The workloads of pawl-bench over ranges: every kind with ranges runs them, their
# results are consistent, and they notice ranges that do not exclude.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
. "$srcdir/tests/bench.sh"

kinds=$("$program" --list | awk '/\[ranges\]/ && !/only if named/ { print $1 }')
[ -n "$kinds" ] || skip_all "no lock of this build has ranges"
list=$(printf '%s\n' $kinds | paste -sd, -)

# bench RANKS OPTION...: JSON lines to $tmp/lines. On a busy machine a client may not run at all in
# $seconds, so there are more of them until each line has acquires.
bench()
{
	ranks=$1
	shift
	for seconds in 0.05 0.5 2; do
		mpi_run "$ranks" 200 "$program" --seconds=$seconds --warmup=0.01 --verify=0.02 \
			--repetitions=1 --progress=never --timeout=60 --json --baselines "$@" >"$tmp/lines" || return
		grep -q '"acquires":0,' "$tmp/lines" || return 0
	done
}

# complete RANKS OPTION...: each kind has a line for each workload, with acquires and
# without violations.
complete()
{
	wanted=$1
	shift
	bench "$@" || { cat "$tmp/lines"; return 1; }
	for kind in $kinds; do
		lines=$(grep "\"lock\":\"$kind\"" "$tmp/lines" | grep -c '"acquires":[1-9].*"violations":0,')
		[ "$lines" = "$wanted" ] || { echo "$kind: $lines lines"; return 1; }
	done
}

all=range,range-grow,btio,oltp,abort
small="--grid=16 --file=262144 --space=65536"
two_nodes="topology=node:2 core:1"
long=${TEST_LONG-}
[ -z "$long" ] || check "all of them, 1 rank" complete 5 1 --bench=$all $small
check "all of them, 4 ranks" complete 5 4 --bench=$all $small
check "all of them, 2 ranks on 2 nodes" complete 5 2 --bench=$all $small -o "$two_nodes"
for length in ${long:+1 16} 256; do
	check "ranges of $length units, 2 ranks" complete 1 2 --bench=range --length=$length --zipf=0.99
done
check "some of them shared, 3 ranks" complete 1 3 --bench=range --fw=20 --space=1000

sizes()
{
	bench 3 --bench=range --iterations=500 --lock="$list" || return 1
	for kind in $kinds; do
		line=$(grep "\"lock\":\"$kind\"" "$tmp/lines")
		for size in 1 16 256; do
			printf '%s\n' "$line" | grep -q "\"length-$size\":{\"count\":500," ||
				{ echo "$kind: not 500 ranges of $size"; return 1; }
		done
		printf '%s\n' "$line" | grep -q '"acquires":1500,.*"acquire":{"count":1500,.*"release":{"count":1500,' ||
			{ echo "$kind: not all are timed"; return 1; }
	done
}
check "mixed lengths: as many clients of each, and all are timed" sizes

# The acquires of all parts of the time add up to all acquires.
over_time()
{
	bench 2 --bench=range-grow || return 1
	for kind in $kinds; do
		line=$(grep "\"lock\":\"$kind\"" "$tmp/lines")
		acquires=$(number acquires "$line")
		printf '%s\n' "$line" | sed 's/.*"over_time":\[\[//; s/\]\].*//; s/\],\[/\n/g' |
			awk -F, -v all="$acquires" -v seconds=$seconds '
				{ n++; sum += $2 * seconds / 50; if ($1 <= last) bad++; last = $1 }
				END { print n " parts, " sum " of " all; exit !(n == 50 && !bad && last < seconds &&
					sum > all * 0.99 && sum < all * 1.01) }' || return 1
	done
}
check "range-grow: its rows over time add up" over_time

mixture()
{
	bench 2 --bench=oltp --file=262144 --iterations=20000 --lock="${list%%,*}" || return 1
	line=$(cat "$tmp/lines")
	awk -v read="$(number count "$(printf '%s\n' "$line" | sed 's/.*"read":{//')")" \
	    -v write="$(number count "$(printf '%s\n' "$line" | sed 's/.*"write":{//')")" \
	    -v log_="$(number count "$(printf '%s\n' "$line" | sed 's/.*"log":{//')")" 'BEGIN {
		print read " reads, " write " writes, " log_ " of the log"
		exit !(read + write + log_ == 40000 && write / read > 0.09 && write / read < 0.11 &&
			log_ > 0 && log_ < 40)
	}'
}
check "oltp: 3200 reads, 320 writes, 1 of the log" mixture

# Rows for 1, 2 and 3 clients, which add up to all acquires. There is more time until no row is 0.
by_clients()
{
	for part in 0.6 3 15; do
		bench 3 --bench=abort --seconds=$part || return 1
		grep -q '"by_clients":[^a-z]*,0\]' "$tmp/lines" || break
	done
	for kind in $kinds; do
		line=$(grep "\"lock\":\"$kind\"" "$tmp/lines")
		printf '%s\n' "$line" | sed 's/.*"by_clients":\[\[//; s/\]\].*//; s/\],\[/\n/g' |
			awk -F, -v speed="$(number throughput "$line")" '
				{ clients = clients " " $1; sum += $3 / 3; if ($2 < 0 || $3 <= 0) bad++ }
				END { print "clients" clients ": " sum " of " speed
				exit !(clients == " 1 2 3" && !bad && sum > speed * 0.98 && sum < speed * 1.02) }' ||
			return 1
	done
}
check "abort: rows for 1, 2 and 3 clients" by_clients

# More nodes: fewer false conflicts, and none of short ranges, which the program checks.
false_conflicts()
{
	bench 2 --bench=falseconflict --space=1048576 --iterations=600 || return 1
	sed 's/.*"false_conflicts":\[\[//; s/\]\].*//; s/\],\[/\n/g' "$tmp/lines" |
		awk -F, '{ n++; pairs += $2 > 0; some += $3 > 0
			   if ($2 * $3 > 100 && $4 >= $3) bad++
			   for (k = 4; k <= 8; k++)
				if ($k > 2 * $(k - 1) + 50 / $2 || ($1 <= 64 && $k > 0)) bad++ }
			 END { print n " lengths, " some " with false conflicts, " bad + 0 " bad"
			       exit !(n == 11 && pairs == n && some >= 5 && !bad) }'
}
check "falseconflict: fewer with more nodes" false_conflicts

# noticed BENCH OPTION...: without locks it ends with status 1 and says so.
noticed()
{
	noticed_bench=$1
	shift
	for seconds in 0.2 1 3; do
		said=$(export TEST_BREAK=1; bench 2 --bench="$noticed_bench" --lock="${list%%,*}" \
			--seconds=$seconds "$@" 2>&1)
		rc=$?
		printf '%s\n' "$said" | grep -v '^{'
		[ $rc != 1 ] || break
	done
	[ $rc = 1 ] && printf '%s\n' "$said" | grep -q 'VIOLATED'
}
check "the verification notices ranges that do not exclude" noticed range --verify=0.2
check "and by what btio reads" noticed btio --no-verify --grid=16
check "and by the counts of oltp" noticed oltp --no-verify --file=262144

# All figures for which there is data.
figures()
{
	bench 3 --bench=$all $small --lock="$list" || return 1
	cp "$tmp/lines" "$tmp/lines.json"
	bench 3 --bench=range --zipf=0 --space=65536 --lock="$list" || return 1
	cat "$tmp/lines" >>"$tmp/lines.json"
	bench 1 --bench=falseconflict --space=1048576 || return 1
	cat "$tmp/lines" >>"$tmp/lines.json"
	drawn 4 "$kinds" contestants range-grow range-sizes range-skew &&
		grep -q '>k = 2<' "$tmp/figures/falseconflict.svg"
}
if [ -n "$PYTHON" ]; then
	check "figures of all of them" figures
else
	skip "figures of all of them" "no python3 with numpy and matplotlib"
fi

complainer() { mpi_run 1 60 "$program" "$@"; }
check "--length out of range" complains 'from 1 to .* "mixed"' --length=0
check "--length longer than the space" complains "accepted: from 300 on" --bench=range \
	--length=300 --space=200
check "--space out of range" complains "from 1 to 1099511627776" --space=0
check "--grid out of range" complains "from 1 to 512" --grid=513
check "--file out of range" complains "from 262144 to 1073741824" --file=4096
check "--iterations of a workload that cuts time" complains "accepted: --seconds" --bench=abort \
	--iterations=10
check "--locks of a workload with files" complains "accepted: 11" --bench=oltp --locks=2

no_ranges()
{
	said=$(mpi_run 1 60 "$program" --bench=range --lock=d-mcs 2>&1)
	printf '%s\n' "$said" | grep 'none of the locks named (d-mcs) takes part in range'
}
check "a lock without ranges takes no part" no_ranges

finish

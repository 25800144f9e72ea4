#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pawl-sim: the same command gives the same figures; every machine and workload runs; messages name
# what is wrong; and a thousand ranks take seconds.

. "$srcdir/tests/tap.sh"

program=$builddir/benchmarks/sim/pawl-sim
[ -x "$program" ] || skip_all "configured without SimGrid"
make_tmp

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

# One lock whose sections take 10 us on average is acquired 100000 times a second at most, and
# about as often; with pauses of as long after each release, one rank acquires half as often.
paced()
{
	per_second()
	{
		sim --machine=xc30-aries --lock=d-mcs --iterations=2000 --json "$@" |
			sed 's/.*"throughput":\([0-9]*\).*/\1/'
	}
	full=$(per_second --ranks=8 --section=10000)
	half=$(per_second --ranks=1 --section=10000 --think=10000)
	rests=$(per_second --ranks=1 --section=10000 --burst=10 --rest=100000)
	echo "$full $half $rests acquires/s"
	[ "$full" -gt 90000 ] && [ "$full" -lt 101000 ] && [ "$half" -gt 47000 ] &&
		[ "$half" -lt 51000 ] && [ "$rests" -gt 45000 ] && [ "$rests" -lt 53000 ]
}
check "sections, pauses and bursts take the time that they should" paced

# Every lock of --list has a line for every workload, except pseudo locks, kinds with ranges, and
# locks that need an MPI (see "cannot be simulated").
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
		# Kinds with ranges have no locks for these workloads, and say so.
		[ "$lines" = 0 ] && sim --machine="$machine" --lock="$lock" --bench=lb 2>&1 |
			grep -q "none of the locks takes part" && continue
		[ "$lines" = 7 ] || { echo "$lock: $lines lines"; return 1; }
	done
}
machines=$(sim --list | awk '/^Machines/ { on = 1; next } on { print $1 }')
check "there are machines" [ -n "$machines" ]
for machine in $machines; do
	check "all locks and workloads on $machine" complete "$machine"
done
# Each type of transaction and of access to a file is there, and a server's locks are of the kind.
applications()
{
	sim --machine=cx6-4nodes --ranks=24 -o "topology=node:4 core:6" --iterations=200 --json \
		--bench=tatp,tpcc,bank --lock=shiftlock,d-mcs,dslr >"$tmp/lines" &&
		sim --machine=cx6-4nodes --ranks=24 -o "topology=node:4 core:6" --iterations=400 --json \
			--bench=btio,oltp --grid=24 --lock=citron,ss,it >>"$tmp/lines" || return 1
	for type in GSD UL NEW PAY balance transfer write read log; do
		[ "$(grep -c "\"$type\":{\"count\":[1-9]" "$tmp/lines")" -ge 3 ] ||
			{ echo "$type: too few lines"; return 1; }
	done
	[ "$(grep -c '"lock"' "$tmp/lines")" = 15 ] && ! grep unsteady.*tpcc "$tmp/lines"
}
check "transactions and files, all types" applications
# A transaction waits for its other locks for longer than a lease of drtm's readers.
leases()
{
	sim --machine=cx6-4nodes --ranks=24 -o "topology=node:4 core:6" --iterations=200 --json \
		--bench=tpcc --lock=drtm,dslr -o lease=100 >"$tmp/lines" &&
		grep '"drtm"' "$tmp/lines" | grep -q '"leases_lost":[1-9]' &&
		grep '"dslr"' "$tmp/lines" | grep -q '"leases_lost":0'
}
check "readers that lose their leases are counted" leases
check "tpcc with too few locks is refused" sh -c '
	"$1" --machines="$2/machines" --machine=cx6-4nodes --bench=tpcc --lock=d-mcs --locks=4000 \
		--progress=never 2>&1 | grep -q "accepted: from 4404 on"' - "$program" "$srcdir"
check "the hash table holds what was inserted" \
	sim --machine=xc30-aries --ranks=40 --bench=dht --fw=20 --iterations=50

# figure NAME OPTION...: a figure of a run, from its JSON line.
figure()
{
	name=$1
	shift
	sim "$@" --json | sed -n "s/.*\"$name\":\([0-9.]*\).*/\1/p"
}

# The readers of a lock run ahead of its writers at first: the run says so, or is made longer.
steadied()
{
	set -- --machine=xc30-aries --ranks=128 --lock=rma-rw --fw=0.2 --seconds=0.0002
	sim "$@" | grep "rma-rw is not steady: 0 % exclusive, not 0.2 %" &&
		sim "$@" --json | grep -q '"unsteady":"0 % exclusive' || return 1
	first=$(figure seconds "$@") && longer=$(figure seconds "$@" --steady) &&
		sim "$@" --steady --json >"$tmp/steady" && echo "$first, $longer s" &&
		! grep unsteady "$tmp/steady" && awk "BEGIN { exit !($longer > 1.9 * $first) }"
}
check "a run that is not steady" steadied

# Twice as long each time: 20000 acquires and their warm-up are not measured; then nor are 40000.
lengthened()
{
	set -- --machine=cx6-4nodes --ranks=8 --iterations=2500 --fw=100
	[ "$(figure acquires "$@" --lock=d-mcs,mgl --lengthen=2 | sort -u)" = 80000 ] &&
		[ "$(figure lengthened "$@" --lock=mgl --lengthen=2)" = 2 ] &&
		[ "$(figure lengthened "$@" --lock=mgl --steady)" = 0 ] &&
		[ "$(figure lengthened "$@" --lock=mgl --steady --lengthen=1)" = 1 ] &&
		! sim "$@" --lengthen=7
}
check "runs that are made equally long" lengthened

# No operation leaves the node if all locks are near.
near_stays()
{
	for locality in 95 100; do
		figure far --machine=cloudlab-cx3-20nodes --ranks=40 --bench=locktable \
			--lock=rma-mcs --locality=$locality --iterations=50
	done | {
		read -r some && read -r none && echo "$some, $none" &&
			[ "$none" = 0.0000 ] && [ "$some" != 0.0000 ]
	}
}
check "locktable: near locks stay in the node" near_stays

# A figure of adaptive on 2 nodes of 2 ranks.
adaptive_figure() # NAME OPTION...
{
	figure "$@" --machine=cx6-4nodes --ranks=4 -o "topology=node:2 core:2" --lock=adaptive
}

# How long a node keeps a lock that other nodes want is in the hands of option stay.
stays_end()
{
	none=$(adaptive_figure max --bench=wcsb -o stay=0) &&
		usual=$(adaptive_figure max --bench=wcsb) &&
		most=$(adaptive_figure max --bench=wcsb -o stay=511) &&
		echo "$none, $usual, $most ns" &&
		awk -v a="$none" -v b="$usual" -v c="$most" 'BEGIN { exit !(a > 0 && a * 2 < b && b * 4 < c) }'
}
check "adaptive: a stay ends" stays_end

# A client of the node that runs goes first, unless patience is 0.
patience_pays()
{
	usual=$(adaptive_figure throughput --bench=ecsb) &&
		order=$(adaptive_figure throughput --bench=ecsb -o patience=0) &&
		echo "$usual, $order a second" &&
		awk -v a="$usual" -v b="$order" 'BEGIN { exit !(b > 0 && a > 1.5 * b) }'
}
check "adaptive: patience lets clients of a node go first" patience_pays

# A client that is about to be the head of the queue counts as a waiter, so the lock seldom leaves
# its node.
moves_seldom()
{
	far=$(figure far --machine=cx6-4nodes --bench=warb --lock=adaptive)
	echo "$far far operations an acquire"
	awk -v far="$far" 'BEGIN { exit !(far > 0 && far < 0.2) }'
}
check "adaptive: a contended lock moves seldom" moves_seldom

# Most acquires are at the own node, a few elsewhere: a node that shares a lock has to be asked by a
# writer, which costs a little more than visits cost alock.
near_and_far()
{
	set -- throughput --machine=cx6-4nodes --ranks=4 -o "topology=node:2 core:2" \
		--bench=locktable --locality=95 --fw=5 --iterations=10000
	here=$(figure "$@" --lock=adaptive) && other=$(figure "$@" --lock=alock) &&
		echo "$here, alock $other a second" &&
		awk -v a="$here" -v b="$other" 'BEGIN { exit !(b > 0 && a > 0.7 * b) }'
}
check "adaptive: many locks, most of them used on one node, with readers" near_and_far

# Ranges: there is no overlap, and more clients meet more often.
ranges()
{
	for clients in 2 32; do
		sim --machine=cx6-4nodes --bench=range --lock=citron,ss --ranks=36 --space=65536 \
			--active=$clients --iterations=30 --zipf=0.99 --json
	done >"$tmp/ranges"
	[ "$(wc -l <"$tmp/ranges")" = 4 ] || return 1
	sed -n 's/.*"lock":"citron".*"aborts":\([0-9.e-]*\).*/\1/p' "$tmp/ranges" | {
		read -r few && read -r many && echo "$few, $many" &&
			awk "BEGIN { exit !($few < $many) }"
	}
}
check "ranges: more clients, more aborts" ranges
# Servers: where the machine's file has their times. The threads use a tree one after the other, so
# more of them do not help; they do with a list. A longer call takes longer.
rate()
{
	sed -n "s/.*\"lock\":\"$1\".*\"throughput\":\([0-9.]*\).*/\1/p" "$2"
}
served()
{
	for n in 2 18; do
		sed "s/^server threads.*/server threads $n/" "$srcdir/machines/cx6-4nodes.machine" \
			>"$tmp/t$n.machine"
	done
	sed 's/^server it.*/server it 2000 0/' "$srcdir/machines/cx6-4nodes.machine" >"$tmp/slow.machine"
	for m in t2 t18 slow; do
		sim --machine="$tmp/$m.machine" --bench=range --lock=it,llc,mt --ranks=65 --length=1 \
			--active=64 --active-on=remote --homes=first-node -o topology=node:65 --json \
			>"$tmp/$m" || return 1
		echo "$m: $(rate it "$tmp/$m") $(rate llc "$tmp/$m") $(rate mt "$tmp/$m")"
	done
	awk "BEGIN { exit !($(rate llc "$tmp/t18") > 2 * $(rate llc "$tmp/t2") &&
		$(rate it "$tmp/t18") < 2 * $(rate it "$tmp/t2") &&
		$(rate it "$tmp/slow") < $(rate it "$tmp/t18") / 2 &&
		$(rate it "$tmp/slow") < 1e9 / 2000) }" || return 1
	# Clients are answered while the calls that they asked for still search the awaited ranges.
	sim --machine=cx6-4nodes --bench=range --lock=it,llc,mt --ranks=130 --active=129 \
		--active-on=remote --homes=first-node -o topology=node:130 --iterations=77 || return 1
	sim --machine=cx5-6nodes --bench=range --lock=it 2>&1 | grep -q "no times of one"
}
check "servers: threads, and the times of their structures" served
grows()
{
	sim --machine=cx6-4nodes --bench=range-grow --lock=citron --ranks=36 --seconds=0.0005 --json |
		grep -o '"over_time":\[[^"]*' | grep -q '\[0.000495,[1-9]'
}
check "range-grow: something is done to the end" grows

# Forgotten locks are recovered; the more locks are forgotten, the fewer acquires there are.
forgets()
{
	for p in 0 0.001 0.01; do
		sim --machine=cx5-6nodes --bench=micro --lock="$1" --locks=1000 --ranks=16 --fail=$p \
			-o lease=100 --seconds=0.005 --homes=first-node --json
	done | sed -n 's/.*"throughput":\([0-9.]*\).*/\1/p' | {
		read -r none && read -r few && read -r many && echo "$none, $few, $many" &&
			awk "BEGIN { exit !($none > $few && $few > $many && $many > 0) }"
	}
}
for lock in $(sim --list | awk '/^Locks/ { on = 1; next } /^$/ { on = 0 } on && /\[recovers\]/ && !/\[ranges\]/ { print $1 }'); do
	check "$lock: goes on after locks were forgotten" forgets "$lock"
done

# Time lines: the same for the same command, and that of a seed that fails.
pawl_trace()
{
	"$PYTHON" "$srcdir/tools/pawl-trace" "$@"
}
traced()
{
	for i in a b; do
		sim --machine=xc30-aries --ranks=48 --lock=d-mcs,rma-mcs --iterations=20 \
			--trace="$tmp/$i.trace" >/dev/null || return 1
	done
	cmp "$tmp/a.trace" "$tmp/b.trace" && pawl_trace --check "$tmp/a.trace" &&
		pawl_trace "$tmp/a.trace" >"$tmp/said" && cat "$tmp/said" || return 1
	# Each rank acquires 20 times, after a warm-up.
	awk '/lock 0 of table [12] \((d-mcs|rma-mcs), ecsb\)$/ && $7 >= 960 { n++ }
		END { exit n != 2 }' "$tmp/said" &&
		grep -q '^[1-9][0-9]* hand-overs between 48 ranks$' "$tmp/said"
}
check "a time line" traced
adversary=$builddir/tests/sim/adversary
failing()
{
	"$adversary" --fault=d-mcs-link --first=11 --trace="$tmp/fault.trace" >"$tmp/said" &&
		pawl_trace "$tmp/fault.trace" >>"$tmp/said"
	cat "$tmp/said"
	grep -q '^table 1 (d-mcs, seed [0-9]*, fault d-mcs-link) ends at .*: deadlock: ' "$tmp/said" &&
		grep '"cat": "wait".*"result": "unfinished"' "$tmp/fault.trace"
}
if [ -x "$adversary" ]; then
	check "a time line of a seed that fails" failing
else
	skip "a time line of a seed that fails" "the adversary is not built"
fi

# latency FILE ARGUMENT...: of one remote client.
latency()
{
	file=$1
	shift
	sim --machine="$file" -o topology=node:64 --ranks=64 --active=1 --active-on=remote \
		--lock=cas-spin --iterations=50 --json "$@" | sed -n 's/.*"p50":\([0-9.]*\).*/\1/p' |
		head -n 1
}
# by_route MACHINE PARTS OTHER_PARTS: nodes 0 and 1 are neighbours, or not.
by_route()
{
	sed "s/^net route.*/net route $2/" "$srcdir/machines/$1.machine" >"$tmp/near.machine"
	sed "s/^net route.*/net route $3/" "$srcdir/machines/$1.machine" >"$tmp/far.machine"
	near=$(latency "$tmp/near.machine") && far=$(latency "$tmp/far.machine")
	again=$(latency "$tmp/far.machine")
	echo "$near, $far, $again"
	[ "$far" = "$again" ] && awk "BEGIN { exit !($near > 0 && $near < $far) }"
}
check "dragonfly: latency by route" by_route dragonfly-64nodes \
	"dragonfly 4,1;2,1;4,1;2" "dragonfly 2,1;2,1;16,1;1"
check "fat tree: latency by route" by_route fat-tree-64nodes \
	"fat-tree 2;8,8;1,4;1,1" "fat-tree 2;1,64;1,1;1,1"
same_on_network()
{
	for i in a b; do
		sim --machine=$1 --lock=rma-mcs,d-mcs --json >"$tmp/$i"
	done
	cmp "$tmp/a" "$tmp/b" && [ "$(wc -l <"$tmp/a")" = 2 ]
}
check "a dragonfly: same command, same lines" same_on_network dragonfly-64nodes
check "a fat tree: same command, same lines" same_on_network fat-tree-64nodes
congested()
{
	sed "s/^net link gap.*/net link gap 1000/" "$srcdir/machines/dragonfly-64nodes.machine" >"$tmp/slow.machine"
	for file in dragonfly-64nodes "$tmp/slow.machine"; do
		sim --machine="$file" --ranks=128 --bench=micro --fw=100 --locks=1000 --lock=d-mcs \
			--homes=first-node --json
	done | sed -n 's/.*"throughput":\([0-9.]*\).*/\1/p' | {
		read -r free && read -r full && echo "$free, $full" &&
			awk "BEGIN { exit !($full > 0 && $full < $free) }"
	}
}
check "a network: links that are taken hold up others" congested
cat >"$tmp/platform.xml" <<-XML
	<?xml version='1.0'?>
	<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
	<platform version="4.1"><zone id="all" routing="Full">
	<host id="n9" speed="1Gf"/><host id="n10" speed="1Gf"/><host id="n11" speed="1Gf"/>
	<link id="short" bandwidth="10GBps" latency="1us"/>
	<link id="long" bandwidth="10GBps" latency="10us"/>
	<route src="n9" dst="n10"><link_ctn id="LINK"/></route>
	<route src="n9" dst="n11"><link_ctn id="short"/></route>
	<route src="n10" dst="n11"><link_ctn id="short"/></route>
	</zone></platform>
XML
by_file()
{
	for link in short long; do
		sed "s/LINK/$link/" "$tmp/platform.xml" >"$tmp/$link.xml"
		sim --machine=xc30-aries -o topology=node:3 --ranks=3 --active=1 --active-on=remote \
			--lock=cas-spin --iterations=50 --platform="$tmp/$link.xml" --json
	done | sed -n 's/.*"latency_ns":{"p50":\([0-9.]*\).*/\1/p' | {
		# Two round trips, of 9 us more each way; quantiles are good to a 64th.
		read -r short && read -r long && echo "$short, $long" &&
			awk "BEGIN { d = $long - $short; exit !(d > 33000 && d < 39000) }"
	}
}
check "a platform file: latency by route" by_file

complainer() { sim "$@"; }
check "no machine" complains "--machine=NAME is needed"
check "an unknown machine" complains "cannot read" --machine=nowhere
check "an unknown option" complains "option --verify" --machine=xc30-aries --verify=1
check "an option without meaning here" complains "accepted: distribution,topology" \
	--machine=xc30-aries -o wait=spin
check "pauses of a workload that has none" complains "accepted with: ecsb" \
	--machine=xc30-aries --think=5 --bench=dht
check "bursts without rests" complains "burst goes with --rest" --machine=xc30-aries --burst=5
check "an option that no lock named has" complains "none of the locks that take part" \
	--machine=xc30-aries --lock=d-mcs -o t_r=5
check "a lock that plays no such workload" complains "none of the locks named" \
	--machine=xc30-aries --lock=citron --bench=ecsb
check "a time line that cannot be written" complains "--trace: cannot write" \
	--machine=xc30-aries --trace="$tmp/none/file"
check "a bad value" complains "from 1 to 1048576" --machine=xc30-aries --ranks=0
check "a value of a lock's option" complains "option t_r" --machine=xc30-aries --ranks=4 \
	--lock=rma-rw -o t_r=0

# bad_file WORDS LINE: a machine with this line in it is refused.
bad_file()
{
	{ cat "$srcdir/machines/xc30-aries.machine"; printf '%s\n' "$2"; } >"$tmp/bad.machine"
	complains "$1" --machine="$tmp/bad.machine"
}
check "a setting that is none" bad_file "is no setting; accepted: summary" "net colour 3"
check "a setting given twice" bad_file "given twice" "ranks 5"
check "a time that is none" bad_file "net latency group: .* is not a time" "net latency group x"
check "a duplex that is none" bad_file "one of: full, half" "net duplex quarter"

check "a network that is none" bad_file "GROUPS,LINKS;CHASSIS" "net route dragonfly 4,1;2,1;4"
check "more groups than routers" bad_file "GROUPS at most ROUTERS" "net route dragonfly 4,1;2,1;2,1;4"
check "a tree that is none" bad_file "a number for each level" "net route fat-tree 2;8,8;1;1,1"
check "a network that is too large" bad_file "more than 16384 nodes" "net route dragonfly 16,1;16,1;16,1;16"
check "a tree with too many links" bad_file "or 262144 links" "net route fat-tree 2;4,4;65536,65536;1,1"
check "a route that is none" bad_file "is none of: dragonfly PARTS" "net route torus 3,3"
check "a platform that is not there" complains "cannot read" --machine=xc30-aries --platform=nowhere.xml
sed '/<route src="n9"/d' "$tmp/short.xml" >"$tmp/apart.xml"
check "a platform without routes" complains "no route from n9 to n10" --machine=xc30-aries --ranks=16 \
	--lock=d-mcs --platform="$tmp/apart.xml"
check "a platform that is none" complains "Parse error" --machine=xc30-aries --ranks=16 \
	--lock=d-mcs --platform="$srcdir/README.md"
check "fewer hosts than nodes" complains "the network has 3 nodes" --machine=xc30-aries --ranks=64 \
	--lock=d-mcs --platform="$tmp/short.xml"
check "homes that are none" complains "all, first-node" --machine=xc30-aries --homes=last-node
check "homes of a workload that deals its locks" complains "accepted: all" --machine=xc30-aries \
	--homes=first-node --bench=locktable --lock=d-mcs
check "a space that is too small" complains "accepted: from 256" --machine=cx6-4nodes \
	--bench=range --space=100 --lock=citron

check "1024 ranks, 20 acquires each, in 5 s" \
	timeout 5 "$program" --machines="$srcdir/machines" --machine=xc30-aries --ranks=1024 \
	--lock=d-mcs --iterations=20
if [ "${TEST_LONG-}" = 1 ]; then
	check "16384 ranks, 20 acquires each, in 60 s" \
		timeout 60 "$program" --machines="$srcdir/machines" --machine=xc30-aries \
		--ranks=16384 --lock=d-mcs --iterations=20
fi

finish

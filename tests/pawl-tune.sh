#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pawl-tune finds the best of all values of a threshold, beats the
# defaults on two machines, and its messages name what is wrong.

. "$srcdir/tests/tap.sh"

tune=$builddir/benchmarks/sim/pawl-tune
sim=$builddir/benchmarks/sim/pawl-sim
[ -x "$tune" ] || skip_all "configured without SimGrid"
machines=--machines=$srcdir/machines

# figure NAME: of the JSON line on stdin.
figure()
{
	sed -n "s/.*\"$1\":\([-+.0-9e]*\).*/\1/p"
}

# More passes within a node are faster and less fair. With a floor of fairness the best threshold is
# not an extreme value; here all values are tried.
optimum()
{
	common="--ranks=32 --lock=rma-mcs --iterations=30"
	for t_l in 1 2 4 8 16 32 64 128 256 512 1024 2048 4096; do
		"$sim" $machines --machine=xc30-aries $common -o t_l=node:$t_l --json >tune.tmp
		echo "$t_l $(figure throughput <tune.tmp) $(figure fairness <tune.tmp)"
	done >tune.ladder.tmp
	cat tune.ladder.tmp
	said=$("$tune" xc30-aries ecsb $machines $common --fairness=0.99)
	printf '%s\n' "$said"
	found=$(printf '%s\n' "$said" | sed -n 's/^  -o t_l=node:\([0-9]*\)$/\1/p')
	awk -v found="$found" '
		{ speed[$1] = $2 }
		$3 >= 0.99 && $2 > best { best = $2; at = $1 }
		END {
			print "best with this floor: " at
			exit !(at > 1 && at < 4096 && speed[found] >= 0.99 * best)
		}' tune.ladder.tmp
	rc=$?
	rm -f tune.tmp tune.ladder.tmp
	return $rc
}
check "the known optimum" optimum

# beats MACHINE FACTOR ARGUMENT...: the printed settings are better than the defaults by that factor,
# and pawl-sim gives the same figure.
beats()
{
	machine=$1
	factor=$2
	shift 2
	said=$("$tune" "$machine" ecsb $machines "$@") || return 1
	printf '%s\n' "$said"
	options=$(printf '%s\n' "$said" | sed -n 's/^  \(-o .*\)/\1/p')
	before=$("$sim" $machines --machine="$machine" --bench=ecsb "$@" --json | figure throughput)
	after=$("$sim" $machines --machine="$machine" --bench=ecsb "$@" $options --json | figure throughput)
	echo "throughput $before with the defaults, $after with what was found"
	awk "BEGIN { exit !($before > 0 && $after >= $factor * $before) }"
}
check "better than the defaults on xc30-aries" \
	beats xc30-aries 1.1 --lock=rma-rw --ranks=48 --fw=2 --iterations=50
check "better than the defaults on cx5-6nodes" \
	beats cx5-6nodes 1.1 --lock=rma-rw --ranks=96 --fw=20 --iterations=30

fair()
{
	said=$("$tune" xc30-aries ecsb $machines --ranks=32 --lock=rma-mcs --iterations=30 \
		--fairness=0.99)
	printf '%s\n' "$said"
	printf '%s\n' "$said" | sed -n 's/^found.*fairness \([0-9.]*\),.*/\1/p' |
		awk '{ found = $1 >= 0.99 } END { exit !found }'
}
check "a floor of fairness is kept" fair

# In the lock table each lock is used mostly on one node, and now and then on another.
gains()
{
	said=$("$tune" cx6-4nodes locktable --locality=85 --locks=64 --ranks=8 --iterations=100 $machines \
		-o "topology=node:4 core:2") || return 1
	printf '%s\n' "$said"
	printf '%s\n' "$said" | grep -q '^another kind gains [1-9][0-9][0-9]* % more: alock$'
}
check "another kind that is better is named" gains

# The levels of t_l are those of option topology, and the search begins with the values that -o has.
# At their best, there is nothing to set.
levels()
{
	common="cx5-6nodes ecsb --ranks=32 --lock=rma-mcs --iterations=60 $machines"
	said=$("$tune" $common -o "topology=node:4 core:8") || return 1
	printf '%s\n' "$said"
	best=$(printf '%s\n' "$said" | sed -n 's/^  -o \(t_l=node:[0-9]*\)$/\1/p')
	[ -n "$best" ] || return 1
	said=$("$tune" $common -o "topology=node:4 core:8" -o "$best") || return 1
	printf '%s\n' "$said"
	printf '%s\n' "$said" | grep -q '^after [0-9]* runs: the options given are best$' &&
		! printf '%s\n' "$said" | grep -q '^  -o'
}
check "the levels of option topology, and where the search begins" levels
# One client: no kind of them needs fewer operations.
alone()
{
	said=$("$tune" cx6-4nodes ecsb --ranks=1 --iterations=500 $machines) || return 1
	printf '%s\n' "$said"
	printf '%s\n' "$said" | grep -q '^no other kind, with its defaults, gains 10 % more$'
}
check "or that none is" alone

complainer() { "$tune" $machines "$@"; }
check "no workload" complains "MACHINE and WORKLOAD are needed" xc30-aries
check "a goal that is none" complains "one of: throughput, p99, slowest" xc30-aries ecsb --goal=fun
check "a lock without thresholds" complains "d-mcs has no thresholds$" xc30-aries ecsb --lock=d-mcs
check "no level" complains "8 ranks are on one node without levels (.*more --ranks" \
	xc30-aries ecsb --lock=rma-mcs --ranks=8
check "a topology that is none" complains topology xc30-aries ecsb -o topology=moon:2

finish

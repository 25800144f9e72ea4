#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Locks that recover from the death of clients: ranks are killed, or stopped, in each state.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
[ "$TEST_MPI" = mpich ] || skip_all "$TEST_MPI ends a job one of whose ranks was killed"
program=$builddir/tests/lock/deaths/deaths
seeds=2
[ -z "$TEST_LONG" ] || seeds=17

# round KIND SCENARIO SEED: the verdict of rank 0, which is in a file. Launchers end
# the whole job when one of its processes dies, so each rank has a shell as its
# parent, which stays until the verdict is there.
round()
{
	rm -f survivors.tmp
	mpi_run 4 90 sh -c '"$@"; while [ ! -s survivors.tmp ]; do sleep 0.05; done' \
		sh "$program" "$1" "$2" survivors.tmp "$3" >survivors.err 2>&1
	grep -q '^ok 1 ' survivors.tmp && { grep '^#' survivors.tmp >>survivors.all; return 0; }
	cat survivors.tmp survivors.err
	return 1
}

rm -f survivors.all
trap 'rm -f survivors.tmp survivors.err survivors.all' EXIT
for kind in ${TEST_SURVIVORS:-shiftlock citron}; do
	# A client that waits for a range looks as often as the tree is high before it takes anybody for dead.
	bar=4
	[ "$kind" = citron ] && bar=14
	for scenario in holding waiting followed handing anytime stopped; do
		seed=0
		while [ $((seed += 1)) -le $seeds ]; do
			check "$kind, $scenario, seed $seed" round "$kind" "$scenario" "$seed"
			[ "$scenario" = holding ] && sed -n 's/.*recovered_us \([0-9]*\).*lease \([0-9]*\) us.*/\1 \2/p' \
				survivors.all | tail -1 >>survivors.times.$$
		done
	done
	# median of the times from a holder's death to the next grant, in leases
	note=$(sort -n survivors.times.$$ | awk '{ t[NR] = $1 / $2 } END { printf "%.2f", t[int((NR + 1) / 2)] }')
	rm -f survivors.times.$$
	in_time() { awk -v x="$note" -v b="$bar" 'BEGIN { exit !(x > 0 && x < b) }'; }
	timed check "$kind: $note leases from a holder's death to the next grant (median), less than $bar" in_time
done

finish

# SPDX-License-Identifier: BSD-3-Clause
# Of the ShiftLock paper (FAST'25), sections 4.2, 4.3, 4.7 and 4.8: read by ./reproduce.
#
# One lock server and up to 240 clients. Each client has a node to itself: the paper delays
# messages within a machine until they take as long as between two, and its locks know no
# machines. RMA-RW then has one counter for all readers, as it is best. A million locks and not
# ten, which take ten times as long to set up.

machine=cx5-6nodes
million=1000000

swift=shiftlock,d-mcs,rma-rw
retrying=cas-backoff,drtm,dslr

# serve CLIENTS LOCKS OPTION...: the microbenchmark, JSON lines.
serve()
{
	clients=$1 of=$2
	shift 2
	sim $((clients + 1)) --bench=micro --locks="$of" --active="$clients" --active-on=remote \
		--homes=first-node -o topology=node:$((clients + 1)) -o t_dc=$((clients + 1)) "$@"
}

# both MIX LAW: of 240 clients. Those that retry first get slower and slower, so they
# run for a time, where they do it for longer.
both()
{
	case $1$2 in
	WI:*:0.99) time=0.1 ;;
	RI:*:0.99) time=0.02 ;;
	*) time=0.004 ;;
	esac
	serve 240 $million --fw="${1#*:}" --zipf="${2#*:}" --lock=$swift --iterations=200
	serve 240 $million --fw="${1#*:}" --zipf="${2#*:}" --lock=$retrying --iterations=10 \
		--seconds=$time
}

# Figures 4, 5 and 6 are of the same runs.
if wanted shift4; then
	for mix in WI:50 RI:5 RO:0; do
		for law in Unif.:0 Zipf.:0.99; do
			[ "$mix${law%:*}" != RO:0Unif. ] || continue
			name="${mix%:*} ${law%:*}"
			both $mix $law >"$out/shift.json"
			[ "$law" != Zipf.:0.99 ] || [ "$mix" = RO:0 ] ||
				serve 240 $million --lock=cas-spin --iterations=10 --seconds=0.02 \
					--fw="${mix#*:}" --zipf=0.99 >>"$out/shift.json"
			points "4: acquires a second" "" throughput "$name" <"$out/shift.json"
			points "5: median latency, us" "" p50 "$name" <"$out/shift.json"
			points "5: 99 % latency, us" "" p99 "$name" <"$out/shift.json"
			[ "$law" = Zipf.:0.99 ] && [ "$mix" != RO:0 ] || continue
			points "6: atomics a cycle" "" far_atomic "$name" <"$out/shift.json"
			points "6: reads a cycle" "" far_get "$name" <"$out/shift.json"
			points "6: writes a cycle" "" far_put "$name" <"$out/shift.json"
		done
	done >"$out/figshift4.tsv"
	rm -f "$out/shift.json"
	draw shift4 3 bars
fi

if wanted shift7; then
	for n in 1000 10000 100000 $million; do
		serve 240 $n --lock=$swift --iterations=300 --fw=50 --zipf=0.99 >"$out/shift.json"
		points "7: WI, acquires a second|locks" "" throughput $n <"$out/shift.json"
		points "7: WI, 99 % latency, us|locks" "" p99 $n <"$out/shift.json"
	done >"$out/figshift7.tsv"
	rm -f "$out/shift.json"
	draw shift7 2
fi

if wanted shift8; then
	for clients in 20 40 80 160 240; do
		for mix in WI:50 RI:5; do
			serve $clients $million --lock=$swift --iterations=150 --fw="${mix#*:}" \
				--zipf=0.99 >"$out/shift.json"
			points "8: ${mix%:*}, acquires a second|clients" "" throughput $clients <"$out/shift.json"
			points "8: ${mix%:*}, 99 % latency, us|clients" "" p99 $clients <"$out/shift.json"
		done
	done >"$out/figshift8.tsv"
	rm -f "$out/shift.json"
	draw shift8 2
fi

if wanted shift9; then
	for clients in 40 80 120 240; do
		for mix in WI:50 RI:5; do
			for skew in 0 0.8 0.9 0.99; do
				serve $clients $million --lock=shiftlock --iterations=100 \
					--fw="${mix#*:}" --zipf=$skew |
					points "9: ${mix%:*}, acquires a second|clients" "skew $skew" \
						throughput $clients
			done
		done
	done >"$out/figshift9.tsv"
	draw shift9 2
fi

# The largest that the option takes is the paper's infinity: nobody has so many in a row.
if wanted shift12; then
	for n in 1 2 4 8 16 32 64 65535; do
		serve 240 $million --lock=shiftlock --iterations=300 --fw=50 --zipf=0.99 -o t_w=$n \
			>"$out/shift.json"
		points "12: WI, acquires a second|N" shiftlock throughput $n <"$out/shift.json"
		points "12: WI, latency, us|N" p50 p50 $n <"$out/shift.json"
		points "12: WI, latency, us|N" p99 p99 $n <"$out/shift.json"
	done >"$out/figshift12.tsv"
	rm -f "$out/shift.json"
	draw shift12 2
fi

if wanted shift13; then
	for p in 1e-5 1e-4 1e-3 1e-2; do
		serve 240 $million --lock=shiftlock,dslr --seconds=0.06 --fw=50 --zipf=0.99 --fail=$p \
			-o lease=10000 -o recoveries=100000 |
			points "13: WI, acquires a second|failures for each acquire" "" throughput $p
	done >"$out/figshift13.tsv"
	draw shift13 1
fi

# SPDX-License-Identifier: BSD-3-Clause
# Of the Citron paper (FAST'23), sections 4.2 and 4.4 to 4.7: read by ./reproduce.
#
# One lock server and up to 192 clients, each with a node to itself. The space has 2^24
# units and not 2^28, for ss takes no more segments. Its servers' locks need an MPI, and are
# not here.

machine=cx6-4nodes
units=16777216

# ask CLIENTS OPTION...: the microbenchmark of ranges, JSON lines.
ask()
{
	clients=$1
	shift
	sim $((clients + 1)) --bench=range --space=$units --active="$clients" --active-on=remote \
		--homes=first-node -o topology=node:$((clients + 1)) "$@"
}

# turns CLIENTS ALL: iterations, so that there are so many altogether, or 5 of each.
turns()
{
	each=$(($2 / $1))
	echo --iterations=$((each < 5 ? 5 : each))
}

# segments CLIENTS SIZE OPTION...: ss with segments of that size. It gets slower and slower at
# first, so it runs for a time.
segments()
{
	clients=$1 size=$2
	shift 2
	ask "$clients" --lock=ss --iterations=5 --seconds=0.02 -o segment_units="$size" \
		-o segments=$((units / size)) "$@"
}

if wanted citron6; then
	for clients in 3 12 48 96 192; do
		for length in 1 16 256; do
			panel="L = $length"
			{
				ask $clients --length=$length --lock=citron $(turns $clients 10000)
				ask $clients --length=$length --lock=lld $(turns $clients 1000)
			} >"$out/citron.json"
			segments $clients $length --length=$length >"$out/exact.json"
			segments $clients $((8 * length)) --length=$length >"$out/over.json"
			: >"$out/under.json"
			[ $length = 1 ] ||
				segments $clients $((length / 8)) --length=$length >"$out/under.json"
			for what in throughput:"acquires a second" p50:"median latency, us" \
				p99:"99 % latency, us"; do
				points "6: $panel, ${what#*:}|clients" "" "${what%%:*}" $clients <"$out/citron.json"
				for size in exact over under; do
					points "6: $panel, ${what#*:}|clients" ss-$size "${what%%:*}" \
						$clients <"$out/$size.json"
				done
			done
		done
	done >"$out/figcitron6.tsv"
	rm -f "$out/citron.json" "$out/exact.json" "$out/over.json" "$out/under.json"
	draw citron6 3
fi

# by_size CLIENTS SERIES: of mixed lengths, the acquires a second of each.
by_size()
{
	awk -v clients="$1" -v series="$2" '
		{
			match($0, /"throughput":[0-9.]+/)
			printf "7: all, acquires a second\t%s\t%d\t%.6g\n", series, clients, \
				substr($0, RSTART + 13, RLENGTH - 13)
			match($0, /"seconds":[0-9.]+/)
			seconds = substr($0, RSTART + 10, RLENGTH - 10)
			for (length_ = 1; length_ <= 256; length_ *= 16) {
				key = "\"length-" length_ "\":{\"count\":"
				at = index($0, key)
				printf "7: L = %d, acquires a second\t%s\t%d\t%.6g\n", length_, series, \
					clients, (substr($0, at + length(key)) + 0) / seconds
			}
		}'
}

if wanted citron7; then
	for clients in 63 129 192; do
		ask $clients --lock=citron $(turns $clients 10000) | by_size $clients citron
		ask $clients --lock=lld $(turns $clients 1000) | by_size $clients lld
		for size in 1 16 256; do
			segments $clients $size | by_size $clients ss-$size
		done
	done >"$out/figcitron7.tsv"
	draw citron7 2 bars
fi

if wanted citron9; then
	for skew in 0 0.3 0.5 0.7 0.9 0.99; do
		for length in 16 256; do
			for path in yes no; do
				name="L = $length$([ $path = yes ] || echo ", without")"
				ask 96 --length=$length --lock=citron --zipf=$skew -o fast_path=$path \
					$(turns 96 10000) >"$out/citron.json"
				points "9: acquires a second|skew|linear" "$name" throughput $skew <"$out/citron.json"
				points "9: median latency, us|skew|linear" "$name" p50 $skew <"$out/citron.json"
			done
		done
	done >"$out/figcitron9.tsv"
	rm -f "$out/citron.json"
	draw citron9 2
fi

# grow SERIES OPTION...: acquires a second in parts of the time, which is told in ms.
grow()
{
	series=$1
	shift
	sim 65 --bench=range-grow --lock=citron --homes=first-node -o topology=node:65 --active=64 \
		--active-on=remote --seconds=0.1 "$@" |
		sed 's/.*"over_time":\[\[//; s/\]\].*//; s/\],\[/\n/g' |
		awk -F, -v series="$series" '{ printf "10: acquires a second|ms|linear\t%s\t%g\t%s\n", series, $1 * 1000, $2 }'
}

if wanted citron10; then
	{
		grow "from 1024, by call each 10 ms" --space=1024 -o growth=call
		grow "from 1024, by whoever needs it" --space=1024
		grow "2^28 units at once" --space=268435456
	} >"$out/figcitron10.tsv"
	draw citron10 1
fi

# Computed, by a program that needs an MPI but no job. A pair of ranges that has a false
# conflict: all k of one length.
if wanted citron11; then
	"$build/benchmarks/pawl-bench" --bench=falseconflict --iterations=11000 --seconds=3600 \
		--no-verify --repetitions=1 --timeout=0 --json --progress=never |
		sed -n 's/.*"false_conflicts":\[\[\(.*\)\]\].*/\1/p' | sed 's/\],\[/\n/g' |
		awk -F, '{
			for (k = 1; k <= 6; k++)
				if ($(k + 2) > 0)
					printf "11: false conflicts|length\tk = %d\t%d\t%g\n", k, $1, $(k + 2)
		}' >"$out/figcitron11.tsv"
	draw citron11 1
fi

if wanted citron12; then
	{
		for clients in 3 12 24 48 96 192; do
			ask $clients --lock=citron $(turns $clients 20000) >"$out/citron.json"
			points "12: aborts an acquire|clients" citron aborts $clients <"$out/citron.json"
			points "12: acquires a second|clients" citron throughput $clients <"$out/citron.json"
		done
		for m in 1 2 3 4 5; do
			ask 96 --lock=citron -o m=$m $(turns 96 10000) >"$out/citron.json"
			points "12: aborts an acquire|m|linear" citron aborts $m <"$out/citron.json"
			points "12: acquires a second|m|linear" citron throughput $m <"$out/citron.json"
		done
	} >"$out/figcitron12.tsv"
	rm -f "$out/citron.json"
	draw citron12 2
fi

# SPDX-License-Identifier: BSD-3-Clause
# benchmarks/pawl-report: its parsers and statistics, then each command with a small budget.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

[ -n "$PYTHON" ] || skip_all "no python3 with numpy and matplotlib"
make_tmp

tap_program "unit tests" "$PYTHON" "$srcdir/tests/report/tap.py" "$srcdir/benchmarks"

# report SECONDS ARGUMENT...: its stdout to $tmp/out, its status.
report()
{
	report_seconds=$1
	shift
	timeout -k 5 "$report_seconds" "$PYTHON" "$srcdir/benchmarks/pawl-report" "$@" \
		>"$tmp/out" 2>"$tmp/err" </dev/null && return
	report_status=$?
	tail -n 20 "$tmp/err"
	return $report_status
}

all_figures()
{
	report 100 figures --out "$tmp/figures" || return 1
	for data in "$srcdir"/doc/measured/figures/*.tsv; do
		name=${data##*/}
		[ "$name" != figvaried.tsv ] || continue # the headlines, which are no figure
		name=${name%.tsv}
		[ "$(grep -c '<path' "$tmp/figures/$name.svg")" -gt 8 ] || { echo "$name is empty"; return 1; }
		# The first series of the data is in the legend.
		series=$(sed 1d "$data" | head -n 1 | cut -f 1)
		grep -qF ">$series<" "$tmp/figures/$name.svg" || { echo "$name: no $series"; return 1; }
	done
}
check "every data file of doc/measured/figures becomes a figure" all_figures

# The same seed gives the same rows, and each names the best of the other kinds.
swept()
{
	report 200 sweep --seed=7 --settings=2 --others=d-mcs,alock "$builddir" || return 1
	cp "$tmp/out" "$tmp/first"
	report 200 sweep --seed=7 --settings=2 --only=2 --others=d-mcs,alock "$builddir" || return 1
	grep -c '^| [12] | `[a-z0-9-]* [0-9]* x [0-9]* [a-z]* --fw=[0-9]' "$tmp/first"
	[ "$(grep -c '^| [12] | `[a-z0-9-]* [0-9]* x ' "$tmp/first")" = 2 ] &&
		grep -qxF "$(grep '^| 2 | ' "$tmp/first")" "$tmp/out" &&
		grep -q '^| geometric mean | [0-9.]* |$' "$tmp/out" || return 1
	# The same settings, with the same best of the others, for another kind.
	report 200 sweep --seed=7 --settings=2 --only=2 --kind=mgl --others=d-mcs,alock \
		"$builddir" || return 1
	grep -qF '| mgl |' "$tmp/out" &&
		[ "$(grep '^| 2 | ' "$tmp/first" | cut -d "|" -f 3,5)" = \
			"$(grep '^| 2 | ' "$tmp/out" | cut -d "|" -f 3,5)" ] || return 1
	! report 20 sweep --kind=mcs "$builddir" && grep -q -- '--kind.*adaptive, d-mcs' "$tmp/err" &&
		! report 20 sweep --kind=d-mcs --others=d-mcs "$builddir" &&
		grep -q -- '--others: no other kind' "$tmp/err" || return 1
	report 200 sweep --seed=7 --settings=2 --only=2 --kind=d-mcs --others=d-mcs,alock \
		"$builddir" && grep -q '^| 2 |.*| alock ' "$tmp/out"
}
if [ -x "$builddir/benchmarks/sim/pawl-sim" ]; then
	check "sweep: the same seed, the same rows" swept
else
	skip "sweep: the same seed, the same rows" "configured without SimGrid"
fi

small="--seconds=0.01 --repetitions=2"
compared()
{
	report 100 compare $small --lock=d-mcs,rma-rw --match="2 ranks" --out "$tmp" "$builddir" || return 1
	grep -q '^| ECSB, 2 ranks | rma-rw | [0-9.]* [kM] ([0-9.]*.* to [0-9.]*.*) |$' "$tmp/out" ||
		{ cat "$tmp/out"; return 1; }
	[ ! -e "$tmp/pawl.svg" ] && grep -q '>d-mcs<' "$tmp/pawl-bench.svg" && [ "$(grep -c '^{"lock"' "$tmp/pawl-bench.json")" = 2 ]
}
# adaptive beside MPI_Win_lock, and no lock of another paper.
answered()
{
	report 100 compare $small --match="2 ranks" --out "$tmp" "$builddir" || return 1
	grep -q '^| 2 ranks at one lock | [0-9.]* [kM] | [0-9.]* *[kM]* | [0-9.]* x | [a-z-]* [0-9.]* [kM] |$' \
		"$tmp/out" || { cat "$tmp/out"; return 1; }
	grep -q '>Pawl (adaptive)<' "$tmp/pawl.svg" && ! grep -q '"lock":"cas-backoff"' "$tmp/pawl-bench.json"
}
# row PATTERN ARGUMENT...: one line of the table matches.
row()
{
	pattern=$1
	shift
	report 100 run "$@" $small "$builddir" || return 1
	[ "$(grep -c "$pattern" "$tmp/out")" = 1 ] || { cat "$tmp/out"; return 1; }
}
# A build tree whose programs fail.
failures()
{
	mkdir -p "$tmp/build/benchmarks" "$tmp/build/.libs"
	cp "$builddir/Makefile" "$tmp/build"
	printf '#!/bin/sh\nexit 3\n' >"$tmp/build/benchmarks/win-bench"
	chmod +x "$tmp/build/benchmarks/win-bench"
	touch "$tmp/build/.libs/libpawl-mpi.so"
	report 100 run dropin --match="2 ranks, exclusive, empty" $small "$tmp/build"
	[ $? = 1 ] && grep -q 'did not run' "$tmp/out"
}

if mpi_can_run; then
	check "compare prints medians with spreads, and draws" compared
	check "compare ends with adaptive and what the MPI gives" answered
	check "a row of run workloads" row '^| TATP | [0-9.]* [kM] (.*) | cas-backoff [0-9]' \
		workloads --match=TATP
	check "a row of run ranges" row '^| 2 ranks | `--space=1024` | [0-9.]* [kM]* *(.*) | ss [0-9]' \
		ranges --part=grow --match="2 ranks"
	check "a program that fails: the table says so, status 1" failures
else
	skip "compare and run" "configured without a launcher"
fi
finish

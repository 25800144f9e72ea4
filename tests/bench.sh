# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests of pawl-bench, after tap.sh and mpirun.sh: the program, a folder for its JSON
# lines, and what is read from them.

mpi_can_run || skip_all "configured without a launcher"
program=$builddir/benchmarks/pawl-bench
make_tmp

# The locks in the program's list, without those that run only if they are named, without ranges, and
# without what the list says is no lock.
bench_kinds()
{
	"$program" --list | awk '/^Locks/ { on = 1; next } /^$/ { on = 0 }
		on && !/only if named|\[ranges\]|  no lock: |  not a lock / { print $1 }'
}

# number NAME LINE: the value of a field, the first of that name.
number()
{
	printf '%s\n' "$2" | grep -oE "\"$1\":[-+.0-9e]+" | head -n 1 | cut -d: -f2
}

# drawn LEAST LOCKS FIGURE...: pawl-report draws $tmp/lines.json; each figure has all the locks, and more
# than so many curves or bars.
drawn()
{
	drawn_least=$1 drawn_locks=$2
	shift 2
	"$PYTHON" "$srcdir/benchmarks/pawl-report" plot --out "$tmp/figures" "$tmp/lines.json" || return 1
	for name in "$@"; do
		for lock in $drawn_locks; do
			grep -q ">$lock<" "$tmp/figures/$name.svg" || { echo "$name: no $lock"; return 1; }
		done
		[ "$(grep -c '<path' "$tmp/figures/$name.svg")" -gt "$drawn_least" ] || return 1
	done
}

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each fuzz target runs on the inputs of tests/fuzz/corpus. make fuzz searches for more inputs.

. "$srcdir/tests/tap.sh"
# For range_calls, which starts the MPI without a launcher.
. "$srcdir/tests/mpirun.sh"

replay()
{
	"$builddir/tests/fuzz/$1" "$srcdir/tests/fuzz/corpus/$1" >replay.$$ 2>&1
	rc=$?
	[ $rc = 0 ] || tail -n 5 replay.$$
	rm -f replay.$$
	return $rc
}

for corpus in "$srcdir"/tests/fuzz/corpus/*/; do
	name=$(basename "$corpus")
	check "$name: $(find "$corpus" -type f | wc -l) inputs" replay "$name"
done
for source in "$srcdir"/tests/fuzz/*.c; do
	name=$(basename "$source" .c)
	[ "$name" = replay ] ||
		check "$name has inputs" test -d "$srcdir/tests/fuzz/corpus/$name"
done
finish

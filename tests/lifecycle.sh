#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tables are created and freed without a leak: by the size of the heap over a thousand
# tables, and under valgrind, where every definite leak with a function of Pawl
# in its stack counts.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
program=$builddir/tests/lock/lifecycle
short=yes
[ -z "${TEST_LONG-}" ] || short=

tap_program "1 rank" mpi_run 1 120 "$program"
tap_program "2 ranks" mpi_run 2 300 "$program" ${short:+--rounds 300}
tap_program "4 ranks" mpi_run 4 120 "$program" --rounds 20

tap_program "2 ranks, rpc" mpi_run 2 120 "$program" --only rpc --threads 1 --rounds 200

no_leak()
{
	rm -f lifecycle.vg.*
	mpi_run 1 300 "$builddir/libtool" --mode=execute valgrind --leak-check=full \
		--show-leak-kinds=definite,indirect --log-file=lifecycle.vg.%p \
		"$program" --rounds 20 --limit 250 >/dev/null 2>&1
	# A record is a header with "definitely lost" and the stack below it.
	awk '
		/definitely lost in loss record/ { record = $0; ours = 0; on = 1; next }
		on && /(at|by) 0x/ {
			record = record "\n" $0
			if (/\((agree|environment|option_value|similar|alock|citron[a-z_]*|range[a-z_]*|ss|lld|network|progress|guard|life|memory|shm|agree|environment|option_value|similar|siphash|connect|devices|direct|filter|messages|open|perform|serve|transport|watch|wire|shiftlock|shiftlock_lease|shiftlock_pass|lease|table|space|slots|options|homes|lock|error|kinds|build|parse|discover|segments|wait|dmcs|dslr|queue_tree[a-z_]*|rma_mcs|rma_rw|readers[a-z_]*|cas_spin|fompi|mpi_win_lock|clock|drtm)\.c:/)
				ours = 1
			next
		}
		on { if (ours) { print record; found = 1 } on = 0 }
		/HEAP SUMMARY/ { summary = 1 }
		END {
			if (!summary)
				print "valgrind did not get to its summary"
			exit found || !summary
		}' lifecycle.vg.*
	leaks=$?
	rm -f lifecycle.vg.*
	return $leaks
}
if command -v valgrind >/dev/null; then
	check "valgrind finds no leak of ours" no_leak
else
	skip "valgrind finds no leak of ours" "no valgrind"
fi

finish

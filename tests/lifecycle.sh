#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Tables are created and freed without a leak: by the size of the heap over hundreds of
# tables, and under valgrind, where every definite leak with a function of Pawl in its stack counts.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
program=$builddir/tests/lock/table/lifecycle
rounds=300 rpc_rounds=200 seconds=600
# At full length each kind has that many rounds; on a busy machine 100 tables take 10 to 20 s. A
# step that hangs is ended by --limit.
[ -z "${TEST_LONG-}" ] || rounds=60 rpc_rounds=60 seconds=3000

tap_program "sharing" mpi_run 4 60 env OMPI_MCA_osc=^rdma "$builddir/tests/lock/table/creation"
tap_program "1 rank" mpi_run 1 $seconds "$program" --limit 120
tap_program "2 ranks" mpi_run 2 $seconds "$program" --rounds $rounds --limit 120
tap_program "4 ranks" mpi_run 4 $seconds "$program" --rounds 20 --limit 120

tap_program "2 ranks, rpc" mpi_run 2 $seconds "$program" --only rpc --threads 1 \
	--rounds $rpc_rounds --limit 120

# The measure: a block of each table is a leak, one large block is a pool that grew.
leaves()
{
	export TEST_BREAK=$1
	mpi_run 1 60 "$program" --only rma-rw --rounds 200
}
check "512 bytes of each table are noticed" caught leaves leak
check "a pool that grows once is no leak" leaves pool

no_leak()
{
	rm -f lifecycle.vg.*
	mpi_run 1 300 "$builddir/libtool" --mode=execute valgrind --leak-check=full \
		--show-leak-kinds=definite,indirect --log-file=lifecycle.vg.%p \
		"$program" --rounds 20 --limit 250 >/dev/null 2>&1
	# A record is a header with "definitely lost" and the stack below it.
	(cd "$srcdir" && find src baselines -name "*.c") | sed 's,.*/,,' >lifecycle.sources
	awk '
		FILENAME == "lifecycle.sources" { sources[$0] = 1; next }
		/definitely lost in loss record/ { record = $0; ours = 0; on = 1; next }
		on && /(at|by) 0x/ {
			record = record "\n" $0
			if (match($0, /\([a-z0-9_]*\.c:/) &&
			    substr($0, RSTART + 1, RLENGTH - 2) in sources)
				ours = 1
			next
		}
		on { if (ours) { print record; found = 1 } on = 0 }
		/HEAP SUMMARY/ { summary = 1 }
		END {
			if (!summary)
				print "valgrind did not get to its summary"
			exit found || !summary
		}' lifecycle.sources lifecycle.vg.*
	leaks=$?
	rm -f lifecycle.vg.* lifecycle.sources
	return $leaks
}
if command -v valgrind >/dev/null; then
	check "valgrind finds no leak of ours" no_leak
else
	skip "valgrind finds no leak of ours" "no valgrind"
fi

finish

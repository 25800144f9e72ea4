#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The examples run, and their own checks of their results succeed.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"

for example in counter fenced hashtable parts prices records shrunk survivor tasks whichever; do
	check "$example, 4 ranks" mpi_run 4 60 "$builddir/examples/$example"
done
check "counter, 1 rank" mpi_run 1 60 "$builddir/examples/counter"

# Below what any machine can keep: 10 ms.
raised()
{
	PAWL_LEASE=1us mpi_run 1 60 "$builddir/examples/fenced" 2>&1 |
		grep 'option lease: 1 us is too short.* 10000 us is used'
}
check "a lease that is too short is raised, and a line says so" raised

# killed EXAMPLE SAYS: as doc/recovery.md says; MPICH: survivors.sh.
killed()
{
	rm -f over.tmp
	OMPI_MCA_orte_enable_recovery=1 PRTE_MCA_prte_enable_recovery=1 \
		mpi_run 4 60 "$builddir/examples/$1" kill over.tmp \
		>killed.tmp 2>&1
	cat killed.tmp
	[ -e over.tmp ] && grep -aq "$2" killed.tmp
	killed_status=$?
	rm -f over.tmp killed.tmp
	return $killed_status
}
if [ "$TEST_MPI" = openmpi ]; then
	check "survivor, a rank of which is killed" killed survivor ', 1 changes undone'
	check "shrunk, a rank of which is killed" killed shrunk '3 ranks that are left of 4'
fi

# The program in README.md.
readme()
{
	sed -n '/^<!-- example: readme -->/,/^```$/p' "$srcdir/README.md" |
		sed -e '/^<!--/d' -e '/^```/d' >readme.tmp.c
	grep -q main readme.tmp.c || { echo "no program in README.md"; return 1; }
	"$builddir/libtool" --silent --mode=link $CC -I"$srcdir/include" readme.tmp.c \
		"$builddir/libpawl.la" -o readme.tmp && mpi_run 4 60 "$builddir/readme.tmp"
	readme_status=$?
	rm -rf readme.tmp readme.tmp.c .libs/readme.tmp .libs/lt-readme.tmp
	return $readme_status
}
check "the example in README.md, 4 ranks" readme

finish

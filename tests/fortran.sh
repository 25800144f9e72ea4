#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Module pawl of Fortran: it compiles without a warning, with the handles of mpi_f08, with those of
# mpi, and without a module of MPI; its tests pass, and the example and the program of the document
# run.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
. "$srcdir/tests/languages/head.sh"

[ -n "$MPIFC" ] || skip_all "no Fortran compiler for this MPI"

case $($MPIFC --version 2>/dev/null) in
GNU*) strict="-std=f2018 -Wall -Wextra -Wno-compare-reals -Werror" ;;
*) strict= ;;
esac

# fortran NAME ARGUMENT...: build it with the module, in a folder of its own for module files.
fortran()
{
	fortran_name=$1
	shift
	mkdir -p "$work/$fortran_name.mod" && cd "$work/$fortran_name.mod" &&
		$MPIFC $strict -O2 "$builddir/fortran/pawl.F90" "$@" -o "$work/$fortran_name" $libs
}
without_mpi()
{
	mkdir "$work/none" && cd "$work/none" &&
		$MPIFC $strict -DPAWL_NO_MPI_F08 -c "$builddir/fortran/pawl.F90"
}
check "module pawl without a module of MPI has no complaint" without_mpi

# Programs that make the default kinds larger.
default_kinds()
{
	mkdir -p "$work/kinds" && cd "$work/kinds" || return
	for kinds_integer in "" -fdefault-integer-8; do
		for kinds_real in "" -fdefault-real-8 "-fdefault-real-8 -fdefault-double-8"; do
			for kinds_mpi in "" -DPAWL_NO_MPI_F08; do
				$MPIFC $strict $kinds_integer $kinds_real $kinds_mpi -c \
					"$builddir/fortran/pawl.F90" ||
					{ echo "$kinds_integer $kinds_real $kinds_mpi"; return 1; }
			done
		done
	done
}
case $strict in
?*) [ "$TEST_SECOND" = 1 ] || check "module pawl with other default kinds" default_kinds ;;
esac
check "module pawl with mpi_f08 has no complaint" \
	fortran f08 -DWITH_F08 "$sources/fortran.F90"
tap_program "use mpi_f08, 4 ranks" mpi_run 4 180 "$work/f08"
check "module pawl with mpi has no complaint" fortran mpi "$sources/fortran.F90"
tap_program "use mpi, 2 ranks" mpi_run 2 180 "$work/mpi"

gives_up()
{
	mpi_fails 2 60 "$work/said" "$work/f08" giveup &&
		! grep 'it went on' "$work/said" && grep -q 'lock 10 is not in 0 to 9' "$work/said" ||
		{ cat "$work/said"; return 1; }
}
check "without ierror a failure ends the program with the sentence" gives_up
check "without a lock the test fails" caught mpi_run 2 60 "$work/f08" broken

# The structures that the library fills in.
sizes()
{
	cat >"$work/sizes.c" <<-END
		#include <pawl.h>
		#include <stdio.h>
		int main(void)
		{
			printf("pawl_range %zu\n", sizeof(pawl_range));
			printf("pawl_stats %zu\n", sizeof(struct pawl_stats));
			return 0;
		}
	END
	$CC -I"$srcdir/include" "$work/sizes.c" -o "$work/sizes" && "$work/sizes" >"$work/in-c" &&
		"$work/f08" sizes | diff "$work/in-c" -
}
check "types have the size that they have in C" sizes

example()
{
	fortran counter "$srcdir/examples/counter.f90" && mpi_run 4 60 "$work/counter"
}
check "examples/counter.f90, 4 ranks" example

# The program in doc/languages.md; with one MPI.
documented()
{
	document fortran 'end program' "$work/document.f90" &&
		fortran document "$work/document.f90" && mpi_run 4 60 "$work/document"
}
[ "$TEST_SECOND" = 1 ] || check "the program in doc/languages.md, 4 ranks" documented

# LLVM's compiler, where there is one; no MPI's module files are for it.
name="module pawl with flang"
flang=$(command -v flang-new || command -v flang-new-19 || command -v flang-new-16)
if [ -n "$flang" ]; then
	check "$name" "$flang" -DPAWL_NO_MPI_F08 -J "$work" -c "$builddir/fortran/pawl.F90" \
		-o "$work/flang.o"
else
	skip "$name" "no flang"
fi

finish

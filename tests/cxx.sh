#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pawl.hpp: it compiles without a warning as C++17 and C++20 with g++ and clang++, its tests pass,
# destructors after MPI_Finalize do no harm, and the example runs.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
. "$srcdir/tests/languages/head.sh"

[ -n "$MPICXX" ] || skip_all "no C++ compiler for this MPI"

# Without the MPIs' own C++ bindings, which are not clean.
strict="-DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -I$srcdir/include -I$srcdir
	-Wall -Wextra -pedantic -Wconversion -Wshadow -Werror"

# cxx COMPILER ARGUMENT...: the MPI's wrapper with another compiler.
cxx()
{
	cxx_compiler=$1
	shift
	OMPI_CXX=$cxx_compiler MPICH_CXX=$cxx_compiler $MPICXX "$@"
}
for compiler in g++ clang++; do
	for std in c++17 c++20; do
		case $compiler-$std in
		g++-c++17) ;;
		*) [ "$TEST_SECOND" != 1 ] || continue ;; # the MPI makes no difference
		esac
		name="$compiler -std=$std has no complaint"
		if command -v $compiler >/dev/null; then
			check "$name" cxx $compiler -std=$std $strict -O1 "$sources/cxx.cpp" \
				-o "$work/$compiler-$std" $libs
		else
			skip "$name" "no $compiler"
		fi
	done
done

tests()
{
	mpi_run "$1" 180 "$2"
}
for program in "$work"/*-c++*; do
	case $program in
	*/g++-c++17) tap_program "${program##*/}, 4 ranks" tests 4 "$program" ;;
	*/clang++-c++20) tap_program "${program##*/}, 2 ranks" tests 2 "$program" ;;
	esac
done

first=$(find "$work" -name '*-c++*' | sort -r | sed 1q)
late()
{
	mpi_run 2 60 "$first" late >"$work/said" 2>&1 || { cat "$work/said"; return 1; }
	grep -c 'was not freed before MPI_Finalize' "$work/said" | grep -qx 2 ||
		{ cat "$work/said"; return 1; }
}
check "tables and locks that outlive MPI_Finalize are named, and do no harm" late
check "an exception that leaves the scope of a table" mpi_run 2 60 "$first" exception
check "without a lock the test fails" caught mpi_run 4 60 "$first" broken

example()
{
	$MPICXX -std=c++17 $strict "$srcdir/examples/counter.cpp" -o "$work/counter" $libs &&
		mpi_run 4 60 "$work/counter"
}
check "examples/counter.cpp, 4 ranks" example

# The program in doc/languages.md; with one MPI.
documented()
{
	document c++ main "$work/document.cpp" &&
		$MPICXX -std=c++17 $strict "$work/document.cpp" -o "$work/document" $libs &&
		mpi_run 4 60 "$work/document"
}
[ "$TEST_SECOND" = 1 ] || check "the program in doc/languages.md, 4 ranks" documented

finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libpawl, pawl.h and pawl.hpp compile against the ABI of MPI 5.0. No MPI of this machine has it, so
# tests/abi/mpi.h has its names and values; MPI_ABI_INCLUDE names the folder of another mpi.h.

. "$srcdir/tests/tap.sh"

include=${MPI_ABI_INCLUDE:-$srcdir/tests/abi}
cc=$(command -v gcc || command -v clang) || skip_all "no gcc and no clang"
flags="-fsyntax-only -D_GNU_SOURCE -I$include -I$builddir -I$srcdir/include -I$srcdir/src"
warnings="-Wall -Wextra -Werror"

# The header is the one asked for, and not that of the MPI of this build.
right_header()
{
	cat >"$1" <<-END
		#include <mpi.h>
		#if MPI_ABI_VERSION < 1 || defined(OPEN_MPI) || defined(MPICH_VERSION)
		#error "not the ABI"
		#endif
	END
	$cc -std=c11 $flags "$1"
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
check "the header is that of the ABI" right_header "$dir/header.c"

# All of libpawl but the transport over UCX, which has its own flags.
library()
{
	for source in $(cd "$srcdir" && find src/api src/base src/client src/lock src/observe \
		src/options src/rma src/table src/topo -name '*.c' ! -path '*/ucx/*' | sort); do
		$cc -std=gnu11 $warnings $flags "$srcdir/$source" || return
		echo "$source"
	done >"$dir/compiled"
	[ "$(wc -l <"$dir/compiled")" -gt 50 ]
}
check "libpawl compiles" library

program()
{
	printf '%s\n' '#include <pawl.h>' 'int main(void)' '{' 'pawl_table *table;' \
		'return pawl_table_create(MPI_COMM_WORLD, "d-mcs", 1, MPI_INFO_NULL, &table);' '}' \
		>"$dir/program.c"
	$cc -std=c11 -pedantic $warnings $flags "$dir/program.c"
}
check "a program in C compiles" program

cxx()
{
	printf '%s\n' '#include <pawl.hpp>' 'int main()' '{' 'pawl::table table(MPI_COMM_WORLD);' \
		'auto held = table.lock(0);' '}' >"$dir/program.cpp"
	$1 -std=c++17 -pedantic $warnings $flags "$dir/program.cpp"
}
if command -v g++ >/dev/null; then
	check "a program in C++ compiles" cxx g++
else
	skip "a program in C++ compiles" "no g++"
fi

finish

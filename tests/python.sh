#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Package pawl of Python beside mpi4py: pip installs it without a network, it finds the library, its
# tests pass, a libpawl of another MPI is refused, and the example and the program of the document run.
# An MPICH without mpi4py has a part of it, which is enough for the tests of the package.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
. "$srcdir/tests/languages/head.sh"

export PYTHONDONTWRITEBYTECODE=1 PAWL_LIBRARY="$builddir/.libs/libpawl.so"
ranks=4
standin=
if [ -z "$MPI4PY" ]; then
	[ "$TEST_MPI" = mpich ] && python3 -c 'import ctypes' ||
		skip_all "no python3 with an mpi4py for this MPI"
	STANDIN_MPI=$(ldd "$PAWL_LIBRARY" | sed -n 's/.*=> \(.*libmpi[^ ]*\) .*/\1/p')
	export STANDIN_MPI
	MPI4PY=python3
	ranks=2 # the kinds are the same on both MPIs
	standin=$sources/standin
fi

# From a copy: the source tree may be read-only, and pip leaves files in it.
installed()
{
	cp -R "$srcdir/python" "$work/python" && chmod -R u+w "$work/python" &&
		timeout 120 $MPI4PY -m pip install --no-index --no-deps --quiet --no-cache-dir \
			--disable-pip-version-check --target "$work/site" "$work/python"
}
name="pip installs the package without a network"
if [ -n "$standin" ]; then
	:
elif $MPI4PY -m pip --version >/dev/null 2>&1; then
	check "$name" installed
else
	skip "$name" "no pip"
fi
if [ -d "$work/site/pawl" ]; then
	export PYTHONPATH="$work/site"
else
	export PYTHONPATH="$srcdir/python${standin:+:$standin}"
fi

program=$sources/test_pawl.py
tap_program "$ranks ranks" mpi_run $ranks 180 $MPI4PY "$program"
tap_program "interrupted, 2 ranks" mpi_run 2 180 $MPI4PY "$sources/interrupted.py"
tap_program "pawl.sync, $ranks ranks" mpi_run $ranks 180 $MPI4PY "$sources/sync.py"
tap_program "interrupted, one thread" mpi_run 2 60 $MPI4PY "$sources/interrupted.py" funneled
! has_ucx ||
	tap_program "interrupted, one thread, ucx" mpi_run 2 60 env PAWL_TRANSPORT=ucx \
		"PAWL_TOPOLOGY=node:2 core:1" $MPI4PY "$sources/interrupted.py" funneled
check "without a lock the test fails" caught mpi_run $ranks 60 $MPI4PY "$program" broken

# The structures that the library fills in.
sizes()
{
	cat >"$work/sizes.c" <<-END
		#include "api/scope.h"
		#include <stdio.h>
		int main(void)
		{
			printf("pawl_private_scope %zu\n", sizeof(struct pawl_private_scope));
			printf("pawl_read %zu\n", sizeof(pawl_read));
			printf("pawl_stats %zu\n", sizeof(struct pawl_stats));
			printf("pawl_kind %zu\n", sizeof(struct pawl_kind));
			printf("pawl_table_info %zu\n", sizeof(struct pawl_table_info));
			return 0;
		}
	END
	$CC -I"$srcdir/include" -I"$srcdir/src" "$work/sizes.c" -o "$work/sizes" && "$work/sizes" >"$work/in-c" &&
		mpi_run 1 60 $MPI4PY "$program" sizes | diff "$work/in-c" -
}
check "structures have the size that they have in C" sizes

# A library that another MPI is linked with.
case $TEST_MPI in
openmpi) other=mpicc.mpich ;;
*) other=mpicc.openmpi ;;
esac
wrong_mpi()
{
	printf '%s\n' '#include <mpi.h>' 'int pawl_mpi(void) { return MPI_Init(0, 0); }' >"$work/other.c"
	"$other" -shared -fPIC "$work/other.c" -o "$work/libother.so" || return
	! PAWL_LIBRARY="$work/libother.so" timeout 60 $MPI4PY -c 'import pawl; pawl.library()' \
		>"$work/said" 2>&1 && grep 'is built for .*, and mpi4py uses ' "$work/said" ||
		{ cat "$work/said"; return 1; }
}
name="the library of another MPI is refused with a message"
if command -v $other >/dev/null; then
	check "$name" wrong_mpi
else
	skip "$name" "no $other"
fi

# PREFIX/lib/pkgconfig/pawl.pc says where it is, and for which MPI.
by_pkg_config()
{
	mkdir -p "$work/pc" && sed "s|^libdir=.*|libdir=$builddir/.libs|" "$builddir/pawl.pc" \
		>"$work/pc/pawl.pc" && mkdir -p "$work/not" &&
		sed "s|^libdir=.*|libdir=$work|; s|^mpi=.*|mpi=other|" "$builddir/pawl.pc" >"$work/not/pawl.pc" &&
		env -u PAWL_LIBRARY PKG_CONFIG_PATH="$work/not:$work/pc" $MPI4PY -c \
			'import pawl; print(pawl.library())' >"$work/said" 2>&1 || { cat "$work/said"; return 1; }
	grep -F "$builddir/.libs/libpawl-$TEST_MPI.so.0" "$work/said"
}
check "PKG_CONFIG_PATH says where the library is" by_pkg_config

[ -z "$standin" ] || finish
check "examples/counter.py, 4 ranks" mpi_run 4 60 $MPI4PY "$srcdir/examples/counter.py"

# The program in doc/languages.md.
documented()
{
	document python 'import pawl' "$work/document.py" && mpi_run 4 60 $MPI4PY "$work/document.py"
}
check "the program in doc/languages.md, 4 ranks" documented

finish

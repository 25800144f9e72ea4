#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What an uncontended acquire and release costs from C++, Fortran and Python, beside C.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

[ -e "$builddir/.libs/libpawl.so" ] || skip_all "no shared library in this build"
case $(sed -n 's/^CFLAGS = //p' "$builddir/Makefile") in
*-fsanitize*) skip_all "built with sanitizers" ;;
esac

# Other processes may run meanwhile, so a time that is too long counts if it is so three times.
bars()
{
	for attempt in 1 2 3; do
		"$srcdir/benchmarks/languages/run" --check "$builddir" 5 && return
		echo "attempt $attempt"
	done
	return 1
}
timed check "C++, Fortran and Python cost what benchmarks/languages/run allows" bars

finish

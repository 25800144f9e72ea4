# SPDX-License-Identifier: BSD-3-Clause
# PAWL_FIND_LANGUAGES: what the tests of the other languages are built and run with. The library
# needs none of them.
#   MPICXX, MPIFC   the MPI's wrappers for C++ and Fortran that go with CC, if they build programs
#   MPI4PY          a python3 with an mpi4py for this MPI
# and pawl_text_MPICXX, ... for the report. After PAWL_CHECK_MPI.

# _PAWL_FIND_WRAPPER(VARIABLE, NAME, SUFFIX, PROGRAM, DEBIAN-PACKAGE)
m4_define([_PAWL_FIND_WRAPPER], [
AC_ARG_VAR([$1], [the MPI's compiler $2, for tests and examples])
AC_MSG_CHECKING([for $2 that goes with CC (optional)])
AS_IF([test "x$$1" = x], [
	for pawl_word in $CC; do
		pawl_one=`AS_ECHO(["$pawl_word"]) | sed -n 's,^\(.*/\)*mpicc\(@<:@^/@:>@*\)$,\1$2\2,p'`
		AS_IF([test "x$pawl_one" != x], [$1=$pawl_one])
	done
])
AS_IF([test "x$$1" != x], [
	cat >conftest.$3 <<_PROGRAM
$4
_PROGRAM
	AS_IF([$$1 conftest.$3 -o conftest.out >&AS_MESSAGE_LOG_FD 2>&1], [], [$1=])
	rm -f conftest.$3 conftest.out
])
AC_MSG_RESULT([${$1:-no}])
AS_IF([test "x$$1" = x], [pawl_text_$1="no (optional: apt-get install $5)"],
	[pawl_text_$1="yes (optional), $$1"])
])

AC_DEFUN([PAWL_FIND_LANGUAGES], [
AC_REQUIRE([PAWL_CHECK_MPI])dnl
_PAWL_FIND_WRAPPER([MPICXX], [mpicxx], [cpp],
	[#include <mpi.h>
int main() { return MPI_Init(nullptr, nullptr); }], [g++])
_PAWL_FIND_WRAPPER([MPIFC], [mpifort], [f90],
	[use mpi
implicit none
integer :: ierror
call MPI_Init(ierror)
end], [gfortran])
AC_ARG_VAR([MPI4PY], [a python3 with mpi4py for this MPI, for tests])
AC_MSG_CHECKING([for mpi4py of this MPI (optional)])
AS_CASE([$PAWL_MPI], [openmpi], [pawl_vendor="Open MPI"], [mpich], [pawl_vendor=MPICH],
	[pawl_vendor=none])
for pawl_python in "$MPI4PY" python3 /usr/bin/python3; do
	AS_IF([test "x$pawl_python" = x], [continue])
	MPI4PY=
	AS_IF([test "x`$pawl_python -c 'import mpi4py.rc
mpi4py.rc.initialize = False
from mpi4py import MPI
print(MPI.get_vendor()@<:@0@:>@)' 2>/dev/null`" = "x$pawl_vendor"],
		[MPI4PY=$pawl_python; break])
done
AS_IF([test "x$MPI4PY" = x], [pawl_text_MPI4PY="no (optional: apt-get install python3-mpi4py)"],
	[pawl_text_MPI4PY="yes (optional), $MPI4PY"])
AC_MSG_RESULT([${MPI4PY:-no}])
])

# SPDX-License-Identifier: BSD-3-Clause
# The runtimes under whose locks Pawl has a layer. Each is optional; without it the layer is not
# built. After PAWL_FIND_LANGUAGES.

# PAWL_FIND_COARRAYS: OpenCoarrays for this MPI. CAF_LIBS links it to a program that $MPIFC
# -fcoarray=lib has compiled. libpawl-caf itself needs nothing of it.
AC_DEFUN([PAWL_FIND_COARRAYS], [
AC_REQUIRE([PAWL_FIND_LANGUAGES])dnl
AC_ARG_VAR([CAF_LIBS], [linker flags for OpenCoarrays of this MPI, as -lcaf_mpi])
AC_MSG_CHECKING([for coarrays of gfortran with this MPI (optional)])
pawl_have_CAF=no
AS_IF([test "x$MPIFC" != x], [
	cat >conftest.f90 <<_PROGRAM
use, intrinsic :: iso_fortran_env, only: lock_type
implicit none
type(lock_type), save :: l@<:@*@:>@
lock(l@<:@1@:>@)
unlock(l@<:@1@:>@)
end
_PROGRAM
	for pawl_one in "$CAF_LIBS" -lcaf_$PAWL_MPI -lcaf_mpi; do
		AS_IF([test "x$pawl_one" != x && test $pawl_have_CAF = no &&
			$MPIFC -fcoarray=lib conftest.f90 -o conftest.out $pawl_one >&AS_MESSAGE_LOG_FD 2>&1],
			[CAF_LIBS=$pawl_one; pawl_have_CAF=yes])
	done
	rm -f conftest.f90 conftest.out
])
AC_MSG_RESULT([$pawl_have_CAF])
AS_IF([test $pawl_have_CAF = yes],
	[pawl_text_CAF="yes (optional), $CAF_LIBS: libpawl-caf"],
	[CAF_LIBS=
	pawl_text_CAF="no (optional: apt-get install libcoarrays-$PAWL_MPI-dev)"])
AM_CONDITIONAL([HAVE_CAF], [test $pawl_have_CAF = yes])
])

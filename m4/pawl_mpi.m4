# SPDX-License-Identifier: BSD-3-Clause

m4_define([_PAWL_NO_MPI],
	[apt-get install libopenmpi-dev or libmpich-dev, then ./configure CC=mpicc.openmpi or CC=mpicc.mpich])

# PAWL_PROG_MPICC: set CC to the MPI's compiler, unless the caller did.
# Before AC_PROG_CC.
AC_DEFUN([PAWL_PROG_MPICC], [
AC_MSG_CHECKING([for an MPI compiler])
AS_IF([test "x$CC" = x], [
	for pawl_cc in mpicc mpicc.openmpi mpicc.mpich; do
		AS_IF([command -v $pawl_cc >/dev/null 2>&1], [CC=$pawl_cc; break])
	done
])
pawl_cc=`set -- $CC; AS_ECHO(["$][1"])`
pawl_cc_path=
AS_IF([test "x$pawl_cc" != x], [pawl_cc_path=`command -v "$pawl_cc" 2>/dev/null`])
AS_IF([test "x$pawl_cc_path" = x], [
	AC_MSG_RESULT([no])
	AC_MSG_ERROR([no MPI compiler${CC:+ "$CC"}: _PAWL_NO_MPI])
])
AC_MSG_RESULT([$CC])
])

# _PAWL_MPI_DEFINED(MACRO, IF-DEFINED, IF-NOT)
m4_define([_PAWL_MPI_DEFINED], [
AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#include <mpi.h>
#ifndef $1
#error "not this one"
#endif
int pawl_dummy;
]])], [$2], [$3])])

# PAWL_CHECK_MPI: MPI-3 shared windows link with CC; PAWL_MPI is openmpi, mpich
# or other, pawl_mpi_text has the version. Nothing is run.
AC_DEFUN([PAWL_CHECK_MPI], [
AC_CACHE_CHECK([whether $CC links MPI_Win_allocate_shared], [pawl_cv_mpi3], [
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]], [[
	MPI_Win win;
	void *base;
	MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
]])], [pawl_cv_mpi3=yes], [pawl_cv_mpi3=no])])
AS_IF([test $pawl_cv_mpi3 != yes],
	[AC_MSG_ERROR([$CC builds no MPI-3 programs: _PAWL_NO_MPI])])

# MPI-4. Open MPI 5 has them and calls itself 3.1, so the version number does not help.
AC_CACHE_CHECK([whether $CC links MPI_Comm_create_from_group], [pawl_cv_sessions], [
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]], [[
	MPI_Session session;
	MPI_Group group;
	MPI_Comm comm;
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
]])], [pawl_cv_sessions=yes], [pawl_cv_sessions=no])])
AS_IF([test $pawl_cv_sessions = yes], [MPI_CPPFLAGS=-DPAWL_HAVE_SESSIONS], [MPI_CPPFLAGS=])
AC_SUBST([MPI_CPPFLAGS])

AC_CACHE_CHECK([which MPI this is], [pawl_cv_mpi], [
_PAWL_MPI_DEFINED([OPEN_MPI], [pawl_cv_mpi=openmpi],
	[_PAWL_MPI_DEFINED([MPICH_VERSION], [pawl_cv_mpi=mpich], [pawl_cv_mpi=other])])])
AC_SUBST([PAWL_MPI], [$pawl_cv_mpi])

AC_ARG_WITH([mpi-name], [AS_HELP_STRING([--with-mpi-name=NAME],
	[name of this MPI in the names of installed files, of which one prefix holds those of several
	MPIs; default: openmpi, mpich or other])], [], [with_mpi_name=$PAWL_MPI])
AS_CASE([$with_mpi_name], [yes | no | '' | *@<:@!a-z0-9._@:>@*],
	[AC_MSG_ERROR([--with-mpi-name=$with_mpi_name: NAME consists of a-z, 0-9, "." and "_"])])
AC_SUBST([PAWL_NAME], [$with_mpi_name])

AC_COMPUTE_INT([pawl_std_major], [MPI_VERSION], [#include <mpi.h>], [pawl_std_major=0])
AC_COMPUTE_INT([pawl_std_minor], [MPI_SUBVERSION], [#include <mpi.h>], [pawl_std_minor=0])
AS_CASE([$PAWL_MPI],
[openmpi], [
	AC_COMPUTE_INT([pawl_x], [OMPI_MAJOR_VERSION], [#include <mpi.h>], [pawl_x=0])
	AC_COMPUTE_INT([pawl_y], [OMPI_MINOR_VERSION], [#include <mpi.h>], [pawl_y=0])
	AC_COMPUTE_INT([pawl_z], [OMPI_RELEASE_VERSION], [#include <mpi.h>], [pawl_z=0])
	pawl_mpi_text="openmpi $pawl_x.$pawl_y.$pawl_z"
],
[mpich], [
	AC_COMPUTE_INT([pawl_x], [MPICH_NUMVERSION / 10000000], [#include <mpi.h>], [pawl_x=0])
	AC_COMPUTE_INT([pawl_y], [MPICH_NUMVERSION / 100000 % 100], [#include <mpi.h>], [pawl_y=0])
	AC_COMPUTE_INT([pawl_z], [MPICH_NUMVERSION / 1000 % 100], [#include <mpi.h>], [pawl_z=0])
	pawl_mpi_text="mpich $pawl_x.$pawl_y.$pawl_z"
],
	[pawl_mpi_text="other"])
AC_SUBST([PAWL_MPI_MAJOR], [$pawl_x])
pawl_mpi_text="$pawl_mpi_text (MPI $pawl_std_major.$pawl_std_minor)"
pawl_cc_text=`$CC --version 2>/dev/null | sed 1q`
])

# PAWL_CHECK_MPIRUN: the launcher that belongs to CC, for the tests. It is searched in the
# folder of CC, then in PATH.
AC_DEFUN([PAWL_CHECK_MPIRUN], [
AC_REQUIRE([PAWL_CHECK_MPI])dnl
AC_ARG_WITH([mpirun], [AS_HELP_STRING([--with-mpirun=PROGRAM],
	[launcher for the tests; default: the one that belongs to CC; no: leave out
	the tests that need it])], [], [with_mpirun=yes])
AC_MSG_CHECKING([for the launcher of this MPI])
MPIRUN=
pawl_dir=`AS_DIRNAME(["$pawl_cc_path"])`
pawl_suffix=`AS_BASENAME(["$pawl_cc"]) | sed -n 's/^mpicc//p'`
AS_CASE([$with_mpirun],
[no], [],
[yes], [
	for pawl_run in "mpirun.$PAWL_MPI" "mpirun$pawl_suffix" mpirun mpiexec; do
		AS_IF([test -x "$pawl_dir/$pawl_run"], [MPIRUN=$pawl_dir/$pawl_run; break])
	done
	AS_IF([test "x$MPIRUN" = x], [
		for pawl_run in "mpirun.$PAWL_MPI" "mpirun$pawl_suffix" mpirun mpiexec; do
			AS_IF([MPIRUN=`command -v "$pawl_run" 2>/dev/null`], [break])
		done
	])
],
	[MPIRUN=`command -v "$with_mpirun" 2>/dev/null`])
AC_MSG_RESULT([${MPIRUN:-none}])
AS_IF([test "x$MPIRUN" = x && test "x$with_mpirun" != xno], [
	AS_IF([test "x$with_mpirun" != xyes],
		[AC_MSG_ERROR([no launcher $with_mpirun])])
	AS_IF([test "x$PAWL_MPI" = xmpich], [pawl_run=mpich], [pawl_run=openmpi-bin])
	PAWL_MISSING([the MPI launcher (or --with-mpirun=PROGRAM, --without-mpirun)], [$pawl_run])
])
AS_IF([test "x$MPIRUN" = x], [MPIRUN=no])
AC_SUBST([MPIRUN])
])

# SPDX-License-Identifier: BSD-3-Clause
# PAWL_STATIC_REQUIRES: the libraries that pkg-config --static lists for libpawl.a. A package goes
# into PAWL_PC_REQUIRES if all of its private libraries are installed. If not, such as -ludev of hwloc
# where the headers of libudev are missing, its own libraries go into PAWL_PC_LIBS, which is enough
# unless it is linked statically, too. After the checks for packages.
AC_DEFUN([_PAWL_STATIC_REQUIRE], [
AC_MSG_CHECKING([whether pkg-config --static $1 links])
pawl_save_LIBS=$LIBS
LIBS="`$PKG_CONFIG --static --libs $1` $LIBS"
AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
	[AC_MSG_RESULT([yes])
	PAWL_PC_REQUIRES="$PAWL_PC_REQUIRES $1 >= $2"],
	[AC_MSG_RESULT([no])
	PAWL_PC_LIBS="$PAWL_PC_LIBS `$PKG_CONFIG --libs $1`"])
LIBS=$pawl_save_LIBS
])
# PAWL_RPATH: programs find the library in libdir, unless the system's loader looks there anyhow.
AC_DEFUN([PAWL_RPATH], [
pawl_dir=$libdir
pawl_prefix=$prefix
AS_IF([test "x$pawl_prefix" = xNONE], [pawl_prefix=$ac_default_prefix])
pawl_dir=`echo "$pawl_dir" | sed "s|\${exec_prefix}|$exec_prefix|; s|^NONE|\${prefix}|; s|\${prefix}|$pawl_prefix|"`
AS_CASE([$pawl_dir],
	[/usr/lib|/usr/lib/*|/usr/lib64|/lib|/lib/*|/lib64], [PAWL_PC_RPATH=],
	[PAWL_PC_RPATH=' -Wl,-rpath,${libdir}'])
AC_SUBST([PAWL_PC_RPATH])
])
AC_DEFUN([PAWL_STATIC_REQUIRES], [
PAWL_PC_REQUIRES=
PAWL_PC_LIBS=
_PAWL_STATIC_REQUIRE([hwloc], [2.0])
AS_IF([test "x$pawl_have_UCX" = xyes], [_PAWL_STATIC_REQUIRE([ucx], [1.13])])
AC_SUBST([PAWL_PC_REQUIRES])
AC_SUBST([PAWL_PC_LIBS])
dnl The same as flags of the linker, for CMake.
PAWL_STATIC_LIBS="$PAWL_PC_LIBS"
AS_FOR([], [pawl_required], [$PAWL_PC_REQUIRES], [AS_CASE([$pawl_required], [[[a-z]*]],
	[PAWL_STATIC_LIBS="$PAWL_STATIC_LIBS `$PKG_CONFIG --static --libs $pawl_required`"])])
PAWL_STATIC_LIBS="$PAWL_STATIC_LIBS $LIBS"
AC_SUBST([PAWL_STATIC_LIBS])
])

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
AC_DEFUN([PAWL_STATIC_REQUIRES], [
PAWL_PC_REQUIRES=
PAWL_PC_LIBS=
_PAWL_STATIC_REQUIRE([hwloc], [2.0])
AS_IF([test "x$pawl_have_UCX" = xyes], [_PAWL_STATIC_REQUIRE([ucx], [1.13])])
AC_SUBST([PAWL_PC_REQUIRES])
AC_SUBST([PAWL_PC_LIBS])
])

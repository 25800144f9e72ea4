# SPDX-License-Identifier: BSD-3-Clause
# A missing piece names the Debian package that has it.

m4_ifndef([PKG_CHECK_MODULES],
	[m4_fatal([pkg.m4 is missing: apt-get install pkg-config])])

# PAWL_MISSING(WHAT, DEBIAN-PACKAGE)
AC_DEFUN([PAWL_MISSING], [AC_MSG_ERROR([$1 is missing: apt-get install $2])])

AC_DEFUN([PAWL_PROG_PKG_CONFIG], [
PKG_PROG_PKG_CONFIG([0.28])
AS_IF([test "x$PKG_CONFIG" = x], [PAWL_MISSING([pkg-config], [pkg-config])])
])

# PAWL_CHECK_PACKAGE(PREFIX, MODULE, VERSION, DEBIAN-PACKAGE)
# A required library: PREFIX_CFLAGS, PREFIX_LIBS and PREFIX_VERSION.
AC_DEFUN([PAWL_CHECK_PACKAGE], [
AC_REQUIRE([PAWL_PROG_PKG_CONFIG])dnl
PKG_CHECK_MODULES([$1], [$2 >= $3], [],
	[PAWL_MISSING([$2 (>= $3)], [$4])])
$1_VERSION=`$PKG_CONFIG --modversion $2 2>/dev/null`
AS_IF([test "x$$1_VERSION" = x], [$1_VERSION="by $1_CFLAGS and $1_LIBS"])
])

# PAWL_FIND_PACKAGE(PREFIX, MODULE, VERSION, DEBIAN-PACKAGE)
# An optional library: only looked for, pawl_have_PREFIX (yes, no) and
# pawl_text_PREFIX for the report.
AC_DEFUN([PAWL_FIND_PACKAGE], [
AC_REQUIRE([PAWL_PROG_PKG_CONFIG])dnl
AC_MSG_CHECKING([for $2 >= $3 (optional)])
PKG_CHECK_EXISTS([$2 >= $3], [
	pawl_have_$1=yes
	pawl_text_$1="yes (optional), "`$PKG_CONFIG --modversion $2`
], [
	pawl_have_$1=no
	pawl_text_$1="no (optional, >= $3: apt-get install $4)"
])
AC_MSG_RESULT([$pawl_have_$1])
])

# PAWL_FIND_PROGRAM(VARIABLE, PROGRAM, DEBIAN-PACKAGE)
# An optional tool.
AC_DEFUN([PAWL_FIND_PROGRAM], [
AC_PATH_PROG([$1], [$2])
AS_IF([test "x$$1" = x],
	[pawl_text_$1="no (optional: apt-get install $3)"],
	[pawl_text_$1="yes (optional), $$1"])
])

# SPDX-License-Identifier: BSD-3-Clause
# PAWL_TRY_UCX: after PAWL_FIND_PACKAGE([UCX]). Option --with-ucx, by default if it is
# there: UCX_CFLAGS, UCX_LIBS and the conditional HAVE_UCX, or nothing.
AC_DEFUN([PAWL_TRY_UCX], [
AC_ARG_WITH([ucx], [AS_HELP_STRING([--with-ucx],
	[the transport over UCX (default: if UCX is there)])], [], [with_ucx=auto])
AS_CASE([$with_ucx],
	[yes], [AS_IF([test "x$pawl_have_UCX" = xno],
		[PAWL_MISSING([ucx (>= 1.13), which --with-ucx asks for,], [libucx-dev])])],
	[no], [
		pawl_have_UCX=no
		pawl_text_UCX="no (configured --without-ucx)"
	],
	[auto], [],
	[AC_MSG_ERROR([--with-ucx=$with_ucx: takes yes, no or auto])])
AS_IF([test "x$pawl_have_UCX" = xyes], [
	PKG_CHECK_MODULES([UCX], [ucx >= 1.13])
	UCX_CFLAGS="-DPAWL_HAVE_UCX $UCX_CFLAGS"
], [UCX_CFLAGS= UCX_LIBS=])
AC_SUBST([UCX_CFLAGS])
AC_SUBST([UCX_LIBS])
AM_CONDITIONAL([HAVE_UCX], [test "x$pawl_have_UCX" = xyes])
])

# SPDX-License-Identifier: BSD-3-Clause
# PAWL_TRY_UCX: after PAWL_FIND_PACKAGE([UCX]). Option --with-ucx, by default if it is
# there: UCX_CFLAGS, UCX_LIBS and the conditional HAVE_UCX, or nothing; HAVE_UCT: UCT, one level
# below, has what src/rma/ucx/device.c needs.
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
	pawl_saved_CFLAGS=$CFLAGS pawl_saved_LIBS=$LIBS
	CFLAGS="$CFLAGS $UCX_CFLAGS" LIBS="-luct -lucs $UCX_LIBS $LIBS"
	AC_CACHE_CHECK([for UCT], [pawl_cv_uct], [AC_LINK_IFELSE([AC_LANG_PROGRAM(
		[[#include <uct/api/uct.h>]],
		[[uct_rkey_bundle_t key;
		uct_completion_t done = {.count = 1};
		uint64_t found;
		uct_ep_h ep = 0;
		uct_iface_h iface = 0;
		uct_component_h component = 0;
		int status = uct_rkey_unpack(component, &found, &key);

		status |= uct_iface_event_arm(iface, UCT_EVENT_SEND_COMP);
		status |= uct_ep_atomic64_fetch(ep, UCT_ATOMIC_OP_ADD, 1, &found, 0, key.rkey, &done);
		return status | uct_ep_atomic_cswap64(ep, 0, 1, 0, key.rkey, &found, &done);]])],
		[pawl_cv_uct=yes], [pawl_cv_uct=no])])
	CFLAGS=$pawl_saved_CFLAGS LIBS=$pawl_saved_LIBS
	AS_IF([test "x$pawl_cv_uct" = xyes], [
		UCX_CFLAGS="-DPAWL_HAVE_UCT $UCX_CFLAGS"
		UCX_LIBS="-luct -lucs $UCX_LIBS"
		pawl_text_UCX="$pawl_text_UCX, devices with few atomics by UCT"
	], [pawl_text_UCX="$pawl_text_UCX, without UCT: devices with few atomics by messages"])
], [UCX_CFLAGS= UCX_LIBS= pawl_cv_uct=no])
AC_SUBST([UCX_CFLAGS])
AC_SUBST([UCX_LIBS])
AM_CONDITIONAL([HAVE_UCX], [test "x$pawl_have_UCX" = xyes])
AM_CONDITIONAL([HAVE_UCT], [test "x$pawl_cv_uct" = xyes])
])

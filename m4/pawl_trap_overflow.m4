# SPDX-License-Identifier: BSD-3-Clause

# PAWL_CHECK_TRAP_OVERFLOW: flags under which a program ends at a signed overflow, in
# TRAP_OVERFLOW_CFLAGS; empty where the compiler has none that need no library.
AC_DEFUN([PAWL_CHECK_TRAP_OVERFLOW], [
	AC_MSG_CHECKING([for traps at signed overflow])
	pawl_saved_CFLAGS=$CFLAGS
	TRAP_OVERFLOW_CFLAGS="-fsanitize=signed-integer-overflow -fsanitize-undefined-trap-on-error"
	CFLAGS="$CFLAGS $TRAP_OVERFLOW_CFLAGS -Werror"
	AC_LINK_IFELSE([AC_LANG_PROGRAM([], [[volatile int i = 1; return -i > 0;]])],
		[AC_MSG_RESULT([yes])],
		[AC_MSG_RESULT([no])
		 TRAP_OVERFLOW_CFLAGS=])
	CFLAGS=$pawl_saved_CFLAGS
	AC_SUBST([TRAP_OVERFLOW_CFLAGS])
])

# SPDX-License-Identifier: BSD-3-Clause

# PAWL_CHECK_WARNINGS(FLAGS): those FLAGS that the compiler takes, in
# WARN_CFLAGS, and those of C++ in WARN_CXXFLAGS; with --enable-werror they stop the build.
AC_DEFUN([PAWL_CHECK_WARNINGS], [
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror],
	[warnings are errors])], [], [enable_werror=no])
WARN_CFLAGS=
WARN_CXXFLAGS="-Wall -Wextra"
pawl_refused=
pawl_save_CFLAGS=$CFLAGS
for pawl_flag in m4_normalize([$1]); do
	AS_VAR_PUSHDEF([pawl_cv], [pawl_cv_flag_$pawl_flag])dnl
	AC_CACHE_CHECK([whether $CC takes $pawl_flag], [pawl_cv], [
		CFLAGS="$pawl_save_CFLAGS -Werror $pawl_flag"
		AC_COMPILE_IFELSE([AC_LANG_SOURCE([[#include <mpi.h>
			int pawl_dummy;]])],
			[AS_VAR_SET([pawl_cv], [yes])], [AS_VAR_SET([pawl_cv], [no])])
	])
	AS_VAR_IF([pawl_cv], [yes],
		[WARN_CFLAGS="$WARN_CFLAGS $pawl_flag"],
		[pawl_refused="$pawl_refused $pawl_flag"])
	AS_VAR_POPDEF([pawl_cv])dnl
done
CFLAGS=$pawl_save_CFLAGS
pawl_warnings_text=`set -- $WARN_CFLAGS; AS_ECHO(["$][#"])`" flags"
AS_IF([test "x$pawl_refused" != x],
	[pawl_warnings_text="$pawl_warnings_text, without$pawl_refused"])
AS_IF([test "x$enable_werror" = xyes], [
	WARN_CFLAGS="$WARN_CFLAGS -Werror"
	WARN_CXXFLAGS="$WARN_CXXFLAGS -Werror"
	pawl_warnings_text="$pawl_warnings_text, are errors"
])
AC_SUBST([WARN_CFLAGS])
AC_SUBST([WARN_CXXFLAGS])
])

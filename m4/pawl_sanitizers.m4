# SPDX-License-Identifier: BSD-3-Clause

# PAWL_ENABLE_SANITIZERS: --enable-sanitizers[=LIST] builds everything with the sanitizers of
# the compiler in LIST: address,undefined (the default) or thread. A finding ends the program.
AC_DEFUN([PAWL_ENABLE_SANITIZERS], [
AC_ARG_ENABLE([sanitizers], [AS_HELP_STRING([--enable-sanitizers@<:@=LIST@:>@],
	[build with sanitizers: "address,undefined" (default of LIST) or "thread"])],
	[], [enable_sanitizers=no])
AS_CASE([$enable_sanitizers],
	[yes], [enable_sanitizers=address,undefined],
	[no | address | undefined | thread | address,undefined | undefined,address], [],
	[AC_MSG_ERROR([--enable-sanitizers=$enable_sanitizers: LIST is address, undefined, address,undefined or thread])])
AS_IF([test "x$enable_sanitizers" != xno], [
	AS_IF([test "x$CFLAGS" = "x-g -O2"], [CFLAGS="-g -O1" CXXFLAGS="-g -O1"])
	pawl_flags="-fsanitize=$enable_sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer"
	pawl_save_CFLAGS=$CFLAGS
	CFLAGS="$CFLAGS $pawl_flags"
	AC_MSG_CHECKING([whether $CC links with -fsanitize=$enable_sanitizers])
	AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])], [
		AC_MSG_RESULT([no])
		AC_MSG_ERROR([$CC lacks the run-time library of these sanitizers])
	])
	CFLAGS="$pawl_save_CFLAGS $pawl_flags"
	CXXFLAGS="$CXXFLAGS $pawl_flags"
])
])

# SPDX-License-Identifier: BSD-3-Clause
# PAWL_SYMBOL_VERSIONS: whether the linker gives versions to symbols (src/libpawl.map). Without them
# libpawl.so exports the same names.
AC_DEFUN([PAWL_SYMBOL_VERSIONS], [
AC_CACHE_CHECK([whether the linker gives versions to symbols], [pawl_cv_symbol_versions], [
pawl_save_LDFLAGS=$LDFLAGS
LDFLAGS="$LDFLAGS -shared -fPIC -Wl,--version-script=$srcdir/src/libpawl.map"
dnl Some linkers refuse a list with a name that is not defined.
pawl_symbols=`sed -n 's/^	*\(pawl_.*\);$/int \1(void) { return 1; }/p' "$srcdir/src/libpawl.map"`
AC_LINK_IFELSE([AC_LANG_SOURCE([[$pawl_symbols]])],
	[pawl_cv_symbol_versions=yes], [pawl_cv_symbol_versions=no])
LDFLAGS=$pawl_save_LDFLAGS])
AM_CONDITIONAL([SYMBOL_VERSIONS], [test "$pawl_cv_symbol_versions" = yes])
])

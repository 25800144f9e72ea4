#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What make install leaves is enough for a user: header, library, pkg-config.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

install_it()
{
	unset MAKEFLAGS MFLAGS MAKELEVEL
	make -C "$builddir" install DESTDIR="$dir" >"$dir/log" 2>&1 || { tail "$dir/log"; return 1; }
}
check "make install DESTDIR" install_it

pc=$(find "$dir" -name pawl.pc)
check "pawl.pc is installed" test -n "$pc"
export PKG_CONFIG_PATH="${pc%/*}${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
prefix=$("$PKG_CONFIG" --variable=prefix pawl)
# The flags that a user would get, were DESTDIR not in front of the prefix.
flags()
{
	"$PKG_CONFIG" "$@" pawl | sed "s|\(-[IL]\)$prefix|\1$dir$prefix|g"
}

# CC may be several words.
compile()
{
	$CC "$@"
}
echo '#include <pawl.h>' >"$dir/alone.c"
echo 'const char *(*version)(void) = pawl_version;' >>"$dir/alone.c"
check "pawl.h alone, as C11" \
	compile -std=c11 -pedantic -Wall -Werror $(flags --cflags) -c "$dir/alone.c" -o "$dir/alone.o"
cp "$dir/alone.c" "$dir/alone.cc"
name="pawl.h alone, as C++"
cxx=$(printf %s "$CC" | sed 's/mpicc/mpicxx/')
if command -v $cxx >/dev/null; then
	check "$name" $cxx -Wall -Werror $(flags --cflags) -c "$dir/alone.cc" -o "$dir/alone.o"
else
	skip "$name" "no $cxx"
fi
check "pkg-config pawl builds an example" \
	compile "$srcdir/examples/counter.c" -o "$dir/counter" $(flags --cflags --libs)

so=$(find "$dir" -name libpawl.so)
run_it()
{
	LD_LIBRARY_PATH="${so%/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" mpi_run 2 60 "$dir/counter"
}
name="the example runs with the installed library"
if [ -n "$so" ] && mpi_can_run; then
	check "$name" run_it
else
	skip "$name" "no shared library or no launcher"
fi

finish

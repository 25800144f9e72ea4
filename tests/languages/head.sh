# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests of the languages, after tap.sh and mpirun.sh: a folder for their files, and
# the flags to link with the library of the build tree.

mpi_can_run || skip_all "configured without a launcher"
[ -e "$builddir/.libs/libpawl.so" ] || skip_all "no shared library in this build"
sources=$srcdir/tests/languages
work=$builddir/${0##*/}.$$.tmp
mkdir "$work" || exit 1
trap 'rm -rf "$work"' EXIT
libs="-L$builddir/.libs -lpawl -Wl,-rpath,$builddir/.libs"

# block FILE NAME: the code of a document that stands after the line <!-- example: NAME -->.
block()
{
	sed -n "/^<!-- example: $2 -->/,/^\`\`\`\$/p" "$1" | sed -e '/^<!--/d' -e '/^```/d'
}

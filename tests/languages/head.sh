# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests of the languages, after tap.sh and mpirun.sh: a folder for their files, and
# the flags to link with the library of the build tree.

mpi_can_run || skip_all "configured without a launcher"
[ -e "$builddir/.libs/libpawl.so" ] || skip_all "no shared library in this build"
sources=$srcdir/tests/languages
make_tmp
work=$tmp
libs="-L$builddir/.libs -lpawl -Wl,-rpath,$builddir/.libs"

# block FILE NAME: the code of a document that stands after the line <!-- example: NAME -->.
block()
{
	sed -n "/^<!-- example: $2 -->/,/^\`\`\`\$/p" "$1" | sed -e '/^<!--/d' -e '/^```/d'
}

# document NAME WORD FILE: write the program in doc/languages.md, which has the word.
document()
{
	block "$srcdir/doc/languages.md" "$1" >"$3"
	grep -q "$2" "$3" || { echo "no program in doc/languages.md"; return 1; }
}

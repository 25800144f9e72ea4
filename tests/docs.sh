#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The manual pages are clean and complete, and all places agree on the version.

. "$srcdir/tests/tap.sh"

clean()
{
	said=$(groff -ww -man -Tutf8 -rHY=0 -z "$1" 2>&1)
	[ -z "$said" ] || { printf '%s\n' "$said"; return 1; }
}
for page in "$builddir"/man/*.[17] "$builddir/man/pawl.3"; do
	name="groff has no complaint about ${page##*/}"
	if command -v groff >/dev/null; then
		check "$name" clean "$page"
	else
		skip "$name" "no groff"
	fi
done

functions_clean()
{
	for page in "$builddir"/man/pawl_*.3; do
		clean "$page" || return 1
	done
}
if command -v groff >/dev/null; then
	check "nor about the pages of functions" functions_clean
else
	skip "nor about the pages of functions" "no groff"
fi

# mark_is_missed TEXT
mark_is_missed()
{
	! printf '%s\n' "$1" | "$srcdir/build-aux/man-page" x 1 0 >/dev/null 2>&1
}
open_marks()
{
	mark_is_missed 'a `b' && mark_is_missed 'a *b c' && mark_is_missed '`a*' &&
		! mark_is_missed '`a*` \* *b*'
}
check "a mark in a manual page that is not closed is an error" open_marks

trap 'rm -f docs.tmp' EXIT
# Those that pawl.h declared when configure was made.
one_page_each()
{
	"$srcdir/build-aux/man-function" "$srcdir/include/pawl.h" | sort >docs.tmp
	(cd "$builddir/man" && ls pawl_*.3) | sed 's/\.3$//' | diff docs.tmp - &&
		[ "$(wc -l <docs.tmp)" -ge 20 ] || { echo "run ./autogen.sh"; return 1; }
}
check "there is a page for every function, and no other" one_page_each

# in_page WORD...: every word is in pawl.3, as a whole word.
in_page()
{
	bad=0
	[ $# -gt 0 ] || { echo "nothing to look for"; return 1; }
	for word; do
		grep -qwF -e "$word" docs.tmp || { echo "not in the page: $word"; bad=1; }
	done
	return $bad
}
# Without escapes for groff.
sed 's/\\-/-/g; s/\\&//g; s/\\f[A-Z]//g' "$builddir/man/pawl.3" >docs.tmp
check "pawl(3) has every function" in_page $(pawl_functions)
check "pawl(3) has every constant" \
	in_page $(pawl_h | grep -oE '^[[:space:]]*PAWL_[A-Z_]+' | sort -u)
check "pawl(3) has every field of the structures" \
	in_page $(pawl_h | awk '/^struct.*{/ { on = 1; next } /^}/ { on = 0 } on' |
		grep -oE '[a-z_]+(\[2\])?[,;]' | sed 's/[^a-z_].*//' | sort -u)
check "doc/options.md, and so pawl(3), has the table of options (make option-tables)" \
	"$srcdir/build-aux/option-tables" "$builddir/tools/option-table" --check

python_module()
{
	awk -f "$srcdir/build-aux/pawl.h.awk" -f "$srcdir/build-aux/python-module.awk" \
		"$srcdir/include/pawl.h" >docs.tmp && diff "$srcdir/python/pawl/_header.py" docs.tmp
}
check "package pawl of Python has pawl.h (make python-module)" python_module

# Those that the library reads by name, and those of the layers; others are options.
every_variable()
{
	sed 's/\\-/-/g; s/\\f[A-Z]//g' "$builddir"/man/*.[37] >docs.tmp
	# shellcheck disable=SC2046 # a list of words
	in_page $(grep -rhoE '"PAWL_[A-Z0-9_]+"' "$srcdir/src" | tr -d '"' | sort -u)
}
check "the manual has every variable that the library reads" every_variable

# every_option PROGRAM: each long option of its --help is in its page.
every_option()
{
	options=$("$builddir/$1" --help | grep -oE -e '--[a-z][a-z-]*' | sort -u)
	sed 's/\\-/-/g; s/\\&//g; s/\\f[A-Z]//g' "$builddir/man/${1##*/}.1" >docs.tmp
	in_page $options
}
check "pawl-bench(1) has every option" every_option benchmarks/pawl-bench
check "pawl-info(1) has every option" every_option tools/pawl-info
for name in pawl-sim pawl-tune; do
	if [ -x "$builddir/benchmarks/sim/$name" ]; then
		check "$name(1) has every option" every_option benchmarks/sim/$name
	else
		skip "$name(1) has every option" "configured without SimGrid"
	fi
done

# has_table FILE: the table of capabilities, line by line.
has_table()
{
	"$builddir/benchmarks/pawl-bench" --list | sed -n '/^Capabilities:/,/^$/s/^  //p' |
		sed 's/ *$//' >docs.tmp
	[ -s docs.tmp ] || { echo "pawl-bench --list has no capabilities"; return 1; }
	sed 's/\\-/-/g' "$1" | grep -xF -f docs.tmp | diff docs.tmp - && return
	echo "${1##*/} is to have the lines marked <, from pawl-bench --list"
	return 1
}
check "README.md has the table of capabilities" has_table "$srcdir/README.md"
check "doc/locks.md has the table of capabilities" has_table "$srcdir/doc/locks.md"
check "pawl(3) has the table of capabilities" has_table "$builddir/man/pawl.3"

# The lines of doc/measured/coverage-reasons name what is there, in the folders that make coverage reports.
reasons()
{
	folders=$(sed -n 's/.*--filter ".srcdir.(src.(\(.*\))|baselines).".*/\1/p' \
		"$srcdir/build-aux/coverage" | tr '|' ' ')
	[ -n "$folders" ] || { echo "build-aux/coverage names no folders"; return 1; }
	# shellcheck disable=SC2086 # a list of folders
	sources=$(cd "$srcdir" && (cd src && find $folders -name '*.[ch]') | sed 's,^,src/,' &&
		find baselines -name '*.[ch]')
	bad=0
	while read -r file what _; do
		case $file in
		'' | '#'* | =) continue ;;
		line) (cd "$srcdir" && grep -qE -e "$what" $sources) && continue ;;
		'*') (cd "$srcdir" && grep -qE "^[A-Za-z].*\<$what\(" $sources) && continue ;;
		*)
			of=$(printf '%s\n' $sources | grep "/$file\$")
			[ "$what" != '*' ] || what='[a-z_]+'
			[ -n "$of" ] && (cd "$srcdir" && grep -qE "^[A-Za-z].*\<$what\(" $of) && continue
			;;
		esac
		echo "doc/measured/coverage-reasons: there is no $file $what"
		bad=1
	done <"$srcdir/doc/measured/coverage-reasons"
	return $bad
}
check "reasons why lines are not reached name lines that exist" reasons

versions()
{
	header=$(pawl_h | awk '/define PAWL_VERSION_/ { v = v "." $3 } END { print substr(v, 2) }')
	news=$(grep -m 1 -oE '^[0-9]+\.[0-9.]+' "$srcdir/NEWS")
	pc=$(sed -n 's/^Version: //p' "$builddir/pawl.pc")
	python=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$srcdir/python/pyproject.toml")
	module=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$srcdir/python/pawl/__init__.py")
	echo "configure.ac $TEST_VERSION, pawl.h $header, NEWS $news, pawl.pc $pc, Python $python, $module"
	one=$TEST_VERSION
	[ "$one,$one,$one,$one,$one" = "$header,$news,$pc,$python,$module" ]
}
check "one version everywhere" versions

finish

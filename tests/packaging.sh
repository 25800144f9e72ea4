#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The recipes for Spack, EasyBuild and Debian agree with configure and with what is installed.

. "$srcdir/tests/tap.sh"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
command -v python3 >/dev/null || skip_all "no python3"
export PYTHONDONTWRITEBYTECODE=1

"$srcdir/configure" --help >"$dir/help"

# The options that configure has; it only warns of others.
options()
{
	options_bad=0
	for option in $(sed -n 's/^option //p' "$dir/recipe"); do
		name=$(echo "$option" | sed -E 's/^--(with|without|enable|disable)-//')
		grep -qE "^  --(with|without|enable|disable)-$name\b" "$dir/help" && continue
		echo "configure has no $option"
		options_bad=1
	done
	grep -q '^option' "$dir/recipe" && [ $options_bad = 0 ]
}
version()
{
	! grep '^version' "$dir/recipe" | grep -vxF "version $TEST_VERSION" && grep -q ^version "$dir/recipe"
}
# The versions that configure.ac asks for.
versions()
{
	sed -nE 's/^PAWL_(CHECK|FIND)_PACKAGE\(\[[A-Z]+\], \[([a-z]+)\], \[([0-9.]+)\].*/\2 \3/p' \
		"$srcdir/configure.ac" >"$dir/asked"
	versions_bad=0
	while read -r word package found; do
		case $word in
		requires | has) asked=$(sed -n "s/^$package //p" "$dir/asked") ;;
		esac
		case $word in
		requires)
			[ "$package" = mpi ] || [ "${asked%.0}" = "$found" ] && continue
			;;
		has)
			[ "$(printf '%s\n' "$asked" "$found" | sort -V | sed 1q)" = "$asked" ] && continue
			;;
		*) continue ;;
		esac
		echo "$word $package $found: configure.ac asks for ${asked:-nothing}"
		versions_bad=1
	done <"$dir/recipe"
	[ $versions_bad = 0 ] && grep -qE '^(requires|has) hwloc' "$dir/recipe"
}
for recipe in "$srcdir/packaging/spack/package.py" "$srcdir"/packaging/easybuild/*.eb; do
	name=${recipe#"$srcdir/packaging/"}
	recipe()
	{
		python3 "$srcdir/tests/packaging/recipes.py" "$recipe" >"$dir/recipe"
	}
	check "$name is executed" recipe
	check "$name: its options are those of configure" options
	check "$name: the version" version
	check "$name: the versions of packages are those of configure.ac" versions
done

# Each option of configure in debian/rules, and the version.
debian()
{
	grep -oE -- '--with(out)?-[a-z-]+' "$srcdir/debian/rules" | sed 's/^/option /' >"$dir/recipe"
	options && sed -n '1s/pawl (\([0-9.]*\)).*/version \1/p' "$srcdir/debian/changelog" >"$dir/recipe" &&
		version
}
check "debian: options of configure, and the version" debian

finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Scripts that root runs trust no folder with a known name that another user may have made: a root of
# tests/debian, the libraries of tests/cross, the state of tests/netcluster.

. "$srcdir/tests/tap.sh"

dir=$(mktemp -d "${TMPDIR:-/tmp}/pawl-own.XXXXXX")
trap 'rm -rf "$dir"' EXIT
own=$srcdir/build-aux/own-folder

refused()
{
	if "$own" "$1" 2>"$dir/said"; then
		echo "taken"
		return 1
	fi
	cat "$dir/said"
	grep -q "is not ours" "$dir/said"
}

ours()
{
	"$own" "$dir/new/one" 700 && [ "$(stat -c %a "$dir/new/one")" = 700 ] && "$own" "$dir/new/one"
}
check "a new folder, and again" ours
mkdir -m 775 "$dir/shared" && chmod 775 "$dir/shared"
check "not one that a group may write to" refused "$dir/shared"
mkdir -m 1777 "$dir/open" && chmod 1777 "$dir/open"
check "not one that all may write to" refused "$dir/open"
ln -s new "$dir/link"
check "not a link" refused "$dir/link"
touch "$dir/file"
check "not a file" refused "$dir/file"

# trusts_none SCRIPT ARGUMENT...: another user has made the folder, with all that the script looks
# for, and a program that leaves a file.
trusts_none()
{
	PAWL_ROOTS=$dir/roots PATH=$dir/bin:$PATH MIRROR=http://localhost/ \
		TMPDIR=$dir/tmp timeout 60 "$@" >"$dir/said" 2>&1
	cat "$dir/said"
	[ ! -e "$dir/ran" ] && grep -q "is not ours" "$dir/said"
}
if [ "$(id -u)" = 0 ]; then
	mkdir -p "$dir/bin" "$dir/tmp/pawl-netcluster.0/pawl" "$dir/roots/some/usr/bin"
	for program in bin/mmdebstrap roots/some/usr/bin/umount roots/some/usr/bin/true; do
		printf '#!/bin/sh\ntouch "%s/ran"\n' "$dir" >"$dir/$program"
		chmod +x "$dir/$program"
	done
	touch "$dir/roots/some/.complete"
	echo 2 >"$dir/tmp/pawl-netcluster.0/pawl/hosts"
	cp "$dir/bin/mmdebstrap" "$dir/tmp/pawl-netcluster.0/pawl/rsh"
	chown -R 65534 "$dir/roots" "$dir/tmp"
	check "not one of another user" refused "$dir/roots"
	check "tests/debian" trusts_none "$srcdir/tests/debian" some true
	check "tests/cross" trusts_none "$srcdir/tests/cross" --build-only arm64
	for command in "status" "run -n 2 true" "up 2" "down"; do
		check "tests/netcluster ${command%% *}" trusts_none "$srcdir/tests/netcluster" $command
	done
else
	check "not one of another user" refused /usr
	for script in debian cross "netcluster status" "netcluster run" "netcluster up" "netcluster down"; do
		skip "tests/$script" "only root runs it"
	done
fi

finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# debian/: dpkg-buildpackage makes packages, lintian accepts them, and in a root of their own
# (as root, with mmdebstrap) they are installed and debian/tests/programs passes, run by autopkgtest
# where apt has it.
#
# TEST_SUITE is the release of Debian (default: the one of this machine), PAWL_ROOTS the folder in
# which the root without the packages is kept, as for tests/debian.

. "$srcdir/tests/tap.sh"

[ "$TEST_MPI" = openmpi ] || skip_all "once, with Open MPI: the packages are for both MPIs"
for program in dpkg-buildpackage dh lintian fakeroot; do
	command -v $program >/dev/null || skip_all "no $program"
done
[ -d "$srcdir/debian" ] || skip_all "no debian/ in this archive"

dir=$(mktemp -d "${TMPDIR:-/var/tmp}/pawl-package.XXXXXX")
trap 'rm -rf "$dir"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL CC
mkdir "$dir/pawl"
tar -C "$srcdir" --exclude=./build --exclude=./.git --exclude='./debian/build' -cf - . |
	tar -C "$dir/pawl" -xf -
[ ! -e "$dir/pawl/Makefile" ] || make -C "$dir/pawl" -s distclean >"$dir/log" 2>&1

build()
{
	(
		cd "$dir/pawl" || exit
		[ ! -d /usr/lib/ccache ] || export PATH="/usr/lib/ccache:$PATH"
		DEB_BUILD_OPTIONS=parallel=2 dpkg-buildpackage -us -uc -b
	) >"$dir/log" 2>&1 || { tail -n 30 "$dir/log"; return 1; }
}
check "dpkg-buildpackage" build
packages=$(find "$dir" -maxdepth 1 -name '*.deb' ! -name '*-dbgsym_*')

contents()
{
	for mpi in openmpi mpich; do
		dpkg-deb -c "$dir"/libpawl-${mpi}0_*.deb | grep "libpawl-$mpi.so.0.0.0" &&
			dpkg-deb -c "$dir"/libpawl-$mpi-dev_*.deb | grep "/pawl-$mpi.pc" || return
		! dpkg-deb -c "$dir"/libpawl-$mpi-dev_*.deb | grep '/pawl\.pc\|/libpawl\.so' || return
	done
	[ "$(echo "$packages" | wc -l)" = 10 ]
}
check "ten packages, and no file that both MPIs would have" contents

accepted()
{
	lintian --allow-root --fail-on error,warning "$dir"/*.changes
}
check "lintian finds no error and no warning" accepted

# The root: what the tests need besides these packages.
suite=${TEST_SUITE:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
mirror=$("$srcdir/build-aux/debian-mirror")
root=${PAWL_ROOTS:-/var/tmp/pawl-roots}/$suite-package
make_root()
{
	"$srcdir/build-aux/own-folder" "${root%/*}" || return
	[ ! -e "$root/.complete" ] || return 0
	rm -rf -- "$root"
	mmdebstrap --quiet --variant=minbase "$suite" "$root" "$mirror" \
		--include=build-essential,cmake,gfortran,pkg-config,libopenmpi-dev,openmpi-bin \
		--include=libmpich-dev,mpich,libhwloc-dev,libucx-dev,python3-mpi4py && touch "$root/.complete"
}
installed()
{
	make_root || return
	rm -rf -- "$root/pawl" && mkdir -p "$root/pawl/tree" && cp $packages "$root/pawl" &&
		cp -r "$srcdir/debian" "$srcdir/examples" "$root/pawl/tree" || return
	# shellcheck disable=SC2016 # for the inner shells
	timeout -k 5 1200 unshare --mount --pid --fork --propagation private sh -c '
		mount -t proc proc "$1/proc" && mount --rbind /sys "$1/sys" &&
			mount --rbind /dev "$1/dev" &&
			mount -t tmpfs tmpfs "$1/tmp" && mount -t tmpfs tmpfs "$1/run" &&
			exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
				DEBIAN_FRONTEND=noninteractive chroot "$1" sh -e -c "
				cd /pawl
				apt-get -q update
				apt-get -q -y --no-install-recommends --reinstall --allow-downgrades \
					install ./*.deb
				if apt-get -q -y --no-install-recommends install autopkgtest; then
					# The null runner: this root is the machine under test.
					autopkgtest --no-built-binaries ./*.deb tree/ -- null
				else
					cd tree && debian/tests/programs
				fi"
		' installed "$root" </dev/null >"$dir/log" 2>&1 || { tail -n 40 "$dir/log"; return 1; }
	sed -n '/^==/,$p' "$dir/log"
	grep '^programs  *PASS' "$dir/log" || ! grep '^autopkgtest' "$dir/log"
}
name="installed in a root of $suite, debian/tests passes"
if [ "$(id -u)" = 0 ] && command -v mmdebstrap >/dev/null && [ -n "$mirror" ]; then
	check "$name" installed
else
	skip "$name" "only root, with mmdebstrap and a mirror"
fi

finish

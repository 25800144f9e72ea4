#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One prefix has the libraries for two MPIs. A program for each of them is built and runs; one that
# takes the library of the other MPI is told.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

case $TEST_MPI in
openmpi) other=mpich ;;
*) other=openmpi ;;
esac
mine=$(sed -n 's/^PAWL_NAME = //p' "$builddir/Makefile")
[ -e "$builddir/.libs/libpawl.so" ] || skip_all "no shared library in this build"
command -v mpicc.$other >/dev/null && command -v mpirun.$other >/dev/null ||
	skip_all "no mpicc.$other, or no mpirun.$other"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL
prefix=$(sed -n 's/^prefix = //p' "$builddir/Makefile")
installed=$dir/root$prefix

case $TEST_MPI:$(mpirun.openmpi --version | sed -n 's/.* \([0-9]*\)\..*/\1/p;1q') in
mpich:[1-4]) export OMPI_MCA_osc="${OMPI_MCA_osc-^rdma}" ;;
esac

# The library for the other MPI: a build tree, TEST_OTHER_BUILD, or one that is made here, without
# the simulator.
second=${TEST_OTHER_BUILD:-$dir/build}
build()
{
	[ -z "$TEST_OTHER_BUILD" ] || return 0
	compiler=mpicc.$other
	! command -v ccache >/dev/null || compiler="ccache $compiler"
	mkdir "$second" && (
		cd "$second" && "$srcdir/configure" CC="$compiler" CFLAGS=-O1 --prefix="$prefix" \
			--without-simgrid && make -j2
	) >"$dir/log" 2>&1 || { tail -n 20 "$dir/log"; return 1; }
}
check "the library for $other builds" build

install_both()
{
	mkdir -p "$dir/root" && make_install "$dir/root" "$dir/log" &&
		(cd "$installed" && find . -name "*$mine*" -exec cksum {} +) >"$dir/before" &&
		make -C "$second" install DESTDIR="$dir/root" >"$dir/log" 2>&1 ||
		{ tail -n 20 "$dir/log"; return 1; }
}
check "both are installed in one prefix" install_both

kept()
{
	grep -q "libpawl-$mine.so.0" "$dir/before" && grep -q "pawl-bench.$mine" "$dir/before" &&
		(cd "$installed" && find . -name "*$mine*" -exec cksum {} +) | cmp - "$dir/before"
}
check "the second one replaces no file that has the name of the first MPI" kept

libdir=$installed/lib
export PKG_CONFIG_PATH="$libdir/pkgconfig"
last()
{
	[ "$("$PKG_CONFIG" --variable=name pawl)" = $other ] && "$libdir/../bin/pawl-info" --version &&
		readelf -d "$libdir/libpawl.so" | grep SONAME | grep "libpawl-$other"
}
check "the plain names are those of the one installed last" last

# flags PACKAGE: for the staged prefix.
flags()
{
	"$PKG_CONFIG" --cflags --libs "$1" | sed "s!\(-[IL]\|-rpath,\)$prefix!\1$dir/root$prefix!g"
}
# run MPI RANKS PROGRAM: without LD_LIBRARY_PATH.
run()
{
	(
		unset LD_LIBRARY_PATH
		TEST_MPI=$1
		MPIRUN=mpirun.$1
		mpi_run "$2" 60 "$3"
	)
}
# Whether a program has the library for an MPI and no other.
has()
{
	ldd "$1" | grep -o 'libpawl-[a-z]*\.so' >"$dir/has"
	cat "$dir/has"
	[ "$(sort -u "$dir/has")" = "libpawl-$2.so" ]
}
program()
{
	mpicc.$1 "$srcdir/examples/counter.c" -o "$dir/counter-$1" $(flags pawl-$1) &&
		has "$dir/counter-$1" $1 && { ! mpi_can_run || run $1 2 "$dir/counter-$1"; }
}
# preloaded MPI LAYER KIND: a program of one MPI with the layer for another, without a launcher.
preloaded()
{
	mpicc.$1 "$srcdir/tests/packaging/window.c" -o "$dir/window-$1" && LD_LIBRARY_PATH="$libdir" PAWL_LOCK=$3 timeout 60 \
		env LD_PRELOAD="$dir/root$("$PKG_CONFIG" --variable=preload pawl-mpi-$2)" "$dir/window-$1"
}
layer()
{
	preloaded $1 $1 rma-rw && ! preloaded $1 $1 no-such-kind >"$dir/said" 2>&1 &&
		grep 'no window: .*no-such-kind' "$dir/said" || { cat "$dir/said"; return 1; }
}
wrong_layer()
{
	preloaded $1 $2 rma-rw >"$dir/said" 2>&1
	status=$?
	cat "$dir/said"
	[ $status = 1 ] && [ "$(wc -l <"$dir/said")" = 1 ] &&
		grep -q "this libpawl-mpi was built for .* runs with .* (pkg-config pawl-$1)" "$dir/said"
}
wrong()
{
	mpicc.$1 "$srcdir/tests/packaging/wrong_mpi.c" -o "$dir/wrong" $(flags pawl-$2) &&
		(unset LD_LIBRARY_PATH && timeout 60 "$dir/wrong") >"$dir/said" 2>&1
	status=$?
	cat "$dir/said"
	[ $status = 0 ] &&
		grep -q "this libpawl was built for .* runs with .* (pkg-config pawl-$1)" "$dir/said"
}
wrong_archive()
{
	mpicc.$1 "$srcdir/tests/packaging/wrong_mpi.c" -o "$dir/wrong" -I"$installed/include" \
		"$libdir/libpawl-$2.a" $("$PKG_CONFIG" --libs hwloc) >"$dir/said" 2>&1 && return 1
	grep -m 1 'undefined reference' "$dir/said"
}
for one in $TEST_MPI $other; do
	case $one in
	openmpi) another=mpich ;;
	*) another=openmpi ;;
	esac
	check "$one: pkg-config pawl-$one builds a program, which runs by itself" program $one
	check "$one: pawl-bench.$one starts" env LD_LIBRARY_PATH="$libdir/pawl" \
		"$installed/bin/pawl-bench.$one" --version
	check "$one: pawl-mpi-$one is a layer for its programs" layer $one
	check "$one: a program with the library for $another is told" wrong $one $another
	check "$one: with the static one it does not link" wrong_archive $one $another
	check "$one: a program under the layer for $another is told" wrong_layer $one $another
done

mkdir "$dir/found"
cat >"$dir/found/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(example C)
find_package(pawl 0.1 REQUIRED)
message(STATUS "for \${pawl_MPI}")
add_executable(counter counter.c)
target_link_libraries(counter pawl::pawl)
END
# found MPI [ARGUMENT...]
found()
{
	found_mpi=$1
	shift
	rm -rf "$dir/found/build" && cp "$srcdir/examples/counter.c" "$dir/found" &&
		env -u CC cmake -S "$dir/found" -B "$dir/found/build" -Dpawl_DIR="$libdir/cmake/pawl" \
			-DMPI_C_COMPILER=mpicc.$found_mpi "$@" >"$dir/log" 2>&1 &&
		cmake --build "$dir/found/build" >>"$dir/log" 2>&1 || { tail "$dir/log"; return 1; }
}
found_and_run()
{
	found $1 && has "$dir/found/build/counter" $1 &&
		{ ! mpi_can_run || run $1 2 "$dir/found/build/counter"; }
}
wrong_name()
{
	! found $1 -Dpawl_NAME=$2 &&
		tr -s ' \n' ' ' <"$dir/log" | grep "was built for .*$other.*found .*pawl_NAME is $2"
}
for one in $TEST_MPI $other; do
	name="$one: find_package(pawl) takes the library for it"
	if command -v cmake >/dev/null; then
		check "$name" found_and_run $one
	else
		skip "$name" "no cmake"
	fi
done
if command -v cmake >/dev/null; then
	check "find_package(pawl) with pawl_NAME of the other" wrong_name $TEST_MPI $other
fi

python()
{
	sed -i "s|^prefix=.*|prefix=$installed|" "$libdir"/pkgconfig/*.pc &&
		PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$srcdir/python $MPI4PY -c \
			'import pawl; print(pawl.library())' >"$dir/said" &&
		grep "libpawl-$mine.so.0" "$dir/said"
}
name="Python takes the library for mpi4py's MPI"
if [ -n "$MPI4PY" ]; then
	check "$name" python
else
	skip "$name" "no mpi4py for this MPI"
fi

# What is left after make uninstall of one: all of the other, and no name of a file that is gone.
left()
{
	(cd "$installed" && find . -name "*$1*" ! -name '*.la') | grep . && return 1
	(cd "$installed" && find . -xtype l) | grep . && return 1
	(cd "$installed" && find . -name "*$2*" ! -type d -exec cksum {} +) | cmp - "$dir/before-$2" &&
		[ "$("$PKG_CONFIG" --variable=name pawl)" = $2 ] &&
		readelf -d "$libdir/libpawl.so" | grep SONAME | grep "libpawl-$2" &&
		program $2 && LD_LIBRARY_PATH="$libdir/pawl" "$installed/bin/pawl-bench" --version
}
# uninstall BUILD
uninstall()
{
	make -C "$1" uninstall DESTDIR="$dir/root" >"$dir/log" 2>&1 || { tail -n 20 "$dir/log"; return 1; }
}
uninstall_last()
{
	install_both || return
	for one in $mine $other; do
		(cd "$installed" && find . -name "*$one*" ! -type d -exec cksum {} +) >"$dir/before-$one"
	done
	uninstall "$second" && left $other $mine
}
uninstall_first()
{
	install_both && uninstall "$builddir" && left $mine $other
}
uninstall_both()
{
	uninstall "$second" && ! find "$dir/root" ! -type d | grep .
}
check "make uninstall of the last leaves what the first needs" uninstall_last
check "make uninstall of the first leaves what the last needs" uninstall_first
check "make uninstall of both leaves nothing" uninstall_both

finish

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make install installs all that a user needs: header, library, pkg-config.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

unset MAKEFLAGS MFLAGS MAKELEVEL
check "make install DESTDIR" make_install "$dir" "$dir/log"

pc=$(find "$dir" -name pawl.pc)
check "pawl.pc is installed" test -n "$pc"
export PKG_CONFIG_PATH="${pc%/*}${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
prefix=$("$PKG_CONFIG" --variable=prefix pawl)
# The flags that a user gets, with the staged prefix ($DESTDIR) in place of the final one.
flags()
{
	"$PKG_CONFIG" "$@" "${flags_of:-pawl}" | sed "s!\(-[IL]\|-rpath,\)$prefix!\1$dir$prefix!g"
}

# CC may be several words.
compile()
{
	$CC "$@"
}
pages()
{
	pages_bad=0
	for function in $(pawl_functions); do
		page=$(find "$dir" -name "$function.3")
		if [ -z "$page" ]; then
			echo "no page: $function"
			pages_bad=1
		elif command -v groff >/dev/null && [ -n "$(groff -ww -man -Tutf8 -rHY=0 -z "$page" 2>&1)" ]; then
			groff -ww -man -Tutf8 -rHY=0 -z "$page"
			pages_bad=1
		fi
	done
	return $pages_bad
}
check "a manual page for every function" pages

links()
{
	readme=$(find "$dir" -name README.md -path '*doc/pawl/README.md') links_bad=0
	[ -n "$readme" ] || { echo "no README.md"; return 1; }
	for link in $(grep -oE '\]\([A-Za-z][^)#:]*' "$readme" | sed 's/^](//; /^https*$/d'); do
		[ -e "${readme%/*}/$link" ] || { echo "README.md links to $link"; links_bad=1; }
	done
	return $links_bad
}
check "what README.md links to is installed" links

examples()
{
	for example in $(find "$dir" -path '*/examples/*.c'); do
		compile "$example" -o "$dir/example" $(flags --cflags --libs) || return
		examples_seen=yes
	done
	[ "$examples_seen" = yes ]
}
examples_seen=
check "pkg-config pawl builds the installed examples" examples

examples_cxx()
{
	$MPICXX -std=c++17 "$(find "$dir" -path '*/examples/counter.cpp')" -o "$dir/example" \
		$(flags --cflags --libs)
}
name="pkg-config pawl builds the installed example in C++"
if [ -n "$MPICXX" ]; then
	check "$name" examples_cxx
else
	skip "$name" "no C++ compiler for this MPI"
fi

so=$(find "$dir" -name libpawl.so)
examples_fortran()
{
	mkdir "$dir/mod" && (cd "$dir/mod" &&
		$MPIFC "$dir$("$PKG_CONFIG" --variable=fortran pawl)/pawl.F90" \
			"$(find "$dir" -path '*/examples/counter.f90')" -o "$dir/example" $(flags --libs)) ||
		return
	[ -z "$so" ] || ! mpi_can_run || LD_LIBRARY_PATH="${so%/*}" mpi_run 2 60 "$dir/example"
}
name="pkg-config pawl builds the installed example in Fortran, with the module, and it runs"
if [ -n "$MPIFC" ]; then
	check "$name" examples_fortran
else
	skip "$name" "no Fortran compiler for this MPI"
fi

# What EasyBuild looks for after the installation.
easybuild()
{
	python3 "$srcdir/tests/packaging/recipes.py" "$srcdir"/packaging/easybuild/*.eb >"$dir/recipe" &&
		sed -n 's/^installs //p' "$dir/recipe" >"$dir/looked" && [ -s "$dir/looked" ] || return
	while read -r file; do
		[ -e "$dir$prefix/$file" ] || { echo "no $file"; return 1; }
	done <"$dir/looked"
}
name="the files that packaging/easybuild names are installed"
if [ -n "$so" ] && command -v python3 >/dev/null; then
	check "$name" easybuild
else
	skip "$name" "no shared library, or no python3"
fi

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

# Without LD_LIBRARY_PATH, unless the prefix is one that the loader searches.
alone()
{
	(unset LD_LIBRARY_PATH && "$dir/version")
}
version_program()
{
	printf '%s\n' '#include <pawl.h>' '#include <stdio.h>' \
		'int main(void) { return puts(pawl_version()) < 0; }' >"$dir/version.c"
	compile "$dir/version.c" -o "$dir/version" $(flags --cflags --libs) && alone
}
name="a program linked by pkg-config finds the library by itself"
case $("$PKG_CONFIG" --libs pawl) in
*-rpath*) check "$name" version_program ;;
*) skip "$name" "the loader searches $prefix" ;;
esac

# Its library is in a separate folder, which it knows.
installed_bench()
{
	LD_LIBRARY_PATH="${so%/*}/pawl${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
		"$(find "$dir" -path '*/bin/pawl-bench')" --version
}
name="the installed pawl-bench finds its library"
if [ -n "$so" ]; then
	check "$name" installed_bench
else
	skip "$name" "no shared library"
fi

# The static library, with the libraries that it needs, which may be shared.
static_it()
{
	compile "$srcdir/examples/counter.c" -o "$dir/static" \
		$(flags --static --cflags --libs | sed 's/-lpawl-[^ ]* /-l:libpawl.a /')
}
static_run()
{
	(unset LD_LIBRARY_PATH && mpi_run 2 60 "$dir/static")
}
name="pkg-config --static pawl builds an example"
if [ -n "$(find "$dir" -name libpawl.a)" ]; then
	check "$name" static_it
	! mpi_can_run || check "which runs without libpawl.so" static_run
else
	skip "$name" "no static library"
fi

layer()
{
	"$PKG_CONFIG" --libs pawl-mpi && [ -e "$dir$("$PKG_CONFIG" --variable=preload pawl-mpi)" ]
}
check "pawl-mpi.pc names the layer under MPI_Win_lock" layer

# A program without calls that the layer defines: those are in a library of its own. It is linked
# by a linker that keeps what is referred to only, and yet begins with the layer.
printf '%s\n' '#include <mpi.h>' 'int main(void) { int is; return MPI_Initialized(&is); }' \
	>"$dir/begins.c"
begins()
{
	readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(libpawl-mpi\|libmpi\|libmpich\)[-.].*/\1/p' >"$dir/needed"
	cat "$dir/needed"
	[ "$(sed 1q "$dir/needed")" = libpawl-mpi ]
}
begins_linked()
{
	flags_of=pawl-mpi
	compile -Wl,--as-needed "$dir/begins.c" -o "$dir/begins" $(flags --cflags --libs) &&
		begins "$dir/begins"
}
name="a program linked by pkg-config pawl-mpi with --as-needed begins with the layer"
if [ -n "$so" ]; then
	check "$name" begins_linked
else
	skip "$name" "no shared library"
fi
flags_of=

# Those under the locks of runtimes, as far as they are built.
layers()
{
	for layers_one in $(find "$dir" -name 'libpawl-caf.so' -o -name 'libpawl-shmem.so' |
		sed 's|.*/lib||; s|\.so$||'); do
		"$PKG_CONFIG" --libs "$layers_one" &&
			[ -e "$dir$("$PKG_CONFIG" --variable=preload "$layers_one")" ] || return
	done
	[ -z "$(find "$dir" -name 'libpawl-armci.a')" ] || "$PKG_CONFIG" --libs pawl-armci
}
check "so do those of the layers under the locks of runtimes" layers

# As in README.md.
cat >"$dir/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(example C)
find_package(PkgConfig REQUIRED)
pkg_check_modules(PAWL REQUIRED IMPORTED_TARGET pawl)
add_executable(example counter.c)
target_link_libraries(example PkgConfig::PAWL)
find_package(MPI REQUIRED)
pkg_check_modules(LAYER REQUIRED IMPORTED_TARGET pawl-mpi)
add_executable(begins begins.c)
target_link_libraries(begins MPI::MPI_C PkgConfig::LAYER)
END
cmake_it()
{
	mkdir "$dir/pc" && cp "${pc%/*}"/pawl*.pc "$dir/pc" &&
		sed -i "s|^prefix=.*|prefix=$dir$prefix|" "$dir"/pc/*.pc &&
		cp "$srcdir/examples/counter.c" "$dir" &&
		PKG_CONFIG_PATH=$dir/pc cmake -S "$dir" -B "$dir/cmake" \
			-DCMAKE_EXE_LINKER_FLAGS=-Wl,--as-needed \
			-DCMAKE_C_COMPILER="${CC##* }" >"$dir/log" 2>&1 &&
		cmake --build "$dir/cmake" >>"$dir/log" 2>&1 || { tail "$dir/log"; return 1; }
	[ -z "$so" ] || begins "$dir/cmake/begins"
}
name="pkg_check_modules of CMake builds an example"
if command -v cmake >/dev/null; then
	check "$name" cmake_it
else
	skip "$name" "no cmake"
fi

# find_package(pawl), with the staged prefix: the installed files may be moved. With the languages
# that CMake enables if a project names none, where there is a compiler of C++.
mkdir "$dir/found" "$dir/other"
cxx_language=C
! command -v c++ >/dev/null || cxx_language="C CXX"
cat >"$dir/found/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(example ${cxx_language:-C})
find_package(pawl 0.1 REQUIRED)
if(NOT EXISTS "\${pawl_FORTRAN_SOURCE}")
	message(FATAL_ERROR "no \${pawl_FORTRAN_SOURCE}")
endif()
foreach(library pawl mpi static)
	if(TARGET pawl::\${library})
		add_executable(with-\${library} counter.c)
		target_link_libraries(with-\${library} pawl::\${library})
		if(CMAKE_CXX_COMPILER)
			add_executable(with-cxx-\${library} counter.cpp plain.cpp)
			set_target_properties(with-cxx-\${library} PROPERTIES CXX_STANDARD 17)
			target_link_libraries(with-cxx-\${library} pawl::\${library})
		endif()
	endif()
endforeach()
if(TARGET pawl::mpi)
	add_executable(begins begins.c)
	target_link_libraries(begins MPI::MPI_C pawl::mpi)
endif()
END
package=$(find "$dir" -name pawl-config.cmake)
found()
{
	cp "$dir/begins.c" "$srcdir/examples/counter.c" "$srcdir/examples/counter.cpp" "$dir/found" &&
		echo '#include <mpi.h>' >"$dir/found/plain.cpp" &&
		env -u CC cmake -S "$dir/found" -B "$dir/found/build" -Dpawl_DIR="${package%/*}" \
			-DCMAKE_EXE_LINKER_FLAGS=-Wl,--as-needed \
			-DMPI_C_COMPILER="${CC##* }" >"$dir/log" 2>&1 &&
		cmake --build "$dir/found/build" >>"$dir/log" 2>&1 || { tail "$dir/log"; return 1; }
	[ -z "$so" ] || { [ -x "$dir/found/build/with-mpi" ] && begins "$dir/found/build/begins"; }
}
found_run()
{
	for program in "$dir/found/build"/with-*; do
		(unset LD_LIBRARY_PATH && mpi_run 2 60 "$program") || return
	done
}
name="find_package(pawl) of CMake builds an example with each target"
if command -v cmake >/dev/null; then
	check "$name" found
	! mpi_can_run || check "and they run" found_run
else
	skip "$name" "no cmake"
fi

# The library of one MPI in a program of another.
case $TEST_MPI in
openmpi) other=mpicc.mpich ;;
*) other=mpicc.openmpi ;;
esac
found_other()
{
	! cmake -S "$dir/found" -B "$dir/other" -Dpawl_DIR="${package%/*}" \
		-DMPI_C_COMPILER=$other >"$dir/log" 2>&1 &&
		tr -s ' \n' ' ' <"$dir/log" | grep -q 'this Pawl was built for .*, and CMake found' ||
		{ cat "$dir/log"; return 1; }
}
name="find_package(pawl) refuses another MPI"
if command -v $other >/dev/null && command -v cmake >/dev/null; then
	check "$name" found_other
else
	skip "$name" "no $other, or no cmake"
fi
wrong_mpi()
{
	"$other" "$srcdir/tests/packaging/wrong_mpi.c" -o "$dir/wrong" $(flags --cflags --libs) &&
		LD_LIBRARY_PATH="${so%/*}" timeout 60 "$dir/wrong" >"$dir/said" 2>&1
	status=$?
	cat "$dir/said"
	[ $status = 0 ] && grep -q 'this libpawl was built for .* and the program runs with' "$dir/said"
}
name="a message names the library of another MPI"
if command -v $other >/dev/null && [ -n "$so" ]; then
	check "$name" wrong_mpi
else
	skip "$name" "no $other, or no shared library"
fi

finish

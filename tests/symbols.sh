#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The shared library exports what pawl.h declares and src/libpawl.map lists, and nothing else.

. "$srcdir/tests/tap.sh"

lib=$builddir/.libs/libpawl.so
[ -e "$lib" ] || skip_all "no shared library in this build"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"${NM:-nm}" -D --defined-only "$lib" |
	awk '$2 ~ /^[B-Z]$/ { sub(/@.*/, "", $3); print $3 }' |
	grep -vE '^(_init|_fini|_edata|_end|__bss_start)$' | sort -u >"$dir/exported"
# Those that are inline call others.
inline=$(pawl_h | grep -oE '^static inline int pawl_[a-z_]+' | sed 's/.* //' | sort -u)
pawl_functions | grep -vxF "$inline" >"$dir/declared"

check "nm finds symbols" test -s "$dir/exported"
check "pawl.h declares functions" test -s "$dir/declared"

# On MPICH the library is in front of MPI_Finalize; src/table/finalize.c.
[ "$TEST_MPI" != mpich ] || sed -i '/^P\{0,1\}MPI_Finalize$/d' "$dir/exported"
foreign()
{
	! grep -v '^pawl_' "$dir/exported"
}
check "all exported names start with pawl_" foreign

missing()
{
	! comm -13 "$dir/exported" "$dir/declared" | grep .
}
check "all functions of pawl.h are exported" missing

undeclared()
{
	! comm -23 "$dir/exported" "$dir/declared" | grep -v "^pawl_private_" | grep .
}
check "all exported names are in pawl.h, or between our own libraries" undeclared

# The list that doc/stability.md promises to keep. A new function is added to it by hand.
map=$srcdir/src/libpawl.map
patterns()
{
	! sed -n '/global:/,/local:/p' "$map" | grep '[*?[]' | grep -v '^[[:space:]]*\*MPI_Finalize;$'
}
check "src/libpawl.map names each function" patterns
kept()
{
	sed -n 's/^[[:space:]]*\(pawl_.*\);$/\1/p' "$map" | sort >"$dir/listed"
	grep '^pawl_' "$dir/exported" | diff "$dir/listed" - >"$dir/diff" && return
	sed -n 's/^< /the library lacks /p; s/^> /src\/libpawl.map lacks /p' "$dir/diff"
	return 1
}
check "the functions are those of src/libpawl.map" kept

# Each belongs to a version of the interface.
versions()
{
	"${NM:-nm}" -D --with-symbol-versions "$lib" | awk '$2 == "T" { print $3 }' |
		grep '^pawl_' >"$dir/versions"
	grep '^pawl_private_' "$dir/versions" | grep -v '@@PAWL_PRIVATE_' && return 1
	! grep -v '^pawl_private_' "$dir/versions" | grep -vE '@@PAWL_[0-9.]+$'
}
if grep -qF 'S["SYMBOL_VERSIONS_TRUE"]=""' "$builddir/config.status"; then
	check "each has a version" versions
else
	skip "each has a version" "the linker gives no versions to symbols"
fi

# The library does not contain the baselines, not even as hidden symbols.
product()
{
	"${NM:-nm}" "$1" >"$dir/all"
	grep -q 'lock_dmcs$' "$dir/all" || { echo "no lock_dmcs: a library without symbols"; return 1; }
	for baseline in $(sed -n 's/.*KIND(\(lock_[a-z_]*\)).*/\1/p' "$srcdir/baselines/list.h"); do
		! grep "$baseline\$" "$dir/all" || return 1
	done
}
check "libpawl.so has no baseline" product "$lib"
baselines_there()
{
	! product "$builddir/.libs/libpawl-bench.so" >/dev/null
}
check "and the library of pawl-bench has" baselines_there

# The layer precedes the MPI. It exports the C and Fortran names of the calls it replaces, and in C
# the PMPI names, which a tool before the layer calls; and PMIx_Commit (src/layers/presence.c).
layer=$builddir/.libs/libpawl-mpi.so
"${NM:-nm}" -D --defined-only "$layer" |
	awk '$2 ~ /^[A-Z]$/ { print $3 }' |
	grep -vE '^(_init|_fini|_edata|_end|__bss_start)$' | sort -u >"$dir/layer"
beyond()
{
	! grep -viE '^(p?mpi_(r?accumulate(_c)?|r?get_accumulate(_c)?|fetch_and_op|compare_and_swap|win_(fence|post|start|complete|attach|detach|get_attr))|p?mpi_(init(_thread)?|session_init|finalize)|pmix_commit|(o|p)?mpi_win_(create|create_dynamic|allocate|allocate_shared|free|set_attr|(un)?lock(_all)?|flush(_local)?(_all)?)(_cptr)?(_c|_f|_f08(ts)?(_large)?)?_{0,2}|pawl_win_(un)?lock_range|pawl_private_layer)$' "$dir/layer"
}
check "libpawl-mpi exports nothing else" beyond
calls()
{
	for name in Win_create Win_create_dynamic Win_allocate Win_allocate_shared Win_free Win_lock \
		Win_unlock Win_lock_all Win_unlock_all Win_fence Win_post Win_start Win_complete \
		Win_attach Win_detach Win_get_attr \
		Accumulate Raccumulate Get_accumulate Rget_accumulate Fetch_and_op Compare_and_swap; do
		for kind in MPI PMPI; do
			grep -qx "${kind}_$name" "$dir/layer" || { echo "no ${kind}_$name"; return 1; }
		done
	done
}
check "libpawl-mpi has all calls it stands for" calls
flushes()
{
	[ "$(grep -c '^MPI_Win_flush' "$dir/layer")" = 4 ] &&
		[ "$(grep -c '^PMPI_Win_flush' "$dir/layer")" = 4 ]
}
check "libpawl-mpi has the four flushes, under both names" flushes

# The other layers export the entry points that they replace, a mark for libpawl, and PMIx_Commit.
exports()
{
	exports_lib=$1
	shift
	"${NM:-nm}" -D --defined-only "$exports_lib" | awk '$2 ~ /^[A-Z]$/ { print $3 }' |
		grep -vE '^(_init|_fini|_edata|_end|__bss_start)$' | sort >"$dir/layer"
	printf '%s\n' "$@" pawl_private_layer PMIx_Commit | sort | diff - "$dir/layer"
}
# of_layer NAME SYMBOL...
of_layer()
{
	of_layer_name=$1
	shift
	if [ -e "$builddir/.libs/$of_layer_name.so" ]; then
		check "$of_layer_name exports the entry points that it replaces" \
			exports "$builddir/.libs/$of_layer_name.so" "$@"
	else
		skip "$of_layer_name exports the entry points that it replaces" "not in this build"
	fi
}
of_layer libpawl-caf _gfortran_caf_change_team _gfortran_caf_deregister _gfortran_caf_end_team \
	_gfortran_caf_init _gfortran_caf_lock _gfortran_caf_register _gfortran_caf_unlock
of_layer libpawl-shmem shfree shmalloc shmem_align shmem_calloc shmem_clear_lock shmem_free \
	shmem_init shmem_init_thread shmem_malloc shmem_realloc shmem_set_lock shmem_test_lock \
	shmemalign shrealloc start_pes

# A static library defines them, and what it has besides is hidden.
armci=$builddir/libpawl-armci.a
armci_names()
{
	readelf -Ws "$armci" | awk '$5 == "GLOBAL" && $6 == "DEFAULT" && $7 != "UND" { print $8 }' |
		sort >"$dir/layer"
	printf '%s\n' ARMCI_Create_mutexes ARMCI_Destroy_mutexes ARMCI_Lock ARMCI_Unlock \
		pawl_private_layer | diff - "$dir/layer"
}
if [ -e "$armci" ]; then
	check "libpawl-armci defines the calls that it replaces" armci_names
else
	skip "libpawl-armci defines the calls that it replaces" "not in this build"
fi

finish

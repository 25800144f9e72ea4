#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Third-party libraries that use MPI's locks, natively and under the drop-in layer, with equal
# results: mpi4py and its own tests of one-sided communication, Fortran coarrays through
# OpenCoarrays, ARMCI-MPI, MPICH's tests of one-sided communication. Each is skipped if it is not
# installed. mpi4py's tests are those in $TEST_MPI4PY_TESTS (a folder); otherwise, with TEST_LONG=1,
# apt-get source fetches them into the build tree. MPICH's are in $TEST_MPICH_RMA: folder rma of
# test/mpi of its source, configured and built.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
. "$srcdir/tests/dropin-head.sh"

[ -e "$lib" ] || skip "all of this under the layer" "no .libs/libpawl-mpi.so in this build"

# keep_result FILE COMMAND...: run it, store its results in FILE and print them; its status.
keep_result()
{
	result_file=$1
	shift
	"$@" >"$result_file.all" 2>"$result_file.errors"
	result_status=$?
	grep -E '^(not )?ok|^1\.\.' "$result_file.all" >"$result_file"
	cat "$result_file"
	[ $result_status = 0 ] || tail -n 5 "$result_file.errors"
	return $result_status
}

# equal NAME RANKS PROGRAM...: a program that prints TAP passes, passes under the
# layer, and prints the same. With more ranks than cores MPICH takes minutes on a busy machine.
equal()
{
	equal_name=$1
	equal_ranks=$2
	shift 2
	tap_program "$equal_name, native" keep_result "$work/native" mpi_run "$equal_ranks" 300 "$@"
	[ -e "$lib" ] || return
	tap_program "$equal_name, under the layer" \
		keep_result "$work/layer" mpi_run "$equal_ranks" 300 env $layer "$@"
	check "$equal_name prints the same" diff "$work/native" "$work/layer"
	# An unknown lock is an error. A rank alone has nobody to be locked against.
	[ "$equal_ranks" = 1 ] ||
		check "$equal_name goes through the layer" \
			mpi_fails "$equal_ranks" 60 "$work/unknown" env $layer PAWL_LOCK=no-such-lock "$@"
}

# -------------------------------------------------- coarrays, and ARMCI-MPI

fortran=$(wrapper mpifort)
if [ -n "$fortran" ] && $fortran -fcoarray=lib \
	"$srcdir/tests/layers/coarray_results.f90" "$sources/languages/coarray.f90" -J "$work" \
	"-lcaf_$TEST_MPI" -o "$work/coarray" >"$work/said" 2>&1; then
	for ranks in 2 4; do
		equal "coarrays, $ranks images" $ranks "$work/coarray"
	done
else
	skip "coarrays" "no OpenCoarrays for this MPI (libcoarrays-$TEST_MPI-dev)"
fi

if $CC -std=c11 -I"$srcdir" "$sources/languages/armci.c" "-larmci-$TEST_MPI" -o "$work/armci" >"$work/said" 2>&1; then
	for ranks in 1 4; do
		equal "ARMCI, $ranks ranks" $ranks "$work/armci"
	done
else
	skip "ARMCI" "no ARMCI-MPI for this MPI (libarmci-mpi-dev)"
fi

# Read_inc of Global Arrays, and what ARMCI has beneath it, with the layer's atomics. On MPICH a call
# takes a tenth of the time, if there are more processes than cores.
read_inc()
{
	mpi_run 4 120 env $1 "$work/read_inc" "$2" >"$work/$3" && cat "$work/$3"
}
sooner()
{
	read_inc "" 1 native && read_inc "$layer PAWL_ATOMICS=1" 1 layer &&
		awk -F': ' '/ us a call / && FNR == NR { native[$1] = $2 + 0 }
			/ us a call / && FNR != NR { n++; late += native[$1] <= 10 * ($2 + 0) }
			END { exit n != 4 || late }' "$work/native" "$work/layer"
}
if [ -n "$GA_LIBS" ] && $CC -std=c11 -I"$srcdir" "$srcdir/tests/layers/ga_read_inc.c" $GA_LIBS $ARMCI_LIBS -lm \
	-o "$work/read_inc" >"$work/said" 2>&1; then
	tap_program "read_inc, with atomics" read_inc "$layer PAWL_ATOMICS=1" 0.02 layer
	if [ -n "${TEST_LONG-}" ] && [ "$TEST_MPI" = mpich ]; then
		timed check "read_inc takes a tenth of the time" sooner
	fi
else
	skip "read_inc" "libglobalarrays-dev does not link with this MPI"
fi

# --------------------------------------- MPICH's tests of one-sided communication

# said_by SETTINGS: what a test of the list says, for $rma_name, $rma_ranks and $rma_arguments.
said_by()
{
	(cd "$TEST_MPICH_RMA" && mpi_run "$rma_ranks" 60 env $1 "./$rma_name" $rma_arguments) 2>&1 |
		grep -q '^ *No Errors' && echo "no errors" || echo "errors"
}
# The list has lines like "test1 2 arg=-iter=10". Tests whose program is not there are left out. With
# more ranks than cores some end with the layer's atomics only.
none_fails_in_list()
{
	rma_result=0
	grep -vE '^ *(#|@|$)' "$TEST_MPICH_RMA/testlist" >"$work/testlist"
	while read -r rma_name rma_ranks rma_arguments; do
		[ -x "$TEST_MPICH_RMA/$rma_name" ] || continue
		rma_arguments=$(printf '%s\n' $rma_arguments | sed -n 's/^arg=//p')
		rma_native=$(said_by TEST=native </dev/null)
		rma_layer=$(said_by "$layer PAWL_ATOMICS=1" </dev/null)
		[ "$rma_native" != "$rma_layer" ] || continue
		echo "$rma_name, $rma_ranks ranks: natively $rma_native, with atomics $rma_layer"
		[ "$rma_layer" = "no errors" ] || rma_result=1
	done <"$work/testlist"
	return $rma_result
}
if [ -n "${TEST_MPICH_RMA-}" ] && [ -e "$lib" ]; then
	check "MPICH's tests of one-sided communication" none_fails_in_list
else
	skip "MPICH's tests of one-sided communication" "not in TEST_MPICH_RMA"
fi

# ------------------------------------------------------------------- mpi4py

# The python3 with an mpi4py that is linked with the MPI under test, or why not: the
# first one in PATH need not be the one that Debian's modules belong to.
mpi4py_python()
{
	python_said="no python3-mpi4py"
	for python_one in python3 /usr/bin/python3; do
		vendor=$($python_one -c 'from mpi4py import MPI; print(MPI.get_vendor()[0])' \
			2>/dev/null) || continue
		case $TEST_MPI:$vendor in
		"openmpi:Open MPI" | mpich:MPICH)
			echo $python_one
			return
			;;
		esac
		python_said="mpi4py is linked with $vendor"
	done
	echo "$python_said"
	return 1
}

# The folder of mpi4py's tests, of the release that is installed.
mpi4py_tests()
{
	if [ -n "$TEST_MPI4PY_TESTS" ]; then
		printf '%s\n' "$TEST_MPI4PY_TESTS"
		return
	fi
	fetched=$builddir/mpi4py-source
	if [ -n "$TEST_LONG" ] && [ ! -d "$fetched" ] && command -v apt-get >/dev/null; then
		fetch_mpi4py "$fetched" >"$work/fetch.log" 2>&1
	fi
	find "$fetched" -name test_rma.py 2>/dev/null | sed 's|/[^/]*$||;q'
}

# With a separate configuration of apt, because the system's often has no source packages.
fetch_mpi4py()
{
	apt=$work/apt
	version=$(dpkg-query -W -f '${source:Version}' python3-mpi4py) || return
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$1.tmp"
	. /etc/os-release
	echo "deb-src http://deb.debian.org/debian $VERSION_CODENAME main" >"$apt/sources.list"
	set -- "$1" -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=
	fetch_into=$1
	shift
	timeout 120 apt-get "$@" update &&
		(cd "$fetch_into.tmp" && timeout 120 apt-get "$@" source "mpi4py=$version") &&
		mv "$fetch_into.tmp" "$fetch_into"
	fetch_status=$?
	rm -rf "$fetch_into.tmp"
	return $fetch_status
}

# python_results FILE RANKS SECONDS TEST ASSIGNMENT...: the result of each test on each rank,
# sorted. Every rank writes its own file.
python_results()
{
	results_of=$1
	results_ranks=$2
	results_seconds=$3
	results_test=$4
	shift 4
	rm -f "$work"/rank.*
	(cd "${results_test%/*}" && mpi_run "$results_ranks" "$results_seconds" env "$@" \
		PYTHONDONTWRITEBYTECODE=1 sh -c 'exec "$3" "$1" -v \
			>"$2/rank.${OMPI_COMM_WORLD_RANK-$PMI_RANK}" 2>&1' \
		sh "$results_test" "$work" "$python") >"$work/launcher" 2>&1
	results_status=$?
	grep -hE '\.\.\. (ok|FAIL|ERROR|skipped|expected failure)|^(Ran|FAILED|OK)' "$work"/rank.* |
		sed 's/ in [0-9.]*s$//' | sort >"$results_of"
	echo "status $results_status" >>"$results_of"
}

same_results()
{
	python_results "$work/native" "$1" 300 "$2"
	grep -q '\.\.\. ok' "$work/native" || { tail -n 5 "$work"/rank.*; return 1; }
	grep -cE '\.\.\. ok' "$work/native" | sed 's/$/ single results are ok natively/'
	grep -E '\.\.\. (FAIL|ERROR)' "$work/native" | sed 's/^/natively: /'
	[ -e "$lib" ] || return 0
	python_results "$work/layer" "$1" 300 "$2" $layer
	diff "$work/native" "$work/layer"
}

if ! python=$(mpi4py_python); then
	skip "mpi4py" "$python"
	finish
fi
for ranks in 1 4; do
	equal "mpi4py, $ranks ranks" $ranks $python "$sources/languages/mpi4py_locks.py"
done
tests=$(mpi4py_tests)
if [ -z "$tests" ] || [ ! -e "$tests/test_rma.py" ]; then
	skip "mpi4py's own tests" "not in TEST_MPI4PY_TESTS, nor fetched (TEST_LONG=1 tries)"
	finish
fi
tests=$(cd "$tests" && pwd)
for ranks in 1 2 4; do
	for test in "$tests"/test_rma*.py "$tests/test_win.py" "$tests"/test_util_sync.py; do
		[ -e "$test" ] || continue
		check "mpi4py's ${test##*/}, $ranks ranks" same_results $ranks "$test"
	done
done

finish

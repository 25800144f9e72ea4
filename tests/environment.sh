#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Variables PAWL_* as launchers and module files set them: their order does not matter, those of
# an installation are ignored, and a message says in which option ranks differ.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
program=$builddir/tests/lock/table/environment
tmp=environment.$$.tmp
trap 'rm -f $tmp $tmp.err' EXIT

# each "VARIABLE..." "VARIABLE..." KIND NAME: rank 0 gets the first ones, the others the second
# ones.
each()
{
	first=$1 others=$2
	shift 2
	mpi_run 3 60 sh -c '
		rank=${OMPI_COMM_WORLD_RANK-${PMI_RANK-$PMIX_RANK}}
		program=$3 kind=$4 name=$5
		[ "$rank" = 0 ] && set -- $1 || set -- $2
		export "$@"
		exec "$program" "$kind" ${name:+"$name"}' \
		sh "$first" "$others" "$program" "${1-d-mcs}" "$2" >$tmp 2>$tmp.err
	status=$?
	grep -a . $tmp $tmp.err
	return $status
}

any_order()
{
	each "PAWL_WAIT=yield PAWL_DISTRIBUTION=cyclic PAWL_SPIN=7" \
		"PAWL_SPIN=7 PAWL_DISTRIBUTION=cyclic PAWL_WAIT=yield" &&
		[ "$(grep -c 'created' $tmp)" = 3 ]
}
check "the order of variables does not matter" any_order

same_values()
{
	each "PAWL_T_L=5" "PAWL_T_L=5,node:5" rma-mcs && [ "$(grep -c created $tmp)" = 3 ]
}
check "nor how a value is written" same_values

differ()
{
	! each "PAWL_T_R=64 PAWL_WAIT=park" "PAWL_WAIT=park PAWL_T_R=32" rma-rw &&
		[ "$(grep -c 'option t_r: 64 on rank 0, 32 on rank 1' $tmp)" = 3 ]
}
check "ranks that differ: in which option, and which ranks" differ

installation()
{
	each "PAWL_HOME=/opt PAWL_ROOT=/opt PAWL_DIR=/opt PAWL_PREFIX=/opt PAWL_COLOUR=blue" \
		"PAWL_VERSION=1" && [ "$(grep -c created $tmp)" = 3 ] &&
		! grep -a '^pawl:' $tmp.err
}
check "PAWL_HOME, PAWL_ROOT and the like are not ours" installation

once()
{
	each "PAWL_MAX_HOLD=3" "PAWL_MAX_HOLD=3" &&
		[ "$(grep -a -c 'did you mean PAWL_MAX_HELD' $tmp.err)" = 1 ]
}
check "rank 0 warns once about a misspelt option" once

layer()
{
	each "PAWL_STATS=1 PAWL_LOCK=mgl" "PAWL_STATS=1 PAWL_LOCK=mgl" &&
		! grep -a 'PAWL_STATS has no effect' $tmp.err && grep -a 'PAWL_LOCK has no effect' $tmp.err
}
check "a warning about variables of libpawl-mpi if that is not loaded" layer

loaded()
{
	mpi_run 2 60 env PAWL_STATS=1 PAWL_LOCK=mgl "LD_PRELOAD=$builddir/.libs/libpawl-mpi.so" \
		"$program" d-mcs >$tmp 2>$tmp.err
	cat $tmp $tmp.err
	[ "$(grep -c created $tmp)" = 2 ] && ! grep -a 'has no effect' $tmp.err
}
if [ -e "$builddir/.libs/libpawl-mpi.so" ]; then
	check "and not where it is" loaded
else
	skip "and not where it is" "no shared library in this build"
fi

strict()
{
	! each "PAWL_STRICT=1 PAWL_COLOUR=blue" "PAWL_STRICT=1" &&
		grep 'rank 0: .*PAWL_COLOUR' $tmp && grep 'rank 1: rank 0: .*PAWL_COLOUR' $tmp
}
check "PAWL_STRICT=1 makes an unknown one an error" strict

# created KIND MAX_HELD: all 3 ranks have such a table.
created()
{
	[ "$(grep -c "created $1 .*max_held $2\$" $tmp)" = 3 ]
}

named()
{
	all="PAWL_KIND=d-mcs PAWL_MAX_HELD=5 PAWL_KIND_MY_TABLE=mgl PAWL_MAX_HELD_MY_TABLE=7"
	each "$all" "$all" auto my-table && created mgl 7 && ! grep -a '^pawl:' $tmp.err &&
		each "$all" "$all" auto && created d-mcs 5 &&
		grep -a 'PAWL_KIND_MY_TABLE had no effect on rank 0' $tmp.err &&
		each "$all" "$all" rma-rw my-table && created rma-rw 7 &&
		grep -a 'PAWL_KIND_MY_TABLE has no effect: .* names .* rma-rw' $tmp.err
}
check "kind and options by the name of the table; what has no effect" named

unknown_kind()
{
	! each PAWL_KIND_A=dmcs PAWL_KIND_A=dmcs auto a &&
		[ "$(grep -c 'variable PAWL_KIND_A: .*mean d-mcs?.*kinds are: adap' $tmp)" = 3 ] &&
		! each PAWL_KIND=no PAWL_KIND=no auto && grep 'variable PAWL_KIND: .*adapt' $tmp
}
check "an unknown kind: which variable, and the accepted values" unknown_kind

named_differ()
{
	! each PAWL_KIND_A=d-mcs PAWL_KIND_A=mgl auto a &&
		[ "$(grep -c 'differ in kind: d-mcs on rank 0, mgl on rank 1' $tmp)" = 3 ]
}
check "ranks that differ in the kind by the environment" named_differ

not_of_kind()
{
	! each PAWL_LEASE_A=1s PAWL_LEASE_A=1s d-mcs a &&
		[ "$(grep -c 'PAWL_LEASE_A: d-mcs has no option lease.*shiftlock' $tmp)" = 3 ] &&
		! each "PAWL_STRICT=1 PAWL_UNITS_MOTS=9" PAWL_X=1 citron a &&
		grep 'UNITS_MOTS is no option (did you mean PAWL_UNITS_MOST?)' $tmp
}
check "an option that the kind of the named table does not have; a misspelt one" not_of_kind

empty_nodes()
{
	each "PAWL_TOPOLOGY=node:3"  "PAWL_TOPOLOGY=node:3" || return 1
	! grep -a '^pawl:' $tmp.err || return 1
	mpi_run 3 60 env "PAWL_TOPOLOGY=node:3 core:7" "$program" d-mcs 2>$tmp.err || return 1
	grep -a '3 ranks are on 1 of the 3 nodes of "node:3 core:7"' $tmp.err
}
check "a warning about empty nodes of option topology" empty_nodes

finish

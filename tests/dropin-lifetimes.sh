#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Under the drop-in layer: delete callbacks of windows, windows over many groups, with many options
# and many at a time, in threads, and with a spawned process. The layer keeps no more than a few
# pools of locks. And in a program that is linked with the layer, what a window needs fails.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"
. "$srcdir/tests/dropin-head.sh"

[ -e "$lib" ] || skip_all "no .libs/libpawl-mpi.so in this build"
limit=${TEST_LONG:+1180}
limit=${limit:-90}

# under RANKS WHAT...: nothing but the results may be printed.
under()
{
	under_ranks=$1
	shift
	mpi_run "$under_ranks" $((limit + 20)) env "LD_PRELOAD=$lib $mpi_yields" "$found" \
		"$programs/life/lifetimes" --limit $limit --only "$@" >"$work/said" 2>"$work/errors"
	under_status=$?
	cat "$work/said" "$work/errors"
	! grep '^pawl:' "$work/errors" && return $under_status
}

ranks=4
# With more ranks than cores MPICH takes long to make a table.
[ "$TEST_MPI" != mpich ] || ranks=2
tap_program "callbacks" under 2 callbacks
tap_program "groups" under $ranks groups
# Open MPI has communicators for more pools than a test can make.
[ "$TEST_MPI" != mpich ] || tap_program "options" under 2 options
tap_program "threads" under 2 threads --threads 1
# MPICH takes a second for 40 windows; what is tested does not depend on the MPI.
[ -z "$TEST_LONG" ] && [ "$TEST_MPI" = mpich ] || tap_program "many" under 2 many

tap_program "scarce" mpi_run 2 120 env "$found" "$programs/life/scarce"
# On one core, where the layer asks targets.
name="scarce, one core"
if taskset -c 0 true 2>/dev/null; then
	tap_program "$name" mpi_run 2 120 env "$found" taskset -c 0 "$programs/life/scarce"
else
	skip "$name" "no taskset, or core 0 is not allowed"
fi

# MPICH itself fails at its end, and has no spawn with its launcher on one host.
if [ "$TEST_MPI" = openmpi ]; then
	tap_program "open at the end" under 2 open
	tap_program "spawn" env OMPI_MCA_mca_base_env_list="LD_PRELOAD=$lib;$found" \
		timeout -k 5 $((limit + 20)) "$MPIRUN" --oversubscribe --bind-to none -n 1 "$programs/life/lifetimes" --only spawn
fi
finish

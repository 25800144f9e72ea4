# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests of the drop-in layer, after tap.sh and mpirun.sh: paths, a folder
# for temporary files, and the variables that load the layer into a program.

mpi_can_run || skip_all "configured without a launcher"
programs=$builddir/tests/dropin
sources=$srcdir/tests/dropin
lib=$builddir/.libs/libpawl-mpi.so
budget=${TEST_LONG:+--budget ${TEST_BUDGET:-0.25}}
budget=${budget:---budget 0.05}
make_tmp
work=$tmp
# Each run names its kind of lock, so the environment must not.
unset PAWL_LOCK PAWL_STATS PAWL_ATOMICS

# Assignments for env by which the layer's library is found, and loaded before the MPI.
found="LD_LIBRARY_PATH=$builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
layer="LD_PRELOAD=$lib $found"

# path_of PROGRAM: in the folder of programs/ that holds it.
path_of()
{
	printf '%s\n' "$programs"/*/"$1"
}

# wrapper NAME: the compiler wrapper NAME that belongs to the compiler CC.
wrapper()
{
	for wrapper_word in $CC; do
		case ${wrapper_word##*/} in
		mpicc*) printf '%s\n' "$wrapper_word" | sed "s|mpicc\([^/]*\)\$|$1\1|" ;;
		esac
	done
}

# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests that run in virtual machines: what these need, or a skip.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
case $TEST_MPI in
openmpi | mpich) ;;
*) skip_all "written for Open MPI and MPICH" ;;
esac
has_ucx || skip_all "a build without UCX"
machine=$builddir/tests/verbs-machine
said=$(timeout 200 "$srcdir/tests/verbs/guests" make "$machine" 2>&1)
case $? in
0) ;;
77 | 124)
	skip "where no qemu or kernel can be had" "${said:-no download within 200 s}"
	finish
	;;
*)
	check "a kernel for the guests" sh -c 'echo "$0"; false' "$said"
	finish
	;;
esac

# in_guests FILE ARGUMENT...: the results of a script in this folder, by the guests' command run
in_guests()
{
	guests_script=$1
	shift
	tap_program "$guests_script" "$srcdir/tests/verbs/guests" run "$@" "$machine" \
		sh "$srcdir/tests/verbs/$guests_script.sh"
}

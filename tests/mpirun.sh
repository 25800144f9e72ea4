# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the test scripts: run MPI programs on this host, as any user and on any number of
# cores.

# Open MPI refuses to run as root without these.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Open MPI 4.1: osc/rdma crashes in MPI_Win_allocate on one node
# (open-mpi/ompi issue 7027); without it osc/sm or osc/ucx serves the windows.
# Open MPI 5 needs it for windows over hosts.
case $TEST_MPI:${TEST_MPI_MAJOR:-4} in
openmpi:[1-4]) export OMPI_MCA_osc="${OMPI_MCA_osc-^rdma}" ;;
esac
# Containers often forbid reading another process's memory.
export OMPI_MCA_btl_vader_single_copy_mechanism="${OMPI_MCA_btl_vader_single_copy_mechanism-none}"

# Ranks that leave no core to the other test that runs yield while they wait in the MPI; not at full
# length. For MPICH this takes yield.c; a test that preloads a library itself gets MPICH as it is,
# and netcluster preloads both.
mpi_yields=
[ "$TEST_MPI" != mpich ] || [ "${TEST_LONG-}" = 1 ] || [ ! -e "$builddir/tests/.libs/libyield.so" ] ||
	mpi_yields=$builddir/tests/.libs/libyield.so
export NETCLUSTER_YIELD="$mpi_yields"

# mpi_run N SECONDS PROGRAM [ARGUMENT...]: its status; 124 or 137 if it ran out of
# time. A program without a slash is searched in PATH.
mpi_run()
{
	mpi_ranks=$1
	mpi_seconds=$2
	shift 2
	case $TEST_MPI:${MPIRUN##*/} in
	openmpi:mpi* | openmpi:orte* | openmpi:prte*)
		set -- "$MPIRUN" --oversubscribe --bind-to none -n "$mpi_ranks" "$@"
		[ "${TEST_LONG-}" = 1 ] || [ "$mpi_ranks" -lt "$(nproc)" ] || set -- \
			env "OMPI_MCA_mpi_yield_when_idle=${OMPI_MCA_mpi_yield_when_idle-1}" "$@"
		;;
	*)
		[ -z "$mpi_yields" ] || [ "$mpi_ranks" -lt "$(nproc)" ] ||
			set -- env LD_PRELOAD="$mpi_yields" "$@"
		set -- "$MPIRUN" -n "$mpi_ranks" "$@"
		;;
	esac
	# On hosts with several interfaces Open MPI 5 tells of those that are not reached.
	case $TEST_MPI:${TEST_MPI_MAJOR:-4} in
	openmpi:[1-4]) ;;
	openmpi:*) set -- env "OMPI_MCA_btl_tcp_if_include=${OMPI_MCA_btl_tcp_if_include-lo}" "$@" ;;
	esac
	timeout -k 5 "$mpi_seconds" "$@" </dev/null
}

# mpi_fails N SECONDS FILE PROGRAM [ARGUMENT...]: whether it ends by itself, with a failure. The
# ranks write what they print to the file themselves: after an abort MPICH 4.2.1's launcher loses
# what a rank printed last in one run of ten, and its status is 0 now and then.
mpi_fails()
{
	mpi_ranks=$1
	mpi_seconds=$2
	mpi_said=$3
	shift 3
	: >"$mpi_said"
	mpi_run "$mpi_ranks" "$mpi_seconds" sh -c 'exec "$@" >>"$0" 2>&1' "$mpi_said" "$@"
	mpi_status=$?
	[ $mpi_status != 0 ] || ! grep -q '^Abort(' "$mpi_said" || mpi_status=1
	[ $mpi_status != 0 ] && [ $mpi_status != 124 ] && [ $mpi_status != 137 ]
}

# hosts_run HOSTS RANKS SECONDS [OPTION...] -- PROGRAM [ARGUMENT...]: the same over several hosts,
# which are namespaces of this one; with options of netcluster.
hosts_run()
{
	hosts_n=$1
	hosts_ranks=$2
	hosts_seconds=$3
	shift 3
	"$srcdir/tests/netcluster" run -n "$hosts_ranks" --hosts "$hosts_n" --mpi "$TEST_MPI" \
		--timeout "$hosts_seconds" "$@"
}

# hosts_can_run: whether there can be several hosts; it says why not. Its status is 77 where this
# machine cannot have them.
hosts_can_run()
{
	case $TEST_MPI in
	openmpi | mpich) hosts_run 2 4 60 -- true 2>&1 ;;
	*) echo "netcluster knows Open MPI and MPICH" && return 77 ;;
	esac
}

# mpi_can_run: whether there is a launcher (not with configure --without-mpirun).
mpi_can_run()
{
	[ "${MPIRUN:-no}" != no ]
}

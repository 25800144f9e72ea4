#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A table that does not fit into the host's shared memory is refused on every rank, with a
# message that has the bytes and the host. With 64 MB of /dev/shm, as in containers.

. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
if [ "${PAWL_TEST_ROOM-}" != inside ]; then
	unshare -m mount -t tmpfs -o size=64m tmpfs /dev/shm 2>/dev/null ||
		skip_all "no mount namespaces here"
	PAWL_TEST_ROOM=inside exec unshare -m sh -c \
		'mount -t tmpfs -o size=64m tmpfs /dev/shm && exec sh "$0"' "$0"
fi
unset PAWL_TEST_ROOM
trap 'rm -f room.out' EXIT
host=$(hostname)
window=6 nomem=9

# expect_result N CODE [WORD...]: the result for the table of N locks.
expect_result()
{
	line=$(grep "^$1: $2 " room.out) || { cat room.out; return 1; }
	shift 2
	for word; do
		case $line in
		*"$word"*) ;;
		*) echo "no \"$word\" in: $line"; return 1 ;;
		esac
	done
	echo "$line"
}

run()
{
	mpi_run 2 60 "$builddir/tests/lock/table/room" "$@" >room.out 2>&1
}

check "five tables end well" run d-mcs 0x1000000 0x800000000 0x7fffffffff h0x1000000 0x400000!
check "128 MB are refused" expect_result 0x1000000 $nomem "on host $host" "/dev/shm has " "bytes free" "1342"
check "256 GB are refused" expect_result 0x800000000 $nomem "on host $host" "2748" "bytes free"
check "4 TB are refused" expect_result 0x7fffffffff $nomem "on host $host" "bytes free"
check "the map of homes is refused" expect_result h0x1000000 $nomem "/dev/shm has "
check "32 MB are not, and all locks work" expect_result 0x400000! 0

# The pages of the first table count as taken, although they are not touched yet.
check "two tables, of which one fits" run d-mcs 0x500000 0x400000 0x10000
check "40 MB fit" expect_result 0x500000 0
check "32 MB more do not" expect_result 0x400000 $nomem "besides 4" "other tables"
check "512 kB more do" expect_result 0x10000 0

# Something else has the name of the folder for pawl-stuck: tables with a watchdog do without it.
watched()
{
	touch "/dev/shm/pawl-$(id -u)" &&
		PAWL_WATCHDOG=5 mpi_run 2 60 "$builddir/tests/lock/table/room" d-mcs 0x1000! >room.out 2>&1 &&
		expect_result 0x1000! 0
}
check "a watchdog without its folder" watched
rm -f "/dev/shm/pawl-$(id -u)"

# over_nodes BYTES TRANSPORT CODE [WORD]: two tables over two nodes, where so much is taken.
over_nodes()
{
	fallocate -l "$1" /dev/shm/filler || return 1
	PAWL_TRANSPORT=$2 PAWL_TOPOLOGY=node:2 run d-mcs 0x100! 0x101!
	status=$?
	rm -f /dev/shm/filler
	shift 2
	[ $status = 0 ] && expect_result 0x100! "$@" && expect_result 0x101! "$@"
}
# Open MPI's first window over nodes takes more than a table, and is not counted twice.
if [ "$TEST_MPI" = openmpi ]; then
	check "no room for the MPI's first window" over_nodes 58M mpi $nomem "the MPI's first window over several"
	check "room for the first window" over_nodes 44M mpi 0
	! has_ucx ||
		check "room for UCX" over_nodes 63M ucx 0
fi

# Each rank has a /dev/shm of its own, as in a container of its own. (MPICH does not start there, and
# Open MPI only without its transport over shared memory.)
apart()
{
	OMPI_MCA_btl=^vader,sm mpi_run 2 30 unshare -m sh -c \
		'mount -t tmpfs tmpfs /dev/shm && exec "$@"' sh \
		"$builddir/tests/lock/table/room" d-mcs 0x1000 >room.out 2>&1
	expect_result 0x1000 $window "host $host do not share /dev/shm"
}
[ "$TEST_MPI" != openmpi ] || check "ranks that do not share /dev/shm" apart

finish

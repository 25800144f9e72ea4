# SPDX-License-Identifier: BSD-3-Clause
# Sourced by workloads and ranges: pawl-bench of a build tree on this machine, its JSON lines, and
# figures for people. here is the folder of the script; repetitions and seconds are set.
# shellcheck shell=bash

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_vader_single_copy_mechanism="${OMPI_MCA_btl_vader_single_copy_mechanism-none}"

# use_build DIR: sets this (the MPI) and program.
use_build()
{
	dir=$(cd "$1" && pwd) || exit 2
	this=$(sed -n 's/^PAWL_MPI = //p' "$dir/Makefile")
	program=$dir/benchmarks/pawl-bench
	[ -x "$program" ] || { echo "${0##*/}: run make in $dir first" >&2; exit 2; }
}

# bench OSC HOSTS RANKS OPTION...: one JSON line a lock.
bench()
{
	local osc=$1 hosts=$2 ranks=$3
	shift 3
	set -- "$@" --repetitions="$repetitions" --seconds="$seconds" --progress=never --json
	if [ "$hosts" = 2 ]; then
		OMPI_MCA_osc=$osc "$here/../tests/netcluster" run -n "$ranks" --hosts 2 --mpi "$this" \
			--timeout 200 -- "$program" "$@" </dev/null
	elif [ "$this" = openmpi ]; then
		# Shared windows need sm; others are made by the component asked for.
		case $osc in
		ucx) osc=ucx,sm ;;
		esac
		OMPI_MCA_osc=$osc timeout -k 5 200 mpirun.openmpi --oversubscribe --bind-to none \
			-n "$ranks" "$program" "$@" </dev/null
	else
		timeout -k 5 200 mpirun.mpich -n "$ranks" "$program" "$@" </dev/null
	fi 2>/dev/null | grep '^{"lock"'
}

# line_of LOCK: of the JSON lines on stdin.
line_of()
{
	grep "^{\"lock\":\"$1\","
}

# number NAME: of a JSON line on stdin.
number()
{
	sed -n "s/.*\"$1\":\\([-+.0-9e]*\\).*/\\1/p"
}

# number_in OBJECT NAME: the same of an object in it.
number_in()
{
	sed -n "s/.*\"$1\":{[^}]*\"$2\":\\([-+.0-9e]*\\).*/\\1/p"
}

# rows_of NAME: those of an array in a JSON line, numbers with blanks between.
rows_of()
{
	sed -n "s/.*\"$1\":\\[\\[//p" | sed 's/\]\].*//; s/\],\[/\n/g' | tr ',' ' '
}

# people NUMBER: 12.3 k
people()
{
	awk -v x="$1" 'BEGIN { u = ""; if (x >= 1e6) { x /= 1e6; u = " M" }
		else if (x >= 1e3) { x /= 1e3; u = " k" }; printf "%.3g%s", x, u }'
}

# times A B: A / B, or - if there is no B.
times()
{
	awk -v a="${1:-0}" -v b="${2:-0}" 'BEGIN { if (b > 0) printf "%.3g", a / b; else printf "-" }'
}

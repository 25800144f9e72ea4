#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pawl-info: its output for jobs on one node, on nodes of a synthetic topology and on two hosts, the
# traps that it names, and wrong command lines.

user_osc=${OMPI_MCA_osc-}
. "$srcdir/tests/tap.sh"
. "$srcdir/tests/mpirun.sh"

mpi_can_run || skip_all "configured without a launcher"
info=$builddir/tools/pawl-info
jobs_osc=${OMPI_MCA_osc-}

# What Open MPI of this version is given in all other tests.
restore_osc()
{
	OMPI_MCA_osc=$jobs_osc
	export OMPI_MCA_osc
	[ -n "$jobs_osc" ] || unset OMPI_MCA_osc
}

# says WORDS COMMAND...: it succeeds, and prints the words (a regular expression).
says()
{
	words=$1
	shift
	said=$("$@" 2>&1)
	rc=$?
	printf '%s\n' "$said"
	[ $rc = 0 ] && printf '%s\n' "$said" | grep -qE -e "$words"
}

complainer() { mpi_run 2 60 "$info" "$@"; }
# Not one of each rank.
complains_once()
{
	complains "$@" && [ "$(printf '%s\n' "$complains_said" | grep -c '^pawl-info:')" = 1 ]
}

# json FILE EXPRESSION: the file is one JSON object d of which the expression holds.
json()
{
	tail -c 2000 "$1"
	python3 "$srcdir/tests/observe/job.py" "$1" "$2"
}

file=pawl-info.$$.tmp
trap 'rm -f "$file"' EXIT

# json_of NAME EXPRESSION COMMAND...
json_of()
{
	name=$1
	expression=$2
	shift 2
	if ! command -v python3 >/dev/null; then
		skip "$name" "no python3"
		return
	fi
	"$@" >"$file" 2>&1
	rc=$?
	check "$name" json "$file" "($expression) and $rc == (1 if d['error'] else 0)"
}

check "--help" says "^Usage: mpirun -n RANKS pawl-info" mpi_run 1 60 "$info" --help
check "--version" says "^pawl-info \\(Pawl\\) $TEST_VERSION\$" mpi_run 1 60 "$info" --version
check "an option that is none" complains 'no option "--jsn"; accepted: --json, --ranks=N, --ranks-per-node=N, --locks=N, --help, --version' --jsn
check "100,000 ranks: the layouts of kinds" says "^d-mcs +[1-9][0-9]* +0 +16 +16$" \
	mpi_run 1 60 "$info" --ranks=100000 --ranks-per-node=100
check "100,000 ranks: kinds that refuse them say so" says \
	"^ss +refused: ss counts at most 8191 clients at a lock, and there are 100000 ranks" \
	mpi_run 1 60 "$info" --ranks=100000
check "65,000 ranks: the default of max_held falls" says "^declock .* 1 +1$" \
	mpi_run 1 60 "$info" --ranks=65000
check "1000 ranks: nodes and descriptors" says "machine 1 > node 16\$" \
	mpi_run 1 60 "$info" --ranks=1000 --ranks-per-node=64 --locks=5000
check "a last node of one rank" says "^adaptive .* \\(800*[0-9]* bytes a rank on the last node\\)\$" \
	mpi_run 1 60 "$info" --ranks=129 --ranks-per-node=128 --locks=1000000
check "a number that is none" complains "^pawl-info: --ranks: accepted is a number" --ranks=many
check "a word too many, in one message" complains_once 'no option "now"' now
PAWL_TOPOLGY=node:2
export PAWL_TOPOLGY
check "a variable that is none" says "did you mean PAWL_TOPOLOGY" mpi_run 1 60 "$info"
PAWL_STRICT=1
export PAWL_STRICT
check "a variable that is none, strictly" complains "PAWL_TOPOLGY"
unset PAWL_TOPOLGY PAWL_STRICT

check "one node, for people" says "^node +0, 1 +NODE +cpu +cpu .*goes on" mpi_run 2 60 "$info"
# A ucx_info of our own: what is preloaded into the ranks is not into it.
asks_ucx()
{
	mkdir "$file.d" && printf '#!/bin/sh\necho "preloaded: $LD_PRELOAD" >"%s"\ncat "%s"\n' \
		"$PWD/$file" "$srcdir/tests/fuzz/corpus/ucx_devices/ndr400.txt" >"$file.d/ucx_info" &&
		chmod +x "$file.d/ucx_info" || return
	says "^UCX  *rc_mlx5/mlx5_0:1" mpi_run 1 60 env LD_PRELOAD=libm.so.6 \
		"PATH=$PWD/$file.d:$PATH" "$info"
	rc=$?
	rm -r "$file.d"
	cat "$file"
	[ $rc = 0 ] && grep -qx 'preloaded: ' "$file"
}
check "ucx_info, without LD_PRELOAD" asks_ucx

check "one rank has no partner to measure with" says "nothing to measure" mpi_run 1 60 "$info"
json_of "one node, 3 ranks" \
	"d['ranks'] == 3 and d['hosts'] == 1 and not net and len(near) >= 1 and near[0]['asynchronous'] \
	 and max(near[0]['ns'].values()) < 100000 and d['levels'][0]['elements'] == 1" \
	mpi_run 3 60 "$info" --json

json_of "a window of the application, 2 ranks" \
	"[(w['between'], w['ranks']) for w in d['windows']] == [('node', [0, 1])] \
	 and len(d['windows'][0]['ns']) == 5 and 0 < min(d['windows'][0]['ns'].values()) \
	 and max(d['windows'][0]['ns'].values()) < 1e9" \
	mpi_run 2 60 "$info" --json

PAWL_TOPOLOGY="node:2 core:2"
export PAWL_TOPOLOGY
json_of "two nodes by a string" \
	"[(p['between'], p['domain'], p['ranks']) for p in d['paths']] == [('node', 'node', [0, 1]), \
	  ('node', 'net', [0, 1]), ('remote', 'net', [0, 2])] and all(p['transport'] == 'mpi' for p in net) \
	  and d['levels'][1]['element_of_rank'] == [0, 0, 1, 1] and d['lease_us'] >= 10000" \
	mpi_run 4 60 "$info" --json
PAWL_TOPOLOGY="package:2 l3:2 core:2"
json_of "classes within a node, by a string" \
	"[(p['between'], p['ranks']) for p in d['paths']] == [('core complex', [0, 1]), ('package', [0, 2]), \
	  ('node', [0, 4])] and [l['name'] for l in d['levels']] == ['machine', 'package', 'l3']" \
	mpi_run 5 60 "$info" --json
unset PAWL_TOPOLOGY

# The MPI's own defaults.
name="the trap of Open MPI's default component on one node"
if [ "$TEST_MPI" = openmpi ] && [ -z "$user_osc" ]; then
	unset OMPI_MCA_osc
	json_of "$name" "traps.count('openmpi-osc-rdma-one-node') == (d['mpi'].startswith('Open MPI v4')) == (not d['windows'])" \
		mpi_run 2 60 "$info" --json
	restore_osc
	json_of "and not if it is excluded" "'openmpi-osc-rdma-one-node' not in traps" \
		mpi_run 2 60 "$info" --json
	OMPI_MCA_osc=ucx
	export OMPI_MCA_osc
	json_of "tables fail where component sm is not allowed, and the report says so" \
		"'openmpi-osc-without-sm' in traps and 'sm' in d['error'] and not d['paths']" \
		mpi_run 2 60 "$info" --json
	restore_osc
else
	skip "$name" "not Open MPI, or OMPI_MCA_osc is set"
fi

json_of "a host that hwloc cannot read" \
	"d['ranks'] == 2 and 'hwloc cannot read' in d['warning'] and [l['elements'] for l in d['levels']] == [1]" \
	mpi_run 2 60 env HWLOC_COMPONENTS=stop "$info" --json
json_of "and one whose levels are given" "not d['warning'] and len(net) == 1" \
	mpi_run 2 60 env HWLOC_COMPONENTS=stop PAWL_TOPOLOGY=node:2 "$info" --json
json_of "the trap of MPI_Rget with a vector type, as measured" \
	"'MPICH' in d['mpi'] if 'rget-vector-early' in traps else d['mpi'] != 'MPICH 4.0.2'" \
	mpi_run 2 60 "$info" --json
# By the same run.
! command -v python3 >/dev/null || check "the trap of MPI_Win_create with memory at odd words" json "$file" \
	"'MPICH' in d['mpi'] if 'create-unaligned' in traps else d['mpi'] != 'MPICH 4.0.2'"

name="the trap of two ranks on one cpu"
if command -v taskset >/dev/null && [ "$(nproc --all)" -gt 1 ]; then
	json_of "$name" "d['oversubscribed'] and d['ranks_per_cpu'] == 2 and 'binding-same-cpus' in traps" \
		mpi_run 2 60 taskset -c 0 "$info" --json
else
	skip "$name" "no taskset, or one cpu"
fi

if ! said=$(hosts_can_run); then
	skip "two hosts" "$said"
	finish
fi

# Through UCX a thread of the target performs operations, whatever the target does.
name="two hosts, transport ucx"
if has_ucx; then
	json_of "$name" "[p['between'] for p in d['paths']] == ['node', 'node', 'remote'] \
		 and net[-1]['transport'] == 'ucx' and net[-1]['asynchronous'] \
		 and 'no-asynchronous-progress' not in traps" \
		hosts_run 2 4 90 --env PAWL_TRANSPORT=ucx -- "$info" --json
else
	skip "$name" "configured without UCX"
fi

# The MPI's windows: over TCP only the target performs operations.
PAWL_TRANSPORT=mpi
export PAWL_TRANSPORT
json_of "two hosts" \
	"d['hosts'] == 2 and d['machines'] == 1 and [p['between'] for p in d['paths']] == ['node', 'node', 'remote'] \
	 and near[0]['asynchronous'] and not net[-1]['asynchronous'] and net[-1]['atomics'] != 'offloaded' \
	 and net[-1]['target_asleep_ms'] > 100 and net[-1]['ns']['get'] > near[0]['ns']['get']" \
	hosts_run 2 4 90 -- "$info" --json
name="the trap of MPICH's end over hosts"
if [ "$TEST_MPI" = mpich ]; then
	check "$name" json "$file" "('mpich-finalize-hosts' in traps) == d['mpi'].startswith(('MPICH 4.0', 'MPICH 4.1'))"
else
	skip "$name" "not MPICH"
fi
name="the trap of Open MPI's default component over hosts, and why there are no tables"
if [ "$TEST_MPI" = openmpi ] && [ -z "$user_osc" ]; then
	OMPI_MCA_osc=rdma,sm
	export OMPI_MCA_osc
	json_of "$name" "d['mpi'].startswith('Open MPI v4') <= ('openmpi-osc-rdma-hosts' in traps \
		and 'OMPI_MCA_osc=^rdma' in d['error'] and not d['paths'])" hosts_run 2 4 90 -- "$info" --json
	restore_osc
else
	skip "$name" "not Open MPI, or OMPI_MCA_osc is set"
fi
PAWL_PROGRESS=thread
export PAWL_PROGRESS
json_of "two hosts, progress=thread: a target that sleeps is no matter" \
	"net[-1]['asynchronous'] and net[-1]['target_asleep_ms'] < 100 and 'no-asynchronous-progress' not in traps" \
	hosts_run 2 4 90 -- "$info" --json
unset PAWL_PROGRESS

finish

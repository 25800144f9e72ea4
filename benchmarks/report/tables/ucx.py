# SPDX-License-Identifier: BSD-3-Clause
"""The transport over UCX between hosts, compared with ucx_perftest and the MPI's windows. Needs
root, for network namespaces; without ucx_perftest (package ucx-utils) its columns are empty."""
from __future__ import annotations

import re
import shutil
from collections import defaultdict

from ..launch import Build, Output, Progress, complain
from ..results import Result
from ..stats import paired_ratio, spread
from ..text import Table, digits, rate, with_spread

PARTS = ("latency", "contended", "asleep")
REPETITIONS = 5
SECONDS = 0.5
LIMIT = 100

# Rank 0 of two serves, rank 1 measures.
PERFTEST = """
rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}
export UCX_TLS=tcp,self UCX_NET_DEVICES=eth0
for test in fadd swap cswap; do
	for event in poll sleep; do
		if [ "$rank" = 0 ]; then
			timeout 10 ucx_perftest -E $event >/dev/null 2>&1
		else
			sleep 0.3
			timeout 10 ucx_perftest -E $event -t ucp_$test -s 8 -n 1000 -w 100 h1 |
				awk -v row="$event $test" '/Final/ { print row, $3, $5 }'
		fi
	done
done
"""
PERFTEST_NAMES = {"fadd": "fetch-add", "swap": "swap", "cswap": "compare-and-swap"}


def job(build: Build, count: int, ranks: int, program: list[str], own_cores: bool = False,
        env: dict[str, str] | None = None) -> Output:
    """Run a job on that many hosts, and complain if it fails."""
    out = build.run(program, ranks=ranks, hosts=count, osc="^rdma", env=env, limit=LIMIT,
                    own_cores=own_cores)
    if out.status != 0:
        complain(f"{program[0]}: status {out.status}", out.errors)
    return out


# ------------------------------------------------------------------ latency

def read_latencies(text: str, samples: dict[tuple[str, str], list[tuple[float, float]]]) -> None:
    """Lines "WAY OPERATION MEDIAN [QUARTILE] MEAN" of ucx-latency and of PERFTEST."""
    for line in text.splitlines():
        words = line.split()
        if len(words) in (4, 5):
            operation = PERFTEST_NAMES.get(words[1], words[1])
            samples[words[0], operation].append((float(words[2]), float(words[-1])))


def latency_cell(of: list[tuple[float, float]]) -> str:
    medians, means = spread(m for m, _ in of), spread(m for _, m in of)
    return f"{with_spread(medians)}, mean {digits(means.median)}" if medians and means else "-"


def latency(build: Build, args, progress: Progress) -> bool:
    samples: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    program = build.program("benchmarks/ucx-latency", "make benchmarks/ucx-latency")
    for i in range(args.repetitions):
        progress.step(f"latency, round {i + 1}")
        read_latencies(job(build, 2, 2, [program, "3"], own_cores=True).text, samples)
        if shutil.which("ucx_perftest"):
            read_latencies(job(build, 2, 2, ["sh", "-c", PERFTEST], own_cores=True).text, samples)
    progress.clear()
    table = Table("us: median of the rounds (and their spread), mean", "UCX, home asleep",
                  f"{build.mpi}, home polls", "ucx_perftest polls", "sleeps")
    for operation in ("fetch-add", "swap", "compare-and-swap", "d-mcs", "d-mcs-apart"):
        table.row(operation, *(latency_cell(samples[way, operation])
                               for way in ("ucx", "mpi", "poll", "sleep")))
    return bool(samples)


# ---------------------------------------------------------------- contended

def contended(build: Build, args, progress: Progress) -> bool:
    measured: dict[tuple[int, str], list[float]] = defaultdict(list)
    program = build.program("benchmarks/pawl-bench")
    for count in (2, 4):
        for i in range(args.repetitions):
            progress.step(f"contended, {count} hosts, round {i + 1}")
            for transport in ("ucx", "mpi"):
                out = job(build, count, 2 * count, [
                    program, "--bench=ecsb", "--lock=rma-mcs", "--no-verify", "-o",
                    f"transport={transport}", f"--seconds={args.seconds:g}", "--repetitions=1",
                    "--progress=never", "--json"])
                of: list[Result] = out.results
                measured[count, transport].append(of[0].throughput if of else 0)
    progress.clear()
    table = Table("rma-mcs, ECSB, acquires a second", "UCX", build.mpi, "ratio")
    for count in (2, 4):
        ucx, mpi = measured[count, "ucx"], measured[count, "mpi"]
        table.row(f"{count} hosts x 2", with_spread(spread(ucx), rate),
                  with_spread(spread(mpi), rate), with_spread(paired_ratio(ucx, mpi)))
    return all(v > 0 for of in measured.values() for v in of)


# ------------------------------------------------------------------- asleep

NOTES = (
    ("99 % of acquires and releases, ms", r"^# d-mcs: 99 %.*releases in ([0-9.]+) ms"),
    ("99 % of wake-ups of sleepers, ms", r"^# d-mcs: 99 %.*wake-ups in ([0-9.]+) ms"),
    ("an idle table, % of a core", r"^# at most ([0-9.]+) % of a core"),
)


def asleep(build: Build, args, progress: Progress) -> bool:
    said = ""
    program = build.program("tests/lock/transport/ucx", "make tests/lock/transport/ucx")
    for i in range(args.repetitions):
        progress.step(f"asleep, round {i + 1}")
        said += job(build, 2, 2, [program], env={"PAWL_TRANSPORT": "ucx"}).text
    progress.clear()
    table = Table("the home of a d-mcs sleeps 3 s", f"{args.repetitions} rounds")
    ok = True
    for name, expression in NOTES:
        values = spread(float(v) for v in re.findall(expression, said, re.MULTILINE))
        ok = ok and values is not None
        table.row(name, with_spread(values))
    return ok


DRAW = {"latency": latency, "contended": contended, "asleep": asleep}
STEPS = {"latency": 1, "contended": 2, "asleep": 1}


def measure(build: Build, args) -> bool:
    progress = Progress(sum(STEPS[p] for p in args.part) * args.repetitions)
    ok = True
    print(f"{build.mpi}")
    for part in args.part:
        ok = DRAW[part](build, args, progress) and ok
        print()
    return ok

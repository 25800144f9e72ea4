# SPDX-License-Identifier: BSD-3-Clause
"""Start the programs of a build tree as MPI jobs, on this host or on network namespaces."""
from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import Iterator, Sequence

from .results import BadInput, Result, parse

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""The top of the source tree."""
NETCLUSTER = os.path.join(SOURCE, "tests", "netcluster")
LIMIT = 200
"""Seconds after which a job is ended."""
LAUNCHERS_OF_OPENMPI = ("mpirun", "mpiexec", "orterun", "prterun")

ENVIRONMENT = {
    # Open MPI refuses to run as root without these.
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    # Containers often forbid reading another process's memory.
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
}


@dataclass
class Output:
    """The output of a job, and its status."""

    status: int
    text: str
    errors: str

    @property
    def results(self) -> list[Result]:
        return list(parse(self.text.splitlines()))


def environment(extra: dict[str, str | None]) -> dict[str, str]:
    """The environment of this process, with defaults for unset variables and with extra; None
    unsets a variable."""
    env = {**ENVIRONMENT, **os.environ}
    for name, value in extra.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env


def execute(command: Sequence[str], env: dict[str, str], limit: float, show: bool) -> Output:
    """Run a command in its own process group, which ends with it. show: its output goes to that of
    this program instead of being returned."""
    pipe = None if show else subprocess.PIPE
    sys.stdout.flush()
    process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe,
                               text=True, start_new_session=True)
    try:
        text, errors = process.communicate(timeout=limit)
        return Output(process.returncode, text or "", errors or "")
    except subprocess.TimeoutExpired:
        end_group(process)
        text, errors = process.communicate()
        return Output(124, text or "", f"{errors or ''}\nended after {limit} s")
    except BaseException:
        end_group(process)
        raise


def end_group(process: subprocess.Popen) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(5)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass


@dataclass
class Build:
    """A build tree: its MPI, and its programs."""

    dir: str
    mpi: str = ""
    major: int = 0
    mpirun: str = ""
    warned: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        self.dir = os.path.abspath(self.dir)
        makefile = os.path.join(self.dir, "Makefile")
        try:
            with open(makefile, encoding="utf-8") as file:
                text = file.read()
        except OSError:
            raise BadInput(f"{self.dir} is no build tree: there is no Makefile") from None
        self.mpi = make_variable(text, "PAWL_MPI")
        self.major = int(make_variable(text, "PAWL_MPI_MAJOR") or 0)
        self.mpirun = os.environ.get("MPIRUN") or make_variable(text, "MPIRUN")

    def program(self, name: str, how: str = "make") -> str:
        path = os.path.join(self.dir, name)
        if not os.access(path, os.X_OK):
            raise BadInput(f"{path} is missing: run {how} in {self.dir}")
        return path

    def launcher(self, ranks: int) -> list[str]:
        if self.mpirun in ("", "no"):
            raise BadInput(f"{self.dir}: configure found no launcher; set MPIRUN")
        name = os.path.basename(self.mpirun)
        if self.mpi == "openmpi" and name.startswith(LAUNCHERS_OF_OPENMPI):
            return [self.mpirun, "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
        return [self.mpirun, "-n", str(ranks)]

    def osc(self, hosts: int, wanted: str | None) -> str | None:
        """Open MPI's component for one-sided operations. On one host shared windows need sm; osc
        serves all other windows."""
        if self.mpi != "openmpi" or (wanted is None and self.major > 4):
            return os.environ.get("OMPI_MCA_osc")
        if wanted is None:
            return os.environ.get("OMPI_MCA_osc", "^rdma")
        return wanted if hosts > 1 or wanted.startswith("^") or wanted == "sm" else wanted + ",sm"

    def run(self, program: Sequence[str], *, ranks: int, hosts: int = 1, osc: str | None = None,
            env: dict[str, str] | None = None, limit: float = LIMIT, own_cores: bool = False,
            show: bool = False) -> Output:
        """A job of that many ranks. env: variables of the ranks, which the launcher passes on."""
        of_ranks = env or {}
        chosen = self.osc(hosts, osc)
        if hosts > 1:
            command = [NETCLUSTER, "run", "-n", str(ranks), "--hosts", str(hosts),
                       "--mpi", self.mpi, "--timeout", str(int(limit))]
            command += ["--own-cores"] if own_cores else []
            for name, value in of_ranks.items():
                command += ["--env", f"{name}={value}"]
            command.append("--")
        else:
            command = self.launcher(ranks)
            for name, value in of_ranks.items():
                # Set for the ranks only: the launcher must not have LD_PRELOAD.
                command[1:1] = (["-x", f"{name}={value}"] if self.mpi == "openmpi"
                                else ["-genv", name, value])
        env = environment({"OMPI_MCA_osc": chosen})
        return execute([*command, *program], env, limit + 20, show)

    def bench(self, options: Sequence[str], *, ranks: int, hosts: int = 1,
              osc: str | None = None, limit: float = LIMIT) -> list[Result]:
        """The results of pawl-bench; the messages of a job that failed go to stderr."""
        program = self.program("benchmarks/pawl-bench")
        out = self.run([program, *options, "--progress=never", "--json"], ranks=ranks, hosts=hosts,
                       osc=osc, limit=limit)
        if out.status != 0:
            complain(f"pawl-bench {' '.join(options)}: status {out.status}", out.errors)
        return out.results


def make_variable(makefile: str, name: str) -> str:
    found = re.search(rf"^{name} = (.*)$", makefile, re.MULTILINE)
    return found.group(1).strip() if found else ""


def complain(sentence: str, said: str = "", lines: int = 5) -> None:
    print(f"pawl-report: {sentence}", file=sys.stderr)
    for line in said.strip().splitlines()[-lines:]:
        print(f"    {line}", file=sys.stderr)


class Progress:
    """Shows on stderr which step runs and about how long the rest takes: on a terminal in one line,
    else in a line for each step."""

    def __init__(self, total: int):
        self.total = total
        self.done = 0
        self.start = time.monotonic()
        self.terminal = sys.stderr.isatty()

    def step(self, name: str) -> None:
        """Begin the next step."""
        self.done += 1
        text = f"pawl-report: {self.done} of {self.total}: {name}{self.rest()}"
        if self.terminal:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def show(self, text: str) -> None:
        """On a terminal only: replace the line."""
        if self.terminal:
            spent = time.monotonic() - self.start
            print(f"\r\033[Kpawl-report: {text}, {spent:.0f} s", end="", file=sys.stderr,
                  flush=True)

    def rest(self) -> str:
        finished = self.done - 1
        if finished < 1:
            return ""
        spent = time.monotonic() - self.start
        left = spent / finished * (self.total - finished)
        return f" (about {left:.0f} s left)" if left >= 1 else ""

    def clear(self) -> None:
        """Clear the line before other output."""
        if self.terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def builds(dirs: Sequence[str]) -> Iterator[Build]:
    for name in dirs or ["."]:
        yield Build(name)

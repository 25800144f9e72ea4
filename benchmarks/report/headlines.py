# SPDX-License-Identifier: BSD-3-Clause
"""The headlines of the papers, judged by the data of the simulated figures (pawl-report reproduce).

Each is a figure that the paper states in its abstract or in the text of its evaluation, the same
figure here, and whether it is reached."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Callable, Iterable, Iterator

from . import data
from .simulate import UNSTEADY
from .text import digits

VARIED = "varied"
"""The file with the headlines on other machines (vary.py)."""
AS_IT_IS = "as it is"
BEYOND = 1.5
"""So many times the paper's figure is beyond it."""

Key = tuple[str, str, str]
"""Panel (without the name of x), series and x."""


class Points:
    """The values of a figure, which notes those that are read."""

    def __init__(self, values: dict[Key, float]):
        self.values = values
        self.read: set[Key] = set()

    def __getitem__(self, key: Key) -> float:
        value = self.values[key]
        self.read.add(key)
        return value

    def of(self, panel: str, take: Callable[[str, str], bool]) -> dict[tuple[str, str], float]:
        """The values of a panel whose series and x are taken."""
        return {(s, x): self[p, s, x] for p, s, x in self.values if p == panel and take(s, x)}

    def beside(self, name: str) -> dict[Key, float]:
        """What stands beside the values that were read, by their keys."""
        of = {(p + data.BESIDE + name, s, x): (p, s, x) for p, s, x in self.read}
        return {of[key]: v for key, v in self.values.items() if key in of}


def values(panels: Iterable[data.Panel]) -> dict[Key, float]:
    return {(panel.title, series, x): value for panel in panels
            for series, points in panel.series.items() for x, value in points}


def read(folder: str, figure: str) -> dict[Key, float]:
    """Empty if the figure has not been simulated."""
    path = os.path.join(folder, f"fig{figure}.tsv")
    return values(data.read(path)) if os.path.exists(path) else {}


def peak(points: Points, panel: str, *series: str, prefix: str = "") -> float:
    """The highest value of one of the series, over all x."""
    return max(points.of(panel, lambda s, x: s in series or bool(prefix and s.startswith(prefix))
                         ).values())


@dataclass(frozen=True)
class Headline:
    paper: str
    claim: str
    figure: str
    wanted: float
    """What the paper has; a ratio, unless the claim says otherwise."""
    value: Callable[[Points], float]
    at_most: bool = False
    """Reached if the value is at most the wanted one, not at least."""

    @property
    def name(self) -> str:
        return f"{self.paper}: {self.claim}"

    def holds(self, value: float) -> bool:
        return value <= self.wanted if self.at_most else value >= self.wanted


@dataclass(frozen=True)
class Verdict:
    of: Headline
    value: float
    unsteady: tuple[str, ...] = ()
    """The series whose runs are not steady."""
    fairness: float = 1.0
    """The least of Jain's indices of the rates."""
    hangs_on: tuple[str, ...] | None = None
    """The constants of the machine with which it changes; None: not tried."""

    @property
    def reached(self) -> bool:
        return self.of.holds(self.value)

    @property
    def word(self) -> str:
        if self.unsteady or self.hangs_on:
            return "undecidable"
        if not self.reached:
            return "short"
        by = (self.of.wanted, self.value) if self.of.at_most else (self.value, self.of.wanted)
        return "beyond" if by[0] >= BEYOND * by[1] else "reached"

    @property
    def hangs(self) -> str:
        """On what the verdict hangs."""
        if self.unsteady:
            return "not steady: " + ", ".join(self.unsteady)
        if self.hangs_on is None:
            return "not varied"
        return ", ".join(self.hangs_on) or "nothing"

    @property
    def cells(self) -> tuple[str, ...]:
        here = "-" if self.unsteady else digits(self.value)
        return (self.of.name, digits(self.of.wanted), here, self.word, self.hangs,
                digits(self.fairness), self.of.figure)


COLUMNS = ("headline", "the paper", "here", "verdict", "it hangs on", "fairness", "figure")


def latency_ratio(slow: str) -> Callable[[Points], float]:
    panel = "LB: mean latency, us"
    return lambda p: p[panel, slow, "1024"] / p[panel, "rma-mcs", "1024"]


def readers_ratio(bench: str) -> Callable[[Points], float]:
    """The least ratio over F_W and P >= 64."""
    panel = f"{bench}: acquires a second"
    return lambda p: min(v / p[panel, f"fompi-{s[4:]}", x] for (s, x), v in p.of(
        panel, lambda s, x: s.startswith("rma-rw") and int(x) >= 64).items())


def readers_mean(bench: str) -> Callable[[Points], float]:
    """The mean ratio over F_W and P."""
    panel = f"{bench}: acquires a second"

    def value(p: Points) -> float:
        ratios = [v / p[panel, f"fompi-{s[4:]}", x] for (s, x), v in p.of(
            panel, lambda s, x: s.startswith("rma-rw")).items()]
        return sum(ratios) / len(ratios)
    return value


def table_ratio(other: str) -> Callable[[Points], float]:
    """The least ratio of the times of the hash table with 256 ranks, over F_W."""
    return lambda p: min(p[f"F_W {fw} %: seconds", other, "256"]
                         / p[f"F_W {fw} %: seconds", "rma-rw", "256"] for fw in (2, 5, 20))


def near_ratio(other: str, locks: int, shares: tuple[int, ...]) -> Callable[[Points], float]:
    """The highest ratio of alock with 4 threads a node or more, so that they contend."""
    panels = [f"5: {nodes} nodes, {locks} locks, {near} % near: acquires a second"
              for nodes in (5, 10, 20) for near in shares]
    return lambda p: max(v / p[panel, other, x] for panel in panels for (_, x), v in p.of(
        panel, lambda s, x: s == "alock" and int(x) >= 4).items())


def budget_gain(p: Points) -> float:
    """The highest ratio of a remote budget of 20 over one of 5, of the mean over the mixes."""
    gains: dict[str, list[float]] = {}
    for near in (85, 90, 95):
        panel = f"4: 20 nodes, 100 locks, {near} % near: acquires a second"
        for (_, x), v in p.of(panel, lambda s, x: s == "remote budget 20").items():
            gains.setdefault(x, []).append(v / p[panel, "remote budget 5", x])
    return max(sum(some) / len(some) for some in gains.values())


def shift_ratio(x: str, other: str, own: str = "shiftlock") -> Callable[[Points], float]:
    panel = "4: acquires a second"
    return lambda p: p[panel, own, x] / p[panel, other, x]


def shift_tail(x: str, other: str, own: str = "shiftlock") -> Callable[[Points], float]:
    """The share by which p99 of shiftlock is below that of the other."""
    panel = "5: 99 % latency, us"
    return lambda p: 1 - p[panel, own, x] / p[panel, other, x]


def transaction_ratio(bench: str, other: str) -> Callable[[Points], float]:
    panel = "10: transactions a second"
    return lambda p: p[panel, "shiftlock", bench] / p[panel, other, bench]


def median_saved(kind: str) -> Callable[[Points], float]:
    """The share by which the median of a transaction is below that of dslr-printed."""
    panel = f"10: tatp {kind}, latency, us"
    return lambda p: 1 - p[panel, "shiftlock", "50"] / p[panel, "dslr-printed", "50"]


def file_ratio(panel: str, *others: str) -> Callable[[Points], float]:
    """The highest ratio of citron over the best of the others."""
    return lambda p: max(v / max(p[panel, other, x] for other in others)
                         for (_, x), v in p.of(panel, lambda s, x: s == "citron").items())


def over_servers(length: int, servers: tuple[str, ...]) -> Callable[[Points], float]:
    panel = f"6: L = {length}, acquires a second"
    return lambda p: peak(p, panel, "citron") / peak(p, panel, *servers)


def over_segments(length: int) -> Callable[[Points], float]:
    panel = f"6: L = {length}, acquires a second"
    return lambda p: peak(p, panel, "citron") / peak(p, panel, prefix="ss-")


def over_exact(p: Points) -> float:
    """The mean over the numbers of clients, as in the paper."""
    panel = "6: L = 1, acquires a second"
    ratios = [v / p[panel, "ss-exact", x]
              for (_, x), v in p.of(panel, lambda s, x: s == "citron").items()]
    return sum(ratios) / len(ratios)


def mixed(clients: int) -> Callable[[Points], float]:
    panel = "7: all, acquires a second"

    def value(p: Points) -> float:
        others = p.of(panel, lambda s, x: x == str(clients) and s not in ("citron", "llc"))
        return p[panel, "citron", str(clients)] / max(others.values())
    return value


def range_tail(length: int) -> Callable[[Points], float]:
    """p99 of citron over that of the segments with the shortest, with 192 clients."""
    panel = f"6: L = {length}, 99 % latency, us"
    return lambda p: p[panel, "citron", "192"] / min(p.of(
        panel, lambda s, x: x == "192" and s.startswith("ss-")).values())


MCS, RW, ALOCK, SHIFT, CITRON = "RMA-MCS", "RMA-RW", "ALock", "ShiftLock", "Citron"

HEADLINES = (
    Headline(MCS, "latency of foMPI-Spin over it, P = 1024", "3", 10, latency_ratio("fompi-spin")),
    Headline(MCS, "latency of D-MCS over it, P = 1024", "3", 4, latency_ratio("d-mcs")),
    Headline(RW, "over foMPI-RW, ECSB, P >= 64, the least", "5", 6, readers_ratio("ECSB")),
    Headline(RW, "over foMPI-RW, SOB, P >= 64, the least", "5", 6, readers_ratio("SOB")),
    Headline(RW, "over foMPI-RW, ECSB, the mean", "5", 7.2, readers_mean("ECSB")),
    Headline(RW, "time of foMPI-RW over it, hash table, P = 256, the least", "6", 1,
             table_ratio("fompi-rw")),
    Headline(RW, "time of foMPI-A over it, hash table, P = 256, the least", "6", 1,
             table_ratio("fompi-a")),
    *(Headline(ALOCK, f"over {name}, 20 locks, all near, the highest", "alock", wanted,
               near_ratio(other, 20, (100,)))
      for name, other, wanted in (("the MCS lock as printed", "mcs-printed", 24),
                                  ("the better MCS lock", "rdma-mcs", 24),
                                  ("the spin lock", "rdma-spin", 22))),
    *(Headline(ALOCK, f"over {name}, 20 locks, 85 to 95 % near, the highest", "alock", wanted,
               near_ratio(other, 20, (85, 90, 95)))
      for name, other, wanted in (("the MCS lock as printed", "mcs-printed", 29),
                                  ("the better MCS lock", "rdma-mcs", 29),
                                  ("the spin lock", "rdma-spin", 24))),
    *(Headline(ALOCK, f"over {name}, 1000 locks, 85 to 95 % near, the highest", "alock", wanted,
               near_ratio(other, 1000, (85, 90, 95)))
      for name, other, wanted in (("the MCS lock as printed", "mcs-printed", 3.8),
                                  ("the spin lock", "rdma-spin", 3.3))),
    Headline(ALOCK, "a remote budget of 20 over 5, 100 locks, the highest", "alock", 1.23,
             budget_gain),
    *(Headline(SHIFT, f"over {name}, {mix}", "shift4", wanted, shift_ratio(f"{mix} Zipf.", other))
      for name, other, some in (
          ("the MCS lock of its artefact", "mcs-counted", (1.65, 3.62)),
          ("the better MCS lock", "d-mcs", (1.65, 3.62)),
          ("RMA-RW of its artefact", "rma-rw-entry", (1.27, 1.26)),
          ("the better RMA-RW", "rma-rw", (1.27, 1.26)))
      for mix, wanted in zip(("WI", "RI"), some)),
    *(Headline(SHIFT, f"with a lease of 10 ms, over {name} of its artefact, {mix}", "shift4",
               wanted,
               shift_ratio(f"{mix} Zipf.", other, "shiftlock, lease 10 ms"))
      for name, other, some in (("the MCS lock", "mcs-counted", (1.65, 3.62)),
                                ("RMA-RW", "rma-rw-entry", (1.27, 1.26)))
      for mix, wanted in zip(("WI", "RI"), some)),
    *(Headline(SHIFT, f"with messages over new connections, over {name} of its artefact, {mix}",
               "shift4", wanted,
               shift_ratio(f"{mix} Zipf.", f"{other}, messages", "shiftlock, messages"))
      for name, other, some in (("the MCS lock", "mcs-counted", (1.65, 3.62)),
                                ("RMA-RW", "rma-rw-entry", (1.27, 1.26)))
      for mix, wanted in zip(("WI", "RI"), some)),
    Headline(SHIFT, "share of the better MCS lock's p99 that it saves, WI", "shift4", 0.0625,
             shift_tail("WI Zipf.", "d-mcs")),
    Headline(SHIFT, "with rows of 16, share of the better MCS lock's p99 that it saves, WI",
             "shift4", 0.0625, shift_tail("WI Zipf.", "d-mcs", "shiftlock, rows of 16")),
    *(Headline(SHIFT, f"share of the p99 of the MCS lock of its artefact that it saves, {mix}",
               "shift4", wanted, shift_tail(f"{mix} Zipf.", "mcs-counted"))
      for mix, wanted in (("WI", 0.0625), ("RI", 0.766))),
    *(Headline(SHIFT, f"with messages over new connections, the same, {mix}", "shift4", wanted,
               shift_tail(f"{mix} Zipf.", "mcs-counted, messages", "shiftlock, messages"))
      for mix, wanted in (("WI", 0.0625), ("RI", 0.766))),
    Headline(SHIFT, "share of the p99 of RMA-RW of its artefact that it saves, RI", "shift4", 0.766,
             shift_tail("RI Zipf.", "rma-rw-entry")),
    Headline(SHIFT, "share of the better RMA-RW's p99 that it saves, RI", "shift4", 0.766,
             shift_tail("RI Zipf.", "rma-rw")),
    *(Headline(SHIFT, f"{text}, over {name}", "shift10", wanted, transaction_ratio(bench, other))
      for name, other, some in (
          ("the MCS lock of its artefact", "mcs-counted", (1.069, 1.09)),
          ("the better MCS lock", "d-mcs", (1.069, 1.09)),
          ("RMA-RW of its artefact", "rma-rw-entry", (2.85, 2.14)),
          ("the better RMA-RW", "rma-rw", (2.85, 2.14)))
      for bench, text, wanted in zip(("tatp", "tpcc"), ("TATP", "TPC-C"), some)),
    *(Headline(SHIFT, f"TATP, share of DSLR's median that it saves, {kind}", "shift10", wanted,
               median_saved(kind)) for kind, wanted in (("GSD", 0.196), ("UL", 0.168))),
    Headline(CITRON, "BT-IO, over the server LLC, the most", "citron8", 3.05,
             file_ratio("8: BT-IO, writes a second", "llc")),
    Headline(CITRON, "BT-IO, over the servers IT and MT, the most", "citron8", 3.05,
             file_ratio("8: BT-IO, writes a second", "it", "mt")),
    Headline(CITRON, "BT-IO, over SS with exact segments, the most", "citron8", 2.13,
             file_ratio("8: BT-IO, writes a second", "ss")),
    Headline(CITRON, "OLTP, over the server LLC", "citrontable2", 0.922,
             file_ratio("table 2: OLTP, operations a second", "llc")),
    Headline(CITRON, "OLTP, over SS with segments of 4 KB", "citrontable2", 1.358,
             file_ratio("table 2: OLTP, operations a second", "ss")),
    Headline(CITRON, "over the servers IT and MT, L = 1, peak", "citron6", 1.56,
             over_servers(1, ("it", "mt"))),
    Headline(CITRON, "over the server LLC, L = 1, peak", "citron6", 1.56,
             over_servers(1, ("llc",))),
    Headline(CITRON, "over the servers IT and MT, L = 16, peak", "citron6", 1.76,
             over_servers(16, ("it", "mt"))),
    Headline(CITRON, "over the server LLC, L = 16, peak", "citron6", 1.76,
             over_servers(16, ("llc",))),
    Headline(CITRON, "over SS with exact segments, L = 1, the mean", "citron6", 0.554, over_exact),
    Headline(CITRON, "over the best SS, L = 16, peak", "citron6", 1.287, over_segments(16)),
    Headline(CITRON, "over the best SS, L = 256, peak", "citron6", 1.386, over_segments(256)),
    Headline(CITRON, "p99 over that of the best SS, L = 16, 192 clients", "citron6", 1,
             range_tail(16), at_most=True),
    Headline(CITRON, "p99 over that of the best SS, L = 256, 192 clients", "citron6", 1,
             range_tail(256), at_most=True),
    Headline(CITRON, "over the best but LLC, mixed, 63 clients", "citron7", 1.277, mixed(63)),
    Headline(CITRON, "over the best but LLC, mixed, 129 clients", "citron7", 1.517, mixed(129)),
    Headline(CITRON, "over the best but LLC, mixed, 192 clients", "citron7", 1.559, mixed(192)),
    Headline(CITRON, "aborts an acquire, 192 clients", "citron12", 0.01,
             lambda p: p["12: aborts an acquire", "citron", "192"], at_most=True),
)


def judge_one(headline: Headline, all_values: dict[Key, float],
              varied: dict[Key, float]) -> Verdict | None:
    """None: the figure lacks a value, because it is older. varied: read(folder, VARIED)."""
    points = Points(all_values)
    try:
        value = headline.value(points)
    except (KeyError, ValueError, ZeroDivisionError):
        return None
    unsteady = sorted({f"{series} at {x}" for _, series, x in points.beside(UNSTEADY)})
    fairness = min(points.beside("Jain's index").values(), default=1.0)
    tried = {x: headline.holds(v) for (_, series, x), v in varied.items()
             if series == headline.name}
    changed = [x for x, holds in tried.items() if holds != tried[AS_IT_IS]]
    return Verdict(headline, value, tuple(unsteady), fairness, tuple(changed) if tried else None)


def judge(folder: str) -> Iterator[Verdict]:
    """The headlines whose figures are in the folder."""
    figures = {figure: read(folder, figure) for figure in {h.figure for h in HEADLINES}}
    varied = read(folder, VARIED)
    for headline in HEADLINES:
        verdict = judge_one(headline, figures[headline.figure], varied)
        if verdict:
            yield verdict

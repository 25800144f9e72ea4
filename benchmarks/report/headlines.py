# SPDX-License-Identifier: BSD-3-Clause
"""The headlines of the papers, judged by the data of the simulated figures (pawl-report reproduce).

Each is a figure that the paper states in its abstract or in the text of its evaluation, the same
figure here, and whether it is reached."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Callable, Iterator

from . import data
from .text import digits

Points = dict[tuple[str, str, str], float]
"""Of a figure's file: the value at panel (without the name of x), series and x."""


def read(folder: str, figure: str) -> Points:
    """Empty if the figure has not been simulated."""
    path = os.path.join(folder, f"fig{figure}.tsv")
    if not os.path.exists(path):
        return {}
    return {(panel.title, series, x): value for panel in data.read(path)
            for series, points in panel.series.items() for x, value in points}


def peak(points: Points, panel: str, *series: str, prefix: str = "") -> float:
    """The highest value of one of the series, over all x."""
    return max(v for (p, s, _), v in points.items()
               if p == panel and (s in series or (prefix and s.startswith(prefix))))


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


@dataclass(frozen=True)
class Verdict:
    of: Headline
    value: float

    @property
    def reached(self) -> bool:
        return self.value <= self.of.wanted if self.of.at_most else self.value >= self.of.wanted

    def __str__(self) -> str:
        verdict = "reached" if self.reached else "short"
        return (f"{verdict:<8} {self.of.paper}: {self.of.claim}: {digits(self.value)}"
                f" (the paper: {digits(self.of.wanted)}; figure {self.of.figure})")


def latency_ratio(slow: str) -> Callable[[Points], float]:
    panel = "LB: mean latency, us"
    return lambda p: p[panel, slow, "1024"] / p[panel, "rma-mcs", "1024"]


def readers_ratio(bench: str) -> Callable[[Points], float]:
    """The least ratio over F_W and P >= 64."""
    panel = f"{bench}: acquires a second"
    return lambda p: min(p[panel, f"rma-rw {fw} %", x] / p[panel, f"fompi-rw {fw} %", x]
                         for fw in ("0.2", "2", "5") for x in ("64", "128", "256", "512", "1024"))


def readers_mean(bench: str) -> Callable[[Points], float]:
    """The mean ratio over F_W and P."""
    panel = f"{bench}: acquires a second"

    def value(p: Points) -> float:
        ratios = [v / p[panel, s.replace("rma-rw", "fompi-rw"), x] for (at, s, x), v in p.items()
                  if at == panel and s.startswith("rma-rw")]
        return sum(ratios) / len(ratios)
    return value


def table_ratio(other: str) -> Callable[[Points], float]:
    """The least ratio of the times of the hash table with 256 ranks, over F_W."""
    return lambda p: min(p[f"F_W {fw} %: seconds", other, "256"]
                         / p[f"F_W {fw} %: seconds", "rma-rw", "256"] for fw in (2, 5, 20))


def near_ratio(other: str, shares: tuple[int, ...]) -> Callable[[Points], float]:
    """The highest ratio of alock with 20 locks and 4 or 8 threads a node, so that they contend."""
    panels = [f"5: 20 nodes, 20 locks, {near} % near: acquires a second" for near in shares]
    return lambda p: max(v / p[panel, other, x] for (panel, s, x), v in p.items()
                         if panel in panels and s == "alock" and x in ("80", "160"))


def shift_ratio(x: str, other: str, panel: str = "4: acquires a second") -> Callable[[Points],
                                                                                     float]:
    return lambda p: p[panel, "shiftlock", x] / p[panel, other, x]


def shift_tail(p: Points) -> float:
    """The share by which p99 of shiftlock is below that of rma-rw, in RI."""
    panel = "5: 99 % latency, us"
    return 1 - p[panel, "shiftlock", "RI Zipf."] / p[panel, "rma-rw", "RI Zipf."]


def over_servers(length: int, servers: tuple[str, ...]) -> Callable[[Points], float]:
    panel = f"6: L = {length}, acquires a second"
    return lambda p: peak(p, panel, "citron") / peak(p, panel, *servers)


def over_segments(length: int) -> Callable[[Points], float]:
    panel = f"6: L = {length}, acquires a second"
    return lambda p: peak(p, panel, "citron") / peak(p, panel, prefix="ss-")


def over_exact(p: Points) -> float:
    """The mean over the numbers of clients, as in the paper."""
    panel = "6: L = 1, acquires a second"
    ratios = [v / p[panel, "ss-exact", x] for (at, s, x), v in p.items()
              if at == panel and s == "citron"]
    return sum(ratios) / len(ratios)


def mixed(clients: int) -> Callable[[Points], float]:
    panel = "7: all, acquires a second"

    def value(p: Points) -> float:
        others = [v for (at, s, x), v in p.items()
                  if at == panel and x == str(clients) and s not in ("citron", "llc")]
        return p[panel, "citron", str(clients)] / max(others)
    return value


MCS, RW, ALOCK, SHIFT, CITRON = "RMA-MCS", "RMA-RW", "ALock", "ShiftLock", "Citron"
COSTLY = "4, costly puts: acquires a second"

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
    Headline(ALOCK, "over the MCS lock, 20 locks, all near, the highest", "alock", 24,
             near_ratio("rdma-mcs", (100,))),
    Headline(ALOCK, "over the spin lock, 20 locks, all near, the highest", "alock", 22,
             near_ratio("rdma-spin", (100,))),
    Headline(ALOCK, "over the MCS lock, 20 locks, 85 or 95 % near, the highest", "alock", 29,
             near_ratio("rdma-mcs", (85, 95))),
    Headline(ALOCK, "over the spin lock, 20 locks, 85 or 95 % near, the highest", "alock", 24,
             near_ratio("rdma-spin", (85, 95))),
    Headline(SHIFT, "over MCS, WI", "shift4", 1.65, shift_ratio("WI Zipf.", "d-mcs")),
    Headline(SHIFT, "over MCS, RI", "shift4", 3.62, shift_ratio("RI Zipf.", "d-mcs")),
    Headline(SHIFT, "over MCS, WI, messages as in the paper", "shift4costly", 1.65,
             shift_ratio("WI Zipf.", "d-mcs", COSTLY)),
    Headline(SHIFT, "over MCS, RI, messages as in the paper", "shift4costly", 3.62,
             shift_ratio("RI Zipf.", "d-mcs", COSTLY)),
    Headline(SHIFT, "over RMA-RW, WI", "shift4", 1.27, shift_ratio("WI Zipf.", "rma-rw")),
    Headline(SHIFT, "over RMA-RW, RI", "shift4", 1.26, shift_ratio("RI Zipf.", "rma-rw")),
    Headline(SHIFT, "share of RMA-RW's p99 that it saves, RI", "shift4", 0.766, shift_tail),
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
    Headline(CITRON, "over the best but LLC, mixed, 63 clients", "citron7", 1.277, mixed(63)),
    Headline(CITRON, "over the best but LLC, mixed, 129 clients", "citron7", 1.517, mixed(129)),
    Headline(CITRON, "over the best but LLC, mixed, 192 clients", "citron7", 1.559, mixed(192)),
    Headline(CITRON, "aborts an acquire, 192 clients", "citron12", 0.01,
             lambda p: p["12: aborts an acquire", "citron", "192"], at_most=True),
)


def judge(folder: str) -> Iterator[Verdict]:
    """The headlines whose figures are in the folder."""
    data = {figure: read(folder, figure) for figure in dict.fromkeys(h.figure for h in HEADLINES)}
    for headline in HEADLINES:
        points = data[headline.figure]
        try:
            value = headline.value(points) if points else None
        except (KeyError, ValueError):
            continue  # older data, without a series
        if value is not None:
            yield Verdict(headline, value)

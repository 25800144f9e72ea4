# SPDX-License-Identifier: BSD-3-Clause
"""The JSON lines that pawl-bench and pawl-sim print: one for each lock of each workload."""
from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Iterable, Iterator

from .stats import Spread, spread


class BadInput(Exception):
    """Wrong input: a message for the user, which names the file."""


@dataclass(frozen=True)
class Result:
    """One lock in one workload. Every field of the line is in json; those used often have names."""

    json: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        # lock, bench, mpi, ranks, nodes, active, fw, locks, zipf, throughput, fairness, ...
        try:
            return self.json[name]
        except KeyError:
            raise AttributeError(name) from None

    def get(self, name: str, otherwise: Any = None) -> Any:
        return self.json.get(name, otherwise)

    @property
    def speeds(self) -> list[float]:
        """Acquires (or transactions) a second of each repetition."""
        return self.json.get("throughputs") or [self.json["throughput"]]

    @property
    def speed(self) -> Spread | None:
        return spread(self.speeds)

    @property
    def p50(self) -> float:
        return self.json["latency_ns"]["p50"]

    @property
    def p99(self) -> float:
        return self.json["latency_ns"]["p99"]

    def operation(self, name: str) -> float | None:
        """Operations of that kind for an acquire and its release; None if they are not counted."""
        return (self.json.get("ops_per_acquire") or {}).get(name)

    def times(self, name: str) -> dict[str, Any]:
        """One of the workload's own series of times; {} if it has no samples."""
        series = self.json.get("times", {}).get(name, {})
        return series if series.get("count") else {}


def parse(lines: Iterable[str], source: str = "the output") -> Iterator[Result]:
    """The results among the lines; other lines, such as those of a table, are ignored."""
    for number, line in enumerate(lines, 1):
        if not line.startswith('{"lock"'):
            continue
        try:
            yield Result(json.loads(line))
        except ValueError as error:
            raise BadInput(f"{source}, line {number}: not JSON: {error}") from None


def read(path: str) -> list[Result]:
    """Of a file."""
    try:
        with open(path, encoding="utf-8") as file:
            return list(parse(file, path))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from None


def by_lock(results: Iterable[Result]) -> dict[str, Result]:
    return {r.lock: r for r in results}

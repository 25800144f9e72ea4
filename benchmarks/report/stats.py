# SPDX-License-Identifier: BSD-3-Clause
"""Medians and spreads of repetitions."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Sequence

import numpy as np

QUARTILES_FROM = 5
"""With fewer values than this the spread is from the smallest to the largest."""


@dataclass(frozen=True)
class Spread:
    """A median, with the range of the repetitions."""

    median: float
    low: float
    high: float
    count: int


def spread(values: Iterable[float]) -> Spread | None:
    """The median with the quartiles, or with the smallest and the largest of a few values."""
    v = np.asarray(list(values), dtype=float)
    if v.size == 0:
        return None
    if v.size >= QUARTILES_FROM:
        low, high = np.quantile(v, [0.25, 0.75])
    else:
        low, high = v.min(), v.max()
    return Spread(float(np.median(v)), float(low), float(high), int(v.size))


def median(values: Iterable[float]) -> float | None:
    s = spread(values)
    return s.median if s else None


def paired_ratio(above: Sequence[float], below: Sequence[float]) -> Spread | None:
    """above / below, repetition by repetition: contestants take turns, so a disturbance of the
    machine affects both values of a pair."""
    pairs = [a / b for a, b in zip(above, below) if b > 0]
    return spread(pairs)

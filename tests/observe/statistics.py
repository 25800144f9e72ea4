# SPDX-License-Identifier: BSD-3-Clause
"""What tests/contended.sh expects in a file of PAWL_STATS=json:FILE.

    statistics.py table FILE              of examples/contended with three rows of locks
    statistics.py levels FILE CONDITION   an expression on the hand-overs by level
    statistics.py lock FILE               PAWL_INJECT has made holds of lock 5 longer, by 20 ms
    statistics.py site FILE PLACE         ... holds that begin at a place, by 500 us
"""
import json
import sys


def check_table(table):
    lock = table["locks"][0]
    assert len(table["locks"]) == 3, table
    assert lock["lock"] == "5" and lock["max_hold_rank"] == 1, lock
    assert lock["max_hold_ns"] >= 3000000, lock
    assert sum(lock["handovers"].values()) == lock["contended"], lock
    assert sum(site["acquires"] for site in table["sites"]) == 2 * 60 * 21, table["sites"]


def check_levels(table, condition):
    levels = table["locks"][0]["handovers"]
    print(levels)
    assert eval(condition, levels), levels


def check_lock(table):
    lock = table["locks"][0]
    assert lock["lock"] == "5" and lock["max_hold_rank"] == 0, lock
    assert lock["max_hold_ns"] >= 20000000, lock


def check_site(table, place):
    mean = {site["site"]: site["hold_ns"] / site["acquires"] for site in table["sites"]}
    slow = [m for text, m in mean.items() if place in text.split(" at ")]
    print(mean)
    # Rank 0 makes half of the acquires; rank 1 holds the hot lock for 3 ms.
    expected = 250000 + (1500000 if "contended" in place else 0)
    assert len(slow) == 1 and slow[0] >= expected, slow
    assert "contended" not in place or min(mean.values()) < 250000, mean


with open(sys.argv[2], encoding="utf-8") as f:
    first = json.loads(f.readline())
{"table": check_table, "levels": check_levels, "lock": check_lock,
 "site": check_site}[sys.argv[1]](first, *sys.argv[3:])

# SPDX-License-Identifier: BSD-3-Clause
"""What tests/trace.sh expects in a time line of examples/contended.

    events.py job FILE            three ranks: the holds of lock 5, and hand-overs from the past
    events.py hosts FILE          ranks of two hosts: most waits have an arrow, some from far
    events.py otf2 FILE ARCHIVE   what pawl-trace --otf2 wrote has a record of each wait and hold
"""
import collections
import json
import sys


def check_job(events):
    holds = [e for e in events if e["ph"] == "X" and e["cat"] == "hold" and e["name"] == "lock 5"]
    hands = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = [e for e in events if e["ph"] == "f"]
    assert {e["pid"] for e in holds} == {0, 1, 2}, "all ranks hold lock 5"
    slow = [e for e in holds if e["pid"] == 1]
    assert min(e["dur"] for e in slow) >= 3000, "rank 1 holds it for 3 ms"
    holds.sort(key=lambda e: e["ts"])
    for a, b in zip(holds, holds[1:]):
        # Between the last look and the clock, another rank may have gone on.
        assert b["ts"] >= a["ts"], "in order"
    late = sum(1 for e in ends if e["ts"] < hands[e["id"]]["ts"])
    assert ends and late == 0, f"{late} of {len(ends)} hand-overs end before they begin"


def check_hosts(events):
    waits = [e for e in events
             if e["ph"] == "X" and e["cat"] == "wait" and e["args"]["lock"] == 5]
    begins = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = [e for e in events if e["ph"] == "f"]
    host = {e["pid"]: e["args"]["name"].split()[-1] for e in events if e["name"] == "process_name"}
    far = [e for e in ends if host[e["pid"]] != host[begins[e["id"]]["pid"]]]
    hosts = set(host.values())
    print(f"{len(waits)} waits, {len(ends)} arrows, {len(far)} of them between {hosts}")
    sys.exit(not (len(hosts) == 2 and far and 3 * len(ends) >= 2 * len(waits)))


def check_otf2(events, archive):
    import otf2

    expected = collections.Counter()
    for e in events:
        if e["ph"] != "X":
            continue
        assert e["cat"] in ("wait", "hold"), "a program without tries"
        waits = e["cat"] == "wait"
        expected.update(["RmaRequestLock"] if waits else ["RmaAcquireLock", "RmaReleaseLock"])
    found, last, ranks = collections.Counter(), {}, set()
    with otf2.reader.open(archive) as opened:
        for location, event in opened.events:
            assert event.time >= last.get(location, 0), "in the order of time"
            last[location] = event.time
            ranks.add(location.group.name)
            if event.lock_id == 5:
                found["of lock 5"] += 1
            found[type(event).__name__] += 1
    print(found, ranks)
    assert len(ranks) == 3 and found.pop("of lock 5") >= 2 * 180 and found == expected, expected


with open(sys.argv[2], encoding="utf-8") as f:
    found_events = json.load(f)["traceEvents"]
{"job": check_job, "hosts": check_hosts,
 "otf2": check_otf2}[sys.argv[1]](found_events, *sys.argv[3:])

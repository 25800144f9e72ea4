#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Time lines that are made up, and what pawl-trace has to find in them, or not; files that are
wrong in one respect, and files that were changed at random; with TEST_LONG=1 a large one. Usage:
findings.py PAWL-TRACE FOLDER [SEED]. Prints TAP."""
import copy
import gzip
import importlib.machinery
import importlib.util
import io
import json
import os
import random
import re
import subprocess
import sys
import threading
import traceback

TOOL, FOLDER = sys.argv[1:3]
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
TABLE, LOCK = 1, 7
CHANGED = 400       # files that are changed at random
LARGE = 10_000_000  # events of a large one
number = 0


class Line:
    """A time line of lock 7, times in microseconds."""

    def __init__(self, ranks):
        self.events = [self.meta("pawl", 0, 0, version=1),
                       self.meta("pawl_table", 0, 0, table=TABLE, about="k, 9 locks")]
        for rank in range(ranks):
            self.events.append(self.meta("process_name", rank, 0, name=f"rank {rank} on h"))
            self.events.append(self.meta("thread_name", rank, 100000, name="slot 0"))
        self.arrows = 0

    @staticmethod
    def meta(kind, pid, tid, **args):
        return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "ts": 0, "args": args}

    def slice(self, category, rank, begin, end, **more):
        self.events.append({"ph": "X", "cat": category, "pid": rank, "tid": 100000, "ts": begin,
                            "dur": end - begin, "name": f"lock {LOCK}",
                            "args": {"table": TABLE, "lock": LOCK, "mode": "exclusively", **more}})

    def use(self, rank, begin, acquired, end):
        """An acquire, which waits if begin is before acquired, and a hold."""
        if begin < acquired:
            self.slice("wait", rank, begin, acquired)
        self.slice("hold", rank, acquired, end)

    def arrow(self, sender, sent, taker, taken):
        self.arrows += 1
        for phase, rank, ts, more in (("s", sender, sent, {}), ("f", taker, taken, {"bp": "e"})):
            self.events.append({"ph": phase, "cat": "hand-over", "pid": rank, "tid": 100000,
                                "ts": ts, "id": self.arrows, "name": "hand-over", **more})

    def file(self):
        return {"displayTimeUnit": "ns", "traceEvents": self.events}


def run(data, *options):
    path = os.path.join(FOLDER, "made-up.json")
    with open(path, "w", encoding="utf-8") as f:
        f.write(data if isinstance(data, str) else json.dumps(data))
    done = subprocess.run([sys.executable, TOOL, *options, path], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", check=False)
    return done.returncode, done.stdout


def report(well, name, said):
    global number
    number += 1
    print(f"{'' if well else 'not '}ok {number} - {name}")
    if not well:
        print("".join(f"# {line}\n" for line in said.splitlines()))


def finds(name, line, *wanted):
    """There are these findings and no other, each given by words that follow each other."""
    code, said = run(line.file())
    found = [text.split(": ", 1)[1] for text in said.splitlines() if text.startswith("lock 7 of")]
    well = code == 0 and len(found) == len(wanted)
    for text, words in zip(found, wanted):
        at = 0
        for word in words:
            at = text.find(word, at)
            well = well and at >= 0
    report(well, name, said)


def refuses(name, data, words):
    code, said = run(data, "--check")
    report(code == 1 and words in said, f"refused: {name}", said)


def queue(ranks, holds, length):
    """All ranks queue for the lock all the time, first come, first served."""
    line, came = Line(ranks), [0.0] * ranks
    for i in range(holds):
        begin = i * length
        line.use(i % ranks, came[i % ranks], begin, begin + length)
        came[i % ranks] = begin + length
    return line


def turns(ranks, holds, length, pause):
    """The ranks take the lock in turns, and no client waits."""
    line = Line(ranks)
    for i in range(holds):
        line.use(i % ranks, i * (length + pause), i * (length + pause),
                 i * (length + pause) + length)
    return line


def check_findings():
    finds("nothing, if no client waits", turns(3, 30, 2.0, 10.0))
    finds("a convoy", queue(4, 40, 5.0), ["convoy: held 100 % of 200 us", " clients wait"])
    finds("no convoy: one client waits at a time", queue(2, 40, 5.0))

    line = turns(3, 30, 2.0, 10.0)
    line.events[-1]["dur"] = 39.0
    finds("no long hold: 19.5 times the median", line)
    line.events[-1]["dur"] = 41.0
    finds("a long hold: 20.5 times", line, ["long hold: rank 2 on h held it 41 us",
                                            "median of the holds: 2 us"])

    # Ranks 1 and 2 wait for 2 us each time; rank 0 asks once, and they pass it.
    line = Line(3)
    for i in range(20):
        line.use(1 + i % 2, i * 4.0, i * 4.0 + 2.0, i * 4.0 + 4.0)
    line.use(0, 9.0, 51.0, 51.5)
    finds("starvation", line, ["starvation: rank 0 on h waited 42 us",
                               "came later had the lock 10 times", "median of the waits: 2 us"])

    # Rank 0 waits as long, for the one holder that was there before.
    line = Line(3)
    for i in range(20):
        line.use(1 + i % 2, i * 4.0, i * 4.0 + 2.0, i * 4.0 + 4.0)
    line.use(2, 100.0, 100.0, 142.0)
    line.use(0, 101.0, 143.0, 143.5)
    finds("a long wait for a long hold is no starvation", line, ["long hold: rank 2 on h"])

    # Twelve clients come at once to a lock for which clients waited little; the last one waits
    # longest, but no client passes it.
    line = Line(14)
    for i in range(20):
        line.use(12 + i % 2, i * 4.0, i * 4.0 + 2.0, i * 4.0 + 4.0)
    for i in range(12):
        line.use(i, 200.0, 200.5 + i * 4.0, 204.5 + i * 4.0)
    finds("a long queue is no starvation", line)

    line = turns(2, 20, 2.0, 10.0)
    for i in range(5):
        line.slice("try", 0, 500.0 + i, 500.5 + i, result="busy")
    for rank, acquires in ((0, 3), (1, 9), (1, 9), (0, 4)):
        line.events.append(line.meta("pawl_lost", rank, 0, table=TABLE, acquires=acquires))
    code, said = run(line.file())
    lost = [text.split(": ")[0] for text in said.splitlines() if "lost" in text]
    report(code == 0 and lost == ["the first 25 acquires are lost, of 2 ranks, most of them, 18,"
                                  " of rank 1 on h"], "one line for what is lost", said)
    row = said.splitlines()[1].split()
    # wait, longest (each with its unit), waits, busy, acquires
    report(code == 0 and row[4:7] == ["0", "5", "20"], "tries that find the lock busy do not wait",
           said)


def wrong(change):
    line = turns(2, 4, 2.0, 10.0)
    line.arrow(0, 1.5, 1, 12.0)
    data = copy.deepcopy(line.file())
    change(data["traceEvents"])
    return data


def event(events, phase):
    return next(e for e in events if e["ph"] == phase)


def check_form():
    line = turns(2, 4, 2.0, 10.0)
    line.arrow(0, 1.5, 1, 12.0)
    code, said = run(line.file(), "--check")
    report(code == 0 and "well formed" in said, "a file that is well formed", said)
    refuses("no JSON", json.dumps(line.file())[:-1], "Expecting")
    refuses("NaN", json.dumps(line.file()).replace("1.5", "NaN"), "no number of JSON")
    for name, phase, member, value, words in (
            ("an unknown phase", "X", "ph", "B", "no phase of"),
            ("a category that the phase does not have", "X", "cat", "hand-over", "none of wait"),
            ("a negative time", "X", "ts", -1, "ts is negative"),
            ("a time in a text", "X", "ts", "1", "ts is not a number"),
            ("a fraction of a process", "X", "pid", 0.5, "pid is not an integer"),
            ("a member that is not known", "X", "id", 1, "id is not known"),
            ("a process without a name", "X", "pid", 9, "process has no name"),
            ("a thread without a name", "X", "tid", 9, "thread has no name"),
            ("an arrow to a slice that follows", "f", "bp", "s", "bp is none of e"),
            ("an arrow without a begin", "s", "id", 5, "without a begin"),
            ("an arrow from outside of a hold", "s", "ts", 5.0, "no hold encloses"),
            ("an arrow to outside of a hold", "f", "ts", 20.0, "no hold encloses"),
            ("an arrow back in time", "s", "ts", 25.0, "ends before it begins"),
            ("metadata that is not known", "M", "name", "other", "metadata")):
        refuses(name, wrong(lambda es, p=phase, m=member, v=value: event(es, p).update({m: v})),
                words)
    refuses("a slice without a length", wrong(lambda es: event(es, "X").pop("dur")), "no dur")
    refuses("a mode that is not known",
            wrong(lambda es: event(es, "X")["args"].update(mode="x")), "mode is none of")
    refuses("a table without a name",
            wrong(lambda es: event(es, "X")["args"].update(table=2)), "no pawl_table")
    refuses("slices that overlap", wrong(lambda es: event(es, "X").update(dur=30.0)), "overlaps")
    refuses("two arrows with one id",
            wrong(lambda es: es.append(dict(event(es, "s")))), "second arrow")
    refuses("another version", wrong(lambda es: es[0]["args"].update(version=2)), "version 1")
    refuses("no list of events", {"events": []}, "traceEvents")


def as_pawl(data):
    """The text, as Pawl writes it: pawl-trace reads such lines in another way than other JSON."""
    lines = [re.sub(r'("(?:ts|dur)": )(\d+\.?\d*)', lambda m: f"{m[1]}{float(m[2]):.3f}",
                    json.dumps(e)) for e in data["traceEvents"]]
    return ('{"displayTimeUnit": "ns", "traceEvents": [\n' + ",\n".join(lines) + "\n]}\n")


def good():
    """A time line with all kinds of events, none of which is empty."""
    line = queue(3, 40, 5.0)
    for i in range(1, 40):
        line.arrow((i - 1) % 3, i * 5.0, i % 3, i * 5.0)
    line.slice("try", 0, 500.0, 501.0, site="f at a.c:1", result="busy")
    line.slice("hold", 1, 500.0, 501.0, first=3, last=9, site="g at b.c:2", release_site="h")
    line.events.append({"ph": "i", "cat": "failure", "pid": 0, "tid": 0, "ts": 600, "s": "g",
                        "args": {"table": TABLE}, "name": "why"})
    line.events.append(line.meta("pawl_lost", 0, 0, table=TABLE, acquires=3))
    return line.file()


def change(text, draw):
    """One change of a valid text: of a character, a line, a number, or of the form."""
    at, lines = draw.randrange(len(text)), text.split("\n")
    i, k = draw.randrange(len(lines)), draw.randrange(len(lines))
    kind = draw.randrange(8)
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + draw.choice('{}[]",:\\0-\x00\n\u20ac') + text[at + draw.randrange(2):]
    if kind == 2:
        lines[i] = lines[k]
    elif kind == 3:
        lines.insert(i, lines[k])
    elif kind == 4:
        del lines[i]
    else:
        values = ("-1", "1e999", "9" * 30, "9" * 5000, "[1]", "{}", "null", "true", "NaN", '"x"',
                  '"\\ud800"', "0.5", "[" * 5000, '"' + "x" * 70000 + '"')
        numbers = list(re.finditer(r'(?<=: )("[^"]*"|[\d.]+)', text))
        m = draw.choice(numbers)
        return text[:m.start()] + draw.choice(values) + text[m.end():]
    return "\n".join(lines)


def check_changed():
    """pawl-trace names what is wrong with a file, or reads it: the same of all forms of a JSON."""
    loader = importlib.machinery.SourceFileLoader("pawl_trace", TOOL)
    tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("pawl_trace", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(tool)
    path, draw, text = os.path.join(FOLDER, "changed.json"), random.Random(SEED), as_pawl(good())
    outcomes, wrong, single = {"read": 0, "refused": 0}, [], []

    def outcome(text, path, pack=bytes):
        with open(path, "wb") as f:
            f.write(pack(text.encode("utf-8", "surrogatepass")))
        try:
            out = io.StringIO()
            tool.summary(tool.read(path), 10, out)
            return "read: " + out.getvalue()
        except tool.Bad as e:
            return "refused" if "\n" not in str(e) else "said in several lines"
        except Exception:   # pylint: disable=broad-except
            return traceback.format_exc()

    for i in range(CHANGED):
        changed = change(text, draw) if i else text
        found = outcome(changed, path)
        try:
            other = outcome(json.dumps(json.loads(changed)), path)
        except (ValueError, RecursionError):
            other = "refused"
        which = found.split(":")[0]
        if which not in outcomes or found != other or (i == 0 and which != "read"):
            wrong.append(f"seed {SEED}, file {i}: {found}; in one line: {other}")
        else:
            outcomes[which] += 1
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    tool.Reader.event = lambda self, event=tool.Reader.event: single.append(event(self))
    events = tool.read(path).events
    report(events > 150 > 20 > len(single), f"{len(single)} of {events} events are read one by one",
           "")
    report(not wrong, f"{CHANGED} files that were changed at random: {outcomes}",
           "\n".join(wrong[:3]))

    def cut(data):
        data = gzip.compress(data)
        return data[:draw.randrange(len(data))]
    found = {outcome(text, path + ".gz", cut) for _ in range(20)}
    report(found == {"refused"}, "compressed files that end too early", str(found))


def check_options():
    """One line, and no traceback, for what cannot be done."""
    for name, data, options, wanted in (
            ("a picture of no known type", good(), ["--picture=x.gif"], ".svg"),
            ("a picture in no folder", good(), ["--picture=/none/x.svg"], "no folder /none"),
            ("a picture of nothing", {"traceEvents": good()["traceEvents"][:1]},
             ["--picture=x.svg"], "nothing to draw"),
            ("rows", good(), ["--rows=-1"], "no number of rows"),
            ("a time", good(), ["--from-ms=nan"], "no time"),
            ("times in reverse", good(), ["--from-ms=5", "--to-ms=1"], "not before"),
            ("nesting", "[" * 100000, [], "Expecting"),
            ("nesting in an event", '{"traceEvents": [' + "[" * 5000, [], "deep")):
        code, said = run(data, *options)
        last = said.splitlines()[-1] if said else ""
        report(code in (1, 2) and "Traceback" not in said and wanted in last and
               last.startswith("pawl-trace: "), f"one line: {name}", said)


def write_large(path):
    """Each of 64 ranks queues all the time for one lock of 1000 after the other."""
    ranks, locks, length = 64, 1000, 2.0
    holds = LARGE // 4 // locks + 1
    line, arrow = Line(ranks), 0
    with open(path, "w", encoding="utf-8") as f:
        f.write(as_pawl(line.file())[:-len("\n]}\n")])
        for lock in range(locks):
            came = [lock * (holds + 1) * length] * ranks
            for i in range(holds):
                rank, before, begin = i % ranks, (i - 1) % ranks, (lock * (holds + 1) + i) * length
                args = f'"args": {{"table": 1, "lock": {lock}, "mode": "exclusively"}}}}'
                mine = f'"pid": {rank}, "tid": 100000, "ts": '
                if begin > came[rank]:
                    f.write(f',\n{{"ph": "X", "cat": "wait", {mine}{came[rank]:.3f}, "dur":'
                            f' {begin - came[rank]:.3f}, "name": "await lock {lock}", {args}')
                f.write(f',\n{{"ph": "X", "cat": "hold", {mine}{begin:.3f}, "dur": {length:.3f},'
                        f' "name": "lock {lock}", {args}')
                came[rank] = begin + length
                if i:
                    arrow += 1
                    f.write(f',\n{{"ph": "s", "cat": "hand-over", "pid": {before}, "tid": 100000,'
                            f' "ts": {begin:.3f}, "id": {arrow}, "name": "hand-over"}},\n{{"ph":'
                            f' "f", "cat": "hand-over", {mine}{begin:.3f}, "id": {arrow}, "name":'
                            ' "hand-over", "bp": "e"}')
        f.write("\n]}\n")


def check_large():
    """In a minute, and below 1 GB. The file is a pipe: it would take 1.7 GB."""
    path, said = os.path.join(FOLDER, "large"), os.path.join(FOLDER, "said")
    os.mkfifo(path)
    writer = threading.Thread(target=write_large, args=(path,), daemon=True)
    writer.start()
    with open(said, "w", encoding="utf-8") as f:
        child = subprocess.Popen([sys.executable, TOOL, "--rows=1", path], stdout=f, stderr=f)
        _, status, used = os.wait4(child.pid, 0)
    seconds, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6
    with open(said, encoding="utf-8") as f:
        said = f.read()
    report(status == 0 and "hand-overs between 64 ranks" in said and megabytes < 1000 and
           seconds < 60, f"{LARGE} events and more: {seconds:.0f} s of CPU time, {megabytes:.0f} MB"
           + (" # timed" if seconds >= 60 else ""), said)


check_findings()
check_form()
check_changed()
check_options()
if os.environ.get("TEST_LONG") == "1":
    check_large()
print(f"1..{number}")

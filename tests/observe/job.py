# SPDX-License-Identifier: BSD-3-Clause
"""What tests/pawl-info.sh expects in the output of pawl-info --json:  job.py FILE EXPRESSION

The expression is one of d, the object in the file, near and net, its paths by domain, and traps,
the names of those that it tells of. Status 0 if it holds.
"""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    d = json.loads(next(line for line in f if line.startswith("{")))
times = [t for p in d["paths"] for t in p["ns"].values()]
assert len(d["paths"]) == 0 or (min(times) > 0 and len(d["paths"][0]["ns"]) == 5)
assert all(t["what"] and t["cure"] for t in d["traps"])
names = {"d": d,
         "near": [p for p in d["paths"] if p["domain"] == "node"],
         "net": [p for p in d["paths"] if p["domain"] == "net"],
         "traps": [t["name"] for t in d["traps"]]}
sys.exit(not eval(sys.argv[2], names))

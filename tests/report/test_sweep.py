# SPDX-License-Identifier: BSD-3-Clause
"""Settings drawn from a seed, and what their results say."""
import unittest
from concurrent.futures import ThreadPoolExecutor

from report import sweep
from report.results import Result
from report.simulate import MACHINES


def result(lock="adaptive", **changes):
    fields = {"lock": lock, "throughput": 1e6, "acquires": 100000, "exclusive": 5000,
              "readers": "shared", "halves": 1.0, "slowest": 1e5, "active": 10, "fairness": 1.0,
              "latency_ns": {"p50": 100, "p99": 1000, "max": 5000}}
    return Result({**fields, **changes})


class Sweep(unittest.TestCase):
    def test_a_seed_determines_its_settings(self):
        first = sweep.draw(5, 40, MACHINES)
        self.assertEqual(first[:10], sweep.draw(5, 10, MACHINES))
        self.assertNotEqual(first, sweep.draw(6, 40, MACHINES))

    def test_settings_are_in_range_and_differ(self):
        drawn = sweep.draw(1, 300, MACHINES)
        self.assertTrue(all(2 <= s.ranks <= sweep.RANKS_MOST for s in drawn))
        self.assertEqual({s.machine for s in drawn}, set(sweep.MACHINES))
        self.assertEqual({s.nodes for s in drawn} & {2, 64}, {2, 64})
        self.assertGreater(len({str(s) for s in drawn}), 290)

    def test_packages_only_where_the_machine_has_them(self):
        for s in sweep.draw(2, 100, MACHINES):
            self.assertEqual("package" in s.topology,
                             s.machine not in ("cloudlab-cx3-20nodes", "xc30-aries")
                             and s.each >= 4 and s.each % 2 == 0)

    def test_ratios_are_to_the_best_other_kind(self):
        setting = sweep.draw(1, 1, MACHINES)[0]
        row = sweep.Row(setting, "adaptive", {
            "adaptive": result(), "alock": result("alock", throughput=2e6),
            "d-mcs": result("d-mcs", throughput=4e6,
                            latency_ns={"p50": 1, "p99": 500, "max": 1000})})
        self.assertEqual((row.best.lock, row.ratio, row.tail, row.slowest, row.wait),
                         ("d-mcs", 0.25, 2.0, 1.0, 5.0))
        said = dict(sweep.summary([row]))
        self.assertEqual(said["worst"], "0.25")
        self.assertEqual(said["0.9 of the best other kind or more"], "0 %")

    def test_all_kinds_run_as_long_as_the_longest(self):
        asked = []

        def run(lock, more):
            asked.append((lock, *more))
            least = int(more[0].split("=")[1]) if more else 0
            # At twice the length, that of c is no more steady.
            lengthened = {"b": 1, "c": 3 if least else 0}.get(lock, 0)
            return (None, "no") if lock == "d" else (
                result(lock, lengthened=max(lengthened, least)), "")

        with ThreadPoolExecutor(1) as pool:
            done = sweep.run_kinds("abcd", run, pool)
        self.assertEqual([r and (r.lock, r.get("lengthened", 0)) for r, _ in done],
                         [("a", 3), ("b", 3), ("c", 3), None])
        self.assertEqual(asked, [("a",), ("b",), ("c",), ("d",), ("a", "--lengthen=1"),
                                 ("c", "--lengthen=1"), ("a", "--lengthen=3"),
                                 ("b", "--lengthen=3")])


if __name__ == "__main__":
    unittest.main()

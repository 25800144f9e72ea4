# SPDX-License-Identifier: BSD-3-Clause
"""JSON lines of pawl-bench, win-bench's line, and data of figures."""
import os
import tempfile
import unittest

from report import figures, results, simulate
from report.results import BadInput
from report.tables import dropin, ucx
from report.tables.scaling import rank_counts

LINE = ('{"lock":"d-mcs","bench":"ecsb","ranks":4,"active":2,"throughput":20.0,'
        '"throughputs":[10.0,20.0,40.0],"latency_ns":{"p50":1500.0,"p99":9000.0},'
        '"ops_per_acquire":{"atomic":2.0},"times":{"read":{"count":3,"p99":7},'
        '"write":{"count":0}}}')


class Results(unittest.TestCase):
    def test_tables_between_the_lines_are_passed_over(self):
        found = list(results.parse(["ecsb: throughput", LINE, "  d-mcs  20"]))
        self.assertEqual([r.lock for r in found], ["d-mcs"])
        r = found[0]
        self.assertEqual((r.ranks, r.p50, r.speed.median, r.speed.high), (4, 1500, 20, 40))
        self.assertEqual((r.operation("atomic"), r.operation("get")), (2, None))
        self.assertEqual((r.times("read")["p99"], r.times("write"), r.times("none")), (7, {}, {}))
        with self.assertRaises(AttributeError):
            r.nothing_of_that_name

    def test_operations_that_are_not_counted(self):
        r = next(results.parse(['{"lock":"x","throughput":1,"ops_per_acquire":null}']))
        self.assertIsNone(r.operation("atomic"))
        self.assertEqual(r.speeds, [1])

    def test_a_line_that_was_cut_is_named(self):
        with self.assertRaisesRegex(BadInput, "file, line 2: not JSON"):
            list(results.parse([LINE, LINE[:40]], "file"))

    def test_a_file_that_is_not_there(self):
        with self.assertRaisesRegex(BadInput, "/no/file: No such file"):
            results.read("/no/file")


class OtherPrograms(unittest.TestCase):
    def test_win_bench(self):
        sample = dropin.parse("note\n1234.5 0.810 99.0 WRONG\n")
        self.assertEqual((sample.speed, sample.longest, sample.right), (1234.5, 99, False))
        self.assertIsNone(dropin.parse("it hung"))

    def test_ucx_latencies(self):
        samples = ucx.defaultdict(list)
        ucx.read_latencies("ucx swap 1.5 1.2 2.0\npoll fadd 3 4\nnoise\n", samples)
        self.assertEqual(dict(samples), {("ucx", "swap"): [(1.5, 2)],
                                         ("poll", "fetch-add"): [(3, 4)]})

    def test_rank_counts_reach_twice_the_cores(self):
        self.assertEqual(rank_counts(2), [1, 2, 4, 8])
        self.assertEqual(rank_counts(16)[-1], 32)


class Data(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "figx.tsv")

    def write(self, text):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)

    def test_points_of_results(self):
        data = simulate.Points()
        found = list(results.parse([LINE]))
        data.points(found, "P: us|clients", "p50", series="the %", x=7)
        data.points(found, "Q", "mean")
        data.points(found, "Q", "atomic", x=8, series="other")
        data.write(self.path)
        with open(self.path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "P: us|clients\t7\nthe d-mcs\t1.5\n\n"
                                          "Q\t4\t8\nd-mcs\t100000\t\nother\t\t2\n")
        self.assertEqual(figures.read(self.path)[1].series,
                         {"d-mcs": [("4", 100000)], "other": [("8", 2)]})

    def test_panels(self):
        self.write("A\t1\t2\ns\t5\t6\n\nB|clients|linear\tWI\nt\t1\n")
        a, b = figures.read(self.path)
        self.assertEqual((a.title, a.xlabel, a.linear, a.has_bars), ("A", "ranks", False, False))
        self.assertEqual((b.title, b.xlabel, b.linear, b.has_bars), ("B", "clients", True, True))
        self.assertEqual(a.series, {"s": [("1", 5), ("2", 6)]})

    def test_what_is_no_data_is_named(self):
        for wrong in ("t\tx", "t\t5\t6", "t"):
            self.write(f"A\t1\ns\t5\n{wrong}\n")
            with self.assertRaisesRegex(BadInput, "figx.tsv, line 3: not"):
                figures.read(self.path)
        for series in ("s\t5", "s"):
            self.write(f"A\n{series}\n")
            with self.assertRaisesRegex(BadInput, "figx.tsv, line 2: not"):
                figures.read(self.path)
        self.write("")
        with self.assertRaisesRegex(BadInput, "no data"):
            figures.read(self.path)

    def test_the_same_data_gives_the_same_picture(self):
        self.write("A: acquires a second\t1\t20\ns\t5\t6e6\n")
        pictures = []
        for n in "12":
            out = os.path.join(self.folder.name, n + ".svg")
            figures.draw(self.path, out)
            with open(out, encoding="utf-8") as file:
                pictures.append(file.read())
        self.assertEqual(*pictures)
        self.assertIn(">A: acquires a second<", pictures[0])


if __name__ == "__main__":
    unittest.main()

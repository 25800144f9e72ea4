# SPDX-License-Identifier: BSD-3-Clause
"""Headlines: what is said of them, and machines with other constants."""
import os
import unittest

from report import data, headlines, reproduce, simulate, vary
from report.headlines import AS_IT_IS, Headline, Points
from report.results import Result

LINES = """\
summary   a machine
net send              100   # a comment
net latency machine   600
net serve same-word   385
net gap               20
net serve put         10
"""


def judged(values, tried=None):
    of = Headline("P", "c", "1", 2, lambda p: p["rate", "a", "8"] / p["rate", "b", "8"])
    rows = {("t", of.name, x): v for x, v in (tried or {}).items()}
    return headlines.judge_one(of, values, rows)


class Judged(unittest.TestCase):
    values = {("rate", "a", "8"): 6.0, ("rate", "b", "8"): 2.0, ("rate", "c", "8"): 1.0}

    def test_words(self):
        self.assertEqual(judged(self.values).word, "beyond")
        self.assertEqual(judged({**self.values, ("rate", "b", "8"): 2.5}).word, "reached")
        self.assertEqual(judged({**self.values, ("rate", "b", "8"): 4.0}).word, "short")
        self.assertIsNone(judged({("rate", "a", "8"): 6.0}))

    def test_a_run_that_is_not_steady_decides_nothing_if_it_is_read(self):
        key = "rate" + data.BESIDE + simulate.UNSTEADY
        self.assertEqual(judged({**self.values, (key, "c", "8"): 0.5}).word, "beyond")
        verdict = judged({**self.values, (key, "b", "8"): 0.5})
        self.assertEqual((verdict.word, verdict.unsteady), ("undecidable", ("b at 8",)))

    def test_a_verdict_that_changes_hangs_on_the_constant(self):
        robust = judged(self.values, {AS_IT_IS: 3, "latency x 2": 2.5, "word rate x 2": 9})
        self.assertEqual((robust.word, robust.hangs), ("beyond", "nothing"))
        changed = judged(self.values, {AS_IT_IS: 3, "latency x 2": 1, "word rate x 2": 9})
        self.assertEqual((changed.word, changed.hangs), ("undecidable", "latency x 2"))

    def test_the_less_the_better(self):
        less = Headline("P", "c", "1", 2, lambda p: p["rate", "a", "8"], at_most=True)
        for value, word in ((1, "beyond"), (1.9, "reached"), (2.1, "short")):
            self.assertEqual(headlines.judge_one(less, {("rate", "a", "8"): value}, {}).word, word)

    def test_a_figure_that_is_not_there_judges_nothing(self):
        self.assertFalse([h for h in headlines.HEADLINES if headlines.judge_one(h, {}, {})])

    def test_the_page_has_the_table_of_the_data(self):
        with open(os.path.join(data.SOURCE, "doc", "measured", "reproduction.md"),
                  encoding="utf-8") as file:
            page = file.read().splitlines()
        for verdict in headlines.judge(data.FOLDER):
            self.assertIn("| " + " | ".join(verdict.cells) + " |", page)

    def test_all_headlines_name_simulations(self):
        for name in {h.figure for h in headlines.HEADLINES}:
            asked = vary.needed({name: reproduce.FIGURES[name]}, None)
            self.assertTrue(asked, name)
            self.assertTrue(all(a.lock and a.machine for a in asked))

    def test_a_rate_has_fairness_and_tails_beside_it(self):
        points = simulate.Points()
        result = Result({"lock": "a", "ranks": 8, "throughput": 5.0, "fairness": 0.5, "fw": 10.0,
                         "readers": "shared", "exclusive": 3, "acquires": 20, "unsteady": "x",
                         "halves": 0.7, "latency_ns": {"p50": 1, "p99": 2000.0, "max": 9000.0}})
        points.points([result], "R: acquires a second|clients", "throughput")
        beside = {title: panel["a"]["8"] for title, panel in points.panels.items()}
        self.assertEqual(beside, {
            "R: acquires a second|clients": 5.0,
            "R: acquires a second; Jain's index|clients": 0.5,
            "R: acquires a second; 99 % latency, us|clients": 2.0,
            "R: acquires a second; longest wait, us|clients": 9.0,
            "R: acquires a second; % exclusive|clients": 15.0,
            f"R: acquires a second; {simulate.UNSTEADY}|clients": 0.7})
        read = Points(vary.points_of(points))
        self.assertEqual(read["R: acquires a second", "a", "8"], 5.0)
        self.assertEqual(list(read.beside("Jain's index").values()), [0.5])


class Constants(unittest.TestCase):
    def changed(self, constant, factor):
        before, after = vary.lines_of(LINES), vary.lines_of(vary.varied(LINES, constant, factor))
        return {k: after[k] for k in after if after[k] != before.get(k)}

    def test_each(self):
        self.assertEqual(self.changed("latency", 2), {"net latency machine": 1200})
        self.assertEqual(self.changed("NIC rate", 2), {"net gap": 10, "net serve put": 5})
        self.assertEqual(self.changed("word rate", 0.5), {"net serve same-word": 770})
        self.assertEqual(self.changed("message cost", 0.5), {"net send": 50, "net serve put": 5})
        self.assertEqual(self.changed("message cost", 2), {"net serve put": 720})


if __name__ == "__main__":
    unittest.main()

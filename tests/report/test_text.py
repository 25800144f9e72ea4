# SPDX-License-Identifier: BSD-3-Clause
"""Numbers and tables for people."""
import contextlib
import io
import unittest

from report.stats import spread
from report.text import Table, digits, duration, plural, rate, us, with_spread


class Text(unittest.TestCase):
    def test_three_digits(self):
        for value, text in ((0.1234, "0.123"), (12.34, "12.3"), (123.4, "123"), (99.96, "100"),
                            (1480, "1480"), (0, "0")):
            self.assertEqual(digits(value), text)

    def test_rates(self):
        for value, text in ((999, "999"), (999.9, "1 k"), (12300, "12.3 k"), (64e6, "64 M"),
                            (2.5e9, "2.5 G"), (53.4, "53.4"), (None, "-")):
            self.assertEqual(rate(value), text)

    def test_times(self):
        for value, text in ((3.9, "3.9 ns"), (12300, "12.3 us"), (2.5e6, "2.5 ms"), (4e9, "4 s")):
            self.assertEqual(duration(value), text)
        self.assertEqual(us(530), "0.53")
        self.assertEqual(us(None), "-")

    def test_spreads(self):
        self.assertEqual(with_spread(spread([2000, 1000, 3000]), rate), "2 k (1 k to 3 k)")
        self.assertEqual(with_spread(spread([7])), "7")
        self.assertEqual(with_spread(None), "-")

    def test_plural(self):
        self.assertEqual([plural(n, "rank") for n in (1, 2)], ["1 rank", "2 ranks"])

    def test_tables_are_markdown(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            table = Table("a", "b", "c")
            table.row(1, "x", 2)
            table.failed("y")
        self.assertEqual(out.getvalue(), "\n| a | b | c |\n| --- | --- | --- |\n| 1 | x | 2 |\n"
                                         "| y | did not run |  |\n")


if __name__ == "__main__":
    unittest.main()

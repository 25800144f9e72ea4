# SPDX-License-Identifier: BSD-3-Clause
"""Medians, spreads and ratios."""
import unittest

from report.stats import median, paired_ratio, spread


class Stats(unittest.TestCase):
    def test_no_values_have_no_spread(self):
        self.assertIsNone(spread([]))
        self.assertIsNone(median([]))

    def test_few_values_lie_between_smallest_and_largest(self):
        s = spread([3, 1, 100])
        self.assertEqual((s.median, s.low, s.high, s.count), (3, 1, 100, 3))

    def test_an_even_number_of_values(self):
        self.assertEqual(median([1, 2, 4, 8]), 3)

    def test_many_values_lie_between_the_quartiles(self):
        s = spread([5, 1, 2, 3, 1000])
        self.assertEqual((s.median, s.low, s.high), (3, 2, 5))

    def test_ratios_are_of_pairs(self):
        s = paired_ratio([10, 100, 40], [1, 10, 10])
        self.assertEqual((s.median, s.low, s.high), (10, 4, 10))

    def test_a_pair_over_zero_does_not_count(self):
        self.assertEqual(paired_ratio([1, 4], [0, 2]).count, 1)
        self.assertIsNone(paired_ratio([1], [0]))


if __name__ == "__main__":
    unittest.main()

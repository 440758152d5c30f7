#!/usr/bin/env python3
"""curve_goals_test.py PROGRAM: what bench/curve_goals.py computes, on curves made by hand."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
try:
    import numpy
except ModuleNotFoundError:
    print("curve_goals_test.py: Skipped\nneeds numpy")
    sys.exit(77)
import curve_goals

RECOMMENDED, LIGHTGBM = ("all", 1, "recommended", "defaults"), ("all", 1, "lightgbm", "validated")


def point(key, values):
    return dict(zip(("way", "budget", "system", "settings"), key), values=values)


class Goals(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        folder = pathlib.Path(folder.name)
        (folder / "curves").mkdir()
        (folder / "curves.tsv").write_text("# about\nway\tsystem\tMAP\tP@1\tNDCG@10\n")
        chosen, random = ("chosen", 0.01, "linear", "defaults"), ("random", 0.01, "linear", "cross-fitted")
        for number, (ours, other) in enumerate(((0.5, 0.4), (0.7, 0.3)), 1):
            points = [point(RECOMMENDED, [ours, 9, 0.2, ours, 9, 0.4]), point(LIGHTGBM, [other, 9, 0.1, other, 9, 0.1]),
                      point(("all", 1, "ilmart", "validated"), [other, 9, 0.1] * 2),
                      point(("all", 1, "ilmart", "defaults"), [ours, 9, 0] * 2),
                      point(("all", 1, "lightgbm", "defaults"), [0.1, 9, 0.1] * 2), point(chosen, [0.1, 9, 0.6, 0.1, 9, 0.6]),
                      point(random, [0.2, 9, 0.3, 0.2, 9, 0.3]), point(random, [0.4, 9, 0.5, 0.4, 9, 0.5])]
            choices = [{"budget": 1, "system": name, "value": value} for name, value in
                       (("rules", 0.1), ("scorecard", 0.2), ("linear", 0.4), ("members", 0.3))]
            (folder / "curves" / f"Fold{number}.json").write_text(json.dumps(
                {"qids": ["1", "2"], "points": points, "choices": choices}))
        self.curves, self.few = curve_goals.Curves(folder), (chosen, random)

    def test_differences_over_the_queries_of_all_folds(self):
        mean, half = self.curves.less(RECOMMENDED, LIGHTGBM, 0)  # 0.1, 0.1, 0.4, 0.4
        self.assertAlmostEqual(mean, 0.25)
        self.assertAlmostEqual(half, 3.182 * 0.03 ** 0.5 / 2, delta=0.01)
        self.assertEqual(self.curves.told(RECOMMENDED), ".6000 / .3000")

    def test_draws_are_averaged_and_the_best_is_by_the_measure(self):
        chosen, random = self.few
        numpy.testing.assert_allclose(self.curves.values[random], [[0.3, 0.4]] * 4)
        self.assertEqual(self.curves.best_on_any_sample(("linear",), 0.01), random)
        self.assertEqual(self.curves.best_on_any_sample(("linear",), 0.01, 1), chosen)

    def test_with_all_labels_the_better_settings_stand_for_a_peer(self):
        self.assertEqual(self.curves.best_with_all_labels("lightgbm"), LIGHTGBM)
        self.assertEqual(self.curves.best_with_all_labels("ilmart"), ("all", 1, "ilmart", "defaults"))

    def test_p_values_and_their_correction(self):
        self.assertAlmostEqual(curve_goals.p_value(2.042, 30), 0.05, delta=1e-4)
        self.assertAlmostEqual(curve_goals.p_value(-2.571, 5), 0.05, delta=1e-4)
        numpy.testing.assert_allclose(curve_goals.holm([0.01, 0.04, 0.03, 0.5]), [0.04, 0.09, 0.09, 0.5])

    def test_the_system_of_the_best_validation_parts(self):
        self.assertEqual(self.curves.chosen_system(), "linear")


if __name__ == "__main__":
    del sys.argv[1:]
    unittest.main()

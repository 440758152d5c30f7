#!/usr/bin/env python3
"""curves_test.py PROGRAM: tests bench/curves.py: its table on results made by hand, and a run with one seed."""

import csv
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
try:
    import matplotlib  # noqa: F401
    import numpy
except ModuleNotFoundError as missing:
    print(f"curves_test.py: Skipped\nneeds {missing.name}")
    sys.exit(77)
import curves


def result(folder, points):
    """Writes the files of an `experiment` on two folds of two queries: points[cell] is the MAP of each query; NDCG@10 is half of it."""
    (folder / "curves").mkdir(parents=True)
    (folder / "curves.tsv").write_text("# about\nfold\tway\tshare\tsystem\tlabels\tMAP\tP@1\tNDCG@10\n" + "".join(
        f"Fold1\t{way}\t{share}\t{system}\t{100 * share}\t0\t0\t0\n" for share, way, system, _ in points))
    for fold in (0, 1):
        (folder / "curves" / f"Fold{fold + 1}.json").write_text(json.dumps({"qids": ["1", "2"], "points": [
            {**dict(zip(("budget", "way", "system", "settings"), cell)),
             "values": [x for value in values[2 * fold:2 * fold + 2] for x in (value, 9, value / 2)]} for cell, values in points.items()]}))


CARD, RANDOM = (0.01, "chosen", "card", "defaults"), (0.01, "random", "card", "defaults")
RECOMMENDED, TREES = (0.01, "chosen", "recommended", "defaults"), (0.01, "random", "lightgbm", "cross-fitted")
RIDGE = (0.01, "chosen", "linear", "defaults")
FIRST = {CARD: [0.5, 0.6, 0.7, 0.8], RANDOM: [0.5, 0.5, 0.5, 0.5], RECOMMENDED: [0.6, 0.6, 0.6, 0.6],
         TREES: [0.1, 0.2, 0.3, 0.4], RIDGE: [0.7, 0.7, 0.7, 0.7]}


class Table(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        result(self.folder / "a/s/1", FIRST)

    def test_a_value_of_a_query_is_its_mean_over_the_seeds(self):
        result(self.folder / "a/s/2", {cell: [value + 0.1 for value in values] for cell, values in FIRST.items()})
        of = curves.Curves([self.folder / "a/s/1", self.folder / "a/s/2"])
        numpy.testing.assert_allclose(of.values[CARD], [[x, x / 2] for x in (0.55, 0.65, 0.75, 0.85)])
        self.assertEqual(of.mean(RIDGE), "0.7500 / 0.3750")
        self.assertEqual(len(of.by_seed[CARD]), 2)

    def test_differences_have_intervals_over_the_queries(self):
        of = curves.Curves([self.folder / "a/s/1"])
        mean, half = of.difference(CARD, RIDGE)  # -.2, -.1, 0, .1
        self.assertAlmostEqual(mean, -0.05)
        self.assertAlmostEqual(half, 3.182 * (0.05 / 3) ** 0.5 / 2, delta=0.005)

    def test_the_best_other_is_of_any_sample_and_settings(self):
        of = curves.Curves([self.folder / "a/s/1"])
        self.assertEqual((of.best(0.01, curves.PEERS), of.best(0.01, curves.TREES)), (RIDGE, TREES))

    def test_a_cell_comes_from_the_first_folder(self):
        result(self.folder / "b/s/1", {CARD: [0.9] * 4})
        of = curves.Curves([self.folder / "b/s/1", self.folder / "a/s/1"])
        numpy.testing.assert_allclose(of.values[CARD][:, 0], 0.9)
        numpy.testing.assert_allclose(of.values[RIDGE][:, 0], 0.7)

    def test_the_summary_names_the_worst_cell_and_those_significantly_below(self):
        better = {**FIRST, RIDGE: [value + 0.2 + 0.01 * i for i, value in enumerate(FIRST[CARD])]}
        result(self.folder / "c/t/1", better)
        text = curves.summary({"s": curves.Curves([self.folder / "a/s/1"]), "t": curves.Curves([self.folder / "c/t/1"])})
        self.assertIn("- card, few labels, all sets: mean difference of MAP to the best other ranker -0.1325 over 2 cells; worst -0.2150", text)
        self.assertIn("significantly below in 1: t, 1%\n", text)


class Picture(unittest.TestCase):
    def test_points_are_means_over_the_seeds_with_intervals(self):
        few = {CARD: [0.5, 0.6], RIDGE: [0.4, 0.4], TREES: [0.2, 0.4], RANDOM: [0.9, 0.9],
               (1.0, "all", "lightgbm", "validated"): [0.7]}
        shown = curves.panel("USP-counts", few)
        self.assertEqual(shown.title, "USP-counts (raw features)")
        self.assertEqual({line.label: [round(y, 9) for _, y in line.points] for line in shown.lines},
                         {"card": [0.55], "best linear ranker": [0.4], "best boosted trees": [0.3]})
        (low, high), = shown.lines[0].intervals
        self.assertAlmostEqual((low + high) / 2, 0.55)
        self.assertGreater(high, 0.55)
        self.assertEqual([(level.label, level.y) for level in shown.levels], [("LightGBM, all labels", 0.7)])

    def test_labels_at_the_ends_do_not_overlap(self):
        from matplotlib import figure
        whole = figure.Figure(figsize=(4, 3))
        labels = curves.common.draw_lines(whole.subplots(), curves.common.Lines("", "", [
            curves.common.Line(str(y), [(1, 0), (2, y)], "#000000") for y in (1, 0, 0.999, 1.001)]))
        whole.draw_without_rendering()
        curves.common.spread_labels(labels)
        ends = sorted((label.get_window_extent().y0, label.get_window_extent().y1, label.get_text()) for label in labels)
        self.assertEqual([text for *_, text in ends], ["0", "0.999", "1", "1.001"])
        for (_, top, _), (bottom, _, _) in zip(ends, ends[1:]):
            self.assertLess(top, bottom)

    def test_colours_follow_the_reader(self):
        svg = curves.common.for_dark_pages('<svg><style>*{}</style><path style="stroke: #0b6e4f"/><text>a</text></svg>')
        self.assertIn('[style*="stroke: #0b6e4f"]{stroke:#4fd1a5!important}', svg)
        self.assertNotIn("#c1440e", svg)


class Whole(unittest.TestCase):
    def test_a_run_and_what_is_kept_of_it(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            subprocess.run([PROGRAM, "sample", "--documents", "600", "--features", "6", "--queries", "40", "--fold-count", "5",
                            "--out-dir", folder / "letor" / "MQ2008", "--quiet"], check=True)
            script = [sys.executable, str(ROOT / "bench/curves.py")]
            subprocess.run([*script, PROGRAM, folder / "letor", folder / "out", "--sets", "MQ2008", "--seeds", "1", "--budgets", "5%",
                            "--systems", "card,recommended,linear,ranksvm,xgboost", "--threads", "1"], check=True, stderr=subprocess.DEVNULL)
            subprocess.run([*script, "--keep", folder / "kept", folder / "out", "--sets", "MQ2008"], check=True)
            self.assertIn("| 5 % | list-normalized | MQ2008 | 1 |", (folder / "kept/table.md").read_text())
            with gzip.open(folder / "kept/curves.tsv.gz", "rt") as lines:
                rows = list(csv.DictReader(lines, delimiter="\t"))
            self.assertEqual({(row["set"], row["seed"], row["share"]) for row in rows}, {("MQ2008", "1", "0.05")})
            manifest = (folder / "kept/manifest.json").read_text()
            self.assertEqual(json.loads(manifest)["MQ2008"][0]["command"][:2], [pathlib.Path(PROGRAM).name, "experiment"])
            self.assertNotIn(str(folder), manifest)
            kept = (folder / "kept/curves.svg").read_text()
            self.assertTrue(kept.startswith("<?xml"))
            (folder / "kept/curves.svg").unlink()
            subprocess.run([*script, "--draw", folder / "kept"], check=True)
            self.assertEqual((folder / "kept/curves.svg").read_text(), kept)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()

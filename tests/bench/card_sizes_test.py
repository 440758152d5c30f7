#!/usr/bin/env python3
"""card_sizes_test.py PROGRAM: tests the rules of bench/card_sizes.py by hand, and a run on synthetic data that is continued."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
try:
    import numpy
except ModuleNotFoundError:
    print("card_sizes_test.py: Skipped\nneeds numpy")
    sys.exit(77)
import card_sizes

PROGRAM = ""


class Rules(unittest.TestCase):
    def test_by_hand(self):
        largest = numpy.full(100, 0.5)
        wave = numpy.tile([0.01, -0.01], 50)  # standard error .001005
        sizes = [3, 5, 8]
        def chosen(*differences):
            values = [largest - mean + wave for mean in differences] + [largest]
            return {rule: choose(sizes, values) for rule, choose in card_sizes.RULES.items()}
        # At most .0025, with 2 errors of .001005: 3 features may be .0004 behind, not .0006.
        self.assertEqual(chosen(0.0004, 0)["share"], 3)
        self.assertEqual(chosen(0.0006, 0)["share"], 5)
        self.assertEqual(chosen(0.002, 0.002), {"largest": 8, "share": 8, "best": 8, "best, two errors": 3})
        self.assertEqual(chosen(0.0009, 0.001)["best"], 3)
        self.assertEqual(chosen(0.0011, -0.005)["best"], 5)  # the best card is not the largest


class Run(unittest.TestCase):
    def test_goes_on(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            subprocess.run([PROGRAM, "sample", "--documents", "4000", "--features", "6", "--queries", "60", "--fold-count", "1", "--out-dir",
                            folder / "letor/drawn", "--quiet"], check=True)
            line = [sys.executable, BENCH / "card_sizes.py", PROGRAM, folder / "letor", folder / "out", "--folds", "1", "--jobs", "1"]
            subprocess.run([*line, "--seeds", "1"], check=True, stdout=subprocess.DEVNULL)
            first = (folder / "out/rows.jsonl").read_text()
            subprocess.run([*line, "--seeds", "1,2"], check=True, stdout=subprocess.DEVNULL)
            rows = (folder / "out/rows.jsonl").read_text()
            self.assertTrue(rows.startswith(first) and rows.count("\n") == 2, rows)
            row = json.loads(first)
            self.assertEqual(row["sizes"], [3, 5, 6])
            self.assertEqual(len(row["vali"]), 3)
            self.assertIn("| drawn | best |", (folder / "out/table.md").read_text())


if __name__ == "__main__":
    PROGRAM = sys.argv.pop()
    unittest.main()

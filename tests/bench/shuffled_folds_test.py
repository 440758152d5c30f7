#!/usr/bin/env python3
"""shuffled_folds_test.py PROGRAM: tests bench/shuffled_folds.py, and the set that bench/curves.py makes of LightGBM's example."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
try:
    import numpy  # noqa: F401
except ModuleNotFoundError:
    print("shuffled_folds_test.py: Skipped\nneeds numpy")
    sys.exit(77)
import curves

PARTS = ("train", "vali", "test")


class Shuffled(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_scores_stay_with_their_documents(self):
        fold, scores = self.folder / "letor/drawn/Fold1", self.folder / "scores/drawn/one"
        fold.mkdir(parents=True)
        scores.mkdir(parents=True)
        for part in PARTS:
            (fold / f"{part}.txt").write_text("".join(f"{d % 2} qid:{d // 8} 1:{d}\n" for d in range(24)))
        (scores / "Fold1.score").write_text("".join(f"{d}\n" for d in range(24)))
        subprocess.run([sys.executable, ROOT / "bench/shuffled_folds.py", self.folder / "letor", self.folder / "out", "--seeds", "2",
                        "--scores", self.folder / "scores"], check=True)
        orders = set()
        for seed in "12":
            for part in PARTS:
                lines = (self.folder / "out" / seed / f"drawn/Fold1/{part}.txt").read_text().splitlines()
                documents = [int(line.split(":")[-1]) for line in lines]
                self.assertEqual([d // 8 for d in documents], [d // 8 for d in range(24)])  # queries keep their places
                self.assertEqual(sorted(documents), list(range(24)))
                orders.add(tuple(documents))
            own = (self.folder / "out" / seed / "scores/drawn/one/Fold1.score").read_text().split()
            self.assertEqual(list(map(int, own)), documents)
        self.assertEqual(len(orders), 6)
        (scores / "Fold1.score").write_text("1\n")
        failed = subprocess.run([sys.executable, ROOT / "bench/shuffled_folds.py", self.folder / "letor", self.folder / "out", "--scores",
                                 self.folder / "scores"], capture_output=True, text=True)
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn("found 1 scores, expected 24", failed.stderr)

    def test_the_example_of_lightgbm(self):
        example = self.folder / "lambdarank"
        example.mkdir()
        for name, sizes in (("rank.train", [2, 1, 1, 1, 2]), ("rank.test", [1, 2])):
            (example / name).write_text("".join(f"{d % 3} 1:{d} 5:.5\n" for d in range(sum(sizes))))
            (example / f"{name}.query").write_text("".join(f"{size}\n" for size in sizes))
        curves.make_example(example, self.folder)
        parts = [(self.folder / curves.EXAMPLE / f"Fold1/{part}.txt").read_text().splitlines() for part in PARTS]
        self.assertEqual(parts[0], ["0 qid:1 1:0 5:.5", "1 qid:1 1:1 5:.5", "2 qid:2 1:2 5:.5", "0 qid:3 1:3 5:.5", "1 qid:4 1:4 5:.5"])
        self.assertEqual(parts[1], ["2 qid:5 1:5 5:.5", "0 qid:5 1:6 5:.5"])
        self.assertEqual(parts[2], ["0 qid:6 1:0 5:.5", "1 qid:7 1:1 5:.5", "2 qid:7 1:2 5:.5"])


if __name__ == "__main__":
    sys.argv.pop()
    unittest.main()

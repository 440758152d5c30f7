#!/usr/bin/env python3
"""Tests that bench/peers/dense_peer_gpu.py selects cells by shape, and lists them without PyTorch and a GPU."""

import pathlib
import subprocess
import sys
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "bench/peers/dense_peer_gpu.py"


def listed(*arguments):
    return subprocess.run([sys.executable, SCRIPT, "dense_bench", "out", "--list", *arguments], capture_output=True, text=True)


class ChoosingCells(unittest.TestCase):
    def test_all_cells_of_a_set(self):
        self.assertEqual(len(listed().stdout.splitlines()), 36)

    def test_cells_of_shapes(self):
        self.assertEqual(listed("--shapes", "10000000x128xbf16,1000000x128").stdout.splitlines(),
                         ["1000000x128 k=16 queries=4096", "10000000x128xbf16 k=10 queries=1", "10000000x128xbf16 k=128 queries=1"])

    def test_cells_of_a_shape_that_stands_twice_in_a_set(self):
        self.assertEqual(listed("--cells", "left", "--shapes", "3000000x300").stdout.splitlines(),
                         ["3000000x300 k=32 queries=1", "3000000x300 k=32 queries=16", "3000000x300 k=128 queries=32"])

    def test_unknown_shapes_are_refused_by_name(self):
        refused = listed("--shapes", "70000x784,5x5")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("found shapes 5x5, expected of targets: 70000x784", refused.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

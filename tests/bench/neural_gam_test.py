#!/usr/bin/env python3
"""neural_gam_test.py PROGRAM: tests bench/neural_gam.py: gradients against differences, inputs by hand, and a run of few rounds on
synthetic data that is interrupted and continued."""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
try:
    import numpy
except ModuleNotFoundError:
    print("neural_gam_test.py: Skipped\nneeds numpy")
    sys.exit(77)
import neural_gam

PROGRAM = ""
STEP = 1e-6


def slopes(function, at):
    """Central differences of a function of an array, which is changed in place."""
    found = numpy.zeros_like(at)
    for index in numpy.ndindex(at.shape):
        kept = at[index]
        at[index] = kept + STEP
        above = function()
        at[index] = kept - STEP
        found[index] = (above - function()) / (2 * STEP)
        at[index] = kept
    return found


class Gradients(unittest.TestCase):
    def test_losses(self):
        engine = numpy.random.default_rng(1)
        labels = numpy.array([0, 1, 2, 0, 0, 1, 0.])
        for name, loss in neural_gam.LOSSES.items():
            scores = engine.standard_normal(len(labels))
            numpy.testing.assert_allclose(loss(scores, labels)[1], slopes(lambda: loss(scores, labels)[0], scores), atol=1e-7,
                                          err_msg=name)

    def test_smooth_ndcg_is_near_that_of_scores_far_apart(self):
        # Labels 0, 2, 1 in this order: DCG 3 / log2(3) + 1 / log2(4), at best 3 + 1 / log2(3).
        value = neural_gam.ndcg_loss(numpy.array([30., 20., 10.]), numpy.array([0., 2., 1.]))[0]
        self.assertAlmostEqual(value, -(3 / numpy.log2(3) + 0.5) / (3 + 1 / numpy.log2(3)), places=9)

    def test_networks_with_missing_values(self):
        engine = numpy.random.default_rng(2)
        networks = neural_gam.Networks(3, (4, 2), engine)
        for name, weight in networks.weights.items():
            networks.weights[name] = weight.astype(float) + 0.1
        values, missing = engine.standard_normal((3, 6)), engine.random((3, 6)) < 0.3
        by_score = engine.standard_normal(6)
        self.assertTrue(missing.any())
        found = networks.gradients(by_score, networks.scores(values, missing)[1])
        for name, weight in networks.weights.items():
            numpy.testing.assert_allclose(found[name], slopes(lambda: networks.scores(values, missing)[0] @ by_score, weight),
                                          atol=1e-5, err_msg=name)

    def test_dropout_keeps_the_mean_and_its_gradient(self):
        networks = neural_gam.Networks(2, (4, 2), numpy.random.default_rng(3))
        for name, weight in networks.weights.items():
            networks.weights[name] = weight.astype(float) + 0.2
        values, missing = numpy.array([[0.5, 1.0], [0.3, -0.2]]), numpy.zeros((2, 2), bool)

        def passed():
            return networks.scores(values, missing, 0.5, numpy.random.default_rng(4))

        found = networks.gradients(numpy.array([1.0, -2.0]), passed()[1])
        for name, weight in networks.weights.items():
            numpy.testing.assert_allclose(found[name], slopes(lambda: passed()[0] @ [1.0, -2.0], weight), atol=1e-5, err_msg=name)


class Inputs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "part.txt"
        self.path.write_text("1 qid:1 1:3 2:NULL # a\n0 qid:1 1:1 2:4\n0 qid:2 1:7\n2 qid:2 1:7 2:2\n", "ascii")

    def test_z_scores(self):
        part = neural_gam.Part(self.path)
        self.assertEqual(part.features, [1, 2])
        self.assertEqual([part.labels[q].tolist() for q in part.queries], [[1, 0], [0, 2]])
        self.assertEqual(part.within_queries().tolist(), [[1, -1, 0, 0], [0, 0, -1, 1]])
        of = numpy.log1p([3, 1, 7, 7])
        numpy.testing.assert_allclose(part.within(part)[0], (of - of.mean()) / of.std(), rtol=1e-6)
        of = numpy.log1p([4, 0, 2])
        numpy.testing.assert_allclose(part.within(part)[1], [0, *((of - of.mean()) / of.std())], rtol=1e-6)

    def test_mean_precision(self):
        part = neural_gam.Part(self.path)
        # The first query has its relevant document second, the other its first.
        self.assertEqual(neural_gam.mean_precision(numpy.array([0., 1., 0., 1.]), part), 0.75)

    def test_settings_differ(self):
        settings = neural_gam.settings()
        self.assertEqual(len({json.dumps(setting) for setting in settings}), neural_gam.TRIALS)
        self.assertEqual(settings[0], {name: values[0] for name, values in neural_gam.TRIED.items()})


class Whole(unittest.TestCase):
    def test_run_goes_on_and_gives_the_same(self):
        with tempfile.TemporaryDirectory(prefix="rulerank-bench-") as scratch:
            folder = pathlib.Path(scratch)
            subprocess.run([PROGRAM, "sample", "--documents", "600", "--features", "6", "--queries", "40", "--fold-count", "5",
                            "--out-dir", folder / "letor" / "drawn", "--quiet"], check=True)

            def run(out):
                words = ["neural_gam.py", PROGRAM, str(folder / "letor"), str(folder / out), "--sets", "drawn"]
                with unittest.mock.patch.multiple(neural_gam, TRIALS=2, ROUNDS=3), \
                        unittest.mock.patch.object(sys, "argv", words), contextlib.redirect_stdout(io.StringIO()):
                    neural_gam.main()

            run("whole")
            run("halves")
            rows = (folder / "halves" / "drawn.jsonl").read_text().splitlines(True)
            (folder / "halves" / "drawn.jsonl").write_text("".join(rows[:2]))
            (folder / "halves" / "drawn" / "Fold4.score").unlink()
            run("halves")
            for number in range(1, 6):
                name = pathlib.Path("drawn") / f"Fold{number}.score"
                self.assertEqual((folder / "whole" / name).read_bytes(), (folder / "halves" / name).read_bytes())
            table = (folder / "whole" / "drawn.md").read_text("utf-8")
            self.assertEqual(table, (folder / "halves" / "drawn.md").read_text("utf-8"))
            self.assertIn("| neural_gam | .", table)
            rows = [json.loads(line) for line in (folder / "whole" / "drawn.jsonl").read_text().splitlines()]
            self.assertEqual([row["fold"] for row in rows], [f"Fold{n}" for n in range(1, 6)])
            for row in rows:
                best = max(trial["validation_MAP"] for trial in row["trials"])
                self.assertEqual((row["validation_MAP"], row["trials"][row["chosen"]]["validation_MAP"]), (best, best))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()

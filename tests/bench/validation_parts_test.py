#!/usr/bin/env python3
"""validation_parts_test.py PROGRAM: tests bench/member_evidence.py and bench/sampler_variants.py by hand, against slow
references, and in whole runs on synthetic data that are interrupted and continued."""

import contextlib
import io
import itertools
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
try:
    import numpy
except ModuleNotFoundError:
    print("validation_parts_test.py: Skipped\nneeds numpy")
    sys.exit(77)
import member_evidence
import sampler_variants
import validation_parts

PROGRAM = ""
BENCH = pathlib.Path(validation_parts.__file__).parent


class Drawn(unittest.TestCase):
    """One fold of synthetic data without its test set, which no script reads."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="rulerank-bench-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        subprocess.run([PROGRAM, "sample", "--documents", "600", "--features", "8", "--queries", "30", "--fold-count",
                        "1", "--out-dir", cls.folder / "letor" / "drawn", "--quiet"], check=True)
        (cls.folder / "letor" / "drawn" / "Fold1" / "test.txt").unlink()

    def fold(self, seed=1):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        return validation_parts.Fold(PROGRAM, self.folder / "letor", "drawn", 1, seed, scratch.name)

    def run_script(self, name, out, *more):
        subprocess.run([sys.executable, BENCH / f"{name}.py", PROGRAM, self.folder / "letor", self.folder / out,
                        "--folds", "1", "--seeds", "1", *more], check=True, capture_output=True)


class Samples(Drawn):
    def test_a_seed_shuffles_within_queries(self):
        files = [self.folder / "letor" / "drawn" / "Fold1" / "train.txt", self.fold(1).train, self.fold(2).train, self.fold(2).train]
        texts = [path.read_text().splitlines() for path in files]
        self.assertNotEqual(texts[0], texts[1])
        self.assertNotEqual(texts[1], texts[2])
        self.assertEqual(texts[2], texts[3])
        self.assertEqual(sorted(texts[0]), sorted(texts[1]))
        self.assertEqual(*([line.split()[1] for line in of] for of in texts[:2]))

    def test_random_samples(self):
        fold = self.fold()
        found = {of[:2]: set(of[2]) for of in validation_parts.samples(fold, ["5%", "20%"], member_evidence.orders)}
        self.assertEqual(list(found), [(budget, way) for budget in ("5%", "20%") for way in member_evidence.WAYS])
        count = len(fold.lines)
        for way in member_evidence.WAYS:
            few, many = found["5%", way], found["20%", way]
            self.assertEqual([len(few), len(many)], [round(count * 0.05), round(count * 0.2)])
            self.assertLess(few, many)
        queries = found["20%", "queries"]
        whole = [q for q, of in enumerate(fold.queries) if set(of) <= queries]
        touched = {fold.query[d] for d in queries}
        self.assertLessEqual(len(touched) - len(whole), 1)  # the last query, in part
        self.assertNotEqual(fold.random_order(), self.fold(2).random_order())

    def test_chosen_documents_and_all(self):
        fold = self.fold()
        samples = {budget: sample for budget, way, sample in validation_parts.samples(fold, ["2%", "100%"], member_evidence.orders)
                   if way in ("chosen", "all")}
        self.assertEqual(list(samples["100%"]), list(range(len(fold.lines))))
        cut = self.folder / "first.txt"
        fold.run("reduce", "--train", fold.train, "--rule-size", 2, "--max-documents", len(samples["2%"]), "--ties", "seeded",
                 "--out", cut, "--device", "cpu")
        self.assertEqual(cut.read_bytes(), b"".join(fold.lines[d] for d in samples["2%"]))

    def test_first_of_a_longer_choice_is_the_shorter_choice(self):
        self.assertEqual(self.fold().sampler_order(10_000)[:25], self.fold().sampler_order(25))

    def test_each_way_orders_all_documents(self):
        fold = self.fold()
        found = sampler_variants.orders(fold, 20)
        self.assertEqual(tuple(found), sampler_variants.WAYS)
        for way, of in found.items():
            self.assertEqual(sorted(of), list(range(len(fold.lines))), way)


class Kept(unittest.TestCase):
    """Rows of two files, of which a run that was killed may have written one, or a part."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.rows = [(("a", "1", "5%", "random", str(draw), "rules"), 7,
                      {"MAP": [0.25, draw / 3], "NDCG@10": [1.0, 0.12345]}) for draw in range(3)]
        validation_parts.Results(self.folder, "some").add(self.rows)

    def kept(self):
        results = validation_parts.Results(self.folder, "some")
        self.assertEqual(set(results.measured()), results.done)
        return [key in results.done for key, *_ in self.rows]

    def test_all(self):
        results = validation_parts.Results(self.folder, "some")
        results.add(self.rows)  # they are there already
        self.assertEqual((self.folder / "some.tsv").read_text().splitlines()[1:],
                         ["a\t1\t5%\trandom\t0\trules\t7\t0.125000\t0.561725", "a\t1\t5%\trandom\t1\trules\t7\t0.291667\t0.561725",
                          "a\t1\t5%\trandom\t2\trules\t7\t0.458333\t0.561725"])
        labels, values = results.measured()[self.rows[1][0]]
        self.assertEqual((labels, {m: of.tolist() for m, of in values.items()}),
                         (7, {"MAP": [0.25, 0.3333], "NDCG@10": [1.0, 0.1234]}))

    def test_part_of_a_row(self):
        path = self.folder / "some.tsv"
        for lost in (1, 5, 12):  # the end of the line, digits, a column
            text = path.read_text()
            path.write_text(text[:-lost])
            self.assertEqual(self.kept(), [True, True, False])
            validation_parts.Results(self.folder, "some").add(self.rows)

    def test_row_of_one_file(self):
        path = self.folder / "by_query.tsv.gz"
        with validation_parts.opened(path, "rt") as file:
            lines = file.readlines()
        with validation_parts.opened(path, "wt") as file:
            file.writelines(lines[:2])
        self.assertEqual(self.kept(), [True, False, False])
        self.assertEqual(len((self.folder / "some.tsv").read_text().splitlines()), 2)

    def test_other_columns(self):
        (self.folder / "some.tsv").write_text("set\tfold\n")
        with self.assertRaisesRegex(SystemExit, "some.tsv:1: found other columns"):
            validation_parts.Results(self.folder, "some")


class Combining(Drawn):
    def test_mean_of_standardized_scores_is_the_programs(self):
        fold = self.fold()
        file = fold.written(range(0, len(fold.lines), 3))
        parts = [fold.ranked(file, kind, None if kind == "linear" else "tube", ("--members", kind))
                 for kind in ("rules", "scorecard", "linear")]
        together = fold.ranked(file, "all", "tube", ("--members", "rules,scorecard,linear"))
        mine = sum(validation_parts.standardized(part, fold.lists) for part in parts) / 3
        numpy.testing.assert_allclose(mine, together, atol=1e-12)

    def test_list_of_equal_scores_adds_nothing(self):
        found = validation_parts.standardized(numpy.array([0.1, 0.1, 0.1, 1.0, 3.0]), [3])
        self.assertEqual(found.tolist(), [0, 0, 0, -1, 1])

    def test_judged_by_query(self):
        fold = self.fold()
        fold.kept("one", numpy.array([float(line.split()[0]) for line in fold.vali.read_text().splitlines()]))
        found = fold.judged(["one"])["one"]
        self.assertEqual(len(found["MAP"]), len(fold.lists) + 1)
        self.assertEqual(set(found["MAP"]), {1.0})


def slow_items(bins, labels, query, fold_of, vali):
    """The scores of `vali`, as the definition of weighted items reads, without numpy but for the linear system."""
    features = range(len(bins[0]))

    def e(d_bins, f, rows):
        of = [labels[r] for r in rows if bins[r][f] == d_bins[f]]
        return (sum(of) + sum(labels[r] for r in rows) / len(rows)) / (len(of) + 1)

    def centred(values):
        return [v - sum(o for o, q in zip(values, query) if q == mine) / query.count(mine) for v, mine in zip(values, query)]

    rows = range(len(labels))
    columns = [centred([e(bins[d], f, [r for r in rows if fold_of[r] != fold_of[d]]) for d in rows]) for f in features]
    y = centred(labels)
    mean = [sum(column[d] for column in columns) / len(columns) for d in rows]

    def fit(some, strength):
        first = sum(mean[d] * y[d] for d in some) / sum(mean[d] ** 2 for d in some)
        x = numpy.array([[column[d] for column in columns] for d in some])
        left = numpy.array([y[d] - first * mean[d] for d in some])
        return first, numpy.linalg.lstsq(numpy.vstack([x, strength ** 0.5 * numpy.eye(len(columns))]),
                                         numpy.concatenate([left, numpy.zeros(len(columns))]), rcond=None)[0]

    def squares(strength):
        total = 0
        for k in set(fold_of):
            first, w = fit([d for d in rows if fold_of[d] != k], strength)
            total += sum((y[d] - first * mean[d] - sum(w[f] * columns[f][d] for f in features)) ** 2
                         for d in rows if fold_of[d] == k)
        return total

    first, w = fit(rows, min(member_evidence.STRENGTHS, key=squares))
    return [first * sum(e(d, f, rows) for f in features) / len(features) + sum(w[f] * e(d, f, rows) for f in features)
            for d in vali]


class WeightedItems(unittest.TestCase):
    def test_against_the_definition(self):
        for seed, strongest in ((1, False), (2, True)):
            draw = random.Random(seed)
            query = [q for q in range(11) for _ in range(6)]
            bins = [[draw.randrange(4) for _ in range(3)] for _ in query]
            labels = [draw.randrange(3) if strongest else max(0, of[0] - 1) for of in bins]
            place = numpy.random.default_rng(1).permutation(11) % 5
            vali = [[draw.randrange(4) for _ in range(3)] for _ in range(20)]
            found = member_evidence.WeightedItems(numpy.array(bins), numpy.array(labels), numpy.array(query), 4)
            want = slow_items(bins, labels, query, [place[q] for q in query], vali)
            numpy.testing.assert_allclose(found.scores(numpy.array(vali)), want, atol=1e-9)

    def test_one_query(self):
        bins, labels = numpy.array([[0], [0], [1]]), numpy.array([2, 1, 0])
        found = member_evidence.WeightedItems(bins, labels, numpy.zeros(3), 3).scores(numpy.array([[0], [1], [2]]))
        numpy.testing.assert_allclose(found, [4 / 3, 1 / 2, 1])


class Intervals(unittest.TestCase):
    def test_student(self):
        for freedom, quantile in ((10, 2.2281), (30, 2.0423), (105, 1.9828)):
            self.assertAlmostEqual(validation_parts.student(freedom), quantile, delta=0.001)

    def test_same_queries_count_once(self):
        draw = numpy.random.default_rng(1)
        one, other = draw.random(20), draw.random(20)
        qids = [str(q) for q in range(20)]
        difference, half = validation_parts.Comparison({"a": qids}).difference({"a": one}, {"a": other})
        self.assertAlmostEqual(difference, (one - other).mean())
        self.assertAlmostEqual(half, validation_parts.student(19) * (one - other).std(ddof=1) / 20 ** 0.5)
        twice = {"a": one, "b": one[::-1]}, {"a": other, "b": other[::-1]}
        same = validation_parts.Comparison({"a": qids, "b": qids[::-1]}).difference(*twice)
        numpy.testing.assert_allclose(same, (difference, half))
        apart = validation_parts.Comparison({"a": qids, "b": [f"b{q}" for q in qids]}).difference(*twice)
        self.assertAlmostEqual(apart[1], validation_parts.student(38) * (one - other).std(ddof=1) / 40 ** 0.5)


class Orders(unittest.TestCase):
    """Documents 0-9 of three queries: 0 has 0-3, 1 has 4-6, 2 has 7-9."""

    query = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    order = [4, 0, 1, 5, 7, 2, 6, 3]
    labels = [1, 1, 1, 1, 0, 2, 0, 0, 0, 0]

    def test_by_hand(self):
        self.assertEqual(sampler_variants.pairs(self.order, self.query), [4, 5, 0, 1, 7, 2, 6, 3])
        self.assertEqual(sampler_variants.mixed(self.order, self.query, self.labels), [4, 5, 6, 0, 1, 7, 2, 3])
        self.assertEqual(sampler_variants.alike(self.order, self.query, self.labels), [4, 5, 0, 1, 2, 3, 7, 6])
        self.assertEqual(sampler_variants.capped(self.order, self.query, 2), [4, 0, 1, 5, 7, 2, 6, 3])
        self.assertEqual(sampler_variants.capped(self.order, self.query, 1), [4, 0, 7, 1, 5, 2, 6, 3])
        self.assertEqual(sampler_variants.round_robin(self.order, self.query), [4, 0, 7, 1, 5, 2, 6, 3])
        # Mean places of the first three: 1, 2, 5; 0, 3, 6; 4, and twice 8 for what is not there.
        self.assertEqual(sampler_variants.whole(self.order, self.query), [0, 1, 2, 3, 4, 5, 6, 7])

    def test_no_label_is_read_before_it_is_chosen(self):
        draw = random.Random(1)
        query = [draw.randrange(9) for _ in range(80)]
        order, labels = draw.sample(range(80), 60), [draw.randrange(2) for _ in range(80)]
        for variant in (sampler_variants.mixed, sampler_variants.alike):
            found = variant(order, query, labels)
            self.assertEqual(sorted(found), sorted(order))
            for count in range(61):
                first = found[:count]
                others = [of if d in first else 2 - of for d, of in enumerate(labels)]
                self.assertEqual(variant(order, query, others)[:count], first)


class WholeRuns(Drawn):
    def test_evidence_goes_on(self):
        self.run_script("member_evidence", "evidence", "--budgets", "10%,100%")
        out = self.folder / "evidence"
        text = (out / "evidence.tsv").read_text()
        rows = text.splitlines()
        self.assertEqual(len(rows), 1 + 4 * len(member_evidence.CANDIDATES))
        tables = (out / "tables.md").read_text()
        self.assertIn("## NDCG@10, chosen", tables)
        # Killed in the middle of a row, and by_query.tsv.gz in the middle of a block.
        (out / "evidence.tsv").write_text(text[:len(text) // 2])
        packed = (out / "by_query.tsv.gz").read_bytes()
        (out / "by_query.tsv.gz").write_bytes(packed[:-200])
        (out / "tables.md").unlink()
        self.run_script("member_evidence", "evidence", "--budgets", "10%,100%")
        self.assertEqual(sorted((out / "evidence.tsv").read_text().splitlines()), sorted(rows))
        self.assertEqual((out / "tables.md").read_text(), tables)

    def test_variants(self):
        self.run_script("sampler_variants", "variants", "--budgets", "5%")
        rows = [row.split("\t") for row in (self.folder / "variants" / "variants.tsv").read_text().splitlines()[1:]]
        learners = {row[5] for row in rows}
        self.assertLessEqual(set(sampler_variants.MEMBERS), learners)
        self.assertEqual({(row[3], row[5]) for row in rows}, set(itertools.product(sampler_variants.WAYS, learners)))
        self.assertEqual(len(rows), len(sampler_variants.WAYS) * len(learners))
        self.assertEqual(len({row[6] for row in rows}), 1)  # equal labels
        tables = (self.folder / "variants" / "tables.md").read_text()
        base = statistics.fmean(float(row[7]) for row in rows if row[3] == "ssarp" and row[5] == "card")
        self.assertIn(f"| ssarp | {validation_parts.bare(base)} |", tables)

    def test_missing_rows_are_named(self):
        self.run_script("sampler_variants", "short", "--budgets", "5%")
        with self.assertRaises(subprocess.CalledProcessError) as failed:
            self.run_script("sampler_variants", "short", "--budgets", "5%", "--seeds", "2", "--tables-only")
        self.assertIn(b"found no row of drawn, 1, 5%, ssarp, 2, card", failed.exception.stderr)

    def test_missing_learner_is_named(self):
        told = io.StringIO()
        with unittest.mock.patch("importlib.util.find_spec", return_value=None), contextlib.redirect_stderr(told):
            self.assertEqual(sampler_variants.Learners().names, list(sampler_variants.MEMBERS))
        self.assertIn("trees are skipped", told.getvalue())


class Verdicts(unittest.TestCase):
    def test_holm(self):
        self.assertEqual(sampler_variants.holm({"a": 0.04, "b": 0.01, "c": 0.03, "d": 0.5}),
                         {"b": 0.04, "c": 0.09, "a": 0.09, "d": 0.5})


if __name__ == "__main__":
    PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()

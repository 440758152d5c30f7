"""`agreement` against values worked by hand, and `evaluate --machine-qrels` against numpy-free formulas."""

import json
import math
import random

import harness
from harness import Row


class Agreement(harness.CommandLine):
    def qrels(self, name, labels):
        self.file(name, "".join(f"{q} 0 {d} {label}\n" for (q, d), label in labels.items()).encode())

    def test_two_sources(self):
        # 20 + 15 of 50 equal, kappa .4 (docs/concepts/agreement.md)
        pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
        for s, name in enumerate(("an", "bo")):
            self.qrels(name, {(f"q{i % 5}", f"d{i}"): pair[s] for i, pair in enumerate(pairs)})
        told = json.loads(self.expect(0, "agreement", "an", "second=bo", "--json", "--per-query").stdout)
        self.assertEqual(told["sources"], ["an", "second"])
        self.assertEqual(told["documents"], 50)
        self.assertAlmostEqual(told["equal"]["value"], .7)
        pair, = told["pairs"]
        self.assertAlmostEqual(pair["cohen_kappa"], .4)
        self.assertEqual(pair["counts"], [15, 10, 5, 20])
        low, high = told["alpha_nominal"]["low"], told["alpha_nominal"]["high"]
        self.assertTrue(low <= told["alpha_nominal"]["value"] <= high)
        self.assertEqual(len(told["queries"]), 5)
        self.assertEqual(list(told["queries"].values()), sorted(told["queries"].values()))
        text = self.expect(0, "agreement", "an", "second=bo", "--per-query").stdout.decode()
        self.assertIn("labels of an in rows, of second in columns", text)
        self.assertEqual(text, self.expect(0, "agreement", "an", "second=bo", "--per-query", "--threads", "1").stdout.decode())

    def test_one_label_from_many(self):
        draw = random.Random(4)
        truth = {(f"q{i // 20}", f"d{i}"): draw.randrange(3) for i in range(400)}
        rows = ["qid,docid,label,labeller"]
        for name, accuracy in (("an", .95), ("bo", .9), ("cy", .4), ("di", .4), ("ed", .4)):
            for (q, d), label in truth.items():
                said = label if draw.random() < accuracy else draw.choice([0, 0, 0, 1, 2])
                rows.append(f"{q},{d},{said},{name}")
        self.file("labels.csv", ("\n".join(rows) + "\n").encode())
        right = {}
        for method in ("majority", "dawid-skene", "ordinal"):
            self.expect(0, "agreement", "labels.csv", "--out", "one.tsv", "--consensus", method)
            header, *lines = self.read("one.tsv").decode().splitlines()
            self.assertEqual(header, "qid\tdocid\tlabel\tprobability\tsources")
            self.assertEqual(len(lines), 400)
            cells = [line.split("\t") for line in lines]
            self.assertTrue(all(0 < float(cell[3]) <= 1 and cell[4] == "5" for cell in cells))
            right[method] = sum(truth[cell[0], cell[1]] == int(cell[2]) for cell in cells) / 400
        self.assertGreater(right["dawid-skene"], right["majority"] + .05)
        self.assertGreater(right["ordinal"], right["majority"])
        # evaluate reads the table
        self.file("run", b"q0 Q0 d1 1 2.0 t\nq0 Q0 d2 2 1.0 t\n")
        self.expect(0, "evaluate", "--qrels", "one.tsv", "--run", "run")

    def test_bad_input(self):
        self.check_rows([
            Row("one source", b"q 0 d 1\n", "agreement {in}", 2, "found labels of 1 source, expected two or more"),
            Row("a label that is none", b"qid\tdocid\tlabel\tlabeller\nq\td\tx\tan\n", "agreement {in} {in}", 3,
                "{in}:2:5: found 'x', expected a label"),
            Row("a journal without a pool", b"# rulerank answers 1 x\nline\tdocid\tanswer\n0\td\t1\n", "agreement {in}", 2,
                "--pool POOL is the file of these lines"),
            Row("an unknown method", b"q 0 d 1\n", "agreement {in} {in} --consensus mean", 2, "--consensus"),
        ])


class Sample(harness.CommandLine):
    """20 of 200 queries judged by people; the machine is right in 80 % of its labels."""

    def setUp(self):
        super().setUp()
        draw = random.Random(7)
        run, human, machine, self.sample = [], [], [], []
        for q in range(200):
            quality = draw.random()
            for d in range(10):
                run.append(f"q{q} Q0 d{d} {d + 1} {10 - d} t\n")
                label = int(draw.random() < quality)
                human.append(f"q{q} 0 d{d} {label}\n")
                machine.append(f"q{q} 0 d{d} {label if draw.random() < .8 else 1 - label}\n")
        self.sample = sorted(draw.sample(range(200), 30))
        self.file("run", "".join(run).encode())
        self.file("all.qrels", "".join(human).encode())
        self.file("people", "".join(line for line in human if int(line.split()[0][1:]) in self.sample).encode())
        self.file("machine", "".join(machine).encode())

    GIVEN = ["evaluate", "--qrels", "people", "--machine-qrels", "machine", "--run", "run", "--json"]
    LINE = [*GIVEN, "--metrics", "P@5,MAP"]

    def by_query(self, qrels):
        told = self.expect(0, "evaluate", "--qrels", qrels, "--run", "run", "--metrics", "P@5", "--per-query", "--format", "tsv").stdout
        rows = [line.split("\t") for line in told.decode().splitlines()[2:]]
        return {row[1]: float(row[2]) for row in rows if row[1] != "all"}

    def test_the_formula(self):
        rows = json.loads(self.expect(0, *self.LINE, "--human-sample", "random").stdout)
        row = next(row for row in rows if row["measure"] == "P@5")
        human, machine = self.by_query("people"), self.by_query("machine")
        self.assertEqual((len(human), len(machine)), (30, 200))
        n, h, m = 30, list(human.values()), [machine[q] for q in human]
        hm, mm, every = sum(h) / n, sum(m) / n, sum(machine.values()) / 200
        square = sum((x - mm) ** 2 for x in m)
        slope = sum((x - hm) * (y - mm) for x, y in zip(h, m)) / square
        self.assertAlmostEqual(row["human mean"], hm)
        self.assertAlmostEqual(row["mean"], hm + slope * (every - mm))
        self.assertAlmostEqual(row["lambda"], slope * (1 - 30 / 200))
        jackknife = sum(((1 / n + (every - mm) * (y - mm) / square) * (x - hm - slope * (y - mm))
                         / (1 - 1 / n - (y - mm) ** 2 / square)) ** 2 for x, y in zip(h, m)) * (n - 1) / n
        variance = .85 * jackknife + .15 * sum((x - hm) ** 2 for x in h) / (n * (n - 1))
        self.assertAlmostEqual(row["high"] - row["mean"], 2.048407 * math.sqrt(variance), places=5)
        self.assertLess(row["high"] - row["low"], row["human high"] - row["human low"])

    def test_differences(self):
        # The reverse ranking, and the ranking itself, whose difference is 0 in every query.
        run = [line.split() for line in self.read("run").decode().splitlines()]
        self.file("worse", "".join(f"{q} Q0 {d} 1 {-float(score)} t\n" for q, _, d, _, score, _ in run).encode())
        self.file("same", self.read("run"))
        rows = json.loads(self.expect(0, *self.LINE[:5], "--run", "run", "worse", "same", "--metrics", "P@5", "--json",
                                      "--human-sample", "random").stdout)
        self.assertEqual([row["system"] for row in rows], ["run", "worse", "same", "worse - run", "same - run"])
        self.assertAlmostEqual(rows[3]["human mean"], rows[1]["human mean"] - rows[0]["human mean"])
        self.assertEqual((rows[4]["mean"], rows[4]["low"], rows[4]["high"]), (0, 0, 0))
        self.file("worse", b"".join(self.read("worse").splitlines(True)[10:]))
        self.expect(2, *self.LINE[:5], "--run", "run", "worse", "--human-sample", "random", message="answer different queries")

    def test_inclusion_probabilities(self):
        equal = self.expect(0, *self.LINE, "--human-sample", "random").stdout
        self.file("p", "".join(f"q{q} 0.15\n" for q in self.sample).encode())
        for ours, theirs in zip(json.loads(self.expect(0, *self.LINE, "--human-sample", "p").stdout), json.loads(equal)):
            for key in ("mean", "low", "high"):
                self.assertAlmostEqual(ours[key], theirs[key], places=12)
        self.file("p", "".join(f"q{q} 0.15\n" for q in self.sample[1:]).encode())
        self.expect(3, *self.LINE, "--human-sample", "p", message=f"found no query q{self.sample[0]}")

    def test_bad_input(self):
        self.expect(2, *self.LINE, message="Documents that reduce or label chose are no random sample")
        self.expect(2, *self.GIVEN, "--human-sample", "random", "--metrics", "gmMAP", message="geometric")
        self.expect(2, *self.LINE, "--human-sample", "random", "--per-query", message="--per-query cannot be combined")
        self.expect(2, "evaluate", "--qrels", "people", "--run", "run", "--human-sample", "random", message="needs --machine-qrels")
        self.file("p", b"q1 2\n")
        self.expect(3, *self.LINE, "--human-sample", "p", message="p:1:4: found '2', expected a query and its inclusion")
        self.file("people", b"q999 0 d1 1\n")
        self.file("run", self.read("run") + b"q999 Q0 d1 1 1.0 t\n")
        self.expect(3, *self.LINE, "--human-sample", "random", message="found query q999, which is not in machine")


if __name__ == "__main__":
    harness.main()

"""`reduce` with a budget that the rules do not fill, ties by index and seeded, and orders that predict labels."""

import random

import harness
from over_ranks import OverRanks


def counts(queries=30, each=20, seed=1):
    """Lines of a set of counts: nearly all values are 0 or 1. Rules run dry after a few documents."""
    chance = random.Random(seed)
    values = [0] * 60 + [1] * 4 + [2]
    return [f"{chance.randrange(3)} qid:{q} {' '.join(f'{f}:{chance.choice(values)}' for f in range(1, 9))} # docid = D{q}-{d}"
            for q in range(queries) for d in range(each)]


def text(lines):
    return "".join(line + "\n" for line in lines).encode()


def shuffled(lines, seed):
    """The documents of each query in another order."""
    chance = random.Random(seed)
    queries = {}
    for line in lines:
        queries.setdefault(line.split()[1], []).append(line)
    for of_query in queries.values():
        chance.shuffle(of_query)
    return [line for of_query in queries.values() for line in of_query]


def sorted_by_label(lines):
    """The documents of each query, relevant ones first."""
    return sorted(lines, key=lambda line: (int(line.split()[1][4:]), -int(line[0])))


class Reduce(OverRanks):
    LINE = ["reduce", "--train", "train", "--device", "cpu", "--out", "out", "--ids", "ids"]
    ORDER = "the order of documents within queries predicts their labels"

    def setUp(self):
        super().setUp()
        self.lines = counts()
        self.file("train", text(self.lines))

    def ids(self):
        rows = [row.split("\t") for row in self.read_text("ids").splitlines()]
        return rows[0], rows[1:]

    def chosen(self):
        return sorted(self.read_text("out").splitlines())

    def reduce(self, *more):
        """Standard error of a run, and its summary."""
        done = self.expect(0, *self.LINE, *more)
        return done.stderr.decode(), self.told(*self.LINE, *more, "--json")

    def test_rules_run_dry_without_a_budget(self):
        said, summary = self.reduce()
        self.assertLess(summary["chosen"], 60)
        self.assertTrue(summary["ran_dry"])
        self.assertEqual(summary["reasons"], {"rules": summary["chosen"]})
        self.assertEqual(self.ids()[0], ["line", "docid", "partition", "iteration", "rules"])
        before, after = said.index("on features of few values far fewer"), said.index(f"chose {summary['chosen']} of 600")
        self.assertLess(before, after)
        self.assertIn("the rules ran dry: ", said)

    def test_shares_that_were_not_measured(self):
        said, summary = self.reduce("--rule-size", 2)
        self.assertGreater(summary["share"], .008)
        self.assertIn("was not measured for --rule-size 2, only for 0.5 to 0.8 %; --max-documents N chooses N documents", said)
        self.assertNotIn("on average against all", said)

    def test_a_budget_is_met(self):
        dry = self.reduce()[1]["chosen"]
        for budget in (1, dry + 1, 300, 700):
            with self.subTest(budget=budget):
                said, summary = self.reduce("--max-documents", budget)
                self.assertEqual(summary["chosen"], min(budget, 600))
                self.assertEqual("warning: --max-documents 700 exceeds the 600 documents of " in said, budget == 700)
                self.assertEqual(len(self.chosen()), min(budget, 600))
                self.assertEqual(sum(summary["reasons"].values()), min(budget, 600))
                header, rows = self.ids()
                self.assertEqual(header, ["line", "docid", "partition", "iteration", "rules", "reason"])
                self.assertEqual(len({row[0] for row in rows}), min(budget, 600))
                order = ["rules", "rules-5", "rules-6", "items", "random"]
                reasons = [order.index(row[5]) for row in rows]
                self.assertEqual(reasons, sorted(reasons))
                for row in rows:
                    self.assertEqual(row[2:5] == ["", "", ""], row[5] in ("items", "random"))
                if budget > dry:
                    self.assertIn(f"the rules ran dry: every document left has as many rules as a chosen one or more; chose {dry} documents by rules of size 4, then ",
                                  said)

    def test_a_budget_that_stops_when_dry(self):
        dry = self.reduce()[1]["chosen"]
        plain = self.read("out"), self.read("ids")
        for more in (["--stop-when-dry"], ["--engine", "ssarp"]):
            said, summary = self.reduce("--max-documents", 300, *more)
            self.assertEqual(summary["chosen"], dry)
            self.assertIn(f"; stopped {300 - dry} below --max-documents", said)
            self.assertEqual((self.read("out"), self.read("ids")), plain)

    def test_stopping_needs_a_budget(self):
        self.expect(2, "reduce", "--train", "pool", "--out", "out", "--stop-when-dry", message="--stop-when-dry needs --max-documents")

    def test_a_budget_is_met_with_labels_of_a_table(self):
        self.reduce("--max-documents", 80)
        want = self.read("out"), self.read("ids")
        self.file("pool", text(["-1" + line[1:] for line in self.lines]))
        line = ["reduce", "--train", "pool", "--unlabelled", "-1", "--device", "cpu", "--out", "out", "--ids", "ids", "--max-documents", 80,
                "--oracle", "file:labels", "--pending", "pending"]
        table, rounds = "line\tlabel\n", 0
        while True:
            self.file("labels", table.encode())
            if self.rulerank(*line).returncode == 0:
                break
            wanted = [int(row.split("\t")[0]) for row in self.read_text("pending").splitlines()[1:]]
            table += "".join(f"{d}\t{self.lines[d][0]}\n" for d in wanted)
            rounds += 1
            self.assertLess(rounds, 60)  # the random documents come in one table
        self.assertEqual((self.read("out"), self.read("ids")), want)
        self.assertEqual(table.count("\n"), 81)

    def test_rounds_go_on_instead(self):
        said, summary = self.reduce("--max-documents", 300, "--rounds", 1, "--select", "random")
        self.assertEqual(summary["reasons"], {"rules": summary["chosen"]})
        self.assertLess(summary["chosen"], 60)
        self.assertIn("1 round by random added", said)

    def test_seeded_ties_do_not_depend_on_the_order_of_the_file(self):
        for budget in (10, 200):
            found, by_index = set(), set()
            for seed in range(4):
                self.file("train", text(shuffled(self.lines, seed)))
                self.reduce("--max-documents", budget, "--ties", "seeded")
                found.add("\n".join(self.chosen()))
                self.reduce("--max-documents", budget)
                by_index.add("\n".join(self.chosen()))
            self.assertEqual(len(found), 1)
            self.assertGreater(len(by_index), 1)
            self.reduce("--max-documents", budget, "--ties", "seeded", "--seed", 2)
            self.assertNotIn("\n".join(self.chosen()), found)

    def test_an_order_that_predicts_labels_is_warned_of(self):
        self.assertNotIn(self.ORDER, self.reduce()[0])
        self.file("train", text(sorted_by_label(self.lines)))
        said = self.reduce()[0]
        self.assertIn(f"rulerank: warning: train: {self.ORDER} (mean Kendall's tau-b of position and label -0.8", said)
        self.assertIn("over 30 queries); --ties index follows this order, so the choice may use labels that you do not have; use --ties seeded", said)
        self.assertNotIn(self.ORDER, self.reduce("--ties", "seeded")[0])
        self.assertNotIn(self.ORDER, self.reduce("--whole-queries")[0])
        for lines, warns in ((self.lines, 0), (sorted_by_label(self.lines), 1)):
            (self.folder / "Fold1").mkdir(exist_ok=True)
            for part in ("train", "vali", "test"):
                self.file(f"Fold1/{part}.txt", text(lines))
            done = self.expect(0, "experiment", "--folds", ".", "--reduce-size", "2", "--rank-size", "2", "--out-dir", f"o{warns}")
            self.assertEqual(done.stderr.decode().count(self.ORDER), warns)

    def test_evaluate_warns_of_it_where_scores_are_equal(self):
        line = ["evaluate", "--test", "train", "--scores", "scores"]
        for lines, scores, more, warns in (
                (sorted_by_label(self.lines), b"1\n" * 600, [], 1), (sorted_by_label(self.lines), b"1\n" * 600, ["--ties", "average"], 0),
                (sorted_by_label(self.lines), "".join(f"{n}\n" for n in range(600)).encode(), [], 0), (self.lines, b"1\n" * 600, [], 0)):
            self.file("train", text(lines))
            self.file("scores", scores)
            said = self.expect(0, *line, *more).stderr.decode()
            self.assertEqual(said.count(f"rulerank: warning: train: {self.ORDER} (mean Kendall's tau-b of position and label -0.8"), warns)
            self.assertEqual(said.count("documents with equal scores keep this order, except with --ties average"), warns)
        self.file("train", text(sorted_by_label(self.lines)))
        said = self.expect(0, *line, "a=scores", "--feature", "all").stderr.decode()
        self.assertEqual(said.count(self.ORDER), 1)

    def test_over_ranks(self):
        self.needs_mpi()
        self.file("train", text(sorted_by_label(self.lines)))
        for more in (["--max-documents", 300], ["--max-documents", 300, "--ties", "seeded", "--partitions", 3], ["--ties", "seeded"]):
            self.expect_same_bytes([*self.LINE, *more], "out", "ids", over=(3,))


if __name__ == "__main__":
    harness.main()

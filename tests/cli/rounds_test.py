"""`reduce --rounds`: the second stage with labels from the file, from tables in batches and from a person, and refused options."""

import json
import random
import resource

import harness
from harness import Row


def draw(seed, queries=12, documents=10):
    chance = random.Random(seed)
    labels, rows = [], []
    for d in range(queries * documents):
        values = [chance.randrange(100) for _ in range(8)]
        labels.append(min(2, (values[0] + values[1]) // 70))
        rows.append(" qid:%d %s # docid = D%d" %
                    (d // documents, " ".join(f"{f}:{v / 100}" for f, v in enumerate(values, 1)), d))
    whole = "".join(f"{label}{row}\n" for label, row in zip(labels, rows)).encode()
    pool = "".join(f"-1{row}\n" for row in rows).encode()
    return labels, whole, pool


class Rounds(harness.CommandLine):
    # Rules with scores of other programs: the committee of a build without the libraries.
    COMMON = ["--device", "cpu", "--method", "width", "--bins", "3", "--partitions=2", "--rule-size=3",
              "--max-documents", "60", "--per-query", "2", "--rounds", "3", "--committee",
              "rules,a=first,b=second"]
    POOL = ["reduce", "--train", "pool", "--unlabelled", "-1", *COMMON]

    def setUp(self):
        super().setUp()
        self.labels, whole, pool = draw(1)
        self.file("whole", whole)
        self.file("pool", pool)
        chance = random.Random(2)
        for name in ("first", "second"):
            self.file(name, "".join(f"{chance.random()}\n" for _ in self.labels).encode())
        self.expect(0, "reduce", "--train", "whole", *self.COMMON, "--out", "want", "--ids", "want.tsv")
        self.want = self.read("want"), self.read("want.tsv")

    def ids(self, name="want.tsv"):
        rows = [row.split("\t") for row in self.read(name).decode().splitlines()]
        self.assertEqual(rows[0], ["line", "docid", "partition", "iteration", "rules", "round",
                                   "disagreement"])
        return rows[1:]

    def test_what_the_rounds_take(self):
        chosen = [int(row[0]) for row in self.ids() if row[5] == "0"]
        picked = [row for row in self.ids() if row[5] != "0"]
        self.assertEqual(self.want[0].count(b"\n"), 60)
        self.assertEqual(len(set(chosen)) + len(picked), 60)
        self.assertFalse(set(chosen) & {int(row[0]) for row in picked})
        self.assertEqual(len({row[0] for row in picked}), len(picked))
        self.assertGreater(len(picked), 24)
        for line, docid, *empty, number, disagreement in picked:
            self.assertEqual((docid, empty), (f"D{line}", ["", "", ""]))
            self.assertIn(int(number), (1, 2, 3))
            self.assertGreaterEqual(int(disagreement), 0)
        for number in "123":
            queries = [int(row[0]) // 10 for row in picked if row[5] == number]
            self.assertLessEqual(max(map(queries.count, queries), default=0), 2)
        # Without rounds: what the sampling chose, in the columns it had.
        self.expect(0, "reduce", "--train", "whole", *self.COMMON[:8], "--out", "out", "--ids",
                    "ids")
        plain = [row.split("\t") for row in self.read("ids").decode().splitlines()]
        self.assertEqual(plain[0], ["line", "docid", "partition", "iteration", "rules"])
        self.assertEqual([int(row[0]) for row in plain[1:]], chosen)

    def test_more_of_a_query_than_it_has(self):
        line = [*self.COMMON]
        del line[line.index("--per-query"):line.index("--per-query") + 2]
        if "--max-documents" in line:
            del line[line.index("--max-documents"):line.index("--max-documents") + 2]
        self.expect(0, "reduce", "--train", "whole", *line, "--per-query", "1000000000", "--out",
                    "out", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (20, 20)))
        self.assertEqual(self.read("out"), self.read("whole"))

    def test_the_same_for_any_number_of_threads(self):
        for select in ("committee", "margin", "random"):
            kept = set()
            for threads in ("1", "2", "3"):
                done = self.rulerank("reduce", "--train", "whole", *self.COMMON, "--select", select,
                                     "--out", "out", "--ids", "ids", "--threads", threads, "--json")
                self.assertEqual(done.returncode, 0, done.stderr)
                kept.add((self.read("out"), self.read("ids")))
                stage = json.loads(done.stdout)["second_stage"]
                self.assertEqual((stage["select"], stage["wanted"]), (select, 0))
                self.assertEqual(json.loads(done.stdout)["labelled"], 60)
            self.assertEqual(len(kept), 1)
            self.assertEqual(next(iter(kept)) == self.want, select == "committee")

    def test_members_from_libraries(self):
        line = ["reduce", "--train", "whole", "--device", "cpu", "--method", "width", "--out", "out",
                "--rounds", "2"]
        for member, package in (("ranksvm", "liblinear"), ("xgboost", "XGBoost")):
            done = self.rulerank(*line, "--committee", "rules," + member)
            if done.returncode == 2:
                self.assertIn(f"this build does not have {member}, expected a build with {package}",
                              done.stderr.decode())
            else:
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn("rounds by committee added", done.stderr.decode())
                self.assertEqual(done.stdout, b"")

    def batches(self, *more, journal):
        """Labels what is wanted until nothing is; the number of batches."""
        table = "line\tlabel\n"
        for n in range(200):
            done = self.rulerank(*self.POOL, "--out", "out", "--ids", "ids", "--oracle",
                                 "file:labels", "--pending", "pending", *more)
            if done.returncode == 0:
                return n
            self.assertEqual(done.returncode, 5, done.stderr)
            self.assertFalse((self.folder / "out").exists())
            wanted = [int(row.split("\t")[0])
                      for row in self.read("pending").decode().splitlines()[1:]]
            self.assertTrue(wanted)
            if journal:
                table = "line\tlabel\n"
            # Now and then a part of the batch.
            for line in wanted if n % 3 else wanted[:max(1, len(wanted) // 2)]:
                table += f"{line}\t{self.labels[line]}\n"
            self.file("labels", table.encode())
        self.fail("it never ends")

    def test_batches_of_a_table(self):
        self.batches(journal=False)
        self.assertEqual((self.read("out"), self.read("ids")), self.want)
        self.assertEqual(self.read("pending").count(b"\n"), 1)

    def test_batches_that_are_kept_in_a_journal(self):
        self.batches("--resume", "state", journal=True)
        self.assertEqual((self.read("out"), self.read("ids")), self.want)
        self.assertEqual(self.read("state").count(b"\n"), 2 + 60)

    def test_labels_in_the_pool_itself(self):
        lines = self.read("pool").splitlines(keepends=True)
        for _ in range(200):
            done = self.rulerank(*self.POOL, "--out", "out", "--ids", "ids", "--pending", "pending")
            if done.returncode == 0:
                break
            self.assertEqual(done.returncode, 5, done.stderr)
            for row in self.read("pending").decode().splitlines()[1:]:
                x = int(row.split("\t")[0])
                lines[x] = b"%d%s" % (self.labels[x], lines[x][2:])
            self.file("pool", b"".join(lines))
        self.assertEqual((self.read("out"), self.read("ids")), self.want)

    def ask(self, words, code, *more):
        done = self.rulerank(*self.POOL, "--out", "out", "--ids", "ids", "--oracle", "ask",
                             "--resume", "state", *more, input="".join(words).encode())
        self.assertEqual(done.returncode, code, done.stderr.decode())
        self.assertEqual(done.stdout, b"")
        return done.stderr.decode()

    def order(self):
        return list(dict.fromkeys(int(row[0]) for row in self.ids()))

    def test_a_person_answers(self):
        words = [f"{self.labels[x]}\n" for x in self.order()]
        sampled = len({row[0] for row in self.ids() if row[5] == "0"})
        shown = self.ask([*words[:sampled], "u\n", "e\n", *words[sampled:]], 0)
        self.assertEqual((self.read("out"), self.read("ids")), self.want)
        for text in ("round 1 of 3, ", " left; the committee disagrees on ",
                     "there is no answer to undo", " answers left in round 1 of 3",
                     "nearest labelled documents"):
            self.assertIn(text, shown)
        whole = self.read("state")
        # An end after any answer.
        for n in range(0, len(words), 7):
            (self.folder / "state").unlink()
            (self.folder / "out").unlink(missing_ok=True)
            self.ask(words[:n], 5)
            self.assertFalse((self.folder / "out").exists())
            self.ask(words[n:], 0)
            self.assertEqual((self.read("out"), self.read("ids"), self.read("state")),
                             (*self.want, whole))

    def test_undo_and_a_document_left_out(self):
        words = [f"{self.labels[x]}\n" for x in self.order()]
        picked = [int(row[0]) for row in self.ids() if row[5] != "0"]
        first = len(words) - len(picked)
        self.ask([*words[:first + 1], "0\n", "u\n", "s\n", "u\n", *words[first + 1:]], 0)
        self.assertEqual((self.read("out"), self.read("ids")), self.want)
        # Answers of an earlier round are taken back too, and given again.
        (self.folder / "state").unlink()
        self.ask([*words[:-2], *["u\n"] * (len(picked) - 2), *words[first:]], 0)
        self.assertEqual((self.read("out"), self.read("ids")), self.want)
        # Left out: the next one takes its place, for a person and in a table, whenever it is said.
        (self.folder / "state").unlink()
        self.ask([*words[:first], "skip\n", *["1\n"] * 60], 0)
        self.assertNotIn(b"D%d\n" % picked[0], self.read("out"))
        self.assertEqual(self.read("out").count(b"\n"), 60)
        person = self.read("out"), self.read("ids")
        self.file("labels", b"line\tlabel\n" + b"".join(
            b"%d\t%s\n" % (x, b"%d" % self.labels[x] if x in self.order()[:first] else
                           b"skip" if x == picked[0] else b"1") for x in range(120)))
        self.expect(0, *self.POOL, "--out", "out", "--ids", "ids", "--oracle", "file:labels")
        self.assertEqual((self.read("out"), self.read("ids")), person)

    def test_a_person_finishes_early(self):
        words = [f"{self.labels[x]}\n" for x in self.order()]
        first = len({row[0] for row in self.ids() if row[5] == "0"})
        self.ask([*words[:first + 4], "f\n"], 0)
        self.assertEqual(self.read("out").count(b"\n"), first + 4)
        self.assertEqual(self.ids("ids"), self.ids()[:len(self.ids()) - len(words) + first + 4])
        self.ask(words[first + 4:], 0)
        self.assertEqual((self.read("out"), self.read("ids")), self.want)
        (self.folder / "state").unlink()
        self.ask([*words[:5], "f\n"], 0)
        self.assertEqual(self.read("out").count(b"\n"), 5)

    def test_bad_input(self):
        whole, pool = self.read("whole"), self.read("pool")
        line = "reduce --train {in} --out {out} --device cpu --method width --rounds 2 "
        scores = "".join("1\n" for _ in self.labels).encode()
        def usage(name, more, message):
            return Row(name, whole, line + more, 2, message)
        self.check_rows([
            usage("one member", "--committee rules", "one member, expected two or more"),
            usage("an unknown member", "--committee rules,rankboost",
                  "found 'rankboost', expected one of rules, ranksvm, xgboost"),
            usage("a member twice", "--committee rules,rules", "found 'rules' twice"),
            usage("a name twice", "--committee rules,a=x,a=y", "found 'a' twice"),
            usage("no name", "--committee rules,=x", "found '=x', expected NAME=FILE"),
            usage("no file", "--committee rules,a=", "found 'a=', expected NAME=FILE"),
            usage("an unknown rule", "--select entropy", "found 'entropy', expected committee"),
            usage("no margins", "--select margin --committee a={in}", "none"),
            Row("members without rounds", whole, line.replace("--rounds 2 ", "") +
                "--committee rules,ranksvm", 2, "--committee needs --rounds"),
            Row("a choice without rounds", whole, line.replace("2 ", "0 ") + "--select random", 2,
                "--select needs --rounds"),
            usage("no documents of a query", "--per-query 0", "--per-query"),
            usage("scores on standard input too", "--committee rules,a=-,b=-", "standard input"),
            Row("scores of another file", whole, line + "--committee rules,a={scores}", 3,
                "{scores}:", {"scores": scores[2:]}),
            Row("no scores", whole, line + "--committee rules,a={scores}", 3, "{scores}:1:1",
                {"scores": b"good\n"}),
            Row("a pick without a label", pool.replace(b"-1", b"1", 119), line +
                "--unlabelled -1 --rule-size 2 --partitions 1 --per-query 9 "
                "--committee rules,a={scores}", 3,
                "{in}:120:1: this picked document has no label, expected a label",
                {"scores": scores}),
        ])


if __name__ == "__main__":
    harness.main()

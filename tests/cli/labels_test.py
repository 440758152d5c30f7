"""`reduce` with questions: tables of labels in batches with missing ones, a person's dialogue, and interruptions after which the
same command continues."""

import csv
import io
import json
import os
import pty
import random
import re
import shutil
import signal
import subprocess
import time

import harness
from harness import Row


def draw(documents, seed):
    """A data set, its labels, and the same as a pool without them."""
    chance = random.Random(seed)
    labels = [chance.randrange(3) for _ in range(documents)]
    rows = [" qid:%d %s # docid = D%d about it" %
            (d // 10, " ".join(f"{f}:{chance.randrange(4)}" for f in range(1, 15)), d)
            for d in range(documents)]
    whole = "".join(f"{label}{row}\n" for label, row in zip(labels, rows)).encode()
    pool = "".join(f"-1{row}\n" for row in rows).encode()
    return labels, whole, pool


class Labels(harness.CommandLine):
    COMMON = ["--device", "cpu", "--method", "width", "--bins", "4", "--partitions", "3"]
    POOL = ["reduce", "--train", "pool", "--unlabelled", "-1", *COMMON]

    def setUp(self):
        super().setUp()
        self.labels, whole, pool = draw(60, 1)
        self.file("whole", whole)
        self.file("pool", pool)
        self.expect(0, "reduce", "--train", "whole", *self.COMMON, "--out", "want", "--ids", "want.tsv")
        self.want = self.read("want"), self.read("want.tsv")
        self.assertGreater(self.want[0].count(b"\n"), 12)

    def wanted(self, table="pending"):
        rows = [row.split("\t") for row in self.read(table).decode().splitlines()]
        self.assertEqual(rows[0], ["line", "docid", "qid", "label", "comment"])
        for line, docid, qid, label, comment in rows[1:]:
            self.assertEqual((docid, qid, label, comment),
                             (f"D{line}", f"'{int(line) // 10}", "", f"docid = D{line} about it"))
        return [int(row[0]) for row in rows[1:]]

    def by_file(self, code, *more, message=""):
        done = self.rulerank(*self.POOL, "--out", "out", "--ids", "ids", "--oracle", "file:labels",
                             "--pending", "pending", *more)
        errors = done.stderr.decode()
        self.assertEqual(done.returncode, code, errors)
        self.assertIn(message, errors)
        self.assertNotIn("error", errors)
        return done

    def test_batches_of_a_table(self):
        table = "line\tdocid\tlabel\n"
        rounds = 0
        while True:
            if rounds > 0:  # at first there is no such file
                self.file("labels", table.encode())
            done = self.by_file(0 if rounds and not batch else 5)
            if done.returncode == 0:
                break
            self.assertFalse((self.folder / "out").exists())
            batch = self.wanted()
            wants = "1 document needs a label" if len(batch) == 1 else f"{len(batch)} documents need labels"
            self.assertIn(f"{wants}, see pending", done.stderr.decode())
            # Now and then only one of the batch is labelled.
            for line in batch if rounds % 3 else batch[-1:]:
                table += f"{line}\tD{line}\t{self.labels[line]}\n"
            rounds += 1
            if self.read("want").count(b"\n") == table.count("\n") - 1:
                batch = []
        self.assertEqual((self.read("out"), self.read("ids")), self.want)
        self.assertEqual(self.wanted(), [])

    def test_batches_that_are_kept_in_a_journal(self):
        """Each table has the answers of one batch alone."""
        code = 5
        given = []
        for rounds in range(100):
            done = self.rulerank(*self.POOL, "--out", "out", "--ids", "ids", "--oracle",
                                 "file:labels", "--pending", "pending", "--resume", "state",
                                 "--json")
            code = done.returncode
            if code == 0:
                break
            self.assertEqual(code, 5, done.stderr)
            batch = self.wanted()
            summary = json.loads(done.stdout)
            self.assertEqual(summary["wanted"], len(batch))
            minority = len(given) - max(map(given.count, given), default=0)
            self.assertEqual(summary["estimate"] is None, minority < 10)
            if summary["estimate"]:
                self.assertGreaterEqual(summary["estimate"]["documents"], len(batch))
            given += [self.labels[x] for x in batch]
            self.file("labels", "".join(["label\tline\r\n"] + [f'"{self.labels[x]}"\t{x}\r\n'
                                                               for x in batch]).encode())
        self.assertEqual((self.read("out"), self.read("ids")), self.want)
        self.assertEqual(json.loads(done.stdout)["labelling"]["answers"],
                         self.want[0].count(b"\n"))

    def test_larger_batches_choose_the_same(self):
        """With guesses for labels a batch is as long as asked for; what it chooses is as without."""
        for size, state in ((1, []), (5, ["--resume", "state5"]), (7, []),
                            (40, ["--resume", "state40"])):
            with self.subTest(size=size):
                table = "line\tlabel\n"
                self.file("labels", table.encode())
                given = []
                while self.by_batch(size, *state) == 5:
                    batch = self.wanted()
                    self.assertLessEqual(len(batch), size)
                    self.assertGreater(len(batch), 0)
                    self.assertFalse(set(batch) & set(given))
                    given += batch
                    # Beside a journal a table is of one batch alone.
                    table = table if not state else "line\tlabel\n"
                    table += "".join(f"{x}\t{self.labels[x]}\n" for x in batch)
                    self.file("labels", table.encode())
                self.assertEqual((self.read("out"), self.read("ids")), self.want)
                if size == 1:
                    self.assertEqual(given, self.order())

    def by_batch(self, size, *more):
        done = self.rulerank(*self.POOL, "--out", "out", "--ids", "ids", "--oracle", "file:labels",
                             "--pending", "pending", "--batch", str(size), *more, "--json")
        self.assertIn(done.returncode, (0, 5), done.stderr)
        summary = json.loads(done.stdout)
        summary = summary.get("labelling", summary)
        if done.returncode == 0:
            chosen = self.read("out").count(b"\n")
            self.assertEqual(summary["answers"] - summary["unused"], chosen)
        return done.returncode

    def test_whole_queries(self):
        """The file's labels, a table, and a person come to the same; so does any end."""
        whole = ["--whole-queries"]
        done = self.expect(0, "reduce", "--train", "whole", *self.COMMON, *whole, "--out", "want",
                           "--ids", "want.tsv", "--max-documents", "45")
        self.want = self.read("want"), self.read("want.tsv")
        order = self.order()
        self.assertIn(f"chose {len(order)} of 60", done.stderr.decode())
        self.assertIn(f"in {len(order) // 10} whole queries", done.stderr.decode())
        self.assertGreater(len(order), 10)
        for n in range(0, len(order), 10):  # in their order
            self.assertEqual(order[n:n + 10], list(range(order[n], order[n] + 10)))
        whole += ["--max-documents", "45"]
        words = [f"{self.labels[x]}\n" for x in order]
        shown = self.ask(["e\n", *words[:3], "u\n", *words[2:13]], 5, *whole)
        self.assertIn("one of 10 documents to label of query 1, by", shown)
        self.assertIn("one of 7 documents to label of query 2, by", shown)
        self.ask(words[13:], 0, *whole)
        self.assertEqual((self.read("out"), self.read("ids")), self.want)
        for size in (0, 1, 15):
            table = "line\tlabel\n"
            self.file("labels", table.encode())
            while self.by_batch(size, *whole) == 5:
                batch = self.wanted()
                self.assertEqual(len(batch) % 10, 0)
                self.assertGreaterEqual(len(batch), min(size, 10))
                table += "".join(f"{x}\t{self.labels[x]}\n" for x in batch)
                self.file("labels", table.encode())
            self.assertEqual((self.read("out"), self.read("ids")), self.want)
        self.expect(3, *self.POOL, "--out", "out", "--oracle", "ask", "--resume", "state",
                    message="and --whole-queries")
        self.expect(3, *self.POOL, "--out", "out", "--whole-queries",
                    message="this chosen document has no label, expected a label")
        self.expect(2, "reduce", "--train", "whole", *self.COMMON, "--out", "out",
                    "--whole-queries", "--max-documents", "9",
                    message="the budget of 9 documents is too small: the first chosen query has 10")

    def test_labels_in_the_pool_itself(self):
        lines = self.read("pool").splitlines(keepends=True)
        for _ in range(100):
            done = self.rulerank(*self.POOL, "--out", "out", "--ids", "ids", "--pending", "pending",
                                 "--max-documents", "9")
            if done.returncode == 0:
                break
            self.assertEqual(done.returncode, 5, done.stderr)
            for x in self.wanted():
                lines[x] = b"%d%s" % (self.labels[x], lines[x][2:])
            self.file("pool", b"".join(lines))
        self.expect(0, "reduce", "--train", "whole", *self.COMMON, "--out", "nine",
                    "--max-documents", "9")
        self.assertEqual(self.read("out"), self.read("nine"))
        self.assertEqual(sum(not x.startswith(b"-1") for x in lines), 9)

    def ask(self, words, code, *more, state="state"):
        done = self.rulerank(*self.POOL, "--out", "out", "--ids", "ids", "--oracle", "ask",
                             "--resume", state, *more, input="".join(words).encode())
        self.assertEqual(done.returncode, code, done.stderr.decode())
        self.assertEqual(done.stdout, b"")
        return done.stderr.decode()

    def order(self):
        """The documents in the order of the questions."""
        lines = [int(row.split(b"\t")[0]) for row in self.want[1].splitlines()[1:]]
        return list(dict.fromkeys(lines))

    def test_a_person_answers(self):
        self.file("names", b"1 BM25 of title\n2\tpage rank\n")
        words = [f"{self.labels[x]}\n" for x in self.order()]
        shown = self.ask(["e\n", "a\n", "?\n", "7\n", "x\n", "\n", "u\n", *words], 0, "--names",
                         "names")
        self.assertEqual((self.read("out"), self.read("ids")), self.want)
        for text in ("BM25 of title", "page rank", "docid = D", "nearest labelled documents",
                     "features equal", "rules so far", "found '7', expected one of",
                     "found 'x', expected one of", "there is no answer to undo"):
            self.assertIn(text, shown)
        self.assertEqual(self.read("state").count(b"\n"), 2 + len(words))

    def test_features_in_their_own_units(self):
        shown = self.ask(["a\n", "quit\n"], 5, "--norm", "query-minmax")
        self.assertNotIn("->", shown)
        pairs = re.findall(r"(?m)^    (\S+) +feature (\d+)(?: in \[(\S+), (\S+)\)| < (\S+)| >= (\S+))\r?$",
                           shown)
        self.assertGreater(len(pairs), 14)
        for value, feature, low, high, below, least in pairs:
            if low or least:
                self.assertGreaterEqual(float(value), float(low or least))
            if high or below:
                self.assertLess(float(value), float(high or below))
        self.assertGreater(max(float(high) for *_, high, _, _ in pairs if high), 1, "the file's values, 0 to 3")
        self.assertTrue({value for value, *_ in pairs} <= {"0", "1", "2", "3"})

    def texts(self):
        """Documents and topics with what a terminal or a spreadsheet must not get as it is."""
        self.file("docs.jsonl", b"".join(
            json.dumps({"id": f"D{d}", "title": f"=Title {d}",
                        "text": "\u001b[31mhay " * 40 + f"the winged\nthing {d} \u202e" + "hay " * 60}).encode() + b"\n"
            for d in range(60)))
        self.file("topics.tsv", b"".join(b"%d\t+wings, %d\n" % (q, q) for q in range(6)))
        return ["--show", "docs.jsonl", "--topics", "topics.tsv"]

    def test_the_text_in_view(self):
        words = [f"{self.labels[x]}\n" for x in self.order()]
        shown = self.ask([*words[:2], "t\n", *words[2:]], 0, *self.texts())
        self.assertEqual((self.read("out"), self.read("ids")), self.want)
        first = self.order()[0]
        self.assertIn(f"  query: +wings, {first // 10}\n  =Title {first}\n  ... [31mhay", shown)
        self.assertIn("the *winged* thing", shown)
        self.assertRegex(shown, r"itemsets? of at most 3 features (is|are) new here, and each will make a rule:\n    feature")
        self.assertRegex(shown, r"label \d: docid D\d+, query \d, \d+ of 14 features equal .*\n(      query: .*\n)?      =Title")
        self.assertNotIn("\x1b", shown)
        self.assertNotIn("\u202e", shown)
        self.assertLess(max(len(line) for line in shown.splitlines() if line.startswith("  ")), 110)
        self.assertNotIn("t text", self.ask(["q\n"], 5, state="other"))

    def test_a_table_with_text_comes_back_from_a_spreadsheet(self):
        texts = self.texts()
        answers = {}
        self.file("labels", b"line,label\n")
        for round_ in range(200):
            done = self.rulerank(*self.POOL, "--out", "out", "--ids", "ids", "--oracle", "file:labels", "--pending",
                                 "pending.csv", *texts)
            if done.returncode == 0:
                break
            self.assertEqual(done.returncode, 5, done.stderr)
            table = self.read("pending.csv")
            self.assertTrue(table.startswith(b'\xef\xbb\xbf"line","docid","qid","label","query","title","text","comment"\n'))
            rows = list(csv.DictReader(io.StringIO(table.decode("utf-8-sig"))))
            for row in rows:
                d = int(row["line"])
                self.assertEqual((row["docid"], row["qid"], row["query"], row["title"]),
                                 (f"D{d}", f"'{d // 10}", f"'+wings, {d // 10}", f"'=Title {d}"))
                self.assertIn("the winged thing", row["text"])
                row["label"] = answers[d] = str(self.labels[d])
            # As some spreadsheet saves it: other order, other separators, a row missing, cells that span lines.
            random.Random(round_).shuffle(rows)
            kept = {**{int(row["line"]): row for row in rows[1:]}, **({} if rows[1:] else {int(rows[0]["line"]): rows[0]})}
            everything = [{"line": d, "docid": f"D{d}", "label": label, "text": 'two\nlines "quoted"; x'}
                          for d, label in answers.items() if d not in {int(r["line"]) for r in rows} or d in kept]
            answers = {r["line"]: r["label"] for r in everything}
            out = io.StringIO()
            sheet = csv.DictWriter(out, ["text", "label", "docid", "line"], delimiter=";,\t"[round_ % 3], lineterminator="\r\n")
            sheet.writeheader()
            sheet.writerows(everything)
            self.file("labels", out.getvalue().encode("utf-8-sig"))
        self.assertEqual((self.read("out"), self.read("ids")), self.want)

    IDS = ("1,5", "007", "1e5", "1-2", "=1+1", "true", "wahr", "+3", "-5", "@x", "'q", "00", "1.0", "1/2", "12:30", "0x1F",
           "MARCH1", "FALSE", "faux", "NaN", "5%", "$5", "12345678901234567890", 'say"1"')

    def test_ids_come_back_from_gnumeric(self):
        """A table, made a workbook and a table again by a real spreadsheet, has the same ids, and its labels are read."""
        if shutil.which("ssconvert") is None:
            self.skipTest("needs ssconvert of Gnumeric")
        chance = random.Random(1)
        rows = [f"qid:{('01', '1e3')[d // 12]} {' '.join(f'{f}:{chance.randrange(4)}' for f in range(1, 15))} #docid = {docid}\n"
                for d, docid in enumerate(self.IDS)]
        grades = [d % 3 for d in range(len(rows))]
        self.file("pool", "".join(f"-1 {row}" for row in rows).encode())
        self.file("whole", "".join(f"{grade} {row}" for grade, row in zip(grades, rows)).encode())
        self.expect(0, "reduce", "--train", "whole", *self.COMMON, "--out", "want")

        def through_a_workbook(name, text):
            self.file(name, text.encode("utf-8-sig"))
            for source, made in ((name, "book.xlsx"), ("book.xlsx", "labels")):
                subprocess.run(["ssconvert", "--export-type", "Gnumeric_stf:stf_csv" if made == "labels" else
                                "Gnumeric_Excel:xlsx", source, made], cwd=self.folder, check=True, capture_output=True)
            return list(csv.DictReader(io.StringIO(self.read("labels").decode("utf-8-sig"))))

        expected = [(docid, ("01", "1e3")[d // 12], str(grades[d])) for d, docid in enumerate(self.IDS)]
        for name, separator in (("pending.csv", ","), ("pending.tsv", "\t")):
            with self.subTest(name):
                self.file("labels", b"line,label\n")
                done = self.rulerank(*self.POOL, "--out", "out", "--oracle", "file:labels", "--pending", name, "--batch", "99")
                self.assertEqual(done.returncode, 5, done.stderr)
                table = list(csv.DictReader(io.StringIO(self.read(name).decode("utf-8-sig")), delimiter=separator))
                self.assertEqual(len(table), len(rows))
                filled = io.StringIO(self.read(name).decode("utf-8-sig").partition("\n")[0] + "\n")
                filled.seek(0, io.SEEK_END)
                csv.DictWriter(filled, table[0], delimiter=separator, lineterminator="\n").writerows(
                    {**row, "label": grades[int(row["line"])]} for row in table)
                text = filled.getvalue()
                back = through_a_workbook(name, text)
                self.assertEqual([(row["docid"], row["qid"], row["label"]) for row in sorted(back, key=lambda r: int(r["line"]))],
                                 expected)
                self.expect(0, *self.POOL, "--out", "out", "--oracle", "file:labels")
                self.assertEqual(self.read("out"), self.read("want"))
                # The apostrophes are what keeps them: without these the spreadsheet calculates.
                back = through_a_workbook(name, text.replace(separator + "'", separator))
                self.assertNotEqual([row["docid"] for row in sorted(back, key=lambda r: int(r["line"]))], list(self.IDS))

    def test_an_estimate_waits_for_answers(self):
        words = [f"{self.labels[x]}\n" for x in self.order()]
        enough = next(n for n in range(len(words)) if n - max(map(words[:n].count, words[:n]), default=0) == 10)
        shown = self.ask(["e\n", *words[:enough + 1], "e\n", "quit\n"], 5)
        self.assertIn("too few answers to estimate how many documents are left: 0 labels differ from the most frequent label, and 10 are needed", shown)
        self.assertEqual(len(re.findall(r"with guessed labels: about \d+ more from the next \d+ documents", shown)), 3,
                         "by itself, when it is asked for, and at the end")
        shown = self.ask([*words[:enough], "quit\n"], 5, state="again")
        self.assertLess(shown.index("with guessed labels"), shown.index(f"Answer {enough + 1}: "))
        shown = self.ask([*words[:enough - 1], "quit\n"], 5, state="before")
        self.assertNotIn("with guessed labels", shown)
        self.file("labels", b"line\tdocid\tqid\tlabel\tcomment\n")
        done = self.by_file(5, "--json")
        self.assertIsNone(json.loads(done.stdout)["estimate"])

    def test_an_end_after_any_answer(self):
        """Leaving, the end of the input, and a kill between two answers all come to the same."""
        order = self.order()
        words = [f"{self.labels[x]}\n" for x in order]
        self.ask(words, 0)
        whole = self.read("state")
        for n in range(0, len(words), 3):
            with self.subTest(n):
                (self.folder / "state").unlink()
                (self.folder / "out").unlink(missing_ok=True)
                self.ask([*words[:n], "quit\n"] if n % 2 else words[:n], 5)
                self.assertEqual(self.read("state"), b"".join(whole.splitlines(True)[:2 + n]))
                self.assertFalse((self.folder / "out").exists())
                self.ask(words[n:], 0)
                self.assertEqual((self.read("out"), self.read("ids")), self.want)
                self.assertEqual(self.read("state"), whole)
        self.ask([], 0)  # nothing is left to ask
        self.assertEqual(self.read("out"), self.want[0])

    def test_killed_between_answers(self):
        """At a terminal: each answer is on the disk when the next question comes."""
        order = self.order()[:9]
        for x in order:
            master, slave = pty.openpty()
            process = subprocess.Popen(
                [harness.PROGRAM, *self.POOL, "--out", "out", "--oracle", "ask", "--resume", "state"],
                cwd=self.folder, stdin=slave, stdout=subprocess.PIPE, stderr=slave)
            os.close(slave)
            shown = b""
            def until(text):
                nonlocal shown
                deadline = time.monotonic() + harness.HANGS
                while text not in shown and time.monotonic() < deadline:
                    shown += os.read(master, 4096)
                self.assertIn(text, shown)
                shown = shown.partition(text)[2]
            until(b"docid D%d," % x)
            until(b"?): ")
            os.write(master, b"%d\n" % self.labels[x])
            until(b"?): ")
            process.send_signal(signal.SIGKILL)
            self.assertEqual(process.wait(timeout=harness.HANGS), -signal.SIGKILL)
            process.stdout.close()
            os.close(master)
            self.assertTrue(self.read("state").endswith(b"%d\tD%d\t%d\n" % (x, x, self.labels[x])))
        self.ask([f"{self.labels[x]}\n" for x in self.order()[9:]], 0)
        self.assertEqual((self.read("out"), self.read("ids")), self.want)

    def test_a_half_written_answer_is_asked_for_again(self):
        words = [f"{self.labels[x]}\n" for x in self.order()]
        self.ask(words[:5], 5)
        kept = self.read("state")
        self.file("state", kept[:-2])
        self.ask(["q\n"], 5)
        self.assertEqual(self.read("state"), b"".join(kept.splitlines(True)[:-1]))
        self.ask(words[4:], 0)
        self.assertEqual((self.read("out"), self.read("ids")), self.want)

    def test_undo_and_a_document_left_out(self):
        order = self.order()
        first = f"{self.labels[order[0]]}\n"
        shown = self.ask(["2\n", "undo\n", first, "skip\n", "u\n", "skip\n", "q\n"], 5)
        self.assertEqual(shown.count(f"docid D{order[1]}, "), 3)
        self.assertEqual(self.read("state").decode().splitlines()[2:], [
            f"{order[0]}\tD{order[0]}\t2", f"{order[0]}\tD{order[0]}\tundo",
            f"{order[0]}\tD{order[0]}\t{self.labels[order[0]]}",
            f"{order[1]}\tD{order[1]}\tskip", f"{order[1]}\tD{order[1]}\tundo",
            f"{order[1]}\tD{order[1]}\tskip"])
        self.ask(["0\n"] * 60, 0)
        self.assertNotIn(b"D%d " % order[1], self.read("out"))
        self.assertIn(b"D%d " % order[0], self.read("out"))
        # The journal is what a table would have said.
        self.file("labels", b"line\tlabel\n" + b"".join(
            b"%d\t%s\n" % (x, b"skip" if x == order[1] else
                           b"%d" % self.labels[x] if x == order[0] else b"0") for x in range(60)))
        by_person = self.read("out"), self.read("ids")
        self.by_file(0)
        self.assertEqual((self.read("out"), self.read("ids")), by_person)

    def test_a_person_finishes_early(self):
        words = [f"{self.labels[x]}\n" for x in self.order()]
        self.ask([*words[:8], "f\n"], 0)
        self.expect(0, "reduce", "--train", "whole", *self.COMMON, "--out", "eight",
                    "--max-documents", "8")
        self.assertEqual(self.read("out"), self.read("eight"))
        self.ask(words[8:], 0)
        self.assertEqual(self.read("out"), self.want[0])
        # A budget ends it there too, whatever it was before.
        self.ask(words[:8], 0, "--max-documents", "8", state="other")
        self.assertEqual(self.read("out"), self.read("eight"))
        self.ask(words[8:], 0, "--engine", "ssarp", state="other")
        self.assertEqual((self.read("out"), self.read("ids")), self.want)

    def test_an_answer_that_cannot_be_kept_ends_it(self):
        self.ask(["0\n"], 5)
        kept = self.read("state")
        self.expect_full_disk(len(kept) + 3, *self.POOL, "--out", "out", "--oracle", "ask",
                              "--resume", "state", input=b"1\n1\n")
        self.assertEqual(self.read("state"), kept)

    def test_bad_input(self):
        pool = self.read("pool")
        line = ("reduce --train {in} --out {out} --device cpu --unlabelled -1 --method width "
                "--partitions 3 ")
        head = b"line\tlabel\n"
        def labels(name, text, message):
            return Row(name, pool, line + "--oracle file:{labels}", 3, message, {"labels": text})
        def usage(name, more, message, data=pool):
            return Row(name, data, line + more, 2, message)
        self.check_rows([
            labels("no label", head, "has no label, expected a label in"),
            labels("no header", b"", "{labels}:1:1: found nothing"),
            labels("no label column", b"line\tgrade\n", "{labels}:1:1: found no column 'label', expected a header"),
            labels("a word", head + b"3\tgood\n", "{labels}:2:3: found 'good', expected a label"),
            labels("a fraction", head + b"3\t0.5\n", "{labels}:2:3: found '0.5'"),
            labels("beyond the end", head + b"60\t1\n", "{labels}:2:1: found line '60'"),
            labels("another docid", b"line\tdocid\tlabel\n3\tD4\t1\n",
                   "{labels}:2:3: found docid 'D4', expected 'D3'"),
            labels("two answers", head + b"3\t1\n3\t2\n", "{labels}:3:3: found '2', but line 2"),
            Row("another label than the pool's", b"1" + pool[2:], line + "--oracle file:{labels}", 3,
                "{labels}:3:1: found an answer that differs from the label in", {"labels": head + b"1\t1\n0\t0\n"}),
            Row("no journal", pool, line + "--oracle ask --resume {state}", 3,
                "{state}:1:1: found no journal of answers", {"state": b"precious"}),
            usage("an unknown oracle", "--oracle nobody", "found 'nobody', expected file, ask, file:P or"),
            usage("no file", "--oracle file:", "found an empty path"),
            usage("ask without a journal", "--oracle ask", "which keeps the answers"),
            usage("pending beside ask", "--oracle ask --resume s --pending p", "--pending cannot be combined with"),
            usage("a batch of nothing", "--oracle file:x --batch 3", "--batch needs"),
            usage("a batch for a person", "--oracle ask --resume s --batch 3", "--batch "),
            usage("resume without answers", "--resume s", "--resume needs"),
            usage("texts without topics", "--oracle ask --resume s --show {in}", "--show needs --topics"),
            usage("topics without texts", "--oracle ask --resume s --topics {in}", "--topics needs --show"),
            usage("texts for nobody", "--show {in} --topics {in}", "--show needs --oracle ask, --oracle command:CMD or --pending"),
            Row("texts of other documents", pool, line + "--oracle ask --resume {out}s --show {docs} --topics {docs}", 3,
                "{docs}:1:1: found none of the documents of {in}", {"docs": b"x\ty\n"}),
            usage("names for nobody", "--names {in}", "--names needs --oracle ask or command:CMD"),
            usage("nobody to ask about", "--oracle ask --resume s", "have labels", b"0 qid:1 1:1\n"
                  b"1 qid:1 1:2\n"),
            usage("pending is the output", "--pending {out}", "are both"),
            usage("an empty path", "--pending ''", "found an empty path"),
        ])
        self.assertFalse((self.folder / "s").exists())

    def test_a_journal_of_other_options(self):
        self.ask(["0\n", "1\n"], 5)
        kept = self.read("state")
        for more in (["--rule-size", "3"], ["--min-support", "2"], ["--feature-order", "none"]):
            with self.subTest(more):
                self.expect(3, *self.POOL, "--out", "out", "--oracle", "ask", "--resume", "state",
                            *more, message="state:1:22: found answers for a different pool")
        self.file("pool", self.read("pool").replace(b"docid = D", b"docid = E"))
        self.expect(3, *self.POOL, "--out", "out", "--oracle", "ask", "--resume", "state",
                    message="expected 'E")
        self.assertEqual(self.read("state"), kept)


if __name__ == "__main__":
    harness.main()

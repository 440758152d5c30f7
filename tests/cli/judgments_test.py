"""The verb judgments: conversions between forms and back, feature logs with labels, refused inputs."""

import csv
import io
import json
import random
import unittest

import harness
from harness import Row

QUEPID = b'query,docid,rating\nred dress,B1,3\n"shoes, ""dry""",B 2,0\nred dress,B3,1\n'
PARTS = ["a", "Z", "7", " ", "'", '"', ",", ";", "\\", "/", "é", "漢", "😀", "#", "=", "{", "\t", "\n", "\r\n", "\u2028",
         "<b>", "-", "@", "\x7f"]


def random_judgments(random_numbers, parts, grades, ids=False):
    """{query: {document: grade}}, with the characters of `parts` in names."""
    name = lambda: "".join(random_numbers.choices(parts, k=random_numbers.randint(1, 6)))
    names = lambda count: list(dict.fromkeys(name() for _ in range(count)))
    return {query: {document: random_numbers.choice(grades) for document in names(random_numbers.randint(1, 5))}
            for query in names(8)}


def as_csv(judgments, delimiter=","):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(["query", "docid", "rating"])
    for query, documents in judgments.items():
        for document, grade in documents.items():
            writer.writerow([query, document, grade])
    return text.getvalue().encode()


def read_csv(data):
    found = {}
    rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
    for query, document, grade in rows[1:]:
        found.setdefault(query, {})[document] = float(grade)
    return found


def read_rre(data):
    found = {}
    for topic in json.loads(data)["topics"]:
        for group in topic["query_groups"]:
            (query,) = group["queries"]
            found[query["placeholders"]["$query"]] = {
                document: value["gain"] for document, value in group["relevant_documents"].items()}
    return found


def read_srw(data):
    return {query["query"]: {rating["docId"]: float(rating["rating"]) for rating in query["ratings"]}
            for query in json.loads(data)["judgmentRatings"]}


def read_qrels(data):
    found = {}
    for line in data.decode().split("\n")[:-1]:
        query, _, document, grade = line.split(" ")
        found.setdefault(query, {})[document] = float(grade)
    return found


READERS = {"csv": read_csv, "rre": read_rre, "srw": read_srw, "qrels": read_qrels}


class Judgments(harness.CommandLine):
    def convert(self, path, to, *more, out=None):
        out = out or f"out.{to}"
        self.expect(0, "judgments", path, "--to", to, "--out", out, "--quiet", *more)
        return out

    def in_order(self, judgments):
        return [(query, list(documents.items())) for query, documents in judgments.items()]

    def test_round_trips(self):
        """Through every form in a random order, and back to the same bytes."""
        random_numbers = random.Random(7)
        for trial in range(25):
            given = random_judgments(random_numbers, PARTS, [0, 1, 3, 0.5, -2, 1e-7, 1 / 3])
            self.file("given.csv", as_csv(given))
            first = self.convert("given.csv", "csv", out="first.csv")
            self.assertEqual(self.in_order(read_csv(self.read(first))), self.in_order(given))
            path, forms = first, random_numbers.sample(["csv", "rre", "srw"] * 2, 6)
            for step, form in enumerate(forms):
                path = self.convert(path, form, out=f"{step}.{form}")
                with self.subTest(trial=trial, forms=forms[:step + 1]):
                    self.assertEqual(self.in_order(READERS[form](self.read(path))), self.in_order(given))
            self.assertEqual(self.read(self.convert(path, "csv")), self.read(first))

    def test_round_trips_through_qrels(self):
        random_numbers = random.Random(8)
        for trial in range(25):
            texts = [part for part in PARTS if "\n" not in part]
            words = [part for part in texts if not part.isspace() and part != "\u2028"]
            given = random_judgments(random_numbers, texts, [0, 1, 3, -2, 2**31 - 1])
            for documents in given.values():
                for document in list(documents):
                    word = "".join(part for part in document if part not in " \t") or "x"
                    documents[f"{random_numbers.choice(words)}{word}x"] = documents.pop(document)
            first = self.convert(self.file("given.csv", as_csv(given)), "csv", out="first.csv")
            form = random_numbers.choice(["csv", "rre", "srw"])
            path = self.convert(first, form)
            qrels = self.convert(path, "qrels", "--queries-out", "queries.tsv")
            with self.subTest(trial=trial, form=form):
                queries = [line.split("\t", 1) for line in self.read_text("queries.tsv").split("\n")[:-1]]
                self.assertEqual(queries, [[str(i + 1), query] for i, query in enumerate(given)])
                self.assertEqual(list(read_qrels(self.read(qrels)).values()), list(given.values()))
                for to in ("csv", "rre", "srw"):
                    back = self.convert(qrels, to, "--queries", "queries.tsv", out=f"back.{to}")
                    self.assertEqual(self.in_order(READERS[to](self.read(back))), self.in_order(given))
                again = self.convert(back, "qrels", "--queries", "queries.tsv", out="again.qrels")
                self.assertEqual(self.read(again), self.read(qrels))

    def test_a_table_with_ids_and_texts_of_queries(self):
        self.file("both.csv", b"query_id,query,product_id,title,rating\n7,red dress,a,A dress,2\n7,red dress,b,,0\n9,\"shoes, dry\",a,A dress,1\n")
        for to in ("csv", "rre", "srw"):
            done = self.expect(0, "judgments", "both.csv", "--to", to)
            self.assertEqual(READERS[to](done.stdout), {"red dress": {"a": 2, "b": 0}, "shoes, dry": {"a": 1}})
            self.assertEqual(done.stderr.decode(), "rulerank: warning: both.csv: left out the column title\n"
                             f"rulerank: warning: left out the ids of queries, which {to} does not hold\n")
        done = self.expect(0, "judgments", "both.csv", "--to", "qrels")
        self.assertEqual(done.stdout, b"7 0 a 2\n7 0 b 0\n9 0 a 1\n")
        self.assertIn("left out the texts of queries, which qrels does not hold; --queries-out FILE writes them", done.stderr.decode())
        self.convert("both.csv", "qrels", "--queries-out", "texts.tsv", out="qrels")
        self.assertEqual(self.read("texts.tsv"), b"7\tred dress\n9\tshoes, dry\n")
        self.assertEqual(self.read("qrels"), done.stdout)
        self.file("log.jsonl", b'{"responseHeader":{"params":{"q":"shoes, dry"}},"response":{"docs":[{"id":"a","[features]":"x=1"}]}}\n')
        done = self.expect(0, "judgments", "log.jsonl", "--to", "letor", "--judgments", "both.csv")
        self.assertEqual(done.stdout, b"1 qid:9 x:1 #docid = a\n")
        self.file("two.csv", b"qid,query,docid,rating\n1,red,a,2\n1,blue,b,2\n")
        self.expect(3, "judgments", "two.csv", "--to", "srw",
                    message="two.csv:3:1: found query \"1\" with the text \"blue\", expected \"red\" as on line 2")
        self.file("same.csv", b"qid,query,docid,rating\n1,red,a,2\n2,red,b,2\n")
        self.expect(3, "judgments", "same.csv", "--to", "srw", message="same.csv:3:1: found the text of query \"1\" again")
        self.expect(0, "judgments", "same.csv", "--to", "qrels")

    def test_inputs_are_one_list(self):
        self.file("a.csv", QUEPID)
        self.file("b.tsv", "query\tdocid\tgrade\nred dress\tB1\t3.0\nred dress\té\t2\n".encode())
        done = self.expect(0, "judgments", "a.csv", "b.tsv", "--to", "srw", "--name", "mine", "--out", "o", "--json",
                           message="rulerank: wrote 4 judgments of 2 queries as srw to o")
        summary = json.loads(done.stdout)
        self.assertEqual((summary["to"], summary["queries"], summary["documents"]), ("srw", 2, 4))
        self.assertEqual(read_srw(self.read("o")), {"red dress": {"B1": 3, "B3": 1, "é": 2}, 'shoes, "dry"': {"B 2": 0}})
        head = json.loads(self.read("o"))
        self.assertEqual((head["name"], head["type"]), ("mine", "IMPORT_JUDGMENT"))
        self.convert("a.csv", "rre", "--name", "i", "--id-field", "sku", "--template", "t.json", out="r")
        head = json.loads(self.read("r"))
        self.assertEqual((head["index"], head["id_field"]), ("i", "sku"))
        self.assertEqual(head["topics"][0]["query_groups"][0]["queries"][0]["template"], "t.json")
        same = self.expect(0, "judgments", "-", "--to", "csv", input=as_csv(read_csv(QUEPID), ";"))
        self.assertEqual(read_csv(same.stdout), read_csv(QUEPID))

    def test_what_is_left_out_is_named(self):
        self.file("a.csv", b"query,docid,rating,rater\nq,1,2,me\nq,2,,me\nr,,,\n")
        done = self.expect(0, "judgments", "a.csv", "--to", "csv", message="a.csv: left out the column rater")
        self.assertIn("a.csv: left out 2 entries without a grade", done.stderr.decode())
        self.assertEqual(done.stdout, b"query,docid,rating\nq,1,2\n")

    def log(self, kind, qid, documents):
        if kind == "ltr-log":
            hits = [{"_id": d, "_score": 1, "fields": {"_ltrlog": [{"log_entry1": [
                {"name": name, **({} if value is None else {"value": value})} for name, value in features.items()]}]}}
                for d, features in documents.items()]
            return {"took": 1, **qid, "hits": {"total": {"value": len(hits)}, "hits": hits}}
        docs = [{"id": d, "[features]": ",".join(f"{name}={value or 0.0}" for name, value in features.items())}
                for d, features in documents.items()]
        return {"responseHeader": {"status": 0, "params": {"fl": "id,[features]", **qid}},
                "response": {"numFound": len(docs), "docs": docs}}

    def test_feature_logs_become_training_data(self):
        self.file("ratings.csv", QUEPID + b'red dress,x,1\n')
        expected = ("3 qid:1 body:0 title:9.510193 #docid = B1\n1 qid:1 body:0.25 title:1e-07 #docid = B3\n")
        for kind, text in (("ltr-log", "query"), ("solr-log", "q")):
            with self.subTest(kind):
                responses = [
                    self.log(kind, {text: "red dress"}, {"B1": {"title": 9.510193, "body": None}, "B9": {"title": 1},
                                                         "B3": {"title": 1e-7, "body": .25}}),
                    self.log(kind, {text: "nobody judged this"}, {"B1": {"title": 1}})]
                self.file("log.jsonl", "".join(json.dumps(one) + "\n" for one in responses).encode())
                done = self.expect(0, "judgments", "log.jsonl", "--to", "letor", "--judgments", "ratings.csv",
                                   "--queries-out", "queries.tsv", "--out", "train.txt",
                                   message="left out 2 documents of the log for lack of a judgment")
                self.assertIn("left out 2 judgments for lack of a document in the log", done.stderr.decode())
                self.assertEqual(self.read_text("train.txt"), expected)
                self.assertEqual(self.read_text("queries.tsv").splitlines()[:2], ["1\tred dress", '2\tshoes, "dry"'])
                # A file a query, named by its id, and judgments by id.
                self.file("q1.json", json.dumps(self.log(kind, {}, {"B1": {"title": 2}}), indent=1).encode())
                self.file("q2.json", json.dumps(self.log(kind, {}, {"B1": {"title": 1}}), indent=1).encode())
                self.file("qrels", b"q1 0 B1 1\nq2 0 B1 0\n")
                done = self.expect(0, "judgments", "q1.json", "q2.json", "--from", kind, "--to", "letor",
                                   "--judgments", "qrels")
                self.assertEqual(done.stdout, b"1 qid:q1 title:2 #docid = B1\n0 qid:q2 title:1 #docid = B1\n")
        self.file("all.txt", done.stdout)
        self.expect(0, "evaluate", "--test", "all.txt", "--feature", "title")

    def test_bad_input(self):
        to = "judgments {in} --out {out} --to "
        log = json.dumps(self.log("ltr-log", {"qid": "1"}, {"a": {"f": 1}})).encode()
        self.check_rows([
            Row("no form", QUEPID, "judgments {in} --out {out}", 2, "--to"),
            Row("wrong form", QUEPID, to + "trec", 2, "--to"),
            Row("wrong input form", QUEPID, to + "csv --from quepid", 2, "--from"),
            Row("one label name", QUEPID, to + "csv --label-names one", 2, "--label-names: found 'one', expected two or more different names"),
            Row("label names of JSON", b'{"judgmentRatings":[{"query":"q","ratings":[{"docId":"1","rating":"1"}]}]}', to + "csv --label-names a,b", 2,
                "--label-names needs qrels or csv as input"),
            Row("numbers with label names", QUEPID, to + "csv --label-names a,b", 3, "{in}:2:14: found '3', expected one of the label names a, b"),
            Row("no judgments for a log", log, to + "letor", 2, "--to letor needs --judgments FILE"),
            Row("judgments for judgments", QUEPID, to + "csv --judgments {in}", 2,
                "--judgments cannot be combined with --to csv, expected letor"),
            Row("queries both ways", QUEPID, to + "qrels --queries {in} --queries-out q", 2,
                "--queries-out cannot be combined with --queries, which has the ids"),
            Row("queries of texts", QUEPID, to + "csv --queries-out q", 2,
                "--queries-out cannot be combined with --to csv, expected qrels or letor"),
            Row("name", QUEPID, to + "csv --name n", 2, "--name cannot be combined with --to csv, expected rre or srw"),
            Row("template", QUEPID, to + "srw --template t", 2, "--template cannot be combined with --to srw, expected rre"),
            Row("id field", QUEPID, to + "csv --id-field key", 2, "--id-field needs a solr-log as input, or --to rre"),
            Row("id field of a log without fields", log, to + "letor --judgments {j} --id-field key", 2,
                "--id-field needs a solr-log as input, or --to rre", files={"j": QUEPID}),
            Row("texts would be lost", QUEPID, to + "qrels", 2,
                "queries are texts, but --to qrels holds ids: --queries-out FILE writes new ids and the texts"),
            Row("no text to keep", b"1 0 a 1\n", to + "qrels --queries-out {out}2", 2,
                "--queries-out: found ids of all queries, expected texts"),
            Row("output is an input", QUEPID, "judgments {in} --out {in} --to csv", 2, "--out"),
            Row("missing texts", b"1 0 a 1\n", to + "csv", 3,
                "{in}:1:5: found query \"1\", expected its text in the file of --queries"),
            Row("blank in an id", b"qid,docid,rating\n1,a b,1\n", to + "qrels", 3,
                "{in}:2:3: found document \"a b\", expected one word other than # for qrels"),
            Row("fractional grade", b"1 0 a 0.5\n", to + "qrels", 3,
                "{in}:1:5: found grade 0.5 of document \"a\", expected a whole number for qrels; --to csv, rre and srw can hold fractions"),
            Row("two grades", QUEPID + b"red dress,B1,2\n", to + "csv", 3,
                "{in}:5:11: found document \"B1\" of query \"red dress\" with grade 2, expected 3 as in {in}:2"),
            Row("another form", QUEPID, to + "csv --from srw", 3, "{in}:1:1: found no JSON"),
            Row("a log", log, to + "csv", 3, "{in}:1:1: found a feature log, expected judgments"),
            Row("no log", QUEPID, to + "letor --judgments {j}", 3, "{in}:1:1: found judgments, expected a feature log",
                files={"j": b"1 0 a 1\n"}),
            Row("no match", log, to + "letor --judgments {j}", 3, "found no document with a judgment",
                files={"j": b"1 0 b 1\n"}),
            Row("line end in a text", b'query,docid,rating\n"a\nb",1,1\n', to + "qrels --queries-out {out}2", 3,
                "{in}:3:4: found query \"a\\x0ab\", expected a text without line ends"),
            Row("not UTF-8", b"query,docid,rating\na\xff,1,1\n", to + "rre", 3,
                "{in}:2:4: found \"a\\xff\", expected UTF-8 for JSON"),
            Row("malformed JSON", b'{"judgmentRatings": [\n1,]}', to + "csv", 3, "{in}:2:3: found malformed JSON"),
        ])


if __name__ == "__main__":
    harness.main()

"""The verb pipeline."""

import json
import math
import random
import re
import shutil
import signal
import struct

import harness

SUMS = r" text_sums = \S+"  # of the texts of a pair, in the comment of its line

WORDS = ["air", "boundary", "layer", "flow", "heat", "wing", "shock", "wave", "plate", "jet", "drag",
         "lift", "mach", "nose", "cone", "body", "panel", "creep", "shell", "load"]


def collection(documents=120):
    """JSON lines with a title and a text; a document is about one of ten pairs of words."""
    draw = random.Random(3)
    lines = []
    for d in range(documents):
        own = WORDS[2 * (d % 10):2 * (d % 10) + 2]
        text = [draw.choice(own if draw.random() < .5 else WORDS) for _ in range(5 + d % 17)]
        lines.append(json.dumps({"id": f"D{d}", "title": " ".join(own), "text": " ".join(text)}))
    return ("\n".join(lines) + "\n").encode()


TOPICS = b"".join(b"T%d\t%s %s\n" % (t, WORDS[2 * (t % 10)].encode(), WORDS[(t * 7) % 20].encode())
                  for t in range(15))
# The documents about a topic's words: graded 1 or 2; a 5 that means nothing; one that is not there.
QRELS = b"".join(b"T%d 0 D%d %d\n" % (t, d, 1 + d % 2) for t in range(15) for d in range(t % 10, 120, 10)) \
    + b"".join(b"T%d 0 D%d 5\n" % (t, (t + 1) % 10) for t in range(15)) + b"T3 0 X9 1\n"
QUICK = ["--reduce-size", "3", "--rank-size", "3", "--random-draws", "2", "--permutations", "100",
         "--not-relevant", "5"]


def npy(rows):
    """Doubles as NumPy writes them."""
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    header = header.ljust(117) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
            + b"".join(struct.pack(f"<{len(row)}d", *row) for row in rows))


def vectors(rows, seed):
    """Small whole numbers, which floats hold; the third row is 0."""
    draw = random.Random(seed)
    found = [[float(draw.randrange(-3, 4)) for _ in range(4)] for _ in range(rows)]
    found[2] = [0.0] * 4
    return found


def cosine(x, y):
    norms = math.sqrt(sum(a * a for a in x)) * math.sqrt(sum(b * b for b in y))
    return sum(a * b for a, b in zip(x, y)) / norms if norms else 0.0


class Pipeline(harness.CommandLine):
    def setUp(self):
        super().setUp()
        self.inputs = ["--collection", self.file("docs.jsonl", collection()),
                       "--topics", self.file("topics.tsv", TOPICS),
                       "--qrels", self.file("qrels", QRELS)]

    def pipeline(self, out, *more, candidates=20, code=0, message=""):
        return self.expect(code, "pipeline", *self.inputs, "--out-dir", self.folder / out, *QUICK,
                           "--candidates", candidates, *more, message=message)

    def test_from_documents_to_tables(self):
        self.pipeline("out", "--quiet")
        runs = [line.split() for line in self.read_text("out/candidates.run").splitlines()]
        texts = {document["id"]: set((document["title"] + " " + document["text"]).split())
                 for document in map(json.loads, collection().decode().splitlines())}
        for line in TOPICS.decode().splitlines():
            topic, words = line.split("\t")
            found = [run for run in runs if run[0] == topic]
            self.assertEqual([run[3] for run in found], [str(r) for r in range(1, len(found) + 1)])
            self.assertEqual({run[2] for run in found},  # all that match: there are fewer than 1,000
                             {id for id, text in texts.items() if text & set(words.split())})
        names = [line.split("\t") for line in self.read_text("out/features.tsv").splitlines()]
        self.assertEqual([name[0] for name in names], [str(f + 1) for f in range(len(names))])
        self.assertIn("BM25 of title", [name[1] for name in names])
        self.assertIn("BM25 of document", [name[1] for name in names])

        grades = {(q, d): int(g) for q, _, d, g in map(str.split, QRELS.decode().splitlines())}
        lines = self.read_text("out/letor.txt").splitlines()
        self.assertEqual(len(lines), 15 * 20)
        first = {(run[0], run[2]) for run in runs if int(run[3]) <= 20}
        order = []
        for line in lines:
            values, _, docid = re.sub(SUMS, "", line).partition(" # docid = ")
            label, qid, *features = values.split()
            topic = qid.removeprefix("qid:")
            self.assertIn((topic, docid), first)
            grade = grades.get((topic, docid), 0)
            self.assertEqual(int(label), 0 if grade == 5 else grade)
            self.assertEqual(len(features), len(names))
            order.append((int(topic[1:]), int(docid[1:])))
        self.assertEqual(order, sorted(order), "candidates stand in the collection's order")

        results = json.loads(self.read_text("out/results.json"))
        compared = {row["system"] for row in results["comparison"]["results"]}
        self.assertNotIn("candidates", compared)  # it goes deeper than 20
        self.assertIn("cosine", compared)
        systems = [system["name"] for system in results["systems"]]
        self.assertEqual(systems, ["candidates", "full-rank-3", "reduced-3-rank-3", "feature", "bm25",
                                   "cosine"])
        self.assertIn("| bm25 |", self.read_text("out/table.md"))
        self.assertTrue((self.folder / "out/experiment/results.json").exists())
        self.assertTrue((self.folder / "out/folds/Fold5/vali.txt").exists())

    def test_misspelt_topics_are_corrected(self):
        """With --correct, misspelt topics give the candidates, features and tables of the correct topics."""
        wrong = TOPICS.replace(b"boundary", b"boundrry").replace(b"shock", b"shokk")
        self.assertNotEqual(wrong, TOPICS)
        self.pipeline("right", "--quiet")
        topics = self.inputs[3]
        topics.write_bytes(wrong)
        self.pipeline("off", "--quiet")
        errors = self.pipeline("out", "--correct").stderr.decode()
        self.assertEqual(errors.count("the compared rankers are not portable: scores depend on the list"), 1)
        self.assertIn("searched 'boundrry' as 'boundary'", errors)
        self.assertIn("searched 'shokk' as 'shock'", errors)
        for name in ("candidates.run", "letor.txt", "features.tsv", "table.md"):
            self.assertEqual(re.sub(SUMS, "", self.read_text(f"out/{name}")), re.sub(SUMS, "", self.read_text(f"right/{name}")), name)
        for name in ("candidates.run", "letor.txt"):
            self.assertNotEqual(self.read_text(f"off/{name}"), self.read_text(f"right/{name}"), name)

    def test_unjudged_pairs_stay_apart_from_judged_zeros(self):
        """Two thirds of the judgments are there, some of them 0."""
        qrels = b"".join(line.replace(b" 2", b" 0") + b"\n" if i % 4 == 3 and line.endswith(b" 2") else line + b"\n"
                         for i, line in enumerate(QRELS.splitlines()) if i % 3)
        self.file("qrels", qrels)
        self.pipeline("zero", "--quiet")
        self.pipeline("out", "--quiet", "--unjudged", -1)
        grades = {(q, d): "0" if g == "5" else g for q, _, d, g in map(str.split, qrels.decode().splitlines())}
        seen = set()
        for with_zeros, line in zip(self.read_text("zero/letor.txt").splitlines(), self.read_text("out/letor.txt").splitlines()):
            label, _, rest = line.partition(" ")
            self.assertEqual(with_zeros, f"{label if label != '-1' else 0} {rest}")
            self.assertEqual(label, grades.get((rest.split()[0][4:], re.search(r"docid = (\S+)", line)[1]), "-1"))
            seen.add(label)
        self.assertEqual(seen, {"-1", "0", "1", "2"})
        # The folds hold all of them; nothing but the judged ones is learned from or chosen by.
        for part in ("train", "vali", "test"):
            self.assertIn("\n-1 qid:", self.read_text(f"out/folds/Fold1/{part}.txt"))
        self.expect(0, "experiment", "--folds", "out/folds", "--out-dir", "again", *QUICK[:8], "--norm", "query-minmax",
                    "--scores", "bm25=out/scores/bm25", "--scores", "cosine=out/scores/cosine", "--unlabelled", -1,
                    "--drop-unjudged")
        for name in ("table.md", "results.json"):
            self.assertEqual(self.read_text(f"out/experiment/{name}"), self.read_text(f"again/{name}"))
        self.assertNotEqual(self.read_text("out/experiment/table.md"), self.read_text("zero/experiment/table.md"))

        results = {name: json.loads(self.read_text(f"{name}/results.json")) for name in ("zero", "out")}
        of = {name: {one["name"]: one["averages"] for one in found["systems"]} for name, found in results.items()}
        found = self.run_lines("out/candidates.run")
        known = [sum((topic, d) in grades for d, _ in found[topic][:10]) / min(10, len(found[topic])) for topic in found]
        for system in ("candidates", "bm25", "cosine"):  # which learn nothing
            judged = of["out"][system].pop("judged@10")
            self.assertEqual(of["out"][system], of["zero"][system])
            if system == "candidates":
                self.assertAlmostEqual(judged, sum(known) / len(known), 12)
        self.assertNotIn("judged@10", of["zero"]["candidates"])
        self.assertIn("judged@10", self.read_text("out/table.md"))

    def test_folds_without_a_judged_pair(self):
        self.file("qrels", b"T0 0 D1 1\nT0 0 D0 0\n")
        self.pipeline("zero")
        done = self.pipeline("out", "--unjudged", -1, code=3, message="found a document without a label, expected labels to ")
        self.assertIn("letor.txt:", done.stderr.decode())

    def dense_inputs(self):
        """Options of vectors, and the vectors."""
        documents, topics = vectors(120, 1), vectors(15, 2)
        return (["--vectors", self.file("docs.npy", npy(documents)), "--topic-vectors",
                 self.file("topics.npy", npy(topics)), "--quiet"], documents, topics)

    def run_lines(self, path):
        lists = {}
        for line in self.read_text(path).splitlines():
            topic, _, document, rank, score, _ = line.split()
            lists.setdefault(topic, []).append((document, float(score)))
            self.assertEqual(int(rank), len(lists[topic]))
        return lists

    def nearest(self, documents, topics, near=cosine):
        """{topic: documents by their nearness}; a topic whose vector is 0 is near to none."""
        return {f"T{t}": [f"D{d}" for d in sorted(
            range(len(documents)), key=lambda d: (-near(topics[t], documents[d]), d))]
                for t in range(len(topics)) if t != 2}

    def test_candidates_of_both_searches(self):
        words, documents, topics = self.dense_inputs()
        self.pipeline("text", "--quiet")
        self.pipeline("out", *words, "--threads", 3)
        self.assertEqual(self.read_text("out/candidates-text.run"),
                         self.read_text("text/candidates.run").replace(" candidates", " candidates-text"))
        dense = self.run_lines("out/candidates-dense.run")
        self.assertEqual({topic: [d for d, _ in found] for topic, found in dense.items()},
                         self.nearest(documents, topics))
        self.assertEqual(dense["T1"][0][1], cosine(topics[1], documents[int(dense["T1"][0][0][1:])]))
        fused = self.expect(0, "fuse", "--run", "out/candidates-text.run", "out/candidates-dense.run",
                            "--depth", 1000, "--tag", "candidates", "--quiet").stdout.decode()
        by_topic = lambda text: sorted(text.splitlines(), key=lambda line: int(line.split()[0][1:]))
        self.assertEqual(by_topic(self.read_text("out/candidates.run")), by_topic(fused))

        names = [line.split("\t")[1] for line in self.read_text("out/features.tsv").splitlines()]
        self.assertEqual((len(names), names[-1]), (len(self.read_text("text/features.tsv").splitlines()) + 1,
                                                   "dense cosine"))
        first = {topic: {d for d, _ in found[:20]} for topic, found in
                 self.run_lines("out/candidates.run").items()}
        of_topic = {topic: set() for topic in first}
        for line in self.read_text("out/letor.txt").splitlines():
            values, _, document = re.sub(SUMS, "", line).partition(" # docid = ")
            topic = values.split()[1].removeprefix("qid:")
            of_topic[topic].add(document)
            number, value = values.split()[-1].split(":")
            self.assertEqual(int(number), len(names))
            self.assertEqual(float(value), cosine(topics[int(topic[1:])], documents[int(document[1:])]))
        self.assertEqual(of_topic, first)

        systems = [one["name"] for one in json.loads(self.read_text("out/results.json"))["systems"]]
        self.assertEqual(systems, ["candidates", "candidates-text", "candidates-dense", "full-rank-3",
                                   "reduced-3-rank-3", "feature", "bm25", "cosine", "dense"])
        compared = {row["system"] for row in
                    json.loads(self.read_text("out/results.json"))["comparison"]["results"]}
        self.assertFalse(compared & {"candidates", "candidates-text", "candidates-dense"})

    def test_candidates_of_one_search(self):
        words, documents, topics = self.dense_inputs()
        self.pipeline("text", "--quiet")
        self.pipeline("feature", *words, "--candidates-from", "text")
        self.assertEqual(self.read_text("feature/candidates.run"), self.read_text("text/candidates.run"))
        cut = lambda line: (line.partition(" # ")[0].rpartition(" ")[0], line.partition(" # ")[2])
        whole = lambda line: (line.partition(" # ")[0], line.partition(" # ")[2])
        self.assertEqual([cut(line) for line in self.read_text("feature/letor.txt").splitlines()],
                         [whole(line) for line in self.read_text("text/letor.txt").splitlines()])

        euclid = lambda x, y: -math.sqrt(sum((a - b) ** 2 for a, b in zip(x, y)))
        self.pipeline("dense", *words, "--candidates-from", "dense", "--dense-metric", "l2")
        found = self.run_lines("dense/candidates.run")
        self.assertEqual(len(found), 15)  # 0 is a place, and has distances
        expected = self.nearest(documents, topics, euclid)
        for topic in expected:
            self.assertEqual([d for d, _ in found[topic]], expected[topic])
            self.assertEqual(found[topic][0][1],
                             euclid(topics[int(topic[1:])], documents[int(found[topic][0][0][1:])]))
        self.assertTrue(self.read_text("dense/features.tsv").endswith("\tminus dense l2\n"))
        self.assertFalse((self.folder / "dense/candidates-dense.run").exists())

    def test_wrong_vectors(self):
        words, documents, _ = self.dense_inputs()
        for more, message in (
                (words[:2], "--vectors needs --topic-vectors"),
                (words[2:4], "--topic-vectors needs --vectors"),
                (["--candidates-from", "dense"], "--candidates-from needs --vectors"),
                (["--dense-metric", "ip"], "--dense-metric needs --vectors"),
                (["--fusion", "isr"], "--fusion needs --candidates-from both"),
                ([*words, "--candidates-from", "text", "--rrf-k", "1"],
                 "--rrf-k needs --candidates-from both"),
                ([*words, "--candidates-from", "sparse"], "found 'sparse', expected text, dense or both"),
                ([*words, "--dense-metric", "l1"], "--dense-metric: found 'l1'"),
                ([*words, "--fusion-norm", "max"], "--fusion-norm has no effect with --fusion rrf"),
                ([*words, "--run-weights", "1"], "--run-weights: found 1 number, expected two: the weight of text"),
                (["--vectors", "-", *words[2:]], "--vectors and --topic-vectors: found standard input, expected files")):
            with self.subTest(message):
                self.pipeline("out", *more, code=2, message=message)
        short = self.file("short.npy", npy(documents[:100]))
        wide = self.file("wide.npy", npy([[1.0] * 5] * 15))
        for more, message in (
                (["--vectors", short, *words[2:]],
                 f"short.npy:101:1: found 100 vectors, expected one for each of 120 documents of"),
                ([*words[:2], "--topic-vectors", short],
                 "short.npy:16:1: found 100 vectors, expected one for each of 15 topics"),
                ([*words[:2], "--topic-vectors", wide],
                 "wide.npy:1:1: found 5 dimensions, expected 4 as in"),
                (["--vectors", self.file("no.npy", b"x"), *words[2:]], "no.npy:")):
            with self.subTest(message):
                self.pipeline("out", *more, code=3, message=message)

    def test_the_same_whatever_the_threads_and_the_engine(self):
        first = self.pipeline("a", "--threads", 1, "--quiet").stdout
        second = self.pipeline("b", "--threads", 3, "--search-engine", "mt", "--quiet").stdout
        self.assertEqual(first, second)
        for name in ("candidates.run", "letor.txt", "features.tsv", "table.md", "results.json",
                     "experiment/table.md", "folds/Fold2/test.txt", "scores/bm25/Fold1.txt"):
            self.assertEqual(self.read_text(f"a/{name}"), self.read_text(f"b/{name}"), name)

    def test_ids_of_documents_may_have_a_hash(self):
        first = self.pipeline("out", "--quiet")
        self.file("docs.jsonl", collection().replace(b'"id": "D', b'"id": "#D#'))
        self.file("qrels", QRELS.replace(b" D", b" #D#"))
        hashed = self.pipeline("hashed", "--quiet")
        self.assertEqual(hashed.stdout, first.stdout)
        self.assertEqual(self.read_text("hashed/letor.txt").replace("#D#", "D"),
                         self.read_text("out/letor.txt"))

    def test_the_manifest_names_the_stop_list(self):
        self.file("words", b"the\nof\n")
        self.pipeline("out", "--quiet", "--stop-words", "file:words", "--manifest", "m.json")
        inputs = [one["path"] for one in json.loads(self.read_text("m.json"))["inputs"]]
        self.assertIn("words", inputs)

    def test_ties(self):
        for ties in ("index", "seeded"):
            self.pipeline(ties, "--ties", ties, "--seed", 3, "--quiet")
            self.assertEqual(json.loads(self.read_text(f"{ties}/experiment/manifest.json"))["ties"], ties)
            self.expect(0, "reduce", "--train", f"{ties}/folds/Fold2/train.txt", "--rule-size", 3, "--norm", "query-minmax",
                        "--ties", ties, "--seed", 3, "--out", f"{ties}.txt")
            self.assertEqual(self.read_text(f"{ties}/experiment/reduced/Fold2-size3.txt"), self.read_text(f"{ties}.txt"))
        self.assertNotEqual(self.read_text("index.txt"), self.read_text("seeded.txt"))
        self.pipeline("none", "--ties", "fair", code=2)

    def test_goes_on_where_it_was(self):
        first = self.pipeline("out").stdout
        again = self.pipeline("out", message="Fold1: finished by an earlier run")
        self.assertEqual(first, again.stdout)

    def check_part(self, out, whole):
        """Checks the outputs of an interrupted pipeline: some of the files, each complete."""
        part = self.files_in(out)
        self.assertEqual([name for name in part if part[name] != whole.get(name)], [])
        self.assertNotIn("results.json", part)
        return part

    def test_stopped_and_run_again_gives_the_same_bytes(self):
        # Enough draws that a fold takes its time, on any machine.
        options = [*QUICK[:4], "--random-draws", "400", *QUICK[6:], "--threads", "1"]
        line = ["pipeline", *self.inputs, *options, "--candidates", "60", "--out-dir"]
        first = self.expect(0, *line, "whole")
        whole = self.files_in("whole")
        for seen, number in (("candidates.run", signal.SIGINT),
                             ("candidates.run", signal.SIGKILL),
                             ("folds/Fold1/test.txt", signal.SIGTERM),
                             ("experiment/folds/Fold2.json", signal.SIGINT),
                             ("experiment/folds/Fold2.json", signal.SIGKILL)):
            with self.subTest(seen, signal=number):
                out = f"{number.name}-{seen.replace('/', '-')}"
                there = self.folder / out / seen

                def begin(_):
                    shutil.rmtree(self.folder / out, ignore_errors=True)
                    process = self.start(*line, out)
                    self.wait_until(there.exists, process)
                    return process

                self.expect_stopped(self.held_at_work(begin, (self.folder / out / "results.json").exists), number)
                self.assertIn(seen, self.check_part(out, whole))
                again = self.expect(0, *line, out, message="Fold1: finished by an earlier run"
                                    if seen.endswith("Fold2.json") else "")
                self.assertEqual(again.stdout, first.stdout)
                self.assertEqual(self.files_in(out), whole)

    def test_ends_while_it_reads(self):
        docs = self.file("many", collection(2000).replace(b'"D', b'"{}D'))
        many = b"".join(docs.read_bytes().replace(b"{}", b"%d-" % copy) for copy in range(150))
        docs.write_bytes(many)
        for end in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(end):
                def begin(share):
                    shutil.rmtree(self.folder / "out", ignore_errors=True)
                    process = self.start("pipeline", "--collection", docs, *self.inputs[2:],
                                         "--out-dir", "out", "--threads", "1", *QUICK)
                    self.let_work(process, .5 * share)
                    return process

                # Where it goes on, its qrels do not know these documents.
                self.expect_stopped(self.held_at_work(begin, (self.folder / "out/candidates.run").exists, code=3), end)
                self.assertEqual(self.files_in("out"), {})

    def test_a_full_disk_and_run_again_gives_the_same_bytes(self):
        first = self.pipeline("whole")
        whole = self.files_in("whole")
        size = {name: len(data) for name, data in whole.items()}
        line = ["pipeline", *self.inputs, *QUICK, "--candidates", 20, "--out-dir", "out"]
        # At the first file, at its last byte, among the lines of features, at their last byte.
        for limit in (90, size["candidates.run"] - 1, size["letor.txt"] // 2,
                      size["letor.txt"] - 1):
            with self.subTest(limit):
                self.expect_full_disk(limit, *line)
                part = self.check_part("out", whole)
                self.assertEqual("candidates.run" in part, limit >= size["candidates.run"])
                self.assertLessEqual(max(map(len, part.values()), default=0), limit)
        self.assertEqual(self.expect(0, *line).stdout, first.stdout)
        self.assertEqual(self.files_in("out"), whole)
        with open("/dev/full", "wb") as full:
            self.expect(1, *line, stdout=full, message="standard output: cannot be written: ")
        self.assertEqual(self.files_in("out"), whole)
        self.expect(1, *line[:-1], "/dev/full", message="/dev/full")

    def test_bm25_baseline_is_the_order_of_the_candidates(self):
        """Cut to as many candidates, the search by BM25 and the feature BM25 are one ranking."""
        for out, words in (("out", []), ("other", ["--k1", .3, "--b", .1])):
            self.pipeline(out, "--quiet", *words, candidates=120)
            results = json.loads(self.read_text(f"{out}/results.json"))
            of = {system["name"]: system for system in results["systems"]}
            self.assertEqual(of["candidates"]["averages"], of["bm25"]["averages"])
            self.assertIn("candidates", {row["system"] for row in results["comparison"]["results"]})
        self.assertNotEqual(self.read_text("out/letor.txt"), self.read_text("other/letor.txt"))

    def test_ids_that_name_nothing_are_told(self):
        done = self.pipeline("out")
        all_of_it = len(QRELS.splitlines())
        self.assertEqual([line for line in done.stderr.decode().splitlines() if "warning" in line], [
            f"rulerank: warning: {self.inputs[5]}: 1 of {all_of_it} judgments are of documents that "
            f"are not in {self.inputs[1]}, first 'X9' ({self.inputs[5]}:{all_of_it})"])
        qrels = self.file("other", b"Z 0 D1 1\nT3 0 d3 1\nT3 0 a4 1\nT2 0 D2 1\nY 0 D5 1\n")
        done = self.expect(0, "pipeline", *self.inputs[:5], qrels, "--out-dir", "other-out", *QUICK,
                           "--candidates", 20)
        for message in (f"{qrels}: 2 of 4 judged queries are not among the topics of {self.inputs[3]}, first 'Z' ({qrels}:1)",
                        f"{self.inputs[3]}: 13 of 15 topics have no judgments in {qrels}, first 'T0'",
                        f"{qrels}: 2 of 5 judgments are of documents that are not in "
                        f"{self.inputs[1]}, first 'd3' ({qrels}:2)"):
            self.assertIn(f"rulerank: warning: {message}\n", done.stderr.decode())

    def test_what_a_folder_has_beside_files_is_told_once(self):
        (self.folder / "docs").mkdir()
        for line in collection().decode().splitlines():
            document = json.loads(line)
            self.file(f"docs/{document['id']}", document["text"].encode())
        (self.folder / "docs" / "link").symlink_to("nowhere")
        done = self.expect(0, "pipeline", "--collection", "docs", *self.inputs[2:], "--out-dir", "out",
                           *QUICK, "--candidates", 20)
        self.assertEqual(done.stderr.decode().count(
            "warning: docs: left out 1 of 121 entries, which is not a regular file (links to folders, broken "
            'links, pipes); the first is "link"\n'), 1)

    def test_grades_beyond_gains(self):
        self.file("qrels", QRELS.replace(b" D3 2\n", b" D3 901\n"))
        for out, *words in (["linear", "--profile", "trec"], ["none", "--not-relevant", "901,5"]):
            self.pipeline(out, *words)
        self.pipeline("letor", code=3, message="found grade 901 of document 'D3'")
        self.assertFalse((self.folder / "letor").exists())

    def test_no_term_is_left(self):
        done = self.pipeline("out", "--min-documents", 1000, code=3,
                             message="warning: --min-documents 1000 and --max-share 1 leave no term of 120 documents")
        self.assertIn(f"{self.inputs[3]}:1:1: found no topic that shares a term with a document of {self.inputs[1]}, expected at least one", done.stderr.decode())

    def test_topics_without_a_match_have_no_candidates(self):
        self.file("topics.tsv", TOPICS + b"T90\twhales\n")
        self.file("qrels", QRELS + b"T90 0 D1 1\n")
        self.pipeline("out", message=f"{self.inputs[3]}: 1 of 16 topics have no candidate document and get no pair: 'T90'")
        for name in ("candidates.run", "letor.txt"):
            self.assertNotIn("T90", self.read_text(f"out/{name}"))
        results = json.loads(self.read_text("out/results.json"))
        self.assertIn("T90", (self.folder / "qrels").read_text())
        whole = {system["name"]: system["averages"] for system in results["systems"]}
        self.file("topics.tsv", TOPICS)
        self.file("qrels", QRELS)
        self.pipeline("without", "--quiet")
        for system in json.loads(self.read_text("without/results.json"))["systems"]:
            if system["name"] in ("candidates", "bm25", "cosine"):  # T90 counts as found nothing
                for measure, value in system["averages"].items():
                    self.assertAlmostEqual(whole[system["name"]][measure], value * 15 / 16, 12)

    def test_the_forms_of_beir_and_trec(self):
        first = self.pipeline("out", "--quiet")
        self.file("topics.tsv", b"".join(
            b"<top>\n<num> Number: %s\n<title> Topic: %s\n\n<desc> Description:\nno text\n</top>\n\n"
            % tuple(line.split(b"\t")) for line in TOPICS.splitlines()))
        self.assertEqual(self.pipeline("topics", "--quiet").stdout, first.stdout)
        self.assertEqual(self.read_text("topics/letor.txt"), self.read_text("out/letor.txt"))
        self.file("topics.tsv", b"".join(
            json.dumps({"_id": topic, "text": text, "metadata": {}}).encode() + b"\n" for topic, text in
            (line.split("\t") for line in TOPICS.decode().splitlines())))
        self.file("docs.jsonl", collection().replace(b'"id"', b'"_id"'))
        self.file("qrels", b"\xef\xbb\xbfquery-id\tcorpus-id\tscore\n" + b"".join(
            b"\t".join(line.split()[::2] + line.split()[3:]) + b"\n" for line in QRELS.splitlines()))
        self.assertEqual(self.pipeline("beir", "--quiet").stdout, first.stdout)
        self.file("docs.jsonl", b"".join(
            b"<DOC>\n<DOCNO>%s</DOCNO>\n<HEADLINE>%s</HEADLINE>\n<TEXT>\n%s\n</TEXT>\n</DOC>\n"
            % tuple(document[key].encode() for key in ("id", "title", "text"))
            for document in map(json.loads, collection().decode().splitlines())))
        self.assertEqual(self.pipeline("trec", "--quiet").stdout, first.stdout)

    def test_help_names_what_the_main_table_uses(self):
        shown = " ".join(self.expect(0, "pipeline", "--help-all").stdout.decode().split())
        self.assertIn("The main table has MAP,NDCG@10,P@10,recall@100,recall@1000", shown)
        self.assertIn("The main table has trec", shown)

    def test_wrong_usage(self):
        for words, message in (
                (["--fold-count", "2"], "2 folds, expected at least 3"),
                (["--metric", "cos"], "found metric 'cos'"),
                (["--tf", "log"], "--tf cannot be combined with --weights bm25"),
                (["--weighting", "ltc.ltc", "--metric", "ip"], "--metric cannot be combined with --weighting"),
                (["--weighting", "ltc"], "--weighting: found 'ltc'"),
                (["--stemmer", "klingon"], "klingon"),
                (["--collection-format", "pdf"], "found 'pdf'"),
                (["--search-engine", "google"], "found engine 'google'"),
                (["--lambda", "2"], "lambda"),
                (["--unjudged", "1"], "--unjudged: found '1'"),
                (["--unjudged", "-2"], "--unjudged: found '-2'"),
                (["--reduce-size", "1"], "--reduce-size"),
                (["--manifest", self.folder / "out/letor.txt"], "expected different files"),
        ):
            with self.subTest(words):
                self.pipeline("out", *words, code=2, message=message)
        self.expect(2, "pipeline", "--collection", "-", *self.inputs[2:], "--out-dir", "out",
                    message="found standard input, expected files")

    def test_an_output_within_a_folder_that_is_read(self):
        """The next run would take it for a document."""
        line = ["pipeline", *QUICK, "--candidates", 20]
        collection_, topics, qrels = ([*self.inputs[i:i + 2]] for i in (0, 2, 4))
        (self.folder / "docs" / "deep").mkdir(parents=True)
        self.file("docs/1", b"flow")
        self.file("docs/deep/2", b"heat")
        (self.folder / "link").symlink_to("docs/deep")
        (self.folder / "out").mkdir()
        (self.folder / "out/folds").symlink_to("../docs/deep")
        as_collection = ["--collection", "docs", *topics, *qrels]
        as_topics = [*collection_, "--topics", "docs", *qrels]
        for name, inputs in (("--collection", as_collection), ("--topics", as_topics)):
            for out, *more, option in (["docs", "--out-dir docs"],
                                       ["docs/deep/new/out", "--out-dir docs/deep/new/out"],
                                       ["link/out", "--out-dir link/out"],
                                       ["out", "--out-dir's folds out/folds"],
                                       ["other", "--manifest", "docs/m", "--manifest docs/m"]):
                with self.subTest(out, folder=name):
                    self.expect(2, *line, *inputs, "--out-dir", out, *more,
                                message=f"{option} is inside {name} docs, expected a different")
        self.assertEqual(sorted(self.files_in("docs")), ["1", "deep/2"])
        self.assertFalse((self.folder / "other").exists())

    def test_bad_input(self):
        files = {"docs": collection(), "topics": TOPICS, "qrels": QRELS}
        line = "pipeline --collection {docs} --topics {topics} --qrels {qrels} --out-dir {folder}"

        def broken(name, data, message):
            with self.subTest(message):
                paths = {key: self.file(f"bad-{key}", data if key == name else good)
                         for key, good in files.items()}
                words = [w.format(**paths, folder=self.folder / "bad-out") for w in line.split()]
                done = self.expect(3, *words, *QUICK, message=message)
                self.assertIn(str(paths[name]) + ":", done.stderr.decode())

        broken("docs", b"{\"id\": 1}\n", ":1:")
        broken("docs", b"", ":1:1: ")
        broken("topics", b"T1 no tab\n", ":1:")
        broken("topics", b"T1\ta\nT1\tb\n", ":2:")
        # Ids end at a blank in runs, and at a # as qids in LETOR files.
        broken("topics", b"T1\ta\nT#1\tflow\n",
               ':2:1: found the id "T#1", expected one word without #\n')
        broken("topics", b"T 1\tflow\n", ':1:1: found the id "T 1", expected one word without #\n')
        broken("docs", collection() + b'{"id": "D 1", "text": ""}\n',
               ':121:1: found the id "D 1", expected one word\n')
        broken("qrels", b"T1 0 D1\n", ":1:")
        broken("qrels", b"X1 0 D1 1\n", ":1:")
        broken("qrels", QRELS + b"T4 0 D7 901\n", f":{len(QRELS.splitlines()) + 1}:1: found "
               "grade 901 of document 'D7', whose gain exceeds a double; expected at most 900")


if __name__ == "__main__":
    harness.main()

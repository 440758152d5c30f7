"""The verb search text: neighbours, refused options, and files after errors."""

import bz2
import collections
import gzip
import json
import math
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess

import harness
from harness import OLD, Row

METRICS = ("cosine", "ip", "l2")
# Options of weights, and what they are in SMART's letters.
WEIGHTS = {(): "lnc.ltc", ("--weights", "tf-idf"): "ntc.ntc", ("--tf", "log"): "ltc.ltc",
           ("--weights", "tf-idf", "--tf", "binary"): "btc.btc",
           ("--weights", "none"): "nnc.nnc", ("--weights", "none", "--tf", "log"): "lnc.lnc",
           ("--weighting", "ltc.lnc"): "ltc.lnc", ("--weighting", "bnc.ntc"): "bnc.ntc",
           ("--weights", "bm25", "--k1", .9, "--b", .4): "bm25"}
PLAIN = ["--stop-words", "none", "--stemmer", "none"]  # a term is the text between blanks


def tsv(documents):
    return "".join(f"{id}\t{text}\n" for id, text in documents).encode()


def draw(documents, words, seed, longest=12):
    """Texts of words whose frequencies fall as 1 / rank, an empty one now and then."""
    chance = random.Random(seed)
    vocabulary = [f"w{w}" for w in range(words)]
    falling = [1 / (w + 1) for w in range(words)]
    return [(f"{d}", " ".join(chance.choices(vocabulary, falling, k=chance.randrange(longest))))
            for d in range(documents)]


def counts_of(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: item[0].encode()))


def nearest(documents, queries, metric, weights, k, pad=False, k1=1.2, b=.75, counts_of=counts_of):
    """The definition: (query, rank, document, similarity or distance), document by document. Weights
    are bm25 or SMART's letters, whose norms do not count here."""
    counts = [counts_of(text) for _, text in documents]
    frequency = {}
    for row in counts:
        for term in row:
            frequency[term] = frequency.get(term, 0) + 1
    n = len(documents)
    mean = sum(sum(row.values()) for row in counts) / n

    def smart_weight(letters, row, term):
        tf = {"n": row[term], "l": 1 + math.log(row[term]) if row[term] > 0 else 0, "b": 1}[letters[0]]
        return tf * (math.log(n / frequency[term]) if letters[1] == "t" else 1)

    def document_weight(row, term):
        if weights != "bm25":
            return smart_weight(weights[:3], row, term)
        df = frequency[term]
        idf = math.log1p((n - df + .5) / (df + .5))
        relative = sum(row.values()) / mean if mean > 0 else 1
        return idf * (row[term] * (k1 + 1)) / (row[term] + k1 * (1 - b + b * relative))

    def query_weight(row, term):
        return row[term] if weights == "bm25" else smart_weight(weights[4:], row, term)

    def vector(row, weight):
        row = {term: weight(row, term) for term in row if term in frequency}
        return {term: w for term, w in row.items() if w != 0}

    def total(values):
        value = 0.  # in this order: `sum` of later Pythons has its own
        for v in values:
            value += v
        return value

    def norm(vector):
        return math.sqrt(total(w * w for w in vector.values()))

    rows = [vector(row, document_weight) for row in counts]
    found = []
    for query, text in queries:
        terms = counts_of(text)  # those without a weight, which all documents have, make matches, too
        q = vector(terms, query_weight)
        all_of_it = []
        for d, row in enumerate(rows):
            product = total(q[term] * row[term] for term in q if term in row)
            norms = norm(q) * norm(row)
            score = order = product if metric == "ip" else product / norms if norms > 0 else 0.
            if metric == "l2":
                order = score if row else .5
                squared = (1 if q else 0) + (1 if row else 0) - 2 * score
                score = math.sqrt(max(squared, 0))
            all_of_it.append((-order, d, score))
        of_k = [(d, score) for _, d, score in sorted(all_of_it)[:k]
                if pad or any(term in rows[d] for term in terms)]
        for rank, (d, score) in enumerate(of_k, 1):
            found.append((query, rank, documents[d][0], score))
    return found


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in pathlib.Path(folder).rglob("*") if path.is_file()}


class Search(harness.CommandLine):
    def neighbours(self, *words, **options):
        """The standard output of `search text`."""
        return self.expect(0, "search", "text", *words, "--quiet", **options).stdout

    def check_wrong_usage(self, rows, files):
        """Rows of a name, a line, a message and, where {in} is to hold something, its bytes."""
        self.check_rows([Row(name, data[0] if data else b"", line, 2, message, files)
                         for name, line, message, *data in rows])

    def check_bad_documents(self, rows):
        """Rows of a name, bytes, options, a message and documents that are right: as documents, and
        as queries, which come second."""
        for name, data, options, message, right in rows:
            line = f"search text {options} --collection "
            self.check_rows([
                Row(name, data, line + "{in} --index {out}", 3, "{in}" + message),
                Row(name + ", queries", data, line + "{docs} --queries {in} --run {out} --out "
                    + os.devnull, 3, "{in}" + message, {"docs": right})])

    def rows(self, text):
        lines = [line.split("\t") for line in text.decode().splitlines()]
        return [(query, int(rank), id, float(score)) for query, rank, id, score in lines]


class Found(Search):
    def test_by_hand(self):
        docs = self.file("docs.tsv", b"a\tred red fish\nb\tblue fish\nc\tred fish hook\nd\t\n")
        queries = self.file("queries.tsv", b"q\tred hook\nother\twhale\n")
        line = ["--collection", docs, "--queries", queries, *PLAIN, "--tf", "raw", "--k", 3, "--pad"]
        half, most, all_but_one = math.log(4 / 2), math.log(4 / 1), math.log(4 / 3)
        # red has ln(4/2), hook and blue ln(4/1), fish ln(4/3); terms add in byte order.
        a = math.sqrt(all_but_one ** 2 + (2 * half) ** 2)
        c = math.sqrt(all_but_one ** 2 + most ** 2 + half ** 2)
        q = math.sqrt(most ** 2 + half ** 2)
        for metric, expected in (
                ("cosine", [("c", (most ** 2 + half ** 2) / (q * c)),
                            ("a", 2 * half ** 2 / (q * a)), ("b", 0)]),
                ("ip", [("c", most ** 2 + half ** 2), ("a", 2 * half ** 2), ("b", 0)]),
                # The empty document is at distance 1, nearer than one that shares nothing.
                ("l2", [("c", math.sqrt(2 - 2 * (most ** 2 + half ** 2) / (q * c))),
                        ("d", 1), ("a", math.sqrt(2 - 2 * (2 * half ** 2 / (q * a))))])):
            with self.subTest(metric):
                found = self.rows(self.neighbours(*line, "--metric", metric))
                self.assertEqual([(query, rank, id) for query, rank, id, _ in found[:3]],
                                 [("q", rank, id) for rank, (id, _) in enumerate(expected, 1)])
                for (_, _, _, score), (_, wanted) in zip(found, expected):
                    self.assertAlmostEqual(score, wanted, 12)
                # No term is known: all documents as they came; but one without terms is as a query
                # without terms, and no distance away.
                ids = ["d", "a", "b"] if metric == "l2" else ["a", "b", "c"]
                self.assertEqual(found[3:], [("other", rank, id, float(metric == "l2" and id != "d"))
                                             for rank, id in enumerate(ids, 1)])

    def test_slow_as_defined_whatever_the_engine_the_threads_and_the_way(self):
        documents, queries = draw(300, 80, 1), draw(40, 100, 2)
        docs, topics = self.file("docs", tsv(documents)), self.file("topics", tsv(queries))
        for at, (options, weights) in enumerate(WEIGHTS.items()):
            index = self.folder / f"index-{at}"
            weighing = [*PLAIN, *options]
            self.expect(0, "search", "text", "--collection", docs, "--index", index, *weighing)
            for metric in METRICS:
                for k, pad in ((1, []), (30, []), (1000, []), (1000, ["--pad"])):
                    with self.subTest(metric=metric, weights=options, k=k):
                        asking = ["--queries", topics, "--metric", metric, "--k", k, *pad]
                        whole = self.neighbours("--index", index, *asking)
                        self.assertEqual(self.rows(whole), nearest(documents, queries, metric, weights,
                                                                   k, pad != [], .9, .4))
                        for more in (["--engine", "mt"], ["--engine", "mt", "--threads", 3],
                                     ["--engine", "tiles", "--threads", 1],
                                     ["--engine", "tiles", "--threads", 5]):
                            self.assertEqual(whole, self.neighbours("--index", index, *asking,
                                                                    *more))
            again = self.folder / "again"
            both = self.neighbours("--collection", docs, "--index", again, "--queries", topics,
                                   *weighing, "--threads", 4)
            self.assertEqual(both, self.neighbours("--index", index, "--queries", topics))
            self.assertEqual(both, self.neighbours("--collection", docs, "--queries", topics,
                                                   *weighing))
            self.assertEqual(again.read_bytes(), index.read_bytes())

    def test_the_metric_that_weights_are_meant_for(self):
        docs = self.file("docs", b"a\tred red red sea\nb\tred\nc\tblue\n")
        asked = self.file("asked", b"q\tred red\n")
        line = ["--collection", docs, "--queries", asked]
        for options, metric in ((["--weighting", "lnn.lnn"], "ip"), (["--weighting", "lnc.lnc"], "cosine"),
                                (["--weights", "bm25"], "ip"), (["--weights", "none"], "cosine"), ([], "cosine")):
            with self.subTest(options):
                found = self.neighbours(*line, *options, "--index", "i")
                self.assertEqual(found, self.neighbours("--index", "i", "--queries", asked))
                self.assertEqual(found, self.neighbours("--index", "i", "--queries", asked, "--metric",
                                                        metric))
                other = {"ip": "cosine", "cosine": "ip"}[metric]
                self.assertNotEqual(found, self.neighbours("--index", "i", "--queries", asked,
                                                           "--metric", other))
        self.assertEqual(self.rows(self.neighbours(*line, "--weighting", "lnn.bnn")),
                         [("q", 1, "a", 1 + math.log(3)), ("q", 2, "b", 1)])

    def test_radius_and_filter(self):
        draw = random.Random(4)
        texts = [" ".join(draw.choices("red blue green warm cold wet dry old".split(), k=draw.choice((0, 4, 4))))
                 for _ in range(200)]  # by l2, documents without words are nearer than some that match
        docs = self.file("docs.tsv", "".join(f"d{d}\t{text}\n" for d, text in enumerate(texts)).encode())
        may = {f"d{d}" for d in range(0, 200, 7)}
        listed = self.file("may", "".join(f"{id}\n" for id in may).encode())
        all_of_them = self.file("all", "".join(f"d{d}\n" for d in range(200)).encode())
        self.expect(0, "search", "text", "--collection", docs, "--index", "index")
        line = ["--collection", docs, "--queries", docs]
        for metric, radius in (("cosine", .7), ("l2", 1.2), ("ip", .3)):
            every = self.rows(self.neighbours(*line, "--metric", metric, "--k", 200))
            padded = self.rows(self.neighbours(*line, "--metric", metric, "--k", 200, "--pad"))

            def left(is_left, every=every):
                """The rows that are left, ranked anew."""
                ranks = collections.Counter()
                rows = []
                for query, _, id, value in every:
                    if is_left(query, id, value, ranks[query]):
                        ranks[query] += 1
                        rows.append((query, ranks[query], id, value))
                return rows

            def near(value, metric=metric, radius=radius):
                return value <= radius if metric == "l2" else value >= radius

            for way in (["--metric", metric], ["--metric", metric, "--engine", "mt"], ["--metric", metric, "--threads", 1]):
                with self.subTest(way=way):
                    self.assertEqual(left(lambda _, id, value, rank: near(value)),
                                     self.rows(self.neighbours(*line, *way, "--radius", radius)))
                    # The nearest in the filter come first, then those that do not match go: by l2 they are among the nearest.
                    of_filter = collections.defaultdict(list)
                    for query, _, id, _ in padded:
                        if id in may:
                            of_filter[query].append(id)
                    self.assertEqual(left(lambda query, id, value, rank: id in of_filter[query][:9]),
                                     self.rows(self.neighbours(*line, *way, "--filter", listed, "--k", 9)))
                    self.assertEqual(self.neighbours(*line, *way, "--k", 9),
                                     self.neighbours(*line, *way, "--k", 9, "--filter", all_of_them))
            self.assertEqual(left(lambda query, id, value, _: id in may and near(value) and id != query),
                             self.rows(self.neighbours("--index", "index", "--queries", docs, "--metric", metric, "--radius", radius,
                                                       "--filter", listed, "--leave-out-self")))

    def test_documents_beyond_a_tile(self):
        # Tiles have 16,384 documents: the last of one, the first of the next, and equal documents in all.
        documents = [(f"{d}", f"one w{d % 7}") for d in range(33000)]
        for d in (16383, 16384, 32768):
            documents[d] = (f"{d}", "rare one")
        queries = [("rare", "rare"), ("both", "rare w3"), ("one", "w6 one")]
        docs, topics = self.file("docs", tsv(documents)), self.file("topics", tsv(queries))
        for metric in METRICS:
            with self.subTest(metric):
                line = ["--collection", docs, "--queries", topics, *PLAIN, "--k", 5, "--pad",
                        "--metric", metric]
                found = self.neighbours(*line)
                self.assertEqual(found, self.neighbours(*line, "--engine", "mt"))
                self.assertEqual([id for query, _, id, _ in self.rows(found) if query == "rare"],
                                 ["16383", "16384", "32768", "0", "1"])

    def test_fewer_documents_than_k(self):
        docs = self.file("docs", b"a\tred\nb\tblue\n")
        queries = self.file("queries", b"1\tblue\n2\tpink\n")
        for k in (2, 3, 1 << 40):
            for engine in ("mt", "tiles"):
                line = ["--collection", docs, "--queries", queries, "--k", k, "--engine", engine]
                self.assertEqual(self.neighbours(*line, "--pad"),
                                 b"1\t1\tb\t1\n1\t2\ta\t0\n2\t1\ta\t0\n2\t2\tb\t0\n")
                self.assertEqual(self.neighbours(*line), b"1\t1\tb\t1\n")

    def test_says_where_every_query_has_fewer_results_than_k(self):
        docs = self.file("docs.tsv", b"a\tred fish\nb\tblue fish\nc\tgreen\n")
        queries = self.file("queries.tsv", b"q\tfish\nother\tgreen\n")
        line = ["search", "text", "--collection", docs, "--queries", queries, "--out", "o", "--k"]
        said = b"every query has fewer than --k results: at most 2\n"
        for k, option, is_said in ((3, (), True), (30, (), True), (2, (), False), (3, ("--quiet",), False),
                                   (3, ("--pad",), False)):
            self.assertEqual(said in self.expect(0, *line, k, *option).stderr, is_said, (k, option))
        self.file("rows.fvecs", harness.fvecs([[1, 0], [0, 1]]))
        for kind in (["dense"], ["metric", "--metric", "l2"]):
            done = self.expect(0, "search", *kind, "--collection", "rows.fvecs", "--queries", "rows.fvecs", "--k", 3, "--run", "r")
            self.assertIn(said, done.stderr)

    def test_queries_without_a_known_term(self):
        # Unknown words, a stop word, a term of all documents, nothing at all. That term weighs
        # nothing in queries; in documents it does under lnc, where it makes matches.
        docs = self.file("docs", b"c\tfish red\na\tfish blue\nb\tfish pink\n")
        queries = self.file("queries", b"1\twhales\n2\tthe\n3\tfish\n4\t\n")
        expected = "".join(f"{q}\t{rank}\t{id}\t0\n" for q in (1, 2, 3, 4)
                           for rank, id in enumerate("cab", 1)).encode()
        for engine in ("mt", "tiles"):
            for metric in ("cosine", "ip"):
                line = ["--collection", docs, "--queries", queries, "--engine", engine, "--metric", metric]
                self.assertEqual(expected, self.neighbours(*line, "--pad"))
                self.assertEqual("".join(f"3\t{rank}\t{id}\t0\n" for rank, id in enumerate("cab", 1)).encode(),
                                 self.neighbours(*line))
                self.assertEqual(b"", self.neighbours(*line, "--weights", "tf-idf"))

    def test_terms_and_cut_offs(self):
        docs = self.file("docs", "a\tRunning café 1999\nb\truns the\nc\tIt\n".encode())
        queries = self.file("queries", "1\trun\n2\tCAFE\n3\tthe\n4\t1999\n5\tit\n".encode())

        def near(*options):
            found = self.rows(self.neighbours("--collection", docs, "--queries", queries,
                                              *options))
            return {q: "".join(id for query, _, id, score in found if query == q and score > 0)
                    for q in "12345"}

        usual = {"1": "ba", "2": "a", "3": "", "4": "a", "5": ""}
        self.assertEqual(near(), usual)
        self.assertEqual(near("--stemmer", "none"), {**usual, "1": ""})
        self.assertEqual(near("--stop-words", "none"), {**usual, "3": "b", "5": "c"})
        self.assertEqual(near("--stop-words", "none", "--no-fold"),
                         {"1": "b", "2": "", "3": "b", "4": "a", "5": ""})
        self.assertEqual(near("--no-numbers"), {**usual, "4": ""})
        self.assertEqual(near("--min-length", 4), {**usual, "1": ""})
        self.assertEqual(near("--max-length", 4), {**usual, "1": "b"})
        self.assertEqual(near("--min-documents", 2), {**usual, "1": "ab", "2": "", "4": ""})
        self.assertEqual(near("--max-share", .4), {**usual, "1": ""})
        self.assertEqual(near("--min-documents", 4), dict.fromkeys("12345", ""))
        for cut in ("--min-documents 4 --max-share 1", "--min-documents 1 --max-share 0.3"):
            self.expect(0, "search", "text", "--collection", docs, "--queries", queries, "--out", "n",
                        *cut.split(), message="warning: " + cut.replace(" --max", " and --max")
                        + " leave no term of 3 documents, so all similarities are 0; ")
        words = self.file("words", b"cafe\n1999\n")
        self.assertEqual(near("--stop-words", f"file:{words}"),
                         {"1": "ab", "2": "", "3": "b", "4": "", "5": "c"})


    def test_an_index_keeps_its_stop_words(self):
        docs = self.file("docs", b"a\trun home\nb\tsleeping\nc\tred\n")
        queries = self.file("queries", "q\trunning über sleep\n".encode())
        words = self.file("words", "# two of them\nrunning\nÜBER\n".encode())
        line = ["--collection", docs, "--stop-words", f"file:{words}"]
        whole = self.neighbours(*line, "--queries", queries)
        self.assertEqual([row[2:] for row in self.rows(whole)], [("b", 1)])
        self.assertEqual(whole, self.neighbours(*line[:3], "file:-", "--queries", queries,
                                                input=words.read_bytes()))
        self.neighbours(*line, "--index", "index", "--manifest", "m")
        self.assertEqual({entry["path"] for entry in
                          json.loads((self.folder / "m").read_text())["inputs"]},
                         {str(docs), str(words)})
        words.unlink()
        self.assertEqual(whole, self.neighbours("--index", "index", "--queries", queries))


class Forms(Search):
    DOCUMENTS = [(f"{d}", f"{text} word{d}") for d, text in draw(10, 20, 3)][1:]
    QUERIES = draw(8, 20, 4)[1:]

    def forms(self, name, documents):
        """Equal documents in every form."""
        text = tsv(documents)
        folder = self.folder / f"{name}-folder"
        folder.mkdir()
        for id, words in documents:
            (folder / id).write_text(words)
        forms = {
            "tsv": self.file(f"{name}.tsv", text),
            "CRLF": self.file(f"{name}.crlf", text.replace(b"\n", b"\r\n")),
            "jsonl": self.file(f"{name}.jsonl", "".join(
                json.dumps({"id": int(id), "year": 1999, "text": words}) + "\n"
                for id, words in documents).encode()),
            "beir": self.file(f"{name}.beir", "".join(
                json.dumps({"_id": id, "title": "", "text": words, "metadata": {"by": "w1"}}) + "\n"
                for id, words in documents).encode()),
            "trec": self.file(f"{name}.trec", "".join(
                f"<DOC>\n<DOCNO> {id} </DOCNO>\n<DATE>w1</DATE>\n<TEXT>\n<P>{words}\n</TEXT>\n</DOC>\n"
                for id, words in documents).encode()),
            "folder": folder,
            "cranfield": self.file(f"{name}.cran", "".join(
                f".I {id}\n.X\nw1\n.W\n{words}\n" for id, words in documents).encode()),
            "gz": self.file(f"{name}.gz", gzip.compress(text)),
            "gz in two members": self.file(f"{name}.2.gz", gzip.compress(text[:40])
                                           + gzip.compress(text[40:])),
        }
        if shutil.which("zstd"):
            forms["zst"] = self.file(f"{name}.zst", subprocess.run(
                ["zstd", "-c"], input=text, stdout=subprocess.PIPE, check=True).stdout)
        return forms

    def test_a_folder_of_beir(self):
        """Its files are documents, queries and judgments, and not a document each."""
        forms = self.forms("docs", self.DOCUMENTS), self.forms("queries", self.QUERIES)
        beir = self.folder / "beir"
        (beir / "qrels").mkdir(parents=True)
        for name, form in zip(("corpus", "queries"), forms):
            (beir / f"{name}.jsonl").write_bytes(form["beir"].read_bytes())
        for line in (("--collection", "beir", "--queries", "beir/queries.jsonl"),
                     ("--collection", "beir/corpus.jsonl", "--queries", "beir")):
            self.expect(3, "search", "text", *line,
                        message="beir: found a folder in BEIR's form, expected one of its files: beir/corpus.jsonl for its documents, or queries.jsonl")
        self.assertEqual(
            self.neighbours("--collection", "beir/corpus.jsonl", "--queries", "beir/queries.jsonl"),
            self.neighbours("--collection", forms[0]["tsv"], "--queries", forms[1]["tsv"]))

    def test_every_form_gives_the_same_neighbours(self):
        docs, queries = self.forms("docs", self.DOCUMENTS), self.forms("queries", self.QUERIES)
        whole = self.neighbours("--collection", docs["tsv"], "--queries", queries["tsv"], *PLAIN)
        self.assertEqual(self.rows(whole),
                         nearest(self.DOCUMENTS, self.QUERIES, "cosine", "lnc.ltc", 30))
        for form in docs:
            with self.subTest(form):
                for a, b in ((docs[form], queries["tsv"]), (docs["tsv"], queries[form])):
                    self.assertEqual(whole, self.neighbours("--collection", a, "--queries", b,
                                                            *PLAIN))
        for form in ("tsv", "jsonl", "folder", "cranfield", "trec"):
            self.assertEqual(whole, self.neighbours("--collection", docs[form], "--queries",
                                                    queries[form], "--collection-format", form, *PLAIN))
        for form in ("tsv", "jsonl", "cranfield", "gz", "zst"):
            if form in docs:
                with self.subTest("standard input", form=form):
                    data, asked = docs[form].read_bytes(), queries[form].read_bytes()
                    self.assertEqual(whole, self.neighbours("--collection", "-", "--queries",
                                                            queries["tsv"], *PLAIN, input=data))
                    self.assertEqual(whole, self.neighbours("--collection", docs["tsv"],
                                                            "--queries", "-", *PLAIN, input=asked))

    def test_fields_are_one_text(self):
        one = self.file("one", b'{"id": 1, "text": "red fish"}\n{"id": 2, "text": "blue"}\n')
        more = self.file("more", b'{"id": 1, "title": "red", "note": 7, "text": "fish"}\n'
                                 b'{"id": "2", "body": "blue", "headline": ""}\n')
        line = ["--queries", self.file("q", b"q\tred fish\n")]
        self.assertEqual(self.neighbours("--collection", one, *line),
                         self.neighbours("--collection", more, *line))

    def test_number_by_position(self):
        docs = self.file("docs", b".I 10\n.T\nred fish\n.W\nred\n.I 7\n.W\nblue fish\n.I 8\n.W\nbird\n")
        queries = self.file("queries", b".I 031\n.W\nblue\n.I 040\n.W\nred\n")
        line = ["--collection", docs, "--queries", queries, "--k", 1]
        self.assertEqual([(q, id) for q, _, id, _ in self.rows(self.neighbours(*line))],
                         [("031", "7"), ("040", "10")])
        self.assertEqual([(q, id) for q, _, id, _ in
                          self.rows(self.neighbours(*line, "--number-by-position"))],
                         [("1", "2"), ("2", "1")])

    def test_labels_of_lines(self):
        docs = self.file("docs", b"1\tred\tpink fish\n2\t\tblue fish\n")
        queries = self.file("queries", b"q\tred\tred blue\n")
        line = ["--collection", docs, "--queries", queries, "--k", 1]
        self.assertEqual([id for _, _, id, _ in self.rows(self.neighbours(*line, "--labels"))],
                         ["2"])
        self.assertEqual([id for _, _, id, _ in self.rows(self.neighbours(*line))], ["1"])


class Vectors(Search):
    """Rows of svmlight: columns are terms, values what is weighed."""

    def drawn(self, rows, columns, seed, whole=False):
        """(id, {column: value}) with values of both signs, equal rows and empty ones."""
        chance = random.Random(seed)
        drawn = []
        for row in range(1, rows + 1):
            if row % 9 == 0:
                drawn.append((str(row), drawn[chance.randrange(len(drawn))][1]))
                continue
            names = {int(columns * chance.random() ** 2) for _ in range(chance.randrange(12))}
            drawn.append((str(row), {name: chance.choice((.5, 1, 2.25, 3) if whole else
                                                         (-1.5, .1, .7, 1e-3, 3e7))
                                     for name in names}))
        return drawn

    def lines(self, rows, shuffle=None):
        text = ""
        for id, row in rows:
            cells = [f"{column}:{value!r}" for column, value in row.items()]
            if shuffle:
                shuffle.shuffle(cells)
            text += " ".join([str(int(id) % 3 - 1), *cells]) + "\n"
        return text.encode()

    def expected(self, documents, queries, metric, weights, k):
        return nearest(documents, queries, metric, {"none": "nnc.nnc", "tf-idf": "ntc.ntc"}[weights], k,
                       counts_of=lambda row: dict(sorted(row.items())))

    def test_as_defined(self):
        documents, queries = self.drawn(200, 60, 1), self.drawn(30, 80, 2)
        docs = self.file("docs", self.lines(documents))
        asked = self.file("asked", self.lines(queries))
        mixed = self.file("mixed", self.lines(documents, random.Random(3)))
        packed = self.file("packed", gzip.compress(self.lines(documents)))
        for weights in ("none", "tf-idf"):
            index = self.folder / f"index-{weights}"
            line = ["--collection-format", "svmlight", "--weights", weights]
            self.expect(0, "search", "text", "--collection", docs, "--index", index, *line)
            for metric in METRICS:
                for k in (1, 7, 1000):
                    with self.subTest(metric=metric, weights=weights, k=k):
                        asking = ["--queries", asked, "--metric", metric, "--k", k]
                        whole = self.neighbours("--collection", docs, *line, *asking)
                        self.assertEqual(self.rows(whole), self.expected(documents, queries,
                                                                         metric, weights, k))
                        for words in (["--collection", docs, *line, "--engine", "mt"],
                                      ["--collection", mixed, *line, "--threads", 3],
                                      ["--collection", packed, *line],
                                      ["--index", index], ["--index", index, *line[:2]]):
                            self.assertEqual(whole, self.neighbours(*words, *asking))
            for words in (["--collection", "-", *line, "--queries", asked],
                          ["--collection", docs, "--queries", "-", *line]):
                data = (docs if words[1] == "-" else asked).read_bytes()
                self.assertEqual(self.neighbours("--index", index, "--queries", asked),
                                 self.neighbours(*words, input=data))

    def test_vectors_have_weights_of_their_own(self):
        docs = self.file("docs", b"0 1:3 2:1\n0 1:1 3:1\n0 2:2\n")
        line = ["--collection", docs, "--queries", docs, "--collection-format", "svmlight", "--metric", "ip"]
        self.assertEqual(self.neighbours(*line), self.neighbours(*line, "--weights", "none"))
        self.assertEqual(self.rows(self.neighbours(*line, "--k", 1))[0], ("1", 1, "1", 10))
        self.assertNotEqual(self.neighbours(*line), self.neighbours(*line, "--weights", "tf-idf"))

    def test_a_matrix_of_words(self):
        """Counts of terms as columns give what the texts give."""
        documents, queries = draw(100, 40, 1), draw(20, 50, 2)
        column = {word: at for at, word in enumerate(sorted({
            word for _, text in documents + queries for word in text.split()}))}

        def matrix(rows):
            return "".join(" ".join(["7", *(f"{column[word]}:{count}" for word, count in
                                            counts_of(text).items())]) + f" # {id}\n"
                           for id, text in rows).encode()

        texts = ["--collection", self.file("d.tsv", tsv(documents)), "--queries",
                 self.file("q.tsv", tsv(queries)), *PLAIN]
        rows = ["--collection", self.file("d.svm", matrix(documents)), "--queries",
                self.file("q.svm", matrix(queries)), "--collection-format", "svmlight"]
        for cut in ([], ["--min-documents", 3], ["--max-share", .2]):
            for weights in ("none", "tf-idf"):
                words = [*cut, "--weights", weights, "--tf", "raw"]
                self.assertEqual(self.neighbours(*texts, *words), self.neighbours(*rows, *words))

    def test_ids(self):
        docs = self.file("docs", b"# a head\n1 1:1 # first of all\n\n1 2:1\r\n"
                                 b"2 qid:4 3:1 #docid = G-1 inc = 1\n2 4:1 #\n-0 5:1 # # x\n")
        line = ["--collection-format", "svmlight", "--collection", docs, "--queries", docs, "--k", 1]
        ids = ["2", "4", "G-1", "6", "7"]
        self.assertEqual([row[::2] for row in self.rows(self.neighbours(*line))],
                         list(zip(ids, ids)))
        ids = ["1", "2", "3", "4", "5"]
        self.assertEqual([row[::2] for row in
                          self.rows(self.neighbours(*line, "--number-by-position"))],
                         list(zip(ids, ids)))

    def test_votes(self):
        docs = self.file("docs", b"-1 1:1\n+1.0 2:1\n0.50 3:1\n-0 4:1\n1e2 5:1\n")
        asked = self.file("asked", b"-1 1:2\n1 2:2\n1 3:2\n0 4:2\n100 5:2\n")
        line = ["--votes", "majority", "--k", 1, "--out", "n", "--classes", "c"]
        self.expect(0, "search", "text", "--collection-format", "svmlight", "--collection", docs, "--queries",
                    asked, *line, message="accuracy 0.8000")
        self.assertEqual((self.folder / "c").read_text(),
                         "1\t-1\t-1\n2\t1\t1\n3\t1\t0.5\n4\t0\t0\n5\t100\t100\n")

    def test_values_at_the_ends(self):
        # 0 is as nothing; what tf-idf makes 0 or does not make finite; columns up to 2^31 - 1.
        docs = self.file("docs", b"0 0:1 7:0 2147483647:2\n0 0:5e-324 3:0\n0 5:1\n0 5:2\n0 0:1\n")
        line = ["--collection-format", "svmlight", "--collection", docs, "--queries", docs, "--metric", "ip",
                "--k", 1]
        self.assertEqual([row[2:] for row in self.rows(self.neighbours(*line))],
                         [("1", 5), ("1", 5e-324), ("4", 2), ("4", 4), ("1", 1)])
        tf_idf = self.neighbours(*line, "--weights", "tf-idf", "--index", "index")
        self.assertEqual(tf_idf, self.neighbours("--index", "index", *line[4:]))
        # Squares of the largest are finite; tf-idf makes more of one, or of a query's.
        huge = self.file("huge", b"0 1:1e150 2:1\n0 2:1\n0 2:-1e150\n0 3:1\n")
        found = self.rows(self.neighbours(*line[:2], "--collection", huge, "--queries", huge,
                                          "--k", 4))
        self.assertEqual([row[2:] for row in found if row[0] == row[2]],
                         [("1", 1), ("2", 1), ("3", 1), ("4", 1)])
        self.assertTrue(all(math.isfinite(row[3]) for row in found))
        message = "huge: found a value {}whose tf-idf weight is {}, expected at most 1e+150"
        self.expect(3, "search", "text", "--collection-format", "svmlight", "--collection", huge, "--index",
                    "new", "--weights", "tf-idf",
                    message=message.format("", f"{1e150 * math.log(4)}"))
        self.assertFalse((self.folder / "new").exists())
        small = self.file("small", b"0 1:1\n0 2:1\n0 2:1\n0 3:1\n")
        self.expect(3, "search", "text", "--collection-format", "svmlight", "--collection", small, "--queries",
                    huge, "--weights", "tf-idf", "--out", "n",
                    message=message.format('of query "1" ', f"{1e150 * math.log(4)}"))
        self.assertFalse((self.folder / "n").exists())

    def test_bad_rows(self):
        rows = []
        for name, data, message in (
                ("label", b"1 1:1\nspam 1:1\n", ':2:1: found label "spam", expected a finite number'),
                ("no label", b"1:1 2:1\n", ':1:1: found label "1:1", expected a finite number'),
                ("no number for a label", b"nan 2:1\n", ':1:1: found label "nan"'),
                ("column", b"1 2:1 x:1\n", ':1:7: feature "x" is not a number'),
                ("column below 0", b"1 -2:1\n", ':1:3: feature "-2" is not a number'),
                ("column above all", b"1 2147483648:1\n", ':1:3: feature "2147483648" is too large'),
                ("no colon", b"1 2:1 3\n", ':1:7: found "3" without a colon'),
                ("value", b"1 2:x\n", ':1:5: value "x" of feature 2 is not a number'),
                ("no value", b"1 2:\n", ':1:5: value "" of feature 2 is not a number'),
                ("nan", b"1 2:1\n1 2:nan\n", ':2:5: value "nan" of feature 2 is missing'),
                ("inf", b"1 2:inf\n", ':1:5: value "inf" of feature 2 is infinite'),
                ("too large", b"1 2:1e999\n", ':1:5: value "1e999" of feature 2 is too large'),
                ("its square is too large", b"1 1:1e160 2:1\n1 2:1\n1 3:1\n",
                 ':1:5: value "1e160" of feature 1 is too large, expected at most 1e+150'),
                ("below 0", b"1 2:1\n1 2:3 1:-1e200 # x\n",
                 ':2:9: value "-1e200" of feature 1 is too large, expected at most 1e+150'),
                ("column again", b"1 2:1 3:1 2:1\n", ":1:11: found feature 2 twice"),
                ("id again", b"1 2:1 # a1\n1 3:1 #  a1\n", ':2:10: found id "a1" again (first on line 1), '
                 "expected each id once"),
                ("number as an id", b"1 2:1 # 2\n1 3:1\n", ':2:1: found id "2" again'),
                ("empty", b"", ":1:1: found no documents"),
                ("comments alone", b"# one\n\n", ":1:1: found no documents"),
                ("words", b"a\tred fish\n", ':1:1: found label "a"'),
        ):
            rows.append((name, data, "--collection-format svmlight", message, b"1 1:1\n"))
        self.check_bad_documents(rows)

    def test_wrong_usage(self):
        self.file("v", b"1 1:1\n")
        self.file("w.tsv", b"a\tred\n")
        for kind, words in (("v", ["--collection-format", "svmlight"]), ("w.tsv", [])):
            self.expect(0, "search", "text", "--collection", kind, "--index", kind + ".i", *words)
        index = {kind: (self.folder / f"{kind}.i").read_bytes() for kind in ("v", "w.tsv")}
        files = {"v": b"1 1:1\n", "w": b"a\tred\n", "vi": index["v"], "wi": index["w.tsv"]}
        search = "search text --collection {v} --queries {v} --collection-format svmlight --out {out} "
        self.check_rows([Row("it runs", b"", search, 0, "", files)])
        self.check_wrong_usage([
            *((option, search + option,
               option.split()[0] + " cannot be combined with --collection-format svmlight, which has no words")
              for option in ("--stop-words none", "--stemmer none", "--no-fold", "--no-numbers",
                             "--min-length 2", "--max-length 9", "--k1 1", "--b 0")),
            ("bm25", search + "--weights bm25",
             "found weighting 'bm25' for vectors, expected none or tf-idf"),
            *((option, search + option,
               "found tf 'log' for vectors, whose values are not counts, expected raw or binary")
              for option in ("--tf log", "--weighting ltc.lnc", "--weighting nnn.lnn")),
            ("labels", search + "--labels", "only the format tsv"),
            ("words of an index of vectors",
             "search text --index {vi} --queries {w} --collection-format tsv --out {out}",
             "the index holds vectors, expected svmlight"),
            ("vectors of an index of words",
             "search text --index {wi} --queries {v} --collection-format svmlight --out {out}",
             "the index holds words; expected the format of the queries"),
            ("pipeline",
             "pipeline --collection {v} --topics {w} --qrels {w} --out-dir d --collection-format "
             "svmlight",
             "found 'svmlight', expected auto, tsv, table, jsonl, json, folder, cranfield or trec"),
        ], files)


class Correct(Search):
    """--correct: words that no two documents have."""

    def setUp(self):
        super().setUp()
        self.docs = self.file("docs.tsv", b"1\tboundary layer flow\n2\tboundary layer heat\n"
                                          b"3\theat flow turbulence\n4\tturbulence of wings\n")
        self.bad = self.file("bad.tsv", b"a\tboundrry layre\nb\theat\nc\tturbulenze wings1 wing\n"
                                        b"d\tlayer wingz\n")
        self.good = self.file("good.tsv", b"a\tboundary layer\nb\theat\nc\tturbulence wings1 wing\n"
                                          b"d\tlayer wingz\n")
        self.line = ["search", "text", "--collection", self.docs]

    def test_words_are_replaced_and_reported(self):
        self.file("bad.tsv", self.bad.read_bytes().replace(b"layre", b"layerr"))
        done = self.expect(0, *self.line, "--queries", self.bad, "--correct", "--manifest", "m")
        self.assertEqual(done.stdout, self.expect(0, *self.line, "--queries", self.good).stdout)
        errors = done.stderr.decode()
        for said in ("query a: searched 'boundrry' as 'boundary'", "searched 'layerr' as 'layer'",
                     "--correct replaced 3 words in 2 queries"):
            self.assertIn(said, errors)
        changes = json.loads((self.folder / "m").read_text())["corrections"]
        self.assertEqual([(one["query"], one["word"], one["replacement"], one["distance"])
                          for one in changes],
                         [("a", "boundrry", "boundary", 1), ("a", "layerr", "layer", 1),
                          ("c", "turbulenze", "turbulence", 1)])
        off = self.expect(0, *self.line, "--queries", self.bad)
        self.assertNotEqual(off.stdout, done.stdout)
        self.assertNotIn("replaced", off.stderr.decode())

    def test_topics_without_such_words_are_unchanged(self):
        plain = self.expect(0, *self.line, "--queries", self.good).stdout
        self.assertEqual(self.expect(0, *self.line, "--queries", self.good, "--correct").stdout, plain)

    def test_index_files(self):
        self.expect(0, *self.line, "--index", "with", "--correct", "--quiet")
        self.expect(0, *self.line, "--index", "without", "--quiet")
        ask = ["search", "text", "--queries", self.bad, "--index"]
        direct = self.expect(0, *self.line, "--queries", self.bad, "--correct").stdout
        for threads in (1, 3):
            done = self.expect(0, *ask, "with", "--correct", "--threads", threads)
            self.assertEqual(done.stdout, direct)
        off = self.expect(0, *self.line, "--queries", self.bad).stdout
        for name in ("with", "without"):
            self.assertEqual(self.expect(0, *ask, name).stdout, off)
        self.expect(3, *ask, "without", "--correct",
                    message="without:1:1: found an index without the dictionary that --correct needs, expected one made by `rulerank search text --collection DOCS --index without --correct`")
        whole = (self.folder / "with").read_bytes()
        at = whole.index(b"boundary", whole.index(b"turbulence") - 200)
        self.file("damaged", whole[:at] + b"x" + whole[at + 1:])
        self.expect(3, *ask, "damaged", "--correct", message="are damaged")

    def test_vectors_have_no_words(self):
        self.file("v.svm", b"1 1:2\n")
        self.expect(2, "search", "text", "--collection", "v.svm", "--collection-format", "svmlight",
                    "--queries", "v.svm", "--correct", message="found vectors, expected documents of words")
        self.expect(0, "search", "text", "--collection", "v.svm", "--collection-format", "svmlight",
                    "--index", "vi", "--quiet")
        self.expect(2, "search", "text", "--index", "vi", "--queries", "v.svm", "--correct",
                    message="--correct: found an index of vectors")


class Outputs(Search):
    def setUp(self):
        super().setUp()
        self.docs = self.file("docs.tsv", b"1\tcat\tmouse fish\n2\tdog\tbone walk\n"
                                          b"3\tcat\tfish milk\n4\tdog\tfish bone\n")
        self.topics = self.file("topics.tsv", b"a\tcat\tfish milk\nb\tdog\tfish walk bone\n"
                                              b"c\tdog\tmouse\n")
        self.line = ["--collection", self.docs, "--queries", self.topics, "--labels", "--k", 3]

    def test_run(self):
        for metric in METRICS:
            found = self.rows(self.neighbours(*self.line, "--metric", metric, "--run", "r",
                                              "--tag", "mine"))
            lines = [line.split(" ") for line in (self.folder / "r").read_text().splitlines()]
            sign = -1 if metric == "l2" else 1
            self.assertEqual([(q, int(rank), id, sign * float(score))
                              for q, _, id, rank, score, _ in lines], found)
            self.assertEqual({(zero, tag) for _, zero, _, _, _, tag in lines}, {("Q0", "mine")})
            scores = [float(line[4]) for line in lines if line[0] == "b"]
            self.assertEqual(scores, sorted(scores, reverse=True))
        self.assertTrue(self.neighbours(*self.line, "--out", "n", "--run", "-").startswith(b"a Q0 "))

    def test_a_distance_of_0_has_no_minus_in_a_run(self):
        docs = self.file("docs", b"a\tred\nb\tblue\n")
        for engine in ("mt", "tiles"):
            self.neighbours("--collection", docs, "--queries", docs, "--metric", "l2", "--run", "r",
                            "--engine", engine, "--pad")
            self.assertEqual([line.split()[2:5:2] for line in
                              (self.folder / "r").read_text().splitlines()],
                             [["a", "0"], ["b", f"-{math.sqrt(2)!r}"],
                              ["b", "0"], ["a", f"-{math.sqrt(2)!r}"]])

    def test_run_is_evaluated(self):
        self.neighbours(*self.line, "--run", "r", "--out", "n")
        qrels = self.file("qrels", b"a 0 3 1\nb 0 2 1\nb 0 4 1\nc 0 1 1\n")
        table = self.expect(0, "evaluate", "--qrels", qrels, "--run", "r", "--metrics", "MAP",
                            "--profile", "trec", "--format", "json", "--quiet").stdout
        self.assertIn(b"1.0", table)

    def test_how_much_of_a_run_is_judged(self):
        """A column says it where some of the first ten of some run is not, and no such column is asked for."""
        self.file("whole", b"a Q0 1 1 3 t\na Q0 2 2 2 t\nb Q0 1 1 2 t\n")
        self.file("part", b"a Q0 1 1 3 t\na Q0 9 2 2 t\nb Q0 1 1 2 t\n")
        qrels = self.file("qrels", b"a 0 1 1\na 0 2 0\nb 0 1 1\n")
        for runs, metrics, shown in ((["whole"], "MAP", None), (["part"], "MAP", [.75]), (["whole", "part"], "MAP", [1, .75]),
                                     (["part"], "MAP,judged@1", None)):
            with self.subTest(runs, metrics=metrics):
                systems = self.told("evaluate", "--qrels", qrels, "--run", *runs, "--metrics", metrics, "--json")["systems"]
                self.assertEqual([one["averages"].get("judged@10") for one in systems], shown or [None] * len(runs))
                self.assertEqual([one["averages"]["MAP"] for one in systems], [1.0] * len(runs))

    def test_votes_and_classes(self):
        def classes(*options):
            line = self.line if "--k" not in options else self.line[:-2]
            self.neighbours(*line, "--out", "n", "--classes", "c", *options)
            return [tuple(line.split("\t")) for line in
                    (self.folder / "c").read_text().splitlines()]

        # a: 3, 1, 4. b: 2, 4, 1. c: 1 alone.
        found = self.rows(self.neighbours(*self.line))
        near = {q: [id for query, _, id, _ in found if query == q] for q in "abc"}
        self.assertEqual(near, {"a": ["3", "1", "4"], "b": ["2", "4", "1"], "c": ["1"]})
        truth = [("a", "cat", "cat"), ("b", "dog", "dog"), ("c", "dog", "cat")]
        self.assertEqual(classes("--votes", "majority"), truth)
        self.assertEqual(classes("--votes", "similarity"), truth)
        self.assertEqual(classes("--votes", "similarity", "--metric", "l2"), truth)
        self.assertEqual(classes("--votes", "majority", "--k", 4), truth)  # 2 : 2, the nearer one's
        # Two far ones outnumber a near one, and do not outweigh it.
        far = self.file("far", b"1\tcat\tred sea\n2\tdog\tsea a b c d e\n3\tdog\tsea f g h i j\n"
                               b"4\tcow\tnothing\n")
        self.file("q", b"q\tcat\tred sea\n")
        line = ["--collection", far, "--queries", "q", "--labels", "--k", 3, *PLAIN, "--classes",
                "c", "--out", "n"]
        for votes, given in (("majority", "dog"), ("similarity", "cat")):
            self.neighbours(*line, "--votes", votes)
            self.assertEqual((self.folder / "c").read_text(), f"q\tcat\t{given}\n")

    def test_a_folders_names_are_the_classes(self):
        for part, name, text in (("train", "cat/1", "milk"), ("train", "dog/1", "bone"),
                                 ("test", "dog/7", "a bone"), ("test", "cat/8", "a milk")):
            path = self.folder / part / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.neighbours("--collection", "train", "--queries", "test", "--k", 1, "--votes",
                        "majority", "--classes", "c", "--out", "n")
        self.assertEqual((self.folder / "c").read_text(), "cat/8\tcat\tcat\ndog/7\tdog\tdog\n")

    def test_json_and_manifest(self):
        done = self.expect(0, "search", "text", *self.line, "--out", "n", "--json", "--quiet",
                           "--manifest", "m", "--votes", "majority", "--engine", "mt", "--device",
                           "cpu", "--index", "i")
        summary = json.loads(done.stdout)
        manifest = json.loads((self.folder / "m").read_text())
        expected = {"documents": 4, "terms": 5, "postings": 8, "queries": 3, "k": 3,
                    "metric": "cosine", "engine": "mt", "accuracy": 2 / 3, "micro_f1": 2 / 3, "macro_f1": 2 / 3}
        for name, value in expected.items():
            self.assertEqual(summary[name], value, name)
            self.assertEqual(manifest[name], value, name)
        self.assertEqual(list(summary), [*expected, "seconds"])
        self.assertEqual(done.stderr, b"")
        for stage in ("index", "read", "weigh", "prepare", "search", "nearest"):
            self.assertIn(stage, manifest["seconds"])
        self.assertLessEqual(manifest["seconds"]["nearest"], manifest["seconds"]["search"])
        self.assertLessEqual(manifest["seconds"]["read"] + manifest["seconds"]["weigh"],
                             manifest["seconds"]["index"])
        self.assertEqual(sorted(entry["path"] for entry in manifest["inputs"]),
                         sorted([str(self.docs), str(self.topics)]))
        # An index alone; one that is opened; default engine.
        summary = self.told("search", "text", "--collection", self.docs, "--labels", "--index", "j", "--json", "--quiet")
        self.assertEqual([summary[name] for name in ("documents", "terms", "postings")], [4, 5, 8])
        self.assertNotIn("queries", summary)
        self.assertEqual((self.folder / "j").read_bytes(), (self.folder / "i").read_bytes())
        self.expect(0, "search", "text", "--index", "j", "--queries", self.topics, "--labels",
                    "--out", "n", "--manifest", "m")
        manifest = json.loads((self.folder / "m").read_text())
        self.assertEqual([manifest["engine"], manifest["k"]], ["tiles", 4])
        self.assertIn("open", manifest["seconds"])
        self.assertEqual(sorted(entry["path"] for entry in manifest["inputs"]),
                         sorted(["j", str(self.topics)]))
        # Where the neighbours take standard output, they are objects and there is no summary.
        lines = self.neighbours(*self.line, "--json").splitlines()
        found = [f"{one['query']}\t{rank}\t{near['id']}\t{near['similarity']}\n" for one in map(json.loads, lines)
                 for rank, near in enumerate(one["neighbours"], 1)]
        self.assertEqual("".join(found).encode(), self.neighbours(*self.line))

    def test_votes_are_reported(self):
        self.expect(0, "search", "text", *self.line, "--out", "n", "--votes", "majority",
                    message="rulerank: accuracy 0.6667, macro-F1 0.6667 over 3 queries\n")


    def test_ids_that_name_nothing_are_reported(self):
        self.file("run", b"1 Q0 a 1 2 t\n9 Q0 a 1 2 t\n")
        self.file("odd", b"1 Q0 A 1 2 t\n2 Q0 B 1 2 t\n")
        self.file("qrels", b"3 0 x 1\n1 0 a 1\n2 0 a 1\n2 0 b 0\n")

        def warned(run, *options):
            done = self.expect(0, "evaluate", "--qrels", "qrels", "--run", run, *options)
            return [line.removeprefix("rulerank: warning: ")
                    for line in done.stderr.decode().splitlines()]

        queries = "run: 1 of 2 queries have no judgments in qrels and do not count, first '9' (run:2)"
        self.assertEqual(warned("run"), [
            queries, "qrels: 2 of 3 judged queries are not in run and do not count, first '3' (qrels:1)"])
        self.assertEqual(warned("run", "--complete"), [
            queries, "qrels: 2 of 3 judged queries are not in run and count as queries that found nothing, first "
            "'3' (qrels:1)"])
        self.assertEqual(warned("odd"), [
            "qrels: 1 of 3 judged queries are not in odd and do not count, first '3' (qrels:1)",
            "odd: none of its 2 documents is judged for its query in qrels; check that both files use the same ids"])
        self.assertEqual(warned("run", "--quiet"), [])


class Refused(Search):
    DOCS = b"1\tred fish\n2\tblue fish\n"
    FILES = {"docs": DOCS, "q": b"q\tred\n"}

    def test_bad_text(self):
        gz = gzip.compress(b"".join(b"%d\tfish %d\n" % (d, d * d) for d in range(5000)))
        rows = []
        for name, data, options, message in (
                ("no tab", b"1\tred\n2 blue\n", "", ':2:7: found no tab after "2 blue", expected'),
                ("no tab behind a label", b"1\tred\n", "--labels", ':1:6: found no tab after "red"'),
                ("no id", b"1\tred\n\tblue\n", "", ":2:1: found an empty id"),
                ("an id again", b"1\tred\n2\tblue\n1\tsea\n", "",
                 ':3:1: found id "1" again (first on line 1), expected each id once'),
                ("an id again, JSON", b'{"id": 1, "text": ""}\n{"id": "1", "text": ""}\n', "",
                 ':2:1: found id "1" again'),
                ("broken JSON", b'{"id": 1, "text": "a"}\n{"id": 2, "text": }\n', "", ":2:19: "),
                ("no object", b'{"id": 1, "text": "a"}\n[1]\n', "", ':2:1: found array, expected'),
                ("JSON without an id", b'{"text": "a"}\n', "", ":1:1: found no id, expected"),
                ("JSON without a text", b'{"id": 1, "n": 2}\n', "", ":1:1: found no text"),
                ("an id that is none", b'{"id": 1.5, "text": "a"}\n', "", ':1:1: found 1.5 as id'),
                ("SMART without .I", b".W\nred\n", "", ':1:1: found ".W" before the first document'),
                ("SMART without a number", b".I 1\n.W\nred\n.I x\n.W\n", "", ':4:4: found "x" after'),
                ("SMART, an id again", b".I 1\n.W\nred\n.I 1\n.W\n", "", ':4:4: found id "1" again'),
                ("BEIR's and another id", b'{"_id": 1, "id": 2, "text": ""}\n', "",
                 ":1:1: found _id and id with different ids, expected one of them"),
                ("TREC without an end", b"<DOC>\n<DOCNO>1</DOCNO>\n", "",
                 ":1:1: found a <DOC> without its end"),
                ("TREC without an id", b"<DOC>\n</DOC>\n", "", ":1:1: found a document without <DOCNO>"),
                ("TREC, an id again", b"<DOC>\n<DOCNO>1</DOCNO>\n</DOC>\n" * 2, "",
                 ':5:1: found id "1" again'),
                ("a topic without a number", b"<top>\n<title>a\n</top>\n", "",
                 ":1:1: found a topic without <num>"),
                ("SMART without a section", b".I 1\nred\n", "", ':2:1: found "red" right after .I'),
                ("empty", b"", "", ":1:1: found no documents"),
                ("empty lines", b"\n\n", "", ":1:1: found no documents"),
                ("empty gz", gzip.compress(b""), "", ":1:1: found no documents"),
                ("truncated gz", gz[:len(gz) // 2], "", ":"),
                ("damaged gz", gz[:-6] + bytes([gz[-6] ^ 1]) + gz[-5:], "", ":"),
                ("no tsv", b'{"id": 1, "text": "a"}\n', "--collection-format tsv", ":1:23: found no tab"),
                ("no jsonl", b"1\ta\n", "--collection-format jsonl", ":1:"),
                ("no SMART", b"1\ta\n", "--collection-format cranfield", ':1:1: found "1'),
        ):
            # Both are read in the one form that is asked for.
            right = {"--labels": b"1\t\tred\n", "--collection-format jsonl": b'{"id": 1, "text": "a"}\n',
                     "--collection-format cranfield": b".I 1\n.W\nred\n"}.get(options, self.DOCS)
            rows.append((name, data, options, message, right))
        self.check_bad_documents(rows)

    def test_named_sections_of_topics(self):
        docs = self.file("docs", self.DOCS)
        topics = self.file("topics", b"<top><num>1</num><title>red</title><desc>blue</desc></top>\n")
        line = ["search", "text", "--collection", docs, "--queries", topics, "--k", 1]
        for options, first in (([], "1"), (["--query-fields", "description"], "2")):
            found = self.expect(0, *line, *options, "--quiet").stdout.decode()
            self.assertEqual(found.splitlines()[-1].split("\t")[2], first, found)
        self.expect(3, *line, "--query-fields", "nope",
                    message="topics:1:1: found a topic without text in <nope>, expected a section such as DESC, TITLE")
        self.expect(3, *line, "--text-fields", "title", message="docs: found the form tsv, expected JSON, trec or a table")

    def test_bad_text_from_standard_input(self):
        docs = self.file("docs", self.DOCS)
        for line in (["--collection", "-", "--queries", docs], ["--collection", docs, "--queries",
                                                                "-"]):
            self.expect(3, "search", "text", *line, "--out", "o", input=b"1\tred\n2\n",
                        message='error: standard input:2:2: found no tab after "2"')
        self.assertEqual(os.listdir(self.folder), ["docs"])

    def test_inputs_that_are_not_there(self):
        docs = self.file("docs", self.DOCS)
        (self.folder / "empty").mkdir()
        line = ["search", "text", "--out", "o"]
        for words, message in (
                (["--collection", "absent", "--queries", docs], "absent: cannot be read"),
                (["--collection", docs, "--queries", "absent"], "absent: cannot be read"),
                (["--index", "absent", "--queries", docs], "absent: cannot be read"),
                (["--collection", "empty", "--queries", docs], "empty: found no files"),
                (["--collection", docs, "--queries", "empty"], "empty: found no files"),
                (["--index", "empty", "--queries", docs], "empty: is a folder, expected a file"),
                (["--collection", docs, "--queries", "empty", "--collection-format", "tsv"],
                 "empty: is a folder, expected a file"),
                (["--collection", docs, "--queries", docs, "--stop-words", "file:absent"],
                 "absent: cannot be read"),
        ):
            with self.subTest(words=words):
                self.expect(3, *line, *words, message=message)
                self.assertEqual(sorted(os.listdir(self.folder)), ["docs", "empty"])

    def index(self):
        """The bytes of a good index."""
        self.file("good.tsv", b"".join(b"%d\tred w%d v%d\n" % (d, d % 7, d % 11)
                                       for d in range(60)))
        self.expect(0, "search", "text", "--collection", "good.tsv", "--index", "good", "--quiet")
        return (self.folder / "good").read_bytes()

    def test_indexes_that_are_none(self):
        good = self.index()
        header = good.rindex(b'{"format"')
        for name, data, message in (
                ("empty", b"", "found an empty file, expected an index"),
                ("foreign", self.DOCS, "not an index of rulerank"),
                ("foreign and long", self.DOCS * 1000, "not an index of rulerank"),
                ("cut at once", good[:20], "not an index of rulerank"),
                ("cut off", good[:-1], f"found an index of {len(good) - 1} bytes, expected"),
                ("cut in the middle", good[:len(good) // 2], "the file was cut short or extended"),
                ("longer", good + b"\n", "the file was cut short or extended"),
                ("two", good + good, "the file was cut short or extended"),
                ("compressed", gzip.compress(good), "not an index of rulerank"),
                ("bzip2", bz2.compress(good), "not an index of rulerank"),
                ("a later version", good.replace(b'"version":2', b'"version":3', 1), "damaged"),
                ("another prefix", good[:30] + b"\x01" + good[31:], "the first bytes"),
                ("a different header", good[:header + 3] + b"F" + good[header + 4:], "the header"),
        ):
            with self.subTest(name):
                path = self.file("bad", data)
                done = self.expect(3, "search", "text", "--index", path, "--queries", "good.tsv",
                                   "--out", "o", message=f"error: {path}:1:1: ")
                self.assertIn(message, done.stderr.decode())
                self.assertFalse((self.folder / "o").exists())

    def test_a_damaged_byte_is_found_wherever_it_is(self):
        good = self.index()
        header = good.rindex(b'{"format"')
        sections = json.loads(good[header:].rstrip())["sections"]
        self.assertEqual(len(sections), 15)
        places = [s["begin"] + at for s in sections if s["bytes"]
                  for at in {0, s["bytes"] // 2, s["bytes"] - 1}]
        places += [0, 16, 24, 32, 40, 44, header, header + 40, len(good) - 1]
        asking = ["--queries", "good.tsv", "--out", "o"]
        for place in places:
            with self.subTest(place=place):
                path = self.file("bad", good[:place] + bytes([good[place] ^ 4]) + good[place + 1:])
                self.expect(3, "search", "text", "--index", path, *asking,
                            message=f"error: {path}:1:1: ")
        self.assertFalse((self.folder / "o").exists())
        self.expect(0, "search", "text", "--index", "good", *asking)

    def test_wrong_usage(self):
        good = self.index()
        files = {**self.FILES, "index": good}
        search = "search text --collection {docs} --queries {q} --out {out} "
        opened = "search text --index {index} --queries {q} --out {out} "
        self.check_rows([Row("it runs", b"", search, 0, "", files),
                         Row("it runs from an index", b"", opened, 0, "", files)])
        rows = [
            ("nothing", "search text", "expected --collection or --index"),
            ("no kind", "search", "found nothing after search, expected text"),
            ("queries alone", "search text --queries {q} --out {out}",
             "no documents, expected --collection or --index"),
            ("documents alone", "search text --collection {docs}", "expected --queries"),
            ("an index alone", "search text --index {index}", "expected --queries"),
            ("stemmer", search + "--stemmer klingon",
             "found the stemmer 'klingon', expected none or one of: arabic"),
            ("stop words", search + "--stop-words klingon", "found the stop list"),
            ("metric", search + "--metric hamming",
             "found metric 'hamming', expected cosine, ip, l2"),
            ("engine", search + "--engine quick",
             "found engine 'quick', expected one of auto, tiles, mt"),
            ("group of another engine", search + "--engine tiles --launch-queries 4",
             "--launch-queries cannot be combined with --engine tiles, expected --engine fish"),
            ("balance of another engine", search + "--balance intra",
             "--balance cannot be combined with --engine auto, expected --engine fish"),
            ("group 0", search + "--launch-queries 0", "--launch-queries"),
            ("weights", search + "--weights heavy",
             "--weights: found weighting 'heavy', expected none, tf-idf, bm25"),
            ("tf", search + "--tf sqrt", "--tf: found 'sqrt', expected raw, log or binary"),
            ("tf of bm25", search + "--weights bm25 --tf raw", "--tf cannot be combined with --weights bm25"),
            ("SMART's form", search + "--weighting ltc",
             "--weighting: found 'ltc', expected three letters of the documents, a dot and three of"),
            ("SMART's tf", search + "--weighting atc.ltc",
             "--weighting: found 'a' for tf in 'atc.ltc', expected one of n (the count), l (1 + ln of "
             "it), b (1)"),
            ("SMART's idf", search + "--weighting lxc.ltc", "found 'x' for idf in 'lxc.ltc', expected "
             "one of n (none), t (ln(N / df))"),
            ("SMART's norm", search + "--weighting ltc.ltu", "found 'u' for the norm in 'ltc.ltu', "
             "expected one of n (none), c (cosine)"),
            ("SMART's norms", search + "--weighting lnc.ltn", "found the norms c and n in 'lnc.ltn'"),
            *((f"{option} cannot be combined with --weighting", search + "--weighting ltc.ltc " + option,
               f"{option.split()[0]} cannot be combined with --weighting")
              for option in ("--weights none", "--tf raw", "--metric ip")),
            ("votes", search + "--votes loud",
             "found votes 'loud', expected majority or similarity"),
            ("form", search + "--collection-format pdf", "--collection-format: found 'pdf', expected auto"),
            ("form beside an index", opened + "--collection-format pdf", "--collection-format: found 'pdf'"),
            ("k 0", search + "--k 0", "--k"),
            ("k below 0", search + "--k -1", "--k"),
            ("k no number", search + "--k many", "--k"),
            ("k1", search + "--weights bm25 --k1 -1", "k1: found -1"),
            ("a large k1", search + "--weights bm25 --k1 1e308", "k1: found 1e+308, expected 0 to 1e6"),
            ("b", search + "--weights bm25 --b 1.5", "b: found 1.5"),
            ("share", search + "--max-share 0", "found 0, expected a number above 0"),
            *((f"{option} of {weights or 'the default'}", f"{search}{option} .5 {weights}",
               f"{option} needs --weights bm25") for option in ("--k1", "--b") for weights in ("", "--weights none")),
            ("length", search + "--min-length 9 --max-length 8",
             "found words of 9 to 8 code points"),
            ("labels of JSON", search + "--labels --collection-format jsonl", "only the format tsv"),
            ("position of TSV", search + "--number-by-position --collection-format tsv", "only the formats cranfield"),
            ("classes alone", search + "--classes {out}.c", "--classes needs --votes"),
            ("k beside a radius", search + "--radius 1 --k 3", "--k cannot be combined with --radius"),
            ("pad beside a radius", search + "--radius 1 --pad", "--pad cannot be combined with --radius"),
            ("a filter without queries", "search text --collection {docs} --index {out} --filter {in}", "--filter needs --queries", b"a\n"),
            ("index to standard output", "search text --collection {docs} --index -", "--index"),
            ("index from standard input", "search text --index - --queries {q} --out {out}",
             "--index"),
            ("stop words without a path", search + "--stop-words file:",
             "--stop-words: found an empty path"),
            ("stop words and documents of one stream",
             "search text --collection - --queries {q} --stop-words file:- --out {out}",
             "--collection and --stop-words cannot both be standard input"),
            ("output is the stop list", search + "--stop-words file:{in} --run {in}",
             "--run {in} is also an input", b"the\n"),
            ("two inputs of one stream", "search text --collection - --queries - --out {out}",
             "--collection and --queries cannot both be standard input"),
            ("two outputs of one name", search + "--run {out}", "--out and --run"),
            ("classes are the run", search + "--run {out}.r --votes majority --classes {out}.r",
             "--run and --classes are both"),
            ("index is the output", search + "--index {out}", "--out and --index"),
            ("two on standard output", "search text --collection {docs} --queries {q} --run -",
             "--out and --run are both standard output"),
            ("manifest is the output", search + "--manifest {out}", "--manifest and --out"),
            ("output is the collection", search + "--run {docs}", "--run {docs} is also an input"),
            ("output is the queries", search + "--index {in} --run {q}",
             "--run {q} is also an input"),
            ("index is the queries", search + "--index {q}", "--index {q} is also an input"),
            ("output is the index", "search text --index {index} --queries {q} --out {index}",
             "--out {index} is also an input"),
            ("index is the collection", "search text --collection {docs} --index {docs}",
             "--index {docs} is also an input"),
            ("a tag of two words", search + "--run {out}.r --tag 'my tag'",
             'found the tag "my tag", expected one word'),
            ("a tag without a run", search + "--tag mine", "--tag needs --run"),
            ("no tag", search + "--run {out}.r --tag ''", "tag"),
            ("a query's id with a blank",
             "search text --collection {docs} --queries {in} --run {out}",
             'found a query\'s id "a query", expected one word', b"a query\tred\n"),
            ("a query's id that is a comment in a run",
             "search text --collection {docs} --queries {in} --run {out}",
             'found a query\'s id "#", expected one word as a column of the run, because # begins a comment',
             b"1\tblue\n#\tred\n"),
            ("a document's id with a blank",
             "search text --collection {in} --queries {q} --pad --run {out}",
             'found a document\'s id "a document", expected one word', b"a document\tred\n"),
        ]
        for option in ("--stop-words none", "--stemmer none", "--no-fold", "--no-numbers",
                       "--min-length 2", "--max-length 9", "--min-documents 2", "--max-share .5",
                       "--weights bm25", "--tf raw", "--weighting ltc.ltc", "--k1 1", "--b 0"):
            rows.append((f"{option} of an index", opened + option,
                         option.split()[0] + " cannot be combined with --index without --collection"))
        for option in ("--out {out}", "--run {out}", "--votes majority", "--k 3", "--metric l2",
                       "--engine mt", "--tag mine", "--votes majority --classes {out}",
                       "--launch-queries 2", "--balance intra", "--pad"):
            rows.append((f"{option} without queries",
                         "search text --collection {docs} --index {docs}.i " + option,
                         option.split()[0] + " needs --queries"))
        self.check_wrong_usage(rows, files)

    def test_groups_are_for_fish_alone(self):
        docs = self.file("docs", self.DOCS)
        line = ["search", "text", "--collection", docs, "--queries", docs, "--out", "o", "--device",
                "cpu", "--engine", "fish", "--launch-queries", 2, "--balance"]
        known = [row["engine"] for row in self.told("engines", "--json")]
        if "fish" in known:
            self.expect(4, *line, "intra", message="engine fish")
            self.expect(2, *line, "outer", message="found balance 'outer', expected inter, intra")
        else:
            self.expect(2, *line, "intra", message="found engine 'fish', expected one of auto, tiles, mt")
        self.assertEqual(os.listdir(self.folder), ["docs"])

    def test_an_empty_path(self):
        docs = self.file("docs", self.DOCS)
        needed = {"--collection": docs, "--queries": docs, "--out": "o", "--votes": "majority"}
        for option in ("--collection", "--queries", "--index", "--out", "--run", "--classes"):
            words = {**needed, option: ""}
            self.expect(2, "search", "text", *(word for pair in words.items() for word in pair),
                        message=f"{option}: found an empty path")
        self.assertEqual(os.listdir(self.folder), ["docs"])

    def test_what_is_wrong_is_found_before_an_old_index_goes(self):
        docs = self.file("docs", self.DOCS)
        queries = self.file("q", b"q\tred\n")
        index = self.file("index", OLD)
        line = ["search", "text", "--collection", docs, "--index", index, "--queries"]
        for code, words in ((2, [queries, "--out", queries]), (2, [queries, "--votes", "loud"]),
                            (2, [queries, "--metric", "far"]),
                            (1, [queries, "--out", "absent/o"]),
                            (1, [queries, "--run", "absent/r", "--out", "o"]),
                            (1, [queries, "--votes", "majority", "--out", "o", "--classes",
                                 "absent/c"])):
            with self.subTest(words=words):
                self.expect(code, *line, *words)
                self.assertEqual(index.read_bytes(), OLD)
                self.assertEqual(queries.read_bytes(), b"q\tred\n")
        self.assertEqual(sorted(os.listdir(self.folder)), ["docs", "index", "q"])

    def test_ids_with_a_hash_come_back_from_a_run(self):
        docs = self.file("docs", b"#2\tblue\n#\tred\n")
        asked = self.file("asked", b"#1\tblue\n2\tred\n")
        line = ["search", "text", "--collection", docs, "--queries", asked, "--run", "r", "--out", "o"]
        self.expect(2, *line, message='found a document\'s id "#", expected one word')
        docs.write_bytes(b"#1\tred\n#2\tblue\n")
        self.expect(0, *line)
        qrels = self.file("qrels", b"# judged\n#1 0 #2 1\n2 0 #1 1\n")
        done = self.expect(0, "evaluate", "--qrels", qrels, "--run", "r", "--metrics", "P@1")
        self.assertIn("2 queries", done.stdout.decode())
        self.assertNotIn(b"warning", done.stderr)

    def test_columns_cannot_be_broken(self):
        """A tab or a line break in an id would make another line of it."""
        docs = self.file("docs", b'{"id": "a\\tb", "label": "x\\ty", "text": "red"}\n'
                                 b'{"id": "c", "label": "z", "text": "blue"}\n')
        fine = self.file("fine", b'{"id": "q", "text": "blue"}\n')
        line = ["search", "text", "--collection", docs, "--queries"]
        self.expect(0, *line, fine, "--k", 1, "--out", "o")
        (self.folder / "o").unlink()
        self.expect(2, *line, fine, "--k", 2, "--pad", "--out", "o",
                    message="--out: found a document's id")
        asked = self.file("asked", b'{"id": "q\\nr", "text": "blue"}\n')
        self.expect(2, *line, asked, "--k", 1, "--out", "o", message="--out: found a query's id")
        red = self.file("red", b'{"id": "q", "text": "red"}\n')
        docs.write_bytes(docs.read_bytes().replace(b"a\\tb", b"a"))
        self.expect(0, *line, red, "--k", 1, "--out", "o")
        (self.folder / "o").unlink()
        self.expect(2, *line, red, "--k", 1, "--out", "o", "--votes", "majority", "--classes", "c",
                    message="--classes: found a class")
        self.assertEqual(sorted(os.listdir(self.folder)), ["asked", "docs", "fine", "red"])

    def test_an_output_within_the_folder_that_is_read(self):
        """The next run would take it for a document."""
        (self.folder / "docs" / "deep").mkdir(parents=True)
        self.file("docs/1", b"red")
        self.file("docs/deep/2", b"blue")
        (self.folder / "link").symlink_to("docs/deep")
        asked = self.file("q", b"q\tred\n")
        line = ["search", "text", "--collection", "docs", "--queries", asked, "--out"]
        for words in (["docs/o"], ["docs/deep/o"], ["link/o"], ["o", "--run", "docs/r"],
                      ["o", "--index", "./docs/i"], ["o", "--votes", "majority", "--classes",
                                                     "docs/c"], ["o", "--manifest", "docs/m"]):
            with self.subTest(words=words):
                self.expect(2, *line, *words, message=" is inside --collection docs, expected a different")
        self.expect(2, "search", "text", "--collection", asked, "--queries", "docs", "--out",
                    "docs/o", message="--out docs/o is inside --queries docs")
        self.expect(0, *line, "docs.o")
        self.assertEqual(sorted(files(self.folder)), ["docs.o", "docs/1", "docs/deep/2", "q"])

    def test_what_a_folder_has_beside_files_is_reported(self):
        (self.folder / "docs").mkdir()
        self.file("docs/1", b"red")
        asked = self.file("q", b"q\tred\n")
        line = ["search", "text", "--collection", "docs", "--queries", asked, "--out", "o"]
        self.assertNotIn(b"warning", self.expect(0, *line).stderr)
        (self.folder / "docs" / "2").symlink_to("nowhere")
        os.mkfifo(self.folder / "docs" / "0")
        warning = ("rulerank: warning: docs: left out 2 of 3 entries, which are not regular files (links to folders, "
                   'broken links, pipes); the first is "0"\n')
        self.assertEqual(self.expect(0, *line).stderr.decode().count(warning), 1)
        (self.folder / "docs" / "1").unlink()
        self.expect(3, *line, message="docs: found no files in the folder, expected documents")

    def test_votes_need_labels(self):
        docs = self.file("docs", self.DOCS)
        self.expect(2, "search", "text", "--collection", docs, "--queries", docs, "--votes",
                    "majority", "--out", "o", message="--votes: found no document with a label")
        self.assertEqual(os.listdir(self.folder), ["docs"])
        # Documents without one do not vote; queries that none votes for have no class.
        mixed = self.file("mixed", b"1\t\tred red\n2\tx\tred\n3\t\tblue\n4\ty\tred fish\n")
        asked = self.file("asked", b"a\tx\tred\nb\ty\tblue\nc\t\tred\n")
        for votes in ("majority", "similarity"):
            line = ["--labels", "--collection", mixed, "--queries", asked, *PLAIN, "--votes", votes,
                    "--out", "o", "--classes", "c", "--json", "--k"]
            for k, classes, accuracy in ((1, "a\tx\t\nb\ty\t\nc\t\t\n", 0),
                                         (2, "a\tx\tx\nb\ty\t\nc\t\tx\n", .5),
                                         (4, "a\tx\tx\nb\ty\t\nc\t\tx\n", .5)):
                done = self.expect(0, "search", "text", *line, k, "--quiet")
                self.assertEqual((self.folder / "c").read_text(), classes)
                summary = json.loads(done.stdout)
                self.assertEqual([summary["queries"], summary["accuracy"]], [3, accuracy])
        for name in ("mixed", "asked", "o", "c"):
            (self.folder / name).unlink()
        # Queries need none; then nobody knows how good the classes are.
        labelled = self.file("labelled", b'{"id": 1, "label": "x", "text": "red"}\n'
                             b'{"id": 2, "label": "y", "text": "sea"}\n')
        done = self.expect(0, "search", "text", "--collection", labelled, "--queries", docs,
                           "--votes", "majority", "--out", "o", "--classes", "c", "--json")
        self.assertNotIn("accuracy", json.loads(done.stdout))
        self.assertNotIn(b"accuracy", done.stderr)
        self.assertEqual((self.folder / "c").read_bytes(), b"1\t\tx\n2\t\t\n")


class Half(Search):
    """An interrupted command leaves the old files, no incomplete file and no additional file."""

    def setUp(self):
        super().setUp()
        self.docs = self.file("docs", b"".join(b"%s\tx\t%s\n" % (id.encode(), text.encode())
                                               for id, text in draw(5000, 3000, 5, 30)))
        self.out = self.folder / "out"
        self.out.mkdir()
        self.names = {"--index": "i", "--out": "n", "--run": "r", "--classes": "c"}

    def has_written(self):
        """Whether an output is in the place of an old file."""
        return any(path.read_bytes() != OLD for path in self.out.glob("[!.]*"))

    def line(self, *outputs):
        words = ["search", "text", "--labels", "--collection", self.docs]
        if outputs != ("--index",):
            words += ["--queries", self.docs, "--k", 3, "--votes", "majority"]
        for option in outputs:
            words += [option, self.out / self.names[option]]
        return [*words, *(["--out", os.devnull] if "--out" not in outputs and "--queries" in words
                          else [])]

    def test_full_disk(self):
        everything = tuple(self.names)
        self.expect(0, *self.line(*everything))
        whole = files(self.out)
        self.assertEqual(sorted(whole), sorted(self.names.values()))
        for outputs in (("--index",), ("--out",), ("--run",), ("--classes",)):
            size = len(whole[self.names[outputs[0]]])
            for limit, old in ((90, {}), (size // 2, {}), (size - 1, {}),
                               (size - 1, {name: OLD for name in self.names.values()})):
                with self.subTest(outputs, limit=limit, old=bool(old)):
                    shutil.rmtree(self.out)
                    self.out.mkdir()
                    for name, data in old.items():
                        (self.out / name).write_bytes(data)
                    self.expect_full_disk(limit, *self.line(*outputs))
                    self.assertEqual(files(self.out), old)
        # Neighbours, run and classes come together or not at all.
        sizes = sorted(len(whole[name]) for name in "nrc")
        self.expect(0, *self.line("--out", "--run", "--classes"))
        for name in self.names.values():
            (self.out / name).write_bytes(OLD)
        for limit in {size - 1 for size in sizes}:
            with self.subTest("together", limit=limit):
                self.expect_full_disk(limit, *self.line("--out", "--run", "--classes"))
                self.assertEqual(set(files(self.out).values()), {OLD})
        self.expect(0, *self.line(*everything))
        self.assertEqual(files(self.out), whole)

    def test_memory_that_is_full(self):
        limit = 1 << 28
        limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))}
        line = ["search", "text", "--threads", 1, "--device", "cpu", "--collection-format", "svmlight",
                "--collection"]
        small = self.file("small", b"0 1:1 2:1\n")
        if self.rulerank(*line, small, "--queries", small, **limited).returncode != 0:
            self.skipTest("the program does not start in 256 MB of addresses (a sanitizer's does "
                          "not)")
        # 4,000,000 columns, each a term of its own.
        many = self.file("many", b"".join(
            b"0 " + b" ".join(b"%d:1" % column for column in range(d * 20000, d * 20000 + 20000))
            + b"\n" for d in range(200)))
        for name in "in":
            (self.out / name).write_bytes(OLD)
        done = self.expect(1, *line, many, "--index", self.out / "i", "--queries", small, "--out",
                           self.out / "n", message="rulerank: error: out of memory\n", **limited)
        self.assertEqual(done.stderr, b"rulerank: error: out of memory\n")
        self.assertEqual(files(self.out), {name: OLD for name in "in"})

    def test_devices_that_are_full(self):
        line = ["search", "text", "--labels", "--collection", self.docs, "--queries", self.docs,
                "--k", 1]
        self.expect(1, *line, "--out", "/dev/full", message="/dev/full: cannot be written: No space")
        with open("/dev/full", "wb") as full:
            self.expect(1, *line, stdout=full, message="standard output: cannot be written: No space")
            self.expect(1, *line, "--out", "n", "--json", stdout=full, message="standard output")

    def run_until(self, line, feed, end):
        """Starts a line, feeds it some of its standard input, and ends it while it waits for more."""
        self.expect_stopped(self.start_fed(feed, *line), end)

    def test_ends_while_it_waits_for_documents_and_queries(self):
        text = self.docs.read_bytes()
        half = text[:len(text) // 2]
        docs = ["--collection", "-", "--index", self.out / "i"]
        asked = ["--collection", self.docs, "--queries", "-", "--out", self.out / "n", "--run",
                 self.out / "r", "--votes", "majority", "--classes", self.out / "c", "--k", 5]
        for line, feed in ((docs, half), (asked, half), (asked, text)):  # text: over 4,096 queries
            for end in (signal.SIGINT, signal.SIGKILL):
                for old in ({}, {name: OLD for name in self.names.values()}):
                    with self.subTest(line=line[0:2], end=end, old=bool(old)):
                        for name, data in old.items():
                            (self.out / name).write_bytes(data)
                        self.run_until(["search", "text", "--labels", *line], feed, end)
                        self.assertEqual(files(self.out), old)
                        shutil.rmtree(self.out)
                        self.out.mkdir()

    def test_ends_while_it_indexes(self):
        lines = tsv(draw(4000, 5000, 7, 60)).splitlines(keepends=True)
        docs = self.file("many", b"".join(b"%d-%s" % (copy, line) for copy in range(100)
                                          for line in lines))
        outputs = {name: OLD for name in "in"}

        def begin(share):
            shutil.rmtree(self.out)
            self.out.mkdir()
            for name, data in outputs.items():
                (self.out / name).write_bytes(data)
            process = self.start("search", "text", "--collection", docs, "--index",
                                 self.out / "i", "--queries", self.docs, "--out",
                                 self.out / "n", "--threads", "1")
            self.let_work(process, .6 * share)
            return process

        for end in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(end=end):
                self.expect_stopped(self.held_at_work(begin, self.has_written), end)
                self.assertEqual(files(self.out), outputs)

    def test_ends_while_it_searches(self):
        docs = self.file("many", tsv(draw(40000, 5000, 6, 60)))
        index = self.folder / "index"
        self.expect(0, "search", "text", "--collection", docs, "--index", index)
        outputs = {name: OLD for name in "nr"}

        def begin(share):
            shutil.rmtree(self.out)
            self.out.mkdir()
            for name, data in outputs.items():
                (self.out / name).write_bytes(data)
            process = self.start("search", "text", "--index", index, "--queries", docs,
                                 "--engine", engine, "--k", "1000", "--out",
                                 self.out / "n", "--run", self.out / "r", "--threads", "1")
            self.let_work(process, .7 * share)
            return process

        for engine in ("mt", "tiles"):
            for end in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
                with self.subTest(engine, end=end):
                    self.expect_stopped(self.held_at_work(begin, self.has_written), end)
                    self.assertEqual(files(self.out), outputs)


class RealData(Search):
    def test_cranfield(self):
        data = self.real("text/cranfield")
        line = ["search", "text", "--collection", data / "cran.all.1400", "--queries", data / "cran.qry",
                "--number-by-position", "--weights", "bm25", "--metric", "ip", "--k", 1000, "--out", "n"]
        self.expect(0, *line, "--run", "run", "--pad")
        self.expect(0, *line, "--run", "matches")
        grades = (data / "QRelsCorrectedforTRECeval").read_text()
        lines = [line.split() for line in grades.splitlines()]
        self.file("qrels", "".join(f"{q} {i} {d} {0 if grade == '5' else grade}\n"
                                   for q, i, d, grade in lines).encode())
        # The collection's own file has three columns, and 1 for the best; MAP sees no grades.
        # Some relevant documents share no term with their query.
        for run, qrels, expected in (
                ("run", "qrels", {"MAP": .3175, "NDCG@10": .3744, "recall@1000": .9736}),
                ("run", data / "cranqrel", {"MAP": .3175}),
                ("matches", "qrels", {"MAP": .3173, "NDCG@10": .3744, "recall@1000": .9495})):
            shown = self.expect(0, "evaluate", "--qrels", qrels, "--run", run, "--profile", "trec",
                                "--metrics", "MAP,NDCG@10,recall@1000", "--format",
                                "tsv").stdout.decode()
            of = dict(zip(*(line.split("\t") for line in shown.splitlines()
                            if line.startswith(("system\t", run + "\t")))))
            for measure, value in expected.items():
                self.assertAlmostEqual(float(of[measure]), value, delta=.00005)

    def test_r8(self):
        data = self.real("text/r8")
        parts = {name: (data / f"{name}.txt").read_text().splitlines() for name in ("train", "test")}
        for name, lines in parts.items():
            self.file(name, "".join(f"{n}\t{line}\n" for n, line in enumerate(lines)).encode())
        for options, accuracy in ((["--tf", "raw", "--pad"], .8524), (["--tf", "raw"], .8524), ([], .9575), (["--tf", "log"], .8666)):
            done = self.expect(0, "search", "text", "--labels", "--collection", "train", "--queries",
                               "test", "--k", 10, "--votes", "similarity", "--out", "n", "--json", *options)
            self.assertAlmostEqual(json.loads(done.stdout)["accuracy"], accuracy, delta=.00005)


if __name__ == "__main__":
    harness.main()

"""The verb vectors: latent semantic vectors of documents and topics, refused options, and files after errors."""

import ast
import json
import math
import random
import struct

import harness
from harness import Row

WORDS = ["air", "layer", "flow", "heat", "wing", "shock", "wave", "plate", "jet", "drag"]


def npy(path):
    """(type, rows) of a .npy file of two dimensions."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10:10 + length].decode())
    rows, columns = header["shape"]
    kind = {"<f4": "f", "<f8": "d"}[header["descr"]]
    values = struct.unpack(f"<{rows * columns}{kind}", data[10 + length:])
    return header["descr"], [values[r * columns:(r + 1) * columns] for r in range(rows)]


def drawn(documents):
    draw = random.Random(4)
    return "".join(f"D{d}\t{' '.join(draw.choice(WORDS) for _ in range(6))}\n"
                   for d in range(documents)).encode()


class Vectors(harness.CommandLine):
    def vectors(self, *words, **options):
        return self.expect(0, "vectors", "--stemmer", "none", "--stop-words", "none", *words, **options)

    def near(self, found, expected, within=1e-12):
        self.assertEqual(len(found), len(expected))
        for row, of in zip(found, expected):
            self.assertEqual(len(row), len(of))
            for value, of_one in zip(row, of):
                self.assertAlmostEqual(value, of_one, delta=within)

    def test_by_hand(self):
        # Counts, not normalized: the rows (a b) = (3, 0) and (4, 5), whose decomposition is in
        # latent_space_test.cpp: V is (1, 1) and (1, -1) over the root of 2.
        docs = self.file("docs", b"1\ta a a\n2\ta a a a b b b b b\n")
        topics = self.file("topics", b"t\tb\nu\tzebra\nv\ta b\n")
        done = self.vectors("--collection", docs, "--weighting", "nnn.nnn", "--dimensions", 2, "--out",
                            "d.npy", "--ids-out", "ids", "--topics", topics, "--topics-out", "t.npy",
                            "--topic-ids-out", "tids", "--fold-in", topics, "--fold-in-out", "f.npy",
                            "--element", "f64", "--json")
        half = 1 / math.sqrt(2)
        kind, rows = npy(self.folder / "d.npy")
        self.assertEqual(kind, "<f8")
        self.near(rows, [(half, half), (9 / math.sqrt(82), -1 / math.sqrt(82))])
        expected = [(half, -half), (0, 0), (1, 0)]
        self.near(npy(self.folder / "t.npy")[1], expected)
        self.near(npy(self.folder / "f.npy")[1], expected)
        self.assertEqual((self.folder / "ids").read_text(), "1\n2\n")
        self.assertEqual((self.folder / "tids").read_text(), "t\nu\nv\n")
        self.vectors(docs, "--weighting", "nnn.nnn", "--dimensions", 2, "--out", "p.npy", "--element", "f64")
        self.assertEqual((self.folder / "p.npy").read_bytes(), (self.folder / "d.npy").read_bytes())
        summary = json.loads(done.stdout)
        self.assertEqual({key: summary[key] for key in ("documents", "terms", "topics", "folded_in",
                                                        "dimensions")},
                         {"documents": 2, "terms": 2, "topics": 3, "folded_in": 3, "dimensions": 2})
        self.assertAlmostEqual(summary["largest_singular_value"], math.sqrt(45))
        self.assertAlmostEqual(summary["smallest_singular_value"], math.sqrt(5))

    def test_the_documents_themselves_fold_in_to_their_rows(self):
        docs = self.file("docs", drawn(100))
        self.vectors("--collection", docs, "--dimensions", 4, "--out", "d.npy", "--fold-in", docs,
                     "--fold-in-out", "f.npy", "--fold-in-ids-out", "ids", "--topics", docs,
                     "--topics-out", "t.npy",
                     message="rulerank: wrote 100 documents and 100 topics as vectors of 4 dimensions to d.npy")
        rows = (self.folder / "d.npy").read_bytes()
        self.assertEqual(rows, (self.folder / "f.npy").read_bytes())
        self.assertEqual(rows, (self.folder / "t.npy").read_bytes())
        self.assertEqual(npy(self.folder / "d.npy")[0], "<f4")
        for row in npy(self.folder / "d.npy")[1]:
            self.assertAlmostEqual(sum(x * x for x in row), 1, delta=1e-6)

    def test_threads_change_no_byte(self):
        docs = self.file("docs", drawn(3000))
        for threads in (1, 3):
            self.vectors("--collection", docs, "--dimensions", 3, "--out", f"{threads}.npy",
                         "--threads", threads, "--quiet")
        self.assertEqual((self.folder / "1.npy").read_bytes(), (self.folder / "3.npy").read_bytes())

    def test_a_search_in_them(self):
        docs = self.file("docs", drawn(50))
        self.vectors("--collection", "-", "--dimensions", 5, "--out", "d.npy", input=docs.read_bytes(),
                     message="50 documents")
        found = self.expect(0, "search", "dense", "--collection", "d.npy", "--queries", "d.npy",
                            "--metric", "cosine", "--k", 1).stdout.decode().splitlines()
        self.assertEqual(len(found), 50)
        self.assertTrue(all(abs(float(line.split("\t")[3]) - 1) < 1e-6 for line in found))

    def test_bad_input(self):
        docs = self.file("docs", drawn(9))
        start = f"vectors --collection {docs} --out {{out}}.npy "
        self.check_rows([
            Row("no output", drawn(9), "vectors --collection {in}", 2, "--out is required"),
            Row("no collection", b"", "vectors --out {out}", 2, "--collection is required"),
            Row("standard output", drawn(9), "vectors --collection {in} --out -", 2,
                "--out: found -, expected a name that ends with .npy, .fvecs or .fbin"),
            Row("no format", drawn(30), "vectors --collection {in} --out {out} --dimensions 2", 2,
                "/out, expected a name that ends with .npy, .fvecs or .fbin"),
            Row("f64", drawn(30), "vectors --collection {in} --out {out}.fvecs --dimensions 2 --element f64",
                2, "out.fvecs, expected a name that ends with .npy for f64"),
            Row("k1 of no bm25", b"", start + "--k1 2", 2, "--k1 needs --weights bm25"),
            Row("topics alone", b"t\tair\n", start + "--topics {in}", 2, "--topics needs --topics-out"),
            Row("output alone", b"", start + "--topics-out t.npy", 2, "--topics-out needs --topics"),
            Row("ids alone", b"", start + "--fold-in-ids-out t", 2, "--fold-in-ids-out needs --fold-in"),
            Row("the same output twice", b"t\tair\n", start + "--topics {in} --topics-out {out}.npy", 2,
                "expected different files"),
            Row("dimensions of 0", b"", start + "--dimensions 0", 2, "--dimensions"),
            Row("too many dimensions", b"", start + "--dimensions 2049", 2, "--dimensions"),
            Row("more than the rank", b"", start + "--dimensions 10", 2,
                "found 10 latent dimensions, expected at most 9, the rank"),
            Row("rank", b"1\tair\n2\tair\n3\tflow flow\n",
                "vectors --collection {in} --out {out}.npy --dimensions 3", 2, "expected at most 2, the rank"),
            Row("rank below the smaller side", b"1\tair flow\n2\tair flow\n3\tboat\n",
                "vectors --collection {in} --out {out}.npy --dimensions 9", 2, "expected at most 2, the rank"),
            Row("no terms", b"1\tthe\n2\tof\n", "vectors --collection {in} --out {out}.npy --dimensions 1", 2,
                "expected at most 0, the rank"),
            Row("weights twice", b"", start + "--weighting ltc.ltc --weights bm25", 2,
                "--weights cannot be combined with --weighting"),
            Row("documents", b"no tab\n", "vectors --collection {in} --out {out}.npy", 3, "{in}:1:"),
            Row("topics", b"t\tair\nt\tjet\n", start + "--topics {in} --topics-out t.npy --dimensions 2", 3,
                "{in}:2:"),
        ])


if __name__ == "__main__":
    harness.main()

"""A collection in parts over MPI ranks: --over-ranks collection, and indexes in parts."""

import random
import struct

import harness
from over_ranks import RANKS, OverRanks, documents, fvecs, labels, words


class SplitCollections(OverRanks):
    """--over-ranks collection: each rank has a part of the collection."""

    SPLIT = ["--over-ranks", "collection"]

    def expect_same_index(self, collection, queries, *outputs, refused=()):
        """An index in parts, made by 3 ranks, is searched as the collection is by one process."""
        for name in outputs:
            (self.folder / name).unlink(missing_ok=True)
        self.expect(0, *collection, *queries)
        expected = {name: (self.folder / name).read_bytes() for name in outputs}
        self.assertTrue(all(expected.values()))
        made = self.over_ranks(3, *collection, "--index", "index", *queries)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(sorted(path.name for path in self.folder.glob("index*")),
                         ["index", "index.part0", "index.part1", "index.part2"])
        def same():
            for name in outputs:
                self.assertEqual((self.folder / name).read_bytes(), expected[name], name)
                (self.folder / name).unlink()
        same()
        for ranks, more in ((1, ()), (2, ()), (5, ()), (2, ("--over-ranks", "queries"))):
            with self.subTest(ranks=ranks, more=more):
                done = self.over_ranks(ranks, *collection[:2], "--index", "index", *queries, *more)
                self.assertEqual(done.returncode, 0, done.stderr)
                same()

    def test_text(self):
        self.needs_mpi()
        self.file("docs.tsv", documents(1, 60))
        self.file("topics.tsv", documents(2, 13))
        self.file("some.txt", "".join(f"1-{d}\n" for d in range(0, 60, 3)).encode())
        line = ["search", "text", "--collection", "docs.tsv", "--queries", "topics.tsv", "--k", 7, *self.SPLIT,
                "--out", "near.txt", "--run", "near.run"]
        for more, ranks in (([], RANKS), (["--pad", "--metric", "l2"], (3,)), (["--weights", "bm25"], (2,)),
                            (["--engine", "mt", "--weighting", "ntc.nnc"], (5,)),
                            (["--correct", "--min-documents", 2], (3,)), (["--filter", "some.txt"], (3,)),
                            (["--filter", "some.txt", "--metric", "l2"], (2,))):
            self.expect_same_bytes([*line, *more], "near.txt", "near.run", over=ranks)
        # A rank without documents agrees with the others.
        self.file("few.tsv", documents(1, 3) + b"1-3\t\n")
        self.file("two.txt", b"1-0\n1-3\n")
        for more in (["--radius", .5], ["--filter", "two.txt"], ["--filter", "two.txt", "--metric", "l2"]):
            self.expect_same_bytes(["search", "text", "--collection", "few.tsv", "--queries", "topics.tsv", *more, *self.SPLIT, "--out", "near.txt"],
                                   "near.txt", over=(3, 6))
        self.file("unknown.txt", b"1-1\n1-99\n1-98\n")
        done = self.over_ranks(3, *line, "--filter", "unknown.txt")
        self.assertEqual(done.returncode, 3)
        self.assertIn(b'unknown.txt:2:1: found "1-99", expected the id of a document', done.stderr)
        self.expect_same_index(["search", "text", "--collection", "docs.tsv"],
                               ["--queries", "topics.tsv", "--k", 9, "--out", "near.txt"], "near.txt")

    def test_text_votes(self):
        self.needs_mpi()
        draw = random.Random(3)
        for name, count in (("docs.tsv", 40), ("topics.tsv", 9)):
            self.file(name, "".join(f"{d}\t{draw.choice('ab')}\t{' '.join(draw.choices('red blue green old'.split(), k=4))}\n"
                                    for d in range(count)).encode())
        self.expect_same_bytes(["search", "text", "--collection", "docs.tsv", "--queries", "topics.tsv", "--labels",
                                "--votes", "similarity", "--classes", "classes.txt", "--out", "near.txt", *self.SPLIT],
                               "classes.txt", "near.txt", over=(2, 3))

    def test_dense(self):
        self.needs_mpi()
        self.file("base.fvecs", fvecs(1, 50))
        self.file("asked.fvecs", fvecs(2, 12))
        self.file("allowed.txt", "".join(f"{row}\n" for row in range(0, 50, 3)).encode())
        self.file("base.idx", labels(1, 50))
        self.file("ids.txt", "".join(f"{1000 - row}\n" for row in range(50)).encode())
        collection = ["search", "dense", "--collection", "base.fvecs"]
        line = [*collection, "--queries", "asked.fvecs", *self.SPLIT]
        self.expect_same_bytes([*line, "--k", 6, "--out", "near.txt", "--run", "near.run"], "near.txt", "near.run")
        self.expect_same_bytes([*line, "--k", 60, "--metric", "ip", "--out", "near.ivecs", "--values", "near.fvecs"],
                               "near.ivecs", "near.fvecs", over=(3,))
        self.expect_same_bytes([*line, "--radius", 4, "--filter", "allowed.txt", "--out", "near.txt"], "near.txt",
                               over=(2, 5))
        self.expect_same_bytes([*line, "--metric", "cosine", "--votes", "majority", "--labels", "base.idx",
                                "--classes", "classes.txt", "--ids", "ids.txt", "--out", "near.txt"],
                               "classes.txt", "near.txt", over=(3,))
        self.expect_same_index(collection, ["--queries", "asked.fvecs", "--k", 60, "--out", "near.txt"], "near.txt")
        for part in self.folder.glob("index*"):
            part.unlink()
        # Ids that the parts keep.
        self.file("allowed-ids.txt", "".join(f"{1000 - row}\n" for row in range(0, 50, 3)).encode())
        asked = ["--queries", "asked.fvecs", "--k", 9, "--filter", "allowed-ids.txt", "--out", "near.txt"]
        self.expect(0, *collection, *asked, "--ids", "ids.txt")
        expected = (self.folder / "near.txt").read_bytes()
        self.assertEqual(self.over_ranks(3, *collection, "--ids", "ids.txt", "--index", "index").returncode, 0)
        for ranks in (1, 2):
            self.assertEqual(self.over_ranks(ranks, "search", "dense", "--index", "index", *asked).returncode, 0)
            self.assertEqual((self.folder / "near.txt").read_bytes(), expected)

    def test_metric(self):
        self.needs_mpi()
        self.file("base.txt", words(1, 300))
        self.file("asked.txt", words(2, 259))
        self.file("base.fvecs", fvecs(1, 50))
        self.file("asked.fvecs", fvecs(2, 12))
        collection = ["search", "metric", "--collection", "base.txt", "--metric", "edit"]
        line = [*collection, "--queries", "asked.txt", *self.SPLIT, "--out", "near.txt"]
        self.expect_same_bytes([*line, "--k", 4], "near.txt")
        for more in (["--radius", 2, "--index-type", "lc"], ["--k", 3, "--index-type", "mvpt"],
                     ["--k", 3, "--index-type", "sss", "--schedule", "local"]):
            self.expect_same_bytes([*line, *more], "near.txt", over=(3,))
        for metric in ("l2", "angular"):
            self.expect_same_bytes(["search", "metric", "--collection", "base.fvecs", "--queries", "asked.fvecs",
                                    "--metric", metric, "--k", 5, *self.SPLIT, "--out", "near.txt"], "near.txt",
                                   over=(2, 5))
        self.expect_same_index(collection, ["--queries", "asked.txt", "--k", 3, "--out", "near.txt"], "near.txt")

    def test_mpi_knn(self):
        self.needs_mpi()
        self.file("base.fvecs", fvecs(1, 50))
        self.file("asked.fvecs", fvecs(2, 12))
        line = ["search", "dense", "--collection", "base.fvecs", "--queries", "asked.fvecs", "--out", "near.txt"]
        self.expect_same_bytes([*line, "--engine", "mpi-knn"], "near.txt", over=(3,))
        found = (self.folder / "near.txt").read_bytes()
        self.expect(0, *line)  # by flat; floats hold whole numbers, so nothing is rounded
        self.assertEqual((self.folder / "near.txt").read_bytes(), found)
        self.expect_failure(self.over_ranks(2, *line, "--engine", "mpi-knn", *self.SPLIT), 2,
                            "--engine mpi-knn cannot search a collection in parts, expected flat")

    def test_sixteen_ranks(self):
        self.needs_mpi()
        self.file("base.fvecs", fvecs(1, 10))  # fewer rows than ranks
        self.expect_same_bytes(["search", "dense", "--collection", "base.fvecs", "--queries", "base.fvecs",
                                *self.SPLIT, "--out", "near.txt"], "near.txt", over=(16,))

    def test_real_text(self):
        self.needs_mpi()
        folder = self.real("text", "cranfield")
        self.expect_same_bytes(["search", "text", "--collection", folder / "cran.all.1400", "--queries",
                                folder / "cran.qry", "--number-by-position", *self.SPLIT, "--out", "near.txt",
                                "--run", "near.run"], "near.txt", "near.run", over=(3,))

    def test_real_vectors(self):
        self.needs_mpi()
        images = self.real("dense", "mnist", "t10k-images-idx3-ubyte")
        data = images.read_bytes()
        self.file("asked-idx3-ubyte", data[:4] + struct.pack(">I", 20) + data[8:16 + 20 * 784])
        self.expect_same_bytes(["search", "dense", "--collection", images, "--queries", "asked-idx3-ubyte", "--k", 10,
                                *self.SPLIT, "--out", "near.txt"], "near.txt", over=(3,))

    def test_real_words(self):
        self.needs_mpi()
        dictionary = self.real("metric", "dictionaries", "Spanish.dic")
        self.file("asked.txt", b"".join(dictionary.read_bytes().splitlines(True)[::3000]))
        self.expect_same_bytes(["search", "metric", "--collection", dictionary, "--queries", "asked.txt", "--metric",
                                "edit", "--radius", 2, *self.SPLIT, "--out", "near.txt"], "near.txt", over=(3,))

    def test_damaged_parts(self):
        self.needs_mpi()
        self.file("base.fvecs", fvecs(1, 20))
        self.file("more.fvecs", fvecs(2, 20))
        for name in ("base", "more"):
            made = self.over_ranks(2, "search", "dense", "--collection", f"{name}.fvecs", "--index", name)
            self.assertEqual(made.returncode, 0, made.stderr)
        line = ["search", "dense", "--index", "base", "--queries", "base.fvecs", "--out", "out.txt"]
        part = self.folder / "base.part1"
        whole = part.read_bytes()
        for damaged, message in (((self.folder / "more.part1").read_bytes(), "base.part1:1:1: this part of the index was not written"),
                                 (whole[:70] + b"\x7f" + whole[71:], "base.part1:1:1: rows of this index are damaged"),
                                 (None, "base.part1: cannot be read: No such file")):
            part.unlink()
            if damaged is not None:
                part.write_bytes(damaged)
            self.expect_failure(self.rulerank(*line), 3, message)
            done = self.over_ranks(3, *line)
            self.expect_failure(done, 3, f"rank 1: {message}")
            self.assertEqual(self.outputs_left(), [])
        listed = self.folder / "base"
        listed.write_bytes(listed.read_bytes().replace(b'"items":20', b'"items":21'))
        self.expect_failure(self.over_ranks(2, *line), 3, "base:1:1: this list of an index's parts is damaged")

    def test_what_cannot_be_split(self):
        self.needs_mpi()
        self.file("docs.tsv", documents(1, 9))
        self.file("rows.txt", b"1 1:1\n2 2:1\n")
        self.file("base.fvecs", fvecs(1, 20))
        self.expect(0, "search", "dense", "--collection", "base.fvecs", "--index", "one", "--quiet")
        for line, message in (
                (["search", "dense", "--index", "one", "--queries", "base.fvecs", *self.SPLIT],
                 "--over-ranks collection: found one in one file, expected an index in parts"),
                (["search", "dense", "--collection", "base.fvecs", "--index", "more", "--over-ranks", "queries"],
                 "--over-ranks queries cannot be combined with --collection and --index"),
                (["search", "text", "--collection", "rows.txt", "--queries", "rows.txt", "--collection-format",
                  "svmlight", *self.SPLIT], "--over-ranks collection cannot be combined with --collection-format svmlight"),
                (["search", "metric", "--collection", "base.fvecs", "--queries", "base.fvecs", "--check-metric",
                  *self.SPLIT], "--check-metric cannot check a collection in parts")):
            self.expect_failure(self.over_ranks(2, *line), 2, message)


if __name__ == "__main__":
    harness.main()

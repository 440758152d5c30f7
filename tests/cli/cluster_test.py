"""The program over MPI ranks: the bytes of one process, and failures that all ranks agree on."""

import contextlib
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import time

import harness

RANKS = (1, 2, 3, 5)
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none"]
# As root in a container, which Open MPI asks about; MPI's own memory is not ours to check for leaks.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_btl": "self,vader",
               "ASAN_OPTIONS": "detect_leaks=0", "OMP_NUM_THREADS": "1"}


def letor(seed, queries, most):
    """Queries of 1 to `most` documents: some ranks have few, some none."""
    draw = random.Random(seed)
    return b"".join(b"%d qid:%d 1:%d 2:%d 3:%.2f # docid = D%d-%d\n"
                    % (draw.randrange(3), q, draw.randrange(9), draw.randrange(5), draw.random(), q, d)
                    for q in range(queries) for d in range(draw.randint(1, most)))


def fvecs(seed, rows):
    draw = random.Random(seed)
    return b"".join(struct.pack("<i8f", 8, *(draw.randrange(7) for _ in range(8))) for _ in range(rows))


def documents(seed, count):
    draw = random.Random(seed)
    return "".join(f"{seed}-{d}\t{' '.join(draw.choices('red blue green warm cold wet dry old'.split(), k=5))}\n"
                   for d in range(count)).encode()


def words(seed, count, length=8):
    draw = random.Random(seed)
    return "".join("".join(draw.choices("abcd", k=draw.randint(3, length))) + "\n"
                   for _ in range(count)).encode()


def labels(seed, count):
    draw = random.Random(seed)
    return struct.pack(">BBBBI", 0, 0, 8, 1, count) + bytes(draw.randrange(3) for _ in range(count))


def real(*names):
    """The path of a file or folder of real data, or None."""
    path = pathlib.Path(os.environ.get("RULERANK_TEST_DATA", "absent"), *names)
    return path if path.exists() else None


class OverRanks(harness.CommandLine):
    def setUp(self):
        super().setUp()
        if shutil.which("mpirun") is None:
            self.skipTest("needs mpirun of Open MPI")
        self.has_mpi = b"\nMPI none\n" not in self.rulerank("--version").stdout

    def needs_mpi(self):
        if not self.has_mpi:
            self.skipTest("needs a build with MPI")

    def job(self, ranks, *line, program=None):
        return [*MPIRUN, "-n", str(ranks), *(program or [harness.PROGRAM]), *map(str, line)]

    def over_ranks(self, ranks, *line, program=None):
        return subprocess.run(self.job(ranks, *line, program=program), cwd=self.folder, env=ENVIRONMENT,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)

    def expect_same_bytes(self, line, *outputs, message=True, over=RANKS):
        """What one process writes, from any number of ranks."""
        for name in outputs:
            (self.folder / name).unlink(missing_ok=True)
        one = self.expect(0, *line)
        expected = {name: (self.folder / name).read_bytes() for name in outputs}
        self.assertTrue(any(expected.values()) or one.stdout)
        for ranks in over:
            with self.subTest(line=line[:2], ranks=ranks):
                for name in outputs:
                    (self.folder / name).unlink()
                done = self.over_ranks(ranks, *line)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout, one.stdout)
                for name in outputs:
                    self.assertEqual((self.folder / name).read_bytes(), expected[name], name)
                if message:
                    self.assertEqual(done.stderr.count(b"rulerank: "), one.stderr.count(b"rulerank: "))

    def files_of(self, folder):
        return {path.relative_to(self.folder / folder).as_posix(): path.read_bytes()
                for path in (self.folder / folder).rglob("*") if path.is_file() and path.name != "manifest.json"}

    def expect_same_folder(self, line, folder, ranks=RANKS):
        """What one process writes into --out-dir, from any number of ranks."""
        one = self.expect(0, *line, "--out-dir", "one")
        expected = self.files_of("one")
        self.assertTrue(expected)
        for count in ranks:
            with self.subTest(line=line[:2], ranks=count):
                done = self.over_ranks(count, *line, "--out-dir", f"{folder}{count}")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout, one.stdout)
                self.assertEqual(self.files_of(f"{folder}{count}"), expected)

    def expect_failure(self, done, code, message):
        """One message, by the first rank, and nobody's output."""
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.count(b"rulerank: error: "), 1, done.stderr)
        self.assertIn(message, done.stderr.decode())

    def each_in_its_folder(self, files):
        """A program that starts rank R in the folder rR, with files[R] as the files there."""
        for rank, contents in enumerate(files):
            (self.folder / f"r{rank}").mkdir()
            for name, data in contents.items():
                (self.folder / f"r{rank}" / name).write_bytes(data)
        return ["sh", "-c", 'cd "r$OMPI_COMM_WORLD_RANK" && exec "$0" "$@"', harness.PROGRAM]

    def outputs_left(self, name="out.txt"):
        return [path for path in self.folder.rglob("*") if path.name == name or ".partial-" in path.name]

    def is_running(self, process):
        try:
            return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    def of_folder(self):
        """The processes that work in the test's folder."""
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if pathlib.Path(os.readlink(process / "cwd")) == self.folder.resolve():
                    yield int(process.name)

    def ranks_of(self, job, count):
        """The processes of a job in the test's folder, by rank."""
        for _ in range(400):
            found = {}
            for process in self.of_folder():
                try:
                    environment = pathlib.Path(f"/proc/{process}/environ").read_bytes()
                except OSError:
                    continue
                if rank := re.search(rb"\0OMPI_COMM_WORLD_RANK=(\d+)\0", environment):
                    found[int(rank[1])] = process
            if len(found) == count:
                return [found[rank] for rank in range(count)]
            self.assertIsNone(job.poll(), "the job ended before its ranks were there")
            time.sleep(0.05)
        self.fail(f"found no {count} ranks of {job.args}")


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
        line = ["search", "text", "--collection", "docs.tsv", "--queries", "topics.tsv", "--k", 7, *self.SPLIT,
                "--out", "near.txt", "--run", "near.run"]
        for more, ranks in (([], RANKS), (["--pad", "--metric", "l2"], (3,)), (["--weights", "bm25"], (2,)),
                            (["--engine", "mt", "--weighting", "ntc.nnc"], (5,)),
                            (["--correct", "--min-documents", 2], (3,))):
            self.expect_same_bytes([*line, *more], "near.txt", "near.run", over=ranks)
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
        asked = ["--queries", "asked.fvecs", "--k", 9, "--out", "near.txt"]
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
                            "--engine mpi-knn of a collection in parts, expected flat")

    def test_sixteen_ranks(self):
        self.needs_mpi()
        self.file("base.fvecs", fvecs(1, 10))  # fewer rows than ranks
        self.expect_same_bytes(["search", "dense", "--collection", "base.fvecs", "--queries", "base.fvecs",
                                *self.SPLIT, "--out", "near.txt"], "near.txt", over=(16,))

    def test_real_text(self):
        self.needs_mpi()
        if not (folder := real("text", "cranfield")):
            self.skipTest("needs text/cranfield in $RULERANK_TEST_DATA")
        self.expect_same_bytes(["search", "text", "--collection", folder / "cran.all.1400", "--queries",
                                folder / "cran.qry", "--number-by-position", *self.SPLIT, "--out", "near.txt",
                                "--run", "near.run"], "near.txt", "near.run", over=(3,))

    def test_real_vectors(self):
        self.needs_mpi()
        if not (images := real("dense", "mnist", "t10k-images-idx3-ubyte")):
            self.skipTest("needs dense/mnist in $RULERANK_TEST_DATA")
        data = images.read_bytes()
        self.file("asked-idx3-ubyte", data[:4] + struct.pack(">I", 20) + data[8:16 + 20 * 784])
        self.expect_same_bytes(["search", "dense", "--collection", images, "--queries", "asked-idx3-ubyte", "--k", 10,
                                *self.SPLIT, "--out", "near.txt"], "near.txt", over=(3,))

    def test_real_words(self):
        self.needs_mpi()
        if not (dictionary := real("metric", "dictionaries", "Spanish.dic")):
            self.skipTest("needs metric/dictionaries in $RULERANK_TEST_DATA")
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
        for damaged, message in (((self.folder / "more.part1").read_bytes(), "base.part1:1:1: found another file"),
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
                 "--over-ranks queries beside --collection and --index"),
                (["search", "text", "--collection", "rows.txt", "--queries", "rows.txt", "--collection-format",
                  "svmlight", *self.SPLIT], "--over-ranks collection beside --collection-format svmlight"),
                (["search", "metric", "--collection", "base.fvecs", "--queries", "base.fvecs", "--check-metric",
                  *self.SPLIT], "--check-metric of a collection in parts")):
            self.expect_failure(self.over_ranks(2, *line), 2, message)


class Cluster(OverRanks):
    def test_rank(self):
        self.needs_mpi()
        self.file("train.txt", letor(1, 12, 12))
        self.file("a.txt", letor(2, 11, 9))
        self.file("b.txt", letor(3, 2, 30))  # fewer queries than ranks
        self.expect_same_bytes(["rank", "--train", "train.txt", "--test", "a.txt", "--rule-size", 3, "--out",
                                "a.out", "--run", "a.run"], "a.out", "a.run")
        self.expect_same_bytes(["rank", "--train", "train.txt", "--test", "a.txt", "--test", "b.txt", "--out",
                                "a.out", "--out", "b.out"], "a.out", "b.out")
        self.expect(0, "fit", "--train", "train.txt", "--model", "model", "--members", "rules", "--quiet")
        self.expect_same_bytes(["rank", "--model", "model", "--test", "b.txt"])  # to standard output

    def fit_model(self, members):
        self.needs_mpi()
        self.file("train.txt", letor(1, 12, 12))
        self.expect(0, "fit", "--train", "train.txt", "--model", "model", "--members", members, "--quiet")

    def test_rank_reads_parts(self):
        """Each rank reads the queries that begin in its share of the bytes, whatever the file."""
        self.fit_model("rules,linear")
        plain = letor(2, 40, 9)
        lines = plain.splitlines(True)
        again = plain.replace(b"D30-1", b"D30-0")  # two documents of a query in a later part
        for name, text in (("plain.txt", plain), ("packed.gz", gzip.compress(plain)),
                           ("crlf.txt", b"# first\r\n\r\n" + plain.replace(b"\n", b"\r\n").rstrip()),
                           ("one.txt", plain.replace(b"qid:", b"qid:1 # ")),  # one query
                           ("none.txt", re.sub(rb"qid:\d+ ", b"", plain)), ("again.txt", again), ("again.gz", gzip.compress(again)),
                           ("table.csv", b"label,qid,1,2\n" + b"".join(b"1,%d,%d,3\n" % (row // 5, row) for row in range(60)))):
            self.file(name, text)
            self.expect_same_bytes(["rank", "--model", "model", "--test", name, "--out", "out", "--run", "run"], "out", "run",
                                   over=(2, 5))
        self.file("apart.txt", b"".join(lines[::2] + lines[1::2]))
        self.expect_same_bytes(["rank", "--model", "model", "--test", "apart.txt", "--regroup", "--out", "out", "--run", "run"],
                               "out", "run", over=(3,))

    def test_rank_names_the_faults_of_one_process(self):
        self.fit_model("rules")
        good = letor(2, 40, 9)
        packed = gzip.compress(good)
        for name, text in (("late.txt", good + b"0 qid:x 1:y\n"), ("early.txt", b"0 qid:x 1:y\n" + good),
                           ("two.txt", good + b"0 qid:0 1:1\n" + good.replace(b"1:", b"1:x")), ("mixed.txt", good + b"0 1:1\n"),
                           ("names.txt", good + b"0 qid:x a:1\n"), ("cut.gz", packed[:len(packed) // 2]), ("empty.txt", b"")):
            self.file(name, text)
            line = ["rank", "--model", "model", "--test", name, "--out", "out.txt"]
            one = self.expect(3, *line)
            done = self.over_ranks(3, *line)
            self.assertEqual((done.returncode, done.stderr.splitlines()[0]), (3, one.stderr.splitlines()[0]), name)
            self.assertEqual(self.outputs_left(), [])

    def test_memory_of_rank_falls_as_ranks_rise(self):
        self.fit_model("linear")
        features = b" ".join(b"%d:%d" % (f, f % 7) for f in range(1, 60))
        self.file("test.txt", b"".join(b"0 qid:%d %s\n" % (row // 10, features) for row in range(60000)))
        (self.folder / "packed.gz").write_bytes(gzip.compress((self.folder / "test.txt").read_bytes(), 1))
        line = ["rank", "--model", "model", "--threads", 1, "--out", "out.txt", "--manifest", "manifest.json", "--test"]
        for name, most in (("test.txt", 0.6), ("packed.gz", 0.8)):
            self.expect(0, *line, name)
            one = json.loads((self.folder / "manifest.json").read_text())["peak_memory_bytes"]
            self.assertEqual(self.over_ranks(4, *line, name).returncode, 0)
            peaks = json.loads((self.folder / "manifest.json").read_text())["peak_memory_bytes_of_ranks"]
            self.assertLess(max(peaks), most * one, (peaks, one))

    def test_rank_of_real_data(self):
        self.needs_mpi()
        folder = pathlib.Path(os.environ.get("RULERANK_TEST_DATA", "absent"), "letor/OHSUMED/Fold1")
        if not folder.is_dir():
            self.skipTest("needs letor/OHSUMED in $RULERANK_TEST_DATA")
        self.expect_same_bytes(["rank", "--train", folder / "vali.txt", "--test", folder / "test.txt",
                                "--rule-size", 2, "--method", "frequency", "--out", "s", "--run", "r"], "s", "r")

    def test_reduce(self):
        self.needs_mpi()
        self.file("train.txt", letor(4, 30, 20))
        line = ["reduce", "--train", "train.txt", "--out", "chosen.txt", "--ids", "ids.tsv", "--discretizer-out",
                "cuts.json"]
        # One partition, whose documents are shared out; as many as ranks and more; a budget.
        for more in ([], ["--partitions", 3], ["--partitions", 3, "--max-documents", 20],
                     ["--engine", "ssarp", "--partitions", 2], ["--whole-queries"]):
            self.expect_same_bytes([*line, *more], "chosen.txt", "ids.tsv", "cuts.json")

    def test_reduce_of_real_data(self):
        self.needs_mpi()
        folder = pathlib.Path(os.environ.get("RULERANK_TEST_DATA", "absent"), "letor/OHSUMED/Fold1")
        if not folder.is_dir():
            self.skipTest("needs letor/OHSUMED in $RULERANK_TEST_DATA")
        self.expect_same_bytes(["reduce", "--train", folder / "train.txt", "--rule-size", 3, "--out", "chosen.txt",
                                "--ids", "ids.tsv"], "chosen.txt", "ids.tsv")

    def test_experiment(self):
        self.needs_mpi()
        self.file("all.txt", letor(5, 20, 12))
        self.expect(0, "split", "--in", "all.txt", "--folds", 5, "--out-dir", "folds")
        line = ["experiment", "--folds", "folds", "--reduce-size", 3, "--rank-size", 3, "--random-draws", 2,
                "--permutations", 99, "--quiet"]
        self.expect_same_folder(line, "of")
        # It goes on from finished folds, on another number of ranks.
        (self.folder / "of2/folds/Fold1.json").unlink()
        (self.folder / "of2/folds/Fold4.json").unlink()
        (self.folder / "of2/table.md").unlink()
        self.assertEqual(self.over_ranks(3, *line, "--out-dir", "of2").returncode, 0)
        self.assertEqual(self.files_of("of2"), self.files_of("one"))

    def test_experiment_on_real_data(self):
        self.needs_mpi()
        folder = pathlib.Path(os.environ.get("RULERANK_TEST_DATA", "absent"), "letor/OHSUMED-LETOR2")
        if not folder.is_dir():
            self.skipTest("needs letor/OHSUMED-LETOR2 in $RULERANK_TEST_DATA")
        self.expect_same_folder(["experiment", "--folds", folder, "--reduce-size", 3, "--rank-size", 2,
                                 "--random-draws", 1, "--permutations", 99, "--quiet"], "of", ranks=(2, 3))

    def test_pipeline(self):
        self.needs_mpi()
        self.file("docs.tsv", documents(1, 60))
        self.file("topics.tsv", documents(2, 9))
        draw = random.Random(3)
        self.file("qrels", "".join(f"2-{q} 0 1-{d} {draw.randrange(3)}\n"
                                   for q in range(9) for d in draw.sample(range(60), 25)).encode())
        self.expect_same_folder(["pipeline", "--collection", "docs.tsv", "--topics", "topics.tsv", "--qrels", "qrels",
                                 "--fold-count", 3, "--candidates", 30, "--random-draws", 2, "--permutations", 99,
                                 "--quiet"], "of")

    def test_mine(self):
        self.needs_mpi()
        draw = random.Random(6)
        self.file("baskets.txt", "".join(" ".join(map(str, sorted({0, *(int(30 * draw.random() ** 2) for _ in range(9))}))) + "\n"
                                         for _ in range(300)).encode())
        line = ["mine", "--transactions", "baskets.txt", "--min-support", "2%", "--out", "found.txt"]
        for more in ([], ["--kind", "closed"], ["--kind", "maximal", "--max-size", 4], ["--engine", "apriori"],
                     ["--rules", "--max-size", 4, "--min-confidence", "70%", "--measures", "lift,p_holm"]):
            self.expect_same_bytes([*line, *more], "found.txt")
        self.expect_same_bytes(line[:-2])  # to standard output
        self.file("train.txt", letor(4, 20, 12))
        self.expect_same_bytes(["mine", "--train", "train.txt", "--rules", "--min-support", 3, "--out", "found.txt",
                                "--format", "json"], "found.txt")

    def test_mine_refuses_on_all_ranks_alike(self):
        self.needs_mpi()
        self.file("baskets.txt", (" ".join(map(str, range(60))) + "\n").encode() * 3)  # 2^60 itemsets
        line = ["mine", "--transactions", "baskets.txt", "--min-support", 3, "--out", "out.txt"]
        one = self.expect(2, *line)
        for ranks in (2, 3):
            done = self.over_ranks(ranks, *line)
            self.expect_failure(done, 2, "--min-support 3: found about 1.2e+18 itemsets")
            # But for what is free just now.
            self.assertEqual(re.sub(rb"[\d.]+ GB", b"", done.stderr.splitlines()[0]), re.sub(rb"[\d.]+ GB", b"", one.stderr.splitlines()[0]))
        self.assertEqual(self.outputs_left(), [])

    def parts(self):
        self.file("train.txt", letor(7, 30, 12))
        self.file("vali.txt", letor(8, 20, 12))

    TUNE = ["tune", "--train", "train.txt", "--vali", "vali.txt", "--out", "best.json", "--trials", "trials.tsv"]

    def test_tune(self):
        self.needs_mpi()
        self.parts()
        few = ["--try-bins", "4,8", "--try-rule-size", 2, "--try-min-confidence", "0.001", "--try-min-support", 1, "--quiet"]
        self.expect_same_bytes([*self.TUNE, *few], "best.json", "trials.tsv")
        self.expect_same_bytes([*self.TUNE, *few, "--kinds", "rules,scorecard,linear", "--cross-fit", 3, "--combine", 2, "--budget",
                                30, "--metrics", "MAP,NDCG@5"], "best.json", "trials.tsv")

    def test_experiment_that_tunes(self):
        """Two folds are dealt, the third one's trials."""
        self.needs_mpi()
        self.file("all.txt", letor(5, 24, 12))
        self.expect(0, "split", "--in", "all.txt", "--folds", 3, "--out-dir", "folds")
        self.expect_same_folder(["experiment", "--folds", "folds", "--reduce-size", 3, "--rank-size", 2, "--random-draws", 1,
                                 "--permutations", 99, "--tune", "MAP", "--try-bins", 4, "--try-rule-size", 2, "--quiet"],
                                "of", ranks=(2, 3))

    def test_a_budget_of_seconds_is_the_first_ranks(self):
        self.needs_mpi()
        self.parts()
        done = self.over_ranks(3, *self.TUNE, "--budget", "0.5s", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        tried = json.loads(done.stdout)["trials"]
        self.assertEqual({row["rung"] for row in tried} & {"3/3"}, {"3/3"})

    def killed(self, ranks, line, after, victim):
        """The exit of a job one of whose ranks is killed that many seconds after all are there."""
        job = subprocess.Popen(self.job(ranks, *line), cwd=self.folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        there = self.ranks_of(job, ranks)
        time.sleep(after)
        with contextlib.suppress(ProcessLookupError):
            os.kill(there[victim], signal.SIGKILL)
        begin = time.monotonic()
        output = job.communicate(timeout=30)[0]
        self.assertLess(time.monotonic() - begin, 5)
        while any(map(self.is_running, there)):
            self.assertLess(time.monotonic() - begin, 5, "a rank was left behind")
            time.sleep(0.05)
        return job.returncode, output

    def test_tune_goes_on_with_other_ranks(self):
        self.needs_mpi()
        self.file("train.txt", letor(7, 120, 30))
        self.file("vali.txt", letor(8, 120, 30))
        tune = [*self.TUNE, "--try-bins", "5,10"]
        line = [*tune, "--resume", "state", "--quiet"]
        one = self.expect(0, *tune, "--quiet")
        expected = {name: (self.folder / name).read_bytes() for name in ("best.json", "trials.tsv")}
        for name in expected:
            (self.folder / name).unlink()
        # Killed where a part of the trials is in the file.
        job = subprocess.Popen(self.job(3, *line), cwd=self.folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        while job.poll() is None and not (self.folder / "state").exists():
            time.sleep(0.05)
        if job.poll() is None:
            os.kill(self.ranks_of(job, 3)[2], signal.SIGKILL)
            self.assertNotEqual(job.wait(30), 0)
            self.assertEqual([name for name in expected if (self.folder / name).exists()], [])
        done = self.over_ranks(2, *[word for word in line if word != "--quiet"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, rb"state: \d+ candidates tried by an earlier run")
        self.assertEqual(done.stdout, one.stdout)
        self.assertEqual({name: (self.folder / name).read_bytes() for name in expected}, expected)

    CURVES = ["experiment", "--folds", "folds", "--systems", "rules,scorecard,linear", "--budgets", "5%,20%", "--ways",
              "chosen,random,margin", "--random-draws", 2, "--quiet"]

    def curve_folds(self, queries=24):
        self.file("all.txt", letor(5, queries, 12))
        self.expect(0, "split", "--in", "all.txt", "--folds", 3, "--out-dir", "folds")

    def curves_in(self, folder):
        """But for seconds."""
        return {name: data for name, data in self.files_of(folder).items() if not name.endswith(".seconds.tsv")}

    def test_curves(self):
        self.needs_mpi()
        self.curve_folds()
        one = self.expect(0, *self.CURVES, "--out-dir", "one")
        expected = self.curves_in("one")
        self.assertIn("curves/Fold3.json", expected)
        for ranks, threads in ((1, 1), (2, 1), (3, 2), (5, 1)):
            with self.subTest(ranks=ranks):
                done = self.over_ranks(ranks, *self.CURVES, "--out-dir", f"of{ranks}", "--threads", threads)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout, one.stdout)
                self.assertEqual(self.curves_in(f"of{ranks}"), expected)

    def test_curves_go_on_with_other_ranks(self):
        self.needs_mpi()
        self.curve_folds(48)
        self.expect(0, *self.CURVES, "--out-dir", "one")
        expected = self.curves_in("one")
        for seed, ranks in enumerate((3, 2)):
            draw = random.Random(seed)
            code, output = self.killed(ranks, [*self.CURVES, "--out-dir", "out"], draw.uniform(0.2, 0.8), draw.randrange(ranks))
            if code != 0:
                self.assertEqual(output, b"")
                self.assertFalse((self.folder / "out/curves.tsv").exists())
        done = self.over_ranks(5, *self.CURVES, "--out-dir", "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.curves_in("out"), expected)

    def test_ranks_killed_at_random_moments(self):
        self.needs_mpi()
        draw = random.Random(6)
        self.file("baskets.txt", "".join(" ".join(map(str, sorted({int(60 * draw.random() ** 2) for _ in range(25)}))) + "\n"
                                         for _ in range(4000)).encode())
        line = ["mine", "--transactions", "baskets.txt", "--min-support", "0.3%", "--max-size", 7, "--out", "out.txt", "--threads", 1,
                "--quiet"]
        ended = []
        for seed in range(4):
            draw = random.Random(seed)
            (self.folder / "out.txt").unlink(missing_ok=True)
            code, _ = self.killed(3, line, draw.uniform(0, 1.5), draw.randrange(3))
            ended.append(code != 0)
            if code != 0:
                self.assertEqual(self.outputs_left(), [])
        self.assertIn(True, ended, "all jobs had ended before")

    def test_many_ranks(self):
        """More ranks than processors, folds, partitions and queries."""
        self.needs_mpi()
        self.file("all.txt", letor(5, 9, 9))
        self.expect(0, "split", "--in", "all.txt", "--folds", 3, "--out-dir", "folds")
        self.expect_same_folder(["experiment", "--folds", "folds", "--reduce-size", 3, "--rank-size", 2,
                                 "--random-draws", 1, "--permutations", 99, "--quiet"], "of", ranks=(16,))
        curves = ["experiment", "--folds", "folds", "--systems", "rules,linear", "--budgets", "20%", "--ways", "chosen,random",
                  "--random-draws", 1, "--quiet"]
        one = self.expect(0, *curves, "--out-dir", "one-curves")
        done = self.over_ranks(16, *curves, "--out-dir", "curves", "--threads", 1)
        self.assertEqual((done.returncode, done.stdout), (0, one.stdout), done.stderr)
        self.assertEqual(self.curves_in("curves"), self.curves_in("one-curves"))

    PIPELINE = ["pipeline", "--collection", "docs.tsv", "--topics", "topics.tsv", "--qrels", "qrels", "--fold-count", 3, "--candidates",
                30, "--random-draws", 1, "--permutations", 99, "--quiet"]

    def lines_of_verbs(self, size=1):
        """(line, output...) of each verb that writes files, and their inputs, `size` times as large as the smallest ones."""
        self.file("train.txt", letor(7, 9 * size, 9))
        self.file("vali.txt", letor(8, 5 * size, 9))
        self.file("packed.gz", gzip.compress(letor(8, 30 * size, 3)))
        self.file("docs.tsv", documents(1, 60 * size))
        self.file("topics.tsv", documents(2, 9 * size))
        self.file("base.txt", words(1, 60 * size))
        self.file("base.fvecs", fvecs(1, 50 * size))
        draw = random.Random(3)
        self.file("baskets.txt", "".join(" ".join(map(str, sorted(draw.sample(range(12), 5)))) + "\n"
                                         for _ in range(90 * size)).encode())
        self.file("qrels", "".join(f"2-{q} 0 1-{d} {draw.randrange(3)}\n"
                                   for q in range(9 * size) for d in draw.sample(range(60 * size), 25)).encode())
        return ((["rank", "--train", "train.txt", "--test", "vali.txt", "--test", "packed.gz", "--out", "a.out", "--out", "b.out",
                  "--run", "a.run", "--run", "b.run"], "a.out", "b.out", "a.run", "b.run"),
                (["reduce", "--train", "train.txt", "--partitions", 3, "--out", "out", "--ids", "ids"], "out", "ids"),
                ([*self.TUNE, "--try-bins", 4, "--try-rule-size", 2, "--quiet"], "best.json", "trials.tsv"),
                (["mine", "--transactions", "baskets.txt", "--min-support", "5%", "--out", "out"], "out"),
                (["search", "text", "--collection", "docs.tsv", "--queries", "topics.tsv", "--out", "out"], "out"),
                (["search", "dense", "--collection", "base.fvecs", "--queries", "base.fvecs", "--out", "out"], "out"),
                (["search", "metric", "--collection", "base.txt", "--queries", "base.txt", "--metric", "edit", "--k", 3,
                  "--out", "out"], "out"))

    def test_many_ranks_of_other_verbs(self):
        self.needs_mpi()
        for line, *outputs in self.lines_of_verbs():
            self.expect_same_bytes(line, *outputs, over=(16,))
            if line[0] == "search":
                self.expect_same_bytes([*line, "--over-ranks", "collection"], *outputs, over=(16,))
        self.expect_same_folder(self.PIPELINE, "of", ranks=(16,))

    def test_ranks_of_each_verb_killed_at_random_moments(self):
        """All outputs are there, whole, or none; pipeline keeps what it has finished, and its table comes last."""
        self.needs_mpi()
        draw = random.Random(9)
        ended = 0
        for line, *outputs in (*self.lines_of_verbs(size=20), ([*self.PIPELINE, "--out-dir", "of"], "of/table.md")):
            with self.subTest(line=line[:2]):
                begin = time.monotonic()
                self.assertEqual(self.over_ranks(3, *line, "--threads", 1).returncode, 0)
                seconds = time.monotonic() - begin
                whole = {name: (self.folder / name).read_bytes() for name in outputs}
                for name in outputs:
                    (self.folder / name).unlink()
                code, _ = self.killed(3, [*line, "--threads", 1], draw.uniform(0.2, 0.9) * seconds, draw.randrange(3))
                ended += code != 0
                left = {name: (self.folder / name).read_bytes() for name in outputs if (self.folder / name).exists()}
                self.assertIn(left, ({}, whole))
                if code == 0:
                    self.assertEqual(left, whole)
                self.assertEqual([path for path in self.folder.rglob("*") if ".partial-" in path.name], [])
        self.assertGreater(ended, 3, "most jobs had ended before")

    def test_search_text(self):
        self.needs_mpi()
        self.file("docs.tsv", documents(1, 60))
        self.file("topics.tsv", documents(2, 13))
        for more in ([], ["--pad", "--metric", "l2"], ["--weights", "bm25"]):
            self.expect_same_bytes(["search", "text", "--collection", "docs.tsv", "--queries", "topics.tsv",
                                    "--k", 7, "--out", "near.txt", "--run", "near.run", *more],
                                   "near.txt", "near.run")
        self.expect(0, "search", "text", "--collection", "docs.tsv", "--index", "index", "--quiet")
        self.expect_same_bytes(["search", "text", "--index", "index", "--queries", "topics.tsv"])

    def test_search_dense(self):
        self.needs_mpi()
        self.file("base.fvecs", fvecs(1, 50))
        self.file("asked.fvecs", fvecs(2, 12))
        line = ["search", "dense", "--collection", "base.fvecs", "--queries", "asked.fvecs"]
        self.expect_same_bytes([*line, "--k", 6, "--out", "near.txt", "--run", "near.run"],
                               "near.txt", "near.run")
        self.expect_same_bytes([*line, "--k", 60, "--out", "near.ivecs", "--values", "near.fvecs"],
                               "near.ivecs", "near.fvecs")
        self.expect_same_bytes([*line, "--radius", 4, "--out", "near.txt"], "near.txt")

    def test_search_metric(self):
        self.needs_mpi()
        self.file("base.txt", words(1, 300))
        self.file("asked.txt", words(2, 259))  # a batch of 256, and one with fewer queries than ranks
        line = ["search", "metric", "--collection", "base.txt", "--queries", "asked.txt", "--metric", "edit"]
        for more in (["--k", 4], ["--radius", 2, "--index-type", "lc"], ["--k", 3, "--index-type", "mvpt"],
                     ["--k", 3, "--index-type", "lc", "--schedule", "local"]):
            self.expect_same_bytes([*line, *more, "--out", "near.txt"], "near.txt")

    def test_counts_are_of_all_ranks(self):
        self.needs_mpi()
        self.file("base.txt", words(1, 200))
        self.file("asked.txt", words(2, 30))
        line = ["search", "metric", "--collection", "base.txt", "--queries", "asked.txt", "--metric", "edit",
                "--index-type", "lc", "--threads", 1, "--out", "near.txt", "--manifest", "manifest.json"]
        self.expect(0, *line)
        one = json.loads((self.folder / "manifest.json").read_text())
        self.assertEqual(self.over_ranks(3, *line).returncode, 0)
        many = json.loads((self.folder / "manifest.json").read_text())
        self.assertEqual(many["ranks"], 3)
        for field in ("ranks", "exchanges", "exchanged_bytes", "peak_memory_bytes_of_ranks"):
            self.assertNotIn(field, one)
        # Every rank has been told at least the 30 queries' lists of 10 rows and distances.
        self.assertGreater(many["exchanged_bytes"], 30 * 10 * 8)
        self.assertGreater(many["exchanges"], 1)
        self.assertEqual(len(many["peak_memory_bytes_of_ranks"]), 3)
        for peak in many["peak_memory_bytes_of_ranks"]:
            self.assertGreater(peak, 1 << 20)
        for field in ("evaluations", "queries", "objects", "inputs"):
            self.assertEqual(many[field], one[field], field)

    def test_bad_input_of_all_ranks_is_one_message(self):
        self.needs_mpi()
        self.file("train.txt", letor(1, 5, 5))
        self.file("bad.txt", b"0 qid:1 1:x\n")
        done = self.over_ranks(3, "rank", "--train", "train.txt", "--test", "bad.txt", "--out", "out.txt")
        self.expect_failure(done, 3, "rulerank: error: bad.txt:1:")
        done = self.over_ranks(2, "rank", "--train", "train.txt", "--tset", "bad.txt")
        self.expect_failure(done, 2, "see rulerank rank --help")
        self.assertEqual(self.outputs_left(), [])

    def test_bad_input_on_one_rank(self):
        self.needs_mpi()
        good = {"train.txt": letor(1, 5, 5), "test.txt": letor(2, 6, 4)}
        program = self.each_in_its_folder([good, good, {**good, "train.txt": b"0 qid:1 1:x\n"}])
        done = self.over_ranks(3, "rank", "--train", "train.txt", "--test", "test.txt", "--out", "out.txt",
                               program=program)
        self.expect_failure(done, 3, "rulerank: error: rank 2: train.txt:1:")
        self.assertEqual(self.outputs_left(), [])

    def test_other_bytes_on_one_rank(self):
        self.needs_mpi()
        good = {"base.txt": words(1, 30), "asked.txt": words(2, 9)}
        program = self.each_in_its_folder([good, {**good, "base.txt": words(3, 30)}])
        done = self.over_ranks(2, "search", "metric", "--collection", "base.txt", "--queries", "asked.txt",
                               "--metric", "edit", "--out", "out.txt", program=program)
        self.expect_failure(done, 2, "SHA-256 of base.txt: found '")
        self.assertEqual(self.outputs_left(), [])

    def test_a_file_that_one_rank_lacks(self):
        self.needs_mpi()
        good = {"train.txt": letor(1, 5, 5), "test.txt": letor(2, 6, 4)}
        program = self.each_in_its_folder([good, {"train.txt": good["train.txt"]}])
        done = self.over_ranks(2, "rank", "--train", "train.txt", "--test", "test.txt", "--out", "out.txt", program=program)
        self.expect_failure(done, 2, "SHA-256 of test.txt: found 'no file' on rank 1 and '")
        self.assertEqual(self.outputs_left(), [])

    def test_another_command_line_on_one_rank(self):
        self.needs_mpi()
        self.file("base.txt", words(1, 30))
        line = ["search", "metric", "--collection", "base.txt", "--queries", "base.txt", "--metric", "edit",
                "--out", "out.txt", "--k"]
        done = subprocess.run([*self.job(1, *line, 3), ":", *self.job(1, *line, 4)[len(MPIRUN):]],
                              cwd=self.folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=120, check=False)
        self.expect_failure(done, 2, "command line: found 'search metric")
        self.assertEqual(self.outputs_left(), [])

    def test_output_that_cannot_be_written(self):
        self.needs_mpi()
        self.file("base.txt", words(1, 30))
        done = self.over_ranks(3, "search", "metric", "--collection", "base.txt", "--queries", "base.txt",
                               "--metric", "edit", "--out", "absent/out.txt")
        self.expect_failure(done, 1, "rulerank: error: rank 0: absent/out.txt: cannot be written")

    def test_what_does_not_run_over_ranks(self):
        self.needs_mpi()
        self.file("a.txt", letor(1, 4, 4))
        self.file("base.txt", words(1, 30))
        for line, message in (
                (["engines"], "engines does not run over MPI ranks"),
                (["rank", "--train", "a.txt", "--test", "-"], "standard input does not run over MPI ranks"),
                (["search", "metric", "--collection", "base.txt", "--queries", "base.txt", "--metric", "edit",
                  "--split", 2], "--split does not run over MPI ranks")):
            self.expect_failure(self.over_ranks(2, *line), 2, message + ": found 2, expected one process")
        self.assertEqual(self.over_ranks(2, "--version").stdout, self.rulerank("--version").stdout)

    def test_a_killed_rank_ends_the_job(self):
        self.needs_mpi()
        self.file("base.txt", words(1, 60000, 40))
        job = subprocess.Popen(self.job(3, "search", "metric", "--collection", "base.txt", "--queries",
                                        "base.txt", "--metric", "edit", "--index-type", "brute", "--out",
                                        "out.txt"),
                               cwd=self.folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(job.communicate)
        self.addCleanup(job.kill)
        ranks = self.ranks_of(job, 3)
        time.sleep(2)  # they work
        os.kill(ranks[1], signal.SIGKILL)
        begin = time.monotonic()
        errors = job.communicate(timeout=30)[1].decode()
        self.assertLess(time.monotonic() - begin, 5)
        self.assertNotEqual(job.returncode, 0)
        self.assertRegex(errors, r"rank 1\b.*\n?.*signal 9")
        self.assertEqual(self.outputs_left(), [])
        # mpirun may end just before the ranks that it killed, which are init's then.
        while any(map(self.is_running, ranks)):
            self.assertLess(time.monotonic() - begin, 5, "a rank was left behind")
            time.sleep(0.05)

    def test_a_stalled_rank_ends_the_job(self):
        self.needs_mpi()
        self.file("base.txt", words(1, 60000, 40))
        for stalled, told in ((1, 1), (0, 0)):
            with self.subTest(rank=stalled):
                job = subprocess.Popen(self.job(3, "search", "metric", "--collection", "base.txt", "--queries",
                                                "base.txt", "--metric", "edit", "--index-type", "brute", "--out",
                                                "out.txt"),
                                       cwd=self.folder, env={**ENVIRONMENT, "RULERANK_RANK_TIMEOUT": "3"},
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                self.addCleanup(job.communicate)
                self.addCleanup(job.kill)
                ranks = self.ranks_of(job, 3)
                time.sleep(5)  # longer than the limit: who works is heard of
                self.assertIsNone(job.poll())
                os.kill(ranks[stalled], signal.SIGSTOP)
                begin = time.monotonic()
                errors = job.communicate(timeout=60)[1].decode()
                self.assertLess(time.monotonic() - begin, 10)
                self.assertNotEqual(job.returncode, 0)
                self.assertRegex(errors, rf"rulerank: error: rank {told} on \S+: nothing heard for 3 s")
                self.assertEqual(self.outputs_left(), [])

    def test_a_bad_limit_is_refused(self):
        self.needs_mpi()
        for bad in ("", "x", "-1", "86401", "3s"):
            done = subprocess.run(self.job(2, "engines"), env={**ENVIRONMENT, "RULERANK_RANK_TIMEOUT": bad},
                                  capture_output=True, timeout=60, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"RULERANK_RANK_TIMEOUT: found '{bad}', expected whole seconds from 0 to 86400".encode(),
                          done.stderr)

    def test_a_build_without_mpi_says_so(self):
        if self.has_mpi:
            self.skipTest("needs a build without MPI")
        done = self.over_ranks(2, "engines")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"started as one of 2 MPI ranks, and this build has no MPI", done.stderr)


if __name__ == "__main__":
    harness.main()

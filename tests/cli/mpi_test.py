"""The program over MPI ranks writes the bytes of one process."""

import contextlib
import gzip
import hashlib
import json
import os
import random
import re
import signal
import time

import harness
from over_ranks import RANKS, OverRanks, documents, fvecs, labels, letor, words


class Cluster(OverRanks):
    def test_rank(self):
        self.needs_mpi()
        self.file("train.txt", letor(1, 12, 12))
        self.file("a.txt", letor(2, 11, 9))
        self.file("b.txt", letor(3, 2, 30))  # fewer queries than ranks
        self.expect_same_bytes(["rank", "--train", "train.txt", "--test", "a.txt", "--rule-size", 3, "--out",
                                "a.out", "--run", "a.run"], "a.out", "a.run")
        self.expect_same_bytes(["rank", "--train", "train.txt", "--test", "a.txt", "--test", "b.txt", "--out",
                                "a.out", "--out", "b.out"], "a.out", "b.out", over=(2, 5))
        self.expect(0, "fit", "--train", "train.txt", "--model", "model", "--members", "rules", "--quiet")
        self.expect_same_bytes(["rank", "--model", "model", "--test", "b.txt"], over=(3,))  # to standard output

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
                                   over=(2, 5) if name == "plain.txt" else (3,))
        self.expect_same_bytes(["rank", "--model", "model", "--test", "plain.txt", "--out", "out", "--run", "run", "--threads", 3], "out", "run",
                               over=(2,))
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

    def test_memory_falls_as_ranks_rise(self):
        self.fit_model("linear")
        values = [b" ".join(b"%d:%d" % (f, f * kind % 7) for f in range(1, 60)) for kind in range(7)]
        self.file("test.txt", b"".join(b"%d qid:%d %s\n" % (row % 2, row // 10, values[row % 7]) for row in range(60000)))
        (self.folder / "packed.gz").write_bytes(gzip.compress((self.folder / "test.txt").read_bytes(), 1))
        more = ["--threads", 1, "--out", "out.txt", "--manifest", "manifest.json"]
        rank, reduce = ["rank", "--model", "model", *more, "--test"], ["reduce", "--rule-size", 2, *more, "--train"]
        for line, name, most in ((rank, "test.txt", 0.6), (rank, "packed.gz", 0.8), (reduce, "test.txt", 0.6), (reduce, "packed.gz", 0.8)):
            self.expect(0, *line, name)
            one = json.loads((self.folder / "manifest.json").read_text())["peak_memory_bytes"]
            self.assertEqual(self.over_ranks(4, *line, name).returncode, 0)
            peaks = json.loads((self.folder / "manifest.json").read_text())["peak_memory_bytes_of_ranks"]
            self.assertLess(max(peaks), most * one, (peaks, one))

    def test_rank_of_real_data(self):
        self.needs_mpi()
        folder = self.real("letor/OHSUMED/Fold1")
        self.expect_same_bytes(["rank", "--train", folder / "vali.txt", "--test", folder / "test.txt",
                                "--rule-size", 2, "--method", "frequency", "--out", "s", "--run", "r"], "s", "r")

    def test_reduce(self):
        self.needs_mpi()
        self.file("train.txt", letor(4, 30, 20))
        line = ["reduce", "--train", "train.txt", "--out", "chosen.txt", "--ids", "ids.tsv", "--discretizer-out",
                "cuts.json"]
        # One partition, whose documents are shared out; as many as ranks and more; a budget.
        for more, over in (([], RANKS), (["--partitions", 3], (2, 3, 5)), (["--partitions", 3, "--max-documents", 20], (2,)),
                           (["--engine", "ssarp", "--partitions", 2], (3,)), (["--whole-queries"], (2, 5))):
            self.expect_same_bytes([*line, *more], "chosen.txt", "ids.tsv", "cuts.json", over=over)

    def test_slow_reduce_reads_parts(self):
        """Each rank reads a part of the training file, whatever the file, and cuts are those of one process."""
        self.needs_mpi()
        plain = letor(4, 40, 9)
        lines = plain.splitlines(True)
        named = re.sub(rb" ([123]):", rb" f\1:", plain)
        for name, text in (("plain.txt", plain), ("packed.gz", gzip.compress(plain)), ("named.txt", named),
                           ("crlf.txt", b"# first\r\n\r\n" + plain.replace(b"\n", b"\r\n").rstrip()),
                           ("one.txt", re.sub(rb"qid:\d+", b"qid:1", plain)),  # one query
                           ("none.txt", re.sub(rb"qid:\d+ ", b"", plain)), ("ids.txt", re.sub(rb"#.*", b"", plain)),
                           ("table.csv", b"label,qid,1,2\n" + b"".join(b"%d,%d,%d,3\n" % (row % 2, row // 5, row) for row in range(60)))):
            self.file(name, text)
            self.expect_same_bytes(["reduce", "--train", name, "--out", "out", "--ids", "ids", "--discretizer-out", "cuts"],
                                   "out", "ids", "cuts", over=(3,))
        line = ["reduce", "--train", "plain.txt", "--out", "out", "--ids", "ids"]
        for more in (["--bins", "cv", "--seed", 3], ["--method", "frequency", "--norm", "query-zscore"],
                     ["--method", "width", "--unlisted", "missing"]):
            self.expect_same_bytes([*line, *more, "--discretizer-out", "cuts"], "out", "ids", "cuts", over=(5,))
        self.expect_same_bytes([*line, "--discretizer", "cuts"], "out", "ids", over=(2,))
        self.expect_same_bytes([*line, "--rule-size", 3, "--threads", 3, "--discretizer-out", "cuts"], "out", "ids", "cuts", over=(2,))
        self.file("apart.txt", b"".join(lines[::2] + lines[1::2]))
        self.expect_same_bytes(["reduce", "--train", "apart.txt", "--regroup", "--out", "out", "--ids", "ids"], "out", "ids", over=(2,))
        self.file("unknown.txt", re.sub(rb"(?m)^0", b"-1", plain))
        for refused in (["--train", "unknown.txt", "--unlabelled", -1], ["--train", "unknown.txt"]):
            one = self.expect(3, "reduce", *refused, "--out", "out.txt")
            done = self.over_ranks(3, "reduce", *refused, "--out", "out.txt")
            self.assertEqual((done.returncode, done.stderr.splitlines()[0]), (3, one.stderr.splitlines()[0]))
        self.assertEqual(self.outputs_left(), [])

    def test_reduce_tells_many_features_at_a_time(self):
        self.needs_mpi()
        draw = random.Random(8)
        self.file("train.txt", b"".join(b"%d qid:%d %s\n" % (draw.randrange(2), row // 5, b" ".join(b"%d:%d" % (f, draw.randrange(9))
                                                                                             for f in range(1, 301)))
                                        for row in range(60)))
        self.expect_same_bytes(["reduce", "--train", "train.txt", "--rule-size", 2, "--partitions", 3, "--manifest", "manifest.json", "--out",
                                "out"], "out", over=(3,))
        # 300 features; each rank has a partition, about which ranks exchange nothing.
        self.assertLess(json.loads((self.folder / "manifest.json").read_text())["exchanges"], 30)

    def test_slow_reduce_of_real_data(self):
        self.needs_mpi()
        folder = self.real("letor/OHSUMED/Fold1")
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
        self.assertEqual(self.files_in("of2"), self.files_in("one"))

    def test_slow_experiment_on_real_data(self):
        self.needs_mpi()
        folder = self.real("letor/OHSUMED-LETOR2")
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
        for more, over in (([], RANKS), (["--kind", "closed"], (3,)), (["--kind", "maximal", "--max-size", 4], (5,)),
                           (["--engine", "apriori"], (2,)),
                           (["--rules", "--max-size", 4, "--min-confidence", "70%", "--measures", "lift,p_holm"], (2, 5))):
            self.expect_same_bytes([*line, *more], "found.txt", over=over)
        self.expect_same_bytes(line[:-2], over=(3,))  # to standard output
        self.file("train.txt", letor(4, 20, 12))
        self.expect_same_bytes(["mine", "--train", "train.txt", "--rules", "--min-support", 3, "--out", "found.txt",
                                "--format", "json"], "found.txt", over=(2,))

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

    def test_tune(self):
        self.needs_mpi()
        self.parts_to_tune()
        few = ["--try-bins", "4,8", "--try-rule-size", 2, "--try-min-confidence", "0.001", "--try-min-support", 1, "--quiet"]
        self.expect_same_bytes([*self.TUNE, *few], "best.json", "trials.tsv")
        self.expect_same_bytes([*self.TUNE, *few, "--kinds", "rules,scorecard,linear", "--cross-fit", 3, "--combine", 2, "--budget",
                                30, "--metrics", "MAP,NDCG@5"], "best.json", "trials.tsv", over=(2, 5))

    def test_slow_experiment_that_tunes(self):
        """Two folds are dealt, the third one's trials."""
        self.needs_mpi()
        self.file("all.txt", letor(5, 24, 12))
        self.expect(0, "split", "--in", "all.txt", "--folds", 3, "--out-dir", "folds")
        self.expect_same_folder(["experiment", "--folds", "folds", "--reduce-size", 3, "--rank-size", 2, "--random-draws", 1,
                                 "--permutations", 99, "--tune", "MAP", "--try-bins", 4, "--try-rule-size", 2, "--quiet"],
                                "of", ranks=(2, 3))

    def test_a_budget_of_seconds_is_the_first_ranks(self):
        self.needs_mpi()
        self.parts_to_tune()
        done = self.over_ranks(3, *self.TUNE, "--budget", "0.5s", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        tried = json.loads(done.stdout)["trials"]
        self.assertEqual({row["rung"] for row in tried} & {"3/3"}, {"3/3"})

    def test_slow_curves(self):
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

    def test_slow_many_ranks_of_other_verbs(self):
        self.needs_mpi()
        for line, *outputs in self.lines_of_verbs():
            self.expect_same_bytes(line, *outputs, over=(16,))
            if line[0] == "search":
                self.expect_same_bytes([*line, "--over-ranks", "collection"], *outputs, over=(16,))
        self.expect_same_folder(self.PIPELINE, "of", ranks=(16,))

    def test_slow_real_sets_of_other_verbs(self):
        self.needs_mpi()
        sample, baskets, cranfield = map(self.real, ("letor/small/mslr-sample", "fim/mushroom.dat", "text/cranfield"))
        self.expect_same_bytes(["mine", "--transactions", baskets, "--min-support", "30%", "--kind", "closed", "--out", "out"], "out", over=(3,))
        self.expect_same_bytes(["tune", "--train", sample / "train.txt", "--vali", sample / "test.txt", "--try-bins", 4, "--try-rule-size", 2,
                                "--out", "best.json", "--trials", "trials.tsv", "--quiet"], "best.json", "trials.tsv", over=(3,))
        self.expect_same_folder(["pipeline", "--collection", cranfield / "cran.all.1400", "--topics", cranfield / "cran.qry",
                                 "--number-by-position", "--qrels", cranfield / "QRelsCorrectedforTRECeval", "--not-relevant", 5,
                                 "--fold-count", 3, "--candidates", 20, "--reduce-size", 3, "--rank-size", 2, "--random-draws", 1,
                                 "--permutations", 99, "--quiet"], "of", ranks=(2,))

    def test_search_text(self):
        self.needs_mpi()
        self.file("docs.tsv", documents(1, 60))
        self.file("topics.tsv", documents(2, 13))
        for more, over in (([], RANKS), (["--pad", "--metric", "l2"], (3,)), (["--weights", "bm25"], (2,))):
            self.expect_same_bytes(["search", "text", "--collection", "docs.tsv", "--queries", "topics.tsv",
                                    "--k", 7, "--out", "near.txt", "--run", "near.run", *more],
                                   "near.txt", "near.run", over=over)
        self.expect(0, "search", "text", "--collection", "docs.tsv", "--index", "index", "--quiet")
        self.expect_same_bytes(["search", "text", "--index", "index", "--queries", "topics.tsv"], over=(2, 5))

    def test_search_text_deals_queries_and_the_sum_of_the_index(self):
        self.needs_mpi()
        self.file("docs.tsv", documents(1, 60))
        self.file("topics.tsv", documents(2, 700))  # more than the ranks take in one round
        self.expect(0, "search", "text", "--collection", "docs.tsv", "--index", "index", "--quiet")
        line = ["search", "text", "--index", "index", "--queries", "topics.tsv", "--threads", 1, "--k", 5, "--out", "near.txt", "--run", "near.run"]
        self.expect_same_bytes([*line, "--manifest", "manifest.json"], "near.txt", "near.run", over=(2, 3, 16))
        sums = {one["path"]: one["sha256"] for one in json.loads((self.folder / "manifest.json").read_text())["inputs"]}
        self.assertEqual(sums, {name: hashlib.sha256((self.folder / name).read_bytes()).hexdigest() for name in ("index", "topics.tsv")})

    def test_search_text_over_ranks_of_other_threads(self):
        """A rank that may run on one core has fewer threads than the others."""
        self.needs_mpi()
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("needs two cores")
        core = min(os.sched_getaffinity(0))
        self.file("docs.tsv", documents(1, 60))
        self.file("topics.tsv", documents(2, 1000))
        line = ["search", "text", "--collection", "docs.tsv", "--queries", "topics.tsv", "--k", 5, "--out", "near.txt"]
        self.expect(0, *line)
        whole = self.taken("near.txt")
        for pinned in range(3):
            program = ["sh", "-c", f'[ "$OMPI_COMM_WORLD_RANK" != {pinned} ] || exec taskset -c {core} "$0" "$@"; exec "$0" "$@"', harness.PROGRAM]
            done = self.over_ranks(3, *line, program=program)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.taken("near.txt"), whole)

    def test_search_text_names_the_faults_of_one_process(self):
        self.needs_mpi()
        few = self.file("few", b"0 1:1\n0 2:1\n0 2:1\n0 3:1\n")
        asked = [b"0 2:1\n"] * 600
        asked[130] = asked[500] = b"0 1:1e150\n"  # in what two ranks are dealt
        self.file("asked", b"".join(asked))
        self.file("docs.tsv", documents(1, 60).replace(b"1-7\t", b"1 7\t"))
        self.file("topics.tsv", documents(2, 300))
        for code, line in ((3, ["--collection-format", "svmlight", "--collection", few, "--queries", "asked", "--weights", "tf-idf"]),
                           (2, ["--collection", "docs.tsv", "--queries", "topics.tsv", "--run", "near.run"])):
            line = ["search", "text", *line, "--k", 60, "--threads", 1, "--out", "out.txt"]
            one = self.expect(code, *line)
            done = self.over_ranks(3, *line)
            self.assertEqual((done.returncode, done.stderr.splitlines()[0]), (code, one.stderr.splitlines()[0]))
            self.assertEqual(self.outputs_left(), [])

    def test_search_dense(self):
        self.needs_mpi()
        self.file("base.fvecs", fvecs(1, 50))
        self.file("asked.fvecs", fvecs(2, 12))
        line = ["search", "dense", "--collection", "base.fvecs", "--queries", "asked.fvecs"]
        self.expect_same_bytes([*line, "--k", 6, "--out", "near.txt", "--run", "near.run"],
                               "near.txt", "near.run")
        self.expect_same_bytes([*line, "--k", 60, "--out", "near.ivecs", "--values", "near.fvecs"],
                               "near.ivecs", "near.fvecs", over=(3,))
        self.expect_same_bytes([*line, "--radius", 4, "--out", "near.txt"], "near.txt", over=(2, 5))

    def test_search_dense_deals_queries(self):
        self.needs_mpi()
        self.file("base.fvecs", fvecs(1, 50))
        self.file("asked.fvecs", fvecs(2, 2000))  # more than the ranks take in one round
        self.file("base.idx", labels(3, 50))
        self.file("asked.idx", labels(4, 2000))
        line = ["search", "dense", "--collection", "base.fvecs", "--queries", "asked.fvecs", "--threads", 1]
        votes = ["--labels", "base.idx", "--query-labels", "asked.idx", "--votes", "majority", "--classes", "classes.txt"]
        self.expect_same_bytes([*line, "--k", 6, "--out", "near.txt", "--run", "near.run", "--manifest", "manifest.json", *votes],
                               "near.txt", "near.run", "classes.txt", over=(2, 3, 5, 16))
        self.expect_same_bytes([*line, "--k", 60, "--out", "near.ivecs", "--values", "near.fvecs"], "near.ivecs", "near.fvecs", over=(3,))
        self.expect_same_bytes([*line, "--radius", 4, "--out", "near.txt"], "near.txt", over=(2, 16))
        self.file("ids", "".join(f"row\t{row}\n" for row in range(50)).encode())  # which a line cannot hold, and a matrix does not
        self.file("some", b"row\t3\nrow\t40\n")
        self.expect_same_bytes([*line, "--k", 2, "--ids", "ids", "--filter", "some", "--out", "near.npy"], "near.npy", over=(2, 3))
        self.expect_same_bytes([*line, "--engine", "mpi-knn", "--k", 6, "--out", "near.txt"], "near.txt", over=(3,))

    def test_search_dense_names_the_faults_of_one_process(self):
        self.needs_mpi()
        self.file("base.fvecs", fvecs(1, 50))
        self.file("asked.fvecs", fvecs(2, 900))
        self.file("ids", "".join(f"{q} x\n" if q in (300, 700) else f"{q}\n" for q in range(900)).encode())  # in what two ranks are dealt
        line = ["search", "dense", "--collection", "base.fvecs", "--queries", "asked.fvecs", "--k", 3, "--threads", 1, "--out", "out.txt"]
        for more in (["--query-ids", "ids", "--run", "near.run"], ["--engine", "mpi-knn", "--radius", 2]):
            one = self.expect(2, *line, *more)
            done = self.over_ranks(3, *line, *more)
            self.assertEqual((done.returncode, done.stderr.splitlines()[0]), (2, one.stderr.splitlines()[0]))
            self.assertEqual(self.outputs_left(), [])

    def test_a_slow_rank_is_dealt_fewer_queries(self):
        self.needs_mpi()
        self.file("base.txt", words(1, 1500))
        self.file("asked.txt", words(2, 3000))
        line = ["search", "metric", "--collection", "base.txt", "--queries", "asked.txt", "--metric", "edit", "--index-type", "lc", "--k", 3,
                "--schedule", "local", "--threads", 1, "--out", "near.txt", "--manifest", "manifest.json"]
        self.expect(0, *line)
        one = self.taken("near.txt")
        for _ in range(harness.ATTEMPTS):
            beyond = self.slowed_down(line)
            self.assertEqual(self.taken("near.txt"), one)
            if beyond < 0.05:  # else the machine kept this process waiting while the second rank went on
                break
        first, *slow = json.loads((self.folder / "manifest.json").read_text())["evaluations_of_threads"]
        self.assertLess(2 * sum(slow), first)  # it may have come too late for any

    def slowed_down(self, line):
        """Lets two ranks run, the second of which has a processor an eighth as long as the first while that does not wait. The seconds
        that it had beyond that at once."""
        job, ranks = self.start_ranks(2, *line)
        left, beyond, before = 0.0, 0.0, [0.0, 0.0]
        while job.poll() is None:
            worked = [sum(seconds for _, _, seconds in harness.threads_of(rank)) for rank in ranks]
            first, second = (max(0.0, now - then) for now, then in zip(worked, before))
            before = worked
            waits = harness.is_asleep(ranks[0]) or not self.is_running(ranks[0])
            if not waits:
                left = min(0.02, left + first / 8 - second)
                beyond = max(beyond, -left)
            with contextlib.suppress(ProcessLookupError):
                os.kill(ranks[1], signal.SIGCONT if waits or left > 0 else signal.SIGSTOP)
            time.sleep(0.01)
        self.assertEqual(job.returncode, 0, job.communicate()[1])
        return beyond

    def test_search_metric(self):
        self.needs_mpi()
        self.file("base.txt", words(1, 300))
        self.file("asked.txt", words(2, 259))  # a batch of 256, and one with fewer queries than ranks
        line = ["search", "metric", "--collection", "base.txt", "--queries", "asked.txt", "--metric", "edit"]
        for more, over in ((["--k", 4], RANKS), (["--radius", 2, "--index-type", "lc"], (2, 5)), (["--k", 3, "--index-type", "mvpt"], (3,)),
                           (["--k", 3, "--index-type", "lc", "--schedule", "local"], (2,))):
            self.expect_same_bytes([*line, *more, "--out", "near.txt"], "near.txt", over=over)

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
        self.assertGreater(many["exchanged_bytes"], 0)
        self.assertGreater(many["exchanges"], 1)
        self.assertEqual(len(many["peak_memory_bytes_of_ranks"]), 3)
        for peak in many["peak_memory_bytes_of_ranks"]:
            self.assertGreater(peak, 1 << 20)
        for field in ("evaluations", "queries", "objects", "inputs"):
            self.assertEqual(many[field], one[field], field)
        self.assertEqual(self.over_ranks(3, *line, "--over-ranks", "collection").returncode, 0)
        parts = json.loads((self.folder / "manifest.json").read_text())
        # Every rank has received at least the 30 queries' lists of 10 rows and distances.
        self.assertGreater(parts["exchanged_bytes"], 30 * 10 * 8)

    def test_evaluations_are_of_the_threads_of_all_ranks(self):
        self.needs_mpi()
        self.file("base.txt", words(1, 50))
        self.file("asked.txt", words(2, 2))  # fewer than ranks: one at least is dealt nothing
        line = ["search", "metric", "--collection", "base.txt", "--queries", "asked.txt", "--metric", "edit", "--radius", 2,
                "--index-type", "lc", "--schedule", "local", "--threads", 2, "--out", "near.txt", "--manifest", "manifest.json"]
        self.assertEqual(self.over_ranks(3, *line).returncode, 0)
        found = json.loads((self.folder / "manifest.json").read_text())
        of_threads = found["evaluations_of_threads"]
        self.assertEqual(len(of_threads), 3 * 2)
        self.assertEqual(sum(of_threads), found["evaluations"])
        self.assertAlmostEqual(found["efficiency"], sum(of_threads) / 6 / max(of_threads))


if __name__ == "__main__":
    harness.main()

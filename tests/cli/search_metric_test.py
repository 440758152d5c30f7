"""The verb search metric: neighbours, refused options, and files after errors."""

import collections
import json
import math
import random
import resource
import struct

import harness
from harness import Row

SCHEDULES = ("auto", "shared", "local", "bulk-local", "bulk-circular", "bulk-critical", "hybrid")
TYPES = ("auto", "brute", "lc", "sss", "sss-tree", "egnat", "m-tree", "mvpt")


def of_type(name):
    """An index type, with few objects together where it has such."""
    return ["--index-type", name, *(() if name in ("brute", "sss") else ("--bucket", 4))]


def drawn(rows, dimensions, seed):
    """Small whole numbers: many rows are equally near."""
    chance = random.Random(seed)
    return [[float(chance.randrange(4)) for _ in range(dimensions)] for _ in range(rows)]


def edit(a, b):
    """Levenshtein's distance, by the dynamic program."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        above, row[0] = row[0], i + 1
        for j, y in enumerate(b):
            above, row[j + 1] = row[j + 1], min(row[j] + 1, row[j + 1] + 1, above + (x != y))
    return row[-1]


DISTANCES = {
    "l1": lambda a, b: sum(abs(x - y) for x, y in zip(a, b)),
    "l2": lambda a, b: math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b))),
    "linf": lambda a, b: max(abs(x - y) for x, y in zip(a, b)),
    "edit": edit,
}


def nearest(objects, queries, metric):
    """The definition: of each query (distance, object), nearest first."""
    return [sorted((float(DISTANCES[metric](query, one)), number)
                   for number, one in enumerate(objects)) for query in queries]


class SearchMetric(harness.CommandLine):
    def lines(self, *words):
        found = {}
        for line in self.expect(0, "search", "metric", *words).stdout.decode().splitlines():
            query, rank, number, value = line.split("\t")
            found.setdefault(int(query), []).append((float(value), int(number)))
            self.assertEqual(int(rank), len(found[int(query)]))
        return found

    def expect_found(self, objects, queries, metric, radius, *line):
        every = nearest(objects, queries, metric)
        for k in (1, 7, 1000):
            expected = {q: all[:k] for q, all in enumerate(every)}
            for threads in (1, 3):
                self.assertEqual(expected, self.lines(*line, "--k", k, "--threads", threads))
        within = {q: [pair for pair in all if pair[0] <= radius] for q, all in enumerate(every)}
        self.assertEqual({q: all for q, all in within.items() if all},
                         self.lines(*line, "--radius", repr(radius)))
        may = set(range(0, len(objects), 3))
        listed = self.file("may", "".join(f"{number}\n" for number in may).encode())
        for limit, of in (("--k", [[pair for pair in all if pair[1] in may][:4] for all in every]),
                          ("--radius", [[pair for pair in all if pair[1] in may] for all in within.values()])):
            self.assertEqual({q: all for q, all in enumerate(of) if all},
                             self.lines(*line, "--filter", listed, limit, 4 if limit == "--k" else repr(radius)))

    def test_vectors(self):
        rows, queries = drawn(150, 3, 1), drawn(9, 3, 2)
        base, asked = self.file("base.fvecs", harness.fvecs(rows)), self.file("asked.fvecs", harness.fvecs(queries))
        for kind in TYPES:
            for metric in ("l1", "l2", "linf"):
                self.expect_found(rows, queries, metric, math.sqrt(2), "--collection", base,
                                  "--queries", asked, "--metric", metric, *of_type(kind))

    def test_angles(self):
        base = self.file("base.fvecs", harness.fvecs([[1, 0], [0, 2], [-3, 0], [0, 0]]))
        asked = self.file("asked.fvecs", harness.fvecs([[5, 0]]))
        right = math.acos(0)
        self.assertEqual({0: [(0, 0), (right, 1), (right, 3), (math.pi, 2)]},
                         self.lines("--collection", base, "--queries", asked, "--metric", "angular"))
        # A vector of zeros has the distance 0 to another: else it were none of a metric.
        zeros = self.file("zeros.fvecs", harness.fvecs([[0, 0]]))
        for kind in TYPES:
            self.assertEqual({0: [(0, 3), (right, 0), (right, 1), (right, 2)]},
                             self.lines("--collection", base, "--queries", zeros, "--metric", "angular", *of_type(kind)))

    def test_words(self):
        chance = random.Random(3)
        words = ["".join(chance.choice("añb€") for _ in range(chance.randrange(9))) for _ in range(200)]
        asked = ["", "añb", "zzz", words[7]]
        base = self.file("words.txt", "".join(f"{word}\n" for word in words).encode())
        queries = self.file("asked.txt", "\r\n".join(asked).encode())
        for kind in TYPES:
            self.expect_found(words, asked, "edit", 2.0, "--collection", base, "--queries", queries,
                              "--metric", "edit", *of_type(kind))
        self.expect_found([word.encode() for word in words], [word.encode() for word in asked], "edit",
                          3.0, "--collection", base, "--queries", queries, "--metric", "edit",
                          "--letters", "bytes")

    def test_a_collection_that_is_its_own_queries(self):
        rows = drawn(60, 3, 8)
        base = self.file("base.fvecs", harness.fvecs(rows))
        every = nearest(rows, rows, "l2")
        for verb in ("metric", "dense"):
            line = ["search", verb, "--collection", base, "--queries", base, "--leave-out-self", "--quiet"]
            for limit, of in (("--k", [[pair for pair in all if pair[1] != q][:3] for q, all in enumerate(every)]),
                              ("--radius", [[pair for pair in all if pair[1] != q and pair[0] <= 3] for q, all in enumerate(every)])):
                found = collections.defaultdict(list)
                for text in self.expect(0, *line, limit, 3).stdout.decode().splitlines():
                    q, rank, item, value = text.split("\t")
                    found[int(q)].append((float(value), int(item)))
                    self.assertEqual(int(rank), len(found[int(q)]))
                self.assertEqual({q: all for q, all in enumerate(of) if all}, found, (verb, limit))
        self.expect(2, "search", "dense", "--collection", base, "--queries", base, "--leave-out-self", "--out", "near.ivecs",
                    message="--leave-out-self cannot be combined with --out near.ivecs")

    def test_index(self):
        rows, queries = drawn(100, 3, 4), drawn(5, 3, 5)
        base, asked = self.file("base.fvecs", harness.fvecs(rows)), self.file("asked.fvecs", harness.fvecs(queries))
        for kind in TYPES:
            self.expect(0, "search", "metric", "--collection", base, "--metric", "l1", *of_type(kind),
                        "--index", "kept")
            self.expect_found(rows, queries, "l1", 3.0, "--index", "kept", "--queries", asked)
        damaged = bytearray((self.folder / "kept").read_bytes())
        damaged[100] ^= 1
        self.expect(3, "search", "metric", "--index", self.file("damaged", bytes(damaged)),
                    "--queries", asked, message="damaged:1:1: ")

    def test_schedules_and_parts_find_the_same(self):
        rows, queries = drawn(90, 3, 6), drawn(7, 3, 7)
        base, asked = self.file("base.fvecs", harness.fvecs(rows)), self.file("asked.fvecs", harness.fvecs(queries))
        line = ["--collection", base, "--queries", asked, "--metric", "l1"]
        ways = [["--split", parts] for parts in (1, 3, 200)]
        ways += [["--schedule", name] for name in SCHEDULES]
        for kind in ("brute", "lc", "egnat"):
            for asked_for in (["--k", 7], ["--radius", 3]):
                start = [*line, *of_type(kind), *asked_for]
                expected = self.lines(*start)
                for way in ways:
                    self.assertEqual(expected, self.lines(*start, "--threads", 3, *way))

        def summary(*words):
            return self.told("search", "metric", *line, *of_type("egnat"), "--radius", 2, "--threads", 3, "--json", "--out", "near",
                             *words)
        alone = summary()
        self.assertEqual(alone["schedule"], "shared")
        self.assertNotIn("efficiency", alone)
        for name in SCHEDULES[1:]:
            found = summary("--schedule", name)
            self.assertEqual(found["schedule"], name)
            self.assertEqual(found["evaluations"], alone["evaluations"])
            self.assertEqual(len(found["evaluations_of_threads"]), 3)
            self.assertEqual(sum(found["evaluations_of_threads"]), found["evaluations"])
            self.assertAlmostEqual(found["efficiency"], found["evaluations"] / 3
                                   / max(found["evaluations_of_threads"]))
            if name != "hybrid":
                self.assertEqual(found["messages"] > 0, name in ("bulk-circular", "bulk-critical"), name)
        parts = summary("--split", 5)
        self.assertEqual((parts["split"], len(parts["evaluations_of_parts"])), (5, 5))
        self.assertNotIn("schedule", parts)

    def test_outputs(self):
        base = self.file("words.txt", b"one\ntwo\nthree\n")
        done = self.expect(0, "search", "metric", "--collection", base, "--queries", base, "--metric",
                           "edit", "--k", 2, "--check-metric", "--out", "near", "--run", "near.run",
                           "--tag", "mine", "--json")
        self.assertEqual((self.folder / "near").read_text(),
                         "0\t1\t0\t0\n0\t2\t1\t3\n1\t1\t1\t0\n1\t2\t0\t3\n2\t1\t2\t0\n2\t2\t0\t4\n")
        self.assertEqual((self.folder / "near.run").read_text().splitlines()[3], "1 Q0 0 2 -3 mine")
        summary = json.loads(done.stdout)
        self.assertEqual({name: summary[name] for name in (
            "objects", "metric", "index_type", "build_evaluations", "checked_triples", "queries", "k",
            "evaluations")}, {
                "objects": 3, "metric": "edit", "index_type": "brute", "build_evaluations": 0,
                "checked_triples": 100000, "queries": 3, "k": 2, "evaluations": 9})
        self.assertIn("3 objects takes less time", summary["reason"])
        self.assertIn(b"100000 random triples had no distance that violates", done.stderr)
        self.expect(0, "search", "metric", "--collection", base, "--metric", "edit", "--check-metric")

    def test_a_disk_that_is_full(self):
        """Outputs come together or not at all, whichever of them the disk does not hold."""
        base, asked = self.file("base.fvecs", harness.fvecs(drawn(400, 3, 1))), self.file("asked.fvecs", harness.fvecs(drawn(60, 3, 2)))
        out = self.folder / "out"
        out.mkdir()
        line = ["search", "metric", "--collection", base, "--queries", asked, "--index-type", "sss", "--k", 9, "--out",
                out / "n", "--run", out / "r", "--index", out / "i"]
        self.expect(0, *line)
        whole = {path.name: path.read_bytes() for path in out.iterdir()}
        self.assertEqual(sorted(whole), ["i", "n", "r"])
        sizes = sorted(map(len, whole.values()))
        of_index = ["search", "metric", "--collection", base, "--index-type", "sss", "--index", out / "i"]
        of_lists = line[:-2]
        for limited, limits in ((of_index, (90, len(whole["i"]) - 1)),
                                (of_lists, (90, len(whole["n"]) - 1, len(whole["r"]) - 1)), (line, (90, sizes[-1] - 1))):
            for limit in limits:
                with self.subTest(line=limited[3:], limit=limit):
                    for name in whole:
                        (out / name).write_bytes(harness.OLD)
                    self.expect_full_disk(limit, *limited)
                    left = {path.name: path.read_bytes() for path in out.iterdir()}
                    # An index that was written before its queries were asked is whole.
                    if len(whole["i"]) <= limit and limited is line:
                        self.assertEqual(left.pop("i"), whole["i"])
                    self.assertEqual(set(left.values()), {harness.OLD})
        self.expect(0, *line)
        self.assertEqual({path.name: path.read_bytes() for path in out.iterdir()}, whole)
        for name in ("--out", "--run"):
            self.expect(1, *line[:10], name, "/dev/full", message="/dev/full: cannot be written: No space")

    def test_memory_that_is_full(self):
        limit = 1 << 28
        limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))}
        line = ["search", "metric", "--threads", 1, "--device", "cpu", "--collection"]
        small = self.file("small.fvecs", harness.fvecs([[1, 2], [3, 4]]))
        if self.rulerank(*line, small, "--queries", small, **limited).returncode != 0:
            self.skipTest("the program does not start in 256 MB of addresses (a sanitizer's does not)")
        out = self.folder / "out"
        out.mkdir()
        for name in "in":
            (out / name).write_bytes(harness.OLD)
        many = self.folder / "many.u8bin"  # 400 MB as floats, of a file with holes
        with open(many, "wb") as file:
            file.write(struct.pack("<2I", 200_000, 512))
            file.truncate(8 + 200_000 * 512)
        asked = self.file("asked.u8bin", struct.pack("<2I", 1, 512) + bytes(512))
        done = self.expect(1, *line, many, "--queries", asked, "--metric", "l1", "--out", out / "n", "--index", out / "i",
                           message="rulerank: error: out of memory\n", **limited)
        self.assertEqual(done.stderr, b"rulerank: error: out of memory\n")
        self.assertEqual({path.name: path.read_bytes() for path in out.iterdir()}, {name: harness.OLD for name in "in"})

    def test_auto_says_which_device_where_there_is_a_gpu(self):
        base = self.file("words.txt", b"one\ntwo\nthree\n")
        rows = self.file("base.fvecs", harness.fvecs(drawn(20, 3, 4)))
        has_gpu = bool(self.told("devices", "--json")["cuda"])
        took = b"rulerank: --device auto selected the CPU: starting CUDA would take longer"
        of_words = ["search", "metric", "--collection", base, "--queries", base, "--metric", "edit"]
        of_rows = ["search", "metric", "--collection", rows, "--queries", rows]
        for line in (of_words, of_rows, [*of_rows, "--metric", "l1", "--index-type", "brute"],
                     [*of_words, "--index", "kept"]):
            self.assertEqual(took in self.expect(0, *line).stderr, has_gpu, line)
        # Work that stays on the CPU, and an index for any machine, need no GPU.
        for line in ([*of_rows, "--index-type", "lc"], [*of_rows, "--metric", "angular"],
                     [*of_rows, "--split", 2], [*of_rows, "--schedule", "local"],
                     [*of_rows, "--index", "kept"], [*of_words, "--engine", "index"]):
            self.assertNotIn(b"--device", self.expect(0, *line).stderr, line)

    def test_gpus_that_searched(self):
        words, none = self.file("words.txt", b"one\ntwo\nthree\n"), self.file("none.txt", b"")
        if not self.told("devices", "--json")["cuda"]:
            self.skipTest("no CUDA device")
        # A query has work for one GPU; without objects or queries none searches, and nothing is said of how many.
        for objects, queries, searched in ((words, words, 1), (none, words, 0), (words, none, 0)):
            done = self.expect(0, "search", "metric", "--collection", objects, "--queries", queries, "--metric", "edit",
                               "--device", "cuda", "--out", "near", "--json")
            self.assertEqual(json.loads(done.stdout)["gpus"], searched)
            self.assertNotIn(b"0 of", done.stderr)

    def test_wrong_options_leave_nothing(self):
        base, kept = self.file("base.fvecs", harness.fvecs([[1, 2], [3, 4]])), self.folder / "kept"
        line = ["search", "metric", "--collection", base, "--queries", base, "--index", kept, "--out", "near"]
        for wrong in (["--radius", -1], ["--k", 0], ["--index-type", "sss", "--alpha", 2], ["--bucket", -1],
                      ["--index-type", "brute", "--bucket", 3], ["--index-type", "lc", "--alpha", ".7"]):
            self.expect(2, *line, *wrong)
            self.assertFalse(kept.exists(), wrong)
            self.assertFalse((self.folder / "near").exists(), wrong)

    def test_words_are_no_vectors(self):
        words, rows = self.file("words.txt", b"one\ntwo\n"), self.file("rows.fvecs", harness.fvecs([[1, 2]]))
        unnamed = self.file("rows.txt", b"one\r\n" + harness.fvecs([[1, 2]]))
        by_name = "found {}, whose name says vectors (fvecs); expected words, one on each line"
        line = ["search", "metric", "--metric", "edit"]
        self.expect(2, *line, "--collection", rows, "--queries", words, message="--collection: " + by_name.format(rows))
        self.expect(2, *line, "--collection", words, "--queries", rows, message="--queries: " + by_name.format(rows))
        for side in ("--collection", "--queries"):
            files = {"--collection": words, "--queries": words, side: unnamed}
            self.expect(3, *line, *(word for pair in files.items() for word in pair),
                        message=f"{unnamed}:2:1: found a byte of value 2, expected words, one on each line")
        self.expect(0, *line, "--collection", words, "--index", "kept")
        asked = ["search", "metric", "--index", "kept", "--queries"]
        self.expect(2, *asked, rows, message="--queries: " + by_name.format(rows))
        self.expect(3, *asked, unnamed, message=f"{unnamed}:2:1: found a byte of value 2")
        packed = self.file("rows.npy.gz", b"one\n")
        self.expect(2, *asked, packed, message="whose name says vectors (npy)")

    def test_bad_input(self):
        base = self.file("good.fvecs", harness.fvecs([[1, 2], [3, 4], [5, 6]]))
        three = self.file("three.fvecs", harness.fvecs([[1, 2, 3]]))
        start = f"search metric --collection {base} --queries {base} --out {{out}} "
        self.check_rows([Row(name, b"", line, code, message) for name, line, code, message in (
            ("no collection", "search metric --queries {in}", 2, "expected --collection or --index"),
            ("nothing to do", "search metric --collection {in}", 2, "nothing to do"),
            ("k of 0", start + "--k 0", 2, "--k"),
            ("squared", start + "--metric squared-l2", 2, "squared l2 violates the triangle inequality"),
            ("cosine", start + "--metric cosine", 2, "angular finds the same neighbours"),
            ("ip", start + "--metric ip", 2, "inner products are not distances"),
            ("metric", start + "--metric l3", 2, "expected one of l1, l2, linf, angular, edit"),
            ("type", start + "--index-type vp", 2, "vp"),
            ("alpha", start + "--alpha 0 --index-type sss", 2, "--alpha: found 0, expected a number above 0"),
            ("alpha above 1", start + "--alpha 1.5 --index-type sss", 2, "--alpha: found 1.5"),
            ("alpha of lc", start + "--index-type lc --alpha .7", 2,
             "--alpha has no effect on an index of type lc, expected --index-type sss, sss-tree"),
            ("alpha of auto", start + "--alpha .7", 2, "--alpha has no effect on an index of type auto"),
            ("bucket of brute", start + "--index-type brute --bucket 7", 2,
             "--bucket has no effect on an index of type brute, expected --index-type lc, sss-tree, egnat, m-tree, mvpt"),
            ("bucket of sss", start + "--index-type sss --bucket 7", 2, "--bucket has no effect on an index of type sss"),
            ("engine of another type", start + "--index-type egnat --engine index --bucket -1", 2, "--bucket: "),
            ("tag", start + "--tag mine", 2, "--tag needs --run"),
            ("letters", start + "--letters bytes", 2, "--letters needs --metric edit"),
            ("radius below 0", start + "--radius -1", 2, "--radius: found '-1', expected a number of 0 or more"),
            ("radius that is none", start + "--radius nan", 2, "--radius: found 'nan'"),
            ("radius and k", start + "--radius 1 --k 3", 2, "--k cannot be combined with --radius"),
            ("metric of an index", "search metric --index {in} --queries {in} --metric l1", 2,
             "--metric cannot be combined with --index without --collection"),
            ("index from a stream", start + "--index -", 2, "--index: found standard input (-)"),
            ("out without queries", f"search metric --collection {base} --index {{out}} --k 3", 2,
             "--k needs --queries"),
            ("schedule", start + "--schedule bulk", 2, "found 'bulk'"),
            ("schedule without queries", f"search metric --collection {base} --index {{out}} --schedule local", 2,
             "--schedule needs --queries"),
            ("split into nothing", start + "--split 0", 2, "--split"),
            ("split and kept", start + "--split 2 --index {out}.index", 2, "--split cannot be combined with --index"),
            ("split and dealt", start + "--split 2 --schedule local", 2, "--schedule cannot be combined with --split"),
            ("other dimensions", f"search metric --collection {base} --queries {three} --out {{out}}", 2,
             "found vectors of 3 dimensions, expected 2"),
            ("no index", f"search metric --index {{in}} --queries {base} --out {{out}}", 3,
             "{in}:1:1: found an empty file, expected an index"))])


if __name__ == "__main__":
    harness.main()

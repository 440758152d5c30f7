"""The verb search dense: neighbours, refused options, and files after errors."""

import json
import math
import os
import random
import resource
import struct

import harness
from harness import Row


def read_vecs(data, kind):
    """Rows of .ivecs ("i") or .fvecs ("f")."""
    rows = []
    while data:
        (n,) = struct.unpack_from("<i", data)
        rows.append(list(struct.unpack_from(f"<{n}{kind}", data, 4)))
        data = data[4 + 4 * n:]
    return rows


def idx(values, *shape):
    return struct.pack(f">I{len(shape)}I", 0x0800 + len(shape), *shape) + bytes(values)


def drawn(rows, dimensions, seed, of=3):
    """Small whole numbers: many rows are equally near."""
    chance = random.Random(seed)
    return [[float(chance.randrange(of)) for _ in range(dimensions)] for _ in range(rows)]


def value_of(query, row, metric):
    squares = products = of_query = of_row = 0.0
    for x, y in zip(query, row):
        squares += (x - y) * (x - y)
        products += x * y
        of_query += x * x
        of_row += y * y
    if metric == "l2":
        return math.sqrt(squares)
    if metric == "ip":
        return products
    return products / (math.sqrt(of_query) * math.sqrt(of_row)) if of_query and of_row else 0.0


def nearest(rows, queries, metric, may=lambda row: True):
    """The definition: of each query (value, row), nearest first."""
    sign = 1 if metric == "l2" else -1
    return [sorted(((value_of(query, row, metric), r) for r, row in enumerate(rows) if may(r)),
                   key=lambda pair: (sign * pair[0], pair[1])) for query in queries]


class SearchDense(harness.CommandLine):
    def inputs(self, rows, queries):
        return (self.file("base.fvecs", harness.fvecs(rows)), self.file("queries.fvecs", harness.fvecs(queries)))

    def lines(self, *words):
        found = {}
        for line in self.expect(0, "search", "dense", *words).stdout.decode().splitlines():
            query, rank, row, value = line.split("\t")
            found.setdefault(int(query), []).append((float(value), int(row)))
            self.assertEqual(int(rank), len(found[int(query)]))
        return found

    def test_an_index_that_was_kept(self):
        base, queries = self.inputs(drawn(40, 3, 1), drawn(4, 3, 2))
        for metric in ("l2", "ip", "cosine"):
            line = ["search", "dense", "--queries", queries, "--k", "5", "--quiet"]
            expected = self.expect(0, *line, "--collection", base, "--metric", metric).stdout
            self.assertEqual(
                self.expect(0, *line, "--collection", base, "--metric", metric, "--index", "kept.index").stdout, expected)
            self.assertEqual(self.expect(0, *line, "--index", "kept.index").stdout, expected)
            self.expect(0, "search", "dense", "--collection", base, "--metric", metric, "--index", "alone.index",
                        message="wrote 40 rows of 3 values to alone.index")
            self.assertEqual((self.folder / "alone.index").read_bytes(), (self.folder / "kept.index").read_bytes())

    def test_indexes_that_are_wrong(self):
        base, queries = self.inputs(drawn(40, 3, 1), drawn(4, 3, 2))
        self.expect(0, "search", "dense", "--collection", base, "--index", "kept.index", "--quiet")
        kept = (self.folder / "kept.index").read_bytes()
        line = ["search", "dense", "--queries", queries]
        cut = self.file("cut.index", kept[:-100])
        self.expect(3, *line, "--index", cut, message="cut.index:1:1: found an index of")
        changed = self.file("changed.index", kept[:70] + bytes([kept[70] ^ 1]) + kept[71:])
        self.expect(3, *line, "--index", changed, message="changed.index:1:1: rows of this index are damaged")
        self.expect(3, *line, "--index", base, message="base.fvecs:1:1: not an index of rulerank")
        self.expect(3, *line, "--index", "absent.index", message="absent.index")
        text = self.file("words.tsv", b"a\tsome words\nb\tother words\n")
        self.expect(0, "search", "text", "--collection", text, "--index", "text.index", "--quiet")
        self.expect(3, *line, "--index", "text.index", message='found a "rulerank text index", expected a rulerank dense index')
        for wrong, message in (([], "no rows, expected --collection or --index"),
                               (["--index", "-"], "--index: found standard input (-), expected a file"),
                               (["--index", "kept.index", "--metric", "ip"], "the index has its own metric"),
                               (["--collection", base, "--index", queries], "queries.fvecs")):
            self.expect(2, *line, *wrong, message=message)
        self.expect(2, "search", "dense", "--index", "kept.index", message="nothing to do, expected --queries, or --collection")
        self.expect(2, "search", "dense", "--collection", base, message="nothing to do, expected --queries, or --index")
        self.expect(2, "search", "dense", "--collection", base, "--index", "x.index", "--k", "3", message="--k needs --queries")

    def test_what_is_found(self):
        rows, queries = drawn(150, 5, 1), drawn(40, 5, 2)
        base, asked = self.inputs(rows, queries)
        for metric in ("l2", "ip", "cosine"):
            for k in (1, 7, 150, 1000):
                expected = {q: all[:k] for q, all in enumerate(nearest(rows, queries, metric))}
                for threads in (1, 3):
                    self.assertEqual(expected, self.lines(
                        "--collection", base, "--queries", asked, "--k", k, "--metric", metric,
                        "--threads", threads))

    def test_radius(self):
        rows, queries = drawn(150, 4, 3), drawn(9, 4, 4)
        base, asked = self.inputs(rows, queries)
        for metric, radius in (("l2", math.sqrt(2)), ("l2", 1.4), ("ip", 5), ("cosine", .5), ("l2", 0)):
            expected = {}
            for q, all in enumerate(nearest(rows, queries, metric)):
                within = [pair for pair in all
                          if (pair[0] <= radius if metric == "l2" else pair[0] >= radius)]
                if within:
                    expected[q] = within
            self.assertEqual(expected, self.lines("--collection", base, "--queries", asked,
                                                  "--radius", repr(radius), "--metric", metric))

    def test_more_in_a_radius_than_memory_holds(self):
        base, asked = self.inputs([[0.0]] * 60000, [[0.0]] * 256)
        limit = 600 << 20
        self.expect(2, "search", "dense", "--collection", base, "--queries", asked, "--radius", "1",
                    "--threads", 1, "--out", "near", message="more than memory holds; use",
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertFalse((self.folder / "near").exists())

    def test_filter(self):
        rows, queries = drawn(100, 4, 5), drawn(6, 4, 6)
        base, asked = self.inputs(rows, queries)
        may = set(random.Random(7).sample(range(100), 9))
        ids = self.file("ids", "".join(f"{row}\n" for row in may).encode())
        expected = dict(enumerate(nearest(rows, queries, "l2", lambda row: row in may)))
        self.assertEqual(expected, self.lines("--collection", base, "--queries", asked, "--filter", ids))

    def test_files_of_rows(self):
        rows, queries = drawn(20, 3, 8), drawn(5, 3, 9)
        base, asked = self.inputs(rows, queries)
        ids = self.file("ids", b"3\n17\n")
        self.expect(0, "search", "dense", "--collection", base, "--queries", asked, "--filter", ids,
                    "--k", 4, "--out", "near.ivecs", "--values", "near.fvecs", "--run", "near.run")
        found = read_vecs((self.folder / "near.ivecs").read_bytes(), "i")
        values = read_vecs((self.folder / "near.fvecs").read_bytes(), "f")
        for q, all in enumerate(nearest(rows, queries, "l2", lambda row: row in (3, 17))):
            self.assertEqual(found[q], [row for _, row in all] + [-1, -1])
            for (value, _), shown in zip(all, values[q]):
                self.assertEqual(struct.pack("<f", value), struct.pack("<f", shown))
        run = (self.folder / "near.run").read_text().splitlines()
        self.assertEqual(len(run), 10)
        self.assertEqual(run[0].split()[:4], ["0", "Q0", str(found[0][0]), "1"])

    def test_files_of_rows_are_padded(self):
        rows, queries = drawn(5, 3, 8), drawn(4, 3, 9)
        base, asked = self.inputs(rows, queries)
        line = ["search", "dense", "--collection", base, "--queries", asked]
        expected = nearest(rows, queries, "l2")
        for k in (5, 6, 9):
            self.expect(0, *line, "--k", k, "--out", "near.ivecs", "--values", "near.fvecs")
            found = read_vecs((self.folder / "near.ivecs").read_bytes(), "i")
            values = read_vecs((self.folder / "near.fvecs").read_bytes(), "f")
            self.assertEqual(found, [[row for _, row in all] + [-1] * (k - 5) for all in expected])
            self.assertEqual([len(row) for row in values], [k] * 4)
            self.assertEqual([row[5:] for row in values], [[0.0] * (k - 5)] * 4)
            self.expect(0, *line, "--k", k, "--out", "near.npy")
            npy = (self.folder / "near.npy").read_bytes()
            self.assertIn(f"'shape': (4, {k})".encode(), npy[:128])
            self.assertEqual(npy[-4 * 4 * k:], b"".join(struct.pack(f"<{k}i", *row) for row in found))
        # Lines have no padding, so k may be any number.
        self.assertEqual({q: all for q, all in enumerate(expected)},
                         self.lines("--collection", base, "--queries", asked, "--k", 1 << 40))

    def test_more_rows_in_a_file_than_memory_holds(self):
        base, asked = self.inputs([[0.0]] * 20, [[0.0]] * 1000)
        limit = 800 << 20
        line = ["search", "dense", "--collection", base, "--queries", asked, "--threads", 1]
        for k, entry in ((300_000, 300_000), (1 << 40, 1 << 40)):
            self.expect(2, *line, "--k", k, "--out", "near.ivecs", message=f"--out near.ivecs: {entry} entries of each of 1000 "
                        "queries need", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.expect(2, *line, "--k", 300_000, "--out", "near.ivecs", message="use a smaller --k, fewer queries at a time",
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertFalse((self.folder / "near.ivecs").exists())

    def test_numbers_of_rows_that_a_file_does_not_hold(self):
        many = self.folder / "many.u8bin"
        many.write_bytes(struct.pack("<2I", (1 << 31) + 1, 1))
        os.truncate(many, 8 + (1 << 31) + 1)  # zeros that take no space
        asked = self.file("asked.u8bin", struct.pack("<2I", 1, 1) + b"\0")
        for name in ("near.ivecs", "near.ibin", "near.npy"):
            self.expect(2, "search", "dense", "--collection", many, "--queries", asked, "--k", 1, "--out", name,
                        message=f"--out {name}: found 2147483649 rows, expected at most 2147483648")

    def test_names_of_outputs(self):
        base, asked = self.inputs(drawn(20, 3, 8), drawn(5, 3, 9))
        ids = self.file("ids", b"".join(b"r%d\n" % row for row in range(20)))
        line = ["search", "dense", "--collection", base, "--queries", asked]
        for name in ("near.fvecs", "near.fbin", "near.bvecs", "near.u8bin", "near.i8bin", "near.idx",
                     "near.ivecs.gz", "near.npy.zst", "near.FBIN"):
            self.expect(2, *line, "--out", name, message=f"--out {name}: found a format that does not")
            self.assertFalse((self.folder / name).exists())
        for name in ("v.ivecs", "v.fvecs.gz", "v"):
            self.expect(2, *line, "--out", "near.ivecs", "--values", name,
                        message=f"--values {name}: expected a name that ends with .fvecs, .fbin or .npy")
        self.expect(2, *line, "--tag", "mine", message="--tag needs --run")
        for option in ("--ids", "--query-ids"):
            self.expect(2, *line, "--out", "near.npy", option, ids, message=f"{option} has no effect with --out near.npy")
        self.expect(0, *line, "--out", "near.IVECS", "--ids", ids, "--run", "near.run", "--k", 2)
        self.assertEqual(len(read_vecs((self.folder / "near.IVECS").read_bytes(), "i")), 5)
        self.assertEqual((self.folder / "near.run").read_text().split()[2][0], "r")

    def test_standard_input(self):
        rows, queries = drawn(20, 3, 8), drawn(5, 3, 9)
        base, asked = self.inputs(rows, queries)
        line = ["search", "dense", "--k", 4]
        expected = self.expect(0, *line, "--collection", base, "--queries", asked).stdout
        self.assertEqual(self.expect(0, *line, "--collection", "-", "--collection-format", "fvecs", "--queries", asked,
                                     input=harness.fvecs(rows)).stdout, expected)
        self.assertEqual(self.expect(0, *line, "--collection", base, "--queries", "-", "--queries-format", "fvecs",
                                     input=harness.fvecs(queries)).stdout, expected)
        named = self.file("base", harness.fvecs(rows))
        self.assertEqual(self.expect(0, *line, "--collection", named, "--collection-format", "fvecs", "--queries", asked).stdout,
                         expected)
        self.expect(2, *line, "--collection", "-", "--queries", asked, input=harness.fvecs(rows),
                    message="--collection -: standard input has no name that gives its format; set --collection-format")
        self.expect(2, *line, "--collection", base, "--queries", "-", message="set --queries-format")
        self.expect(2, *line, "--collection", named, "--queries", asked, message="base: found no format of vectors")
        self.expect(2, *line, "--collection", base, "--queries", asked, "--queries-format", "fvec", message="fvec")
        self.expect(2, "search", "dense", "--collection", base, "--index", "i", "--queries-format", "npy",
                    message="--queries-format needs --queries")

    def test_an_index_keeps_ids(self):
        rows, queries = drawn(30, 3, 8), drawn(4, 3, 9)
        base, asked = self.inputs(rows, queries)
        numbers = [7 * row - 9 if row else -(1 << 63) for row in range(29)] + [(1 << 63) - 1]
        ids = self.file("ids", "".join(f"{number}\n" for number in numbers).encode())
        line = ["search", "dense", "--queries", asked, "--k", 6]
        expected = self.expect(0, *line, "--collection", base, "--ids", ids).stdout
        self.assertEqual({line.split(b"\t")[2] for line in self.expect(
            0, *line[:-1], 30, "--collection", base, "--ids", ids).stdout.splitlines()}, {b"%d" % number for number in numbers})
        self.assertEqual(self.expect(0, *line, "--collection", base, "--ids", ids, "--index", "kept").stdout, expected)
        self.assertEqual(self.expect(0, *line, "--index", "kept").stdout, expected)
        self.expect(0, "search", "dense", "--collection", base, "--ids", ids, "--index", "alone", "--quiet")
        self.assertEqual((self.folder / "alone").read_bytes(), (self.folder / "kept").read_bytes())
        # Ids of the line go before those of the index; --radius and --run have ids too.
        others = self.file("others", b"".join(b"r%d\n" % row for row in range(30)))
        self.assertEqual(self.expect(0, *line, "--index", "kept", "--ids", others).stdout,
                         self.expect(0, *line, "--collection", base, "--ids", others).stdout)
        for wanted in (["--radius", "1.5"], ["--k", "3", "--run", "run"]):
            self.assertEqual(self.expect(0, *line[:4], *wanted, "--index", "kept").stdout,
                             self.expect(0, *line[:4], *wanted, "--collection", base, "--ids", ids).stdout)
        self.assertEqual(len({line.split()[2] for line in (self.folder / "run").read_text().splitlines()} &
                             {str(number) for number in numbers}),
                         len({line.split()[2] for line in (self.folder / "run").read_text().splitlines()}))
        for wrong in (b"+1", b"01", b"1.0", b"a", b"9223372036854775808", b" 1"):
            bad = self.file("bad", b"".join(b"%d\n" % row for row in range(29)) + wrong)
            self.expect(3, "search", "dense", "--collection", base, "--ids", bad, "--index", "new",
                        message="bad:30:1: found the id")
            self.assertFalse((self.folder / "new").exists())
        self.expect(2, "search", "dense", "--index", "kept", "--verify", "--ids", ids, message="--ids needs --queries")

    def test_a_filter_of_ids(self):
        rows, queries = drawn(30, 3, 8), drawn(4, 3, 9)
        base, asked = self.inputs(rows, queries)
        names = [f"d {row % 25}" for row in range(30)]  # five of two rows each
        ids = self.file("ids", "\n".join(names).encode())
        may = self.file("may", b"d 3\n\nd 9\r\nd 3\nd 17")
        found = [[row for _, row in all] for all in nearest(rows, queries, "l2", lambda row: row % 25 in (3, 9, 17))]
        line = ["search", "dense", "--queries", asked, "--k", 30, "--filter", may]
        lines = self.expect(0, *line, "--collection", base, "--ids", ids).stdout.decode().splitlines()
        self.assertEqual([line.split("\t")[2] for line in lines], [names[row] for all in found for row in all])
        self.expect(0, *line, "--collection", base, "--ids", ids, "--out", "near.ivecs")
        self.assertEqual(read_vecs((self.folder / "near.ivecs").read_bytes(), "i"),
                         [all + [-1] * (30 - len(all)) for all in found])
        absent = self.file("absent", b"d 3\nd 25\nd 26\n")
        self.expect(3, *line[:-1], absent, "--collection", base, "--ids", ids,
                    message='absent:2:1: found "d 25", expected the id of a row')
        numbers = self.file("numbers", b"".join(b"%d\n" % (1000 + row) for row in range(30)))
        self.expect(0, "search", "dense", "--collection", base, "--ids", numbers, "--index", "kept", "--quiet")
        some = self.file("some", b"1004\n1029\n")
        lines = self.expect(0, *line[:-1], some, "--index", "kept").stdout.decode().splitlines()
        self.assertEqual([line.split("\t")[2] for line in lines],
                         [str(1000 + row) for all in nearest(rows, queries, "l2", lambda row: row in (4, 29)) for _, row in all])
        self.expect(3, *line[:-1], self.file("rows", b"4\n"), "--index", "kept",
                    message='rows:1:1: found "4", expected the id of a row')

    def test_verify(self):
        base, asked = self.inputs(drawn(40, 3, 1), drawn(4, 3, 2))
        self.expect(0, "search", "dense", "--collection", base, "--index", "kept", "--quiet")
        said = "kept: header, checksums and all 40 rows of 3 values are valid"
        self.expect(0, "search", "dense", "--index", "kept", "--verify", message=said)
        done = self.expect(0, "search", "dense", "--index", "kept", "--verify", "--queries", asked, "--json", "--out", "o",
                           message=said)
        self.assertIs(json.loads(done.stdout)["verified"], True)
        kept = (self.folder / "kept").read_bytes()
        for at in (3, 20, 70, 64 + 40 * 12 - 1, len(kept) - 2):
            changed = self.file("changed", kept[:at] + bytes([kept[at] ^ 1]) + kept[at + 1:])
            self.expect(3, "search", "dense", "--index", changed, "--verify", message="changed:1:1: ")
        for wrong in (["--collection", base], ["--collection", base, "--index", "new"]):
            self.expect(2, "search", "dense", *wrong, "--queries", asked, "--verify",
                        message="--verify needs --index without --collection")

    def test_ids(self):
        base, asked = self.inputs([[0, 0], [3, 0], [9, 9]], [[1, 0], [9, 8]])
        ids, asked_ids = self.file("ids", b"a b\nc\nd"), self.file("asked", b"p\r\nq\r\n")
        line = ["--collection", base, "--queries", asked, "--k", 2, "--ids", ids]
        self.expect(0, "search", "dense", *line, "--query-ids", asked_ids, "--out", "near")
        self.assertEqual([row.split("\t")[:3] for row in (self.folder / "near").read_text().splitlines()],
                         [["p", "1", "a b"], ["p", "2", "c"], ["q", "1", "d"], ["q", "2", "c"]])
        self.expect(2, "search", "dense", *line, "--run", "r", "--out", "near", message='"a b"')
        for bad, found in (('"a"', 'the id "\\"a\\"", expected one without quotes'), ("a ", 'the id "a ", expected one without'), ("NA", "the id NA, which")):
            self.expect(3, "search", "dense", *line[:-1], self.file("bad", f"b\n{bad}\nd".encode()), message=f"bad:2:1: found {found}")
        self.expect(0, "search", "dense", *line[:4], "--radius", "2", "--query-ids", asked_ids, "--out",
                    "near")
        self.assertEqual((self.folder / "near").read_text(), "p\t1\t0\t1\np\t2\t1\t2\nq\t1\t2\t1\n")

    def test_votes(self):
        base = self.file("base-images-idx2-ubyte", idx([0, 0, 9, 9, 0, 1, 9, 8], 4, 2))
        asked = self.file("asked-images-idx2-ubyte", idx([1, 1, 7, 7, 0, 0], 3, 2))
        labels = self.file("labels-idx1-ubyte", idx([5, 6, 5, 6], 4))
        own = self.file("own-idx1-ubyte", idx([5, 6, 6], 3))
        done = self.expect(0, "search", "dense", "--collection", base, "--queries", asked, "--k", 2,
                           "--votes", "majority", "--labels", labels, "--query-labels", own,
                           "--classes", "classes", "--out", "near", "--json")
        self.assertEqual((self.folder / "classes").read_text(), "0\t5\t5\n1\t6\t6\n2\t6\t5\n")
        summary = json.loads(done.stdout)
        self.assertAlmostEqual(summary["accuracy"], 2 / 3)
        self.assertEqual((summary["rows"], summary["dimensions"], summary["queries"], summary["k"],
                          summary["engine"]), (4, 2, 3, 2, "flat"))

    def test_published_engines(self):
        published = ("ppk", "ppb", "sbq", "gs")
        listed = [e["engine"] for e in self.told("engines", "--json")]
        base, asked = self.inputs(drawn(300, 5, 1), drawn(40, 5, 2))
        line = ["search", "dense", "--collection", base, "--queries", asked]
        if not set(published) <= set(listed):
            self.expect(2, *line, "--engine", "ppk", message="this build has no CUDA")
            self.skipTest("engines ppk, ppb, sbq, gs: this build has no CUDA")
        if b"cuda:" not in self.expect(0, "devices").stdout:
            self.expect(4, *line, "--engine", "ppk", message="engine ppk needs a GPU")
            self.skipTest("engines ppk, ppb, sbq, gs: no CUDA device")
        ids = self.file("ids", b"1\n2\n")
        for metric in ("l2", "ip"):
            self.expect(0, *line, "--metric", metric, "--engine", "flat", "--device", "cpu",
                        "--out", "flat")
            for engine in published:
                done = self.expect(0, *line, "--metric", metric, "--engine", engine, "--out",
                                   engine, "--json")
                # Floats hold whole numbers, so nothing is rounded.
                self.assertEqual((self.folder / engine).read_bytes(),
                                 (self.folder / "flat").read_bytes())
                summary = json.loads(done.stdout)
                self.assertEqual(summary["engine"], engine)
                if engine == "gs":
                    self.assertEqual(summary["by_minima"] + summary["by_sorting"], 1)
        for engine in published:
            self.expect(2, *line, "--engine", engine, "--radius", "1", "--out", "o",
                        message=f"engine {engine} finds k neighbours alone, found a radius; use engine flat")
            self.expect(2, *line, "--engine", engine, "--filter", ids, "--out", "o",
                        message=f"engine {engine} searches all rows alone, found a filter; use engine flat")

    def test_bad_input(self):
        good = harness.fvecs([[1, 2], [3, 4], [5, 6]])
        base = self.file("good.fvecs", good)
        start = f"search dense --collection {base} --queries {base} --out {{out}} "
        nan = self.file("nan.fvecs", harness.fvecs([[1, 2], [3, math.nan]]))
        three = self.file("three.fvecs", harness.fvecs([[1, 2, 3]]))
        for name, data, line, code, message in (
                ("no collection", b"", "search dense --queries {in}", 2, "--collection"),
                ("k of 0", b"", start + "--k 0", 2, "--k"),
                ("metric", b"", start + "--metric l3", 2, "found metric 'l3', expected l2, ip, cosine"),
                ("engine", b"", start + "--engine flot", 2, "flot"),
                ("radius below 0", b"", start + "--radius -1", 2, "radius: found -1"),
                ("radius and k", b"", start + "--radius 1 --k 3", 2, "--k cannot be combined with --radius"),
                ("values alone", b"", start + "--values v.fvecs", 2, "--values needs --out"),
                ("labels alone", b"", start + "--labels {in}", 2, "--labels needs --votes"),
                ("votes alone", b"", start + "--votes majority", 2, "--votes needs --labels"),
                ("filter beyond the rows", b"1\n3\n", start + "--filter {in}", 3,
                 "{in}:2:1: found \"3\", expected the number of a row below 3"),
                ("filter of words", b"x\n", start + "--filter {in}", 3, "{in}:1:1: found \"x\""),
                ("filter of pairs", b"1 2\n", start + "--filter {in}", 3,
                 "{in}:1:3: found \"2\", expected one number on each line"),
                ("too few ids", b"a\nb\n", start + "--ids {in}", 3,
                 "{in}:3:1: found 2 ids, expected one for each of 3 rows"),
                ("too many ids", b"a\nb\nc\nd\n", start + "--query-ids {in}", 3,
                 "{in}:4:1: found 4 ids, expected one for each of 3 queries"),
                ("an id of nothing", b"a\n\nb\n", start + "--ids {in}", 3, "{in}:2:1: found an empty line"),
                ("other dimensions", b"",
                 f"search dense --collection {base} --queries {three} --out {{out}}", 2,
                 "found 3 dimensions, expected 2")):
            self.check_rows([Row(name, data, line, code, message)])
        self.expect(3, "search", "dense", "--collection", nan, "--queries", base,
                    message="nan.fvecs:2:2: ")
        self.expect(3, "search", "dense", "--collection", base, "--queries", nan,
                    message="nan.fvecs:2:2: ")
        self.expect(2, "search", "dense", "--collection", base, "--queries", base, "--radius", "1",
                    "--out", "o.ivecs", message="--out o.ivecs cannot be combined with --radius")


if __name__ == "__main__":
    harness.main()

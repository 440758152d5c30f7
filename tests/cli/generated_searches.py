"""Cases of search dense, metric and text for generated_test.py."""

import collections
import itertools
import math
import struct

import harness
import search_dense_test
import search_metric_test
import search_test
from generated_cases import close


def npy(rows):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    head += " " * (53 - len(head) % 64 if len(head) % 64 <= 53 else 117 - len(head) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + b"".join(struct.pack(f"<{len(r)}f", *r) for r in rows)


def binary(letter):
    return lambda rows: struct.pack("<2I", len(rows), len(rows[0])) + b"".join(
        struct.pack(f"<{len(r)}{letter}", *(map(int, r) if letter != "f" else r)) for r in rows)


VECTORS = {"fvecs": harness.fvecs, "npy": npy, "fbin": binary("f"), "u8bin": binary("B"), "i8bin": binary("b"),
           "bvecs": lambda rows: b"".join(struct.pack(f"<i{len(r)}B", len(r), *map(int, r)) for r in rows)}


def vectors(case, option, count, size, with_format=False):
    """Whole numbers, or some that floats have: every sum of them is exact."""
    form = case.pick(*VECTORS)
    values = [0., 1., 2., 5.] if case.likely(.7) or form not in ("fvecs", "npy", "fbin") else [-1.5, 0., .25, 1e3]
    rows = [[case.draw.choice(values) for _ in range(size)] for _ in range(count)]
    named = not with_format or case.likely(.7)
    case.given[option] = case.file(option[2:] + (f".{form}" if named else ""), VECTORS[form](rows))
    if not named:
        case.given[option + "-format"] = form
    return rows


def class_of(labels, weights):
    """The class with the most votes; as many: that of the nearest."""
    votes = {}
    for label, weight in zip(labels, weights):
        if label is not None:
            votes[label] = votes.get(label, 0) + weight
    return max(votes, key=votes.get) if votes else ""


def as_run(lines, metric, tag):
    return [[q, "Q0", d, rank, -score if metric in DISTANCES and score else score, tag] for q, rank, d, score in lines]


DISTANCES = {"l2", "l1", "linf", "angular", "edit"}


def judge_lines(test, case, done, expected, metric, exact=True):
    """Lines of (query, rank, id, value), in --out or on standard output, and as a run."""
    tag = str(case.value("--tag", "rulerank"))
    run = as_run(expected, metric, tag)
    wanted = [(done.rows(), expected, 3)] if "--run" not in case.given or "--out" in case.given else []
    if "--run" in case.given:
        wanted.append((done.rows("r", " "), run, 4))
    for found, lines, at in wanted:
        test.assertEqual(len(found), len(lines))
        for row, line in zip(found, lines):
            test.assertTrue(float(row[at]) == line[at] if exact else close(float(row[at]), line[at]), (row, line))
            if exact:
                test.assertEqual([*row[:at], *row[at + 1:]], [str(x) for x in [*line[:at], *line[at + 1:]]])


def draw_filter(case, ids):
    """The ids that may be found: all, or those of a file."""
    if not case.likely(.25):
        return set(ids)
    may = {i for i in ids if case.likely(.6)} or {ids[0]}
    case.given["--filter"] = case.file("filter", "".join(f"{i}\n" for i in sorted(may)))
    return may


def dense(case):
    size = case.draw.randint(1, 5)
    rows = vectors(case, "--collection", case.draw.randint(1, 14), size, True)
    queries = vectors(case, "--queries", case.draw.randint(1, 4), size, True)
    case.some({"--metric": ["l2", "ip", "cosine"], "--k": [1, 2, 5, 13, 40], "--radius": [0, 1, 2.5, .5],
               "--engine": ["flat", "auto"], "--tag": ["t"], "--run": ["out/r"], "--leave-out-self": [True]})
    case.wrong("--tag" in case.given and "--run" not in case.given, "--tag")
    case.some({"--out": ["out/o", "out/o", "out/o.ivecs"]}, .6)
    case.wrong("--k" in case.given and "--radius" in case.given, "--radius")
    binary_out = case.value("--out") == "out/o.ivecs"
    case.wrong(binary_out and "--radius" in case.given, "--radius", "radius")
    # Several rows may have one id, but not if a run names them.
    ids = list(range(len(rows)))
    if case.likely(.3):
        ids = [case.draw.randrange(10 ** 6) * 100 + i for i in ids]
        case.given["--ids"] = case.file("ids", "".join(f"{i}\n" for i in ids))
    query_ids = list(range(len(queries)))
    if case.likely(.3):
        query_ids = [f"q{i}" for i in query_ids]
        case.given["--query-ids"] = case.file("query-ids", "".join(f"{i}\n" for i in query_ids))
    may = draw_filter(case, ids)
    labels = [case.draw.randrange(3) for _ in rows]
    named = "--query-ids" in case.given or "--ids" in case.given and "--filter" not in case.given
    case.wrong(binary_out and named and "--run" not in case.given, "--out", "ids has no effect with --out out/o.ivecs")
    binary_out = case.value("--out") == "out/o.ivecs"
    if binary_out and case.likely(.5):
        case.given["--values"] = "out/v.fvecs"
    if case.likely(.25) and "--radius" not in case.given:
        case.given.update({"--votes": case.pick("majority", "similarity"), "--classes": "out/c",
                           "--labels": case.file("labels.idx", search_dense_test.idx(labels, len(rows)))})
    case.wrong(binary_out and "--leave-out-self" in case.given, "--leave-out-self")
    case.wrong("--votes" in case.given and "--leave-out-self" in case.given, "--leave-out-self")
    case.ways = [[{"--engine": "flat"}]]
    if "--ids" not in case.given and "--radius" not in case.given or case.likely(.5):
        case.beside_index = ["--collection", "--collection-format", "--metric", "--ids"]

    def judge(test, done):
        metric, k, radius = case.value("--metric", "l2"), case.value("--k", 30), case.value("--radius")
        found = search_dense_test.nearest(rows, queries, metric, lambda row: ids[row] in may)
        if "--leave-out-self" in case.given:
            found = [[pair for pair in of if str(ids[pair[1]]) != str(query_ids[q])] for q, of in enumerate(found)]
        if radius is None:
            found = [of_query[:k] for of_query in found]
        else:
            found = [[(v, r) for v, r in q if (v <= radius if metric == "l2" else v >= radius)] for q in found]
        lines = [(query_ids[q], rank, ids[r], v) for q, of in enumerate(found) for rank, (v, r) in enumerate(of, 1)]
        if binary_out:
            pad = [of + [(0, -1)] * (k - len(of)) for of in found]
            test.assertEqual(search_dense_test.read_vecs(done.files["o.ivecs"], "i"), [[r for _, r in of] for of in pad])
            if "--values" in case.given:
                for row, of in zip(search_dense_test.read_vecs(done.files["v.fvecs"], "f"), pad):
                    test.assertTrue(all(close(x, v, 1e-6) for x, (v, _) in zip(row, of)), (row, of))
        else:
            judge_lines(test, case, done, lines, metric)
        if "--classes" in case.given:
            weight = lambda v: 1 if case.given["--votes"] == "majority" else 1 / (1 + v) if metric == "l2" else v
            test.assertEqual(done.rows("c"), [[str(query_ids[q]), "", str(class_of([labels[r] for _, r in of],
                                              [weight(v) for v, _ in of]))] for q, of in enumerate(found)])
    return judge


def metric(case):
    name = case.pick("l1", "l2", "linf", "angular", "edit", "edit")
    if name == "edit":
        objects, queries = ([("".join(case.draw.choices("abcé", k=case.draw.randrange(6)))) for _ in range(case.draw.randint(1, n))]
                            for n in (16, 4))
        for option, words in (("--collection", objects), ("--queries", queries)):
            case.given[option] = case.file(option[2:] + ".txt", "".join(w + "\n" for w in words))
    else:
        size = case.draw.randint(1, 4)
        objects = vectors(case, "--collection", case.draw.randint(1, 16), size)
        queries = vectors(case, "--queries", case.draw.randint(1, 4), size)
    if name != "l2" or case.likely(.5):
        case.given["--metric"] = name
    case.some({"--k": [1, 2, 5, 40], "--radius": [0, 1, 2, 1.5], "--out": ["out/o"], "--run": ["out/r"], "--tag": ["t"],
               "--index-type": ["brute", "lc", "sss", "sss-tree", "egnat", "m-tree", "mvpt"], "--bucket": [2, 4],
               "--alpha": [.3, .6, 1], "--letters": ["code-points", "bytes"], "--leave-out-self": [True]})
    case.wrong("--k" in case.given and "--radius" in case.given, "--radius")
    case.wrong("--tag" in case.given and "--run" not in case.given, "--tag")
    case.wrong("--letters" in case.given and name != "edit", "--letters")
    may = draw_filter(case, range(len(objects)))
    kind = case.value("--index-type", "auto")
    case.wrong("--bucket" in case.given and kind in ("brute", "sss"), "--bucket")
    case.wrong("--alpha" in case.given and kind not in ("sss", "sss-tree"), "--alpha")
    if not {"--bucket", "--alpha"} & {*case.given}:
        case.ways.append([{"--index-type": t} for t in ("brute", "lc", "sss", "sss-tree", "egnat", "m-tree", "mvpt")])
    case.ways += [[{"--schedule": s} for s in search_metric_test.SCHEDULES] + [{"--split": 2}, {"--split": 3}],
                  [{"--engine": "index"}], [{"--check-metric": True}]]
    case.beside_index = ["--collection", "--metric", "--index-type", "--bucket", "--alpha", "--letters"]

    def angle(a, b):
        norms = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
        if not norms:
            return 0. if any(a) == any(b) else math.pi / 2
        return math.acos(max(-1, min(1, sum(x * y for x, y in zip(a, b)) / norms)))

    def judge(test, done):
        letters = [(o.encode() if case.value("--letters") == "bytes" else o) if name == "edit" else o for o in objects]
        asked = [(q.encode() if case.value("--letters") == "bytes" else q) if name == "edit" else q for q in queries]
        if name == "angular":
            found = [sorted((angle(q, o), i) for i, o in enumerate(objects)) for q in queries]
        else:
            found = search_metric_test.nearest(letters, asked, name)
        radius = case.value("--radius")
        self_too = "--leave-out-self" in case.given
        found = [[x for x in of if x[1] in may and not (self_too and x[1] == q)] for q, of in enumerate(found)]
        found = [of[:case.value("--k", 30)] if radius is None else [x for x in of if x[0] <= radius + 1e-9] for of in found]
        lines = [(q, rank, o, v) for q, of in enumerate(found) for rank, (v, o) in enumerate(of, 1)]
        judge_lines(test, case, done, lines, name, name != "angular")
    return judge


WORDS = ["red", "Red", "fish", "sea", "boat", "the", "of", "w1", "42", "a", "harbor"]


def text(case):
    labels = case.likely(.3)
    make = lambda letter, n: [(f"{letter}{i}", " ".join(case.draw.choices(WORDS, k=case.draw.randrange(7)))) for i in range(n)]
    documents, queries = make("d", case.draw.randint(1, 12)), make(case.pick("q", "d"), case.draw.randint(1, 4))
    classes = [case.pick("x", "y", "z") for _ in documents]
    for option, texts in (("--collection", documents), ("--queries", queries)):
        case.given[option] = case.file(option[2:] + ".tsv", "".join(
            f"{id}\t{classes[i % len(classes)] + chr(9) if labels else ''}{of}\n" for i, (id, of) in enumerate(texts)))
    case.streams = ["collection.tsv", "queries.tsv"]
    if labels:
        case.given["--labels"] = True
    case.some({"--k": [1, 2, 5, 40], "--metric": ["cosine", "ip", "l2"], "--pad": [True], "--leave-out-self": [True],
               "--out": ["out/o"], "--run": ["out/r"], "--tag": ["t"], "--weights": ["tf-idf", "bm25", "none"],
               "--tf": ["raw", "log", "binary"]}, .3)
    case.some({"--radius": [0, .3, .8, 1.2]}, .15)
    may = draw_filter(case, [id for id, _ in documents])
    case.some({"--weighting": ["lnc.ltc", "ltc.lnc", "nnn.btn", "btc.ntc"]}, .15)
    case.some({"--k1": [.5, 2], "--b": [0, 1, .4]}, .5 if case.value("--weights") == "bm25" else .03)
    case.some({"--stop-words": ["smart", "none", case.file("stop", "red\n") and "file:stop"], "--stemmer": ["none", "english"],
               "--no-fold": [True], "--no-numbers": [True], "--min-length": [2, 4], "--max-length": [3, 5], "--min-documents": [2, 3],
               "--max-share": [.3, .5]}, .2)
    if labels and case.likely(.7):
        case.given.update({"--votes": case.pick("majority", "similarity"), "--classes": "out/c"})
    has = lambda *names: all(n in case.given for n in names)
    for option in ("--weights", "--tf", "--metric"):
        case.wrong(has("--weighting", option), option)
    bm25 = lambda: case.value("--weights") == "bm25"
    case.wrong(has("--tf") and bm25(), "--tf")
    for option in ("--k1", "--b"):
        case.wrong(has(option) and not bm25(), option)
    for option in ("--k", "--pad", "--votes"):
        case.wrong(has("--radius", option), "--radius", option)
    case.wrong(has("--tag") and not has("--run"), "--tag")
    case.wrong(has("--leave-out-self", "--votes"), "--leave-out-self")
    case.ways = [[{"--engine": "mt"}, {"--engine": "tiles"}]]
    case.beside_index = ["--collection", "--stop-words", "--stemmer", "--no-fold", "--no-numbers", "--min-length", "--max-length",
                         "--min-documents", "--max-share", "--weights", "--tf", "--weighting", "--k1", "--b"]
    case.wrong(case.value("--min-length", 1) > case.value("--max-length", 64), "--min-length", "found words of")

    def words(of):
        stop = {"smart": {"the", "of", "a"}, "none": set(), "file:stop": {"red"}}[case.value("--stop-words", "smart")]
        words = [w if "--no-fold" in case.given else w.lower() for w in of.split()]
        return [w for w in words if w not in stop and case.value("--min-length", 1) <= len(w) <= case.value("--max-length", 64)
                and not ("--no-numbers" in case.given and w.isdigit())]

    def judge(test, done):
        weights = case.value("--weighting")
        if weights is None:
            tf = {"raw": "n", "log": "l", "binary": "b"}[case.value("--tf", "raw")]
            kind = case.value("--weights", "tf-idf" if "--tf" in case.given else None)
            weights = {None: "lnc.ltc", "tf-idf": f"{tf}tc.{tf}tc", "none": f"{tf}nc.{tf}nc", "bm25": "bm25"}[kind]
        df = collections.Counter(w for _, of in documents for w in set(words(of)))
        # Terms that weigh 0 in documents are not in the index, and count in no norm of a query.
        in_index = lambda n: weights[1] != "t" or n < len(documents)
        kept = {w for w, n in df.items()
                if n >= case.value("--min-documents", 1) and n / len(documents) <= case.value("--max-share", 1) and in_index(n)}

        def counts_of(of):
            return dict(sorted(collections.Counter(w for w in words(of) if w in kept).items()))
        by = case.value("--metric", "ip" if weights == "bm25" or weights[2] == "n" else "cosine")
        self_too, k = "--leave-out-self" in case.given, case.value("--k", 30)
        radius = case.value("--radius")
        near = lambda v: radius is None or (v <= radius if by == "l2" else v >= radius)
        every, matching = ([(q, d, v) for q, _, d, v in search_test.nearest(
            documents, queries, by, weights, 99, pad, case.value("--k1", 1.2), case.value("--b", .75), counts_of)
            if d in may and near(v)] for pad in (True, False))
        # The k nearest are found first, one more with --leave-out-self, then those that match.
        most = None if radius is not None else k
        found = [[line for line in itertools.islice(of, most and most + self_too) if "--pad" in case.given or line in matching]
                 for _, of in itertools.groupby(every, lambda line: line[0])]
        lines = [line for of in found for line in [line for line in of if not (self_too and line[0] == line[1])][:most]]
        lines = [(q, rank, d, v) for _, of in itertools.groupby(lines, lambda line: line[0])
                 for rank, (q, d, v) in enumerate(of, 1)]
        judge_lines(test, case, done, lines, by, weights != "bm25")
        if "--classes" in case.given:
            label = dict(zip((id for id, _ in documents), classes))
            weight = lambda v: 1 if case.given["--votes"] == "majority" else 1 / (1 + v) if by == "l2" else v
            for i, ((query, _), row) in enumerate(zip(queries, done.rows("c"))):
                of = [(label[d], v) for q, _, d, v in lines if q == query]
                test.assertEqual(row, [query, classes[i % len(classes)], class_of([x for x, _ in of], [weight(v) for _, v in of])])
    return judge

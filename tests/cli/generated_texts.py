"""Cases of features, vectors, pipeline and rank --query for generated_test.py."""

import re

import harness
import search_test
from features_test import pairs_of
from generated_cases import close
from generated_searches import VECTORS, WORDS, vectors as draw_vectors
from vectors_test import npy

STOP = {"smart": {"the", "of", "a"}, "none": set()}


def draw_texts(case, letter, most, least=1):
    return [(f"{letter}{i}", " ".join(case.draw.choices(WORDS, k=case.draw.randint(1, 6)))) for i in range(case.draw.randint(least, most))]


def write_texts(case, option, texts):
    case.given[option] = case.file(option[2:] + ".tsv", "".join(f"{name}\t{text}\n" for name, text in texts))


def draw_terms(case, share=.15):
    """How texts become weighted terms: one way of weighing, each with its own options."""
    case.some({"--stop-words": [*STOP], "--stemmer": ["none", "english", "porter"], "--no-fold": [True], "--no-numbers": [True],
               "--min-length": [2], "--max-length": [4, 5], "--min-documents": [2], "--max-share": [.5, .9]}, share)
    way = case.pick("", "", "bm25", "smart", "letters")
    if way == "bm25":
        case.given["--weights"] = "bm25"
        case.some({"--k1": [.5, 2], "--b": [0, 1, .4]}, .5)
    elif way == "smart":
        case.given["--weights"] = case.pick("tf-idf", "none")
        case.some({"--tf": ["raw", "log", "binary"]}, .7)
    elif way == "letters":
        case.given["--weighting"] = case.pick("ltc.ltc", "lnc.ltc", "btc.ntc")


TERMS = ("--stop-words", "--stemmer", "--no-fold", "--no-numbers", "--min-length", "--max-length", "--min-documents", "--max-share",
         "--weights", "--tf", "--weighting", "--k1", "--b")


def taken(case, options):
    """The words of these options, of those that a case gives."""
    words = []
    for option in options:
        if option in case.given:
            words += [option] if case.given[option] is True else [option, str(case.given[option])]
    return words


def words_of(case, text):
    words = [word if "--no-fold" in case.given else word.lower() for word in text.split()]
    return [word for word in words if word not in STOP[case.value("--stop-words", "smart")]
            and case.value("--min-length", 1) <= len(word) <= case.value("--max-length", 64)
            and not ("--no-numbers" in case.given and word.isdigit())]


def draw_judgments(case, topics, documents):
    judged = {(q, d): case.pick(0, 0, 1, 2, 5) for q, _ in topics for d, _ in documents if case.likely(.5)}
    judged = judged or {(topics[0][0], documents[0][0]): 1}
    case.given["--qrels"] = case.file("qrels", "".join(f"{q} 0 {d} {g}\n" for (q, d), g in judged.items()))
    case.some({"--not-relevant": [5, "0,5"]}, .2)
    return {pair: 0 if str(g) in str(case.value("--not-relevant", "")).split(",") else g for pair, g in judged.items()}


def draw_candidates(case, documents, topics):
    """How candidates are found: by the text, by vectors, or by both; and what their features are."""
    draw_terms(case)
    case.some({"--mu": [1, 500], "--lambda": [.5], "--delta": [.2], "--candidates": [1, 3, 40], "--leave-out-self": [True]}, .2)
    if "--weighting" not in case.given and case.likely(.1):
        case.given["--metric"] = case.pick("cosine", "ip")
    if not case.likely(.3):
        return
    size = case.draw.randint(1, 3)
    for option, texts in (("--vectors", documents), ("--topic-vectors", topics)):
        draw_vectors(case, option, len(texts), size)
    case.some({"--candidates-from": ["text", "dense", "both"], "--dense-metric": ["cosine", "ip", "l2"]}, .5)
    if case.value("--candidates-from", "both") == "both":
        case.given["--fusion"] = case.pick("rrf", "rrf", "isr", "combsum", "combmax", "combmed")
        if case.given["--fusion"] == "rrf":
            case.some({"--rrf-k": [1, 20]}, .7)
        elif case.given["--fusion"] != "isr":
            case.some({"--fusion-norm": ["max", "zmuv", "rank"]}, .5)
        case.some({"--run-weights": ["1,0.5", "2,1"]}, .4)


def by_text(case):
    return "--vectors" not in case.given or case.value("--candidates-from") == "text"


def found_by_search(test, case):
    """[(topic, [(document, score)])]: of search text, told the same."""
    more = [] if {"--weights", "--weighting"} & {*case.given} else ["--weights", "bm25"]
    depth = ["--k", str(case.value("--candidates", 100))]
    done = test.command(["search", "text", "--collection", case.given["--collection"], "--queries", case.given["--topics"], *depth, *more,
                         *taken(case, (*TERMS, "--metric", "--leave-out-self"))], case.files)
    found = {}
    for q, _, d, score in done.rows():
        found.setdefault(q, []).append((d, float(score)))
    return found


TEXT_REFUSED = ("no document", "no word", "no term", "without a word", "no candidate", "no topic", "found no ")


def features(case):
    documents, topics = draw_texts(case, "d", 10), draw_texts(case, case.pick("q", "d"), 4)
    write_texts(case, "--collection", documents)
    write_texts(case, "--topics", topics)
    case.given["--out"] = case.pick("out/o", "out/o", "out/o.csv", "out/o.tsv")
    case.some({"--unjudged": [0, -1, -3]}, .3)
    judged = draw_judgments(case, topics, documents) if case.likely(.6) else {}
    draw_candidates(case, documents, topics)
    run = None
    if case.likely(.2):
        run = {q: case.draw.sample([d for d, _ in documents], case.draw.randint(1, len(documents))) for q, _ in topics}
        case.given["--run"] = case.file("run", "".join(
            f"{q} Q0 {d} {i} {1 / i} t\n" for q, of in run.items() for i, d in enumerate(of, 1)))
        for option in ("--candidates", "--candidates-from", "--fusion", "--fusion-norm", "--rrf-k", "--run-weights", "--metric", "--leave-out-self"):
            case.given.pop(option, None)
    elif case.likely(.3):
        case.given["--candidates-out"] = "out/c"
    case.ways = [[{"--search-engine": e} for e in ("mt", "tiles")]] if run is None and by_text(case) else []
    case.may_refuse = TEXT_REFUSED

    def judge(test, done):
        name = case.given["--out"][4:]
        unjudged = case.value("--unjudged", -1)
        if name != "o":
            head, *rows = done.rows(name, by="," if name.endswith("csv") else "\t")
            rows = [dict(zip(head, row)) for row in rows]
            pairs = {(row["qid"], row["docid"]): (row.get("label") or str(unjudged), row) for row in rows}
        else:
            pairs = pairs_of(done.files["o"].decode())
        found = {q: [(d, None) for d in of] for q, of in run.items()} if run else found_by_search(test, case) if by_text(case) else None
        if found is not None:
            test.assertEqual(sorted(pairs), sorted((q, d) for q, of in found.items() for d, _ in of))
        plain = not {"--min-documents", "--max-share"} & {*case.given}
        texts = dict(documents)
        known = {word for text in texts.values() for word in words_of(case, text)}
        for (q, d), (label, values) in pairs.items():
            test.assertEqual(label, str(judged.get((q, d), unjudged)), (q, d))
            if plain:
                test.assertEqual(float(values["length_of_document"]), len(words_of(case, texts[d])), (q, d))
                test.assertEqual(float(values["query_length"]), sum(word in known for word in words_of(case, dict(topics)[q])), (q, d))
        if run is None and by_text(case) and not {"--metric", "--weighting"} & {*case.given} and case.value("--weights", "bm25") == "bm25":
            for q, of in found.items():
                for d, score in of:
                    test.assertTrue(close(float(pairs[q, d][1]["BM25_of_document"]), score), (q, d, score))
    return judge


def vectors(case):
    documents, topics, more = draw_texts(case, "d", 10, 2), draw_texts(case, "q", 3), draw_texts(case, "m", 3)
    write_texts(case, "--collection", documents)
    case.streams = ["collection.tsv"]
    case.given.update({"--out": case.pick("out/o.npy", "out/o.fvecs", "out/o.fbin"), "--dimensions": case.pick(1, 1, 2, 3, 9)})
    case.some({"--ids-out": ["out/ids"], "--element": ["f32"]}, .3)
    if case.given["--out"] == "out/o.npy" and case.likely(.3):
        case.given["--element"] = "f64"
    form = case.pick(".npy") if case.value("--element") == "f64" else case.pick(".npy", ".fvecs")
    for option, texts in (("--topics", topics), ("--fold-in", more)):
        if case.likely(.4):
            write_texts(case, option, texts)
            case.given[option + "-out"] = f"out/{option[2]}{form}"
            case.some({("--topic" if option == "--topics" else option) + "-ids-out": [f"out/{option[2]}.ids"]}, .4)
    draw_terms(case)
    case.may_refuse = (*TEXT_REFUSED, "latent dimensions")

    def read(test, data):
        path = test.folder / "read.npy"
        path.write_bytes(data)
        return npy(path)[1]

    def judge(test, done):
        for name, texts in (("ids", documents), ("t.ids", topics), ("f.ids", more)):
            if name in done.files:
                test.assertEqual(done.files[name].decode().split(), [d for d, _ in texts])
        # In the whole space, products of vectors are the similarities of the texts themselves.
        way = ["vectors", "--collection", case.given["--collection"], "--out", "out/all.npy", "--fold-in", case.given["--collection"],
               "--fold-in-out", "out/again.npy", "--element", "f64", *taken(case, TERMS), "--dimensions"]
        most = re.search(r"expected at most (\d+), the rank", test.command([*way, "99"], case.files).errors)
        if "--weights" in case.given or {"--stemmer", "--min-documents", "--max-share"} & {*case.given}:
            return
        whole = test.command([*way, most[1]], case.files)
        rows = read(test, whole.files["all.npy"])
        test.assertEqual(whole.files["all.npy"], whole.files["again.npy"])
        letters = case.value("--weighting", "ltc.ltc")[:3]
        near = {(q, d): v for q, _, d, v in search_test.nearest(
            documents, documents, "cosine", f"{letters}.{letters}", 99, True, counts_of=lambda text: counted(words_of(case, text)))}
        for (a, _), of_a in zip(documents, rows):
            for (b, _), of_b in zip(documents, rows):
                product = sum(x * y for x, y in zip(of_a, of_b))
                test.assertTrue(abs(product - near[a, b]) < 1e-9, (a, b, product, near[a, b]))
    return judge


def counted(words):
    return {word: words.count(word) for word in sorted({*words})}


def pipeline(case):
    documents, topics = draw_texts(case, "d", 9, 3), draw_texts(case, case.pick("q", "d"), 6, 4)
    write_texts(case, "--collection", documents)
    write_texts(case, "--topics", topics)
    draw_judgments(case, topics, documents)
    draw_candidates(case, documents, topics)
    case.given.update({"--out-dir": "out", "--fold-count": 3, "--permutations": 9, "--random-draws": 1,
                       "--reduce-size": case.pick("none", "none", "2"), "--rank-size": case.pick("2", "2,3"),
                       "--baselines": case.pick("full", "full,feature", "full,random")})
    case.some({"--metrics": ["MAP", "NDCG@2,MAP"], "--profile": ["trec", "standard"], "--unjudged": [0, -1], "--format": ["tsv", "json", "latex"],
               "--min-support": [2], "--min-confidence": [.3], "--smoothing": [1], "--support-weight": [.5], "--feature-share": [.5],
               "--method": ["width", "frequency"], "--bins": [2, 3], "--norm": ["none"], "--missing-values": ["none"],
               "--unlisted": ["missing"], "--partitions": [1], "--feature-order": ["label"], "--ties": ["index", "seeded"]}, .2)
    case.seeded = True
    case.ways = [[{"--engine": e} for e in ("project", "lrar")], [{"--cache-memory": "1KB"}]]
    case.may_refuse = (*TEXT_REFUSED, "two bins", "expected at least 3", "without a label", "partitions of", "random", "judg")

    def judge(test, done):
        # The training and test documents of a fold, ranked by hand.
        size = case.given["--rank-size"].split(",")[0]
        kept = {name: data for name, data in done.files.items() if name.startswith("folds/Fold2/")}
        for name, data in kept.items():
            (test.folder / name.replace("/", "-")).write_bytes(data)
        options = taken(case, ("--min-support", "--min-confidence", "--smoothing", "--support-weight", "--feature-share", "--method", "--bins",
                               "--missing-values", "--unlisted"))
        more = ["--unlabelled", "-1", "--drop-unjudged"] if case.value("--unjudged") == -1 else []
        by_hand = test.command(["rank", "--train", "folds-Fold2-train.txt", "--test", "folds-Fold2-test.txt", "--rule-size", size,
                                "--norm", case.value("--norm", "query-minmax"), *options, *more], {})
        test.assertEqual(by_hand.stdout, done.files[f"experiment/scores/full-rank-{size}/Fold2.txt"])
        if by_text(case):
            found = found_by_search(test, case)
            test.assertEqual(sorted(pairs_of(done.files["letor.txt"].decode())), sorted((q, d) for q, of in found.items() for d, _ in of))
    return judge


def rank_query(case):
    documents, topics = draw_texts(case, "d", 9, 3), draw_texts(case, "q", 4, 3)
    query = " ".join(case.draw.choices(WORDS, k=case.draw.randint(1, 4)))
    write_texts(case, "--collection", documents)
    case.file("topics", "".join(f"{name}\t{text}\n" for name, text in topics))
    case.file("judged", "".join(f"{q} 0 {d} {case.pick(0, 1, 2)}\n" for q, _ in topics for d, _ in documents))
    case.file("query", f"1\t{query}\n")
    case.given.update({"--model": "model", "--query": query})
    case.some({"--out": ["out/o"], "--candidates": [1, 3], "--stemmer": ["none", "english"]}, .4)
    stemmer = taken(case, ("--stemmer",))
    of = ["--collection", "collection.tsv", *stemmer]
    case.before = [["features", *of, "--topics", "topics", "--qrels", "judged", "--unjudged", "0", "--out", "pool"],
                   ["fit", "--train", "pool", "--members", case.pick("linear", "linear", "rules,linear", "scorecard"), "--model", "model"]]
    if case.likely(.3):
        case.given.pop("--stemmer", None)
        case.before.append(["search", "text", *of, "--index", "index", "--weights", "bm25"])
        case.given["--index"] = "index"
    case.may_refuse = (*TEXT_REFUSED, "two bins")

    def judge(test, done):
        test.command(["features", *of, "--topics", "query", *taken(case, ("--candidates",)), "--out", "out/pool"], case.files)
        (test.folder / "pairs").write_bytes((test.folder / "out/pool").read_bytes())
        by_hand = test.command(["rank", "--model", "model", "--test", "pairs", "--out", "out/scores", "--run", "out/run"], {})
        ranked = [line.split() for line in by_hand.files["run"].decode().splitlines()]
        texts, rows = dict(documents), done.main.decode().splitlines()
        test.assertEqual(len(rows), len(ranked))
        for row, (_, _, name, place, score, _) in zip(rows, ranked):
            test.assertEqual(row.split(maxsplit=3)[0::2], [place, name])
            test.assertTrue(abs(float(row.split()[1]) - float(score)) < 1e-5 * max(1, abs(float(score))), (row, score))
            test.assertIn(texts[name], row)
    return judge

"""Cases of explain, inspect, tune, experiment and sample for generated_test.py."""

import json
import re

from generated_cases import close
from generated_rankings import discretizer_options, draw_queries, features_with_cuts, write_queries
from generated_texts import taken

FITTED = ("--method", "--bins", "--norm", "--missing-values", "--unlisted", "--rule-size", "--min-support", "--min-confidence",
          "--support-weight", "--smoothing", "--feature-share", "--members", "--loss", "--points-penalty", "--smoothness", "--strength",
          "--linear-scale",
          "--pairs", "--max-features", "--max-points", "--target")
REFUSED = ("two bins", "without a label", "partitions of", "one label", "no pair")


def draw_model(case, members=("rules", "rules", "rules", "linear", "scorecard", "joint", "joint", "card", "card", "rules,linear",
                              "linear,scorecard")):
    """Training and test documents, and the options of what is fitted."""
    case.features = case.draw.randint(2, 4)
    train, test = draw_queries(case, 6, case.features), draw_queries(case, 3, case.features, (0, 1, 2), first=10)
    case.given.update({"--train": write_queries(case, "train", train), "--test": write_queries(case, "test", test)})
    members = case.pick(*members)
    if members != "rules":
        case.given["--members"] = members
    if members != "linear":
        discretizer_options(case)
    if "rules" in members:
        case.some({"--rule-size": [2, 4], "--min-support": [2], "--min-confidence": [.4], "--support-weight": [.5], "--smoothing": [2],
                   "--feature-share": [.5]}, .2)
    if "scorecard" in members:
        case.some({"--loss": ["pair", "list", "point"], "--points-penalty": [.01, 1], "--smoothness": [.2]})
    if "linear" in members:
        case.some({"--strength": [1, 30], "--linear-scale": ["query", "pool"]})
    if members == "joint":
        case.some({"--pairs": [0, 2]}, .5)
    if members == "card":
        case.some({"--max-features": [1, 2], "--max-points": [3, 20], "--target": ["auto", "labels", "members"]}, .5)
    case.may_refuse = REFUSED
    if members != "linear" and not features_with_cuts(train, case):
        case.refused.append("two bins")
    return train, test


def fit_first(case):
    """A separate command, which receives the options of the case, fits the model."""
    options = taken(case, FITTED)
    members = [] if "--members" in case.given else ["--members", "rules"]
    case.before = [["fit", "--train", case.given.pop("--train"), "--model", "model", *options, *members]]
    for option in FITTED:
        case.given.pop(option, None)
    case.given["--model"] = "model"
    case.refused, case.may_refuse = [], (*case.may_refuse, "two bins")


def explain(case):
    _, test_queries = draw_model(case)
    case.seeded = True
    if case.likely(.4):
        fit_first(case)
    else:
        case.ways = [[{"--engine": e} for e in ("project", "lrar")], [{"--cache-memory": "1KB"}]] if "--members" not in case.given else []
    qid, documents = case.pick(*test_queries)
    case.given["--qid"] = qid
    place = case.draw.randint(1, len(documents))
    way = case.pick("all", "all", "every", "rank", "docid", "first", "against", "against-rank")
    if way == "all" or way == "every":
        case.given["--all"] = True
        if way == "every":
            case.given.pop("--qid")
    elif way in ("rank", "against-rank"):
        case.given["--rank"] = place
    elif way in ("docid", "against"):
        case.given["--docid"] = documents[place - 1][2]
    others = [i for i in range(len(documents)) if i != place - 1]
    if way.startswith("against") and others:
        other = case.pick(*others)
        case.given["--" + way] = other + 1 if way == "against-rank" else documents[other][2]
    if way not in ("all", "every"):
        case.some({"--by-feature": [True]}, .5)
    else:
        case.some({"--rank": [1]}, .4)
        case.wrong("--rank" in case.given, "--rank")
    case.given["--format"] = case.pick("text", "markdown", "json", "json", "json")
    case.some({"--top": [1, 5], "--out": ["out/o"],
               "--names": [case.file("names", "1\tfirst\n2\tsecond\n")]}, .5)

    def judge(test, done):
        words = ["--model", "model"] if case.before else ["--train", "train", *taken(case, (*FITTED, "--seed"))]
        run = test.command(["rank", *words, "--test", "test", "--out", "out/o"], case.files).main.decode().split()
        ids = [docid for _, of in test_queries for _, _, docid in of]
        scores = dict(zip(ids, map(float, run)))
        if case.value("--format") != "json":
            test.assertTrue(done.main)
            return
        queries = json.loads(done.main)
        for told in queries if isinstance(queries, list) else [queries]:
            shown = told.get("documents") or [told[x] for x in ("document", "first", "second") if x in told]
            test.assertTrue(shown)
            for of in shown:
                test.assertEqual(of["score"], scores[of["docid"]], of)
                adds = of.get("adds") or [x["adds"] for x in told.get("features", []) if "adds" in x]
                if adds and "first" not in told:
                    test.assertTrue(close(told["base"] + sum(adds), of["score"], 1e-8), (told["base"], adds, of))
                    test.counts["sums"] += 1
    return judge


def inspect(case):
    draw_model(case, ("card", "card", "card", "joint", "rules", "linear", "scorecard", "rules,linear"))
    fit_first(case)
    card = "card" in case.before[0]
    if any("rules" in word for word in case.before[0]):
        case.some({"--documents": [0, 5]})
    case.seeded = True
    case.some({"--top": [1, 3], "--names": [case.file("names", "1\tfirst\n2\tsecond\n")], "--out": ["out/o"]}, .4)
    case.given["--format"] = case.pick("json", "json", "text", "markdown", *(("latex", "html", "card", "card") if card else ()))
    bootstrap = card and case.given["--format"] in ("json", "text") and case.likely(.5)
    if bootstrap or case.given["--format"] in ("latex", "html", "card", "markdown") or case.likely(.4):
        case.given.pop("--test")
        case.some({"--shuffles": [2]}, .3)
        case.wrong("--shuffles" in case.given, "--shuffles")
    else:
        case.some({"--metrics": ["MAP", "NDCG@2,P@1"], "--shuffles": [1, 2], "--profile": ["standard", "trec"], "--gain": ["linear"],
                   "--discount": ["log2"], "--no-relevant": [.5], "--relevant-from": [2], "--short-list": ["as-is"], "--ties": ["worst"],
                   "--max-docs": [2], "--max-label": [4]}, .25)
    if bootstrap:
        case.given.update({"--bootstrap": case.pick(1, 3), "--train": "train"})
        if case.likely(.6):  # the training documents are a pool of themselves
            case.given["--pool"] = "train"

    def judge(test, done):
        if case.given["--format"] == "json":
            told = json.loads(done.main)
            test.assertEqual(told["bytes"], (test.folder / "model").stat().st_size)
        elif case.given["--format"] == "card":
            # Fitting an unchanged card again gives the same card.
            (test.folder / "card").write_bytes(done.main)
            again = re.search("To fit again: rulerank (.*)", done.main.decode())[1].split()
            place = {"TRAIN": "train", "FILE": "card", "MODEL": "out/again"}
            made = test.command([place.get(word, word) for word in again], case.files)
            if "rank the labelled documents in reverse" in made.errors:  # a card of a few noisy labels
                test.counts["reversed"] += 1
                return
            test.assertEqual(made.code, 0, made.errors)
            (test.folder / "again").write_bytes((test.folder / "out/again").read_bytes())
            rank = [test.command(["rank", "--model", name, "--test", "test"], case.files).stdout for name in ("model", "again")]
            test.assertEqual(*rank, "scores of a card and of the file that inspect writes")
        test.assertTrue(done.main)
    return judge


def export(case):
    _, test_queries = draw_model(case, ("card", "card", "scorecard", "scorecard", "linear"))
    fit_first(case)
    words = case.before[0]
    given = case.given.pop("--test")
    case.given["--to"] = case.pick("python", "python", "c", "java", "javascript", "sql", "xlsx", "lightgbm", "xgboost", "onnx",
                                   "opensearch", "solr")
    names = {1: "first", 2: "second"} if case.likely(.3) else {}
    if names:
        case.given["--names"] = case.file("names", "".join(f"{f}\t{name}\n" for f, name in names.items()))
    case.some({"--out": ["out/o"], "--check": [given]}, .6)
    to, linear, pool = case.given["--to"], "linear" in words, "pool" in words
    lists = linear and not pool and to != "onnx"
    case.refused += ["whose scores depend on the documents of the list"] if lists else []
    case.refused += ["which this format does not hold"] if linear and pool and to not in ("onnx", "opensearch", "solr") else []
    case.refused += ["fitted with --linear-scale pool"] if linear and pool and to == "onnx" else []
    case.refused += ["normalized within their query"] if "query-minmax" in words and "linear" not in words else []
    case.may_refuse = (*case.may_refuse, "computes in float32", "another order")

    def judge(test, done):
        test.assertTrue(done.main)
        if case.given["--to"] != "python":
            return
        module = {}
        exec(done.main.decode(), module)
        scores = test.command(["rank", "--model", "model", "--test", "test"], case.files).stdout.split()
        documents = [values for _, of in test_queries for _, values, _ in of]
        test.assertEqual([module["score"]({names.get(f, f"f{f}"): x for f, x in values.items()}) for values in documents],
                         list(map(float, scores)))
    return judge


def small_search(case):
    case.given.update({"--try-method": case.pick("width", "frequency,width"), "--try-bins": case.pick("2", "2,3"), "--try-rule-size": "2",
                       "--try-min-support": case.pick("1", "1,2"), "--try-min-confidence": ".001", "--try-support-weight": case.pick("0", "0,-.5"),
                       "--try-smoothing": "0", "--try-feature-share": "1"})
    case.some({"--search": ["grid", "halving"], "--cross-fit": [0, 2], "--combine": [1, 2], "--rungs": [1, 2], "--keep": [2, 3],
               "--budget": [3, 50]}, .3)
    if case.value("--search") == "grid":
        for option in ("--rungs", "--keep"):
            case.given.pop(option, None)


def tune(case):
    case.features = case.draw.randint(2, 3)
    train, vali = draw_queries(case, 6, case.features), draw_queries(case, 4, case.features, first=10)
    case.given.update({"--train": write_queries(case, "train", train), "--vali": write_queries(case, "vali", vali), "--out": "out/o"})
    small_search(case)
    if "--cross-fit" in case.given and len(train) < 2:
        case.given.pop("--cross-fit")
    case.some({"--metrics": ["MAP", "NDCG@2,MAP"], "--profile": ["standard"], "--trials": ["out/trials"], "--norm": ["query-minmax"],
               "--missing-values": ["none"], "--unlisted": ["missing"], "--format": ["tsv", "json", "markdown"]}, .3)
    kinds = case.pick(*["rules"] * 5, "linear", "scorecard,rules")
    if kinds != "rules":
        case.given.update({"--kinds": kinds, "--try-strength": "1,30", "--try-loss": "pair", "--try-points-penalty": ".01", "--try-smoothness": "1"})
        if "linear" not in kinds:
            case.given.pop("--try-strength")
        if "scorecard" not in kinds:
            for option in ("--try-loss", "--try-points-penalty", "--try-smoothness"):
                case.given.pop(option)
        if "rules" not in kinds:
            for option in [o for o in case.given if o.startswith("--try-") and o != "--try-strength"]:
                case.given.pop(option)
    case.seeded = True
    case.ways = [[{"--engine": e} for e in ("project", "lrar")], [{"--cache-memory": "1KB"}]] if "rules" in kinds else []
    case.may_refuse = (*REFUSED, "folds", "quer", "--rungs", "--keep", "--combine")

    def judge(test, done):
        best = json.loads(done.files["o"])
        (test.folder / "best").write_bytes(done.files["o"])
        by_hand = test.command(["rank", "--train", "train", "--test", "vali", "--settings", "best", "--out", "out/o",
                                *taken(case, ("--seed",))], case.files)
        (test.folder / "scores").write_bytes(by_hand.files["o"])
        metrics = case.value("--metrics", "NDCG@10")
        told = test.command(["evaluate", "--test", "vali", "--scores", "scores", "--metrics", metrics, "--json",
                             *taken(case, ("--profile",))], case.files)
        averages = json.loads(told.stdout)["systems"][0]["averages"]
        if not case.value("--cross-fit"):
            for name, value in best["validation"].items():
                test.assertTrue(close(averages[name], value), (name, averages, best["validation"]))
        if "--trials" in case.given and kinds == "rules" and case.value("--search") == "grid" and not case.value("--cross-fit"):
            head, *rows = [row for row in done.rows("trials") if not row[0].startswith("#")]
            first = metrics.split(",")[0]
            most = max(float(row[head.index(first)]) for row in rows)
            test.assertLessEqual(best["validation"][first], most + 1e-12) if case.value("--combine", 1) == 1 else None
    return judge


def experiment(case):
    case.features = case.draw.randint(2, 3)
    count = case.pick(1, 2)
    for fold in range(1, count + 1):
        for n, name in enumerate(("train", "vali", "test")):
            write_queries(case, f"f/Fold{fold}/{name}.txt", draw_queries(case, 4, case.features, first=n * 10 + 100 * fold))
    case.given.update({"--folds": "f", "--out-dir": "out"})
    case.ways = [[{"--engine": e} for e in ("project", "lrar")], [{"--cache-memory": "1KB"}]]
    if case.likely(.3):
        case.given.update({"--systems": case.pick("feature", "rules,feature", "linear"), "--budgets": case.pick("50%", "100%"),
                           "--ways": case.pick("random", "chosen")})
        case.some({"--metrics": ["MAP", "NDCG@2,MAP"]}, .3)
        case.given["--random-draws"] = 2
        case.ways = []
    else:
        case.given.update({"--permutations": 9, "--random-draws": 1, "--reduce-size": case.pick("none", "none", "2"),
                           "--rank-size": case.pick("2", "2,3"), "--baselines": case.pick("full", "full,feature", "full,random")})
        case.some({"--metrics": ["MAP", "NDCG@2,MAP"], "--profile": ["trec", "standard"], "--format": ["tsv", "json", "latex"],
                   "--min-support": [2], "--min-confidence": [.3], "--smoothing": [1], "--support-weight": [.5], "--feature-share": [.5],
                   "--method": ["width", "frequency"], "--bins": [2, 3], "--norm": ["query-minmax"], "--missing-values": ["none"],
                   "--unlisted": ["missing"], "--partitions": [1], "--feature-order": ["label"], "--ties": ["seeded"]}, .2)
    case.seeded = True
    case.may_refuse = (*REFUSED, "random", "labels", "budget")

    def judge(test, done):
        if "--systems" in case.given:
            test.assertIn("curves.md", done.files)
            return
        for size in case.given["--rank-size"].split(","):
            for fold in range(1, count + 1):
                by_hand = test.command(["rank", "--train", f"f/Fold{fold}/train.txt", "--test", f"f/Fold{fold}/test.txt", "--rule-size", size,
                                        *taken(case, [o for o in FITTED if o != "--rule-size"])], case.files)
                test.assertEqual(by_hand.stdout, done.files[f"scores/full-rank-{size}/Fold{fold}.txt"])
    return judge


def sample(case):
    queries, folds = case.draw.randint(1, 9), case.pick(1, 3, 4, 5)
    documents = queries + case.draw.randint(0, 20)
    case.given.update({"--documents": documents, "--features": case.draw.randint(1, 5), "--out-dir": "out"})
    case.some({"--queries": [queries], "--labels": [2, 4], "--fold-count": [folds]}, .8)
    case.seeded = True
    count = case.value("--fold-count", 5)
    parts = 3 if count == 1 else count
    if case.value("--queries", max(parts, documents // 100)) < parts or documents < max(case.value("--queries", 0), parts):
        case.refused += ["expected at least", "--fold-count"]
    case.may_refuse = ("--fold-count",)

    def judge(test, done):
        read = {name: [re.fullmatch(r"(\d+) qid:(\d+) (.*) #docid = (\S+)", line) for line in data.decode().splitlines()]
                for name, data in done.files.items()}
        test.assertEqual(sorted(read), sorted(f"Fold{n}/{part}.txt" for n in range(1, count + 1) for part in ("train", "vali", "test")))
        for n in range(1, count + 1):
            names = [{line[4] for line in read[f"Fold{n}/{part}.txt"]} for part in ("train", "vali", "test")]
            test.assertEqual((len(set.union(*names)), sum(map(len, names))), (documents, documents), "each document once in a fold")
            qids = [{line[2] for line in read[f"Fold{n}/{part}.txt"]} for part in ("train", "vali", "test")]
            test.assertEqual(sum(map(len, qids)), len(set.union(*qids)), "each query in one part")
            if "--queries" in case.given:
                test.assertEqual(len(set.union(*qids)), case.given["--queries"])
        for line in [line for of in read.values() for line in of]:
            test.assertLess(int(line[1]), case.value("--labels", 3))
            test.assertEqual([pair.partition(":")[0] for pair in line[3].split()], [str(f) for f in range(1, case.given["--features"] + 1)])
    return judge

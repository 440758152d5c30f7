"""Cases of discretize, split, reduce, rank and fit for generated_test.py: feature files, cuts, rules."""

import collections
import itertools
import json
import re

from generated_cases import close


def draw_queries(case, most, features, labels=(0, 1, 2), gaps=True, first=0):
    """[(qid, [(label, {feature: value, None for NULL}, docid)])]; a feature that is not listed is not there."""
    draw, queries = case.draw, []
    for q in range(first, first + draw.randint(1, most)):
        queries.append((f"{q}", []))
        for d in range(draw.randint(1, 6)):
            values = {f: draw.choice([0, 0, .25, 1, 2, 3.5]) for f in range(1, features + 1)}
            for f in list(values) if gaps else []:
                if draw.random() < .08:
                    values[f] = None
                elif draw.random() < .08 and len(values) > 1:
                    del values[f]
            queries[-1][1].append((draw.choice(labels), values, f"D{q}-{d}"))
    return queries


def write_queries(case, name, queries, form="plain"):
    """The documents in a form: the options that read it are those of FORMS."""
    lines = []
    for qid, documents in queries:
        for label, values, docid in documents:
            if form == "csv":
                cells = ["" if values.get(f, 0) is None else values.get(f, 0) for f in range(1, case.features + 1)]
                lines.append(",".join(map(str, [label, qid, docid, "x", *cells])))
            else:
                pairs = " ".join(f"{f - (form == 'zero')}:{'NULL' if v is None else v}" for f, v in values.items())
                lines.append(f"{label} {'' if form == 'group' else f'qid:{qid} '}{pairs} # docid = {docid}")
    if form == "apart":  # the second half of each query comes at the end
        at = iter(lines)
        halves = [[next(at) for _ in of] for _, of in queries]
        lines = [x for of in halves for x in of[:len(of) // 2 + 1]] + [x for of in halves for x in of[len(of) // 2 + 1:]]
    if form == "csv":
        lines.insert(0, ",".join(["rel", "query", "docid", "note", *(f"f{f}" for f in range(1, case.features + 1))]))
    if form == "group":
        sizes = case.file(f"{name}.sizes", "".join(f"{len(of)}\n" for _, of in queries))
        case.given.setdefault("--group", []).append(sizes)
    return case.file(name, "".join(line + "\n" for line in lines))


FORMS = {"plain": {}, "zero": {"--zero-based": True}, "apart": {"--regroup": True}, "group": {},
         "csv": {"--label-column": "rel", "--qid-column": "query", "--skip-columns": "note"}}


def value_of(values, feature, case):
    """A number, or None where it is missing."""
    value = values.get(feature, 0 if case.value("--unlisted", "zero") == "zero" else None)
    return 0 if value is None and case.value("--missing-values") == "zero" else value


def normalized(queries, features, case):
    """[[{feature: number or None}]]: by query-minmax within each query where that is given."""
    found = []
    for _, of in queries:
        rows = [{f: value_of(values, f, case) for f in features} for _, values, _ in of]
        for f in features if case.value("--norm") == "query-minmax" else []:
            there = [row[f] for row in rows if row[f] is not None]
            for row in rows:
                if row[f] is not None:
                    least, most = min(there), max(there)
                    row[f] = (row[f] - least) / (most - least) if most > least else 0.
        found.append(rows)
    return found


def cuts_of(rows, feature, case):
    """By the definitions of width and frequency."""
    values = sorted(row[feature] for row in rows if row[feature] is not None)
    bins, cuts = case.value("--bins", 10), []
    for i in range(1, bins) if values else []:
        if case.value("--method") == "width":
            cut = values[0] + ((values[-1] - values[0]) * i) / bins
        else:
            cut = values[len(values) * i // bins]
        if cut > values[0] and (not cuts or cut > cuts[-1]):
            cuts.append(cut)
    return cuts


def judged(queries):
    """The queries without the documents that --drop-unjudged removes."""
    return [(qid, [d for d in of if d[0] != -1]) for qid, of in queries]


def features_with_cuts(queries, case):
    rows = [row for of in normalized(queries, listed(queries), case) for row in of]
    if case.value("--method") in ("width", "frequency"):
        return sum(bool(cuts_of(rows, f, case)) for f in listed(queries))
    return sum(len({row[f] for row in rows} - {None}) > 1 for f in listed(queries))


def discretizer_options(case, methods=("width", "frequency"), share=.3):
    case.given["--method"] = case.pick(*methods)
    case.some({"--bins": [2, 3, 5], "--norm": ["none", "query-minmax"], "--missing-values": ["item", "none", "zero"],
               "--unlisted": ["zero", "missing"]}, share)


def bins_of(row, cuts, case):
    """{feature: bin or None for missing} of the features that have cuts."""
    return {f: None if row[f] is None else sum(c <= row[f] for c in of) for f, of in cuts.items() if of}


def items_of(row, cuts, case):
    none = case.value("--missing-values") == "none"
    return frozenset((f, b) for f, b in bins_of(row, cuts, case).items() if b is not None or not none)


def listed(queries):
    return sorted({f for _, of in queries for _, values, _ in of for f in values})


def discretize(case):
    case.features, case.seeded = case.draw.randint(1, 4), False
    form = case.pick("plain", "plain", "apart", "group")
    case.given.update(FORMS[form])
    train, more = (draw_queries(case, 4, case.features, (0, 1, -1) if n else (0, 1)) for n in (0, 1))
    case.given["--train"] = write_queries(case, "train", train, form)
    case.given["--unlabelled"] = -1
    files = {"train": train}
    if case.likely(.5):
        case.given["--apply"] = [write_queries(case, "more", more, form)]
        files["more"] = more
    case.given["--out-dir"] = "out"
    discretizer_options(case, ("width", "frequency", "tube", "capped"))
    case.some({"--discretizer-out": ["out/cuts"]}, .3)
    if case.likely(.1):
        case.given["--bins"], case.seeded = "cv", True
    fixed = case.likely(.2)
    if fixed:
        cuts = {f: sorted(case.draw.sample([.5, 1, 2], case.draw.randint(0, 3))) for f in range(1, case.features + 1)}
        case.given["--discretizer"] = case.file("given.json", json.dumps(
            {"format": "rulerank-discretizer", "version": 1, "method": "tube", "bins": 4, "missing_values": "item", "unlisted": "zero",
             "norm": "none", "features": [{"feature": f, "cuts": c} for f, c in cuts.items()]}))
        for option in ("--method", "--bins", "--norm", "--missing-values", "--unlisted", "--discretizer-out"):
            case.given.pop(option, None)
        case.seeded = False
        if case.likely(.9):
            files["train"] = None
            case.given["--apply"] = [case.given.pop("--train"), *case.given.get("--apply", [])]
        else:
            case.refused.append("--train")

    def judge(test, done):
        names = ["train", "more"] if "more" in done.files else ["train"]
        if fixed:
            said = cuts
        else:
            told = json.loads(done.files[case.value("--discretizer-out", "out/discretizer.json")[4:]])["features"]
            said = {x["feature"]: x["cuts"] for x in told}
            test.assertEqual(sorted(said), listed(train))
            rows = [row for of in normalized(train, listed(train), case) for row in of]
            if case.value("--method") in ("width", "frequency") and case.value("--bins") != "cv":
                test.assertEqual(said, {f: cuts_of(rows, f, case) for f in said})
        for name in names:
            queries = train if name == "train" else more
            rows = [row for of in normalized(queries, said, case) for row in of]
            documents = [(qid, *d) for qid, of in queries for d in of]
            found = done.files[name].decode().splitlines()
            test.assertEqual(len(found), len(documents))
            for (qid, label, _, docid), row, line in zip(documents, rows, found):
                bins = bins_of(row, said, case)
                words = line.partition(" #")[0].split()
                test.assertEqual(words[0], str(label))
                test.assertEqual(words[-len(bins):] if bins else [], [f"{f}:{'NaN' if b is None else b}" for f, b in bins.items()])
                test.assertTrue(line.endswith(docid) and (form == "group" or words[1] == f"qid:{qid}"), line)
    return judge


def rules_of(case, size=3):
    """Rows of items and labels of the training file, and the score of a document by them, as docs/reference/definitions.md says."""
    least, confidence = case.value("--min-support", 1), case.value("--min-confidence", .001)
    smoothing, weight, size = case.value("--smoothing", 0), case.value("--support-weight", 0), case.value("--rule-size", size)

    def score(train, labels, items):
        sums, shares = collections.Counter(), collections.Counter(labels)
        for n in range(1, size):
            for x in itertools.combinations(sorted(items, key=str), n):
                holds = [label for row, label in zip(train, labels) if row.issuperset(x)]
                for label, count in collections.Counter(holds).items():
                    if count >= max(1, least) and count / len(holds) >= confidence:
                        prior = shares[label] / len(labels)
                        sums[label] += (count + smoothing * prior) / (len(holds) + smoothing) * len(holds) ** weight
        return sum(r * s for r, s in sums.items()) / sum(sums.values()) if sums else sum(labels) / len(labels)
    return score


def draw_ranking(case):
    """Training and test documents, and options that members of any kind have."""
    case.features = case.draw.randint(2, 4)
    form = case.pick("plain", "plain", *FORMS)
    case.given.update(FORMS[form])
    unjudged = form != "csv" and case.likely(.2)
    train = draw_queries(case, 5, case.features, (0, 1, 2, -1) if unjudged else (0, 1, 2), form != "csv")
    test = draw_queries(case, 3, case.features, (0, 1), form != "csv", 10)
    suffix = ".csv" if form == "csv" else ""
    if unjudged:
        case.given["--unlabelled"] = -1
        case.given["--drop-unjudged"] = True
    return train, test, lambda name, queries: write_queries(case, name + suffix, queries, form)


def member_options(case, train, members):
    """Options of members, and what can be wrong with them and with the documents that they are fitted to."""
    if "scorecard" in members:
        case.some({"--loss": ["pair", "list", "point"], "--points-penalty": [.01, 1, "cross-fit"], "--smoothness": [.2]})
        case.wrong(case.value("--points-penalty") == "cross-fit" and "--smoothness" in case.given, "--smoothness")
    if "linear" in members:
        case.some({"--strength": [1, 30, "cross-fit"], "--linear-scale": ["query", "pool"]})
    if members == "joint":
        case.some({"--pairs": [0, 2]})
    if members == "card":
        case.some({"--max-features": [1, 2], "--max-points": [3, 20], "--target": ["auto", "labels", "members"],
                   "--monotone": [case.file("monotone", "rising 1\n")]})
    if members == "linear":
        for option in ("--method", "--bins"):
            case.wrong(option in case.given, option, "applies to members of the kind")
    if all(label == -1 for _, of in train for label, _, _ in of):
        case.refused.append("without a label")
    elif members != "linear" and not features_with_cuts(train if "--pool" in case.given else judged(train), case):
        case.refused += ["two bins", "found feature 1, expected a feature of"]
    elif "--monotone" in case.given and not any(1 in values for _, of in train for _, values, _ in of):
        case.may_refuse += ("found feature 1, expected a feature of",)
    elif case.value("--method") == "capped":  # which may find no cut where one value has most of the documents
        case.may_refuse += ("no feature has two bins",)


def rank(case):
    train, test_queries, write = draw_ranking(case)
    case.given.update({"--train": write("train", train), "--test": [write("test", test_queries)]})
    discretizer_options(case)
    case.some({"--rule-size": [2, 3, 4], "--min-support": [1, 2], "--min-confidence": [.3, .5, 0, 1], "--support-weight": [-.5, 1],
               "--smoothing": [1, 5.5], "--feature-share": [1, .5], "--out": ["out/o"], "--run": ["out/r"], "--tag": ["t"]}, .3)
    case.wrong("--tag" in case.given and "--run" not in case.given, "--tag")
    members = case.pick("rules", "rules", "rules", "linear", "scorecard", "joint", "card", "rules,linear")
    if members != "rules":
        case.given["--members"] = members
        case.seeded = True
    member_options(case, train, members)
    if "rules" not in members:
        for option in ("--rule-size", "--min-support", "--min-confidence", "--support-weight", "--smoothing", "--feature-share"):
            case.wrong(option in case.given, option)
    else:
        case.ways = [[{"--engine": e} for e in ("project", "lrar")], [{"--cache-memory": "1KB"}]]

    def judge(test, done):
        features = listed(train)
        rows = normalized(judged(train), features, case)
        rows = [(row, label) for of, (_, documents) in zip(rows, judged(train)) for row, (label, _, _) in zip(of, documents)]
        tests = [row for of in normalized(test_queries, features, case) for row in of]
        scores = [float(line) for line in done.main.decode().split()] if "--out" in case.given or "--run" not in case.given else None
        if scores is not None:
            test.assertEqual(len(scores), len(tests))
            # They are in the order of the lines, which may be another one than that of the queries.
            lines = case.files[case.given["--test"][0]].decode().splitlines()[("--label-column" in case.given):]
            by_id = {re.search(r"D\d+-\d+", line)[0]: score for line, score in zip(lines, scores)}
            in_order = [by_id[docid] for _, documents in test_queries for _, _, docid in documents]
        if scores is not None and members == "rules" and case.value("--feature-share", 1) == 1:
            cuts = {f: cuts_of([row for row, _ in rows], f, case) for f in features}
            of, items = rules_of(case), [items_of(row, cuts, case) for row, _ in rows]
            for row, score in zip(tests, in_order):
                expected = of(items, [label for _, label in rows], items_of(row, cuts, case))
                test.assertTrue(close(score, expected, 1e-6), (score, expected, row))
        if "--run" in case.given and scores is not None:
            at = iter(in_order)
            for qid, documents in test_queries:
                order = sorted(((-next(at), i) for i in range(len(documents))))
                found = [row for row in done.rows("r", " ") if row[0] == qid] if "--group" not in case.given else None
                if found is not None:
                    test.assertEqual([row[2] for row in found], [documents[i][2] for _, i in order])
    return judge


def fit(case):
    train, test_queries, write = draw_ranking(case)
    case.given["--train"] = write("train", train)
    members = case.pick("rules", "linear", "scorecard", "joint", "card", "rules,scorecard")
    case.given.update({"--members": members, "--model": "out/o"})
    if case.likely(.1):
        case.given["--pool"] = write("pool", train)
    discretizer_options(case, ("width", "frequency", "capped", "tube"))
    if "rules" in members:
        case.some({"--rule-size": [2, 4], "--min-support": [2], "--min-confidence": [.4], "--support-weight": [.5], "--smoothing": [2],
                   "--feature-share": [.5]})
    member_options(case, train, members)
    case.seeded = True
    case.some({"--seed": [0, 7]})
    form = next((name for name, of in FORMS.items() if of and {*of} <= {*case.given}), "plain")
    more = [x for o, v in FORMS[form].items() for x in ([o] if v is True else [o, v])]
    test = ["--test", write_queries(case, "test" + ".csv" * (form == "csv"), test_queries, form if form != "group" else "plain"), *more]
    if {"rules", "linear", "scorecard", "joint"} & {*members.split(",")}:
        without = {o: v for o, v in case.given.items() if o not in ("--model", "--group", "--pool", "--unlabelled")}
        if without.keys() >= case.given.keys() - {"--model"}:
            case.model_of = (["rank", "--model", "model", *test], ["rank", *case.words(without), *test[:2]])
    return lambda test, done: test.assertTrue(done.files["o"])


def reduce(case):
    case.features = case.draw.randint(1, 4)
    form = case.pick("plain", "plain", "plain", "group")
    train = draw_queries(case, 5, case.features, gaps=case.likely(.5))
    case.given.update({"--train": write_queries(case, "train", train, form), "--out": "out/o", "--ids": "out/ids"})
    case.streams = ["train"]
    discretizer_options(case)
    parts = case.pick(1, 1, 2)
    case.given.update({"--partitions": parts, "--feature-order": "none"})
    case.some({"--rule-size": [2, 3], "--min-support": [2], "--min-confidence": [.3, .6]}, .4)
    case.some({"--max-documents": [1, 2, 5, 9], "--stop-when-dry": [True], "--ties": ["index", "seeded"], "--whole-queries": [True],
               "--discretizer-out": ["out/cuts"], "--feature-order": ["chi2", "label"]}, .15)
    if case.given.get("--stop-when-dry") and case.likely(.8):
        case.given.setdefault("--max-documents", case.pick(6, 9))  # which it needs
    case.seeded = "--max-documents" in case.given or case.value("--ties") == "seeded"
    if "--whole-queries" in case.given and case.value("--max-documents", 9) < 6:
        case.given.pop("--max-documents")  # the first query may be larger
    case.wrong("--stop-when-dry" in case.given and "--max-documents" not in case.given, "--stop-when-dry")
    with_cuts = features_with_cuts(train, case)
    if not with_cuts:
        case.refused.append("two bins")
    elif case.value("--partitions", 1) > with_cuts:
        case.refused.append("partitions for")
    plain = not case.seeded and not {"--whole-queries"} & {*case.given} and case.value("--feature-order") == "none"
    if plain:
        case.ways = [[{"--engine": e} for e in ("delta", "ssarp", "pssarp")]]

    def judge(test, done):
        documents = [d for _, of in train for d in of]
        lines = case.files["train"].decode().splitlines()
        ids = [row[:5] for row in done.rows("ids")[1:]]
        chosen = sorted({int(row[0]) for row in ids})
        test.assertEqual(done.main.decode().splitlines(), [lines[i] for i in chosen])
        if "--max-documents" in case.given and "--stop-when-dry" not in case.given and "--whole-queries" not in case.given:
            test.assertEqual(len(chosen), min(case.given["--max-documents"], len(documents)))
        elif case.value("--max-documents", 0) >= len(documents) and "--stop-when-dry" not in case.given:
            test.assertEqual(len(chosen), len(documents))  # all queries
        if not plain:
            return
        rows = [row for of in normalized(train, listed(train), case) for row in of]
        cuts = {f: cuts_of(rows, f, case) for f in listed(train)}
        items = [items_of(row, cuts, case) for row in rows]
        features = sorted({f for of in items for f, _ in of})
        expected = []
        for part in range(parts):
            of_part = [frozenset(x for x in of if x[0] in features[part::parts]) for of in items]
            occurs = collections.Counter(x for of in of_part for x in of)
            total = [sum(occurs[x] for x in of) for of in of_part]
            least, confidence = case.value("--min-support", 1), case.value("--min-confidence", .001)
            used, best, count = [], max((d for d in range(len(items)) if of_part[d]), key=lambda d: (total[d], d)), 0
            while best not in used:
                expected.append([len(used), part, best, count])
                used.append(best)

                def rules(d):
                    found = 0
                    for n in range(1, case.value("--rule-size", 4)):
                        for x in itertools.combinations(of_part[d], n):
                            holds = [documents[u][0] for u in used if of_part[u].issuperset(x)]
                            found += sum(c >= least and c / len(holds) >= confidence for c in collections.Counter(holds).values())
                    return found
                count, _, best = min((rules(d), total[d], -d) for d in range(len(items)) if of_part[d])
                best = -best
        test.assertEqual([[int(row[3]), int(row[2]), int(row[0]), int(row[4])] for row in ids], sorted(expected))
    return judge


def split(case):
    case.features = 1
    form = case.pick("plain", "plain", "apart")
    queries = draw_queries(case, 12, 1, (0, 1, -1))
    case.given.update({"--in": write_queries(case, "in", queries, form), "--out-dir": "out", "--unlabelled": -1, **FORMS[form]})
    case.streams = ["in"]
    case.some({"--fold-count": [3, 4, 5, 6], "--no-shuffle": [True]})
    count, case.seeded = case.value("--fold-count", 5), "--no-shuffle" not in case.given
    if count > len(queries):
        case.refused.append(f"expected at least {count}")

    def judge(test, done):
        lines = {docid: line for line in case.files["in"].decode().splitlines() for docid in [line.split()[-1]]}
        text = lambda of: "".join(lines[d] + "\n" for q in of for _, _, d in q[1]).encode()
        parts = []
        for n in range(1, count + 1):
            names = {line.split("qid:")[1].split()[0] for line in done.files[f"Fold{n}/test.txt"].decode().splitlines()}
            parts.append([q for q in queries if q[0] in names])
        test.assertEqual(sorted(q[0] for of in parts for q in of), sorted(q[0] for q in queries))
        test.assertLessEqual(max(map(len, parts)) - min(map(len, parts)), 1)
        if not case.seeded:  # fold N tests on the part before the first of its training sets
            test.assertEqual([q for of in parts[1:] + parts[:1] for q in of], queries)
        for n, tested in enumerate(parts):
            vali = parts[n - 1]
            train = [q for at in range(n, n + count - 2) for q in parts[(at + 1) % count]]
            for name, of in (("test", tested), ("vali", vali), ("train", train)):
                test.assertEqual(done.files[f"Fold{n + 1}/{name}.txt"], text(of), (n, name))
    return judge

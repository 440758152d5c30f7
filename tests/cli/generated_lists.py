"""Cases of mine, fuse, evaluate and judgments for generated_test.py."""

import decimal
import itertools
import json
import math
import re

import judgments_test
import mine_test
from generated_cases import close
from generated_rankings import draw_queries, write_queries


def mine(case):
    names, form = case.pick("123456", "123456789"), case.pick("fimi", "baskets", "pairs")
    names = names if form == "fimi" else "abcdéf"
    density = [case.draw.random() for _ in names]
    baskets = [sorted(x for x, p in zip(names, density) if case.draw.random() < p) for _ in range(case.draw.randint(1, 14))]
    if form == "pairs":
        baskets = [b for b in baskets if b] or [["a"]]
        data = "".join(f"{i} {x}\n" for i, b in enumerate(baskets) for x in b)
    else:
        by = " "
        if form == "baskets":
            by = case.pick(" ", ",")
            case.given.update({"--separator": ","} if by == "," else {})
        data = "".join(by.join(case.draw.sample(b, len(b))) + "\n" for b in baskets)
        if form == "baskets":
            case.some({"--comments": ["skip", "keep"], "--skip-lines": [2]}, .2)
            data = "".join("head\n" for _ in range(case.value("--skip-lines", 0))) + data
    if form != "fimi":
        case.given["--form"] = form
    trained = form == "fimi" and case.likely(.2)
    cuts = {"format": "rulerank-discretizer", "version": 1, "method": "tube", "bins": 2, "missing_values": "item", "unlisted": "zero",
            "norm": "none", "features": [{"feature": int(x), "cuts": [.5]} for x in names if form == "fimi"]}
    if trained:  # an item is the upper bin of its feature; the lower one is a value that is missing, which is no item
        cuts["missing_values"], cuts["unlisted"] = "none", "missing"
        data = "".join(f"0 qid:1 {' '.join(f'{x}:1' for x in b)}\n" for b in baskets)
        case.given["--discretizer"] = case.file("cuts.json", json.dumps(cuts))
    case.given["--train" if trained else "--transactions"] = case.file("in", data)
    case.streams = [] if trained else ["in"]
    least = case.draw.randint(1, 6)
    case.given["--min-support"] = case.pick(least, f"{least * 9}%", f"0.{least * 9:02}", f"{least * 9}e-2", f".{least * 9:02}")
    case.some({"--min-size": [2, 3], "--max-size": [1, 2, 3], "--kind": ["closed", "maximal", "all"], "--out": ["out/o"],
               "--format": ["borgelt", "spmf", "json"], "--rules": [True] if not trained else ["x"]})
    if trained:
        case.given.pop("--rules", None)
    case.some({"--min-confidence": ["50%", "0.6", ".6", "6e-1", 1, 0], "--max-consequent": [1, 2], "--max-p": [.2, .9],
               "--measures": ["lift,leverage", "conviction,p", "chi_square,p_holm,jaccard,certainty,kulczynski"],
               "--appear": ["appear"]}, .4 if "--rules" in case.given else .03)
    first, roles = case.pick("both", "antecedent"), {x: case.pick("antecedent", "consequent", "both", "neither") for x in baskets[0]}
    case.file("appear", first + "\n" + "".join(f"{x}\t{role}\n" if "--separator" in case.given else f"{x} {role}\n"
                                               for x, role in roles.items()))
    for option in ("--min-confidence", "--max-consequent", "--max-p", "--measures", "--appear"):
        case.wrong(option in case.given and "--rules" not in case.given, option)
    case.wrong("--rules" in case.given and case.value("--kind", "all") != "all", "--kind")
    case.wrong(0 < case.value("--max-size", 0) < case.value("--min-size", 1), "--max-size", "size")
    case.ways = [[{"--engine": e} for e in mine_test.ENGINES]]

    def judge(test, done):
        given, total = str(case.given["--min-support"]), len(baskets)
        percent = not given.isdigit()
        share = decimal.Decimal(given.rstrip("%")) / (100 if given.endswith("%") else 1)
        least = max(1, math.ceil(share * total)) if percent else int(given)
        found = mine_test.frequent(baskets, least) if any(baskets) else {}
        fits = lambda x: case.value("--min-size", 1) <= len(x) <= (case.value("--max-size", 0) or 99)
        name = lambda x: f"{x}:[0.5,inf)" if trained else x
        form, measures = case.value("--format", "borgelt"), case.value("--measures", "").split(",")
        if "--rules" not in case.given:
            sets = {x: n for x, n in mine_test.of_kind(found, case.value("--kind", "all")).items() if fits(x)}
            lines = []
            for x, n in sorted(sets.items()):
                items = list(map(name, x))
                lines.append({"borgelt": f"{' '.join(items)} ({100 * n / total if percent else n:.6g})",
                              "spmf": f"{' '.join(items)} #SUP: {n}",
                              "json": {"items": items, "support": n, "share": n / total}}[form])
            read = json.loads if form == "json" else str
            test.assertEqual([read(line) for line in done.main.decode().splitlines()], lines)
            return
        confidence = str(case.value("--min-confidence", "80%"))
        confidence = int(confidence[:-1]) / 100 if confidence.endswith("%") else float(confidence)
        count = lambda x: sum(set(x) <= set(b) for b in baskets)
        may = lambda x, place: "--appear" not in case.given or roles.get(x, first) in ("both", place)
        rules = []
        for x in filter(fits, found):
            for n in range(1, len(x)):
                for head in itertools.combinations(x, n):
                    body = tuple(i for i in x if i not in head)
                    if (n <= (case.value("--max-consequent", 0) or 99) and all(may(i, "consequent") for i in head)
                            and all(may(i, "antecedent") for i in body) and found[x] / count(body) >= confidence):
                        rules.append((head, body, rule_measures(count(body), count(head), found[x], total)))
        holm, worst = sorted(range(len(rules)), key=lambda r: rules[r][2]["p"]), 0
        for at, r in enumerate(holm):
            worst = max(worst, min(1, rules[r][2]["p"] * (len(rules) - at)))
            rules[r][2]["p_holm"] = worst
        expected = {(head, body): m for head, body, m in rules if m["p_holm"] <= case.value("--max-p", 1) * (1 + 1e-12)}
        read = {}
        for line in done.main.decode().splitlines():
            if form == "json":
                got = json.loads(line)
                key = tuple(got["consequent"]), tuple(got["antecedent"])
                read[key] = {m: math.inf if got[m] is None else got[m] for m in [*MEASURES, "support", "confidence"]}
            elif form == "spmf":
                got = re.fullmatch(r"(.+?) ==> (.+?) #SUP: (\d+) #CONF: (\S+)(.*)", line)
                key = tuple(got[2].split()), tuple(got[1].split())
                read[key] = {"support": int(got[3]) / total, "confidence": float(got[4]),
                             **dict(zip(filter(None, measures), map(float, re.findall(r"#\w+: (\S+)", got[5]))))}
            else:
                got = re.fullmatch(r"(.+?) <- (.+?) \((.*)\)", line)
                key, numbers = (tuple(got[1].split()), tuple(got[2].split())), list(map(float, got[3].split(", ")))
                read[key] = {"body": numbers[0] / 100 * (1 if percent else 100 / total), "confidence": numbers[1] / 100,
                             **dict(zip(filter(None, measures), numbers[2:]))}
        test.assertEqual(sorted(read), sorted(expected))
        for key, of in read.items():
            for measure, number in of.items():
                wanted = expected[key][measure]
                test.assertTrue(number == wanted or close(number, wanted, 1e-5), (key, measure, number, wanted))
    return judge


MEASURES = ("lift", "leverage", "conviction", "zhang", "jaccard", "certainty", "kulczynski", "chi_square", "p", "p_holm")


def rule_measures(a, b, both, n):
    """The measures of a rule: `a` of `n` transactions have its antecedent, `b` its consequent, `both` have both."""
    share, of_a, of_b, confidence = both / n, a / n, b / n, both / a
    leverage = share - of_a * of_b
    wide = max(share * (1 - of_a), of_a * (of_b - share))
    chance = of_a * of_b * (1 - of_a) * (1 - of_b)
    chi = n * leverage ** 2 / chance if chance > 0 else 0
    return {"support": share, "body": of_a, "confidence": confidence, "lift": confidence / of_b, "leverage": leverage,
            "conviction": 1 if b == n else math.inf if both == a else (1 - of_b) / (1 - confidence),
            "zhang": leverage / wide if wide > 0 else 0, "jaccard": both / (a + b - both), "chi_square": chi,
            "certainty": 0 if b == n else (confidence - of_b) / (1 - of_b) if confidence >= of_b else (confidence - of_b) / of_b,
            "kulczynski": (confidence + both / b) / 2, "p": math.erfc(math.sqrt(max(chi, 0) / 2))}


def draw_runs(case, count, names="abcdefg"):
    """[{query: [(document, score)]}], in the order of the file."""
    runs = []
    for _ in range(count):
        run = {q: [(d, case.pick(0, .5, 1, 2.25, -1, 7)) for d in case.draw.sample(names, case.draw.randint(1, len(names)))]
               for q in ("q1", "q2", "q3") if case.likely(.8)}
        runs.append(run or {"q1": [("a", 1)]})
    return runs


def run_text(run, tag="x"):
    return "".join(f"{q} Q0 {d} {i} {s} {tag}\n" for q, of in run.items() for i, (d, s) in enumerate(of, 1))


NORMS = {
    "none": lambda s: s,
    "min-max": lambda s: [(x - min(s)) / max(max(s) - min(s), 1e-9) for x in s],
    "max": lambda s: [x / max(max(s), 1e-9) for x in s],
    "sum": lambda s: [(x - min(s)) / max(sum(s) - len(s) * min(s), 1e-9) for x in s],
    "zmuv": lambda s: [(x - sum(s) / len(s)) / max(math.sqrt(sum((y - sum(s) / len(s)) ** 2 for y in s) / len(s)), 1e-9) for x in s],
    "rank": lambda s: [1 - i / len(s) for i in range(len(s))],
}


def fuse(case):
    runs = draw_runs(case, case.pick(2, 2, 3))
    names = [case.file(f"r{i}", run_text(run)) for i, run in enumerate(runs)]
    case.given["--run"], case.streams = names, names
    case.some({"--method": ["rrf", "isr", "combsum", "combmnz", "combanz", "combmax", "combmin", "combmed"]}, .8)
    case.some({"--norm": [*NORMS, "borda"], "--rrf-k": [0, 1, 20.5], "--depth": [1, 3], "--distinct-scores": [True], "--tag": ["t"],
               "--run-weights": [",".join(str(case.pick(0, 1, 2, .5)) for _ in runs)], "--out": ["out/o"],
               "--distances": [case.draw.sample(names, 1)]})
    method = case.value("--method", "rrf")
    case.wrong("--norm" in case.given and method in ("rrf", "isr"), "--norm")
    case.wrong("--rrf-k" in case.given and method != "rrf", "--rrf-k")
    case.wrong("--distances" in case.given and case.value("--norm") == "max", "--distances", "norm max")

    def judge(test, done):
        weights = [float(w) for w in str(case.value("--run-weights", ",".join("1" for _ in runs))).split(",")]
        queries = list(dict.fromkeys(q for run in runs for q in run))
        expected = []
        for q in queries:
            scores, everywhere = {}, {d for run in runs for d, _ in run.get(q, [])}
            for run, name, weight in zip(runs, names, weights):
                sign = -1 if name in case.value("--distances", []) else 1
                of = sorted(((d, sign * s) for d, s in run.get(q, [])), key=lambda x: -x[1])
                norm, c = case.value("--norm", "min-max"), len(everywhere)
                if method == "rrf":
                    values = [1 / (case.value("--rrf-k", 60) + r) for r in range(1, len(of) + 1)]
                elif method == "isr":
                    values = [1 / r ** 2 for r in range(1, len(of) + 1)]
                elif norm == "borda":
                    values = [1 - r / c for r in range(len(of))]
                else:
                    values = NORMS[norm]([s for _, s in of])
                for (d, _), value in zip(of, values):
                    scores.setdefault(d, []).append(weight * value)
                if norm == "borda" and of and method not in ("rrf", "isr"):
                    lacked = [d for d in everywhere if d not in dict(of)]
                    for d in lacked:
                        scores.setdefault(d, []).append(weight * (.5 - (len(of) - 1) / (2 * c)))
            how = {"rrf": sum, "isr": lambda s: len(s) * sum(s), "combsum": sum, "combmnz": lambda s: len(s) * sum(s),
                   "combanz": lambda s: sum(s) / len(s), "combmax": max, "combmin": min,
                   "combmed": lambda s: (sorted(s)[(len(s) - 1) // 2] + sorted(s)[len(s) // 2]) / 2}[method]
            expected.append((q, {d: how(s) for d, s in scores.items()}))
        found = {}
        for q, _, d, rank, score, tag in done.rows(by=" "):
            found.setdefault(q, []).append((d, float(score)))
            test.assertEqual((int(rank), tag), (len(found[q]), case.value("--tag", "rulerank")))
        test.assertEqual(list(found), queries)
        for q, scores in expected:
            depth = min(case.value("--depth", 0) or 99, len(scores))
            best = sorted(scores.values(), reverse=True)[:depth]
            test.assertEqual(len(found[q]), depth)
            for place, ((d, score), wanted) in enumerate(zip(found[q], best)):
                test.assertTrue(close(scores[d], wanted), (q, d, scores, found[q]))
                test.assertTrue(close(score, depth - place if "--distinct-scores" in case.given else wanted), (q, d, score))
    return judge


PROFILES = {  # gain, discount, nothing to find, relevant from, shorter lists, ties
    "letor": ("exponential", "letor", 0, 1, "zero", "stable"), "mslr": ("exponential", "letor", 0, 2, "zero", "stable"),
    "standard": ("exponential", "log2", 0, 1, "as-is", "stable"), "trec": ("linear", "log2", 0, 1, "as-is", "docno"),
    "lightgbm": ("exponential", "log2", 1, 1, "as-is", "stable"), "yahoo": ("exponential", "log2", .5, 1, "as-is", "stable")}


def measured(measure, shown, judged, c, top):
    """One measure of one order of labels (None: not judged), of a query whose judged labels are these."""
    name, _, k = measure.partition("@")
    k = int(k or 0)
    cut = shown[:k] if k else shown
    labels = [max(r or 0, 0) for r in cut]
    rel = [r >= c["relevant"] for r in labels]
    wanted = sum(r is not None and r >= c["relevant"] for r in judged)
    gain = lambda r: 2 ** r - 1 if c["gain"] == "exponential" else r
    discount = lambda i: 1 / math.log2(i + 1) if c["discount"] == "log2" else 1 if i < 3 else 1 / math.log2(i)
    dcg = lambda of: sum(gain(r) * discount(i) for i, r in enumerate(of, 1))
    if name == "NDCG":
        best = dcg(sorted((max(r, 0) for r in judged if r is not None), reverse=True)[:k or None])
        if best == 0:
            return c["nothing"]
        return 0 if k and c["short"] == "zero" and len(shown) < k else dcg(labels) / best
    if name in ("MAP", "Rprec", "recall") and wanted == 0:
        return c["nothing"]
    if name == "MAP":
        return sum(sum(rel[:i + 1]) / (i + 1) for i, r in enumerate(rel) if r) / wanted
    if name == "Rprec":
        return sum(rel[:wanted]) / wanted
    if name in ("ERR", "pFound"):
        value, look = 0, 1
        for i, r in enumerate(labels, 1):
            stop = (2 ** r - 1) / 2 ** top
            value += look * stop / (i if name == "ERR" else 1)
            look *= (1 - stop) * (1 - c["p-break"] if name == "pFound" else 1)
        return value
    return {"P": lambda: sum(rel) / k, "recall": lambda: sum(rel) / wanted, "success": lambda: float(any(rel)),
            "MRR": lambda: 1 / (rel.index(True) + 1) if any(rel) else 0,
            "RBP": lambda: (1 - c["p"]) * sum(c["p"] ** i for i, r in enumerate(rel) if r)}[name]()


def evaluate(case):
    case.features = 1
    of_runs = case.likely(.5)
    folds = []
    if of_runs:
        run = draw_runs(case, 1)[0]
        judged = {q: {d: case.pick(0, 0, 1, 2, -1) for d in case.draw.sample("abcdefgh", case.draw.randint(1, 8))}
                  for q in ("q1", "q2", "q3", "q4") if q == next(iter(run)) or case.likely(.7)}
        case.given["--qrels"] = case.file("qrels", "".join(f"{q} 0 {d} {r}\n" for q, of in judged.items() for d, r in of.items()))
        case.given["--run"], case.streams = ["sys=" + case.file("run", run_text(run))], ["qrels"]
        case.some({"--complete": [True]})
        folds = [[(q, [(judged[q].get(d), s, d) for d, s in run.get(q, [])], list(judged[q].values())) for q in judged
                  if q in run or "--complete" in case.given]]
    else:
        tests, scores = [], []
        for n in range(case.pick(1, 1, 2)):
            queries = draw_queries(case, 3, 1, (0, 0, 1, 2, -1) if case.likely(.2) else (0, 0, 1, 2), False)
            tests.append(write_queries(case, f"t{n}", queries))
            values = [case.pick(0, .5, 1, 2) for _, of in queries for _ in of]
            scores.append(case.file(f"s{n}", "".join(f"{v}\n" for v in values)))
            at = iter(values)
            folds.append([(q, [(None if r < 0 else r, next(at), d) for r, _, d in of], [r for r, _, _ in of if r >= 0]) for q, of in queries])
        case.given.update({"--test": tests, "--unlabelled": -1})
        if case.likely(.3):
            case.given["--feature"] = 1
            case.some({"--ascending": [True], "--descending": [True]})
            case.wrong({"--ascending", "--descending"} <= {*case.given}, "--ascending", "scending")
            sign = -1 if "--ascending" in case.given else 1
            lists = [[v for line in case.files[t].decode().splitlines() for v in [float(line.split("1:")[-1].split()[0])]] for t in tests]
            folds = [[(q, [(r, sign * next(at), d) for r, _, d in of], j) for q, of, j in fold]
                     for fold, at in zip(folds, map(iter, lists))]
        else:
            case.given["--scores"] = ["=".join(["sys", ",".join(scores)])]
    measures = case.draw.sample(["NDCG@1", "NDCG@3", "NDCG", "MAP", "MAP@2", "P@1", "P@5", "Rprec", "recall@2", "success@2", "MRR",
                                 "ERR@3", "ERR", "RBP", "pFound"], case.draw.randint(1, 5))
    case.given.update({"--metrics": ",".join(measures), "--format": "tsv", "--per-query": True})
    case.some({"--profile": [*PROFILES]}, .5)
    case.some({"--gain": ["exponential", "linear"], "--discount": ["letor", "log2"], "--no-relevant": [0, .5, 1], "--relevant-from": [1, 2],
               "--short-list": ["zero", "as-is"], "--ties": ["stable", "worst", "docno", "average"], "--max-docs": [0, 1, 3],
               "--max-label": [2, 4], "--persistence": [.5, .8], "--p-break": [.1, .5], "--average": ["folds", "queries"],
               "--out": ["out/o"]}, .2)
    if case.likely(.2):
        case.given["--prel"] = "0,0.25,0.75"

    def judge(test, done):
        gain, discount, nothing, relevant, short, ties = PROFILES[case.value("--profile", "trec" if of_runs else "letor")]
        c = {"gain": case.value("--gain", gain), "discount": case.value("--discount", discount),
             "nothing": case.value("--no-relevant", nothing), "relevant": case.value("--relevant-from", relevant),
             "short": case.value("--short-list", short), "p": case.value("--persistence", .9), "p-break": case.value("--p-break", .15)}
        ties, most = case.value("--ties", ties), case.value("--max-docs", 0) or None
        top = case.value("--max-label", max((r for fold in folds for _, _, j in fold for r in j), default=0))
        expected = []
        for fold in folds:
            expected.append([])
            for q, documents, judged in fold:
                key = {"worst": lambda x: (-x[1], x[0] or 0), "docno": lambda x: (-x[1], [-ord(y) for y in x[2]])}.get(ties, lambda x: -x[1])
                orders = [sorted(documents, key=key)]
                if ties == "average":
                    groups = [list(g) for _, g in itertools.groupby(orders[0], key)]
                    orders = [sum(p, ()) for p in itertools.product(*(list(itertools.permutations(g)) for g in groups))]
                values = [[measured(m, [r for r, _, _ in order][:most], judged, c, top) for m in measures] for order in orders]
                expected[-1].append((q, [sum(v) / len(v) for v in zip(*values)]))
        rows = [row for row in done.rows() if not row[0].startswith("#")]
        names, rows = rows[0], rows[1:]
        at = [names.index(m) for m in measures]
        flat = [x for fold in expected for x in fold]
        mean = lambda of: [sum(v) / len(v) for v in zip(*of)]
        means = mean([v for _, v in flat]) if case.value("--average") == "queries" else mean([mean([v for _, v in f]) for f in expected])
        query = names.index("query")
        test.assertEqual([row[query] for row in rows if row[query] != "all"], [q for q, _ in flat])
        for (q, wanted), row in zip([*flat, ("all", means)], [row for row in rows if row[query] != "all"] + rows[-1:]):
            for m, i, value in zip(measures, at, wanted):
                if m == "pFound" and "--prel" in case.given:
                    continue
                test.assertTrue(close(float(row[i]), value), (q, m, row, wanted))
    return judge


def judgments(case):
    to, form = case.pick("qrels", "csv", "rre", "srw"), case.pick("csv", "qrels")
    given = judgments_test.random_judgments(case.draw, ["a", "7", "é", "-", "漢"] + ([" ", ",", '"'] if form == "csv" and to != "qrels" else []),
                                            [0, 1, 2, 3])
    given = {q.strip(" ") or "x": {d.strip(" ") or "x": g for d, g in of.items()} for q, of in given.items()}
    ids = {q: str(i) for i, q in enumerate(given, 1)}
    names = ["none", "some", "much", "all"]
    case.some({"--label-names": [",".join(names)]}, .3)
    read = {q: {d: names[g] if "--label-names" in case.given else g for d, g in of.items()} for q, of in given.items()}
    if form == "csv":
        case.given["--in"] = [case.file("in", judgments_test.as_csv(read))]
    else:
        case.given["--in"] = [case.file("in", "".join(f"{ids[q]} 0 {d} {g}\n" for q, of in read.items() for d, g in of.items()))]
    case.streams = ["in"]
    case.given["--to"] = to
    text_needed, id_needed = to != "qrels" and form == "qrels", to == "qrels" and form == "csv"
    if text_needed or (id_needed and case.likely(.5)):
        case.given["--queries"] = case.file("queries", "".join(f"{i}\t{q}\n" for q, i in ids.items()))
    elif id_needed:
        case.given["--queries-out"] = "out/queries"
    case.some({"--from": [form], "--out": ["out/o"]}, .4)
    case.some({"--name": ["n"], "--id-field": ["key"], "--template": ["t.json"]}, .2)
    case.wrong("--name" in case.given and to not in ("rre", "srw"), "--name")
    case.wrong("--template" in case.given and to != "rre", "--template")
    case.wrong("--id-field" in case.given and to != "rre", "--id-field")

    def judge(test, done):
        found = judgments_test.READERS[to](done.main)
        test.assertEqual([(q, list(of.items())) for q, of in found.items()],
                         [(ids[q] if to == "qrels" else q, list(of.items())) for q, of in given.items()])
        if "--queries-out" in case.given:
            test.assertEqual(done.rows("queries"), [[i, q] for q, i in ids.items()])
    return judge

#!/usr/bin/env python3
"""Measures the gain of fifty labels over BM25 on the shop of the tutorial, and on Cranfield.

    demo.py PROGRAM DATA_FOLDER OUT_FOLDER [--seeds 20] [--labels 50] [--draws 10]

Each seed from 1 on is another shop of docs/tutorials/fifty-labels/shop.py. The steps are those of docs/tutorials/fifty-labels.md: `features` finds 50 candidates
of each query and joins the shop's own columns; `reduce` chooses documents of the queries at odd positions; `fit` learns from their
labels; `rank` ranks the candidates of the other queries; `evaluate` compares the NDCG@10 with that of BM25. Rankings of a shop:

  bm25         BM25 of the whole document, without labels
  chosen       a card, fitted to the --labels documents that `reduce` chooses
  random       a card, fitted to as many random documents: the mean of --draws draws
  chosen-best  as chosen, but what `fit --best` fits: the recommended components
  random-best  as random, likewise
  text         as chosen, without the own columns
  all          a card, fitted to the labels of all documents of the pool

Cranfield (DATA_FOLDER/text/cranfield) has no own columns, so its `text` is `chosen`. A pair without a judgment is not relevant.
Writes rows.tsv (a row for each collection), table.md and manifest.json. Needs numpy.
"""

import random
import re
import sys

import common
import needs
from validation_parts import mean_with_interval

numpy, = needs.packages("numpy")

TUTORIAL = common.ROOT / "docs/tutorials/fifty-labels"
MEASURE, CANDIDATES, BASELINE = "NDCG@10", 50, "BM25_of_document"
# Names of the rankings in the table.
RANKINGS = {"bm25": "BM25", "chosen": "{} chosen", "random": "{} random", "chosen-best": "{} chosen, `--best`",
            "random-best": "{} random, `--best`", "text": "{} chosen, text only", "all": "all labels"}
COLUMNS = ("collection", "queries", *RANKINGS, "p")


class Collection:
    """The pools of a collection, and the rankings that are learned from them, in a folder."""

    def __init__(self, given, folder, docs, topics, qrels, own):
        self.given, self.folder, self.own = given, folder, own
        self.rulerank = common.program(given.program, "--threads", 1, "--quiet", cwd=folder)
        lines = topics.splitlines(True)
        for name, of in ("learn", lines[0::2]), ("judge", lines[1::2]):
            (folder / f"{name}.tsv").write_text("".join(of))
            self.rulerank("features", "--collection", docs, "--topics", f"{name}.tsv", "--candidates", CANDIDATES,
                          "--qrels", qrels, "--unjudged", 0, "--out", f"{name}-text.txt")
            if own:
                self.join(name, docs)
        self.queries = len(lines[1::2])

    def join(self, name, docs):
        with open(self.folder / "own.csv", "wb") as out:
            common.call(sys.executable, TUTORIAL / "columns.py", docs, stdout=out, stderr=None, capture_output=False)
        self.rulerank("features", "--pool", f"{name}-text.txt", "--join", "own.csv", "--out", f"{name}.txt")

    def ranked(self, name, train, kind, members="card"):
        """Ranks the queries to judge by what `fit` learns from documents of the pool, without its comparison of models."""
        self.rulerank("fit", "--train", train, "--pool", f"learn{kind}.txt", "--model", "model", "--members", members)
        self.rulerank("rank", "--model", "model", "--test", f"judge{kind}.txt", "--out", name)
        return f"{name}={name}"

    def choose(self, kind):
        self.rulerank("reduce", "--train", f"learn{kind}.txt", "--norm", "query-minmax", "--max-documents", self.given.labels,
                      "--out", f"chosen{kind}.txt")

    def draw(self, seed, kind):
        lines = (self.folder / f"learn{kind}.txt").read_text().splitlines(True)
        kept = sorted(random.Random(seed).sample(range(len(lines)), self.given.labels))
        (self.folder / "random.txt").write_text("".join(lines[i] for i in kept))

    def rankings(self, kind):
        """NAME=FILE of the scores of each ranking, one of them for each draw."""
        for text in dict.fromkeys((kind, "-text")):
            self.choose(text)
        yield "bm25=bm25"
        yield self.ranked("chosen", f"chosen{kind}.txt", kind)
        yield self.ranked("chosen-best", f"chosen{kind}.txt", kind, "recommended")
        yield self.ranked("text", "chosen-text.txt", "-text")
        yield self.ranked("all", f"learn{kind}.txt", kind)
        for seed in range(self.given.draws):
            self.draw(seed, kind)
            yield self.ranked(f"random.{seed}", "random.txt", kind)
            yield self.ranked(f"random-best.{seed}", "random.txt", kind, "recommended")

    def row(self, name):
        """The values of a row of the table."""
        kind = "" if self.own else "-text"
        held = (self.folder / f"judge{kind}.txt").read_text()
        (self.folder / "bm25").write_text("".join(f"{value}\n" for value in re.findall(rf" {BASELINE}:(\S+)", held)))
        found = common.told(self.given.program, "evaluate", "--test", f"judge{kind}.txt", "--profile", "trec", "--metrics", MEASURE,
                            "--scores", *self.rankings(kind), "--compare", "paired-t", "--json", "--quiet", cwd=self.folder)
        means = {one["name"]: one["averages"][MEASURE] for one in found["systems"]}
        p, = (one["paired-t"]["p"] for one in found["comparison"]["results"]
              if one["system"] == "chosen" and one["measure"] == MEASURE)
        for one in ("random", "random-best"):
            means[one] = float(numpy.mean([means[f"{one}.{seed}"] for seed in range(self.given.draws)]))
        return {"collection": name, "queries": self.queries, **{one: means[one] for one in RANKINGS}, "p": p}


def shop(given, folder, seed):
    common.call(sys.executable, TUTORIAL / "shop.py", folder / "shop", seed)
    return Collection(given, folder, folder / "shop/docs.jsonl", (folder / "shop/topics.tsv").read_text(),
                      folder / "shop/qrels", True).row(f"shop, seed {seed}")


def shop_checksum():
    with common.scratch() as folder:
        common.call(sys.executable, TUTORIAL / "shop.py", folder / "shop")
        return common.checksum(folder / "shop")


def cranfield(given, folder):
    data = given.data / "text/cranfield"
    (folder / "qrels").write_text(common.cranfield_qrels(data))
    texts = re.split(r"^\.I .*$", (data / "cran.qry").read_text(), flags=re.M)[1:]
    topics = "".join(f"{i}\t{' '.join(text.replace('.W', '').split())}\n" for i, text in enumerate(texts, 1))
    return Collection(given, folder, data / "cran.all.1400", topics, folder / "qrels", False).row("Cranfield")


def table(rows, labels):
    """The mean of the shops, then a row for each collection, the worst first."""
    shops = [row for row in rows if row["collection"].startswith("shop")]
    others = [one for one in RANKINGS if one != "bm25"]

    def cells(row):
        return [row["collection"], row["queries"], f"{row['bm25']:.4f}", *(f"{row[one] - row['bm25']:+.4f}" for one in others),
                f"{row['p']:.2g}"]

    def interval(one):
        return "{:+.4f} ± {:.4f}".format(*mean_with_interval(numpy.array([row[one] - row["bm25"] for row in shops])))

    mean = [f"mean of {len(shops)} shops", shops[0]["queries"], f"{numpy.mean([row['bm25'] for row in shops]):.4f}",
            *map(interval, others), ""]
    ordered = sorted(shops, key=lambda row: row["chosen"] - row["bm25"])
    significant = [row["chosen"] > row["bm25"] for row in shops if row["p"] < .05]
    return common.table(
        ["collection", "queries", *(name.format(labels) for name in RANKINGS.values()), f"p of {labels} chosen (paired t)"],
        [mean, *map(cells, [row for row in rows if row not in shops] + ordered)],
        f"{MEASURE}: BM25, and differences to it") + "\n" + common.table(
            ["ranking", "shops on which it loses to BM25", "their seeds"],
            [[RANKINGS[one].format(labels), len(lost), ", ".join(lost)] for one in others
             for lost in [[row["collection"].split()[-1] for row in shops if row[one] < row["bm25"]]]]) + (
            f"\nDecisions with {labels} chosen labels (p < .05): deploy {sum(significant)}, keep BM25 "
            f"{len(significant) - sum(significant)}, undecided {len(shops) - len(significant)}.\n")


def main():
    given = common.arguments(__doc__, "program", "data", "out", seeds=20, labels=50, draws=10)
    given.out.mkdir(parents=True, exist_ok=True)
    rows = []
    with open(given.out / "rows.tsv", "w", encoding="utf-8") as out:
        print(*COLUMNS, sep="\t", file=out)
        for seed in range(given.seeds + 1):
            with common.scratch() as folder:
                rows.append(shop(given, folder, seed) if seed else cranfield(given, folder))
            print(*(f"{rows[-1][one]:.6g}" if isinstance(rows[-1][one], float) else rows[-1][one] for one in COLUMNS), sep="\t",
                  file=out, flush=True)
    common.write(given.out / "table.md", table(rows, given.labels))
    common.manifest(given.out / "manifest.json", build=common.build(given.program),
                    data={"Cranfield": common.checksum(given.data / "text/cranfield"), "shop of seed 1": shop_checksum()})


if __name__ == "__main__":
    main()

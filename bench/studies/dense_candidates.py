#!/usr/bin/env python3
"""How many relevant documents of Cranfield are among the candidates: by text, by latent semantic vectors, and by both.

  dense_candidates.py PROGRAM DATA_FOLDER OUT_FOLDER

DATA_FOLDER has cranfield/{cran.all.1400,cran.qry,QRelsCorrectedforTRECeval}. Each search finds 1,000 documents per
topic; `text` is BM25 and only finds documents that share a word with the topic, `vectors` finds any. Weights and
dimensions of the vectors are compared on the topics at odd positions (choice.md), on which the defaults of `vectors`
were chosen. Then the defaults, and fusions of both searches, are compared on all topics and on those at even
positions, which were not used for the choice: with text, and with the vectors alone. Grade 5, which has no meaning,
counts as 0. Finally `pipeline` ranks the first 100 candidates of both searches (pipeline-both.md), of the vectors
alone (pipeline-dense.md), and of text with the similarity of the vectors as a feature (pipeline-text.md): its tables
of the systems. Writes Markdown and manifest.json.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402

WEIGHTS = {"ltc.ltc": ["--weighting", "ltc.ltc"], "ntc.ntc": ["--weighting", "ntc.ntc"], "lnc.ltc": ["--weighting", "lnc.ltc"],
           "lnc.lnc": ["--weighting", "lnc.lnc"], "bm25": ["--weights", "bm25"]}
DIMENSIONS = (32, 64, 128, 256, 400)
FUSIONS = {"rrf": ["--method", "rrf"], "combsum": ["--method", "combsum"], "combmnz": ["--method", "combmnz"]}
MEASURES = "recall@100,recall@1000,MAP,NDCG@10"
DEPTH = 1000
KEPT = ("version", "commit", "compiler", "build_type", "machine", "threads", "seed", "inputs")


class Bench:
    def __init__(self, program, data, folder):
        self.program, self.folder, self.lines = program, folder, []
        for name in ("cran.all.1400", "cran.qry", "QRelsCorrectedforTRECeval"):
            (folder / name).symlink_to((data / "cranfield" / name).resolve())

    def run(self, *words, kept=True):
        """Runs a command in the folder; the manifest lists those of the comparison."""
        if kept:
            self.lines.append("rulerank " + " ".join(map(str, words)))
        return common.output(self.program, *words, "--quiet", cwd=self.folder)

    def judge(self, parity=None):
        """The judgments with grade 5 as 0: of all topics, or of those at odd or even positions."""
        name = {None: "cran.qrels", 1: "odd.qrels", 0: "even.qrels"}[parity]
        common.write(self.folder / name, common.cranfield_qrels(self.folder, lambda topic: parity in (None, topic % 2)))
        return name

    def vectors(self, run, *options, kept=True):
        self.run("vectors", "--collection", "cran.all.1400", "--out", "docs.npy", "--ids-out", "docs.ids",
                 "--topics", "cran.qry", "--topics-out", "topics.npy", "--topic-ids-out", "topics.ids",
                 "--number-by-position", *options, "--manifest", "manifest.json", kept=kept)
        self.run("search", "dense", "--collection", "docs.npy", "--queries", "topics.npy", "--metric", "cosine", "--k", DEPTH,
                 "--ids", "docs.ids", "--query-ids", "topics.ids", "--run", run, "--out", "/dev/null", kept=kept)

    def evaluate(self, qrels, runs, *more, kept=True):
        return self.run("evaluate", "--qrels", qrels, "--run", *runs, "--profile", "trec", "--complete",
                        "--metrics", MEASURES, *more, kept=kept)


def choice(bench):
    """The table of weights and dimensions, on the topics of odd positions."""
    qrels = bench.judge(1)
    runs = ["text.run"]
    for weights, options in WEIGHTS.items():
        for dimensions in DIMENSIONS:
            runs.append(f"{weights}-{dimensions}.run")
            bench.vectors(runs[-1], "--dimensions", dimensions, *options, kept=False)
    return bench.evaluate(qrels, runs, "--format", "markdown", kept=False)


def comparison(bench, qrels):
    """Compares with text, then with the vectors alone."""
    runs = ["text.run", "vectors.run", *(f"{name}.run" for name in FUSIONS)]
    text = bench.evaluate(qrels, runs, "--compare", "paired-t,fisher", "--format", "markdown")
    vectors = bench.evaluate(qrels, runs, "--compare", "paired-t,fisher", "--reference", "vectors", "--format", "markdown")
    return text + "\n" + vectors[vectors.index("against vectors"):]


def pipelines(bench, out):
    for name in ("text", "dense", "both"):
        bench.run("pipeline", "--collection", "cran.all.1400", "--topics", "cran.qry", "--number-by-position",
                  "--qrels", "QRelsCorrectedforTRECeval", "--not-relevant", 5, "--vectors", "docs.npy",
                  "--topic-vectors", "topics.npy", "--candidates-from", name, "--out-dir", name)
        common.write(out / f"pipeline-{name}.md", (bench.folder / name / "table.md").read_text())


def main():
    given = common.arguments(__doc__, "program", "data", "out")
    with common.scratch() as folder:
        bench = Bench(given.program, given.data, folder)
        bench.run("search", "text", "--collection", "cran.all.1400", "--queries", "cran.qry", "--number-by-position", "--weights",
                  "bm25", "--k", DEPTH, "--run", "text.run", "--out", "/dev/null")
        common.write(given.out / "choice.md", choice(bench))
        bench.vectors("vectors.run")
        for name, options in FUSIONS.items():
            bench.run("fuse", "--run", "text.run", "vectors.run", "--depth", DEPTH, "--out", f"{name}.run", *options)
        common.write(given.out / "all.md", comparison(bench, bench.judge()))
        common.write(given.out / "even.md", comparison(bench, bench.judge(0)))
        pipelines(bench, given.out)
        manifest = json.loads((bench.folder / "manifest.json").read_text())
        common.write(given.out / "manifest.json", json.dumps(
            {**{key: manifest[key] for key in KEPT}, "commands": bench.lines}, indent=1) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Runs the same commands with two builds of the program, BEFORE and AFTER, and compares their outputs and times.

    compare_programs.py BEFORE AFTER OUT [--rounds 10] [--walks]

The inputs are synthetic and the same for both. Options whose defaults differ between the builds are given. The builds take turns
for --rounds rounds, on one thread. OUT gets rows.jsonl, table.md and manifest.json. For each command they have: whether all outputs
have the same bytes, the medians of the wall times, and the median over the rounds of the ratio after / before with its interval
(the 95 % interval of a median by ranks). A command that one of the builds refuses is listed with its message.

--walks runs other commands instead: one for each pass over the data that commit efd0518 made and later ones do not, with inputs
large enough to show it. walks.md has the minimum and the median of the processor times."""

import random
import resource
import shlex
import shutil
import statistics
import struct
import sys

import common
import speed_gate

TRAIN, TEST = "large/Fold1/train.txt", "large/Fold1/test.txt"
COMMANDS = {  # in this order: some read what others wrote
    "sample": "sample --documents 4000 --features 20 --queries 80 --seed 3 --out-dir {out}",
    "split": f"split --in {TRAIN} --out-dir {{out}}",
    "discretize": f"discretize --train {TRAIN} --method tube --out-dir {{out}}",
    "reduce, delta": f"reduce --train {TRAIN} --rule-size 4 --engine delta --out {{out}}/reduced.txt --ids {{out}}/ids.tsv",
    "reduce, ssarp": "reduce --train small/Fold1/train.txt --rule-size 3 --engine ssarp --out {out}/reduced.txt",
    "reduce, many partitions": f"reduce --train {TRAIN} --rule-size 3 --partitions 5 --out {{out}}/reduced.txt",
    "rank by rules": f"rank --train small/Fold1/train.txt --test {TEST} --out {{out}}/scores.txt",
    "rank, lrar": "rank --train small/Fold1/train.txt --test small/Fold1/test.txt --engine lrar --out {out}/scores.txt",
    "fit a scorecard, then rank": "fit --train small/Fold1/train.txt --members scorecard --loss point --model {out}/model; "
                                  f"rank --model {{out}}/model --test {TEST} --out {{out}}/scores.txt",
    "fit linear, then rank": f"fit --train {TRAIN} --members linear --model {{out}}/model; "
                             f"rank --model {{out}}/model --test {TEST} --out {{out}}/scores.txt",
    "fit rules, then rank": "fit --train small/Fold1/train.txt --members rules --model {out}/model; "
                            f"rank --model {{out}}/model --test {TEST} --out {{out}}/scores.txt",
    "inspect": "fit --train small/Fold1/train.txt --members scorecard --loss point --model {out}/model; inspect --model {out}/model --json",
    "explain": "explain --train small/Fold1/train.txt --test small/Fold1/test.txt --qid 45 --top 2 --json",
    "evaluate": f"evaluate --test {TRAIN} --scores scores.txt --metrics MAP,NDCG@10,P@5,ERR --per-query",
    "mine": "mine --transactions baskets.txt --min-support 2% --out {out}/itemsets.txt",
    "mine rules": "mine --transactions baskets.txt --min-support 5% --rules --min-confidence 0.5 --out {out}/itemsets.txt",
    "search text": "search text --collection documents.tsv --queries topics.tsv --k 10 --weighting ltc.lnc --out {out}/found.tsv",
    "search text, index": "search text --collection documents.tsv --queries topics.tsv --k 10 --index {out}/index --out {out}/found.tsv",
    "fuse": "search text --collection documents.tsv --queries topics.tsv --k 20 --run {out}/a.run --out {out}/a.tsv; "
            "search text --collection documents.tsv --queries topics.tsv --k 20 --weights bm25 --run {out}/b.run --out {out}/b.tsv; "
            "fuse --run {out}/a.run {out}/b.run --out {out}/fused.run",
    "search dense": "search dense --collection base.fvecs --queries queries.fvecs --k 10 --out {out}/found.tsv",
    "search dense, cosine": "search dense --collection base.fvecs --queries queries.fvecs --k 10 --metric cosine --out {out}/found.tsv",
    "search dense, radius": "search dense --collection base.fvecs --queries queries.fvecs --radius 5 --out {out}/found.tsv",
    "search metric, words": "search metric --metric edit --collection words.txt --queries asked.txt --radius 2 --out {out}/found.tsv",
    "search metric, k": "search metric --metric edit --collection words.txt --queries asked.txt --k 5 --index-type lc --out {out}/found.tsv",
    "search metric, vectors": "search metric --collection base.fvecs --queries queries.fvecs --k 5 --index-type sss --out {out}/found.tsv",
    "vectors": "vectors --collection documents.tsv --dimensions 20 --out {out}/vectors.fvecs",
    "features": "features --collection documents.tsv --topics topics.tsv --qrels qrels --out {out}/pool.txt",
    "pipeline": "pipeline --collection documents.tsv --topics topics.tsv --qrels qrels --fold-count 3 --out-dir {out}",
    "experiment": "experiment --folds small --out-dir {out} --baselines full,random --reduce-size 3 --random-draws 2",
    "tune": "tune --train small/Fold1/train.txt --vali small/Fold1/vali.txt --trials 6 --out {out}/settings.json",
}
WALKS = {
    "text of a data set, scanned": "rank --model card.model --test long/Fold1/train.txt --out {out}/scores.txt",
    "vectors of a search, checked": "search dense --collection wide.fvecs --queries one.fvecs --k 1",
    "vectors of a metric space, checked": "search metric --collection wide.fvecs --queries one.fvecs --k 1 --index-type brute",
    "results of a search, copied": "search dense --collection base.fvecs --queries queries.fvecs --radius 100",
    "files of a pipeline, hashed": "pipeline --collection documents.tsv --topics topics.tsv --qrels qrels --fold-count 10 --out-dir {out} "
                                   "--candidates 1500 --reduce-size none --rank-size none --baselines feature --permutations 100",
}
PREPARED = speed_gate.PREPARED[:2]
PREPARED_FOR_WALKS = ["sample --documents 300000 --features 46 --queries 3000 --fold-count 1 --out-dir long",
                      "sample --documents 1000 --features 46 --queries 50 --fold-count 1 --out-dir short",
                      "fit --train short/Fold1/train.txt --members scorecard --loss point --model card.model"]
SELDOM = {"manifest.json"}  # holds times and the version


def outputs(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name not in SELDOM and not path.name.endswith((".lock", ".seconds.tsv"))}


def prepare_walks(folder, program):
    for line in PREPARED_FOR_WALKS:
        common.call(program, *shlex.split(line), "--quiet", cwd=folder)
    draw = random.Random(1)
    row = struct.pack("<i256f", 256, *(draw.gauss(0, 1) for _ in range(256)))
    (folder / "wide.fvecs").write_bytes(row * 200000)
    (folder / "one.fvecs").write_bytes(row)


def run(program, line, folder, out):
    """(seconds, {output: bytes}, the first error message) of the commands of a line."""
    out.mkdir()
    seconds, shown, message = 0.0, [], ""
    for words in line.format(out=out).split(";"):
        took, done = common.timed(lambda words=words: common.call(program, *shlex.split(words), "--threads", "1", "--quiet", cwd=folder,
                                                                  codes=range(256)))
        seconds += took
        shown.append(done.stdout)
        if done.returncode:
            message = done.stderr.strip().splitlines()[0]
            break
    files = {"standard output": "".join(shown).encode(), **outputs(out)}
    shutil.rmtree(out)
    return seconds, files, message


def processor_seconds(*of_run):
    """The processor time of the commands of a line."""
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(*of_run)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime - begin.ru_utime + end.ru_stime - begin.ru_stime


def walk_cells(name, line, a, folder):
    """The least and the median of the processor seconds of both builds."""
    times = common.in_turn(a.rounds, {program: lambda program=program: processor_seconds(program, line, folder, folder / "made")
                                      for program in (a.before, a.after)})
    return [name, *(f"{min(of):.3f} / {statistics.median(of):.3f}" for of in times.values())]


def row_of(name, runs):
    """The results of the rounds of a command, as a row."""
    before, after = runs["before"], runs["after"]
    row = {"command": name}
    for side, of in runs.items():
        if of[0][2]:
            row[f"refused {side}"] = of[0][2]
    if len(row) > 1:
        return row
    if not any(before[0][1].values()):
        common.fail(f"{name}: wrote nothing")
    differ = sorted(file for file in before[0][1].keys() | after[0][1].keys() if before[0][1].get(file) != after[0][1].get(file))
    ratios = sorted(a[0] / b[0] for b, a in zip(before, after))
    low = max(0, round(len(ratios) / 2 - 0.98 * len(ratios) ** 0.5))
    return {**row, "differ": differ, "seconds before": statistics.median(of[0] for of in before),
            "seconds after": statistics.median(of[0] for of in after), "ratio": statistics.median(ratios),
            "interval": [ratios[low], ratios[-1 - low]]}


def cells(row):
    refused = [f"refused {side}: {row[f'refused {side}']}" for side in ("before", "after") if f"refused {side}" in row]
    if refused:
        return [row["command"], "; ".join(refused), "", "", ""]
    return [row["command"], "same" if not row["differ"] else "differ: " + ", ".join(row["differ"]), f"{row['seconds before']:.3f}",
            f"{row['seconds after']:.3f}", "{:.2f} ({:.2f} to {:.2f})".format(row["ratio"], *row["interval"])]


def main():
    a = common.arguments(__doc__, "before", "after", "out", rounds=10, walks=False)
    with common.scratch() as folder:
        speed_gate.write_inputs(folder)
        common.write(folder / "qrels", "".join(f"q{q} 0 d{37 * q + 11 * d} {d % 3}\n" for q in range(40) for d in range(20)))
        for line in PREPARED:
            common.call(a.before, *shlex.split(line), "--quiet", cwd=folder)
        if a.walks:
            prepare_walks(folder, a.before)
            common.write(a.out / "walks.md", common.table(["walk", "before, s", "after, s"],
                                                          [walk_cells(name, line, a, folder) for name, line in WALKS.items()]))
            return
        log = common.Log(a.out / "rows.jsonl")
        for name, line in COMMANDS.items():
            runs = common.in_turn(a.rounds, {side: lambda program=program: run(program, line, folder, folder / "made")
                                             for side, program in (("before", a.before), ("after", a.after))})
            print(" | ".join(cells(log.add(row_of(name, runs)))), flush=True)
    common.write(a.out / "table.md", common.table(["command", "bytes of the outputs", "seconds before", "after", "after / before"],
                                                  [cells(row) for row in log]))
    common.manifest(a.out / "manifest.json", before=common.build(a.before), after=common.build(a.after))


if __name__ == "__main__":
    sys.exit(main())

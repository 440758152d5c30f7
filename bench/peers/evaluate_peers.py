#!/usr/bin/env python3
"""Compares the time of Python's `evaluate` with ranx, pytrec_eval and ir_measures, in turns, on the same qrels and run.

    evaluate_peers.py [--rounds 9] [--threads 1] > rows.jsonl

Run it with an interpreter that has the package, ranx, pytrec-eval-terrier and ir-measures. Qrels and run are synthetic dicts of
dicts with these shapes:

  letor       156 queries with 19 documents each, all judged and ranked, as in a test set of MQ2008
  trec        250 queries with 1,000 retrieved and 200 judged documents each, as in a track of TREC
  passages    2,000 queries with 100 retrieved and 2 judged documents each, as in passage ranking

Each side is timed twice. `whole` goes from the dicts to the means of MAP, NDCG@10, P@10, MRR and recall@100. `prepared` has the part
that a user repeats to judge many runs by the same qrels: `evaluate` of a `Qrels` and a dict for ours, RelevanceEvaluator.evaluate
and the means for pytrec_eval, calc_aggregate of an evaluator for ir_measures and for our provider of it, and evaluate of a ready
Qrels and Run for ranx. ranx has compiled its functions before. Scores are distinct, because the sides treat equal ones differently.

Means are compared before a time is printed: a difference above 1e-12 ends the run. One JSON line for each shape and side: median,
minimum and maximum over the rounds, in milliseconds.
"""

import importlib.metadata
import json
import os
import pathlib
import platform
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402
import needs  # noqa: E402

needs.expect("ir_measures", "pytrec_eval", "ranx")
numpy, = needs.packages("numpy")

SHAPES = {"letor": (156, 19, 19), "trec": (250, 1000, 200), "passages": (2000, 100, 2)}  # queries, retrieved, judged


def draw(queries, retrieved, judged):
    rng = numpy.random.default_rng(11)
    qrels, run = {}, {}
    for q in range(queries):
        documents = [f"D{d:07}" for d in rng.choice(10**6, max(retrieved, judged), replace=False)]
        qrels[f"q{q}"] = {d: int(label) for d, label in
                          zip(rng.permutation(documents)[:judged].tolist(), rng.integers(0, 3, judged) + (judged < 3))}
        run[f"q{q}"] = dict(zip(documents[:retrieved], (rng.permutation(retrieved) / 1024).tolist()))
    return qrels, run


def sides(qrels, run, threads):
    """{name: (whole, prepared)}, functions that return the five means."""
    import ir_measures
    import pytrec_eval
    import ranx
    from ir_measures import AP, P, R, RR, nDCG

    import rulerank
    from rulerank.ir_measures import RulerankProvider

    of_irm = [AP, nDCG @ 10, P @ 10, RR, R @ 100]
    of_ranx = ["map", "ndcg@10", "precision@10", "mrr", "recall@100"]
    of_trec = ["map", "ndcg_cut_10", "P_10", "recip_rank", "recall_100"]

    def ours(judgments):
        return list(rulerank.evaluate(judgments, run, metrics="MAP,NDCG@10,P@10,MRR,recall@100", n_jobs=threads).values())

    def of_evaluator(evaluator):
        means = evaluator.calc_aggregate(run)
        return [means[measure] for measure in of_irm]

    def of_relevance(evaluator):
        found = evaluator.evaluate(run)
        return [sum(query[name] for query in found.values()) / len(found) for name in of_trec]

    def of_objects(judged, retrieved):
        found = ranx.evaluate(judged, retrieved, of_ranx, threads=threads)
        return [found[name] for name in of_ranx]

    ready = rulerank.Qrels(qrels)
    provided = RulerankProvider(n_jobs=threads).evaluator(of_irm, qrels)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(of_trec))
    measuring = ir_measures.evaluator(of_irm, qrels)
    judged, retrieved = ranx.Qrels(qrels), ranx.Run(run)
    return {"rulerank": (lambda: ours(qrels), lambda: ours(ready)),
            "provider": (lambda: of_evaluator(RulerankProvider(n_jobs=threads).evaluator(of_irm, qrels)),
                         lambda: of_evaluator(provided)),
            "pytrec_eval": (lambda: of_relevance(pytrec_eval.RelevanceEvaluator(qrels, set(of_trec))),
                            lambda: of_relevance(evaluator)),
            "ir_measures": (lambda: of_evaluator(ir_measures.evaluator(of_irm, qrels)), lambda: of_evaluator(measuring)),
            "ranx": (lambda: of_objects(ranx.Qrels(qrels), ranx.Run(run)), lambda: of_objects(judged, retrieved))}


def main():
    arguments = common.arguments(__doc__, rounds=9, threads=1)
    warnings.simplefilter("ignore")  # numba's warnings about compilation
    for shape, (queries, retrieved, judged) in SHAPES.items():
        named = sides(*draw(queries, retrieved, judged), arguments.threads)
        expected = named["rulerank"][0]()
        for name, calls in named.items():
            for call in calls:
                far = numpy.abs(numpy.subtract(call(), expected)).max()
                if far > 1e-12:
                    common.fail(f"{shape}, {name}: found {call()}, expected {expected}")
        times = common.in_turn(arguments.rounds, {(name, kind): lambda call=call: 1e3 * common.timed(call)[0]
                                                  for name, calls in named.items() for kind, call in enumerate(calls)})
        for name in named:
            row = {"shape": shape, "side": name, "queries": queries, "retrieved": retrieved, "judged": judged,
                   "threads": arguments.threads, "rounds": arguments.rounds}
            for kind, word in enumerate(("whole_ms", "prepared_ms")):
                row[word] = common.spread(times[name, kind])
            print(json.dumps(row), flush=True)
    import rulerank

    print(json.dumps({"machine": common.machine(), "python": platform.python_version(), "load": os.getloadavg()[0],
                      "commit": rulerank.__commit__, "versions": {
        name: importlib.metadata.version(name) for name in ("ranx", "pytrec-eval-terrier", "ir-measures", "numpy")}}))


if __name__ == "__main__":
    main()

"""Runs against qrels: the same as the program, and with ranx's objects."""

import collections

import numpy as np
import pytest

import rulerank
from rulerank import evaluate

METRICS = "MAP,NDCG@10,P@5,MRR,Rprec,recall@20,success@1,bpref,ERR@10,RBP,judged@10"


def drawn_judgments(ties):
    """Qrels and a run with unjudged documents, judged documents missing from the run, and queries in only one of them."""
    rng = np.random.default_rng(7)
    qrels, run = {}, {}
    for q in range(30):
        documents = [f"d{d}" for d in rng.permutation(60)]
        qrels[f"q{q}"] = {d: int(rng.integers(0, 4) if q else 0) for d in documents[:40]}
        scores = rng.permutation(len(documents) - 20) / 8
        run[f"q{q + 2}"] = dict(zip(documents[20:], (np.floor(scores) if ties else scores).tolist()))
    return qrels, run


@pytest.mark.parametrize("how", [{}, {"complete": True}, {"profile": "standard", "ties": "average"}])
def test_values_are_the_programs(program, tmp_path, how):
    qrels, run = drawn_judgments(ties=True)
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {v}\n" for q, of in qrels.items() for d, v in of.items()))
    (tmp_path / "run").write_text("".join(f"{q} Q0 {d} 1 {v} t\n" for q, of in run.items() for d, v in of.items()))
    options = [word for name, value in how.items()
               for word in ([f"--{name}"] if value is True else [f"--{name}", value])]
    lines = program("evaluate", "--qrels", tmp_path / "qrels", "--run", tmp_path / "run", "--metrics", METRICS,
                    "--format", "tsv", "--digits", 17, "--per-query", *options)
    _, *rows = [line.split("\t") for line in lines.splitlines() if line and not line.startswith("#")]
    count = len(METRICS.split(","))
    expected = {row[-count - 1]: [float(cell) for cell in row[-count:]] for row in rows}
    assert list(evaluate(qrels, run, metrics=METRICS, **how).values()) == expected.pop("all")
    frame = evaluate(qrels, run, metrics=METRICS, per_query=True, **how)
    assert len(frame) == (30 if "complete" in how else 28)
    assert dict(zip(frame.index, frame.to_numpy().tolist())) == expected


def test_judgments_that_are_ready():
    qrels, run = drawn_judgments(ties=True)
    ready = rulerank.Qrels(qrels)
    for how in ({}, {"complete": True}, {"profile": "standard", "ties": "average"}):
        assert evaluate(ready, run, metrics=METRICS, **how) == evaluate(qrels, run, metrics=METRICS, **how)
    assert evaluate(rulerank.Qrels(AsRanxHasThem("qrels", qrels)), run) == evaluate(qrels, run)
    with pytest.raises(rulerank.UsageError, match="qrels: found list, expected"):
        rulerank.Qrels([1])
    with pytest.raises(rulerank.DataError, match="query q, document a: found the label 0.5"):
        rulerank.Qrels({"q": {"a": 0.5}})
    with pytest.raises(rulerank.UsageError, match="together with an array"):
        evaluate(ready, [1.0])


def test_labels_as_data_frames_have_them():
    """Integers stored as floats, also NumPy's."""
    run = {"q": {"a": 2.0, "b": 1.0}}
    expected = evaluate({"q": {"a": 1, "b": 2}}, run)
    for number in (float, np.float64, np.float32, np.int8):
        assert evaluate({"q": {"a": number(1), "b": number(2)}}, run) == expected
    for label in (0.5, float("nan"), float("inf"), 3e9, "1", None):
        with pytest.raises(rulerank.DataError, match="query q, document b: found the label .*, expected a whole number"):
            evaluate({"q": {"a": 1.0, "b": label}}, run)


class AsRanxHasThem:
    """The attributes of ranx's Qrels and Run that evaluate uses."""

    def __init__(self, attribute, values):
        setattr(self, attribute, object())
        self.to_dict = lambda: collections.defaultdict(dict, values)


def test_objects_like_ranxs():
    qrels, run = drawn_judgments(ties=True)
    assert evaluate(AsRanxHasThem("qrels", qrels), AsRanxHasThem("run", run)) == evaluate(qrels, run)
    with pytest.raises(rulerank.UsageError, match="together with an array"):
        evaluate(AsRanxHasThem("qrels", qrels), AsRanxHasThem("qrels", qrels))


@pytest.mark.filterwarnings("ignore")  # numba's warnings about compilation
def test_ranx():
    """`evaluate` accepts the objects of ranx and gives its numbers; without ties, whose order ranx leaves open. The code
    of ranx runs as Python, because numba needs a minute to compile it."""
    numba = pytest.importorskip("numba", exc_type=ImportError)
    numba.config.DISABLE_JIT = 1
    ranx = pytest.importorskip("ranx", exc_type=ImportError)
    qrels, run = drawn_judgments(ties=False)
    qrels.pop("q0"), qrels.pop("q1"), run.pop("q30"), run.pop("q31")  # it requires equal queries
    judged, retrieved = ranx.Qrels(qrels), ranx.Run(run)
    names = {"map": "MAP", "map@10": "MAP@10", "ndcg": "NDCG", "ndcg@10": "NDCG@10", "precision@5": "P@5",
             "recall@20": "recall@20", "mrr": "MRR", "mrr@3": "MRR@3", "r-precision": "Rprec",
             "hit_rate@1": "success@1"}
    theirs = ranx.evaluate(judged, retrieved, list(names))
    ours = evaluate(judged, retrieved, metrics=list(names.values()))
    assert list(ours) == list(names.values())
    assert list(ours.values()) == pytest.approx([theirs[name] for name in names], abs=1e-12)
    assert 0 < min(ours.values()) and max(ours.values()) < 1
    of_ranx, of_dicts = (evaluate(*both, metrics=METRICS, per_query=True).sort_index()
                         for both in ((judged, retrieved), (qrels, run)))
    assert of_ranx.equals(of_dicts)
    burges = ranx.evaluate(judged, retrieved, "ndcg_burges@10")
    exponential = evaluate(judged, retrieved, metrics="NDCG@10", gain="exponential")
    assert exponential["NDCG@10"] == pytest.approx(burges, abs=1e-12)


@pytest.mark.parametrize("qrels, run, message", [
    ({"q": {"d": 1.5}}, {"q": {"d": 1.0}}, "qrels: query q, document d: found the label 1.5, expected a whole number"),
    ({"q": {"d": 1}}, {"q": {"d": float("nan")}}, "run: query q, document d: found the score nan"),
    ({"q": {"d": 1}}, {"q": {"d": "x"}}, "run: query q, document d: found the score 'x'"),
    ({"q": {"d": 1}}, {"q": [1, 2]}, "run: query q: expected a dict of documents"),
    ({"\ud800": {"d": 1}}, {"q": {"d": 1}}, "qrels: found the id '.ud800', expected the text"),
    ({1: {"d": 1}}, {"q": {"d": 1}}, "qrels: found the id 1, expected the text"),
    ({"q": {2: 1}}, {"q": {"d": 1}}, "qrels: found the id 2, expected the text"),
    ({"q": {"d": 1}}, {"p": {"d": 1}}, "no query that qrels judges"),
    ({}, {"q": {"d": 1}}, "no query that qrels judges")])
def test_bad_qrels_and_runs(qrels, run, message):
    with pytest.raises(rulerank.DataError, match=message):
        evaluate(qrels, run)


def test_a_label_without_a_gain():
    with pytest.raises(rulerank.DataError, match="qrels: query q, document d: found label 5000, whose gain exceeds a double;"):
        evaluate({"q": {"d": 5000}}, {"q": {"d": 1}}, gain="exponential")


@pytest.mark.parametrize("arguments, message", [
    (({"q": {"d": 1}}, [1.0]), "together with an array"), (([1], {"q": {"d": 1.0}}), "together with an array"),
    (({"q": {"d": 1}}, {"q": {"d": 1.0}}, ["q"]), "qid: cannot be combined with qrels")])
def test_wrong_arguments(arguments, message):
    with pytest.raises(rulerank.UsageError, match=message):
        evaluate(*arguments)


def test_complete_is_of_runs():
    with pytest.raises(rulerank.UsageError, match="complete: cannot be combined with arrays"):
        evaluate([1, 0], [1, 2], complete=True)

"""Integers of 400 digits: every function raises the project's own error with a place."""

import inspect

import numpy as np
import pandas as pd
import pytest

import rulerank as rr

LARGE = 10**400
ROWS = np.random.default_rng(0).random((40, 3))
LABELS = np.random.default_rng(1).integers(0, 3, 40)
QIDS = np.repeat(np.arange(8), 5)


def changed(values, place, large=LARGE):
    objects = np.array(values, dtype=object)
    objects[place] = large
    return objects


X, Y, SCORES = changed(ROWS, (3, 1)), changed(LABELS, 4), changed(ROWS[:, 0], 6)
FORMS = [X, X.tolist(), pd.DataFrame(X, columns=list("abc")), changed(ROWS, (3, 1), -LARGE)]


def ranker():
    return rr.RuleRanker("rules")


@pytest.mark.parametrize("rows", FORMS, ids=["array", "list", "frame", "negative"])
@pytest.mark.parametrize("call", [
    lambda rows: ranker().fit(rows, LABELS, qid=QIDS),
    lambda rows: ranker().fit(ROWS, LABELS, qid=QIDS).predict(np.array(rows, dtype=object), qid=QIDS),
    lambda rows: rr.SelectiveSampler().fit(rows, LABELS, qid=QIDS),
    lambda rows: rr.Discretizer().fit(rows),
    lambda rows: rr.Discretizer().fit(ROWS).transform(np.array(rows, dtype=object)),
    lambda rows: rr.DenseNeighbors().fit(rows),
    lambda rows: rr.DenseNeighbors().fit(ROWS).kneighbors(np.array(rows, dtype=object)),
    lambda rows: rr.MetricNeighbors().fit(rows),
    lambda rows: rr.dump_letor("rows", rows, LABELS, QIDS)])
def test_rows(call, rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(rr.DataError, match=r"^X:4:2: found a whole number of 1329 bits, expected one that a double") as error:
        call(rows)
    assert (error.value.file, error.value.line, error.value.column) == ("X", 4, 2)


@pytest.mark.parametrize("call, where", [
    (lambda: ranker().fit(ROWS, Y, qid=QIDS), "y:5:"), (lambda: ranker().fit(ROWS, Y.tolist(), qid=QIDS), "y:5:"),
    (lambda: rr.SelectiveSampler().fit(ROWS, Y, qid=QIDS), "y:5:"), (lambda: rr.evaluate(Y, SCORES, QIDS), "y:5:"),
    (lambda: rr.evaluate(LABELS, SCORES, QIDS), "scores:7:"), (lambda: rr.evaluate(LABELS, SCORES.tolist(), QIDS), "scores:7:"),
    (lambda: rr.compare(LABELS, {"a": SCORES, "b": ROWS[:, 0]}, QIDS), "scores:7:"),
    (lambda: rr.make_pool({"a": "wing", "b": "flap"}, {"1": "wing"}, vectors=changed([[1, 2], [3, 4]], (1, 0)),
                          topic_vectors=[[1, 2]]), "vectors:2:1:")])
def test_labels_and_scores(call, where):
    with pytest.raises(rr.DataError, match=f"^{where} found a whole number of 1329 bits"):
        call()


@pytest.mark.parametrize("call", [
    lambda: rr.DenseNeighbors().fit(ROWS).radius_neighbors(ROWS, LARGE),
    lambda: rr.MetricNeighbors().fit(ROWS).radius_neighbors(ROWS, LARGE),
    lambda: rr.mine_rules([[1, 2], [1]], 0.5, LARGE),
    lambda: rr.make_pool({"a": "wing"}, {"1": "wing"}, not_relevant=[LARGE]),
    lambda: rr.make_pool({"a": "wing"}, {"1": "wing"}, run_weights=[LARGE, 1]),
    lambda: rr.evaluate({"q": {"a": LARGE}}, {"q": {"a": 1.0}}), lambda: rr.evaluate({"q": {"a": 1}}, {"q": {"a": LARGE}})])
def test_other_arguments(call):
    with pytest.raises(rr.RulerankError):
        call()


# Except `verbose`, which is true.
PARAMETERS = [(of, name) for of in (rr.RuleRanker, rr.SelectiveSampler, rr.Discretizer, rr.DenseNeighbors, rr.MetricNeighbors)
              for name in inspect.signature(of).parameters if name not in ("verbose", "members", "qid_column")]


@pytest.mark.parametrize("large", [LARGE, 10**5000], ids=["400 digits", "5000 digits"])
@pytest.mark.parametrize("of, name", PARAMETERS, ids=lambda one: getattr(one, "__name__", one))
def test_parameters(of, name, large):
    with pytest.raises(rr.RulerankError, match=name.rstrip("_")):
        of(**{name: large}).fit(ROWS, LABELS, **({} if "Neighbors" in of.__name__ else {"qid": QIDS})).kneighbors(ROWS)

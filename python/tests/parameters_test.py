"""Arguments of a wrong type: errors name them and the expected types."""

import functools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import rulerank
from rulerank import (DenseNeighbors, Discretizer, MetricNeighbors, RuleRanker, SelectiveSampler, TextNeighbors, UsageError,
                      compare, draw_letor, evaluate, load_letor, metric_scorer, mine_itemsets, mine_rules, report)

X = np.random.default_rng(1).normal(size=(40, 4))
Y, QID = np.arange(40) % 3, np.arange(40) // 10
ROWS = [["a", "b"], ["a"]]

WRONG = {
    RuleRanker: {"rule_size": [2.5, -1, None, True, 2**40], "bins": [2.5, "some", [3]], "members": [3, None], "n_jobs": [1.5, "all"],
                 "random_state": [-1, "one", 0.5, 2**64], "min_confidence": ["0.1", None, 1j], "min_support": ["10%"],
                 "cuts": [3, "tube"], "norm": [None, 1], "device": [0], "engine": [None],
                 "support_weight": ["large"], "smoothing": [None], "feature_share": ["half"]},
    functools.partial(RuleRanker, "scorecard"): {"loss": [1], "points_penalty": ["auto"], "smoothness": ["much"],
                                                 "folds": [2.5, -2]},
    functools.partial(RuleRanker, "card"): {"max_features": [2.5, None], "max_points": ["many"], "target": [3], "smoothness": ["much"]},
    functools.partial(RuleRanker, "joint"): {"pairs": [2.5, -1]},
    functools.partial(RuleRanker, "linear"): {"strength": ["auto", None], "linear_scale": [3, None], "folds": ["5"]},
    SelectiveSampler: {"partitions": [None, 2.5, "all"], "max_documents": [-1, 0.5, None], "whole_queries": [1, "yes"],
                       "feature_order": [None], "rule_size": ["4"], "cuts": [X]},
    Discretizer: {"method": [None], "bins": [None, 2.5], "unlisted": [0], "n_jobs": [0.5]},
    DenseNeighbors: {"metric": [None], "engine": [3], "n_jobs": ["1"]},
    MetricNeighbors: {"index": [None], "bucket": [-1, 0.5], "alpha": ["0.4"], "check_metric": [-1, True, "all"]},
}


@pytest.mark.parametrize("make, name, value", [(make, name, value) for make, names in WRONG.items()
                                               for name, values in names.items() for value in values])
def test_parameters(make, name, value):
    estimator = make(**{name: value})
    labels = () if isinstance(estimator, (Discretizer, DenseNeighbors, MetricNeighbors)) else (Y, QID)
    with pytest.raises(UsageError, match=f"^{name}: found .*, expected "):
        estimator.fit(X, *labels)


@pytest.mark.parametrize("name, value", [("n_jobs", 1.5), ("engine", None), ("device", 1), ("verbose", True)])
def test_parameters_that_are_set_later(name, value):
    fitted = RuleRanker("rules").fit(X, Y, QID).set_params(**{name: value})
    if name == "verbose":
        fitted.predict(X, QID)
    else:
        with pytest.raises(UsageError, match=f"^{name}: found {value}, expected "):
            fitted.predict(X, QID)


class AnotherFrame:
    """An array for NumPy, but not an Arrow table."""

    columns = ["qid", "a", "b", "c"]

    def __array__(self, *_, **__):
        return X


@pytest.mark.parametrize("call, message", [
    (lambda: RuleRanker().fit(AnotherFrame(), Y), "X: found AnotherFrame of parameters_test, expected a frame of pandas, polars or pyarrow"),
    (lambda: RuleRanker("rules", rule_size=2.5).fit(X, Y), "rule_size: found 2.5, expected a whole number from 0"),
    (lambda: Discretizer(bins=None).fit(X), "bins: found None, expected a whole number from 0 or 'cv'"),
    (lambda: RuleRanker(members=3).fit(X, Y), "members: found 3, expected text or a list"),
    (lambda: RuleRanker("rules", cuts=X).fit(X, Y), "cuts: found ndarray, expected cuts_ of an estimator or None"),
    (lambda: RuleRanker("linear", strength=0).fit(X, Y, QID), "strength: found 0, expected 1e-9 to 1e9, or 'cross-fit'"),
    (lambda: RuleRanker("linear", strength=0.0).fit(X, Y, QID), "strength: found 0, expected 1e-9 to 1e9, or 'cross-fit'"),
    (lambda: RuleRanker("linear", strength=-1).fit(X, Y, QID), "strength -1, expected 1e-9 to 1e9"),
    (lambda: MetricNeighbors(metric="edit", letters="runes").fit(["a"]), "letters: found 'runes', expected code-points or bytes"),
    (lambda: TextNeighbors(fold=1).fit(["a"]), "fold: found 1, expected True or False"),
    (lambda: TextNeighbors(k1=None).fit(["a"]), "k1: found None, expected a number"),
    (lambda: TextNeighbors().fit(["a b"]).kneighbors(["a"], "one"), "n_neighbors: found 'one', expected"),
    (lambda: DenseNeighbors(2.5).fit(X).kneighbors(X), "n_neighbors: found 2.5, expected a whole number from 0"),
    (lambda: DenseNeighbors().fit(X).radius_neighbors(X, "near"), "radius: found 'near', expected a number"),
    (lambda: DenseNeighbors().fit(X).save(3), "path: found 3, expected text or a path"),
    (lambda: SelectiveSampler().fit(X).query(2.5), "batch: found 2.5, expected a whole number from 0"),
    (lambda: SelectiveSampler().fit(X).outlook(None), "next: found None, expected a whole number from 0"),
    (lambda: evaluate(pd.DataFrame({"qid": ["q"], "docno": ["d"], "label": [1]}), [1]), r"y: found the shape \(1, 3\), expected"),
    (lambda: evaluate(None, [1]), r"y: found the shape \(\), expected one label a row"),
    (lambda: evaluate([1, 0], [2, 1], profile="trec"), "ties: found docno, but the documents have no ids; expected"),
    (lambda: evaluate([1, 0], ["a", "b"]), "scores: found a value that is not a number"),
    (lambda: evaluate(Y, X[:, 0], metrics=3), "metrics: found 3, expected text or a list"),
    (lambda: evaluate(Y, X[:, 0], metrics=[3]), "found .3., expected "),
    (lambda: evaluate(Y, X[:, 0], profile=3), "profile: found 3, expected text or None"),
    (lambda: evaluate(Y, X[:, 0], n_jobs="two"), "n_jobs: found 'two', expected a whole number or None"),
    (lambda: evaluate(Y, X[:, 0], per_query="no"), "per_query: found 'no', expected True or False"),
    (lambda: compare(Y, {"a": X[:, 0], "b": X[:, 1]}, permutations=0.5), "permutations: found 0.5, expected"),
    (lambda: compare(Y, [X[:, 0], X[:, 1]]), "systems: found list, expected a dict"),
    (lambda: metric_scorer(10), "metric: found 10, expected text"),
    (lambda: load_letor(None), "path: found None, expected text or a path"),
    (lambda: load_letor("x", n_features=-1), "n_features: found -1, expected a whole number from 0 or None"),
    (lambda: draw_letor(10.5, 3), "n_documents: found 10.5, expected a whole number from 0"),
    (lambda: draw_letor(10, 3, random_state=-1), "random_state: found -1, expected a whole number from 0"),
    (lambda: mine_itemsets(ROWS, None), "min_support: found None, expected a whole number, a number or text"),
    (lambda: mine_itemsets(ROWS, 0.5, max_size=-1), "max_size: found -1, expected a whole number from 0"),
    (lambda: mine_rules(ROWS, 0.5, "high"), "min_confidence: found 'high', expected a number"),
    (lambda: report(3), "folders: found 3, expected text, a path or a list"),
    (lambda: report("x", top=-1), "top: found -1, expected a whole number from 0"),
    (lambda: RuleRanker.load(None), "path: found None, expected text or a path"),
    (lambda: RuleRanker("rules").fit(X, Y).explain(X, "first"), "row: found 'first', expected a whole number or None"),
    (lambda: RuleRanker("rules").fit(X, Y).explain(X, 40, QID), "row: found 40, expected a row of 40, from 0"),
    (lambda: RuleRanker("rules").fit(X, Y).explain(X, -1, QID), "row: found -1, expected a row of 40, from 0"),
    (lambda: RuleRanker("rules").fit(X, Y).explain(X[0]), r"X: found the shape \(4,\), expected rows and columns"),
    (lambda: RuleRanker(qid_column=4).fit(X, Y), "qid_column: found 4, expected the number of a column of X"),
    (lambda: RuleRanker(qid_column=-5).fit(X, Y), "qid_column: found -5, expected the number of a column of X"),
    (lambda: RuleRanker(qid_column=0.5).fit(X, Y), "qid_column: found 0.5, expected the number of a column of X"),
    (lambda: RuleRanker(qid_column="query").fit(pd.DataFrame(X), Y), "qid_column: found 'query', expected the name of a column"),
])
def test_arguments(call, message):
    with pytest.raises((UsageError, rulerank.DataError), match=message):
        call()


def test_numbers_of_numpy_are_numbers():
    expected = RuleRanker("rules", rule_size=2, min_confidence=0.25, random_state=3).fit(X, Y).predict(X)
    ranker = RuleRanker("rules", rule_size=np.int64(2), min_confidence=np.float32(0.25), random_state=np.uint8(3),
                        bins=np.int32(10), n_jobs=np.int16(1), verbose=np.False_)
    assert (ranker.fit(X, Y).predict(X) == expected).all()
    drawn = [draw_letor(np.int64(30), 3, random_state=one).X for one in (7, np.int64(7))]
    assert (drawn[0] == drawn[1]).all()


@pytest.mark.parametrize("form", [np.ndarray.tolist, pd.DataFrame, sp.csr_matrix, sp.coo_matrix, sp.coo_array, sp.lil_matrix])
def test_rows_of_any_kind_are_explained(form):
    ranker = RuleRanker("rules,linear").fit(X, Y, QID)
    found = ranker.explain(form(X), 12, QID)
    expected = ranker.explain(X, 12, QID)
    assert (found.row, found.rank) == (12, expected.rank) and found.score == pytest.approx(expected.score)
    assert ranker.explain(form(X), 12, QID, against=13).against == 13

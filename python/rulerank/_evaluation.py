"""Evaluation measures of rankings, and significance tests."""

from __future__ import annotations

import typing
from collections.abc import Mapping

import numpy as np
from sklearn.utils.metadata_routing import MetadataRequest

from . import _core
from ._data import as_array, column_of, in_doubles, queries_of, warn_of_one_query
from ._parameters import checked
from ._run import running
from .exceptions import DataError, UsageError

if typing.TYPE_CHECKING:
    from typing import Any

    import pandas as pd

    from ._types import Count, Judgments, Names, Progress, RandomState, Retrieved, Rows, Scores, Vector


def _metrics(metrics):
    return metrics if isinstance(metrics, str) else ",".join(map(str, metrics))


def _labelled(y, qid, metrics, parts):
    """The labels by query, and the order of rows; the library validates the labels."""
    y = as_array(y, "y")
    if np.ndim(y) != 1 and np.shape(y)[1:] != (1,):
        raise UsageError(f"y: found the shape {np.shape(y)}, expected one label a row, or qrels and a run as dicts")
    y = column_of(y)
    queries = queries_of(qid, len(y))
    labels, fractional = _core.labels_of(np.ascontiguousarray(y, dtype=np.float64))
    if len(fractional):
        fractional = queries.grouped(fractional)
        if "relevant_from" not in parts:
            _core.expect_threshold(metrics)
    return _core.LabelledQueries(queries.grouped(labels), fractional, queries.sizes, queries.names), queries


def _scores(scores, queries, rows):
    scores = as_array(scores, "scores")
    try:
        scores = in_doubles(lambda: np.asarray(scores, dtype=np.float64), scores=scores)
    except DataError:
        raise
    except (TypeError, ValueError) as error:
        raise UsageError(f"scores: found a value that is not a number ({error}), expected one score for each row") from error
    if scores.shape != (rows,):
        raise UsageError(f"scores: found the shape {scores.shape}, expected one score for each of {rows} rows")
    return np.ascontiguousarray(queries.grouped(scores))


class Qrels:
    """Judgments prepared once, to evaluate many runs.

    Parameters
    ----------
    qrels : {qid: {docno: label}}, or ranx's Qrels

    Examples
    --------
    >>> from rulerank import Qrels, evaluate
    >>> qrels = Qrels({"q1": {"a": 1, "b": 0}})
    >>> [evaluate(qrels, {"q1": run}, metrics="MAP")["MAP"] for run in ({"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 2.0})]
    [1.0, 0.5]
    """

    def __init__(self, qrels: Judgments) -> None:
        values = _by_query(qrels, "qrels")
        if values is None:
            raise UsageError(f"qrels: found {type(qrels).__name__}, expected {{qid: {{docno: label}}}} or ranx's Qrels")
        self._judgments = _core.Qrels(values)


def _by_query(values, attribute):
    """The dict {qid: {docno: value}} of a dict, or of ranx's Qrels or Run, recognized by `attribute`; else None."""
    if hasattr(values, attribute) and hasattr(values, "to_dict"):
        return dict(values.to_dict())
    return dict(values) if isinstance(values, Mapping) else None


@checked
def evaluate(y: Vector | Qrels | Judgments, scores: Vector | Retrieved, qid: Vector | None = None, metrics: Names = "MAP,NDCG@10", *,
             profile: str | None = None, per_query: bool = False, n_jobs: int | None = None, verbose: Progress = False,
             **parts: Any) -> dict[str, float] | Any:
    """Evaluates scores, or a run against qrels, like `rulerank evaluate`.

    Parameters
    ----------
    y : array [rows] of labels: 0 or more; -1 for not judged, which counts as not relevant. Fractional labels require gain="linear", and
        relevant_from for measures of relevant documents. A NaN label raises an error. Or qrels: {qid: {docno: label}}, ranx's Qrels, or a
        `Qrels`, which can be reused for several runs
    scores : array [rows], larger is better; among equal scores the earlier row ranks first. With qrels, a run: ranx's Run, or
        {qid: {docno: score}}. Evaluates the queries that both have, in the order of the qrels
    qid : array [rows] or None, the query of each row; None: one query. Invalid with qrels
    metrics : str or list, such as "MAP,NDCG@1-10,ERR@20"
    profile : {"letor", "mslr", "standard", "trec", "lightgbm", "yahoo"}; default: letor, for qrels trec. With letor, NDCG@k of
        a query with fewer than k rows is 0, as in LETOR's script; standard evaluates the existing rows. trec breaks ties by
        document ids, which rows do not have: arrays require ties="stable", "average" or "worst"
    per_query : bool, return a frame with each query's values instead of the averages
    parts : overrides of the profile: gain, discount, no_relevant, relevant_from, short_list, ties, max_docs, max_label,
        rbp_persistence, pfound_break, prel; with qrels complete=True: judged queries that the run lacks count as having
        found nothing

    Returns
    -------
    dict of the measures' averages; with `per_query` a DataFrame [queries x measures], indexed by the query ids as given

    Examples
    --------
    >>> from rulerank import evaluate
    >>> evaluate([1, 0, 2, 0], [0.1, 0.4, 0.3, 0.2], metrics="MAP,NDCG@2,P@2")
    {'MAP': 0.5, 'NDCG@2': 0.75, 'P@2': 0.5}
    """
    qrels, retrieved = y if isinstance(y, Qrels) else _by_query(y, "qrels"), _by_query(scores, "run")
    if (qrels is None) != (retrieved is None):
        raise UsageError("evaluate: found qrels or a run together with an array, expected qrels and a run, or two arrays")
    metrics = _metrics(metrics)
    if qrels is not None:
        if qid is not None:
            raise UsageError("qid: cannot be combined with qrels, which have their own query ids")
        judgments = (qrels if isinstance(qrels, Qrels) else Qrels(qrels))._judgments
        rules = _core.Profile(profile or "trec", parts)
        with running(n_jobs, verbose=verbose) as run:
            names, means, qids, values = _core.evaluate_run(run, judgments, retrieved, metrics, rules)
    else:
        if "complete" in parts:
            raise UsageError("complete: cannot be combined with arrays, expected qrels and a run")
        test, queries = _labelled(y, qid, metrics, parts)
        scores, qids = _scores(scores, queries, queries.rows), queries.ids
        rules = _core.Profile(profile or "letor", parts)
        with running(n_jobs, verbose=verbose) as run:
            names, means, values = _core.evaluate(run, test, scores, metrics, rules)
    if not per_query:
        return dict(zip(names, means))
    import pandas as pd

    return pd.DataFrame(values, index=pd.Index(qids, name="qid"), columns=names)


@checked
def compare(y: Vector, systems: Scores, qid: Vector | None = None, metrics: Names = "MAP,NDCG@10", *,
            reference: str | None = None, tests: Names = "paired-t,fisher", permutations: Count = 100_000,
            holm: str = "measure", profile: str = "letor", n_jobs: int | None = None, random_state: RandomState = 1,
            verbose: Progress = False, **parts: Any) -> pd.DataFrame:
    """Compares systems with a reference, paired over the queries, like `rulerank evaluate --compare`.

    Parameters
    ----------
    y, qid, metrics, profile, parts : as in `evaluate`
    systems : dict from names to scores [rows]
    reference : name of the system to compare the others with; default: the first
    tests : "paired-t" (Student's), "fisher" (Fisher's randomization test) or both
    permutations, random_state : for the randomization test
    holm : {"measure", "report"}, the scope of Holm's correction: all systems on each measure, or on all measures

    Returns
    -------
    DataFrame with a row per measure and system: difference is the mean of system - reference over the queries; wins, ties and
    losses count queries; p-values are two-sided, p_holm is corrected

    Examples
    --------
    >>> from rulerank import compare
    >>> y, qid = [1, 0, 0, 1, 1, 0], [1, 1, 2, 2, 3, 3]
    >>> systems = {"good": [1, 0, 0, 1, 1, 0], "bad": [0, 1, 1, 0, 1, 0]}
    >>> compare(y, systems, qid, "MAP", tests="paired-t")[["system", "difference", "wins", "ties", "losses"]]
      system  difference  wins  ties  losses
    0    bad   -0.333333     0     1       2
    """
    import pandas as pd

    wanted = tests.split(",") if isinstance(tests, str) else list(tests)
    for name in wanted:
        if name not in ("paired-t", "fisher"):
            raise UsageError(f"tests: found {name!r}, expected paired-t or fisher")
    if holm not in ("measure", "report"):
        raise UsageError(f"holm: found {holm!r}, expected measure or report")
    if reference is not None and reference not in systems:
        raise UsageError(f"reference: found {reference!r}, expected one of {', '.join(map(str, systems))}")
    metrics = _metrics(metrics)
    test, queries = _labelled(y, qid, metrics, parts)
    scores = [(str(name), _scores(of, queries, queries.rows)) for name, of in systems.items()]
    with running(n_jobs, random_state, verbose=verbose) as run:
        rows = _core.compare(run, test, scores, 0 if reference is None else list(systems).index(reference),
                             metrics, _core.Profile(profile, parts), "paired-t" in wanted,
                             "fisher" in wanted, permutations, holm == "report")
    for row in rows:
        for name in ("paired_t", "fisher"):
            found = row.pop(name)
            if found is not None:
                row |= dict(zip((f"{name}_statistic", f"{name}_p", f"{name}_p_holm"), found))
    return pd.DataFrame(rows)


class MetricScorer:
    """The scorer made by `metric_scorer`, for scikit-learn. It can be pickled, and requests `qid` if metadata routing is
    enabled."""

    def __init__(self, metric: str, profile: str, parts: dict[str, Any]) -> None:
        self.metric, self.profile, self.parts = metric, profile, parts
        self._ask_for_qid(None)

    def __call__(self, estimator: Any, X: Rows, y: Vector, qid: Vector | None = None) -> float:
        # Unwraps a search to its best estimator, and a pipeline to its last step with the input of that step.
        while hasattr(estimator, "best_estimator_") or hasattr(estimator, "steps"):
            if hasattr(estimator, "best_estimator_"):
                estimator = estimator.best_estimator_
            else:
                X = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
                estimator = estimator[-1]
        if hasattr(estimator, "qid_column"):
            return estimator.score(X, y, qid, metric=self.metric, profile=self.profile, **self.parts)
        scores = estimator.predict(X)
        warn_of_one_query(qid, "qid", len(scores))
        return next(iter(evaluate(y, scores, qid, self.metric, profile=self.profile, **self.parts).values()))

    def __repr__(self) -> str:
        words = [repr(self.metric), f"profile={self.profile!r}", *(f"{name}={part!r}" for name, part in self.parts.items())]
        return f"metric_scorer({', '.join(words)})"

    def _ask_for_qid(self, alias):
        self._requests = MetadataRequest(owner=self)
        self._requests.score.add_request(param="qid", alias=alias)

    def set_score_request(self, *, qid: bool | str | None) -> MetricScorer:
        """Whether scikit-learn's searches pass their `qid`, like an estimator's `set_score_request`. Without this call
        they reject it."""
        self._ask_for_qid(qid)
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """The metadata requests, for scikit-learn."""
        return self._requests


@checked
def metric_scorer(metric: str = "NDCG@10", *, profile: str = "letor", **parts: Any) -> MetricScorer:
    """A scorer for scikit-learn's `scoring=`: the mean of a measure over the queries of X. Query ids come from the column of X
    that the estimator's `qid_column` names, or from the argument `qid`. The estimator may be a ranker, any other with `predict`,
    a pipeline that ends with one, or a search over these. With metadata routing enabled,
    `metric_scorer("MAP").set_score_request(qid=True)` receives the `qid` of a search.

    Examples
    --------
    >>> from rulerank import RuleRanker, metric_scorer
    >>> X, y = [[0.9], [0.8], [0.2], [0.1]], [1, 1, 0, 0]
    >>> metric_scorer("MAP")(RuleRanker("rules").fit(X, y), X, y)
    1.0
    """
    return MetricScorer(metric, profile, parts)

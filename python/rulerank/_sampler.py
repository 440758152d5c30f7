from __future__ import annotations

import math
import numbers
import typing

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._data import as_array, dataset_of, queries_of, split_qid, validated, warn_of_one_query, whole_labels
from ._discretizer import READING, columns_to_keep, discretizer_options, normalizes
from ._parameters import checked
from ._run import Running
from .exceptions import UsageError

if typing.TYPE_CHECKING:
    from typing import Any

    import pandas as pd
    from typing_extensions import Self

    from ._types import Array, Bins, Count, Labels, Partitions, Progress, RandomState, Rows, Vector


class SelectiveSampler(Running, BaseEstimator):
    """Chooses the few rows that are worth labelling, the same ones as `rulerank reduce`.

    If all labels are available, `fit(X, y)` samples at once. With a person in the loop, `fit(X)` begins the sampling, and
    then ::

        while not sampler.finished_:
            rows = sampler.query(10)
            sampler.teach([ask(row) for row in rows])

    The rows labelled so far are always the sample for some budget: a ranker can be fitted to `sample_indices_` after any
    `teach`.

    Parameters
    ----------
    rule_size, min_support, min_confidence : of the rules that rows should bring, as in `RuleRanker`
    partitions : int or "auto", number of partitions of the features; auto: one per 12 features with items
    feature_order : {"chi2", "label", "none"}, order in which features are dealt into partitions
    max_documents : int, maximum number of rows to choose; 0: no budget. Where the rules run dry below it, other rows or
        queries fill it
    whole_queries : choose whole queries instead of rows
    method, bins, norm, missing_values, unlisted : how features become items, as in `Discretizer`
    cuts : `Discretizer.cuts_`, instead of these
    engine, qid_column, device, n_jobs, random_state, verbose : as in `RuleRanker`

    Attributes
    ----------
    sample_indices_ : array, the rows chosen so far, ascending
    choices_ : DataFrame with a row per choice: row, partition, iteration, and its number of rules at that time
    labels_ : array [rows], the known labels; -1: none
    finished_ : bool, whether the sample is complete
    cuts_ : the cuts, for `RuleRanker(cuts=...)`

    Examples
    --------
    >>> from rulerank import SelectiveSampler
    >>> X = [[0.9, 0.8], [0.8, 0.3], [0.2, 0.7], [0.1, 0.1], [0.7, 0.9], [0.6, 0.4], [0.4, 0.6], [0.3, 0.2]]
    >>> y = [2, 1, 0, 0, 2, 1, 0, 0]
    >>> SelectiveSampler(rule_size=3, method="width", bins=2).fit(X, y).sample_indices_.tolist()
    [4, 5, 6, 7]
    """

    def __init__(self, *, rule_size: Count = 4, min_support: Count = 1, min_confidence: float = 0.001,
                 partitions: Partitions = "auto", feature_order: str = "chi2", max_documents: Count = 0,
                 whole_queries: bool = False, method: str = "tube", bins: Bins = 10, norm: str = "none",
                 missing_values: str = "item", unlisted: str = "zero", cuts: _core.Cuts | None = None, engine: str = "auto",
                 qid_column: str | int | None = "qid", device: str = "cpu", n_jobs: int | None = None,
                 random_state: RandomState = 1, verbose: Progress = False) -> None:
        self.rule_size = rule_size
        self.min_support = min_support
        self.min_confidence = min_confidence
        self.partitions = partitions
        self.feature_order = feature_order
        self.max_documents = max_documents
        self.whole_queries = whole_queries
        self.method = method
        self.bins = bins
        self.norm = norm
        self.missing_values = missing_values
        self.unlisted = unlisted
        self.cuts = cuts
        self.engine = engine
        self.qid_column = qid_column
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _options(self, queries):
        begin = np.concatenate(([0], np.cumsum(queries.sizes))).tolist() if self.whole_queries else []
        if self.partitions != "auto" and self.partitions < 1:
            raise UsageError(f"partitions: found {self.partitions!r}, expected auto or a number from 1")
        return _core.SamplerOptions(self.rule_size, self.min_support, self.min_confidence,
                                    0 if self.partitions == "auto" else self.partitions, self.feature_order,
                                    self.max_documents, begin, self.engine)

    def fit(self, X: Rows, y: Vector | None = None, qid: Vector | None = None) -> Self:
        """Begins the sampling of the rows of X, and completes it if all rows have labels.

        X : array, CSR matrix or frame [rows x features]
        y : labels [rows]; -1: unlabelled; None: all unlabelled
        qid : query ids [rows]; needed with `whole_queries` and `norm`, which warn without them
        """
        X, qid = split_qid(X, qid, self.qid_column)
        X = validated(self, X, **READING)
        labels = np.full(X.shape[0], -1, np.int32) if y is None else whole_labels(y)
        if len(labels) != X.shape[0]:
            raise UsageError(f"y: found {len(labels)} labels, expected one for each of {X.shape[0]} rows")
        self._queries = queries_of(qid, X.shape[0])
        self.labels_ = labels.copy()
        self._asked, self._given = np.empty(0, np.int64), []
        self._work, self._pickled_unfinished = None, False
        with self._running() as run:
            pool = dataset_of(run, X, self._queries, labels, getattr(self, "feature_names_in_", None))
            self.cuts_ = self.cuts or _core.fit_cuts(run, pool, discretizer_options(self), columns_to_keep(self))
            if self.whole_queries or normalizes(self.cuts_):
                warn_of_one_query(qid, self.qid_column, X.shape[0])
            options = self._options(self._queries)
            if len(labels) and labels.min() >= 0:
                self._take(_core.reduce(run, pool, self.cuts_, options))
            else:
                self._work = _core.Labelling(run, pool, self.cuts_, options)
                self._take(self._work.take())
        return self

    def _take(self, sample):
        documents, choices = sample
        self.sample_indices_ = np.sort(self._rows(documents))
        self._choices = np.column_stack([self._rows(choices[:, 0]), choices[:, 1:]])

    def _rows(self, documents):
        order = self._queries.order
        return documents if order is None else order[documents]

    @property
    def choices_(self) -> pd.DataFrame:
        """A row for each choice, in order: the chosen row of X, its partition, the iteration, and its number of rules at that time."""
        import pandas as pd

        return pd.DataFrame(self._choices, columns=["row", "partition", "iteration", "rules"])

    @property
    def finished_(self) -> bool:
        """Whether the sample is complete, so that `query` returns no more rows."""
        return not self._pickled_unfinished if self._work is None else self._work.finished

    def _labelling(self):
        check_is_fitted(self, "cuts_")
        if self._work is None:
            if self._pickled_unfinished:
                raise UsageError("the sampler was pickled or copied before the sample was complete: "
                                 "fit(X, labels_) continues")
            raise UsageError("the sample is complete")
        return self._work

    def _rows_to_teach(self, rows):
        """The rows as distinct integers. Raises for rows with a label or an answer."""
        if rows is None:
            return self._asked
        found = np.atleast_1d(np.asarray(as_array(rows, "rows"), dtype=object))
        if found.ndim != 1:
            raise UsageError(f"rows: found the shape {found.shape}, expected a list of rows")
        seen = set(self._given)
        for row in found:
            if not whole_number(row) or not 0 <= row < len(self.labels_):
                raise UsageError(f"rows: found {row!r}, expected a row of {len(self.labels_)}, from 0")
            if row in seen or self.labels_[int(row)] >= 0:
                raise UsageError(f"rows: found row {row}, which has an answer already or occurs twice")
            seen.add(row)
        return found.astype(np.int64)

    @checked
    def query(self, batch: Count = 1) -> Array:
        """The next rows to label, at most `batch`; empty if the sample is complete. Rows after the first depend on guesses of
        the labels before them: the label of a row that is not chosen after all is unused."""
        if batch < 1:
            raise UsageError(f"batch: found {batch}, expected 1 or more")
        check_is_fitted(self, "cuts_")
        if self.finished_:
            return np.empty(0, np.int64)
        with self._running() as run:
            self._asked = self._rows(self._labelling().batch(run, batch))
        return self._asked.copy()

    def teach(self, labels: Labels, rows: Vector | None = None) -> Self:
        """Sets labels of 0 or more for the rows of the last `query`, or for `rows`; None or -1 excludes a row permanently.
        If any label is invalid, none is set."""
        work = self._labelling()
        rows = self._rows_to_teach(rows)
        labels = np.atleast_1d(np.asarray(as_array(labels, "labels"), dtype=object))
        if labels.shape != rows.shape:
            raise UsageError(f"labels: found {labels.size}, expected one for each of {rows.size} rows asked about")
        answers = [label_of(label, row) for label, row in zip(labels, rows)]
        order = self._queries.order
        documents = rows if order is None else np.argsort(order)[rows]
        with self._running() as run:
            for row, document, answer in zip(rows.tolist(), documents.tolist(), answers):
                work.answer(run, document, answer)
                self.labels_[row] = -1 if answer is None else answer
                self._given.append(row)
            self._asked = np.empty(0, np.int64)
            self._take(work.take())
        return self

    def undo(self) -> bool:
        """Withdraws the last label; returns False if there is none."""
        with self._running() as run:
            undone = self._labelling().undo(run)
            self._take(self._work.take())
        if undone:
            self.labels_[self._given.pop()] = -1
        return undone

    @checked
    def outlook(self, next: Count = 10) -> dict[str, Any]:
        """Estimates the benefit of more labels, by guessing them: a dict with `rules` over the current sample, `next_rules` that
        the next `next` rows would add, and `documents` still to be asked about, with bounds. These are unreliable while
        `minority_labels`, the number of labels other than the most common one, is below 10."""
        with self._running() as run:
            return self._labelling().outlook(run, next)

    def __getstate__(self):
        state = dict(super().__getstate__())
        if hasattr(self, "_work"):
            state |= {"_work": None, "_pickled_unfinished": not self.finished_}
        return state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.positive_only = True
        return tags


def whole_number(value):
    return isinstance(value, numbers.Integral) or (isinstance(value, numbers.Real) and math.isfinite(value)
                                                   and int(value) == value)


def label_of(label, row):
    """A label given for the row, or None."""
    if label is None:
        return None
    if not whole_number(label) or not -1 <= label <= np.iinfo(np.int32).max:
        raise UsageError(f"labels: found {label!r} for row {row}, expected a whole number, or None")
    return None if label == -1 else int(label)

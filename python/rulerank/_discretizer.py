from __future__ import annotations

import typing

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._data import columns_of_file, dataset_of, queries_of, split_qid, validated, warn_of_one_query
from ._parameters import checked, whole
from ._run import Running
from .exceptions import UsageError

if typing.TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import Self

    from ._types import Array, Bins, Path, Progress, RandomState, Rows, Vector

# Validation of X: NaN is a missing value; the library raises for infinite values.
READING = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "ensure_all_finite": False,
           "order": "C"}


class Discretizer(Running, TransformerMixin, BaseEstimator):
    """Cuts each feature into bins, like `rulerank discretize`.

    Parameters
    ----------
    method : {"tube", "width", "frequency"}
        Tree-based unsupervised bins (Schmidberger and Frank 2005), equal width, or equal frequency.
    bins : int or "cv"
        Maximum number of bins per feature, 2 to 250; "cv": by cross-validated likelihood.
    norm : {"none", "query-minmax", "query-zscore"}
        Normalization of values within their query, before cutting.
    missing_values : {"item", "none", "zero"}
        How NaN is treated: as a separate bin, as no bin, or as 0.
    unlisted : {"zero", "missing"}
        The value of features that a sparse row does not list.
    n_jobs, random_state, device, verbose
        As in `RuleRanker`.
    qid_column : str or int or None
        The column of X with query ids: a name for frames, a number for arrays.

    Attributes
    ----------
    cuts_ : the fitted cuts, for `RuleRanker(cuts=...)`
    feature_cuts_ : list of arrays, the ascending cuts of each column of X

    Examples
    --------
    >>> from rulerank import Discretizer
    >>> Discretizer("width", bins=2).fit_transform([[0.1, 30], [0.2, 10], [0.9, 20]]).tolist()
    [[0, 1], [0, 0], [1, 1]]
    """

    _of_file = False  # loaded from a file

    def __init__(self, method: str = "tube", bins: Bins = 10, *, norm: str = "none", missing_values: str = "item",
                 unlisted: str = "zero", qid_column: str | int | None = "qid", n_jobs: int | None = None,
                 random_state: RandomState = 1, device: str = "cpu", verbose: Progress = False) -> None:
        self.method = method
        self.bins = bins
        self.norm = norm
        self.missing_values = missing_values
        self.unlisted = unlisted
        self.qid_column = qid_column
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def fit(self, X: Rows, y: object = None, qid: Vector | None = None) -> Self:
        """Fits the cuts. Ignores labels. `qid` [rows]: the query of each row; needed with `norm`, which warns without it."""
        X, qid = split_qid(X, qid, self.qid_column)
        X = validated(self, X, **READING)
        self._of_file = False
        with self._running() as run:
            train = dataset_of(run, X, queries_of(qid, X.shape[0]),
                               names=getattr(self, "feature_names_in_", None))
            self.cuts_ = _core.fit_cuts(run, train, discretizer_options(self), columns_to_keep(self))
        if normalizes(self.cuts_):
            warn_of_one_query(qid, self.qid_column, X.shape[0])
        return self

    def fit_transform(self, X: Rows, y: object = None, qid: Vector | None = None) -> Array:
        """`fit`, then `transform` on the same rows."""
        return self.fit(X, y, qid).transform(X, qid)

    def transform(self, X: Rows, qid: Vector | None = None) -> Array:
        """The bins, from 0, as uint8 [rows x features with two or more bins], in column-major order; 255 for a value
        without a bin."""
        check_is_fitted(self)
        X, qid = split_qid(X, qid, self.qid_column)
        if self._of_file:
            X = columns_of_file(X, getattr(self, "feature_names_in_", None))
        X = validated(self, X, reset=False, **READING)
        queries = queries_of(qid, X.shape[0])
        if normalizes(self.cuts_):
            warn_of_one_query(qid, self.qid_column, X.shape[0], calls=2)  # scikit-learn's output wrapper adds a frame
        with self._running() as run:
            items = _core.apply_cuts(run, dataset_of(run, X, queries, names=feature_names_of(self, X)),
                                     self.cuts_)
        return queries.ungrouped(items.codes())

    def _columns(self):
        """The columns of X in the order of the fitted features, which are sorted by name."""
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return None
        return np.argsort(np.array([str(n).encode() for n in names], dtype=object), kind="stable")

    @property
    def feature_cuts_(self) -> list[Array]:
        """The ascending cuts of each column of X; an empty array for a column without cuts."""
        check_is_fitted(self)
        columns = self._columns()
        cuts = [np.empty(0)] * self.n_features_in_
        for number, values in self.cuts_.cuts:
            cuts[number - 1 if columns is None else columns[number - 1]] = np.array(values)
        return cuts

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> Array:
        """The names of the features in the output of `transform`: those with two or more bins.

        input_features : names of the columns of X, with or without the query ids' column; they must equal those of `fit`,
            if these have names. Default: the names of `fit`, else x0, x1, ...
        """
        check_is_fitted(self)
        if input_features is not None:
            input_features = self._without_qid(np.asarray(input_features, dtype=object))
        input_features = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        columns = self._columns()
        kept = [number - 1 if columns is None else columns[number - 1]
                for number, values in self.cuts_.cuts if values]
        return input_features[kept]

    def _without_qid(self, names):
        """The names of the columns of X without the query ids' column, if that is included."""
        if len(names) != self.n_features_in_ + 1:
            return names
        return np.delete(names, self.qid_column) if whole(self.qid_column) else names[names != self.qid_column]

    @checked
    def save(self, path: Path) -> None:
        """Writes the cuts as JSON, for the program's option `--discretizer`."""
        check_is_fitted(self)
        self.cuts_.write(str(path))

    @classmethod
    @checked
    def load(cls, path: Path, **params: Any) -> Self:
        """Reads a file written by `save` or the program's `--discretizer-out`, with its parameters and feature names."""
        cuts = _core.Cuts.read(str(path))
        made = cls(**cuts.parameters | params)
        made.cuts_ = cuts
        made.n_features_in_ = cuts.feature_count
        if cuts.feature_names:
            made.feature_names_in_ = np.array(cuts.feature_names, dtype=object)
        made._of_file = True
        return made

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def discretizer_options(of, method=None, bins=None):
    """The options of the discretizer. `method`, `bins`: replacements for None."""
    method, bins = of.method or method, bins if of.bins is None else of.bins
    if bins != "cv" and not 2 <= bins <= 250:
        raise UsageError(f"bins: found {bins!r}, expected 2 to 250 or 'cv'")
    return _core.DiscretizerOptions(method, 0 if bins == "cv" else bins, of.norm, of.missing_values, of.unlisted)


def normalizes(cuts):
    """Whether values are normalized within their query."""
    return cuts.parameters["norm"] != "none"


def columns_to_keep(fitted):
    """The number of array columns, stored because files otherwise end at the last listed feature; 0 if features have names."""
    return 0 if hasattr(fitted, "feature_names_in_") else fitted.n_features_in_


def feature_names_of(fitted, X):
    """The names of the columns of X for a fitted estimator, or None."""
    return getattr(fitted, "feature_names_in_", None)

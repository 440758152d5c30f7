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

# What X is: values that are not there are NaN, what is infinite is an error of the library.
READING = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "ensure_all_finite": False,
           "order": "C"}


class Discretizer(Running, TransformerMixin, BaseEstimator):
    """Cuts each feature into bins, as `rulerank discretize` does.

    Parameters
    ----------
    method : {"tube", "width", "frequency"}
        Tree-based unsupervised bins (Schmidberger and Frank 2005), equal widths, equal frequencies.
    bins : int or "cv"
        Bins of a feature at most, 2 to 250, or by cross-validated likelihood.
    norm : {"none", "query-minmax", "query-zscore"}
        Values are normalized within their query first.
    missing_values : {"item", "none", "zero"}
        What NaN becomes: a bin of its own, no bin, or 0.
    unlisted : {"zero", "missing"}
        What a sparse row does not list.
    n_jobs, random_state, device, verbose
        As of `RuleRanker`.
    qid_column : str or int or None
        The column of X with query ids: in frames by name, in arrays by number.

    Attributes
    ----------
    cuts_ : the fitted cuts, which `RuleRanker(cuts=...)` takes
    feature_cuts_ : list of arrays, the cuts of each column of X, ascending

    Examples
    --------
    >>> from rulerank import Discretizer
    >>> Discretizer("width", bins=2).fit_transform([[0.1, 30], [0.2, 10], [0.9, 20]]).tolist()
    [[0, 1], [0, 0], [1, 1]]
    """

    _of_file = False  # what it is fitted to has been read by `load`

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
        """`qid` [rows]: the query of each row; it matters with `norm`, which warns where none comes. Labels are not looked at."""
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
        """`fit`, then `transform` of the same rows."""
        return self.fit(X, y, qid).transform(X, qid)

    def transform(self, X: Rows, qid: Vector | None = None) -> Array:
        """The bins from 0, [rows x features that have two bins or more], as uint8: column by column in
        memory, 255 where a value has none."""
        check_is_fitted(self)
        X, qid = split_qid(X, qid, self.qid_column)
        if self._of_file:
            X = columns_of_file(X, getattr(self, "feature_names_in_", None))
        X = validated(self, X, reset=False, **READING)
        queries = queries_of(qid, X.shape[0])
        if normalizes(self.cuts_):
            warn_of_one_query(qid, self.qid_column, X.shape[0], calls=2)  # scikit-learn's wrapper of outputs is between
        with self._running() as run:
            items = _core.apply_cuts(run, dataset_of(run, X, queries, names=feature_names_of(self, X)),
                                     self.cuts_)
        return queries.ungrouped(items.codes())

    def _columns(self):
        """The columns of X in the order of the fitted features, whose names are sorted."""
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return None
        return np.argsort(np.array([str(n).encode() for n in names], dtype=object), kind="stable")

    @property
    def feature_cuts_(self) -> list[Array]:
        check_is_fitted(self)
        columns = self._columns()
        cuts = [np.empty(0)] * self.n_features_in_
        for number, values in self.cuts_.cuts:
            cuts[number - 1 if columns is None else columns[number - 1]] = np.array(values)
        return cuts

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> Array:
        """The names of the features that `transform` gives: those with two bins or more.

        input_features : names of the columns of X, that of the query ids may be among them; others than those of `fit` are
            an error, where these have names; default: those of `fit`, else x0, x1, ...
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
        """The names of the columns of X without that of the query ids, where it is one too many."""
        if len(names) != self.n_features_in_ + 1:
            return names
        return np.delete(names, self.qid_column) if whole(self.qid_column) else names[names != self.qid_column]

    @checked
    def save(self, path: Path) -> None:
        """Writes the cuts as JSON, which `--discretizer` of the program reads."""
        check_is_fitted(self)
        self.cuts_.write(str(path))

    @classmethod
    @checked
    def load(cls, path: Path, **params: Any) -> Self:
        """Reads what `save` or `--discretizer-out` of the program wrote, with its parameters and the names of its features."""
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
    """How features become items. `method`, `bins`: instead of None."""
    method, bins = of.method or method, bins if of.bins is None else of.bins
    if bins != "cv" and not 2 <= bins <= 250:
        raise UsageError(f"bins: found {bins!r}, expected 2 to 250 or 'cv'")
    return _core.DiscretizerOptions(method, 0 if bins == "cv" else bins, of.norm, of.missing_values, of.unlisted)


def normalizes(cuts):
    """Whether values become bins by those of their query."""
    return cuts.parameters["norm"] != "none"


def columns_to_keep(fitted):
    """The columns of arrays for a file, which otherwise knows those up to the last that a row lists; 0: it knows names."""
    return 0 if hasattr(fitted, "feature_names_in_") else fitted.n_features_in_


def feature_names_of(fitted, X):
    """The names of the columns of X for a fitted estimator, or None."""
    return getattr(fitted, "feature_names_in_", None)

from __future__ import annotations

import inspect
import threading
import typing
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._data import as_array, checked_csr, columns_of_file, dataset_of, expect_numbers, is_frame, qid_array, queries_of, split_qid, validated, warn_of_one_query
from ._discretizer import READING, columns_to_keep, discretizer_options
from ._evaluation import evaluate
from ._explanation import Explanation, ListExplanation, explanation_of, list_explanation_of
from ._parameters import checked
from ._run import Running
from .exceptions import UsageError

if typing.TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from typing_extensions import Self

    from ._types import Array, Bins, Count, Names, Path, Penalty, Progress, RandomState, Rows, Vector

KINDS = ("rules", "scorecard", "card", "linear", "joint")
# The kinds of members that a parameter is of.
KINDS_OF = {"rule_size": ("rules",), "min_support": ("rules",), "min_confidence": ("rules",),
            "support_weight": ("rules",), "smoothing": ("rules",), "feature_share": ("rules",),
            "method": ("rules", "scorecard", "card", "joint"), "bins": ("rules", "scorecard", "card", "joint"),
            "loss": ("scorecard", "card"), "points_penalty": ("scorecard", "card"), "smoothness": ("scorecard", "card"),
            "max_features": ("card",), "max_points": ("card",), "target": ("card",), "monotone": ("card",), "card": ("card",),
            "strength": ("linear",), "pairs": ("joint",)}


# What None is.
USUAL = {"method": "tube", "bins": 10, "loss": "pair", "points_penalty": 1e-4, "smoothness": 0.1}
USUAL_OF_CARD = {"method": "capped", "bins": 12, "points_penalty": 1e-3}


def directions_text(monotone, names):
    """The lines of --monotone. A column is a name in frames, and in arrays the feature of its number, from 1."""
    if monotone is None:
        return None

    def feature(column):
        if not isinstance(column, (int, np.integer)):
            return column
        return column + 1 if names is None else names[column]

    return "".join(f"{direction} {feature(column)}\n" for column, direction in monotone.items())


class PreparedScorers:
    """A model made ready to score: once, whichever thread comes first. Copies and pickles begin anew."""

    def __init__(self):
        self._lock = threading.Lock()
        self._key = self._scorer = None

    def get(self, run, model, engine, device):
        with self._lock:
            if self._key != (engine, device):
                self._scorer = _core.Scorer(run, model, engine)
                self._key = engine, device
            return self._scorer

    def __reduce__(self):
        return PreparedScorers, ()


class RuleRanker(Running, BaseEstimator):
    """Ranks documents by association rules and other members that a person can read, as `rulerank fit` and
    `rank` do: the same numbers, bit for bit.

    Parameters
    ----------
    members : kinds of members: rules, scorecard, card, linear, joint, as a list or "rules,linear"; or "recommended"
        The standardized scores of several members are averaged. recommended: what is best for labels like those of
        `fit`; `recommendation_` says what and why.
    rule_size, min_support, min_confidence, support_weight, smoothing, feature_share
        Of rules: items of a rule with its consequent; when a rule is valid; W of an itemset's weight n^W;
        A of the confidence (n_r + A prior_r) / (n + A); the share of the features that rules are made of.
    method, bins, norm, missing_values, unlisted
        How features become items, as of `Discretizer`. None: "tube" and 10, of a card "capped" and 12,
        of joint members "frequency" and 20.
    cuts : `Discretizer.cuts_`, instead of these
    loss, points_penalty, smoothness
        Of a scorecard or a card: {"pair", "list", "point"} and two numbers. None: "pair", 1e-4 and 0.1, of a card
        a loss that suits the labels, 1e-3 and what cross-fitting chooses. points_penalty="cross-fit" chooses both
        numbers of a scorecard.
    max_features, max_points : of a card, its features and the points of an item at most
    target : {"auto", "labels", "members"}, what the points of a card are fitted to: the labels, or grades that the
        recommended members give all rows. auto: grades with fewer than 2,000 labels
    monotone : dict of a feature, its name or column, and "rising", "falling", "free" or "either"
        Directions of the points of a card. either, of features that it does not have too: as the labels say
    card : str, a card as `card_text` gives it and a person edited it, whose open points (?) are fitted
    strength : number or "cross-fit", of the ridge of linear members
    pairs : of joint members, pairs of features with points of their own at most
    folds : of cross-fitting
    engine : {"auto", "lrar", "project", ...}, what counts rules; all give the same bits
    qid_column : str or int or None
        The column of X with query ids: in frames by name, in arrays by number. It is no feature.
    device : "cpu", "cuda" or "cuda:0,1"
    n_jobs : int, CPU threads; None or -1: all that the process may use. No result depends on it
    random_state : int, deals folds
    verbose : True for progress bars; or a callable that gets stage, done and total, False stops the work

    Attributes
    ----------
    model_ : the fitted model; pickles hold the bytes of its file
    recommendation_ : dict, with members="recommended": name, members, reason
    parameters_ : list of dicts, one a member: its kind and the parameters that it was fitted with, where `get_params` has
        None, "cross-fit" or "recommended", too
    feature_importances_ : array [features]

    Examples
    --------
    >>> from rulerank import RuleRanker
    >>> X = [[0.9, 0.8], [0.8, 0.3], [0.2, 0.7], [0.1, 0.1], [0.7, 0.9], [0.6, 0.4], [0.4, 0.6], [0.3, 0.2]]
    >>> y = [2, 1, 0, 0, 2, 1, 0, 0]
    >>> ranker = RuleRanker("rules", method="width", bins=2).fit(X, y)
    >>> ranker.predict([[0.75, 0.65], [0.75, 0.25]]).tolist()
    [1.5, 1.0]
    >>> ranker.feature_importances_.round(2).tolist()
    [0.72, 0.28]
    """

    _of_file = False  # the model has been read by `load`
    _qid_in_X = False  # query ids came as a column of the X that was fitted to

    def __init__(self, members: Names = "card", *, rule_size: Count = 3, min_support: Count = 1,
                 min_confidence: float = 0.001, support_weight: float = 0.0, smoothing: float = 0.0,
                 feature_share: float = 1.0, method: str | None = None, bins: Bins | None = None, norm: str = "none",
                 missing_values: str = "item", unlisted: str = "zero", cuts: _core.Cuts | None = None,
                 loss: str | None = None, points_penalty: Penalty | None = None, smoothness: float | None = None,
                 max_features: Count = 10, max_points: Count = 100, target: str = "auto",
                 monotone: Mapping[str | int, str] | None = None, card: str | None = None, strength: Penalty = 10.0,
                 pairs: Count = 24, folds: Count = 5, engine: str = "auto", qid_column: str | int | None = "qid", device: str = "cpu",
                 n_jobs: int | None = None, random_state: RandomState = 1, verbose: Progress = False) -> None:
        self.members = members
        self.rule_size = rule_size
        self.min_support = min_support
        self.min_confidence = min_confidence
        self.support_weight = support_weight
        self.smoothing = smoothing
        self.feature_share = feature_share
        self.method = method
        self.bins = bins
        self.norm = norm
        self.missing_values = missing_values
        self.unlisted = unlisted
        self.cuts = cuts
        self.loss = loss
        self.points_penalty = points_penalty
        self.smoothness = smoothness
        self.max_features = max_features
        self.max_points = max_points
        self.target = target
        self.monotone = monotone
        self.card = card
        self.strength = strength
        self.pairs = pairs
        self.folds = folds
        self.engine = engine
        self.qid_column = qid_column
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _kinds(self):
        kinds = self.members.split(",") if isinstance(self.members, str) else list(self.members)
        if kinds != ["recommended"]:
            for kind in kinds:
                if kind not in KINDS or kinds.count(kind) > 1:
                    raise UsageError(f"members: found {kind!r}, expected some of {', '.join(KINDS)}, each "
                                     "once, or recommended")
        for name, parameter in inspect.signature(type(self)).parameters.items():
            if name in KINDS_OF and getattr(self, name) != parameter.default \
                    and not set(KINDS_OF[name]) & set(kinds):
                raise UsageError(f"{name}: found {getattr(self, name)!r}, and no member is of the kind "
                                 f"{' or '.join(KINDS_OF[name])}: members is {self.members!r}")
        return kinds

    def _recipes(self, train):
        kinds = self._kinds()
        cutting = discretizer_options(self, USUAL["method"], USUAL["bins"])
        if kinds == ["recommended"]:
            name, members, reason, recipes = _core.recommend(train, cutting, self.cuts)
            self.recommendation_ = {"name": name, "members": members, "reason": reason}
            return recipes

        def number(name):
            value = getattr(self, name)
            return None if isinstance(value, str) and value == "cross-fit" else value

        def given(name):
            return USUAL[name] if getattr(self, name) is None else number(name)

        if "card" in kinds and self.points_penalty == "cross-fit":
            raise UsageError("points_penalty: found 'cross-fit', expected a number for a card")
        make = {
            "rules": lambda: _core.rules_recipe(
                cutting, self.cuts, self.rule_size, self.min_support, self.min_confidence,
                self.support_weight, self.smoothing, self.feature_share),
            "scorecard": lambda: _core.scorecard_recipe(
                cutting, self.cuts, given("loss"), given("points_penalty"), given("smoothness"), self.folds),
            "card": lambda: _core.card_recipe(
                cutting, self.cuts, self.method, 0 if self.bins == "cv" else self.bins, self.loss, self.points_penalty,
                self.smoothness, self.folds, self.max_features, self.max_points, self.target, train,
                directions_text(self.monotone, getattr(self, "feature_names_in_", None)), self.card),
            "linear": lambda: _core.linear_recipe(cutting, number("strength"), self.folds),
            "joint": lambda: _core.joint_recipe(
                cutting, self.cuts, self.method, 0 if self.bins == "cv" else self.bins, self.pairs, self.folds)}
        return [make[kind]() for kind in kinds]

    def fit(self, X: Rows, y: Vector, qid: Vector | None = None) -> Self:
        """Fits the members.

        X : array, CSR matrix or frame [rows x features]; NaN is a missing value
        y : labels [rows], 0 or more; -1: not labelled, such a row counts where no label is read
        qid : query ids [rows], integers or text, in any order; None: as `qid_column` says, else one query, and a warning
        """
        as_argument = qid is not None
        X, qid = split_qid(X, qid, self.qid_column)
        if y is not None:
            y = as_array(y, "y")
            expect_numbers(y)
        X, y = validated(self, X, y, y_numeric=True, **READING)
        warn_of_one_query(qid, self.qid_column, X.shape[0])
        self._of_file, self._qid_in_X = False, qid is not None and not as_argument
        with self._running() as run:
            train = dataset_of(run, X, queries_of(qid, X.shape[0]), y,
                               getattr(self, "feature_names_in_", None))
            self.model_ = _core.fit(run, train, self._recipes(train), columns_to_keep(self))
        self._scorers = PreparedScorers()
        return self

    def card_text(self) -> str:
        """The card as text that a person can edit: `RuleRanker(card=text)` fits what it leaves open."""
        check_is_fitted(self)
        return _core.card_text(self.model_)

    @checked
    def export(self, path: Path, to: str) -> None:
        """Writes a card for another language or program: `to` is a format of `rulerank export`, such as "c", "sql", "onnx"
        or "lightgbm". The file's name without its extension is the name of functions, class or model; columns without a name
        are f1, f2, ... Warns of what the target computes in another way."""
        check_is_fitted(self)
        for note in _core.export_model(self.model_, to, str(path)):
            warnings.warn(note, UserWarning, stacklevel=3)

    def _scorer(self, run):
        return self._scorers.get(run, self.model_, self.engine, self.device)

    def _documents(self, run, X, qid):
        names = getattr(self, "feature_names_in_", None)
        if self._of_file:
            X = columns_of_file(X, names)
        X = validated(self, X, reset=False, **READING)
        queries = queries_of(qid, X.shape[0])
        return dataset_of(run, X, queries, names=names), queries

    def predict(self, X: Rows, qid: Vector | None = None) -> Array:
        """Scores [rows], larger is better. With several members, and with linear ones, a score is relative
        to the other rows of its query: an X without the column of query ids that the fitted one had is warned of."""
        check_is_fitted(self)
        X, qid = split_qid(X, qid, self.qid_column)
        scores = self._scores(X, qid)
        if self._qid_in_X and self._ranks_within_queries():
            warn_of_one_query(qid, self.qid_column, len(scores))
        return scores

    def _ranks_within_queries(self):
        """Whether a score depends on the other rows of the query."""
        kinds = self.model_.kinds
        return len(kinds) > 1 or "linear" in kinds or self.model_.parameters["norm"] != "none"

    def _scores(self, X, qid):
        with self._running() as run:
            documents, queries = self._documents(run, X, qid)
            return queries.ungrouped(self._scorer(run).score(run, documents))

    @checked
    def score(self, X: Rows, y: Vector, qid: Vector | None = None, *, metric: str = "NDCG@10", profile: str = "letor",
              **parts: Any) -> float:
        """The mean of a measure over the queries."""
        check_is_fitted(self)
        X, qid = split_qid(X, qid, self.qid_column)
        scores = self._scores(X, qid)
        warn_of_one_query(qid, self.qid_column, len(scores), calls=2)
        return next(iter(evaluate(y, scores, qid, metric, profile=profile, n_jobs=self.n_jobs,
                                  **parts).values()))

    @checked
    def explain(self, X: Rows, row: int | None = None, qid: Vector | None = None, *, against: int | None = None,
                top: Count = 20) -> Explanation:
        """Why row `row` of X has its score: among the rows of its query. Default: the first of the ranking,
        where X is one query. `against`: another row of the query, and what puts `row` above it. Of rules
        those `top` that move the score most each way. Returns an Explanation."""
        check_is_fitted(self)
        X, qid = split_qid(X, qid, self.qid_column)
        X = X if is_frame(X) else checked_csr(X) if sp.issparse(X) else np.asarray(X)
        if X.ndim != 2:
            raise UsageError(f"X: found the shape {X.shape}, expected rows and columns")
        rows = np.arange(X.shape[0])
        if qid is not None:
            qid = qid_array(qid, len(rows))
            if row is not None and not 0 <= row < len(rows):
                raise UsageError(f"row: found {row}, expected a row of {len(rows)}, from 0")
            if row is None and len(rows) and (qid != qid[0]).any():
                raise UsageError("row: found None, expected a row: X has several queries")
            rows = np.flatnonzero(qid == qid[0 if row is None else row])
        place = {int(of): i for i, of in enumerate(rows)}
        for name, value in (("row", row), ("against", against)):
            if value is not None and value not in place:
                raise UsageError(f"{name}: found {value}, expected a row of the query")
        X = X.iloc[rows] if is_frame(X) else X[rows]
        with self._running() as run:
            query, _ = self._documents(run, X, None)
            found = self._scorer(run).explain(run, query, None if row is None else place[row],
                                              None if against is None else place[against], top)
        return explanation_of(found, int(rows[found["document"]]), against)

    @checked
    def explain_all(self, X: Rows, qid: Vector | None = None) -> ListExplanation:
        """Why all rows of X have their scores, by features: each among the rows of its query, those of X without
        query ids. Returns a ListExplanation."""
        check_is_fitted(self)
        X, qid = split_qid(X, qid, self.qid_column)
        with self._running() as run:
            documents, queries = self._documents(run, X, qid)
            found = self._scorer(run).explain_all(run, documents)
        return list_explanation_of(found, self.model_.kinds, queries, None if qid is None else qid_array(qid, queries.rows))

    @property
    def parameters_(self) -> list[dict[str, Any]]:
        """The kind of each member and the parameters that it was fitted with: defaults that depend on the kind, and
        penalties that were chosen, as the values that were used."""
        try:
            check_is_fitted(self)
        except NotFittedError as error:
            raise AttributeError("parameters_: the ranker is not fitted") from error
        return self.model_.used_parameters

    @property
    def feature_importances_(self) -> Array:
        """[features] How far each feature moves scores of the training rows, as a share of what all move:
        what `rulerank inspect` prints of each member, added up to 1; the mean of the members."""
        try:
            check_is_fitted(self)
        except NotFittedError as error:
            raise AttributeError("feature_importances_: the ranker is not fitted") from error
        with self._running() as run:
            members = _core.importances(run, self.model_, 1000)
        numbers = [number for member in members for number, _ in member]
        columns = max([getattr(self, "n_features_in_", 0), *numbers])
        moved = np.zeros((len(members), columns))
        for k, member in enumerate(members):
            for number, value in member:
                moved[k, number - 1] = value
            moved[k] /= moved[k].sum() or 1
        mean = moved.mean(axis=0)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return mean
        there = np.empty(columns)
        there[np.argsort(np.array([str(n).encode() for n in names], dtype=object), kind="stable")] = mean
        return there

    @checked
    def save(self, path: Path) -> None:
        """Writes the model file, which `--model` of the program reads."""
        check_is_fitted(self)
        self.model_.write(str(path))

    @classmethod
    @checked
    def load(cls, path: Path, **params: Any) -> Self:
        """A ranker by a model file that `save` or `rulerank fit` wrote, with the parameters and the features that the file
        knows: `cuts` are among the model's, and penalties that were chosen are numbers but of scorecards. Features without a
        name are the columns of the X that was fitted to; of a file of documents, which has none, those up to the last that
        a training row lists. Of several members of a kind the first counts. `params`
        stand instead of the file's."""
        model = _core.Model.read(str(path))
        usual = USUAL_OF_CARD if "card" in model.kinds else USUAL
        own = {name: value for name, value in model.parameters.items() if name not in usual or value != usual[name]}
        made = cls(**{"members": ",".join(dict.fromkeys(model.kinds))} | own | params)
        made.model_ = model
        made.n_features_in_ = model.feature_count
        if model.feature_names:
            made.feature_names_in_ = np.array(model.feature_names, dtype=object)
        made._of_file = True
        made._scorers = PreparedScorers()
        return made

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

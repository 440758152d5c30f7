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
    from collections.abc import Mapping, Sequence
    from typing import Any

    from typing_extensions import Self

    from ._types import Array, Bins, Count, Names, Path, Penalty, Progress, RandomState, Rows, Vector

KINDS = ("rules", "scorecard", "card", "linear", "joint")
# The kinds of members that use a parameter.
KINDS_OF = {"rule_size": ("rules",), "min_support": ("rules",), "min_confidence": ("rules",),
            "support_weight": ("rules",), "smoothing": ("rules",), "feature_share": ("rules",),
            "method": ("rules", "scorecard", "card", "joint"), "bins": ("rules", "scorecard", "card", "joint"),
            "loss": ("scorecard", "card"), "points_penalty": ("scorecard", "card"), "smoothness": ("scorecard", "card"),
            "max_features": ("card",), "max_points": ("card",), "target": ("card",), "monotone": ("card",), "card": ("card",),
            "strength": ("linear",), "linear_scale": ("linear",), "pairs": ("joint",)}


# The values that None selects.
USUAL = {"method": "tube", "bins": 10, "loss": "pair", "points_penalty": 1e-4, "smoothness": 0.1}
USUAL_OF_CARD = {"method": "capped", "bins": 12, "points_penalty": 1e-3}


def feature_word(column, names):
    """A frame's column is a name; an array's column k is feature k + 1."""
    if not isinstance(column, (int, np.integer)):
        return column
    return column + 1 if names is None else names[column]


def directions_text(monotone, names):
    """The lines of --monotone."""
    if monotone is None:
        return None
    return "".join(f"{direction} {feature_word(column, names)}\n" for column, direction in monotone.items())


def table_text(feature_table, names):
    """The lines of --feature-table."""
    if feature_table is None:
        return None
    lines = ["feature\tunit\torigin\n"]
    for column, texts in feature_table.items():
        if isinstance(texts, str) or len(texts) != 2 or not all(isinstance(text, str) for text in texts):
            raise UsageError(f"feature_table: found {texts!r} for {column!r}, expected two texts, the unit and the origin")
        lines.append("\t".join([str(feature_word(column, names)), *texts]) + "\n")
    return "".join(lines)


def table_of(model):
    return {number - 1 if name is None else name: (unit, origin) for number, name, unit, origin in model.descriptions}


class PreparedScorers:
    """A model prepared for scoring, once, by the first thread that needs it. Copies and pickles start unprepared."""

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
    """Ranks documents by association rules and other interpretable members, like `rulerank fit` and `rank`, with bit-identical
    scores.

    Parameters
    ----------
    members : kinds of members: rules, scorecard, card, linear, joint, as a list or "rules,linear"; or "recommended"
        The standardized scores of several members are averaged. recommended: the best members for the number of labels given to
        `fit`; `recommendation_` has the choice and the reason.
    rule_size, min_support, min_confidence, support_weight, smoothing, feature_share
        For rules: maximum size of a rule with its consequent; thresholds of valid rules; W in an itemset's weight n^W;
        A in the confidence (n_r + A prior_r) / (n + A); the share of the features that rules use.
    method, bins, norm, missing_values, unlisted
        How features become items, as in `Discretizer`. None: "tube" and 10; for a card "capped" and 12, for joint members
        "frequency" and 20.
    cuts : `Discretizer.cuts_`, instead of these
    loss, points_penalty, smoothness
        For a scorecard or a card: {"pair", "list", "point"} and two numbers. None: "pair", 1e-4 and 0.1; for a card a loss that
        suits the labels, 1e-3, and a smoothness chosen by cross-fitting. points_penalty="cross-fit" chooses both numbers of a
        scorecard.
    max_features, max_points : for a card, the maximum number of features and the maximum points of an item
    target : {"auto", "labels", "members"}, the values that a card's points are fitted to: the labels, or grades that the
        recommended members give all rows. auto: grades with fewer than 2,000 labels
    monotone : dict from a feature's name or column to "rising", "falling", "free" or "either"
        Directions of the points of a card. either, also the default for other features: determined by the labels
    card : str, a card from `card_text`, possibly edited, whose open points (?) are fitted
    feature_table : dict from a feature's name or column to its unit and its origin, such as {"price": ("EUR", "catalog.price")}
        Kept in the model, and shown by `rulerank inspect` and `explain` and in the files of `export`
    strength : number or "cross-fit", of the ridge penalty of linear members
    linear_scale : {"query", "pool"}, the documents over which a linear member standardizes a feature: those of the query, or all of
        the training set, which makes its weights portable
    pairs : for joint members, the maximum number of pairs of features with points of their own
    folds : for cross-fitting
    engine : {"auto", "lrar", "project", ...}, the implementation of rules; all give the same bits
    qid_column : str or int or None
        The column of X with query ids: a name for frames, a number for arrays. It is not used as a feature.
    device : "cpu", "cuda" or "cuda:0,1"
    n_jobs : int, CPU threads; None or -1: all that the process may use. Results do not depend on it
    random_state : int, seed for the folds
    verbose : True for progress bars; or a callable of stage, done and total that returns False to stop the work

    Attributes
    ----------
    model_ : the fitted model; pickles contain the bytes of its file
    recommendation_ : dict with name, members, reason, if members="recommended"
    parameters_ : list of dicts, one per member: its kind and the parameters used for the fit, also for parameters that are
        None, "cross-fit" or "recommended" in `get_params`
    feature_importances_ : array [features]
    feature_table_ : dict from a feature's name or column to its unit and its origin, as far as the model has them
    portable_ : whether a score depends on the values of its own row alone, so that rows can be scored one at a time
    portability_ : the same in words, and whether features looked normalized within their query in `fit`

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

    _of_file = False  # the model was loaded from a file
    _qid_in_X = False  # `fit` got query ids as a column of X

    def __init__(self, members: Names = "card", *, rule_size: Count = 3, min_support: Count = 1,
                 min_confidence: float = 0.001, support_weight: float = 0.0, smoothing: float = 0.0,
                 feature_share: float = 1.0, method: str | None = None, bins: Bins | None = None, norm: str = "none",
                 missing_values: str = "item", unlisted: str = "zero", cuts: _core.Cuts | None = None,
                 loss: str | None = None, points_penalty: Penalty | None = None, smoothness: float | None = None,
                 max_features: Count = 10, max_points: Count = 100, target: str = "auto",
                 monotone: Mapping[str | int, str] | None = None, card: str | None = None,
                 feature_table: Mapping[str | int, Sequence[str]] | None = None, strength: Penalty = 10.0,
                 linear_scale: str = "query", pairs: Count = 24, folds: Count = 5, engine: str = "auto", qid_column: str | int | None = "qid", device: str = "cpu",
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
        self.feature_table = feature_table
        self.strength = strength
        self.linear_scale = linear_scale
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
            "linear": lambda: _core.linear_recipe(cutting, number("strength"), self.linear_scale, self.folds),
            "joint": lambda: _core.joint_recipe(
                cutting, self.cuts, self.method, 0 if self.bins == "cv" else self.bins, self.pairs, self.folds)}
        return [make[kind]() for kind in kinds]

    def fit(self, X: Rows, y: Vector, qid: Vector | None = None) -> Self:
        """Fits the members.

        X : array, CSR matrix or frame [rows x features]; NaN is a missing value
        y : labels [rows], 0 or more; -1: unlabelled, used where no label is needed
        qid : query ids [rows], integers or text, in any order; None: as `qid_column` says, else one query with a warning
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
            self.model_ = _core.fit(run, train, self._recipes(train), columns_to_keep(self),
                                     table_text(self.feature_table, getattr(self, "feature_names_in_", None)))
        self._scorers = PreparedScorers()
        return self

    def card_text(self) -> str:
        """The card as editable text: `RuleRanker(card=text)` fits its open points."""
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

    def _rows(self, X, qid):
        """Validated X and its queries."""
        if self._of_file:
            X = columns_of_file(X, getattr(self, "feature_names_in_", None))
        X = validated(self, X, reset=False, **READING)
        return X, queries_of(qid, X.shape[0])

    def _documents(self, run, X, qid):
        X, queries = self._rows(X, qid)
        return dataset_of(run, X, queries, names=getattr(self, "feature_names_in_", None)), queries

    def predict(self, X: Rows, qid: Vector | None = None) -> Array:
        """Scores [rows], larger is better. Unless `portable_`, a score is relative to the other rows of its query: warns if X
        lacks the column of query ids that the X of `fit` had."""
        check_is_fitted(self)
        X, qid = split_qid(X, qid, self.qid_column)
        scores = self._scores(X, qid)
        if self._qid_in_X and not self.portable_:
            warn_of_one_query(qid, self.qid_column, len(scores))
        return scores

    @property
    def portable_(self) -> bool:
        """Whether a score depends on the values of its own row alone. Otherwise it depends on the other rows of its query, too."""
        return self._fitted("portable_").portable

    @property
    def portability_(self) -> str:
        """The same in words: "portable: ...", "portable only where its features are: ..." for features that looked normalized
        within their query in `fit`, or "not portable: ..."."""
        return self._fitted("portability_").portability

    @property
    def feature_table_(self) -> dict[str | int, tuple[str, str]]:
        """The unit and the origin of features, by their name or, without names, column; empty texts are unknown."""
        return table_of(self._fitted("feature_table_"))

    def _fitted(self, attribute):
        try:
            check_is_fitted(self)
        except NotFittedError as error:
            raise AttributeError(f"{attribute}: the ranker is not fitted") from error
        return self.model_

    def _scores(self, X, qid):
        names = getattr(self, "feature_names_in_", None)
        with self._running() as run:
            X, queries = self._rows(X, qid)
            scorer = self._scorer(run)
            if names is None and not sp.issparse(X):
                scores = scorer.score_rows(run, np.ascontiguousarray(queries.grouped(X)), queries.sizes)
            else:
                scores = scorer.score(run, dataset_of(run, X, queries, names=names))
            return queries.ungrouped(scores)

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
        """Explains the score of row `row` of X among the rows of its query. Default: the first of the ranking, if X is one
        query. `against`: another row of the query; explains why `row` ranks above it. For rules, lists the `top` rules with the
        largest effect in each direction. Returns an Explanation."""
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
        """Explains the scores of all rows of X by features, each among the rows of its query (without query ids, all rows).
        Returns a ListExplanation."""
        check_is_fitted(self)
        X, qid = split_qid(X, qid, self.qid_column)
        with self._running() as run:
            documents, queries = self._documents(run, X, qid)
            found = self._scorer(run).explain_all(run, documents)
        return list_explanation_of(found, self.model_.kinds, queries, None if qid is None else qid_array(qid, queries.rows))

    @property
    def parameters_(self) -> list[dict[str, Any]]:
        """The kind of each member and the parameters used for its fit, including defaults that depend on the kind and chosen
        penalties."""
        return self._fitted("parameters_").used_parameters

    @property
    def feature_importances_(self) -> Array:
        """[features] The mean absolute effect of each feature on the scores of the training rows, as printed by `rulerank
        inspect`, scaled to sum to 1 for each member and averaged over the members."""
        model = self._fitted("feature_importances_")
        with self._running() as run:
            members = _core.importances(run, model, 1000)
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
        """Writes the model file, for the program's option `--model`."""
        check_is_fitted(self)
        self.model_.write(str(path))

    @classmethod
    @checked
    def load(cls, path: Path, **params: Any) -> Self:
        """Reads a model file written by `save` or `rulerank fit`, with the parameters and features that it stores: `cuts` are the
        model's, and chosen penalties are numbers, except for scorecards. Features without names are the columns of the X used
        for `fit`; in a model fitted to a file of documents, which has no columns, those up to the last listed feature. With several
        members of a kind, the first one's parameters are used. `params` override the file's."""
        model = _core.Model.read(str(path))
        usual = USUAL_OF_CARD if "card" in model.kinds else USUAL
        own = {name: value for name, value in model.parameters.items() if name not in usual or value != usual[name]}
        if table := table_of(model):
            own["feature_table"] = table
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

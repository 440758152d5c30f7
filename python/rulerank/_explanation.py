"""Explanations of documents' scores."""

from __future__ import annotations

import dataclasses
import html
import typing

import numpy as np

if typing.TYPE_CHECKING:
    import pandas as pd

    from ._types import Array, Count

BASE, SCORE = "(base)", "(score)"
# Colours of bars, for light and dark pages.
UP, DOWN = "#2a7f62", "#c1543a"


@dataclasses.dataclass
class MemberExplanation:
    """The contribution of one member of a model to a score.

    `kind` is rules, scorecard, card, linear or joint. `score`, `rank`: by this member alone; `mean`, `deviation`: of its
    scores over the query's documents; `part`: its contribution to the combined score. In a comparison these are pairs, and
    mean and deviation are None. `rules`, `items` and `terms` are DataFrames: for rules, those with the largest effect on the
    score, and the effect of each item; for sums, the contribution of each feature. `details` has the counts and exact
    numbers of a score by rules.
    """

    kind: str
    score: typing.Any
    rank: typing.Any
    part: typing.Any
    mean: float | None = None
    deviation: float | None = None
    rules: typing.Any = None
    items: typing.Any = None
    terms: typing.Any = None
    details: dict = dataclasses.field(default_factory=dict)


class Effects:
    """Scores of documents by features, in units of the score: the library's arrays, and integers for display, in units of
    the last of `digits`, which add up."""

    def __init__(self, found, kinds):
        self.features = found["features"]
        self.members = [kind if kinds.count(kind) == 1 else f"{kind} {kinds[:k + 1].count(kind)}"
                        for k, kind in enumerate(kinds)]
        self.digits = found["digits"]
        documents, members, features = len(found["scores"]), len(kinds), len(self.features)
        shapes = {"scores": (), "ranks": (), "base": (), "base_by_member": (members,), "values": (features,),
                  "adds": (features,), "by_member": (members, features), "shown_scores": (),
                  "shown_base_by_member": (members,), "shown_by_member": (members, features)}
        for name, shape in shapes.items():
            setattr(self, name, found[name].reshape(documents, *shape))

    def of_rows(self, order):
        """The effects of a subset of the documents."""
        some = object.__new__(Effects)
        for name, value in vars(self).items():
            setattr(some, name, value[order] if isinstance(value, np.ndarray) else value)
        return some

    @property
    def shown_base(self):
        return self.shown_base_by_member.sum(axis=1)

    @property
    def shown_adds(self):
        return self.shown_by_member.sum(axis=1)

    def text(self, units):
        return f"{units / 10 ** self.digits:.{self.digits}f}"


def by_size(values):
    return np.argsort(-np.abs(values), kind="stable")


def value_text(value):
    return "" if np.isnan(value) else f"{value:.6g}"


def others_text(others):
    return f"({others} other feature{'s' if others != 1 else ''})"


def html_table(caption, head, rows):
    """An HTML table: the column "feature" is left-aligned, others right-aligned. A cell is text, which is escaped, or a bar given
    as (sign, share)."""
    def cell(of, side, tag):
        if isinstance(of, tuple):
            positive, share = of
            left = 50 if positive else 50 - 50 * share
            return (f'<td style="min-width:10em"><div style="position:relative;height:.8em;width:{50 * share:.1f}%;'
                    f'left:{left:.1f}%;background:{UP if positive else DOWN}"></div></td>')
        return f'<{tag} style="text-align:{side};padding:0 .5em">{html.escape(of)}</{tag}>'

    sides = ["left" if one == "feature" else "right" for one in head]
    lines = [(head, "th"), *((row, "td") for row in rows)]
    text = "".join("<tr>" + "".join(cell(one, side, tag) for one, side in zip(row, sides)) + "</tr>" for row, tag in lines)
    return f'<table style="border-collapse:collapse"><caption>{html.escape(caption)}</caption>{text}</table>'


def axes(ax, height):
    """Returns the axes, or creates new ones."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot: found no matplotlib, expected it; run pip install matplotlib") from error
    return plt.subplots(figsize=(7, 0.6 + 0.3 * height), layout="constrained")[1]


def draw_bars(ax, names, values, title, label):
    ax = axes(ax, len(names))
    places = np.arange(len(names))
    ax.barh(places, values, color=[UP if value >= 0 else DOWN for value in values])
    # Disables math in names such as `a$b$`.
    ax.set_yticks(places, names, parse_math=False)
    ax.invert_yaxis()
    ax.axvline(0, color="0.5", linewidth=0.8)
    ax.set_title(title, parse_math=False)
    ax.set_xlabel(label)
    return ax


@dataclasses.dataclass
class Explanation:
    """Why a document has its score, or ranks above another; in a comparison `score` and `rank` are pairs.

    `row` is the document's row in X. The members' parts sum to the score. `to_frame`, `plot` and the table in a notebook
    show the score by features: one row per feature, over all members, in units of the score.
    """

    row: int
    score: typing.Any
    rank: typing.Any
    members: list[MemberExplanation]
    against: int | None = None
    effects: typing.Any = dataclasses.field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        text = [f"{self._where()}: rank {self.rank}, score {self.score}"]
        for member in self.members:
            text.append(f"{member.kind}: score {member.score}, part {member.part}")
            for frame in (member.rules, member.terms):
                if frame is not None and len(frame):
                    shown = frame.drop(columns=[c for c in ("antecedent", "share") if c in frame])
                    text.append(shown.head(10).to_string(index=False))
        return "\n".join(text)

    def _where(self):
        return f"row {self.row}" if self.against is None else f"row {self.row} against row {self.against}"

    def to_frame(self) -> pd.DataFrame:
        """One row per feature, by decreasing effect: feature, value, adds and, with several members, each one's contribution.
        `adds` sums to the score: the row (base) is common to all documents of the query. A comparison has difference, first,
        second, first_value and second_value; `difference` sums to the difference of the scores. The value of a pair of
        features is NaN."""
        import pandas as pd

        of = self.effects
        if self.against is None:
            order = by_size(of.adds[0])
            columns = {"feature": [of.features[f] for f in order], "value": of.values[0][order], "adds": of.adds[0][order]}
            base = {"feature": BASE, "value": np.nan, "adds": of.base[0]}
            if len(of.members) > 1:
                columns |= {name: of.by_member[0][k][order] for k, name in enumerate(of.members)}
                base |= dict(zip(of.members, of.base_by_member[0]))
        else:
            first, second = of.adds
            order = by_size(first - second)
            columns = {"feature": [of.features[f] for f in order], "difference": (first - second)[order],
                       "first": first[order], "second": second[order],
                       "first_value": of.values[0][order], "second_value": of.values[1][order]}
            base = {"feature": BASE, "difference": 0.0, "first": of.base[0], "second": of.base[1],
                    "first_value": np.nan, "second_value": np.nan}
        if of.base[0] == 0:
            return pd.DataFrame(columns)
        return pd.DataFrame({name: [base[name], *values] for name, values in columns.items()})

    def _lines(self, top):
        """Rows (feature, values, integers by column): base, features, others. The first column is plotted."""
        of = self.effects
        if self.against is None:
            order = by_size(of.adds[0])
            shown = np.column_stack([of.shown_adds[0], *(of.shown_by_member[0] if len(of.members) > 1 else [])])
            base = [of.shown_base[0], *(of.shown_base_by_member[0] if len(of.members) > 1 else [])]
        else:
            first, second = of.shown_adds
            order = by_size(of.adds[0] - of.adds[1])
            shown = np.column_stack([first - second, first, second])
            base = [0, *of.shown_base]
        lines = [(BASE, [""] * len(of.values), base)] if of.base[0] != 0 else []
        lines += [(of.features[f], [value_text(value) for value in of.values[:, f]], shown[f]) for f in order[:top]]
        if len(order) > top:
            lines.append((others_text(len(order) - top), [""] * len(of.values), shown[order[top:]].sum(axis=0)))
        return lines

    def _repr_html_(self) -> str:
        of, lines = self.effects, self._lines(20)
        single = self.against is None
        columns = ["adds", *(of.members if len(of.members) > 1 else [])] if single else ["difference", "first", "second"]
        values = ["value"] if single else ["first value", "second value"]
        most = max((abs(int(shown[0])) for _, _, shown in lines), default=0) or 1
        rows = [[feature, *value, *map(of.text, shown), (shown[0] >= 0, abs(int(shown[0])) / most)]
                for feature, value, shown in lines]
        total = np.sum([shown for _, _, shown in lines], axis=0) if lines else [0] * len(columns)
        rows.append([SCORE, *[""] * len(values), *map(of.text, total), ""])
        return html_table(str(self).split("\n", 1)[0], ["feature", *values, *columns, ""], rows)

    def plot(self, top: Count = 10, ax: typing.Any = None) -> typing.Any:
        """Plots the contributions of the `top` features with the largest effect or, in a comparison, the largest difference,
        as bars; one bar sums the others. `ax`: matplotlib axes; None: new ones. Returns the axes."""
        scale = 10 ** self.effects.digits
        lines = [line for line in self._lines(top) if self.against is None or line[0] != BASE]
        names = [" = ".join([feature, *filter(None, value)]) if self.against is None else feature
                 for feature, value, _ in lines]
        return draw_bars(ax, names, [shown[0] / scale for _, _, shown in lines], f"{self._where()}: rank {self.rank}",
                         "adds to the score" if self.against is None else "difference of the scores")


@dataclasses.dataclass
class ListExplanation:
    """Why all documents of one or several queries have their scores, by features, in units of the score.

    Arrays have one entry per row of X: `score` and `rank` (within its query); `base`, common to all documents of a query;
    `values` and `adds` [rows x features]. `base` and the row of `adds` sum to the score. `by_member`: the part of `adds` from
    each kind of member. `qid`: the query ids, or None.
    """

    features: list[str]
    score: Array
    rank: Array
    base: Array
    values: Array
    adds: Array
    by_member: dict[str, Array]
    qid: Array | None = None
    effects: typing.Any = dataclasses.field(default=None, repr=False, compare=False)

    def _ranking(self):
        """Row indices by query in order of appearance, each query in ranking order."""
        if self.qid is None:
            return np.argsort(self.rank, kind="stable")
        _, first, of = np.unique(self.qid, return_index=True, return_inverse=True)
        return np.lexsort((self.rank, first[of]))

    def to_frame(self) -> pd.DataFrame:
        """One row per document in ranking order, indexed by its row in X: qid if there are query ids, rank, score, (base) if
        any, and a column per feature. (base) and the features sum to the score."""
        import pandas as pd

        order = self._ranking()
        columns = {} if self.qid is None else {"qid": self.qid[order]}
        columns |= {"rank": self.rank[order], "score": self.score[order]}
        if self.base.any():
            columns[BASE] = self.base[order]
        adds = pd.DataFrame(self.adds[order], columns=self.features, index=order)
        return pd.concat([pd.DataFrame(columns, index=order), adds], axis=1)

    def _repr_html_(self) -> str:
        of, rows, top = self.effects, self._ranking()[:20], 5
        order = by_size(np.abs(self.adds).sum(axis=0))
        head = ["row", *([] if self.qid is None else ["qid"]), "rank", "score", *([BASE] if self.base.any() else []),
                *(self.features[f] for f in order[:top]), *([others_text(len(order) - top)] if len(order) > top else [])]
        shown_adds, lines = of.shown_adds, []
        for row in rows:
            shown = shown_adds[row]
            parts = [*([of.shown_base[row]] if self.base.any() else []), *shown[order[:top]],
                     *([shown[order[top:]].sum()] if len(order) > top else [])]
            lines.append([str(row), *([] if self.qid is None else [str(self.qid[row])]), str(self.rank[row]),
                          of.text(of.shown_scores[row]), *map(of.text, parts)])
        documents = len(self.score)
        caption = f"{documents} document{'s' if documents != 1 else ''}" + (f", the first {len(rows)}" if len(rows) < documents else "")
        return html_table(caption, head, lines)

    def plot(self, top: Count = 10, ax: typing.Any = None) -> typing.Any:
        """Plots the mean absolute effect over the documents of the `top` features with the largest. `ax`: matplotlib axes;
        None: new ones. Returns the axes."""
        sizes = np.abs(self.adds).mean(axis=0) if len(self.adds) else np.zeros(len(self.features))
        order = by_size(sizes)[:top]
        return draw_bars(ax, [self.features[f] for f in order], sizes[order], f"{len(self.score)} documents",
                         "moves scores by, the mean over documents")


def _rules_frame(rows, compares):
    import pandas as pd

    columns = ["rule", "moves", "support", "documents", "confidence", "label", "antecedent", "share"]
    if compares:
        columns += ["first", "second"]
    for row in rows:
        row["antecedent"] = tuple(row["antecedent"])
        row["rule"] = " and ".join(row["antecedent"]) + f" -> {row['label']}"
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values("moves", key=abs, ascending=False, kind="stable", ignore_index=True)


def _member(found, compares):
    import pandas as pd

    plural = "s" if compares else ""
    made = MemberExplanation(found["member"], found["score" + plural], found["rank" + plural],
                             found["part" + plural], found.get("mean"), found.get("deviation"))
    if found["kind"] == "rules":
        made.rules = _rules_frame(found["rules"], compares)
        made.items = pd.DataFrame(found["items"], columns=["item", "moves", "rules", "feature"])
        made.details = {key: found[key] for key in ("numerator", "denominator", "mean_label", "itemsets",
                                                    "training_documents", "rule_count") if key in found}
    else:
        made.terms = pd.DataFrame(found["terms"])
    return made


def explanation_of(found, row, against=None):
    """`found`: the result of the library's explainer, as dictionaries."""
    compares = against is not None
    plural = "s" if compares else ""
    members = [_member(one, compares) for one in found["members"]]
    return Explanation(row, found["score" + plural], found["rank" + plural], members, against,
                       Effects(found["effects"], [member.kind for member in members]))


def list_explanation_of(found, kinds, queries, qid):
    """`found`: the effects of the documents in the order of `queries`."""
    of = Effects(found, kinds)
    if queries.order is not None:
        of = of.of_rows(np.argsort(queries.order))
    by_member = {name: of.by_member[:, k] for k, name in enumerate(of.members)}
    return ListExplanation(of.features, of.scores, of.ranks, of.base, of.values, of.adds, by_member, qid, of)

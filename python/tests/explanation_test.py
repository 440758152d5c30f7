"""Scores by features: frames, tables and charts of documents, differences and lists."""

import copy
import html.parser
import pickle
import sys
from decimal import Decimal

import matplotlib
import numpy as np
import pandas as pd
import pytest

import rulerank
from rulerank import RuleRanker

matplotlib.use("Agg")
MEMBERS = ["card", "scorecard", "linear", "joint", "rules", "rules,scorecard,linear"]


@pytest.fixture(scope="module")
def rankers(train):
    return {members: RuleRanker(members).fit(train.X, train.y, train.qid) for members in MEMBERS}


class Cells(html.parser.HTMLParser):
    """The texts of a table's cells, row by row; counts other tags."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.caption, self.tags, self.into = [], "", set(), None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        self.into = tag

    def handle_data(self, data):
        if self.into == "caption":
            self.caption += data
        else:
            self.rows[-1][-1] += data


@pytest.mark.parametrize("members", MEMBERS)
def test_a_document_by_features(rankers, test, members, program_json, drawn, tmp_path):
    ranker = rankers[members]
    ranker.save(tmp_path / "m")
    row = 7
    found = ranker.explain(test.X, row, test.qid)
    said = program_json("explain", "--model", tmp_path / "m", "--test", drawn / "test.txt", "--qid", test.qid[row],
                        "--rank", found.rank, "--by-feature")
    frame = found.to_frame()
    assert abs(frame["adds"].sum() - found.score) < 1e-12
    kinds = members.split(",") if "," in members else []
    assert frame.columns.tolist() == ["feature", "value", "adds", *kinds]
    if kinds:
        np.testing.assert_allclose(frame[kinds].sum(axis=1), frame["adds"], atol=1e-12)
    has_base = said["base"] != 0
    assert (frame["feature"][0] == "(base)") == has_base
    shown = frame.iloc[1:] if has_base else frame
    assert shown["adds"].tolist() == [one["adds"] for one in said["features"]]
    values = [np.nan if "partner" in one else one["value"] for one in said["features"]]
    np.testing.assert_array_equal(shown["value"], values)


@pytest.mark.parametrize("members", MEMBERS)
def test_a_difference_by_features(rankers, test, members):
    rows = np.flatnonzero(test.qid == test.qid[0])
    found = rankers[members].explain(test.X, rows[1], test.qid, against=rows[4])
    frame = found.to_frame()
    assert abs(frame["difference"].sum() - (found.score[0] - found.score[1])) < 1e-12
    np.testing.assert_allclose(frame["first"] - frame["second"], frame["difference"], atol=1e-12)
    sizes = frame["difference"].abs()[frame["feature"] != "(base)"]
    assert sizes.is_monotonic_decreasing


@pytest.mark.parametrize("members", MEMBERS)
def test_lists_are_their_documents(rankers, test, members):
    ranker = rankers[members]
    mixed = np.random.default_rng(3).permutation(len(test.X))  # the rows of a query are not contiguous
    found = ranker.explain_all(test.X[mixed], test.qid[mixed])
    assert (found.score == ranker.predict(test.X[mixed], test.qid[mixed])).all()
    np.testing.assert_allclose(found.base + found.adds.sum(axis=1), found.score, atol=1e-12)
    np.testing.assert_allclose(sum(found.by_member.values()), found.adds, atol=1e-12)
    for row in (0, 5, len(mixed) - 1):
        one = ranker.explain(test.X[mixed], row, test.qid[mixed])
        assert (found.rank[row], found.score[row]) == (one.rank, one.score)
        of = one.effects
        assert (found.adds[row] == of.adds[0]).all() and found.base[row] == of.base[0]
        np.testing.assert_array_equal(found.values[row], of.values[0])
    frame = found.to_frame()
    np.testing.assert_allclose(frame.drop(columns=["qid", "rank", "score"]).sum(axis=1), frame["score"], atol=1e-12)
    assert sorted(frame.index) == list(range(len(mixed)))
    assert (test.qid[mixed][frame.index] == frame["qid"]).all()
    assert all(ranks.tolist() == list(range(1, len(ranks) + 1)) for _, ranks in frame.groupby("qid")["rank"])
    assert frame["qid"].drop_duplicates().tolist() == list(dict.fromkeys(test.qid[mixed]))


def test_a_list_without_query_ids(rankers, test):
    found = rankers["linear"].explain_all(test.X[:9])
    assert found.qid is None and sorted(found.rank) == list(range(1, 10))
    assert "qid" not in found.to_frame()


@pytest.mark.parametrize("members", MEMBERS)
def test_tables_add_up_as_shown(rankers, test, members):
    ranker = rankers[members]
    rows = np.flatnonzero(test.qid == test.qid[0])
    for one, texts in ((ranker.explain(test.X, rows[0], test.qid), 2),
                       (ranker.explain(test.X, rows[0], test.qid, against=rows[3]), 3)):
        cells = Cells(one._repr_html_())
        numbers = [list(map(Decimal, row[texts:-1])) for row in cells.rows[1:]]
        for column in zip(*numbers):
            assert sum(column[:-1]) == column[-1]
        for adds, first, *others in (row for row in numbers if len(row) > 1):
            assert adds == (first - others[0] if one.against is not None else first + sum(others))
        scores = one.score if one.against is not None else (one.score,)
        shown = numbers[-1][1:] if one.against is not None else numbers[-1][:1]
        for score, total in zip(scores, shown):
            assert abs(Decimal(score) - total) <= Decimal("0.0000005")
        assert cells.tags <= {"table", "caption", "tr", "th", "td", "div"}
    cells = Cells(ranker.explain_all(test.X, test.qid)._repr_html_())
    assert "the first 20" in cells.caption and len(cells.rows) == 21
    for row in cells.rows[1:]:
        assert sum(map(Decimal, row[4:])) == Decimal(row[3])


def test_names_are_escaped(train):
    names = ["<script>alert(1)</script>", "a$b$", *(f"c{i}" for i in range(train.X.shape[1] - 2))]
    X = pd.DataFrame(train.X, columns=names)
    ranker = RuleRanker("linear").fit(X, train.y, train.qid)
    for found in (ranker.explain(X, 0, train.qid), ranker.explain_all(X, train.qid)):
        page = found._repr_html_()
        assert "<script" not in page
        found.plot(50).figure.canvas.draw()
    assert "&lt;script&gt;" in ranker.explain(X, 0, train.qid)._repr_html_()


def test_charts(rankers, test):
    import matplotlib.pyplot as plt

    ranker = rankers["rules,scorecard,linear"]
    found = ranker.explain(test.X, 7, test.qid)
    axes = found.plot(top=4)
    assert isinstance(axes, matplotlib.axes.Axes)
    widths = [bar.get_width() for bar in axes.patches]
    assert sum(widths) == pytest.approx(found.score, abs=1e-6)
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels[0] == "(base)" and labels[-1] == "(8 other features)" and len(labels) == 6
    colours = {width >= 0: bar.get_facecolor() for width, bar in zip(widths, axes.patches)}
    assert len(set(colours.values())) == len(colours)
    rows = np.flatnonzero(test.qid == test.qid[0])
    both = ranker.explain(test.X, rows[0], test.qid, against=rows[3])
    _, own = plt.subplots()
    assert both.plot(ax=own) is own
    assert sum(bar.get_width() for bar in own.patches) == pytest.approx(both.score[0] - both.score[1], abs=1e-6)
    everything = ranker.explain_all(test.X, test.qid)
    widths = [bar.get_width() for bar in everything.plot(top=3).patches]
    assert widths == sorted(np.abs(everything.adds).mean(axis=0), reverse=True)[:3]
    plt.close("all")


def test_charts_say_what_they_need(rankers, test, monkeypatch):
    found = rankers["linear"].explain(test.X, 7, test.qid)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="plot: found no matplotlib.*pip install matplotlib"):
        found.plot()


def test_explanations_are_copied(rankers, test):
    found = rankers["linear"].explain(test.X, 7, test.qid)
    for one in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert one.to_frame().equals(found.to_frame())


def test_lists_take_what_predict_takes(rankers, test):
    with pytest.raises(rulerank.UsageError, match="qid: found the shape"):
        rankers["linear"].explain_all(test.X, test.qid[1:])
    with pytest.raises(ValueError, match="features"):
        rankers["linear"].explain_all(test.X[:, 1:], test.qid)


def test_parameters_are_those_that_were_used(rankers, train, tmp_path):
    with pytest.raises(AttributeError, match="parameters_: the ranker is not fitted"):
        RuleRanker().parameters_
    card, = rankers["card"].parameters_
    assert (card["kind"], card["method"], card["bins"], card["points_penalty"]) == ("card", "capped", 12, 1e-3)
    assert isinstance(card["smoothness"], float) and rankers["card"].get_params()["smoothness"] is None
    assert [one["kind"] for one in rankers["rules,scorecard,linear"].parameters_] == ["rules", "scorecard", "linear"]
    best = RuleRanker("recommended").fit(train.X, train.y, train.qid)
    scorecard, linear = best.parameters_
    assert (scorecard["loss"], scorecard["bins"], scorecard["smoothness"]) == ("point", 20, 100)
    assert isinstance(linear["strength"], float)
    crossed, = RuleRanker("scorecard", points_penalty="cross-fit").fit(train.X, train.y, train.qid).parameters_
    assert crossed["points_penalty"] in (1e-4, 1e-3, 1e-2, 1e-1) and crossed["smoothness"] in (.01, .1, 1, 10)
    best.save(tmp_path / "m")
    assert RuleRanker.load(tmp_path / "m").parameters_ == best.parameters_

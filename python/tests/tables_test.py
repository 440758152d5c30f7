"""Tables of polars and pyarrow give the same results as pandas frames."""

import numpy as np
import pandas as pd
import pytest

from rulerank import (Discretizer, DenseNeighbors, RuleRanker, SelectiveSampler, TextNeighbors, UsageError, dump_letor, mine_itemsets,
                      make_pool)

FORMS = ["polars", "pyarrow", "batch"]


@pytest.fixture(params=FORMS)
def form(request):
    """Converts a frame to a table, and a list to a column."""
    if request.param == "polars":
        polars = pytest.importorskip("polars")
        return polars.DataFrame, polars.Series
    pyarrow = pytest.importorskip("pyarrow")
    kind = pyarrow.RecordBatch if request.param == "batch" else pyarrow.Table
    return lambda columns: kind.from_pydict(columns), lambda values: pyarrow.array(values)


DRAW = np.random.default_rng(5)
COLUMNS = {name: DRAW.normal(size=60).round(3).tolist() for name in ("age", "bm25", "length")}
COLUMNS["qid"] = [f"q{row // 6}" for row in range(60)]
LABELS = (np.array(COLUMNS["bm25"]) > 0.2).astype(int)
FRAME = pd.DataFrame(COLUMNS)


def test_rankers(form):
    table, column = form
    expected = RuleRanker("rules,linear").fit(FRAME, LABELS)
    ranker = RuleRanker("rules,linear").fit(table(COLUMNS), column(LABELS.tolist()))
    assert ranker.feature_names_in_.tolist() == ["age", "bm25", "length"]
    np.testing.assert_array_equal(ranker.predict(table(COLUMNS)), expected.predict(FRAME))
    values = {name: COLUMNS[name] for name in ("age", "bm25", "length")}
    apart = RuleRanker("rules,linear").fit(table(values), LABELS, column(COLUMNS["qid"]))
    np.testing.assert_array_equal(apart.predict(table(values), qid=column(COLUMNS["qid"])), expected.predict(FRAME))
    assert ranker.explain(table(COLUMNS), row=3).to_frame().equals(expected.explain(FRAME, row=3).to_frame())


def test_other_estimators(form, tmp_path):
    table, _ = form
    np.testing.assert_array_equal(Discretizer(bins=3).fit_transform(table(COLUMNS), LABELS), Discretizer(bins=3).fit_transform(FRAME, LABELS))
    np.testing.assert_array_equal(SelectiveSampler().fit(table(COLUMNS)).query(4), SelectiveSampler().fit(FRAME).query(4))
    numbers = {name: COLUMNS[name] for name in ("age", "bm25")}
    for found, expected in zip(DenseNeighbors(2).fit(table(numbers)).kneighbors(table(numbers)),
                               DenseNeighbors(2).fit(FRAME[["age", "bm25"]]).kneighbors(FRAME[["age", "bm25"]])):
        np.testing.assert_array_equal(found, expected)
    dump_letor(tmp_path / "table", table(COLUMNS), LABELS)
    dump_letor(tmp_path / "frame", FRAME, LABELS)
    assert (tmp_path / "table").read_bytes() == (tmp_path / "frame").read_bytes()


def test_missing_values(form):
    table, _ = form
    columns = {"a": [1.0, None, 3.0, 4.0], "b": [1, 2, None, 4]}
    expected = Discretizer(bins=2).fit_transform(pd.DataFrame(columns), [0, 0, 1, 1])
    np.testing.assert_array_equal(Discretizer(bins=2).fit_transform(table(columns), [0, 0, 1, 1]), expected)


def test_baskets(form):
    table, _ = form
    columns = {"bread": [True, True, False], "jam": [True, False, True]}
    pd.testing.assert_frame_equal(mine_itemsets(table(columns), 0.3), mine_itemsets(pd.DataFrame(columns), 0.3))


def test_texts(form):
    table, column = form
    texts = {"d1": {"title": "Cats", "text": "chase mice"}, "d2": {"text": "Dogs chase cats"}, "d3": {"title": "Mice", "text": "eat cheese"}}
    topics = {"q1": {"query": "cats"}, "q2": {"query": "cheese for mice"}}
    documents = {"docno": list(texts), "title": [text.get("title") for text in texts.values()], "text": [text["text"] for text in texts.values()]}
    asked = {"qid": list(topics), "query": [topic["query"] for topic in topics.values()]}
    expected = make_pool(texts, topics)
    for of in (table, pd.DataFrame):
        pool = make_pool(of(documents), of(asked))
        assert pool.docid.tolist() == expected.docid.tolist() and pool.feature_names == expected.feature_names
        np.testing.assert_array_equal(pool.X, expected.X)
    with pytest.raises(UsageError, match="documents: found the columns title, text, expected one of id, docno, docid, qid, and texts"):
        make_pool(table({"title": ["a"], "text": ["b"]}), topics)
    with pytest.raises(ValueError, match="documents:2: found the id 'd' again, expected each id once"):
        make_pool(table({"id": ["d", "d"], "text": ["a", "b"]}), topics)
    words = ["cats mice", "mice cheese", "dogs"]
    np.testing.assert_array_equal(TextNeighbors(1).fit(column(words)).kneighbors(column(words[:1]))[1], [[0]])

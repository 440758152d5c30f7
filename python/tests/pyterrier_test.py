"""RuleRanker in PyTerrier: without Java and without downloads."""

import numpy as np
import pandas as pd
import pytest

import rulerank
from rulerank import RuleRanker, load_letor

pt = pytest.importorskip("pyterrier", exc_type=ImportError)
from rulerank.pyterrier import RuleRankerTransformer  # noqa: E402

# PyTerrier's own calls of pandas.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")


def frames_of(path):
    """A file's documents in PyTerrier's form: results with features, and qrels."""
    data = load_letor(path)
    results = pd.DataFrame({"qid": [str(q) for q in data.qid], "docno": [f"d{d}" for d in range(len(data.y))],
                            "query": "words", "features": list(data.X)})
    return data, results, results[["qid", "docno"]].assign(label=data.y)


@pytest.fixture(scope="module")
def fitted(drawn):
    _, results, qrels = frames_of(drawn / "train.txt")
    return RuleRankerTransformer(RuleRanker("rules")).fit(results, qrels[qrels.label > 0])


def test_scores_are_the_rankers(drawn, fitted):
    assert isinstance(fitted, pt.Transformer)
    train = load_letor(drawn / "train.txt")
    test, results, _ = frames_of(drawn / "test.txt")
    expected = RuleRanker("rules").fit(train.X, train.y, train.qid).predict(test.X, test.qid)
    before = results.copy()
    found = fitted.transform(results)
    assert results.equals(before)
    assert found["docno"].tolist() == results["docno"].tolist()
    assert found["score"].tolist() == expected.tolist()
    assert list(found.columns) == pt.inspect.transformer_outputs(fitted, list(results.columns))
    for _, query in found.groupby("qid"):
        assert sorted(query["rank"]) == list(range(len(query)))
        assert query.sort_values("rank")["score"].is_monotonic_decreasing


def test_rows_of_queries_may_lie_apart(drawn, fitted):
    _, results, _ = frames_of(drawn / "test.txt")
    mixed = results.sample(frac=1, random_state=3)
    one, other = (fitted.transform(frame).set_index("docno")["score"] for frame in (results, mixed))
    assert one.equals(other.loc[one.index])


def test_in_a_pipeline(drawn, fitted):
    test, results, qrels = frames_of(drawn / "test.txt")
    with_zero = pt.apply.generic(lambda frame: frame.assign(score=0.0))
    cut = (with_zero >> fitted) % 3
    found = cut(results)
    assert found.groupby("qid").size().max() == 3
    whole = fitted(results)
    runs = {q: dict(zip(of["docno"], of["score"])) for q, of in whole.groupby("qid")}
    judged = {q: dict(zip(of["docno"], of["label"])) for q, of in qrels.groupby("qid")}
    value = rulerank.evaluate(judged, runs, metrics="NDCG@10", profile="letor", ties="average")["NDCG@10"]
    assert value == pytest.approx(fitted.ranker.score(test.X, test.y, test.qid, ties="average"), abs=1e-12)


def test_a_fitted_ranker_and_no_rows(drawn, fitted):
    _, results, _ = frames_of(drawn / "test.txt")
    again = RuleRankerTransformer(fitted.ranker)
    assert again.transform(results).equals(fitted.transform(results))
    empty = again.transform(results.iloc[:0])
    assert len(empty) == 0 and list(empty.columns) == list(again.transform(results).columns)


@pytest.mark.parametrize("ranker", [None, "fitted"])
def test_pyterrier_knows_the_columns(fitted, ranker):
    """Fitted or not, without rows: PyTerrier inspects transformers this way before a pipeline runs."""
    transformer = fitted if ranker else RuleRankerTransformer()
    wanted, = pt.inspect.transformer_inputs(transformer)
    assert sorted(wanted) == ["docno", "features", "qid"]
    for columns in (["qid", "docno", "features"], ["qid", "query", "docno", "score", "rank", "features"]):
        row = pd.DataFrame([["q1", "words", "d1", 1.0, 0, np.zeros(12)]],
                           columns=["qid", "query", "docno", "score", "rank", "features"])[columns]
        said = pt.inspect.transformer_outputs(transformer, columns)
        assert said == list(fitted.transform(row).columns)
        assert sorted(said) == sorted({*columns, "score", "rank"})
    for columns in (["qid", "query"], ["qid", "docno", "score", "rank"], ["features"]):
        assert pt.inspect.transformer_outputs(transformer, columns, strict=False) is None
        with pytest.raises(pt.validate.InputValidationError):
            pt.inspect.transformer_outputs(transformer, columns)


def test_pyterrier_knows_the_columns_of_a_pipeline(fitted):
    features = pt.apply.doc_features(lambda row: np.zeros(12))
    pipeline = features >> fitted
    assert {"features", "score", "rank"} <= set(pt.inspect.transformer_outputs(
        pipeline, ["qid", "query", "docno", "score", "rank"]))
    assert pt.inspect.transformer_outputs(pipeline, ["qid", "query"], strict=False) is None


def test_bad_frames(drawn, fitted):
    _, results, qrels = frames_of(drawn / "test.txt")
    for name in ("qid", "docno", "features"):
        for call in (fitted.transform, lambda frame: RuleRankerTransformer().fit(frame, qrels)):
            for frame in (results, results.iloc[:0]):
                with pytest.raises(pt.validate.InputValidationError, match=f"missing_columns=\\['{name}'\\]"):
                    call(frame.drop(columns=name))
    features = list(results["features"])
    features[2] = features[2][:5]
    with pytest.raises(rulerank.UsageError, match="found 5 features in row 3, expected 12"):
        fitted.transform(results.assign(features=features))
    with pytest.raises(rulerank.UsageError, match="no row"):
        RuleRankerTransformer().fit(results.iloc[:0], qrels)
    with pytest.raises(rulerank.UsageError, match="found document d0 twice"):
        RuleRankerTransformer().fit(results, pd.concat([qrels, qrels.iloc[:1]]))
    below = qrels.assign(label=[-1, *qrels.label[1:]])
    with pytest.raises(rulerank.UsageError, match=f"query {qrels.qid[0]}: found the label -1 of document d0, expected 0 or more"):
        RuleRankerTransformer().fit(results, below)
    with pytest.raises(rulerank.UsageError, match=f"query {qrels.qid[0]}: found the label nan of document d0, expected 0 or more"):
        RuleRankerTransformer().fit(results, qrels.assign(label=[np.nan, *qrels.label[1:]]))
    as_none, as_zero = (RuleRankerTransformer(RuleRanker("rules")).fit(results, of).transform(results)["score"].tolist()
                        for of in (below[below.label >= 0], below.assign(label=below.label.clip(0))))
    assert as_none == as_zero
    with pytest.raises(ValueError, match="features"):
        fitted.transform(results.assign(features=[np.zeros(3)] * len(results)))

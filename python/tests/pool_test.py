import json

import numpy as np
import pandas as pd
import pytest

import rulerank
from rulerank import RuleRanker, load_letor, make_pool

DOCUMENTS = {"d2": "cats chase mice", "d1": {"title": "dogs", "text": "dogs chase cats"}, "d3": "mice eat cheese"}
TOPICS = {"t1": "cats", "t3": "cheese mice"}
JUDGMENTS = {"t1": {"d1": 2, "d2": -1}, "t3": {"d3": 5}}


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """Files of random texts, judgments and vectors, and the same in memory."""
    folder, rng = tmp_path_factory.mktemp("pool"), np.random.default_rng(3)

    def text(n):
        return " ".join(f"word{w}" for w in rng.integers(0, 60, n))

    documents = {f"d{d}": {"title": text(4), "text": text(20)} for d in range(80)}
    topics = {f"t{q}": text(3) for q in range(12)}
    judgments = {qid: {f"d{d}": int(rng.integers(0, 4)) for d in rng.choice(80, 25, replace=False)} for qid in topics}
    (folder / "docs.jsonl").write_text("".join(json.dumps({"id": i, **fields}) + "\n" for i, fields in documents.items()))
    (folder / "topics.tsv").write_text("".join(f"{i}\t{text}\n" for i, text in topics.items()))
    (folder / "qrels").write_text("".join(f"{q} 0 {d} {label}\n" for q, of in judgments.items() for d, label in of.items()))
    vectors = rng.normal(size=(80, 6)).astype(np.float32), rng.normal(size=(12, 6)).astype(np.float32)
    np.save(folder / "d.npy", vectors[0])
    np.save(folder / "t.npy", vectors[1])
    return folder, documents, topics, judgments, vectors


def expect_same(pool, expected):
    assert (pool.X == expected.X).all() and pool.feature_names == expected.feature_names
    assert pool.y.tolist() == expected.y.tolist() and pool.qid.tolist() == expected.qid.tolist()
    assert pool.docid.tolist() == expected.docid.tolist() and pool.comments == expected.comments


OPTIONS = [
    ({}, []),
    ({"candidates": 7, "not_relevant": [3], "weighting": "lnc.ltc", "mu": 500.0, "lambda_": 0.3, "delta": 0.5, "n_jobs": 1},
     ["--candidates", 7, "--not-relevant", 3, "--weighting", "lnc.ltc", "--mu", 500, "--lambda", 0.3, "--delta", 0.5]),
    ({"unjudged": 0, "stemmer": "none", "stop_words": "none", "k1": 0.9, "b": 0.4, "metric": "cosine"},
     ["--unjudged", 0, "--stemmer", "none", "--stop-words", "none", "--k1", 0.9, "--b", 0.4, "--metric", "cosine"]),
]
VECTOR_OPTIONS = [
    ({}, []),
    ({"candidates_from": "dense", "dense_metric": "l2"}, ["--candidates-from", "dense", "--dense-metric", "l2"]),
    ({"candidates_from": "text", "dense_metric": "ip"}, ["--candidates-from", "text", "--dense-metric", "ip"]),
    ({"fusion": "combsum", "fusion_norm": "zmuv", "run_weights": [1, 2]},
     ["--fusion", "combsum", "--fusion-norm", "zmuv", "--run-weights", "1,2"]),
]


@pytest.mark.parametrize("dense, options, line", [(False, *one) for one in OPTIONS] + [(True, *one) for one in VECTOR_OPTIONS])
def test_pairs_are_the_programs(program, collection, tmp_path, dense, options, line):
    folder, documents, topics, judgments, (of_documents, of_topics) = collection
    if dense:
        line = [*line, "--vectors", folder / "d.npy", "--topic-vectors", folder / "t.npy"]
        options = {**options, "vectors": of_documents, "topic_vectors": of_topics}
    program("features", "--collection", folder / "docs.jsonl", "--topics", folder / "topics.tsv", "--qrels", folder / "qrels",
            "--out", tmp_path / "pool.txt", "--quiet", *line)
    expected = load_letor(tmp_path / "pool.txt", unlabelled=-1)
    expect_same(make_pool(documents, topics, judgments, **options), expected)
    expect_same(make_pool(folder / "docs.jsonl", str(folder / "topics.tsv"), folder / "qrels", **options), expected)


def test_candidates_of_a_run_are_the_programs(program, collection, tmp_path):
    folder, documents, topics, judgments, _ = collection
    run = {"t3": {"d9": 1.0, "d4": 3.5}, "t1": {"d70": 2.0}, "other": {"x": 1.0}}
    (tmp_path / "run").write_text("".join(f"{q} Q0 {d} 1 {score} x\n" for q, of in run.items() for d, score in of.items()))
    program("features", "--collection", folder / "docs.jsonl", "--topics", folder / "topics.tsv", "--run", tmp_path / "run",
            "--out", tmp_path / "pool.txt", "--quiet")
    with pytest.warns(UserWarning, match="topics: 10 of 12 have no candidate document and get no row: 't0', 't2', 't4', ..."):
        pool = make_pool(documents, topics, run=run)
    expect_same(pool, load_letor(tmp_path / "pool.txt", unlabelled=-1))
    assert pool.docid.tolist() == ["d70", "d4", "d9"] and (pool.y == -1).all()


def test_documents_that_are_their_own_topics(program, tmp_path):
    (tmp_path / "docs.tsv").write_text("a\tcats chase mice\nb\tcats chase dogs\nc\tmice eat cheese\n")
    program("features", "--collection", tmp_path / "docs.tsv", "--topics", tmp_path / "docs.tsv", "--leave-out-self",
            "--out", tmp_path / "pool.txt")
    pool = make_pool(tmp_path / "docs.tsv", tmp_path / "docs.tsv", leave_out_self=True)
    expect_same(pool, load_letor(tmp_path / "pool.txt", unlabelled=-1))
    assert list(zip(pool.qid.tolist(), pool.docid.tolist())) == [("a", "b"), ("a", "c"), ("b", "a"), ("c", "a")]


def test_pets_by_hand():
    pool = make_pool(DOCUMENTS, TOPICS, JUDGMENTS, not_relevant=[5])
    assert pool.qid.tolist() == ["t1", "t1", "t3", "t3"]
    assert pool.docid.tolist() == ["d2", "d1", "d2", "d3"]
    assert pool.y.tolist() == [-1, 2, -1, 0]
    values = dict(zip(pool.feature_names, pool.X[1]))
    assert values["length_of_title"] == 1 and values["length_of_document"] == 4
    frame = make_pool(DOCUMENTS, TOPICS, rulerank.Qrels(JUDGMENTS), as_frame=True).X
    assert isinstance(frame, pd.DataFrame) and frame.columns[0] == "qid" and list(frame.columns[1:]) == pool.feature_names


def test_a_ranker_learns_from_a_pool(collection):
    _, documents, topics, judgments, _ = collection
    pool = make_pool(documents, topics, judgments)
    known = pool.take(pool.y >= 0)
    scores = RuleRanker().fit(known.X, known.y, known.qid).predict(pool.X, pool.qid)
    assert len(scores) == len(pool.y) and np.isfinite(scores).all()


@pytest.mark.parametrize("error, said, arguments, named", [
    (rulerank.UsageError, "documents: found 3 of 'd1', expected a text", ({"d1": 3}, TOPICS), {}),
    (rulerank.UsageError, "found no documents, expected one or more", ({}, TOPICS), {}),
    (rulerank.UsageError, "documents: found the id 'd 1', expected one without blanks", ({"d 1": "cats"}, TOPICS), {}),
    (rulerank.UsageError, "found no topics, expected one or more", (DOCUMENTS, {}), {}),
    (rulerank.UsageError, "topic 1: found the id 't#', expected an id without blanks and #", (DOCUMENTS, {"t#": "cats"}), {}),
    (rulerank.UsageError, "vectors: found None, expected a value, because topic_vectors needs it", (DOCUMENTS, TOPICS), {"topic_vectors": [[1.0]]}),
    (rulerank.UsageError, "topic_vectors: found None, expected a value, because vectors needs it", (DOCUMENTS, TOPICS), {"vectors": [[1.0]]}),
    (rulerank.UsageError, r"vectors: found the shape \(3,\)", (DOCUMENTS, TOPICS), {"vectors": [1.0] * 3, "topic_vectors": [1.0]}),
    (rulerank.UsageError, "candidates_from: found 'dense' without vectors", (DOCUMENTS, TOPICS), {"candidates_from": "dense"}),
    (rulerank.UsageError, "candidates: found 0, expected 1 or more", (DOCUMENTS, TOPICS), {"candidates": 0}),
    (rulerank.UsageError, "unjudged: found 1, expected -1 or 0", (DOCUMENTS, TOPICS), {"unjudged": 1}),
    (rulerank.UsageError, "run: found int, expected {qid: {docno: score}}", (DOCUMENTS, TOPICS), {"run": 3}),
    (rulerank.UsageError, "LMIR.DIR's mu: found 0", (DOCUMENTS, TOPICS), {"mu": 0.0}),
    (rulerank.UsageError, "candidates: found 'x', expected a whole number from 0", (DOCUMENTS, TOPICS), {"candidates": "x"}),
    (rulerank.DataError, "found no topic that shares a term with a document of documents", (DOCUMENTS, {"t1": "zebra"}), {}),
    (rulerank.DataError, "found no judgment of a topic of topics", (DOCUMENTS, TOPICS, {"t9": {"d1": 1}}), {}),
    (rulerank.DataError, "found document 'd9' of query t1, which is not in documents", (DOCUMENTS, TOPICS),
     {"run": {"t1": {"d9": 1.0}}}),
    (rulerank.DataError, "found 1 vector, expected one for each of 2 topics", (DOCUMENTS, TOPICS),
     {"vectors": [[1.0]] * 3, "topic_vectors": [[1.0]]}),
    (rulerank.DataError, "found 2 vectors, expected one for each of 3 documents of documents", (DOCUMENTS, TOPICS),
     {"vectors": [[1.0]] * 2, "topic_vectors": [[1.0]] * 2}),
])
def test_errors(error, said, arguments, named):
    with pytest.raises(error, match=said):
        make_pool(*arguments, **named)

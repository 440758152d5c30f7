import hashlib
import json
import os
import pickle
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from ranker_test import BFLOAT, OfType, OnlyDlpack
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

import rulerank
from rulerank import DenseNeighbors, MetricNeighbors, TextNeighbors

TEXTS = ["Cats chase mice", "Dogs chase cats", "Mice eat cheese", "The stock market fell", "Markets rise and fall",
         "Cheese and wine"]
QUERIES = ["a cat chasing a mouse and mice", "falling markets", "zebra"]


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(10)
    return rng.normal(size=(200, 7)).astype(np.float32), rng.normal(size=(9, 7)).astype(np.float32)


def lines_of(path):
    return [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("query")]


def expect_lines(lines, values, rows):
    """The program's lines of query, rank, id and value."""
    found = [(q, r + 1, rows[q][r], values[q][r]) for q in range(len(rows)) for r in range(len(rows[q]))
             if rows[q][r] >= 0]
    assert [(int(q), int(r), int(i)) for q, r, i, _ in lines] == [(q, r, i) for q, r, i, _ in found]
    assert [float(v) for *_, v in lines] == [v for *_, v in found]


@pytest.mark.parametrize("metric", ["l2", "ip", "cosine"])
def test_dense_is_the_programs(program, tmp_path, vectors, metric):
    rows, queries = vectors
    np.save(tmp_path / "r.npy", rows)
    np.save(tmp_path / "q.npy", queries)
    program("search", "dense", "--collection", tmp_path / "r.npy", "--queries", tmp_path / "q.npy", "--metric",
            metric, "--k", 6, "--out", tmp_path / "out", "--index", tmp_path / "index")
    search = DenseNeighbors(6, metric=metric).fit(rows)
    expect_lines(lines_of(tmp_path / "out"), *search.kneighbors(queries))
    loaded = DenseNeighbors.load(tmp_path / "index", n_neighbors=6)
    assert loaded.metric == metric
    search.save(tmp_path / "own")
    assert (tmp_path / "own").read_bytes() == (tmp_path / "index").read_bytes()
    assert (loaded.kneighbors(queries, return_distance=False) ==
            search.kneighbors(queries, return_distance=False)).all()
    radius = 2.5 if metric == "l2" else 0.4
    program("search", "dense", "--collection", tmp_path / "r.npy", "--queries", tmp_path / "q.npy", "--metric",
            metric, "--radius", radius, "--out", tmp_path / "out")
    expect_lines(lines_of(tmp_path / "out"), *search.radius_neighbors(queries, radius))


def test_dense_against_scikit_learn(vectors):
    rows, queries = vectors
    expected = NearestNeighbors(n_neighbors=4, algorithm="brute").fit(rows.astype(float))
    values, found = DenseNeighbors(4).fit(rows).kneighbors(queries)
    distances, indices = expected.kneighbors(queries.astype(float))
    assert (found == indices).all() and np.allclose(values, distances)


def test_types_of_values_and_filters(vectors):
    rows, queries = vectors
    expected = DenseNeighbors(3).fit(rows).kneighbors(queries)
    for one in (rows.astype(float), np.asfortranarray(rows), OnlyDlpack(rows), rows.tolist()):
        found = DenseNeighbors(3).fit(one).kneighbors(queries)
        assert (found[0] == expected[0]).all() and (found[1] == expected[1]).all()
    whole = (rows * 40).clip(-128, 127).astype(np.int8)
    for type_ in (np.int8, np.int32, np.int64, np.float16):
        found = DenseNeighbors(3).fit(whole.astype(type_)).kneighbors(whole[:5].astype(np.float32))
        assert found[1][:, 0].tolist() == [0, 1, 2, 3, 4] and (found[0][:, 0] == 0).all()
    even = np.arange(200) % 2 == 0
    filtered = DenseNeighbors(3).fit(rows).kneighbors(queries, filter=even)[1]
    assert (filtered % 2 == 0).all()
    assert (filtered // 2 == DenseNeighbors(3).fit(rows[::2]).kneighbors(queries)[1]).all()
    assert (DenseNeighbors(3).fit(rows).kneighbors(queries, filter=OnlyDlpack(even))[1] == filtered).all()
    with pytest.raises(rulerank.UsageError, match="filter: found an array on device 0 of DLPack's kind 2"):
        DenseNeighbors(3).fit(rows).kneighbors(queries, filter=OfType(even, device=(2, 0)))
    few = DenseNeighbors(3).fit(rows).kneighbors(queries, filter=np.arange(200) == 7)
    assert (few[1] == [7, -1, -1]).all() and np.isnan(few[0][:, 1:]).all()


def test_filters_and_radii_of_other_searches(vectors):
    rows, queries = vectors
    odd = np.arange(200) % 2 == 1
    search = MetricNeighbors(4, metric="l1").fit(rows)
    of_odd = MetricNeighbors(4, metric="l1").fit(rows[odd]).kneighbors(queries)
    filtered = search.kneighbors(queries, filter=odd)
    assert (filtered[0] == of_odd[0]).all() and (filtered[1] == 2 * of_odd[1] + 1).all()
    for near, all_near in zip(search.radius_neighbors(queries, 3.0, False, filter=odd), search.radius_neighbors(queries, 3.0, False)):
        assert near.tolist() == [row for row in all_near if row % 2 == 1]

    texts = TextNeighbors().fit(TEXTS)
    values, found = texts.kneighbors(QUERIES, len(TEXTS))
    first = np.arange(len(TEXTS)) < 3
    near = texts.radius_neighbors(QUERIES, 0.2)
    near_first = texts.radius_neighbors(QUERIES, 0.2, filter=first)
    assert sum(map(len, near[1])) > sum(map(len, near_first[1])) > 0
    for q in range(len(QUERIES)):
        expected = [(value, row) for value, row in zip(values[q], found[q]) if row >= 0 and value >= 0.2]
        assert list(zip(near[0][q], near[1][q])) == expected
        assert list(zip(near_first[0][q], near_first[1][q])) == [pair for pair in expected if pair[1] < 3]
        of_first = [row for row in found[q] if 0 <= row < 3]
        assert texts.kneighbors(QUERIES, 3, False, filter=first)[q].tolist() == of_first + [-1] * (3 - len(of_first))


def test_bfloat16_of_another_library(vectors):
    rows, queries = vectors
    half = (rows.view(np.uint32) >> 16).astype(np.uint16)
    wide = (half.astype(np.uint32) << 16).view(np.float32)
    found = DenseNeighbors(3).fit(OfType(half, BFLOAT)).kneighbors(queries)
    expected = DenseNeighbors(3).fit(wide).kneighbors(queries)
    assert (found[0] == expected[0]).all() and (found[1] == expected[1]).all()


def test_rows_are_not_copied():
    rows = np.zeros((4, 2), np.float32)
    search = DenseNeighbors(1).fit(rows)
    rows[3] = 9
    assert search.kneighbors([[9.0, 9.0]])[0][0, 0] == 0
    del rows
    assert search.kneighbors([[9.0, 9.0]])[1][0, 0] == 3


@pytest.mark.parametrize("metric", ["l1", "l2", "linf", "angular"])
def test_metric_is_the_programs(program, tmp_path, vectors, metric):
    rows, queries = vectors
    np.save(tmp_path / "r.npy", rows)
    np.save(tmp_path / "q.npy", queries)
    search = ["search", "metric", "--collection", tmp_path / "r.npy", "--queries", tmp_path / "q.npy", "--metric",
              metric, "--out", tmp_path / "out"]
    program(*search, "--k", 6)
    values, found = MetricNeighbors(6, metric=metric).fit(rows).kneighbors(queries)
    expect_lines(lines_of(tmp_path / "out"), values, found)
    for index in ("brute", "lc", "sss", "sss-tree", "egnat", "m-tree", "mvpt"):
        other = MetricNeighbors(6, metric=metric, index=index).fit(rows).kneighbors(queries)
        assert (other[0] == values).all() and (other[1] == found).all()
    radius = float(np.median(values))
    program(*search, "--radius", repr(radius))
    expect_lines(lines_of(tmp_path / "out"), *MetricNeighbors(metric=metric).fit(rows).radius_neighbors(queries, radius))


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def test_words_and_callables(program, tmp_path):
    rng = np.random.default_rng(11)
    words = ["".join(rng.choice(list("abcé"), rng.integers(0, 7))) for _ in range(60)]
    (tmp_path / "w").write_text("\n".join(words) + "\n")
    (tmp_path / "q").write_text("abc\ncaé\n")
    program("search", "metric", "--collection", tmp_path / "w", "--queries", tmp_path / "q", "--metric", "edit",
            "--k", 5, "--out", tmp_path / "out", "--index", tmp_path / "index")
    search = MetricNeighbors(5, metric="edit").fit(words)
    values, found = search.kneighbors(["abc", "caé"])
    expect_lines(lines_of(tmp_path / "out"), values, found)
    own = MetricNeighbors(5, metric=levenshtein, index="mvpt").fit(words).kneighbors(["abc", "caé"])
    assert (own[0] == values).all() and (own[1] == found).all()
    assert (MetricNeighbors.load(tmp_path / "index").kneighbors(["abc", "caé"])[1] == found).all()
    search.save(tmp_path / "own")
    assert (MetricNeighbors.load(tmp_path / "own").kneighbors(["abc", "caé"])[1] == found).all()


def expect_as_fitted(estimator, tmp_path, X, queries, of_file, search=None):
    """A loaded estimator has the parameters `of_file`, from the file, and equals the original, also after
    another fit."""
    search = estimator.fit(X) if search is None else search
    search.save(tmp_path / "own")
    loaded = type(estimator).load(tmp_path / "own", n_neighbors=3)
    expected = type(estimator)(n_neighbors=3, **of_file)
    assert loaded.get_params() == expected.get_params()
    assert repr(loaded) == repr(expected)
    assert hasattr(loaded, "n_features_in_") == hasattr(search, "n_features_in_")
    assert getattr(loaded, "n_features_in_", None) == getattr(search, "n_features_in_", None)
    for one in (loaded, clone(loaded).fit(X), pickle.loads(pickle.dumps(loaded))):
        assert np.array_equal(one.kneighbors(queries), search.kneighbors(queries, 3), equal_nan=True)
        one.save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "own").read_bytes()
    assert type(estimator).load(tmp_path / "own", n_jobs=1).get_params() == expected.get_params() | {"n_jobs": 1, "n_neighbors": 5}


@pytest.mark.parametrize("how", [{}, {"metric": "ip"}, {"metric": "cosine"}])
def test_a_loaded_dense_index_knows_what_its_file_says(tmp_path, vectors, how):
    expect_as_fitted(DenseNeighbors(**how), tmp_path, *vectors, how)
    with pytest.raises(ValueError, match="X has 6 features, but DenseNeighbors is expecting 7"):
        DenseNeighbors.load(tmp_path / "own").kneighbors(vectors[1][:, :6])


@pytest.mark.parametrize("metric", ["l1", "l2", "linf", "angular"])
@pytest.mark.parametrize("index", [{"index": "brute"}, {"index": "lc", "bucket": 9}, {"index": "sss", "alpha": 0.3},
                                   {"index": "sss-tree", "bucket": 7, "alpha": 0.25}, {"index": "egnat"},
                                   {"index": "m-tree", "bucket": 12}, {"index": "mvpt", "bucket": 5}])
def test_a_loaded_metric_index_of_vectors_knows_what_its_file_says(tmp_path, vectors, metric, index):
    expect_as_fitted(MetricNeighbors(metric=metric, **index), tmp_path, *vectors, {"metric": metric} | index)
    with pytest.raises(ValueError, match="X has 6 features, but MetricNeighbors is expecting 7"):
        MetricNeighbors.load(tmp_path / "own").kneighbors(vectors[1][:, :6])


@pytest.mark.parametrize("letters", ["code-points", "bytes"])
def test_a_loaded_metric_index_of_words_knows_what_its_file_says(tmp_path, letters):
    words = ["año", "ano", "anno", "a", "", "niño", "nino"]
    how = {"metric": "edit", "letters": letters}
    expect_as_fitted(MetricNeighbors(index="lc", bucket=2, **how), tmp_path, words, ["ana", "ñ"], how | {"index": "lc", "bucket": 2})
    assert MetricNeighbors(1, **how).fit(["ano"]).kneighbors(["año"])[0][0, 0] == (1 if letters == "code-points" else 2)


def test_the_type_that_auto_stood_for_is_the_files(tmp_path, vectors):
    MetricNeighbors().fit(vectors[0]).save(tmp_path / "own")
    assert MetricNeighbors.load(tmp_path / "own").index in ("brute", "lc")


@pytest.mark.parametrize("how", [
    {}, {"weighting": "bm25", "k1": 0.9, "b": 0.4}, {"weighting": "btn.ntn", "stemmer": "porter", "fold": False},
    {"weighting": "ltc.nnc", "stop_words": "none", "numbers": False, "min_documents": 2, "max_share": 0.5},
    {"min_length": 4, "max_length": 6, "stemmer": "none", "stop_words": "words:the and"}])
def test_a_loaded_text_index_knows_what_its_file_says(tmp_path, how):
    expect_as_fitted(TextNeighbors(**how), tmp_path, TEXTS, QUERIES, how)


def test_a_loaded_text_index_has_the_words_of_its_stop_list(tmp_path):
    (tmp_path / "stop").write_text("the\nand\n")
    search = TextNeighbors(stop_words=f"file:{tmp_path}/stop").fit(TEXTS)
    (tmp_path / "stop").unlink()
    expect_as_fitted(TextNeighbors(), tmp_path, TEXTS, QUERIES, {"stop_words": "words:the and"}, search)


def test_bfloat16_has_its_columns_counted(vectors):
    half = (vectors[0].view(np.uint32) >> 16).astype(np.uint16)
    assert DenseNeighbors().fit(OfType(half, BFLOAT)).n_features_in_ == 7


def test_callables_that_fail():
    def fail(a, b):
        raise ZeroDivisionError("of the distance")

    with pytest.raises(ZeroDivisionError, match="of the distance"):
        MetricNeighbors(1, metric=fail, index="brute").fit([1, 2, 3]).kneighbors([1])


@pytest.mark.parametrize("answer", ["near", None, float("nan"), -1])
def test_callables_that_return_no_distance(answer):
    for index in ("brute", "lc"):
        with pytest.raises(rulerank.UsageError, match=f"metric: found the distance '?{answer}'?, expected a number"):
            MetricNeighbors(1, metric=lambda a, b: answer, index=index).fit([1, 2, 3, 4]).kneighbors([1])


@pytest.mark.parametrize("distance, message", [
    (lambda a, b: (a - b) ** 2, r"the distance from object \d+ to \d+ is .*, which exceeds the sum"),
    (lambda a, b: max(0.0, a - b), "in the opposite direction"),
    (lambda a, b: 1 + abs(a - b), "to itself"),
])
def test_callables_that_are_no_metric(distance, message):
    objects = [0.0, 1.0, 2.0, 5.0]
    with pytest.raises(rulerank.UsageError, match=f"metric: found distances that are not a metric: .*{message}"):
        MetricNeighbors(1, metric=distance, check_metric=1000).fit(objects)
    MetricNeighbors(1, metric=distance).fit(objects)  # not asked


def test_metrics_pass_the_check(vectors):
    MetricNeighbors(1, metric=lambda a, b: abs(a - b), check_metric=1000).fit([0.0, 1.0, 2.0, 5.0])
    MetricNeighbors(1, metric="edit", check_metric=1000).fit(["a", "ab", "ba"])
    for metric in ("l1", "l2", "linf", "angular"):
        MetricNeighbors(1, metric=metric, check_metric=1000).fit(vectors[0])


@pytest.mark.parametrize("how", [{}, {"weighting": "bm25"}, {"weighting": "ltc.lnc", "stemmer": "porter"},
                                 {"stop_words": "none", "min_documents": 2}])
def test_text_is_the_programs(program, tmp_path, how):
    for name, texts in (("d", TEXTS), ("q", QUERIES)):
        (tmp_path / f"{name}.tsv").write_text("".join(f"{i}\t{text}\n" for i, text in enumerate(texts)))
    options = [word for name, value in how.items() if value != "bm25"
               for word in (f"--{name.replace('_', '-')}", value)]
    options += ["--weights", "bm25"] if how.get("weighting") == "bm25" else []
    program("search", "text", "--collection", tmp_path / "d.tsv", "--queries", tmp_path / "q.tsv", "--k", 4, "--out",
            tmp_path / "out", "--index", tmp_path / "index", *options)
    search = TextNeighbors(4, **how).fit(TEXTS)
    values, rows = search.kneighbors(QUERIES)
    expect_lines(lines_of(tmp_path / "out"), values, rows)
    assert (rows[2] == -1).all() and np.isnan(values[2]).all()
    search.save(tmp_path / "own")
    assert (tmp_path / "own").read_bytes() == (tmp_path / "index").read_bytes()
    loaded = TextNeighbors.load(tmp_path / "index", n_neighbors=4)
    assert np.array_equal(loaded.kneighbors(QUERIES)[0], values, equal_nan=True)
    assert loaded.ids_.tolist() == [str(i) for i in range(6)]
    assert (search.kneighbors(QUERIES, pad=True, return_distance=False) >= 0).all()


def test_text_of_any_bytes():
    """Tabs, line ends and quotes are ordinary text."""
    found = TextNeighbors(1).fit(['red\tgreen', 'blue\n"violet"', "black"], ids=["a", "b", "c"])
    assert found.kneighbors(["green", "violet", "black"])[1].ravel().tolist() == [0, 1, 2]
    assert found.ids_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("call, message", [
    (lambda: DenseNeighbors(metric="l1").fit(np.zeros((2, 2))), "l1"),
    (lambda: DenseNeighbors().fit(np.zeros(3)), "2D array"),
    (lambda: DenseNeighbors(0).fit(np.zeros((2, 2))).kneighbors(np.zeros((1, 2))), "n_neighbors"),
    (lambda: DenseNeighbors().fit(np.zeros((2, 2))).kneighbors(np.zeros((1, 3))), "features"),
    (lambda: DenseNeighbors().fit(np.zeros((2, 2))).kneighbors(np.zeros((1, 2)), filter=[True]), "filter"),
    (lambda: DenseNeighbors().fit(np.zeros((2, 2))).radius_neighbors(np.zeros((1, 2)), -1), "radius"),
    (lambda: MetricNeighbors(metric="cosine").fit(np.zeros((2, 2))), "cosine"),
    (lambda: MetricNeighbors(metric="edit").fit([1]), "expected a word"),
    (lambda: MetricNeighbors(metric="edit").fit("word"), "list of words"),
    (lambda: MetricNeighbors(index="tree").fit(np.zeros((2, 2))), "tree"),
    (lambda: TextNeighbors().fit([]), "no documents"),
    (lambda: TextNeighbors().fit(["a", "b"], ids=["x", "x"]), "id of another"),
    (lambda: TextNeighbors().fit(["a"], ids=["x", "y"]), "ids"),
    (lambda: TextNeighbors().fit("a"), "list of texts"),
    (lambda: TextNeighbors().fit(pd.DataFrame({"text": TEXTS})), "found a DataFrame, expected a list of texts, such as one column"),
    (lambda: TextNeighbors().fit({"text": TEXTS}), "found a dict, expected a list of texts"),
    (lambda: TextNeighbors().fit(TEXTS).kneighbors(pd.DataFrame({"text": TEXTS})), "found a DataFrame, expected a list of texts"),
    (lambda: MetricNeighbors(metric="edit").fit(pd.DataFrame({"word": ["a"]})), "found a DataFrame, expected a list of words"),
    (lambda: MetricNeighbors(metric=levenshtein).fit(pd.DataFrame({"word": ["a"]})), "found a DataFrame, expected a list of objects"),
    (lambda: MetricNeighbors(metric=levenshtein).fit(["a"]).kneighbors(pd.DataFrame({"word": ["a"]})), "expected a list of objects"),
    (lambda: TextNeighbors().fit(["a", "b \ud800"]), r"^X:2: found 'b \\ud800', expected characters of Unicode: '\\ud800' is half of one"),
    (lambda: TextNeighbors().fit(["a"]).kneighbors(["b", "\udfff"]), "^X:2: found"),
    (lambda: TextNeighbors().fit(["a", "b"], ids=["x", "\ud800"]), "^ids:2: found"),
    (lambda: MetricNeighbors(metric="edit").fit(["a", "\ud800"]), "^X:2: found"),
    (lambda: TextNeighbors(stemmer="klingon").fit(["a"]), "klingon"),
    (lambda: TextNeighbors(weighting="xxx.xxx").fit(["a"]), "xxx"),
])
def test_mistakes(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_pickles_hold_the_bytes_of_index_files(tmp_path, vectors):
    rows, queries = vectors
    for search, queries in ((DenseNeighbors(3, metric="cosine").fit(rows), queries),
                            (MetricNeighbors(3, index="mvpt").fit(rows), queries),
                            (TextNeighbors(3, weighting="bm25", n_jobs=1).fit(TEXTS), QUERIES)):
        search.save(tmp_path / "index")
        pickled = pickle.dumps(search)
        assert (tmp_path / "index").read_bytes() in pickled
        again = pickle.loads(pickled)
        assert np.array_equal(again.kneighbors(queries), search.kneighbors(queries), equal_nan=True)
        assert again.get_params() == search.get_params()
        at = pickled.index((tmp_path / "index").read_bytes()) + (tmp_path / "index").stat().st_size // 2
        with pytest.raises(rulerank.DataError):
            pickle.loads(pickled[:at] + bytes([pickled[at] ^ 1]) + pickled[at + 1:])
    with pytest.raises(rulerank.UsageError):
        pickle.dumps(MetricNeighbors(metric=levenshtein).fit(["a", "b"]))


def test_texts_and_words_of_a_column():
    frame = pd.DataFrame({"text": TEXTS})
    assert np.array_equal(TextNeighbors(2).fit(frame["text"]).kneighbors(frame["text"]), TextNeighbors(2).fit(TEXTS).kneighbors(TEXTS),
                          equal_nan=True)
    emoji = ["\U0001f600", "a"]  # a surrogate pair in UTF-16, one character
    assert MetricNeighbors(1, metric="edit").fit(pd.Series(emoji)).kneighbors(emoji)[1].tolist() == [[0], [1]]


def test_numbers_that_are_not_finite():
    with pytest.raises(rulerank.DataError, match="(?i)nan|inf"):
        DenseNeighbors().fit(np.array([[1, np.nan]]))


def write_parts(path, kind, parts):
    """The list of the parts of an index, as MPI ranks write it into the folder of the parts: [(estimator, items)]."""
    listed, first = [], 0
    for number, (search, items) in enumerate(parts):
        part = path.with_name(f"{path.name}.part{number}")
        search.save(part)
        listed.append({"file": part.name, "first": first, "items": items,
                       "sha256_of_first_64_bytes": hashlib.sha256(part.read_bytes()[:64]).hexdigest()})
        first += items
    described = {"format": "rulerank index in parts", "version": 1, "kind": kind, "items": first, "parts": listed}
    described["sha256"] = hashlib.sha256(json.dumps(described, separators=(",", ":")).encode()).hexdigest()
    path.write_text(json.dumps(described, separators=(",", ":")) + "\n")


def test_dense_parts_are_one_collection(tmp_path, vectors):
    rows, queries = vectors
    whole = DenseNeighbors(6, metric="cosine").fit(rows)
    write_parts(tmp_path / "index", "dense", [(DenseNeighbors(metric="cosine").fit(some), len(some)) for some in (rows[:70], rows[70:])])
    parts = DenseNeighbors.load(tmp_path / "index", n_neighbors=6)
    assert parts.metric == "cosine" and parts.n_features_in_ == 7
    even = np.arange(200) % 2 == 0
    for options in ({}, {"n_neighbors": 200}, {"filter": even}):
        for found, expected in zip(parts.kneighbors(queries, **options), whole.kneighbors(queries, **options)):
            assert (found == expected).all()
    for found, expected in zip(parts.radius_neighbors(queries, 0.3), whole.radius_neighbors(queries, 0.3)):
        assert all(map(np.array_equal, found, expected))
    for refused in (lambda: parts.save(tmp_path / "copy"), lambda: pickle.dumps(parts)):
        with pytest.raises(rulerank.UsageError, match="an index in parts cannot be saved or pickled"):
            refused()
    (tmp_path / "index.part1").unlink()
    with pytest.raises(rulerank.DataError, match="index.part1"):
        DenseNeighbors.load(tmp_path / "index")


def test_metric_parts_are_one_collection(tmp_path, vectors):
    rows, queries = vectors
    words = ["ranking", "banking", "linking", "cat", "cart", "dog", "frog"]
    for made, collection, asked in ((MetricNeighbors(3, metric="l1", index="lc"), rows, queries),
                                    (MetricNeighbors(3, metric="edit"), words, ["bark", "barking", "fog"])):
        whole = clone(made).fit(collection)
        middle = len(collection) // 3
        write_parts(tmp_path / "index", "metric",
                    [(clone(made).fit(some), len(some)) for some in (collection[:middle], collection[middle:])])
        parts = MetricNeighbors.load(tmp_path / "index", n_neighbors=3)
        assert parts.metric == made.metric
        for found, expected in zip(parts.kneighbors(asked), whole.kneighbors(asked)):
            assert (found == expected).all()
        for found, expected in zip(parts.radius_neighbors(asked, 3), whole.radius_neighbors(asked, 3)):
            assert all(map(np.array_equal, found, expected))
    with pytest.raises(rulerank.DataError, match="metric"):
        DenseNeighbors.load(tmp_path / "index")


def test_one_text_index_serves_any_k():
    search = TextNeighbors(2).fit(TEXTS)
    for k in (1, 5, 2, len(TEXTS), 1):
        for pad in (False, True):
            expected = TextNeighbors(k).fit(TEXTS).kneighbors(QUERIES, pad=pad)
            for found, one in zip(search.kneighbors(QUERIES, k, pad=pad), expected):
                assert np.array_equal(found, one, equal_nan=True)


def test_text_parts_are_one_collection(program, tmp_path):
    (tmp_path / "docs.tsv").write_text("".join(f"d{row}\t{text}\n" for row, text in enumerate(TEXTS)))
    mpirun, path = shutil.which("mpirun"), os.environ.get("RULERANK_PROGRAM") or shutil.which("rulerank")
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    made = mpirun and subprocess.run(
        [mpirun, "--oversubscribe", "-n", "2", path, "search", "text", "--collection", tmp_path / "docs.tsv", "--index",
         tmp_path / "index", "--weights", "bm25"], env={**os.environ, **root}, capture_output=True, text=True)
    if not made or not (tmp_path / "index.part1").exists():
        pytest.skip("needs the program with MPI")
    whole = TextNeighbors(4, weighting="bm25").fit(TEXTS, ids=[f"d{row}" for row in range(len(TEXTS))])
    parts = TextNeighbors.load(tmp_path / "index", n_neighbors=4)
    assert parts.weighting == "bm25" and parts.ids_.tolist() == whole.ids_.tolist()
    for pad in (False, True):
        for found, expected in zip(parts.kneighbors(QUERIES, pad=pad), whole.kneighbors(QUERIES, pad=pad)):
            assert np.array_equal(found, expected, equal_nan=True)
    with pytest.raises(rulerank.UsageError, match="an index in parts"):
        parts.save(tmp_path / "copy")

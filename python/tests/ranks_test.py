"""Work distributed over ranks: threads here, and mpi4py's ranks if it is installed."""

import importlib.util
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

import rulerank
from rulerank import DenseNeighbors, MetricNeighbors, RuleRanker, SelectiveSampler, TextNeighbors, over_ranks


class ThreadRanks:
    """One of several ranks, each in its own thread."""

    def __init__(self, rank, size, barrier, told):
        self.rank, self.size, self.calls = rank, size, 0
        self._barrier, self._told = barrier, told

    def allgather(self, value):
        self.calls += 1
        self._told[self.rank] = value
        self._barrier.wait()
        all_told = list(self._told)
        self._barrier.wait()
        return all_told


def on_ranks(size, work):
    """The result of `work()` on each rank, and how often each rank exchanged values."""
    barrier, told = threading.Barrier(size), [None] * size
    ranks = [ThreadRanks(rank, size, barrier, told) for rank in range(size)]
    results, errors = [None] * size, []

    def run(rank):
        try:
            with over_ranks(ranks[rank]):
                results[rank] = work()
        except BaseException as error:
            errors.append(error)
            barrier.abort()

    threads = [threading.Thread(target=run, args=[rank]) for rank in range(size)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    if errors:
        raise next((e for e in errors if not isinstance(e, threading.BrokenBarrierError)), errors[0])
    return results, [one.calls for one in ranks]


def expect_same(work, sizes=(2, 3)):
    """All ranks get the arrays of a single rank, and split the work."""
    alone = work()
    for size in sizes:
        results, calls = on_ranks(size, work)
        assert min(calls) > 0 and len(set(calls)) == 1
        for found in results:
            for one, expected in zip(found, alone, strict=True):
                np.testing.assert_array_equal(one, expected)


@pytest.fixture(scope="module")
def train():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 240)
    X = rng.normal(size=(240, 8)) + y[:, None] * rng.normal(size=8)
    return X, y, np.repeat(np.arange(24), 10)


def test_choices(train):
    def choices():
        sampler = SelectiveSampler(rule_size=3, partitions=3).fit(*train)
        return [sampler.sample_indices_, sampler.choices_["rules"]]
    expect_same(choices)


def test_scores(train):
    X, y, qid = train
    ranker = RuleRanker("rules").fit(X, y, qid)
    expect_same(lambda: [ranker.predict(X, qid)])


def test_itemsets():
    rows = [[1, 2, 3], [1, 2], [2, 3], [1, 3], [1, 2, 3, 4], [4, 5]] * 5
    expect_same(lambda: [[str(one) for one in rulerank.mine_itemsets(rows, min_support=2)]])


def test_searches_of_vectors():
    rng = np.random.default_rng(5)
    rows, queries = rng.normal(size=(90, 4)).astype(np.float32), rng.normal(size=(7, 4)).astype(np.float32)
    dense, metric = DenseNeighbors(4).fit(rows), MetricNeighbors(4).fit(rows)
    allowed = np.arange(90) % 3 > 0
    expect_same(lambda: dense.kneighbors(queries, filter=allowed))
    expect_same(lambda: metric.kneighbors(queries))
    for index in (dense, metric):
        expect_same(lambda index=index: [np.concatenate(some) for some in index.radius_neighbors(queries, 1.5)])
        expect_same(lambda index=index: [[len(some) for some in index.radius_neighbors(queries, 1.5, False)]])


def test_searches_under_a_callable():
    index = MetricNeighbors(2, metric=lambda a, b: abs(a - b)).fit([4, 1, 9, 1, 6])
    expect_same(lambda: index.kneighbors([2, 8, 5]))
    expect_same(lambda: [np.concatenate(some) for some in index.radius_neighbors([2, 8, 5], 3)])


def test_searches_of_text():
    texts = [f"word{i % 7} word{i % 5} other{i % 3}" for i in range(40)]
    index = TextNeighbors(3).fit(texts)
    expect_same(lambda: index.kneighbors(texts[:11]))


def test_a_pool():
    documents = {f"d{i}": f"word{i % 7} word{i % 5} other{i % 3}" for i in range(40)}
    topics = {f"t{i}": f"word{i} other{i % 3}" for i in range(7)}

    def pool():
        made = rulerank.make_pool(documents, topics, {"t1": {"d1": 1}}, candidates=6)
        return [made.X, made.y, made.qid]
    expect_same(pool)


def test_fewer_queries_than_ranks():
    index = DenseNeighbors(1).fit([[0.0], [1.0]])
    results, _ = on_ranks(3, lambda: index.kneighbors([[0.9]], return_distance=False).tolist())
    assert results == [[[1]]] * 3


def test_one_rank_does_all():
    class Alone:
        rank, size = 0, 1

        def allgather(self, value):
            raise AssertionError("one rank exchanges nothing")

    with over_ranks(Alone()):
        assert DenseNeighbors(1).fit([[0.0], [1.0]]).kneighbors([[0.9]], return_distance=False).tolist() == [[1]]


def test_what_a_rank_raises(train):
    class Broken:
        rank, size = 0, 2

        def allgather(self, value):
            raise RuntimeError("the other rank is gone")

    X, y, qid = train
    ranker = RuleRanker("rules").fit(X, y, qid)
    with over_ranks(Broken()), pytest.raises(RuntimeError, match="the other rank is gone"):
        ranker.predict(X, qid)
    ranker.predict(X, qid)  # afterwards a single process again


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_all_ranks_raise_what_one_raises(failing):
    barrier, told, errors = threading.Barrier(3, timeout=60), [None] * 3, [None] * 3

    def search(rank):
        def distance(a, b):
            if rank == failing and searches:
                raise ValueError("no distance")
            return abs(a - b)

        searches = False
        index = MetricNeighbors(1, metric=distance).fit(list(range(20)))
        searches = True
        try:
            with over_ranks(ThreadRanks(rank, 3, barrier, told)):
                index.kneighbors(list(range(30)))
        except Exception as error:
            errors[rank] = error

    threads = [threading.Thread(target=search, args=[rank]) for rank in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    for rank, error in enumerate(errors):
        assert type(error) is (ValueError if rank == failing else RuntimeError)
        assert str(error).startswith("no distance" if rank == failing else f"rank {failing}: ValueError: no distance")


@pytest.mark.parametrize(("ranks", "message"), [
    (None, "ranks: found NoneType, expected an object with rank, size and allgather"),
    ("world", "ranks: found str, expected an object with rank, size and allgather"),
    (ThreadRanks(2, 2, None, None), "ranks: found rank 2 of 2, expected one from 0 to 1")])
def test_bad_ranks(ranks, message):
    with pytest.raises(rulerank.UsageError, match=message), over_ranks(ranks):
        pass


@pytest.mark.skipif(not (importlib.util.find_spec("mpi4py") and shutil.which("mpirun")), reason="needs mpi4py and mpirun")
def test_mpi4py(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import numpy as np\nfrom mpi4py import MPI\nfrom rulerank import DenseNeighbors, over_ranks\n"
                      "rows = np.arange(20.0).reshape(10, 2)\n"
                      "with over_ranks(MPI.COMM_WORLD):\n"
                      "    print(DenseNeighbors(1).fit(rows).kneighbors(rows, return_distance=False).ravel().tolist())\n")
    done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", sys.executable, "-m", "mpi4py", script],
                          capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [str(list(range(10)))] * 2

#!/usr/bin/env python3
"""Compares exact search in text collections with common Python tools on one machine: equal matrices, equal neighbours.

  text_peer.py PROGRAM DATA_FOLDER [--collections 20news,r8,cranfield] [--drawn N] [--k 30]
               [--rounds 3] [--threads 1,all] [--engines tiles,mt]

DATA_FOLDER as for text_classes.py, and cranfield/cran.{all.1400,qry}. scikit-learn's CountVectorizer counts words,
tf-idf (tf ln(N / df)) weights them, and rulerank gets documents and queries in SVMlight's format; --drawn adds N
documents of random words by Zipf's law, about 75 each, and 500 queries. Neighbours are by cosine. Peers:

  scipy            rows times the transposed matrix, 256 queries at a time, then argpartition
  scikit-learn     NearestNeighbors(metric="cosine", algorithm="brute")
  sparse_dot_topn  sp_matmul_topn, where it is installed

Each runs several times, alternately with rulerank; the best of each counts. A peer has its matrices in memory,
transposed and normalized, before its time begins. rulerank's time is its stage `nearest`: from the queries' weights
to the neighbours, with the index prepared; `whole_seconds` is its stage `search`, which also reads the file of
queries and writes the neighbours. A time is printed only if all scores agree within 1e-9 and all neighbours with
distinct scores are the same. JSON lines. Needs scikit-learn, and sparse_dot_topn for that peer.
"""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402
import needs  # noqa: E402
import text_classes  # noqa: E402
from text_weights import rows_of  # noqa: E402

numpy, scipy, sklearn, threadpoolctl = needs.packages("numpy", "scipy", "sklearn", "threadpoolctl")

from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize
import scipy.sparse

try:
    import sparse_dot_topn
except ImportError:
    sparse_dot_topn = None

NEAR = 1e-9


def of_words(documents, queries):
    words = CountVectorizer(stop_words="english")
    return words.fit_transform(documents), words.transform(queries)


def classes(name, data):
    """A collection of text_classes.py, without its classes."""
    return of_words(*([text.decode("latin-1") for _, text in rows_of(part)] for part in text_classes.COLLECTIONS[name](data)))


def cranfield(data):
    return of_words(*([document.partition(".W")[2] for document in (data / "cranfield" / name).read_text("latin-1").split("\n.I ")]
                      for name in ("cran.all.1400", "cran.qry")))


def drawn(documents, seed=1, queries=500, terms=100_000, longest=150):
    draw = numpy.random.default_rng(seed)
    chance = 1 / numpy.arange(1, terms + 1)
    rows = documents + queries
    lengths = draw.integers(1, longest, rows)
    columns = draw.choice(terms, lengths.sum(), p=chance / chance.sum())
    counts = scipy.sparse.csr_matrix((numpy.ones(len(columns)), columns,
                                      numpy.concatenate([[0], numpy.cumsum(lengths)])), (rows, terms))
    counts.sum_duplicates()
    return counts[:documents], counts[documents:]


COLLECTIONS = {"20news": lambda data: classes("20news-bydate", data), "r8": lambda data: classes("r8", data),
               "cranfield": cranfield}


def weighed(documents, queries):
    frequency = numpy.bincount(documents.indices, minlength=documents.shape[1])
    idf = scipy.sparse.diags(numpy.where(frequency > 0, numpy.log(documents.shape[0] / numpy.maximum(frequency, 1)), 0))
    result = []
    for counts in (documents, queries):
        rows = scipy.sparse.csr_matrix(counts @ idf)
        rows.eliminate_zeros()
        rows.sort_indices()
        result.append(rows)
    return result


def best_first(columns, scores, k):
    order = numpy.lexsort((columns, -scores))[:k]
    return columns[order], scores[order]


def by_scipy(documents, queries, k, threads):
    transposed = documents.T.tocsr()

    def search():
        columns, scores = [], []
        for begin in range(0, queries.shape[0], 256):
            product = (queries[begin:begin + 256] @ transposed).toarray()
            top = numpy.argpartition(-product, k - 1, axis=1)[:, :k]
            of = numpy.take_along_axis(product, top, axis=1)
            order = numpy.argsort(-of, axis=1)
            columns.append(numpy.take_along_axis(top, order, axis=1))
            scores.append(numpy.take_along_axis(of, order, axis=1))
        return numpy.concatenate(columns), numpy.concatenate(scores)
    return search


def by_sklearn(documents, queries, k, threads):
    nearest = NearestNeighbors(n_neighbors=k, metric="cosine", algorithm="brute", n_jobs=threads)
    nearest.fit(documents)

    def search():
        distances, columns = nearest.kneighbors(queries)
        return columns, 1 - distances
    return search


def by_topn(documents, queries, k, threads):
    transposed = documents.T.tocsr()

    def search():
        return sparse_dot_topn.sp_matmul_topn(queries, transposed, top_n=k, sort=True, n_threads=threads)
    return search


def as_arrays(found, k):
    """Converts results of sparse_dot_topn, which omits zeros."""
    if isinstance(found, tuple):
        return found
    columns = numpy.full((found.shape[0], k), -1)
    scores = numpy.zeros((found.shape[0], k))
    for row in range(found.shape[0]):
        some = slice(found.indptr[row], found.indptr[row + 1])
        columns[row, :some.stop - some.start] = found.indices[some]
        scores[row, :some.stop - some.start] = found.data[some]
    return columns, scores


def agree(ours, theirs):
    """Whether scores are equal, and documents unless others have nearly the same score."""
    if numpy.abs(ours[1] - theirs[1]).max() > NEAR:
        return False
    gaps = numpy.abs(numpy.diff(ours[1], axis=1)) > 10 * NEAR
    apart = numpy.ones_like(ours[1], dtype=bool)
    apart[:, 1:] &= gaps
    apart[:, :-1] &= gaps
    apart[:, -1] = False  # what comes next is not known
    return bool((ours[0] == theirs[0])[apart].all())


class Rulerank:
    def __init__(self, program, folder, documents, queries, k):
        self.folder, self.k = folder, k
        self.run = common.program(program, "--index", folder / "index", "--quiet", "--device", "cpu", "--json", by=common.told)
        for name, rows in (("documents", documents), ("queries", queries)):
            dump_svmlight_file(rows, numpy.zeros(rows.shape[0]), str(self.folder / name))
        self.run("search", "text", "--collection", self.folder / "documents", "--format", "svmlight")
        self.shape = (queries.shape[0], min(k, documents.shape[0]))

    def search(self, engine, threads):
        """Seconds of the engine, and of the whole search."""
        took = self.run("search", "text", "--queries", self.folder / "queries", "--k", self.k, "--pad", "--engine", engine,
                        "--threads", threads, "--out", self.folder / "found")["seconds"]
        return took["nearest"], took["search"]

    def found(self):
        columns, scores = numpy.loadtxt(self.folder / "found", usecols=(2, 3), unpack=True)
        return columns.astype(int).reshape(self.shape) - 1, scores.reshape(self.shape)


def main():
    given = common.arguments(__doc__, "program", "data", collections=list(COLLECTIONS), drawn=0, k=30, rounds=3,
                             threads=["1", "all"], engines=["tiles", "mt"])
    all_threads = len(os.sched_getaffinity(0))
    peers = {"scipy": (by_scipy, scipy.__version__), "scikit-learn": (by_sklearn, sklearn.__version__)}
    if sparse_dot_topn is not None:
        peers["sparse_dot_topn"] = (by_topn, sparse_dot_topn.__version__)
    print(json.dumps({"machine": common.machine(), "build": common.build(given.program),
                      "versions": {name: version for name, (_, version) in peers.items()}}), flush=True)
    for name in [*filter(None, given.collections), *(["drawn"] if given.drawn else [])]:
        documents, queries = weighed(*(drawn(given.drawn) if name == "drawn" else COLLECTIONS[name](given.data)))
        units = [normalize(rows) for rows in (documents, queries)]
        k = min(given.k, documents.shape[0])
        with common.scratch() as folder:
            ours = Rulerank(given.program, folder, documents, queries, k)
            for threads in [all_threads if t == "all" else int(t) for t in given.threads]:
                engines = given.engines
                best, whole = {}, {}
                searches = {peer: make(*units, k, threads) for peer, (make, _) in peers.items()}
                for _ in range(given.rounds):
                    found = {}
                    for engine in engines:
                        seconds, all_of_it = ours.search(engine, threads)
                        best[engine] = min(best.get(engine, seconds), seconds)
                        whole[engine] = min(whole.get(engine, all_of_it), all_of_it)
                        found[engine] = ours.found()
                    for peer, search in searches.items():
                        with threadpoolctl.threadpool_limits(threads):
                            seconds, theirs = common.timed(search)
                        best[peer] = min(best.get(peer, seconds), seconds)
                        found[peer] = as_arrays(theirs, k)
                    for who, one in found.items():
                        if not agree(found[engines[0]], one):
                            common.fail(f"{name}: {who} has other neighbours than {engines[0]}, so nothing is timed")
                for who, seconds in best.items():
                    print(json.dumps({"collection": name, "documents": documents.shape[0],
                                      "terms": int((numpy.bincount(documents.indices) > 0).sum()), "postings": documents.nnz,
                                      "queries": queries.shape[0], "k": k, "threads": threads, "who": who,
                                      "seconds": round(seconds, 4), "ms_a_query": round(seconds / queries.shape[0] * 1000, 4),
                                      **({"whole_seconds": round(whole[who], 4)} if who in whole else {}),
                                      **{f"{engine}_faster_x": round(seconds / best[engine], 2) for engine in engines
                                         if who in peers}}), flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""PyTorch's sparse product and top-k on a GPU, on what text_bench saved, beside its neighbours.

    text_bench rcv1 500 30 16 save=FOLDER && text_peer_torch.py FOLDER [--device cuda|cpu]

The documents are a CSR matrix of single precision on the device, rows divided by their norms; a
batch of queries becomes dense columns there, and `topk` picks the nearest. Scores must be those
that text_bench saved within 1e-5, rank by rank. One JSON line; the time is the median of the
calls, from query rows in host memory to neighbours in host memory, with indices of 32 or 64 bits,
whichever is faster."""

import argparse
import json
import pathlib
import statistics
import time

import numpy
import torch


def rows(folder, name):
    begin = numpy.fromfile(folder / f"{name}.begin.u64", dtype="u8").astype("i8")
    term = numpy.fromfile(folder / f"{name}.term.u32", dtype="u4").astype("i8")
    weight = numpy.fromfile(folder / f"{name}.weight.f64")
    squares = numpy.concatenate([[0.0], numpy.cumsum(weight * weight)])
    norms = numpy.sqrt(squares[begin[1:]] - squares[begin[:-1]])
    norms[norms == 0] = 1
    unit = weight / numpy.repeat(norms, numpy.diff(begin))
    return begin, term, unit.astype("f4")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--batch", type=int, default=500, help="queries of a product")
    parser.add_argument("--calls", type=int, default=5)
    arguments = parser.parse_args()
    begin, term, weight = rows(arguments.folder, "documents")
    query_begin, query_term, query_weight = rows(arguments.folder, "queries")
    scores = numpy.fromfile(arguments.folder / "neighbours.score.f64")
    queries = len(query_begin) - 1
    k = len(scores) // queries
    terms = int(max(term.max(), query_term.max())) + 1
    to = torch.device(arguments.device)

    def search(documents):
        found = []
        for first in range(0, queries, arguments.batch):
            last = min(queries, first + arguments.batch)
            part = slice(query_begin[first], query_begin[last])
            column = numpy.repeat(numpy.arange(last - first),
                                  numpy.diff(query_begin[first:last + 1]))
            dense = torch.zeros((terms, last - first), device=to)
            dense[torch.from_numpy(query_term[part]).to(to), torch.from_numpy(column).to(to)] = \
                torch.from_numpy(query_weight[part]).to(to)
            near = torch.topk((documents @ dense).T.contiguous(), k, dim=1)
            found.append(near.values.cpu().numpy())
            near.indices.cpu()
        return numpy.concatenate(found)

    taken = {}
    for index in ("i4", "i8"):
        documents = torch.sparse_csr_tensor(
            torch.from_numpy(begin.astype(index)), torch.from_numpy(term.astype(index)),
            torch.from_numpy(weight), size=(len(begin) - 1, terms), device=to, check_invariants=False)
        worst = abs(search(documents) - scores.reshape(queries, k)).max()
        if not worst <= 1e-5:
            raise SystemExit(f"text_peer_torch: scores are {worst} off")
        seconds = []
        for _ in range(arguments.calls):
            start = time.perf_counter()
            search(documents)
            seconds.append(time.perf_counter() - start)
        taken[index] = statistics.median(seconds)
    best = min(taken, key=taken.get)
    print(json.dumps({
        "input": arguments.folder.name, "documents": len(begin) - 1, "queries": queries, "k": k,
        "engine": f"PyTorch {torch.__version__}, sparse CSR x dense, topk, {arguments.device}",
        "seconds_a_query": taken[best] / queries, "calls": arguments.calls,
        "bits_of_an_index": 8 * int(best[1]),
        "largest_difference": float(worst)}))


if __name__ == "__main__":
    main()

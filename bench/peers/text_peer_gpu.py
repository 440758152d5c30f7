#!/usr/bin/env python3
"""tiles on a GPU compared with PyTorch, CuPy and cuSPARSE for the same search, in one run.

    text_peer_gpu.py TEXT_BENCH OUT_FOLDER [--inputs rcv1,medline,20ng,acm] [--queries 500] [--k 30]
                     [--rounds 5] [--threads 16]

Documents are rows of unit length in single precision on the device; `topk` selects the nearest by cosine for a batch
of queries. Forms, each with its fastest batch size:

  torch, CSR x dense        documents (CSR) times queries as dense columns, then transposed
  torch, dense x CSR        queries as dense rows times the transposed documents (CSR)
  torch, sparse x sparse    queries (CSR) times the transposed documents (CSR), made dense
  CuPy, sparse x sparse     the same by cuSPARSE's SpGEMM
  cuSPARSE SpMM, ...        documents (CSR) times dense columns through the C API, by rows or
                            columns, with each of its algorithms for CSR; the result by columns
                            needs no transposition

with indices of 32 and of 64 bits if PyTorch supports both. A form is reported and not timed if its scores differ from
those that text_bench saved by more than 1e-5, rank by rank, if it fails, or if it runs out of memory. Times are from
query rows in host memory to neighbours in host memory; `ready_s` is from host arrays to the form's matrices on the
device. After each form's batch size is chosen, all forms and tiles are timed alternately, ROUNDS times; a ratio is
the form's time divided by that of tiles in the same round: median, least, largest; `whole_ratio` is for all queries
once, including the preparation of both. Writes results.jsonl, tables.md and manifest.json.
"""

import ctypes
import json
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402
import needs  # noqa: E402

numpy, torch = needs.packages("numpy", "torch")

try:
    import cupy
    import cupyx.scipy.sparse
except ImportError:
    cupy = None

DENSE_BATCHES = (32, 125, 500)
SPARSE_BATCHES = (10, 50, 125)
DEVICE = "cuda"


class Rows:
    """The rows of unit length that text_bench saved."""

    def __init__(self, folder, name):
        self.begin = numpy.fromfile(folder / f"{name}.begin.u64", dtype="u8").astype("i8")
        self.term = numpy.fromfile(folder / f"{name}.term.u32", dtype="u4").astype("i8")
        weight = numpy.fromfile(folder / f"{name}.weight.f64")
        squares = numpy.concatenate([[0.0], numpy.cumsum(weight * weight)])
        norms = numpy.sqrt(squares[self.begin[1:]] - squares[self.begin[:-1]])
        norms[norms == 0] = 1
        self.value = (weight / numpy.repeat(norms, numpy.diff(self.begin))).astype("f4")

    def __len__(self):
        return len(self.begin) - 1

    def part(self, first, last):
        """begin, term, value of some rows."""
        some = slice(self.begin[first], self.begin[last])
        return self.begin[first:last + 1] - self.begin[first], self.term[some], self.value[some]

    def csr(self, terms, index="i4", first=0, last=None):
        begin, term, value = self.part(first, len(self) if last is None else last)
        return torch.sparse_csr_tensor(torch.from_numpy(begin.astype(index)), torch.from_numpy(term.astype(index)),
                                       torch.from_numpy(value), size=(len(begin) - 1, terms), device=DEVICE, check_invariants=False)

    def dense(self, terms, first, last, by_row):
        """Some rows as dense rows, or as columns."""
        begin, term, value = self.part(first, last)
        row = torch.from_numpy(numpy.repeat(numpy.arange(last - first), numpy.diff(begin))).to(DEVICE)
        column = torch.from_numpy(term).to(DEVICE)
        values = torch.from_numpy(value).to(DEVICE)
        if by_row:
            out = torch.zeros((last - first, terms), device=DEVICE)
            out[row, column] = values
        else:
            out = torch.zeros((terms, last - first), device=DEVICE)
            out[column, row] = values
        return out


def transposed(documents):
    """A CSR matrix of the other direction, made on the device."""
    return documents.to_sparse_coo().t().coalesce().to_sparse_csr()


class Form:
    """`scores(first, last)` returns a dense matrix on the device, one row per query."""

    def __init__(self, name, batches, make, scores):
        self.name, self.batches, self.make, self.scores = name, batches, make, scores


def torch_forms(documents, queries, terms):
    def csr(index):
        return lambda: documents.csr(terms, index)

    def by_columns(matrix, first, last):
        return (matrix @ queries.dense(terms, first, last, by_row=False)).T.contiguous()

    def by_rows(matrix, first, last):
        return queries.dense(terms, first, last, by_row=True) @ matrix

    def sparse(index):
        return lambda matrix, first, last: (queries.csr(terms, index, first, last) @ matrix).to_dense()

    for index, bits in (("i4", 32), ("i8", 64)):
        yield Form(f"torch, CSR x dense, {bits} bits", DENSE_BATCHES, csr(index), by_columns)
        yield Form(f"torch, dense x CSR, {bits} bits", DENSE_BATCHES,
                   lambda index=index: transposed(documents.csr(terms, index)), by_rows)
        yield Form(f"torch, sparse x sparse, {bits} bits", SPARSE_BATCHES,
                   lambda index=index: transposed(documents.csr(terms, index)), sparse(index))


def cupy_form(documents, queries, terms):
    def matrix(rows, first=0, last=None):
        begin, term, value = rows.part(first, len(rows) if last is None else last)
        return cupyx.scipy.sparse.csr_matrix((cupy.asarray(value), cupy.asarray(term.astype("i4")),
                                              cupy.asarray(begin.astype("i4"))), shape=(len(begin) - 1, terms))

    def scores(transposed_documents, first, last):
        dense = (matrix(queries, first, last) @ transposed_documents).toarray()
        return torch.from_dlpack(cupy.ascontiguousarray(dense))

    return Form("CuPy, sparse x sparse (cuSPARSE SpGEMM)", SPARSE_BATCHES, lambda: matrix(documents).T.tocsr(), scores)


class CuSparse:
    """SpMM of cuSPARSE through its C API."""

    INDEX_32, ZERO_BASED, REAL_32, COLUMNS, ROWS = 2, 0, 0, 1, 2
    ALGORITHMS = {"ALG1": 4, "ALG2": 6, "ALG3": 12}

    def __init__(self):
        for name in ("libcusparse.so.12", "libcusparse.so"):
            try:
                self.library = ctypes.CDLL(name)
                break
            except OSError:
                continue
        else:
            found = sorted(pathlib.Path(torch.__file__).parents[1].glob("nvidia/**/libcusparse.so*"))
            self.library = ctypes.CDLL(str(found[0]))
        self.handle = ctypes.c_void_p()
        self.call("cusparseCreate", ctypes.byref(self.handle))
        self.one, self.zero = ctypes.c_float(1), ctypes.c_float(0)

    def call(self, function, *arguments):
        status = getattr(self.library, function)(*arguments)
        if status != 0:
            raise RuntimeError(f"{function}: status {status}")

    def csr(self, begin, term, value, rows, columns):
        described = ctypes.c_void_p()
        self.call("cusparseCreateCsr", ctypes.byref(described), ctypes.c_int64(rows), ctypes.c_int64(columns),
                  ctypes.c_int64(len(value)), ctypes.c_void_p(begin.data_ptr()), ctypes.c_void_p(term.data_ptr()),
                  ctypes.c_void_p(value.data_ptr()), ctypes.c_int(self.INDEX_32), ctypes.c_int(self.INDEX_32),
                  ctypes.c_int(self.ZERO_BASED), ctypes.c_int(self.REAL_32))
        return described

    def dense(self, tensor, rows, columns, order):
        described = ctypes.c_void_p()
        self.call("cusparseCreateDnMat", ctypes.byref(described), ctypes.c_int64(rows), ctypes.c_int64(columns),
                  ctypes.c_int64(rows if order == self.COLUMNS else columns), ctypes.c_void_p(tensor.data_ptr()),
                  ctypes.c_int(self.REAL_32), ctypes.c_int(order))
        return described

    def spmm(self, csr, by, out, algorithm, memory, preprocess):
        common = (self.handle, ctypes.c_int(0), ctypes.c_int(0), ctypes.byref(self.one), csr, by,
                  ctypes.byref(self.zero), out, ctypes.c_int(self.REAL_32), ctypes.c_int(algorithm))
        self.call("cusparseSetStream", self.handle, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        if memory is None:
            size = ctypes.c_size_t()
            self.call("cusparseSpMM_bufferSize", *common, ctypes.byref(size))
            memory = torch.empty(max(size.value, 16), dtype=torch.uint8, device=DEVICE)
        if preprocess:
            self.call("cusparseSpMM_preprocess", *common, ctypes.c_void_p(memory.data_ptr()))
        self.call("cusparseSpMM", *common, ctypes.c_void_p(memory.data_ptr()))
        return memory


def cusparse_forms(documents, queries, terms):
    library = CuSparse()

    def made():
        begin, term, value = documents.part(0, len(documents))
        arrays = [torch.from_numpy(a).to(DEVICE) for a in (begin.astype("i4"), term.astype("i4"), value)]
        return {"arrays": arrays, "csr": library.csr(*arrays, len(documents), terms), "memory": {}}

    def scores(order, algorithm):
        def of(matrix, first, last):
            # A matrix by columns is its transposed one by rows.
            by_columns = order == library.COLUMNS
            by = queries.dense(terms, first, last, by_row=by_columns)
            many = last - first
            out = torch.empty((many, len(documents)) if by_columns else (len(documents), many), device=DEVICE)
            described = library.dense(by, terms, many, order), library.dense(out, len(documents), many, order)
            key = many
            matrix["memory"][key] = library.spmm(matrix["csr"], *described, algorithm, matrix["memory"].get(key),
                                                 preprocess=key not in matrix["memory"])
            for one in described:
                library.call("cusparseDestroyDnMat", one)
            return out if by_columns else out.T.contiguous()
        return of

    for algorithm, number in library.ALGORITHMS.items():
        for words, order in (("rows", library.ROWS), ("columns", library.COLUMNS)):
            yield Form(f"cuSPARSE SpMM, {algorithm}, by {words}", DENSE_BATCHES, made, scores(order, number))


class Timed:
    """A form on a collection."""

    def __init__(self, form, queries, k):
        self.form, self.queries, self.k = form, queries, k
        torch.cuda.synchronize()
        begin = time.perf_counter()
        self.matrix = form.make()
        torch.cuda.synchronize()
        if cupy:
            cupy.cuda.Device().synchronize()
        self.ready_s = time.perf_counter() - begin
        self.batch = None
        self.rounds = []

    def search(self, batch):
        found = []
        for first in range(0, len(self.queries), batch):
            near = torch.topk(self.form.scores(self.matrix, first, min(len(self.queries), first + batch)), self.k, dim=1)
            found.append(near.values.cpu().numpy())
            near.indices.cpu()
        return numpy.concatenate(found)

    def seconds(self, batch):
        return common.timed(lambda: self.search(batch))[0]

    def choose(self, expected):
        """The fastest batch size with correct scores, or the reason why there is none."""
        trouble, best = "", None
        for batch in sorted({min(b, len(self.queries)) for b in self.form.batches}):
            try:
                self.worst = float(abs(self.search(batch) - expected).max())
                if not self.worst <= 1e-5:
                    trouble = f"scores are {self.worst} off"
                    continue
                taken = min(self.seconds(batch) for _ in range(2))
            except Exception as e:  # a form may be missing, or lack memory
                trouble = f"{type(e).__name__}: {str(e).splitlines()[0][:160]}" if str(e) else type(e).__name__
                torch.cuda.empty_cache()
                break
            if best is None or taken < best:
                best, self.batch = taken, batch
            if taken > 2:
                break
        return trouble

    def time(self):
        taken, seconds = [], 0
        while not taken or (seconds < 0.05 and len(taken) < 20):
            taken.append(self.seconds(self.batch))
            seconds += taken[-1]
        self.rounds.append(statistics.median(taken) / len(self.queries))


class Ours:
    """text_bench, one round on request."""

    def __init__(self, program, name, folder, arguments):
        self.process = subprocess.Popen(
            [str(program), name, str(arguments.queries), str(arguments.k), str(arguments.threads), "rounds=asked",
             f"save={folder}", "tiles@1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            common.fail(f"text_bench {name} did not become ready")
        self.rounds = []

    def time(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        self.rounds.append(float(self.process.stdout.readline()))

    def ended(self):
        told, _ = self.process.communicate()
        return json.loads(told.splitlines()[-1])


def spread(values):
    return [float(f"{v:.4g}") for v in common.spread(values).values()]


def compared(arguments, name, log):
    """Compares all forms with ours on one collection."""
    with common.scratch() as scratch:
        folder = scratch / pathlib.Path(name).name
        ours = Ours(arguments.bench, name, folder, arguments)
        documents, queries = Rows(folder, "documents"), Rows(folder, "queries")
        scores = numpy.fromfile(folder / "neighbours.score.f64").reshape(len(queries), -1)
    terms = int(max(documents.term.max(), queries.term.max())) + 1
    forms = [*torch_forms(documents, queries, terms)]
    if cupy:
        forms.append(cupy_form(documents, queries, terms))
    try:
        if not arguments.without_cusparse:
            forms += cusparse_forms(documents, queries, terms)
    except Exception as e:  # said, and the others go on
        print(f"cuSPARSE: {e}", file=sys.stderr)
    running, rows = [], []
    for form in forms:
        base = {"input": pathlib.Path(name).name, "documents": len(documents), "queries": len(queries),
                "k": arguments.k, "form": form.name}
        try:
            one = Timed(form, queries, arguments.k)
            trouble = one.choose(scores)
        except Exception as e:  # likewise
            one, trouble = None, f"{type(e).__name__}: {str(e)[:160]}"
        if one is None or one.batch is None:
            rows.append({**base, "not_timed": trouble})
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
        else:
            running.append((base, one))
        torch.cuda.empty_cache()
        if cupy:
            cupy.get_default_memory_pool().free_all_blocks()
    for _ in range(arguments.rounds):
        ours.time()
        for _, one in running:
            one.time()
    last = ours.ended()
    whole = [last["ready_s"] + s * len(queries) for s in ours.rounds]
    rows.append({"input": pathlib.Path(name).name, "documents": len(documents), "queries": len(queries),
                 "k": arguments.k, "form": "tiles", "batch": len(queries), "ready_s": last["ready_s"],
                 "seconds_a_query": statistics.median(ours.rounds), "rounds": ours.rounds, "commit": last["commit"]})
    for base, one in running:
        rows.append({**base, "batch": one.batch, "ready_s": round(one.ready_s, 5), "seconds_a_query": statistics.median(one.rounds),
                     "rounds": one.rounds, "largest_difference": one.worst,
                     "ratio": spread([a / b for a, b in zip(one.rounds, ours.rounds)]),
                     "whole_ratio": spread([(one.ready_s + a * len(queries)) / b for a, b in zip(one.rounds, whole)])})
    for row in rows:
        log.add(row)


def table(rows):
    body = []
    for row in sorted(rows, key=lambda r: (r["input"], r.get("seconds_a_query", 1e9))):
        if "not_timed" in row:
            body.append([row["input"], row["form"], None, None, row["not_timed"], None, None])
        else:
            ratios = ["{} ({} to {})".format(*row[of]) if of in row else None for of in ("ratio", "whole_ratio")]
            body.append([row["input"], row["form"], row["batch"], row["seconds_a_query"] * 1e6, *ratios, row["ready_s"]])
    return common.table(["input", "form", "batch", "us a query", "over tiles x", "over tiles x, with the time to be ready",
                         "ready s"], body, "The same search on one GPU")


def main():
    a = common.arguments(__doc__, "bench", "out", inputs=["20ng", "acm", "medline", "rcv1"], queries=500, k=30, rounds=5,
                         threads=16, without_cusparse={"action": "store_true", "help": "leave the C API out"})
    rows = common.Log(a.out / "results.jsonl")
    for name in a.inputs:
        compared(a, name, rows)
        common.write(a.out / "tables.md", table(rows))
    common.manifest(a.out / "manifest.json", gpus=common.gpus(), queries=a.queries, k=a.k, rounds=a.rounds,
                    libraries={"torch": torch.__version__, "CuPy": cupy.__version__ if cupy else None},
                    commit=next(row["commit"] for row in rows if "commit" in row))
    print(table(rows))


if __name__ == "__main__":
    main()

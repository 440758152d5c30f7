#!/usr/bin/env python3
"""Compares `flat` on a GPU with PyTorch and FlashLib on the same shapes, in one run.

    dense_peer_gpu.py DENSE_BENCH OUT_FOLDER [--cells targets|short|rest|left|more|crowded] [--shapes 3000000x300,10000000x128xbf16,...]
                      [--values normal|uniform] [--rounds 20] [--flashlib] [--tune SECONDS] [--list]

Rows and queries are normal values, or uniform in [0, 1); the metric is l2. A cell is a shape, a k and a number of queries. --shapes
selects shapes of --cells, so that a run can be divided. --list prints the cells and exits; it needs neither PyTorch nor a GPU.

  flat       dense_bench devices=1, which first compares the neighbours of some queries with those of `flat` on the CPU. Its
             device_ms includes copying the queries to the GPU and the neighbours back. The peers keep both on the device, so they
             do less
  torch      squared norms of the rows, computed before, minus twice the product (addmm, no TF32), then topk
  flashlib   FlashLib's kernels, with --flashlib and if it can be imported: flash_knn_triton_small_n for few queries and
             flash_knn_triton_large_n for many, with the settings of its heuristic and, if --tune permits, of autotune=True. The
             fastest counts and its name is stored. Data have the type of the cell

--tune: seconds for autotune=True of each kernel in each cell (default: 0, not tuned). Settings near the heuristic's are tried first;
when time runs out, the best one so far counts, and "cut_off" is set. A kernel that is more than three times as slow as another, or
takes more than six times as long as `flat`, is not tuned.

Peers are timed by CUDA events after three warm-up rounds: the median of the rounds. Both compute in single precision: for some
queries their neighbours are compared with those in double precision, and the share of equal ones is reported. read_ms is the time
to read the rows once at 4.28 TB/s. Writes results.jsonl, tables.md and manifest.json.
"""

import json
import itertools
import math
import pathlib
import signal
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402

try:
    import torch
except ImportError:
    torch = None  # --list needs none

RATE = 4.28e12
FOUR = ((70_000, 784), (300_000, 128), (1_275_219, 128), (3_000_000, 300))


def on_four(ks, batches, shapes=FOUR):
    """Cells, which are rows, dimensions, type, k's and numbers of queries, of some shapes."""
    return [(*shape, "f32", ks, batches) for shape in shapes]


TARGETS = [*on_four((32, 128), (1, 16, 32, 128)), (1_000_000, 128, "f32", (16,), (4096,)), (700_000, 128, "f32", (32,), (8192,)),
           (10_000_000, 128, "bf16", (10, 128), (1,))]
SHORT = [*on_four((32,), (1, 32, 128)), (1_000_000, 128, "f32", (16,), (4096,)), (10_000_000, 128, "bf16", (10,), (1,))]
# Cells that SHORT lacks: k = 128 and 16 queries, without the cells of LEFT.
REST = [*on_four((32, 128), (1, 16), FOUR[:3]), (3_000_000, 300, "f32", (128,), (1, 16, 128)),
        (700_000, 128, "f32", (32,), (8192,)), (10_000_000, 128, "bf16", (128,), (1,))]
# Cells of TARGETS that SHORT and REST lack, and the cells of one query for which the run of SHORT kept no percentiles of calls.
LEFT = [*on_four((128,), (32, 128), FOUR[:3]), (3_000_000, 300, "f32", (32,), (1, 16)), (3_000_000, 300, "f32", (128,), (32,)),
        (10_000_000, 128, "bf16", (10,), (1,))]
# k = 64, 64 queries, and the shapes of Liu, Zheng and Liu 2019 (1,200 queries).
MORE = [*on_four((32, 64), (64,)),
        *((1 << power, dimensions, "f32", (25,), (1200,)) for dimensions in (32, 256) for power in range(10, 16))]
# Many neighbours, whose bounds let more rows through with uniform values.
CROWDED = on_four((128,), (1, 16, 32, 128))
# More neighbours than a scan hands rows on for: all rows are computed, one query after the other.
LARGE = on_four((2048, 4096), (1, 32, 128), FOUR[::2])
CELLS = {"targets": TARGETS, "short": SHORT, "rest": REST, "left": LEFT, "more": MORE, "crowded": CROWDED, "large": LARGE}
FLASHLIB = ("flash_knn_triton_small_n", "flash_knn_triton_large_n")


def name_of(cell):
    return f"{cell[0]}x{cell[1]}" + ("" if cell[2] == "f32" else f"x{cell[2]}")


def cells_of(name, shapes):
    """The cells of the set `name`, or of its `shapes`."""
    cells = CELLS[name]
    unknown = set(shapes or ()) - {name_of(cell) for cell in cells}
    if unknown:
        raise ValueError(f"found shapes {', '.join(sorted(unknown))}, expected of {name}: "
                         + ", ".join(dict.fromkeys(name_of(cell) for cell in cells)))
    return [cell for cell in cells if not shapes or name_of(cell) in shapes]


def median_ms(work, rounds):
    work()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    work()
    torch.cuda.synchronize()
    rounds = max(1, min(rounds, int(1 / (time.perf_counter() - begin))))
    work()
    times = []
    for _ in range(rounds):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def of_flat(arguments, cell):
    """{(k, queries): counters}, and the program's description of itself."""
    rows, dimensions, kind, ks, batches = cell
    out = arguments.out / "flat.json"
    words = [str(arguments.bench), "devices=1", f"values={arguments.values}", f"shape={rows}x{dimensions}x{kind}",
             "k=" + ",".join(map(str, ks)), "batches=" + ",".join(map(str, batches)),
             "--benchmark_min_time=0.1", f"--benchmark_out={out}", "--benchmark_out_format=json"]
    common.call(*words)
    said = json.loads(out.read_text())
    out.unlink()
    times = {}
    for one in said["benchmarks"]:
        parts = one["name"].split("/")
        times[int(parts[2].removeprefix("k:")), int(parts[3])] = one
    return times, said["context"], " ".join(words[1:-2])


def in_double(rows, queries, k):
    """Neighbours of a few queries in double precision, computed in pieces of the rows."""
    nearest = []
    for query in queries.double():
        squares = torch.cat([(part.double() - query).square().sum(1) for part in rows.split(1 << 18)])
        nearest.append(squares.topk(k, largest=False).indices)
    return torch.stack(nearest)


def same_share(found, expected):
    pairs = [(set(a.tolist()), set(b.tolist())) for a, b in zip(found, expected)]
    return sum(len(a & b) for a, b in pairs) / sum(len(b) for _, b in pairs)


class out_of_time(BaseException):
    """Not derived from Exception, because FlashLib's tuning ignores those."""


def tuned(kernel, large, q, rows, k, seconds):
    """Tunes the kernel for the shape; returns whether time ran out. Later calls with autotune=True use the settings."""
    from flashlib.primitives.knn.triton import dispatch
    path = "large_n" if large else None
    size = (1, len(q), len(rows), q.shape[1], k)
    first = dispatch._heuristic_config(*size, force_path=path, dtype_bytes=q.element_size(), smem_limit=220_000)

    def distance(settings):
        steps = sum(abs(math.log2(settings[name] / first[name])) for name in ("BN", "BM", "num_warps"))
        return settings["kernel_mode"] != first["kernel_mode"], steps

    def stop(*_):
        raise out_of_time

    every = dispatch._gen_configs
    dispatch._gen_configs = lambda *a, **b: sorted(every(*a, **b), key=distance)
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        kernel(q[None], rows[None], k, autotune=True)
        return False
    except out_of_time as cut:
        at = cut.__traceback__
        while at is not None and at.tb_frame.f_code.co_name != "_autotune":
            at = at.tb_next
        best = at.tb_frame.f_locals["best_cfg"] if at is not None else None
        if best is None:
            raise RuntimeError("no setting was tried in time") from None
        dispatch._autotune_cache[(*size, q.dtype, path)] = best
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        dispatch._gen_configs = every


def of_flashlib(arguments, q, rows, k, expected, flat_ms):
    """The fastest of FlashLib's kernels, with the times of all."""
    from flashlib.primitives.knn import flash_knn
    from flashlib.primitives.knn.triton import dispatch
    forms = {"flash_knn": lambda: flash_knn(q, rows, k, return_distances=False)}
    for name in FLASHLIB:
        forms[name] = lambda kernel=getattr(dispatch, name): kernel(q[None], rows[None], k)
    times, failed, shares, cut_off = {}, {}, {}, []

    def measure(name, form):
        try:
            found = form().reshape(len(q), k)[:len(expected)]
            shares[name] = same_share(found, expected)
            times[name] = median_ms(form, arguments.rounds)
        except Exception as wrong:
            failed[name] = (str(wrong).splitlines() or [repr(wrong)])[0][:200]

    for name, form in forms.items():
        measure(name, form)
    for name in FLASHLIB if arguments.tune > 0 else ():
        if name not in times or times[name] > min(3 * min(times.values()), 6 * flat_ms):
            continue
        kernel = getattr(dispatch, name)
        try:
            if tuned(kernel, name.endswith("large_n"), q, rows, k, arguments.tune):
                cut_off.append(name)
        except Exception as wrong:
            failed[f"{name} autotune"] = (str(wrong).splitlines() or [repr(wrong)])[0][:200]
            continue
        measure(f"{name} autotune", lambda kernel=kernel: kernel(q[None], rows[None], k, autotune=True))
    if not times:
        return {"failed": failed}
    best = min(times, key=times.get)
    return {"ms": times[best], "same": shares[best], "form": best, "all": times, "failed_forms": failed, "cut_off": cut_off}


def peers(arguments, cell, flat_ms):
    rows_n, dimensions, kind, ks, batches = cell
    form = torch.bfloat16 if kind == "bf16" else torch.float32
    draw = torch.Generator(device="cuda").manual_seed(1)
    draw_values = torch.rand if arguments.values == "uniform" else torch.randn
    rows = torch.empty(rows_n, dimensions, device="cuda", dtype=form)
    for part in rows.split(1 << 20):
        part.copy_(draw_values(part.shape, device="cuda", generator=draw))
    queries = draw_values((max(batches), dimensions), device="cuda", generator=draw).to(form)
    squares = rows.float().square().sum(1) if kind == "f32" else torch.cat(
        [part.float().square().sum(1) for part in rows.split(1 << 20)])

    def nearest(q, k):
        return torch.addmm(squares.to(form), q, rows.T, alpha=-2).topk(k, largest=False).indices

    expected = {k: in_double(rows, queries[:3], k) for k in ks}
    for k, batch in itertools.product(ks, batches):
        q = queries[:batch].contiguous()
        try:
            share = same_share(nearest(q, k).reshape(batch, k)[:3], expected[k][:batch])
            yield "torch", k, batch, {"ms": median_ms(lambda: nearest(q, k), arguments.rounds), "same": share}
        except Exception as wrong:  # what fails is named, not dropped
            yield "torch", k, batch, {"failed": str(wrong).splitlines()[0][:200]}
        if arguments.flashlib:
            yield "flashlib", k, batch, of_flashlib(arguments, q, rows, k, expected[k][:batch], flat_ms[k, batch])


def table(rows):
    names = [name for name in ("torch", "flashlib") if any(name in row for row in rows)]
    lines = []
    for row in rows:
        cells = [row["shape"], str(row["k"]), str(row["queries"]), f"{row['device_ms']:.3f}", f"{row['call_ms']:.3f}",
                 f"{row['of_read']:.2f}"]
        for name in names:
            ms = row.get(name, {}).get("ms")
            cells += ["failed", ""] if ms is None else [f"{ms:.3f}", f"{ms / row['device_ms']:.2f}"]
        lines.append(cells)
    return common.table(["shape", "k", "queries", "`flat`, device ms", "whole call ms", "over read once",
                         *(head for name in names for head in (f"{name} ms", "over `flat`"))], lines)


def main():
    parser = common.parser(
        __doc__, "bench", "out", cells={"choices": tuple(CELLS), "default": "targets"}, shapes=list,
        values={"choices": ("normal", "uniform"), "default": "normal"}, list=False, rounds=20, flashlib=False, tune=0.0)
    arguments = parser.parse_args()
    try:
        cells = cells_of(arguments.cells, arguments.shapes)
    except ValueError as wrong:
        parser.error(str(wrong))
    if arguments.list:
        lines = [f"{name_of(cell)} k={k} queries={batch}" for cell in cells for k in cell[3] for batch in cell[4]]
        print("\n".join(lines))
        return
    if torch is None:
        parser.error("PyTorch is not here")
    torch.backends.cuda.matmul.allow_tf32 = False
    results, context, commands = common.Log(arguments.out / "results.jsonl"), {}, []
    for cell in cells:
        times, context, command = of_flat(arguments, cell)
        commands.append(command)
        rows = {(k, batch): {"shape": f"{cell[0]:,} x {cell[1]} {cell[2]}", "k": k, "queries": batch, "call_ms": one["real_time"],
                             **{name: one[name]
                                for name in ("p50_ms", "p95_ms", "p99_ms", "device_ms", "read_ms", "of_read", "recomputed",
                                             "widened")}} for (k, batch), one in times.items()}
        for name, k, batch, done in peers(arguments, cell, {at: row["device_ms"] for at, row in rows.items()}):
            rows[k, batch][name] = done
        torch.cuda.empty_cache()
        for row in rows.values():
            results.add(row)
        print(table(list(rows.values())), flush=True)
    common.write(arguments.out / "tables.md", table(results))
    common.manifest(arguments.out / "manifest.json", commit=context["commit"], cpu=context["cpu"],
                    gpu=torch.cuda.get_device_name(0), torch=torch.__version__, commands=commands, rate=RATE,
                    values=arguments.values)


if __name__ == "__main__":
    main()

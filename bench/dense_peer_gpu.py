#!/usr/bin/env python3
"""flat on a GPU beside PyTorch and FlashLib on the same shapes, in one run.

    dense_peer_gpu.py DENSE_BENCH OUT_FOLDER [--cells targets|short|rest|left] [--rounds 20] [--flashlib]

Rows and queries are normal values; under l2. A cell is a shape, a k and a number of queries.

  flat       dense_bench devices=1, which holds the neighbours of some queries against `flat` on the
             CPU first; its device_ms is from the copy of the queries to the GPU to that of the
             neighbours back, so the peers, whose queries and results stay on the device, are asked
             for less
  torch      squared norms of the rows, made before, less twice the product (addmm, no TF32), topk
  flashlib   flash_knn(queries, rows, k, return_distances=False) of FlashLib, where --flashlib is
             given and it can be imported; data of the type of the cell

Peers are timed by events after three rounds that warm up: the median of the rounds. Both give what
single precision gives: their neighbours are compared with those of double precision for some queries,
and the share that is the same is told. read_ms is the time to read the rows once at 4.28 TB/s.
Writes results.jsonl, tables.md and manifest.json."""

import argparse
import datetime
import json
import pathlib
import statistics
import subprocess

import torch

RATE = 4.28e12
# rows, dimensions, type, k's, numbers of queries
TARGETS = [
    (70_000, 784, "f32", (32, 128), (1, 16, 32, 128)),
    (300_000, 128, "f32", (32, 128), (1, 16, 32, 128)),
    (1_275_219, 128, "f32", (32, 128), (1, 16, 32, 128)),
    (3_000_000, 300, "f32", (32, 128), (1, 16, 32, 128)),
    (1_000_000, 128, "f32", (16,), (4096,)),
    (700_000, 128, "f32", (32,), (8192,)),
    (10_000_000, 128, "bf16", (10, 128), (1,)),
]
SHORT = [
    (70_000, 784, "f32", (32,), (1, 32, 128)),
    (300_000, 128, "f32", (32,), (1, 32, 128)),
    (1_275_219, 128, "f32", (32,), (1, 32, 128)),
    (3_000_000, 300, "f32", (32,), (1, 32, 128)),
    (1_000_000, 128, "f32", (16,), (4096,)),
    (10_000_000, 128, "bf16", (10,), (1,)),
]
# Of what SHORT has not: k = 128 and 16 queries, but for LEFT.
REST = [
    (70_000, 784, "f32", (32, 128), (1, 16)),
    (300_000, 128, "f32", (32, 128), (1, 16)),
    (1_275_219, 128, "f32", (32, 128), (1, 16)),
    (3_000_000, 300, "f32", (128,), (1, 16, 128)),
    (700_000, 128, "f32", (32,), (8192,)),
    (10_000_000, 128, "bf16", (128,), (1,)),
]
# Of TARGETS what neither SHORT nor REST has, and the cells of one query whose calls SHORT was run without percentiles of.
LEFT = [
    (70_000, 784, "f32", (128,), (32, 128)),
    (300_000, 128, "f32", (128,), (32, 128)),
    (1_275_219, 128, "f32", (128,), (32, 128)),
    (3_000_000, 300, "f32", (32,), (1, 16)),
    (3_000_000, 300, "f32", (128,), (32,)),
    (10_000_000, 128, "bf16", (10,), (1,)),
]
CELLS = {"targets": TARGETS, "short": SHORT, "rest": REST, "left": LEFT}


def median_ms(work, rounds):
    for _ in range(3):
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
    """{(k, queries): counters}, and what the program says of itself."""
    rows, dimensions, kind, ks, batches = cell
    out = arguments.out / "flat.json"
    words = [str(arguments.bench), "devices=1", f"shape={rows}x{dimensions}x{kind}",
             "k=" + ",".join(map(str, ks)), "batches=" + ",".join(map(str, batches)),
             "--benchmark_min_time=0.1", f"--benchmark_out={out}", "--benchmark_out_format=json"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    said = json.loads(out.read_text())
    out.unlink()
    times = {}
    for one in said["benchmarks"]:
        parts = one["name"].split("/")
        times[int(parts[2].removeprefix("k:")), int(parts[3])] = one
    return times, said["context"], " ".join(words[1:-2])


def in_double(rows, queries, k):
    """Neighbours of a few queries in double precision, a part of the rows at a time."""
    nearest = []
    for query in queries.double():
        squares = torch.cat([(part.double() - query).square().sum(1) for part in rows.split(1 << 18)])
        nearest.append(squares.topk(k, largest=False).indices)
    return torch.stack(nearest)


def same_share(found, expected):
    pairs = [(set(a.tolist()), set(b.tolist())) for a, b in zip(found, expected)]
    return sum(len(a & b) for a, b in pairs) / sum(len(b) for _, b in pairs)


def peers(arguments, cell):
    rows_n, dimensions, kind, ks, batches = cell
    form = torch.bfloat16 if kind == "bf16" else torch.float32
    draw = torch.Generator(device="cuda").manual_seed(1)
    rows = torch.empty(rows_n, dimensions, device="cuda", dtype=form)
    for part in rows.split(1 << 20):
        part.copy_(torch.randn(part.shape, device="cuda", generator=draw))
    queries = torch.randn(max(batches), dimensions, device="cuda", generator=draw).to(form)
    squares = rows.float().square().sum(1) if kind == "f32" else torch.cat(
        [part.float().square().sum(1) for part in rows.split(1 << 20)])
    forms = {"torch": lambda q, k: torch.addmm(squares.to(form), q, rows.T, alpha=-2).topk(
        k, largest=False).indices}
    if arguments.flashlib:
        from flashlib.primitives.knn import flash_knn
        forms["flashlib"] = lambda q, k: flash_knn(q, rows, k, return_distances=False)
    for k in ks:
        expected = in_double(rows, queries[:3], k)
        for batch in batches:
            for name, form_of in forms.items():
                try:
                    q = queries[:batch].contiguous()
                    found = form_of(q, k).reshape(batch, k)[:3]
                    share = same_share(found, expected[:len(found)])
                    yield name, k, batch, {"ms": median_ms(lambda: form_of(q, k), arguments.rounds),
                                           "same": share}
                except Exception as wrong:  # a form that fails is named, not dropped
                    yield name, k, batch, {"failed": str(wrong).splitlines()[0][:200]}


def table(rows):
    names = [name for name in ("torch", "flashlib") if any(name in row for row in rows)]
    lines = ["| shape | k | queries | `flat`, device ms | whole call ms | over read once | " +
             " | ".join(f"{name} ms | over `flat`" for name in names) + " |",
             "|:--|--:|--:|--:|--:|--:|" + "--:|--:|" * len(names)]
    for row in rows:
        cells = [row["shape"], str(row["k"]), str(row["queries"]), f"{row['device_ms']:.3f}",
                 f"{row['call_ms']:.3f}", f"{row['of_read']:.2f}"]
        for name in names:
            ms = row.get(name, {}).get("ms")
            cells += ["failed", ""] if ms is None else [f"{ms:.3f}", f"{ms / row['device_ms']:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--cells", choices=tuple(CELLS), default="targets")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--flashlib", action="store_true")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.backends.cuda.matmul.allow_tf32 = False
    started = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    results, context, commands = [], {}, []
    (arguments.out / "results.jsonl").unlink(missing_ok=True)
    for cell in CELLS[arguments.cells]:
        times, context, command = of_flat(arguments, cell)
        commands.append(command)
        rows = {}
        for (k, batch), one in times.items():
            rows[k, batch] = {"shape": f"{cell[0]:,} x {cell[1]} {cell[2]}", "k": k,
                              "queries": batch, "call_ms": one["real_time"],
                              "p50_ms": one["p50_ms"], "p95_ms": one["p95_ms"], "p99_ms": one["p99_ms"],
                              "device_ms": one["device_ms"], "read_ms": one["read_ms"],
                              "of_read": one["of_read"], "recomputed": one["recomputed"],
                              "widened": one["widened"]}
        for name, k, batch, done in peers(arguments, cell):
            rows[k, batch][name] = done
        torch.cuda.empty_cache()
        results += rows.values()
        with (arguments.out / "results.jsonl").open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows.values())
        print(table(list(rows.values())), flush=True)
    (arguments.out / "tables.md").write_text(table(results))
    manifest = {"started": started, "commit": context["commit"], "cpu": context["cpu"],
                "gpu": torch.cuda.get_device_name(0), "torch": torch.__version__,
                "commands": commands, "rate": RATE}
    (arguments.out / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


if __name__ == "__main__":
    main()

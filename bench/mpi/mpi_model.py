#!/usr/bin/env python3
"""A model of the cost of a job over MPI ranks, fitted to the rows of mpi_scaling.py, and its predictions for large work.

    mpi_model.py ROWS_FOLDER OUT_FOLDER [--machine-threads 16] [--machine-memory 256] [--latency-us 50] [--bandwidth-gb 1]
                     [--beyond ROWS_FOLDER]

A job j of work W (documents; for searches texts or rows times queries) on r ranks with t threads each takes

    a_j + b_j W + c_j W / t + d_j W / (r t) + L exchanges + bytes / B   seconds:

start, work of every rank with one thread, work of every rank with all threads, divided work, latency and bandwidth;
the last two are the same for all jobs. All coefficients are nonnegative and minimize the sum of squared relative
errors. If doubling the size of a job more than doubled the time of one rank with one thread, W is raised to the
corresponding power. Memory of a rank: m_j + n_j W + p_j W / r.

The runs with the most ranks at the largest size are held out. The output has the error on them and on the fitted
rows, and the error of a fit to all rows on the rows of --beyond, which may have larger sizes. The predictions are for
machines with the given threads and GiB, one rank each, in a network with the given latency and bandwidth instead of L
and B, which are those of one host's memory. They extrapolate far beyond the runs; the held-out error does not apply
to them.
"""

import json
import math
import pathlib
import statistics
import sys

from mpi_scaling import best

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402

SWEEPS = 20000
GIB = 2.0**30


def least_squares(rows, seconds):
    """The nonnegative x that minimizes the relative errors of rows . x, by coordinate descent on the normal equations."""
    columns = len(rows[0])
    scaled = [[value / one for value in row] for row, one in zip(rows, seconds)]
    norms = [math.sqrt(sum(row[c] ** 2 for row in scaled)) or 1.0 for c in range(columns)]
    scaled = [[value / norm for value, norm in zip(row, norms)] for row in scaled]
    gram = [[sum(row[a] * row[b] for row in scaled) for b in range(columns)] for a in range(columns)]
    aim = [sum(row[a] for row in scaled) for a in range(columns)]
    x = [0.0] * columns
    for _ in range(SWEEPS):
        change = 0.0
        for c in range(columns):
            if gram[c][c] == 0:
                continue
            new = max(0.0, x[c] + (aim[c] - sum(g * v for g, v in zip(gram[c], x))) / gram[c][c])
            change = max(change, abs(new - x[c]))
            x[c] = new
        if change < 1e-12:
            break
    return [value / norm for value, norm in zip(x, norms)]


def powers(rows):
    """The power of the work of each job."""
    found = {}
    for job in {row["job"] for row in rows}:
        one = sorted((row["work"], row["seconds"]) for row in rows if row["job"] == job and row["ranks"] == 1
                     and row["threads"] == 1)
        (small, fast), (large, slow) = (one[0], one[-1]) if one else ((1, 1), (1, 1))
        found[job] = max(1.0, math.log(slow / fast) / math.log(large / small)) if large > small else 1.0
    return found


class Model:
    """The fit."""

    def __init__(self, rows):
        self.powers = powers(rows)
        self.jobs = sorted(self.powers)
        self.x = least_squares([self.terms(row) for row in rows], [row["seconds"] for row in rows])
        self.memory = {}
        for job in self.jobs:
            of = [row for row in rows if row["job"] == job]
            self.memory[job] = least_squares([[1.0, row["work"], row["work"] / row["ranks"]] for row in of],
                                             [float(row["peak_memory_bytes"]) for row in of])

    def terms(self, row):
        work = row["work"] ** self.powers[row["job"]]
        own = [1.0, work, work / row["threads"], work / row["threads"] / row["ranks"]]
        terms = [0.0] * (4 * len(self.jobs)) + [float(row["exchanges"]), float(row["exchanged_bytes"])]
        at = 4 * self.jobs.index(row["job"])
        terms[at:at + 4] = own
        return terms

    def seconds(self, row):
        return sum(a * b for a, b in zip(self.terms(row), self.x))

    def of_job(self, job):
        at = 4 * self.jobs.index(job)
        return self.x[at:at + 4]


def errors(model, rows):
    return [{"job": row["job"], "size": row["size"], "threads": row["threads"], "ranks": row["ranks"],
             "seconds": round(row["seconds"], 4), "model": round(model.seconds(row), 4),
             "error_percent": round(100 * (model.seconds(row) / row["seconds"] - 1), 1)} for row in rows]


def summary(of):
    sizes = [abs(one["error_percent"]) for one in of]
    return {"runs": len(of), "median_percent": round(statistics.median(sizes), 1), "largest_percent": max(sizes)}


def label_from(model, rows, documents, hours, a):
    """Machines to reduce this many documents within this many hours; each holds all documents."""
    row = max((row for row in rows if row["job"] == "reduce"), key=lambda row: (row["ranks"], row["work"]))
    start, alone, threaded, shared = model.of_job("reduce")
    work = documents ** model.powers["reduce"]
    # Most of the exchanged bytes are values and items, whose number is the number of documents.
    told = row["exchanged_bytes"] * documents / row["work"]
    network = row["exchanges"] * a.latency_us * 1e-6 + told / (a.bandwidth_gb * 1e9)
    fixed = start + alone * work + threaded * work / a.machine_threads + network
    parts = shared * work / a.machine_threads
    limit = hours * 3600
    machines = math.ceil(parts / (limit - fixed)) if fixed < limit else None
    machines = max(machines, 1) if machines is not None else None
    start, of_all, of_part = model.memory["reduce"]
    return {"documents": documents, "hours": hours, "seconds_of_one_machine": round(fixed + parts),
            "seconds_not_shared_out": round(fixed), "machines": machines,
            "gib_a_machine": round((start + (of_all + of_part / (machines or 1)) * documents) / GIB, 1)}


def search_in(model, job, documents, rate, a, queries):
    """Machines for so many queries a second over a collection, which is split where it does not fit one machine's memory. Each machine
    answers queries of its own: c and d are both the cost of its threads."""
    shared = sum(model.of_job(job)[2:])
    start, of_all, of_part = model.memory[job]
    gib = (start + (of_all + of_part) * documents * queries) / GIB
    parts = math.ceil(gib / a.machine_memory)
    seconds = shared * (documents * queries) ** model.powers[job] / queries  # of a thread, for a query
    return {"job": job, "documents": documents, "queries_a_second": rate, "gib": round(gib, 1), "parts": parts,
            "thread_seconds_a_query": float(f"{seconds:.3g}"),
            "queries_a_second_of_a_machine": float(f"{a.machine_threads / seconds:.3g}"),
            "machines": max(parts, math.ceil(rate * seconds / a.machine_threads))}


def read_best(folder):
    return best(common.read_rows(folder / "rows.jsonl"))


def markdown(told):
    def errors_of(name, runs):
        return common.table([name, "size", "threads", "ranks", "seconds", "model", "error (%)"],
                            [list(map(str, one.values())) for one in runs])

    jobs = common.table(["job", "power of W", *(f"{name} (s)" for name in "abcd"), "memory (MiB)", "bytes an item",
                         "bytes an item of a rank's part"],
                        [[job, f"{of['power']:.2f}", *(f"{of[name]:.3g}" for name in "abcd"), f"{of['memory_mib']:.1f}",
                          f"{of['bytes_an_item']:.3g}", f"{of['bytes_an_item_of_part']:.3g}"] for job, of in told["jobs"].items()])
    bandwidth = f"{told['bandwidth_gb']:.3g}" if told["bandwidth_gb"] else "-"
    parts = [jobs, f"Latency {told['latency_us']:.3g} us an exchange, bandwidth {bandwidth} GB/s.\n",
             f"Fit: {told['fit']}. Held out: {told['held_out']}.\n", errors_of("held out", told["held_out_runs"])]
    if "beyond" in told:
        parts += [f"Beyond: {told['beyond']}.\n", errors_of("beyond", told["beyond_runs"])]
    return "\n".join([*parts, f"```\n{json.dumps(told['needs'], indent=1)}\n```\n"])


def main():
    a = common.arguments(__doc__, "rows", "out", machine_threads=16, machine_memory={"type": float, "default": 256, "help": "GiB"},
                         latency_us=50.0, bandwidth_gb=1.0, beyond=pathlib.Path)
    rows = read_best(a.rows)
    most, largest = max(row["ranks"] for row in rows), max(row["size"] for row in rows)
    held = [row for row in rows if row["ranks"] == most and row["size"] == largest]
    model = Model([row for row in rows if row not in held])
    whole = Model(rows)  # what large work needs, by all runs
    told = {"jobs": {}}
    for job in whole.jobs:
        told["jobs"][job] = {"power": whole.powers[job], **dict(zip("abcd", whole.of_job(job))),
                             "memory_mib": whole.memory[job][0] / 2**20, "bytes_an_item": whole.memory[job][1],
                             "bytes_an_item_of_part": whole.memory[job][2]}
    told["latency_us"] = whole.x[-2] * 1e6
    told["bandwidth_gb"] = 1e-9 / whole.x[-1] if whole.x[-1] > 0 else None  # None: no run told it
    told["fit"] = summary(errors(model, [row for row in rows if row not in held]))
    told["held_out_runs"] = errors(model, held)
    told["held_out"] = summary(told["held_out_runs"])
    if a.beyond:
        told["beyond_runs"] = errors(whole, [row for row in read_best(a.beyond) if row["job"] in whole.jobs])
        told["beyond"] = summary(told["beyond_runs"])
    told["assumptions"] = {"machine_threads": a.machine_threads, "machine_memory_gib": a.machine_memory, "latency_us": a.latency_us,
                           "bandwidth_gb": a.bandwidth_gb}
    queries = {row["job"]: row["queries"] for row in rows}
    told["needs"] = {}
    if "reduce" in whole.jobs:
        told["needs"]["label_from"] = label_from(whole, rows, 10_000_000, 24, a)
    for job in ("text", "dense"):
        if job in whole.jobs:
            in_parts = f"{job}-parts" if f"{job}-parts" in whole.jobs else job
            told["needs"][f"{job}_of_a_billion"] = search_in(whole, in_parts, 1_000_000_000, 1, a, queries[in_parts])
            told["needs"][f"{job}_at_10000"] = search_in(whole, job, 1_000_000, 10_000, a, queries[job])
    common.write(a.out / "model.json", json.dumps(told, indent=1) + "\n")
    common.write(a.out / "model.md", markdown(told))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""metric_gpu.py BENCH OUT --words FILE --vectors FILE: figures 4.1 to 4.10 of Barrientos 2011, chapter 4.

Runs metric_gpu_bench (which checks every result) and writes to OUT its lines, a manifest, tables.md and the figures.
WORDS is in UTF-8. A job that takes more than --limit seconds is stopped; its lines so far are kept, and the manifest
records it. Figures need matplotlib. `--resume` skips the jobs that are complete in the manifest. `--tables` draws
again from the files in OUT. Time normalized to the largest is that of the whole call, including copies of queries and
results. Memory transactions and divergence are in OUT/counters.jsonl if bench/metric_counters.py has run.
"""

import functools
import json

import common
from common import Rows

table = functools.partial(common.table, digits=".3f")
PUBLISHED = ("brute-sort", "lc-growing", "sss-objects")
# Their names in results of earlier versions.
FORMER = {"brute": "brute-sort", "lc": "lc-growing", "sss": "sss-objects"}
ALPHAS = (.4, .5, .66)


def jobs_of(a):
    """{name: arguments of the benchmark}; the rounds of each engine depend on its time per round."""
    jobs = {}
    for name, line in (("words", [f"words={a.words}"]), ("vectors", [f"vectors={a.vectors}"])):
        line = [*line, "part=search", f"gpus={a.gpus}"]
        jobs[f"{name}-pairs"] = [*line, "engines=pairs", "batches=0,1", "rounds=5"]
        jobs[f"{name}-lc"] = [*line, "engines=lc-growing", "batches=5,30,100,200,0", "rounds=3"]
        for alpha in reversed(ALPHAS):
            jobs[f"{name}-sss-{alpha:g}"] = [*line, "engines=sss-objects", f"alpha={alpha:g}", "batches=0", "rounds=1", "cpu=1000",
                                             "serial=50"]
        jobs[f"{name}-brute"] = [*line, "engines=brute-sort", "batches=0", "rounds=1"]
        jobs[f"{name}-shrinking"] = [*line, "engines=lc-shrinking", "queries=8000", "batches=0", "rounds=1", "cpu=200", "serial=10"]
        jobs[f"{name}-sss-pivots"] = [*line, "engines=sss-pivots", "alpha=.66", "queries=4000", "batches=0",
                                      "rounds=1", "cpu=200", "serial=10"]
    return jobs


def rows_of(out, case):
    return Rows({**row, "engine": FORMER.get(row["engine"], row["engine"])} for row in common.case_rows(out, case))


def kind_of(row):
    if "k" in row:
        return f"k = {row['k']}"
    return f"{row['percent']} %" if "percent" in row else f"r = {row['radius']:g}"


def is_range(row):
    return "k" not in row


def label_of(row):
    return f"`{row['engine']}`, alpha {row['alpha']}" if row["engine"].startswith("sss") else f"`{row['engine']}`"


def us(row, field):
    return 1e6 * row[field] / row["queries"]


def commit_of(out):
    """The commits of the builds that made the lines."""
    manifest = out / "manifest.json"
    files = json.loads(manifest.read_text())["files"].values() if manifest.exists() else []
    return sorted({entry["build"].split(",")[0] for entry in files if entry.get("build", "").startswith("commit")})


def counted(counters, row, field):
    """The profiler's counts per query of this search, or None."""
    same = {name: row[name] for name in ("engine", "alpha", "k", "percent") if name in row}
    if "k" not in row and "percent" not in row:
        same["radius"] = row["radius"]
    found = counters.one(data="words" if row["metric"] == "edit" else "vectors", **same)
    return found.get(field) if found else None


def normalized(out, figure, title, rows, counters, text):
    """Bars of evaluations, time and memory transactions per query, each relative to the largest of all."""
    if not rows:
        return
    fields = {"evaluations": lambda row: row["evaluations"], "time": lambda row: us(row, "whole_s"),
              "memory transactions": lambda row: counted(counters, row, "sectors")}
    fields = {name: value for name, value in fields.items() if any(value(row) is not None for row in rows)}
    most = {name: max(value(row) or 0 for row in rows) for name, value in fields.items()}

    def share(name, row):
        value = fields[name](row)
        return None if value is None else value / most[name]

    lines = [[label_of(row), kind_of(row), *(share(name, row) for name in fields), us(row, "whole_s"), us(row, "kernel_s"),
              row["evaluations"], row["found"]] for row in rows]
    text.append(f"\n### {title}\n\n"
                + table(["engine", "search", *(f"{name}, of the largest" for name in fields), "us a query", "of kernels",
                         "evaluations a query", "found"], lines))
    common.draw(out / f"figure-{figure}.svg", [bars_of(f"{title.split(':')[0]}: {name}, of the largest".replace("`", ""), rows,
                                                       lambda row, name=name: share(name, row)) for name in fields])


def bars_of(title, rows, value, normalized=True):
    """One group per search, one bar per engine."""
    cells = {(kind_of(row), label_of(row)): row for row in rows}
    labels = list(dict.fromkeys(map(label_of, rows)))
    return common.Bars(title,
                       [(kind, [value(cells[kind, label]) if (kind, label) in cells else None for label in labels])
                        for kind in dict.fromkeys(map(kind_of, rows))], [label.replace("`", "") for label in labels], normalized)


def speed_ups(out, figures, name, kinds, rows, text):
    """Speed-ups over one thread and over all; the figures compare the document's engines with ours."""
    if not rows:
        return
    threads = rows[0]["cpu_threads"]
    title = f"Figure{'s' if len(figures) > 1 else ''} {' and '.join(figures)}, {name}"
    lines = [[label_of(row), kind_of(row), row["queries_per_s"], row["queries_per_s"] / row["cpu_serial_queries_per_s"],
              row["queries_per_s"] / row["cpu_threads_queries_per_s"],
              row["cpu_threads_queries_per_s"] / row["cpu_serial_queries_per_s"],
              row["cpu_evaluations"] / row["objects"], row["evaluations"] / row["objects"]] for row in rows]
    text.append(f"\n### {title}: queries a second over the same index on the CPU, {kinds}\n\n"
                + table(["engine", "search", "queries/s", "over one thread", f"over {threads} threads",
                         f"{threads} threads over one", "evaluations on the CPU, of all objects", "on the GPU"], lines))
    panels = [bars_of(f"Figure {figure}: {name}, {kinds}, speed-up over {over}", rows,
                      lambda row, field=field: row["queries_per_s"] / row[field], normalized=False)
              for figure, over, field in ((figures[0], "one thread", "cpu_serial_queries_per_s"),
                                          (figures[-1], f"{threads} threads", "cpu_threads_queries_per_s"))]
    for figure, of in ((figures[0], panels),) if len(figures) == 1 else zip(figures, ([panel] for panel in panels)):
        common.draw(out / f"figure-{figure}-{name}.svg", of)


def whole_alphas(rows):
    """{alpha: time of all searches} of `sss-objects`, for the alphas that have the complete set of searches."""
    times = {}
    for row in rows.where(engine="sss-objects"):
        times.setdefault(row["alpha"], {})[kind_of(row)] = us(row, "whole_s")
    searches = {kind for of in times.values() for kind in of}
    return {alpha: sum(of.values()) for alpha, of in times.items() if set(of) == searches}


def best_alpha(rows):
    """The alpha of `sss-objects` with the least time of all searches; None unless all ALPHAS have all searches."""
    times = whole_alphas(rows)
    return min(times, key=times.get) if set(times) == set(ALPHAS) else None


def counters_of_pivots(name, counters, text):
    """Table 4.1 and figure 4.2: the profiler's counts for both distributions."""
    fields = ("sectors", "requests", "device_sectors", "divergent_branches", "threads_an_instruction")
    lines = [[f"`{row['engine']}`, alpha {row['alpha']}", kind_of(row), *(row.get(field) for field in fields)]
             for row in counters.where(data=name, alpha=.66) if is_range(row)]
    if lines:
        text.append(f"\n### Table 4.1 and figure 4.2, {name}: counted by the profiler, of a query\n\n"
                    + table(["engine", "search", "sectors of 32 bytes", "requests of warps", "sectors of device memory",
                             "branches where threads of a warp part", "threads of 32 that an instruction runs in"], lines))


def batches(out, name, rows, text):
    of = [row for row in rows.where(engine="lc-growing") if is_range(row)]
    if not of:
        return
    sizes = sorted({row["batch"] for row in of})
    cell = {(kind_of(row), row["batch"]): row for row in of}
    kinds = [kind for kind in dict.fromkeys(map(kind_of, of)) if all((kind, size) in cell for size in sizes)]
    text.append(f"\n### Figure 4.10, {name}: `lc-growing`, queries a second by the size of a batch, and over all threads of the "
                "CPU\n\n" + table(["search", *(f"{size:,}" for size in sizes), *(f"{size:,}: over CPU" for size in sizes)],
                                  [[kind, *(cell[kind, size]["queries_per_s"] for size in sizes),
                                    *(cell[kind, size]["queries_per_s"] / cell[kind, size]["cpu_threads_queries_per_s"]
                                      for size in sizes)] for kind in kinds]))
    lines, over = ([common.Line(kind, [(size, value(cell[kind, size])) for size in sizes], colour)
                    for kind, colour in zip(kinds, common.COLOURS)]
                   for value in (lambda row: row["queries_per_s"],
                                 lambda row: row["queries_per_s"] / row["cpu_threads_queries_per_s"]))
    common.draw(out / f"figure-4.10-{name}.svg", [
        common.Lines(f"Figure 4.10 a: {name}, lc-growing, queries a second", "queries in a batch", lines),
        common.Lines(f"Figure 4.10 b: over {of[0]['cpu_threads']} threads of the CPU", "queries in a batch", over,
                     [common.Level("as fast", 1, "#555555")])], 2)


def draw(out):
    commits = commit_of(out)
    text = ["# Metric search on GPUs\n\nMade by `bench/metric_gpu.py` from the lines beside it"
            + (f", all of {commits[0]}.\n" if len(commits) == 1 else f": of {len(commits)} builds, {'; '.join(commits)}.\n")]
    counters = rows_of(out, "counters")
    for name in ("words", "vectors"):
        every = Rows(row for case in common.case_names(out, f"{name}-") for row in rows_of(out, case))
        if not every:
            continue
        rows = Rows(row for row in every if row["batch"] == row["queries"] and row["batch"] > 1)
        alpha = best_alpha(rows)
        if alpha is None:
            text.append(f"\n{name}: of `sss-objects` only the alphas {sorted(whole_alphas(rows))} have every search, so figures 4.1 "
                        "and 4.4, which compare alphas, and the one for the others are not drawn from it.\n")
        shown = Rows(row for row in rows if row["engine"] in PUBLISHED and (row["engine"] != "sss-objects" or row["alpha"] == alpha))
        for figure, wanted, kinds in (("4.1", is_range, "ranges"), ("4.4", lambda row: not is_range(row), "kNN")):
            if alpha is not None:
                normalized(out, f"{figure}-{name}", f"Figure {figure}, {name}: `sss-objects` by alpha, {kinds}",
                           [row for row in rows.where(engine="sss-objects") if wanted(row)], counters, text)
        normalized(out, f"4.2-{name}", f"Figure 4.2, {name}: `sss-pivots` beside `sss-objects`, ranges",
                   [row for row in rows if row["engine"].startswith("sss") and row["alpha"] == .66 and is_range(row)],
                   counters, text)
        counters_of_pivots(name, counters, text)
        normalized(out, f"4.3-{name}", f"Figure 4.3, {name}: lists of clusters by a growing and a shrinking radius, kNN",
                   [row for row in rows if row["engine"].startswith("lc") and not is_range(row)], counters, text)
        for figure, of, wanted, kinds in (("4.5", ("4.6", "4.7"), is_range, "ranges"),
                                          ("4.8", ("4.9",), lambda row: not is_range(row), "kNN")):
            some = [row for row in shown if wanted(row)]
            normalized(out, f"{figure}-{name}", f"Figure {figure}, {name}: published engines, {kinds}", some, counters, text)
            speed_ups(out, of, name, kinds, [*some, *(row for row in rows.where(engine="pairs") if wanted(row))], text)
        batches(out, name, every, text)
    common.write(out / "tables.md", "".join(text))


def main():
    a = common.arguments(__doc__, "bench", "out", words=str, vectors=str, gpus=1,
                         limit={"type": float, "default": 600, "help": "seconds a job"},
                         only={"nargs": "*", "help": "jobs, such as words-lc; the others' lines stay"},
                         resume={"action": "store_true", "help": "jobs that ended well before are not run again"},
                         note={"default": "", "help": "what else the machine did"},
                         tables={"action": "store_true", "help": "draw again from the lines in OUT"})
    failed = [] if a.tables else common.run_jobs(a.out, a.bench, jobs_of(a), a.limit, a.only, a.resume, a.note)
    draw(a.out)
    if failed:
        common.fail(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()

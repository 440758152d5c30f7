#!/usr/bin/env python3
"""metric_gpu.py BENCH OUT --words FILE --vectors FILE: figures 4.1 to 4.10 of Barrientos 2011, chapter 4.

Runs metric_gpu_bench (which checks every answer) and writes to OUT its lines, a manifest, tables.md and the
figures. WORDS is in UTF-8. A job that takes more than --limit seconds is cut off; its lines until then stay, and
the manifest says so. `--tables` draws again from what lies in OUT. Time normalized to the largest is the whole
call's, queries and answers copied; figures 4.1, 4.2, 4.4, 4.5 and 4.8 also count memory transactions and
divergence by hardware counters, which are not read here.
"""

import argparse
import datetime
import json
import pathlib
import subprocess

import svg_lines
from row_tables import COLOURS, Rows, bars, read, table

PUBLISHED = ("brute", "lc", "sss")


def jobs_of(a):
    """Name: arguments of the bench. Each engine's rounds by what a round takes."""
    jobs = {}
    for name, line in (("words", [f"words={a.words}"]), ("vectors", [f"vectors={a.vectors}"])):
        line = [*line, "part=search", f"gpus={a.gpus}"]
        jobs[f"{name}-pairs"] = [*line, "engines=pairs", "batches=0,1", "rounds=5"]
        jobs[f"{name}-lc"] = [*line, "engines=lc", "batches=5,30,100,200,0", "rounds=3"]
        jobs[f"{name}-sss"] = [*line, "engines=sss", "batches=0", "rounds=1", "cpu=1000", "serial=50"]
        jobs[f"{name}-shrinking"] = [*line, "engines=lc-shrinking", "queries=8000", "batches=0", "rounds=1",
                                     "cpu=200", "serial=10"]
        jobs[f"{name}-brute"] = [*line, "engines=brute", "batches=0", "rounds=1"]
        jobs[f"{name}-sss-pivots"] = [*line, "engines=sss-pivots", "alpha=.66", "queries=4000", "batches=0",
                                      "rounds=1", "cpu=200", "serial=10"]
    return jobs


def run(a):
    manifest = a.out / "manifest.json"
    files = json.loads(manifest.read_text())["files"] if manifest.exists() else {}
    for name, line in jobs_of(a).items():
        if a.only and name not in a.only:
            continue
        started = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        cut_off = False
        with open(a.out / f"{name}.jsonl", "wb") as lines, open(a.out / "messages", "w+b") as messages:
            try:
                subprocess.run([a.bench, *line], stdout=lines, stderr=messages, check=True, timeout=a.limit)
            except subprocess.TimeoutExpired:
                cut_off = True
            except subprocess.CalledProcessError as error:
                messages.seek(0)
                print(name, error, messages.read().decode(), flush=True)
                cut_off = True
            messages.seek(0)
            build = messages.read().decode().strip()
        (a.out / "messages").unlink()
        files[f"{name}.jsonl"] = {
            "started": started, "build": build, "cut_off": cut_off,
            "command": " ".join([pathlib.Path(a.bench).name,
                                 *(word.split("=")[0] + "=" + pathlib.Path(word).name if "/" in word else word
                                   for word in line)])}
        manifest.write_text(json.dumps({"note": a.note, "files": files}, indent=2) + "\n")


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


def normalized(out, figure, title, rows, text):
    """Evaluations and time a query of the largest of all; a bar each."""
    if not rows:
        return
    time, work = max(us(row, "whole_s") for row in rows), max(row["evaluations"] for row in rows)
    lines = [[label_of(row), kind_of(row), us(row, "whole_s") / time, row["evaluations"] / work, us(row, "whole_s"),
              us(row, "kernel_s"), row["evaluations"], row["found"]] for row in rows]
    text.append(f"\n### {title}\n\n" + table(["engine", "search", "time of the largest", "evaluations of the largest",
                                            "us a query", "of kernels", "evaluations a query", "found"], lines))
    kinds = list(dict.fromkeys(kind_of(row) for row in rows))
    labels = list(dict.fromkeys(label_of(row) for row in rows))
    groups = [(kind, [next((us(row, "whole_s") / time for row in rows if (kind_of(row), label_of(row)) == (kind, label)), 0)
                      for label in labels]) for kind in kinds]
    (out / f"figure-{figure}.svg").write_text(bars(f"Figure {title}: time of the largest", groups,
                                                   [label.replace("`", "") for label in labels]))


def speed_ups(title, rows, text):
    lines = [[label_of(row), kind_of(row), row["queries_per_s"], row["queries_per_s"] / row["cpu_serial_queries_per_s"],
              row["queries_per_s"] / row["cpu_threads_queries_per_s"], row["cpu_evaluations"] / row["objects"],
              row["evaluations"] / row["objects"]] for row in rows]
    if lines:
        text.append(f"\n### {title}\n\n"
                    + table(["engine", "search", "queries/s", "over one thread", f"over {rows[0]['cpu_threads']} threads",
                             "evaluations on the CPU, of all objects", "on the GPU"], lines))


def best_alpha(rows):
    """Of `sss` the alpha that took least in all; of a run that was cut off one that has most searches."""
    times = {}
    for row in rows.where(engine="sss"):
        times.setdefault(row["alpha"], []).append(us(row, "whole_s"))
    return min(times, key=lambda alpha: (-len(times[alpha]), sum(times[alpha]))) if times else 0


def batches(out, name, rows, text):
    of = [row for row in rows.where(engine="lc") if is_range(row)]
    if not of:
        return
    sizes = sorted({row["batch"] for row in of})
    cell = {(kind_of(row), row["batch"]): row for row in of}
    kinds = [kind for kind in dict.fromkeys(map(kind_of, of)) if all((kind, size) in cell for size in sizes)]
    text.append(f"\n### Figure 4.10, {name}: `lc`, queries a second by the size of a batch, and over all threads of the "
                "CPU\n\n" + table(["search", *(f"{size:,}" for size in sizes), *(f"{size:,}: over CPU" for size in sizes)],
                                  [[kind, *(cell[kind, size]["queries_per_s"] for size in sizes),
                                    *(cell[kind, size]["queries_per_s"] / cell[kind, size]["cpu_threads_queries_per_s"]
                                      for size in sizes)] for kind in kinds]))
    lines = [svg_lines.Line(kind, COLOURS[i], "", [(size, cell[kind, size]["queries_per_s"]) for size in sizes])
             for i, kind in enumerate(kinds)]
    (out / f"figure-4.10-{name}.svg").write_text(
        svg_lines.drawn([svg_lines.Panel(f"Figure 4.10: {name}, lc, queries a second", "queries in a batch", lines, [])], 1))


def draw(out):
    text = ["# Metric search on GPUs\n\nMade by `bench/metric_gpu.py` from the lines beside it.\n"]
    for name in ("words", "vectors"):
        every = Rows(row for path in sorted(out.glob(f"{name}-*.jsonl")) for row in read(out, path.stem))
        if not every:
            continue
        rows = Rows(row for row in every if row["batch"] == row["queries"] and row["batch"] > 1)
        alpha = best_alpha(rows)
        shown = Rows(row for row in rows if row["engine"] in PUBLISHED and
                     (row["engine"] != "sss" or row["alpha"] == alpha))
        for figure, wanted, kinds in (("4.1", is_range, "ranges"), ("4.4", lambda row: not is_range(row), "kNN")):
            normalized(out, f"{figure}-{name}", f"Figure {figure}, {name}: `sss` by alpha, {kinds}",
                       [row for row in rows.where(engine="sss") if wanted(row)], text)
        normalized(out, f"4.2-{name}", f"Figure 4.2, {name}: `sss-pivots` beside `sss`, ranges",
                   [row for row in rows if row["engine"].startswith("sss") and row["alpha"] == .66 and is_range(row)],
                   text)
        normalized(out, f"4.3-{name}", f"Figure 4.3, {name}: `lc` by a growing and a shrinking radius, kNN",
                   [row for row in rows if row["engine"].startswith("lc") and not is_range(row)], text)
        for figures, wanted, kinds in ((("4.5", "4.6 and 4.7"), is_range, "ranges"),
                                       (("4.8", "4.9"), lambda row: not is_range(row), "kNN")):
            some = [row for row in shown if wanted(row)]
            normalized(out, f"{figures[0]}-{name}", f"Figure {figures[0]}, {name}: published engines, {kinds}", some, text)
            speed_ups(f"Figures {figures[1]}, {name}: queries a second over the same index on the CPU, {kinds}",
                      [*some, *(row for row in rows.where(engine="pairs") if wanted(row))], text)
        batches(out, name, every, text)
    (out / "tables.md").write_text("".join(text))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--words")
    parser.add_argument("--vectors")
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--limit", type=float, default=600, help="seconds a job")
    parser.add_argument("--only", nargs="*", help="jobs, such as words-lc; the others' lines stay")
    parser.add_argument("--note", default="", help="what else the machine did")
    parser.add_argument("--tables", action="store_true", help="draw again from the lines in OUT")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    if not arguments.tables:
        run(arguments)
    draw(arguments.out)


if __name__ == "__main__":
    main()

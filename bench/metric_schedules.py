#!/usr/bin/env python3
"""metric_schedules.py BENCH OUT --words FILE --vectors FILE: figures 3.2 to 3.11 of Barrientos 2011.

Runs metric_schedule_bench (which checks every result) and writes to OUT its lines, a manifest, tables.md and the
figures, which need matplotlib. `--part counted` uses simulated time, with the same results on every machine. `--part
seconds` measures wall time of queries that have all arrived, and of low traffic on the most threads, one job per type
of index; it needs an otherwise idle machine with at least 16 cores. The default does both. There, `sss` and `m-tree`
have half the queries, and `mvpt`, by far the slowest, a quarter and one round. Defaults are a full run: 40,000
queries among 51,589 words and 24,000 among 96,000 vectors on 1 to 16 threads. A job that takes more than --limit
seconds is stopped; its lines so far are kept, and the manifest records it. `--tables` draws again from the lines in
OUT.
"""

import functools
import json
import re

import common
from common import Rows

table = functools.partial(common.table, digits=".3f")
STYLES = ["-", (0, (6, 3)), (0, (2, 2)), (0, (8, 3, 2, 3)), "-", (0, (4, 4))]
TIMED = {"lc": 1, "sss-tree": 1, "egnat": 1, "sss": 2, "m-tree": 2, "mvpt": 4}  # a part of the queries is timed, one in so many
DEALT = ("local", "bulk-local", "bulk-circular", "hybrid")


def jobs_of(a):
    """{name: arguments of the benchmark}."""
    threads = ",".join(str(n) for n in a.threads)
    several = ",".join(str(n) for n in a.threads if n > 1)
    words = [f"words={a.words}", "radii=1,2,3", f"queries={a.word_queries}"]
    vectors = [f"vectors={a.vectors}", f"objects={a.vector_objects}", f"queries={a.vector_queries}"]
    published = "types=lc,sss,sss-tree,egnat,m-tree"
    most = f"threads={a.threads[-1]}"
    rounds = f"seconds={max(1, a.seconds)}"
    jobs = {}
    if a.part != "seconds":
        for name, line in (("words", words), ("vectors", vectors)):
            jobs[name] = [*line, published + ",mvpt", f"threads={threads}"]
        jobs["figure-3.5"] = [*words, "types=lc", most, "split=0", "traffics=figure-3.5"]
        jobs["supersteps"] = [*words, "types=lc", most, "split=0", "schedules=bulk-circular,hybrid",
                              "supersteps=64,256,1024,4096,16384"]
    if a.part != "counted":
        jobs["critical"] = [*words, "types=egnat,lc", most, "split=0", "traffics=",
                            "schedules=shared,local,bulk-circular,bulk-critical", rounds]
        for index, parts in TIMED.items():
            for name, line, queries in (("words", words, a.word_queries), ("vectors", vectors, a.vector_queries)):
                of = [*line[:-1], f"queries={max(1, queries // parts)}", f"types={index}", "traffics=",
                      "seconds=1" if index == "mvpt" else rounds]
                # Alone a thread is the same under each schedule.
                jobs[f"seconds-{name}-{index}-1"] = [*of, "threads=1", "split=0", "schedules=local"]
                jobs[f"seconds-{name}-{index}"] = [*of, f"threads={several}", "clocked=low",
                                                   "schedules=shared,local,bulk-local,bulk-circular,hybrid"]
    return jobs


def of_range(row):
    return f"{row['share']} %" if row["share"] else f"r = {row['radius']:g}"


def name_of(index, range_name):
    """The label below a bar."""
    return f"{index} {range_name}".replace("r = ", "r")


def write_lines(path, panels):
    """Draws a panel of values by threads for each (title, [(label, points), ...]) with points."""
    shown = [common.Lines(title, "threads", [common.Line(*one, *of) for one, *of in zip(series, common.COLOURS, STYLES)],
                          ticks={threads: f"{threads:,}" for _, points in series for threads, _ in points})
             for title, series in panels if any(points for _, points in series)]
    if shown:
        common.draw(path, shown, len(shown))


def write_bars(path, title, groups, labels):
    """Draws one panel of bars, all at most 1: the normalized figures."""
    common.draw(path, [common.Bars(title, groups, labels)])


def by_threads_of(rows, field, **fields):
    return [(row["threads"], row[field]) for row in rows.where(**fields)]


def times(rows, out, traffic, figure, text):
    """Figures 3.3 and 3.4: time of all schedules, normalized to the largest of the data set."""
    most = max(rows.values("threads"))
    for data in rows.values("data"):
        some = rows.where(data=data, row="counted", traffic=traffic, threads=most, superstep=1024)
        largest = max((row["end"] for row in some), default=None)
        head = ["index, range", *DEALT, *(f"{name}: response" for name in DEALT)]
        lines, groups = [], []
        for index in some.values("index"):
            for share in some.where(index=index).values("radius"):
                of = [some.one(index=index, radius=share, schedule=name) for name in DEALT]
                if None in of:  # cut off
                    continue
                ends = [row["end"] / largest for row in of]
                lines.append([f"`{index}`, {of_range(of[0])}", *ends, *(row["response"] for row in of)])
                groups.append((name_of(index, of_range(of[0])), ends))
        if not lines:
            continue
        text.append(f"\n### Figure {figure}, {data}: time, {most} threads, {traffic} traffic\n\n"
                    f"Of the largest, {largest:.1f} units; beside it the mean units from a query's arrival to its "
                    f"answer.\n\n" + table(head, lines))
        write_bars(out / f"figure-{figure}-{data}.svg", f"Figure {figure}: counted time, {data}, {most} threads, {traffic} traffic",
                   groups, DEALT)


def indexes(rows, out, text):
    most = max(rows.values("threads"))
    lines, panels = [], []
    names = rows.values("index")
    for data in rows.values("data"):
        for schedule, traffic in (("local", "high"), ("bulk-circular", "low")):
            some = rows.where(data=data, row="counted", schedule=schedule, traffic=traffic, threads=most, superstep=1024)
            # Time is in queries of each index: in distances it can be compared.
            work = {(row["index"], row["radius"]): row["end"] * row["evaluations"] for row in some}
            for (index, radius), value in work.items():
                row = some.one(index=index, radius=radius)
                lines.append([f"{data}, {schedule}, {traffic}", f"`{index}`", of_range(row), value / max(work.values())])
            groups = [(of_range(some.where(radius=radius)[0]), [work[index, radius] / max(work.values()) if (index, radius) in
                                                                work else None for index in names])
                      for radius in some.values("radius")]
            if groups:
                panels.append(common.Bars(f"Figure 3.6: {data}, {schedule}, {traffic} traffic, {most} threads, counted time",
                                          groups, names))
    if not panels:
        return
    text.append("\n### Figure 3.6: the indexes, counted time in distances, of the largest\n\n"
                + table(["data, schedule, traffic", "index", "range", "time"], lines))
    common.draw(out / "figure-3.6.svg", panels)


def by_threads(rows, out, text):
    radius = max(rows.where(data="words").values("radius"), default=None)
    some = rows.where(data="words", row="counted", radius=radius, superstep=1024)
    if not some:
        return
    ways = [("local, high", {"schedule": "local", "traffic": "high"}),
            ("bulk-circular, high", {"schedule": "bulk-circular", "traffic": "high"}),
            ("local, low", {"schedule": "local", "traffic": "low"}),
            ("bulk-circular, low", {"schedule": "bulk-circular", "traffic": "low"})]
    lines = [[f"`{index}`, {label}", *(row["throughput"] for row in some.where(index=index, **fields))]
             for index in some.values("index") for label, fields in ways]
    threads = some.values("threads")
    text.append("\n### Figure 3.7: speed-up, words, largest radius\n\nOne thread answers one query a unit, so the "
                "speed-up is the throughput. Low traffic brings 5/6 of a query a thread and unit.\n\n"
                + table(["index, schedule, traffic", *(f"threads: {n}" for n in threads)], lines))
    write_lines(out / "figure-3.7.svg", [
        (label, [(index, by_threads_of(some, "throughput", index=index, **fields)) for index in some.values("index")])
        for label, fields in (ways[0], ways[3])])
    lc = some.where(index="lc")
    for figure, field, what, names in (("3.8", "unit_efficiency", "efficiency E of a unit of time, mean", DEALT),
                                       ("3.9", "throughput", "queries answered a unit", DEALT)):
        lines = [[f"{name}, {traffic}", *(row[field] for row in lc.where(schedule=name, traffic=traffic))]
                 for traffic in ("high", "low") for name in names]
        text.append(f"\n### Figure {figure}: {what}, `lc`, words, largest radius\n\n"
                    + table(["schedule, traffic", *(f"threads: {n}" for n in threads)], lines))
        write_lines(out / f"figure-{figure}.svg", [
            (f"{what}, {traffic} traffic", [(name, by_threads_of(lc, field, schedule=name, traffic=traffic)) for name in names])
            for traffic in ("high", "low")])


def split(rows, out, text):
    most = max(rows.values("threads"))
    for data in rows.values("data"):
        some = rows.where(data=data)
        lines = []
        for whole in some.where(row="index"):
            local = some.one(row="counted", schedule="local", traffic="high", threads=most, index=whole["index"],
                             radius=whole["radius"], superstep=1024)
            part = some.one(row="split", parts=most, index=whole["index"], radius=whole["radius"])
            if part and local:
                # The largest share of a thread, in distances.
                lines.append([f"`{whole['index']}`, {of_range(whole)}", whole["evaluations"] / most / local["efficiency"],
                              part["end"] * whole["evaluations"] / whole["queries"], whole["evaluations"], part["evaluations"]])
        if not lines:
            continue
        time, distances = (max(max(line[i], line[i + 1]) for line in lines) for i in (1, 3))
        shown = [[line[0], line[1] / time, line[2] / time, line[3] / distances, line[4] / distances,
                  line[4] / line[3]] for line in lines]
        text.append(f"\n### Figures 3.10 and 3.11, {data}: one index, and one for each of {most} threads, local, high "
                    f"traffic\n\nTime is the largest number of distances of a thread; all of the largest.\n\n"
                    + table(["index, range", "time: one", "time: split", "distances: one", "distances: split",
                             "split over one"], shown))
        for figure, at, what in (("3.10", 1, "time"), ("3.11", 3, "distances a query")):
            write_bars(out / f"figure-{figure}-{data}.svg",
                       f"Figure {figure}: {what}, {data}, one index and one for each of {most} threads",
                       [(line[0].replace("`", "").replace(",", "").replace("r = ", "r"), line[at:at + 2]) for line in shown],
                       ["one index", "split"])


def critical(rows, out, text):
    rows = Rows(rows.where(row="seconds"))
    lines = []
    share = {}
    for row in rows:
        largest = max(other["seconds"] for other in rows.where(index=row["index"]))
        share[row["index"], row["radius"], row["schedule"]] = row["seconds"] / largest
        lines.append([f"`{row['index']}`, {of_range(row)}", row["schedule"], row["seconds"] / largest,
                      row["supersteps"] / row["queries"], row["messages"] / row["queries"], row["critical"] / row["queries"]])
    if not lines:
        return
    title = f"Figure 3.2: bulk-circular and bulk-critical, {rows[0]['data']}, {rows[-1]['threads']} threads"
    text.append(f"\n### {title}\n\nSeconds of the largest of the index; a query's supersteps, messages and critical regions.\n\n"
                + table(["index, range", "schedule", "seconds", "supersteps", "messages", "regions"], lines))
    schedules = rows.values("schedule")
    groups = [(name_of(index, of_range(rows.where(index=index, radius=radius)[0])),
               [share.get((index, radius, schedule)) for schedule in schedules])
              for index in rows.values("index") for radius in rows.where(index=index).values("radius")]
    write_bars(out / "figure-3.2.svg", f"{title}, seconds", groups, schedules)


def of_supersteps(rows, text):
    lines = [[f"{row['schedule']}, {of_range(row)}, {row['traffic']}", row["superstep"], row["throughput"],
              row["response"], row["unit_efficiency"], row["supersteps"] / row["queries"],
              row["messages"] / row["queries"]] for row in rows.where(row="counted")]
    if lines:
        text.append(f"\n### The length of a superstep: `lc`, {rows[-1]['data']}, {rows[-1]['threads']} threads\n\n"
                    + table(["schedule, range, traffic", "distances", "throughput", "response", "E of a unit",
                             "supersteps a query", "messages a query"], lines))


def example(rows, out, text):
    some = rows.where(row="counted")
    if not some:
        return
    lines = [[f"{row['schedule']}, {of_range(row)}", row["throughput"], row["response"], row["unit_efficiency"]] for row in some]
    title = f"Figure 3.5's arrivals: `lc`, {some[0]['data']}, {some[0]['threads']} threads"
    text.append(f"\n### {title}\n\nThe figure itself is a test (`metric_traffic.is_figure_3_5`): 12 units for local, 8.5 "
                "for parts.\n\n" + table(["schedule, range", "throughput", "response", "E of a unit"], lines))
    schedules = some.values("schedule")
    panels = []
    for field, what in (("throughput", "queries answered a unit"), ("response", "units from arrival to answer")):
        groups = [(of_range(some.where(radius=radius)[0]),
                   [(some.one(radius=radius, schedule=schedule) or {}).get(field) for schedule in schedules])
                  for radius in some.values("radius")]
        panels.append(common.Bars(f"{title.replace('`', '')}: {what}", groups, schedules, normalized=False))
    common.draw(out / "figure-3.5.svg", panels)


def cores_of(out):
    """The cores of the machine that measured the seconds; further threads share them."""
    manifest = out / "manifest.json"
    files = json.loads(manifest.read_text())["files"] if manifest.exists() else {}
    told = [re.search(r"(\d+) cores", entry["build"]) for name, entry in files.items() if name.startswith("seconds-")]
    return min((int(match[1]) for match in told if match), default=1 << 16)


class Waiting:
    """Wall times of a data set with queries that have all arrived: high traffic. A case is an index and a radius."""

    def __init__(self, rows, cores):
        # Times are for one query, because indexes are timed on different numbers of queries.
        self.rows = Rows({**row, "seconds": row["seconds"] / row["queries"]} for row in rows.where(row="seconds", superstep=1024))
        self.alone = {(row["index"], row["radius"]): row["seconds"] for row in self.rows.where(threads=1, schedule="local")}
        self.more = [n for n in self.rows.values("threads") if n > 1]
        self.schedules = Rows(row for row in self.rows if row["threads"] > 1).values("schedule")
        # The largest number of threads that have cores and on which a case has all schedules; no case where there is none.
        self.most, self.cases = 0, []
        for n in sorted([n for n in self.more if n <= cores] or self.more):
            cases = [case for case in self.alone if all(self.seconds(case, schedule, n) for schedule in self.schedules)]
            if cases:
                self.most, self.cases = n, cases

    def seconds(self, case, schedule, threads):
        row = self.rows.one(index=case[0], radius=case[1], schedule=schedule, threads=threads)
        return row["seconds"] if row else None

    def speed_ups(self, case, schedule):
        """(threads, speed-up over one thread)"""
        return [(n, self.alone[case] / self.seconds(case, schedule, n)) for n in self.more if self.seconds(case, schedule, n)]

    def range_of(self, case):
        return of_range(self.rows.one(index=case[0], radius=case[1]))


def seconds_of_schedules(waiting, data, out, text):
    """Figure 3.3."""
    shown = [(case, [waiting.seconds(case, schedule, waiting.most) for schedule in waiting.schedules]) for case in waiting.cases]
    largest = max(max(values) for _, values in shown)
    text.append(f"\n### Figure 3.3 by the clock, {data}: {waiting.most} threads, queries that all wait\n\nOf the "
                f"largest, {1000 * largest:.4g} ms a query; then ms a query of one thread.\n\n"
                + table(["index, range", *waiting.schedules, "one thread, ms a query"],
                        [[f"`{case[0]}`, {waiting.range_of(case)}", *(value / largest for value in values),
                          1000 * waiting.alone[case]] for case, values in shown]))
    write_bars(out / f"figure-3.3-{data}-seconds.svg", f"Figure 3.3: seconds, {data}, {waiting.most} threads, all queries wait",
               [(name_of(case[0], waiting.range_of(case)), [value / largest for value in values]) for case, values in shown],
               waiting.schedules)


def speed_ups(waiting, data, out, text):
    """Figure 3.7, for the largest completed radius."""
    radius = max(case[1] for case in waiting.cases)
    cases = [case for case in waiting.cases if case[1] == radius]
    lines = []
    for case in cases:
        for schedule in waiting.schedules:
            found = dict(waiting.speed_ups(case, schedule))
            lines.append([f"`{case[0]}`, {schedule}", *(found.get(n) for n in waiting.more)])
    text.append(f"\n### Figure 3.7 by the clock, {data}: speed-up over one thread, {waiting.range_of(cases[0])}\n\n"
                + table(["index, schedule", *(f"threads: {n}" for n in waiting.more)], lines))
    write_lines(out / f"figure-3.7-{data}-seconds.svg", [
        (f"Figure 3.7, {data}: {schedule}, speed-up by the clock",
         [(case[0], [(1, 1), *waiting.speed_ups(case, schedule)]) for case in cases])
        for schedule in ("local", "bulk-circular") if schedule in waiting.schedules])


def seconds_of_split(waiting, splits, data, out, text):
    """Figure 3.10."""
    shown = []
    for case in waiting.cases:
        row = splits.one(parts=waiting.most, index=case[0], radius=case[1])
        one = waiting.seconds(case, "local", waiting.most)
        if row and one:
            shown.append((case, one, row["seconds"] / row["queries"], row["build_s"]))
    if not shown:
        return
    text.append(f"\n### Figure 3.10 by the clock, {data}: one index, and one for each of {waiting.most} threads\n\n"
                + table(["index, range", "one index, ms a query", "split", "split over one", "made in s, split"],
                        [[f"`{case[0]}`, {waiting.range_of(case)}", 1000 * one, 1000 * split, split / one, build_s]
                         for case, one, split, build_s in shown]))
    largest = max(max(one, split) for _, one, split, _ in shown)
    write_bars(out / f"figure-3.10-{data}-seconds.svg",
               f"Figure 3.10: seconds, {data}, one index and one for each of {waiting.most} threads",
               [(name_of(case[0], waiting.range_of(case)), [one / largest, split / largest]) for case, one, split, _ in shown],
               ["one index", "split"])


def in_seconds(rows, out, text):
    """Figures 3.3, 3.7 and 3.10 in wall time."""
    cores = cores_of(out)
    for data in rows.values("data"):
        some = rows.where(data=data)
        waiting = Waiting(some, cores)
        if waiting.cases:
            seconds_of_schedules(waiting, data, out, text)
            speed_ups(waiting, data, out, text)
            seconds_of_split(waiting, some.where(row="split"), data, out, text)


def low_traffic(rows, out, text):
    """Figure 3.4 in wall time."""
    for data in rows.values("data"):
        some = rows.where(data=data, row="clocked", superstep=1024)
        schedules = some.values("schedule")
        lines, seconds = [], []
        for index in some.values("index"):
            for radius in some.where(index=index).values("radius"):
                of = [some.one(index=index, radius=radius, schedule=schedule) for schedule in schedules]
                if None in of:  # cut off
                    continue
                first = of[0]
                lines.append([f"`{index}`, {of_range(first)}", first["queries"], 1000 * first["unit_s"],
                              *(cell for row in of for cell in (row["throughput"] / row["threads"], row["response"]))])
                seconds.append((name_of(index, of_range(first)), [row["end"] * row["unit_s"] / row["queries"] for row in of]))
        if not lines:
            continue
        threads = some[0]["threads"]
        largest = max(max(values) for _, values in seconds)
        text.append(f"\n### Figure 3.4 by the clock, {data}: {threads} threads, low traffic\n\nA unit is the mean time of a query on "
                    "one thread, and brings 5/6 of a query a thread. Beside it queries answered a unit and thread, and the mean units from "
                    "a query's arrival to its answer.\n\n"
                    + table(["index, range", "queries", "unit, ms", *(f"{name}{what}" for name in schedules for what in ("", ": response"))], lines))
        write_bars(out / f"figure-3.4-{data}-seconds.svg", f"Figure 3.4: seconds, {data}, {threads} threads, low traffic",
                   [(name, [value / largest for value in values]) for name, values in seconds], schedules)


def work(rows, text):
    lines = [[row["data"], f"`{row['index']}`", of_range(row), row["evaluations"], row["evaluations"] / row["objects"],
              row["found"]] for row in rows.where(row="index")]
    text.append("\n### Distances a query\n\n" + table(["data", "index", "range", "distances", "of all objects", "found"], lines))


def draw(out):
    def read(name):
        return common.case_rows(out, name)

    rows = Rows(read("words") + read("vectors"))
    for row in rows:
        row.setdefault("threads", 0)
    text = ["Made by `bench/metric_schedules.py` from the lines beside it. Counted time: its unit is the mean number of "
            "distances of a query.\n"]
    counted = Rows(row for row in rows if row["threads"] > 0)
    if rows:
        work(rows, text)
    critical(read("critical"), out, text)
    if counted:
        times(counted, out, "high", "3.3", text)
        times(counted, out, "low", "3.4", text)
    example(read("figure-3.5"), out, text)
    if counted:
        indexes(counted, out, text)
        by_threads(counted, out, text)
        split(rows, out, text)
    of_supersteps(read("supersteps"), text)
    by_the_clock = Rows(row for case in reversed(common.case_names(out, "seconds-")) for row in common.case_rows(out, case))
    in_seconds(by_the_clock, out, text)
    low_traffic(by_the_clock, out, text)
    common.write(out / "tables.md", "# Schedules of queries over metric indexes\n\n" + "".join(text))


def main():
    a = common.arguments(__doc__, "bench", "out", words=str, vectors=str, threads=[1, 2, 4, 8, 16], word_queries=40000,
                         vector_queries=24000, vector_objects=96000,
                         seconds={"type": int, "default": 3, "help": "rounds of timed searches"},
                         part={"choices": ["counted", "seconds", "both"], "default": "both"},
                         only={"nargs": "*", "help": "jobs, such as critical; the others' lines stay"},
                         limit={"type": float, "help": "seconds a job; default: none"},
                         note={"default": "", "help": "what else the machine did"},
                         tables={"action": "store_true", "help": "draw again from the lines in OUT"})
    failed = [] if a.tables else common.run_jobs(a.out, a.bench, jobs_of(a), a.limit, a.only, note=a.note)
    draw(a.out)
    if failed:
        common.fail(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()

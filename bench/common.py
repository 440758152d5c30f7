"""Functions that the scripts of bench/ share: their command lines, programs that they run and time, JSON lines, manifests, Markdown tables,
documents in LETOR's form, and pictures.

    a = common.arguments(__doc__, "program", "out", rounds=3, sizes=[3, 4])
    times = common.in_turn(a.rounds, {"ours": lambda: common.timed(ours)[0], "theirs": lambda: common.timed(theirs)[0]})
    common.write(a.out / "tables.md", common.table(["side", "median s"], rows))
    common.manifest(a.out / "manifest.json", build=common.build(a.program))
"""

import argparse
import contextlib
import datetime
import gzip
import hashlib
import io
import itertools
import json
import os
import pathlib
import platform
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import typing

ROOT = pathlib.Path(__file__).resolve().parents[1]
# So that Open MPI runs as root, in a container and without a network.
MPI = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}


class Failed(Exception):
    """Ends a script with a message in place of a traceback, from a process of a pool too."""


def show_failure(kind, failure, trace):
    if issubclass(kind, Failed):
        print(f"{script()}: error: {failure}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, failure, trace)


sys.excepthook = show_failure


def fail(message):
    raise Failed(message)


def script():
    """The name of the script that runs."""
    return pathlib.Path(sys.argv[0]).name


# --- the command line


def path_of(word):
    """An absolute path; of a word that is no file the program of that name on the PATH, where there is one."""
    return pathlib.Path(word if pathlib.Path(word).exists() else shutil.which(word) or word).resolve()


def option_of(default):
    """The arguments of add_argument for an option with this default."""
    if isinstance(default, dict):
        return default
    if isinstance(default, type):
        return {"type": {pathlib.Path: path_of, list: lambda text: text.split(",")}.get(default, default)}
    if default is False:
        return {"action": "store_true"}
    if isinstance(default, list):
        of = type(default[0])
        return {"type": lambda text: [of(word) for word in text.split(",")], "default": default,
                "help": "default: " + ",".join(map(str, default)).replace("%", "%%")}
    return {"type": type(default), "default": default, "help": f"default: {default}".replace("%", "%%")}


def parser(description, *positional, **options):
    """The parser of a command line.

    Positional arguments are paths; `NAME?` may be left out, and `NAME+` and `NAME*` take several. The default of an option says what the
    option takes: False is a flag, a list takes values with commas between them, of the type of its first value, `list` takes words
    without a default, another type one value without a default. A dict holds the arguments of add_argument.
    """
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in positional:
        made.add_argument(name.rstrip("?+*"), type=path_of, **({"nargs": name[-1]} if name[-1] in "?+*" else {}))
    for name, default in options.items():
        made.add_argument("--" + name.replace("_", "-"), **option_of(default))
    return made


def arguments(description, *positional, **options):
    """The arguments of this run, by parser()."""
    return parser(description, *positional, **options).parse_args()


# --- programs


@contextlib.contextmanager
def scratch(**where):
    """The path of a folder that is there as long as a `with`."""
    with tempfile.TemporaryDirectory(**where) as name:
        yield pathlib.Path(name)


def call(*words, codes=(0,), **how):
    """Runs a command to its end, which is a failure where the exit code is none of `codes`."""
    words = [str(word) for word in words]
    done = subprocess.run(words, **{"capture_output": True, "text": True, **how})
    if done.returncode not in codes:
        fail(f"{' '.join(words)}: exit code {done.returncode}: {done.stderr.strip() if done.stderr else ''}")
    return done


def output(*words, **how):
    """The standard output of a command."""
    return call(*words, **how).stdout


def told(*words, **how):
    """The JSON that a command prints."""
    return json.loads(output(*words, **how))


def told_rows(*words, **how):
    """The JSON lines that a command prints, without the other lines."""
    return Rows(json.loads(line) for line in output(*words, **how).splitlines() if line.startswith("{"))


def program(path, *more, by=call, **how):
    """A function that runs the program with its own arguments, then `more`; `by` is call, output or told."""
    return lambda *words, **also: by(path, *words, *more, **how, **also)


def over_ranks(ranks, *placed):
    """The arguments that start a command in `ranks` MPI ranks: on any cores, also more ranks than cores, or as `placed` says."""
    return ["mpirun", *(placed or ("--oversubscribe", "--bind-to", "none")), "-n", ranks]


def on_cores(ranks, threads=1):
    """`over_ranks` with a separate core for each thread of each rank."""
    return over_ranks(ranks, "--map-by", f"slot:PE={threads}", "--bind-to", "core")


def averages(program, test, scores, metrics, *more, **how):
    """{measure: mean over the queries} of a file of scores."""
    return told(program, "evaluate", "--test", test, "--scores", scores, "--metrics", metrics, *more, "--json", "--quiet",
                **how)["systems"][0]["averages"]


# --- times


def timed(work):
    """Seconds of the wall clock, and what the work returns."""
    begin = time.perf_counter()
    found = work()
    return time.perf_counter() - begin, found


def in_turn(rounds, sides):
    """{side: its results}: rounds in which the sides (name: function) take turns, so that a slow minute of the machine meets all."""
    found = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            found[name].append(side())
    return found


def spread(values):
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def between(values):
    """`median (least to most)`, three digits each."""
    return "{:.3g} ({:.3g} to {:.3g})".format(*spread(values).values())


# --- rows


class Rows(list):
    """Dictionaries to pick from."""

    def where(self, **fields):
        return Rows(row for row in self if all(row.get(name) == value for name, value in fields.items()))

    def one(self, **fields):
        """The first such row, or None."""
        return next(iter(self.where(**fields)), None)

    def values(self, name):
        """In their order, each once."""
        return list(dict.fromkeys(row[name] for row in self))


class Log(Rows):
    """Writes each added row to a file of JSON lines; a row that is shown goes to standard output too."""

    def __init__(self, path, shown=False):
        super().__init__()
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file, self.shown = open(path, "w", encoding="utf-8"), shown

    def add(self, row):
        self.append(row)
        print(json.dumps(row), file=self.file, flush=True)
        if self.shown:
            print(json.dumps(row), flush=True)
        return row


def read_rows(path):
    """The rows of a file of JSON lines; none where there is no file."""
    return Rows(map(json.loads, path.read_text("utf-8").splitlines())) if path.exists() else Rows()


def kept_rows(folder):
    """The rows of a run that is kept as one file, rows.jsonl or rows.jsonl.gz: `case` names the file that a row was in."""
    for path, opened in ((folder / "rows.jsonl", open), (folder / "rows.jsonl.gz", gzip.open)):
        if path.exists():
            with opened(path, "rt", encoding="utf-8") as lines:
                return Rows(map(json.loads, lines))
    return Rows()


def case_names(folder, begin):
    """The names of a run's files of rows, or of its cases, that begin with `begin`, in order of the files."""
    found = {path.stem for path in folder.glob("*.jsonl")} | {row["case"] for row in kept_rows(folder)}
    return sorted((name for name in found if name.startswith(begin)), key=lambda name: f"{name}.jsonl")


def case_rows(folder, name):
    """The rows of NAME.jsonl, or of the case NAME of a run that is kept as one file."""
    path = folder / f"{name}.jsonl"
    if path.exists():
        return read_rows(path)
    return Rows({field: value for field, value in row.items() if field != "case"} for row in kept_rows(folder).where(case=name))


def write_rows(path, rows):
    write(path, "".join(json.dumps(row) + "\n" for row in rows))


def write(path, text):
    """Writes a text file, and the folder that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


# --- where and by what a run was made


def now():
    """UTC, in seconds."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def machine():
    """Processor, cores that this process may use, memory and kernel."""
    cpu = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return {"cpu": cpu[1] if cpu else "", "cores": len(os.sched_getaffinity(0)),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), "kernel": platform.release()}


def build(program):
    """Version, commit, compiler and instruction set of a program, or of rulerank in a folder of programs."""
    told_version = output(program / "rulerank" if program.is_dir() else program, "--version")
    return dict(line.split(" ", 1) for line in told_version.splitlines() if " " in line)


def gpus():
    """Name and driver of each GPU."""
    return output("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").strip().splitlines()


def mpi():
    return output("mpirun", "--version").splitlines()[0]


def checksum(path):
    """SHA-256 of a file, or of the names and contents of a folder's files in byte order."""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    of = hashlib.sha256()
    for file in sorted(file for file in path.rglob("*") if file.is_file()):
        of.update(str(file.relative_to(path)).encode() + b"\0" + file.read_bytes())
    return of.hexdigest()


def place(word, parts=1):
    """An argument without the folders of this machine: the last parts of a path, also of a path after `key=`."""
    key, equals, value = str(word).rpartition("=")
    return key + equals + ("/".join(pathlib.Path(value).parts[-parts:]) if "/" in value else value)


STARTED = now()


def manifest(path, **fields):
    """Writes when, where and by which command line a script ran, and what else is to be kept of it."""
    write(path, json.dumps({"command": " ".join([script(), *map(place, sys.argv[1:])]), "started": STARTED, "machine": machine(),
                            **fields}, indent=1) + "\n")


def run_jobs(out, program, jobs, limit=None, only=None, resume=False, note=""):
    """Runs a benchmark once a job (name: arguments). Its lines go to OUT/NAME.jsonl; OUT/manifest.json says what it says of its build
    on standard error, and whether it was cut off after `limit` seconds or failed. Returns the names of those that failed. With
    `resume` jobs that ended well before are not run again."""
    path, failed = out / "manifest.json", []
    files = json.loads(path.read_text())["files"] if path.exists() else {}
    for name, line in jobs.items():
        if (only and name not in only) or (resume and not files.get(f"{name}.jsonl", {}).get("cut_off", True)):
            continue
        about = {"started": now(), "load": os.getloadavg()[0], "cut_off": False,
                 "command": " ".join([program.name, *map(place, line)])}
        out.mkdir(parents=True, exist_ok=True)
        with open(out / f"{name}.jsonl", "wb") as lines, open(out / "messages", "w+b") as messages:
            try:
                if subprocess.run([program, *line], stdout=lines, stderr=messages, timeout=limit).returncode:
                    failed.append(name)
            except subprocess.TimeoutExpired:
                about["cut_off"] = True
            messages.seek(0)
            about["build"] = messages.read().decode().strip()
        (out / "messages").unlink()
        if name in failed:
            about["cut_off"] = True
            print(f"{name}: {about['build']}", file=sys.stderr, flush=True)
        files[f"{name}.jsonl"] = about
        write(path, json.dumps({"note": note, "files": files}, indent=2) + "\n")
    return failed


# --- tables


def cell(value, digits=".4g"):
    """None is empty, an integer has thousands apart, another number as many digits as its format says."""
    return "" if value is None else value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else f"{value:{digits}}"


def table(head, rows, title=None, digits=".4g"):
    """A Markdown table; columns of numbers stand right."""
    shown = [[cell(value, digits) for value in row] for row in rows]
    numbers = [bool(column) and all(re.match(r"[-+.\d]|$", value) for value in column)
               for column in zip(*shown)] or [False] * len(head)
    lines = ["| " + " | ".join(row) + " |" for row in [head, *shown]]
    lines.insert(1, "|" + "|".join("--:" if right else ":--" for right in numbers) + "|")
    return (f"## {title}\n\n" if title else "") + "\n".join(lines) + "\n"


# --- documents


def letor(path):
    """(label, qid, {feature: value}) of each document of a file; NULL is NaN."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            label, qid, *values = line.partition("#")[0].split()
            pairs = (value.split(":") for value in values)
            yield int(label), qid.removeprefix("qid:"), {int(f): float("nan" if v == "NULL" else v) for f, v in pairs}


def shuffled(path, to, seed):
    """Writes a LETOR file with the documents of each query in a random order. The queries keep their order. Returns the place of each
    written document in the file."""
    lines, queries = path.read_text("utf-8").splitlines(True), {}
    for place, line in enumerate(lines):
        queries.setdefault(line.split(maxsplit=2)[1], []).append(place)
    draw = random.Random(f"{seed} {path.name}")
    for documents in queries.values():
        draw.shuffle(documents)
    order = list(itertools.chain.from_iterable(queries.values()))
    write(to, "".join(lines[place] for place in order))
    return order


def sums_of(letor_folder, sets, folds, parts):
    """{file: SHA-256} of parts of folds."""
    return {f"{name}/Fold{n}/{part}.txt": checksum(letor_folder / name / f"Fold{n}" / f"{part}.txt")
            for name in sets for n in folds for part in parts}


def cranfield_qrels(folder, position=lambda topic: True):
    """Cranfield's judgments in TREC's form, with grade 5, which means nothing, as 0: of topics whose positions are wanted."""
    rows = (line.split() for line in (folder / "QRelsCorrectedforTRECeval").read_text().splitlines())
    return "".join(f"{q} {i} {d} {0 if grade == '5' else grade}\n" for q, i, d, grade in filter(None, rows) if position(int(q)))


# --- pictures


COLOURS = ["#1b6ca8", "#c03a4e", "#3a7d44", "#9a6700", "#6b4e9b", "#555555"]
# The colours of a picture on a dark page.
DARK = {"#000000": "#e6edf3", "#dddddd": "#3d444d", "#cccccc": "#3d444d", "#1b6ca8": "#79b8f0", "#c03a4e": "#ff8fa0",
        "#3a7d44": "#7ed18b", "#9a6700": "#e3b341", "#6b4e9b": "#bfa8f0", "#555555": "#b1bac4", "#0b6e4f": "#4fd1a5",
        "#c1440e": "#ff9a66", "#2b5c9e": "#8ab8ff", "#0072b2": "#6cb6ff", "#d55e00": "#ff9a57"}
MARKERS = "os^Dv*"


class Line(typing.NamedTuple):
    label: str
    points: list  # of (x, y)
    colour: str
    style: typing.Any = "-"
    intervals: list = []  # (low, high) at each point


class Level(typing.NamedTuple):
    label: str
    y: float
    colour: str


class Lines(typing.NamedTuple):
    """Lines over a logarithmic axis, and levels across all of it. `ticks` is {x: its label}; empty labels round numbers."""
    title: str
    x_label: str
    lines: list
    levels: list = []
    y_label: str = ""
    ticks: dict = {}


class Bars(typing.NamedTuple):
    """Bars in groups of (name, values), a value a label; a value that is None was not measured."""
    title: str
    groups: list
    labels: list
    normalized: bool = True  # at most 1; otherwise each value is printed above its bar


def draw_lines(axis, panel):
    """Draws lines and levels, each with its label at the right end. Returns the labels, for spread_labels. Lines with intervals are
    shifted sideways, so that their intervals do not overlap."""
    from matplotlib import ticker
    lines = [one for one in panel.lines if one.points]
    xs = [x for one in lines for x, _ in one.points]
    shift = (max(xs) / min(xs)) ** 0.02 if any(one.intervals for one in lines) else 1
    for i, (one, marker) in enumerate(zip(lines, itertools.cycle(MARKERS))):
        at = [x * shift ** (i - (len(lines) - 1) / 2) for x, _ in one.points]
        axis.plot(at, [y for _, y in one.points], color=one.colour, linestyle=one.style, marker=marker, markersize=4)
        for x, (low, high) in zip(at, one.intervals):
            axis.vlines(x, low, high, color=one.colour, linewidth=1.2)
    for one in panel.levels:
        axis.axhline(one.y, color=one.colour, linestyle=":")
    axis.set_xscale("log")
    if panel.ticks:
        axis.set_xticks(list(panel.ticks), list(panel.ticks.values()))
    else:
        axis.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if max(xs) < 500 * min(xs) else (1,)))
        axis.xaxis.set_major_formatter("{x:,g}")
    axis.xaxis.set_minor_locator(ticker.NullLocator())
    axis.set(xlabel=panel.x_label, ylabel=panel.y_label)
    return [axis.annotate(label, (1, y), (4, 0), ("axes fraction", "data"), "offset points", color=colour, va="center", annotation_clip=False)
            for label, y, colour in [*((one.label, one.points[-1][1], one.colour) for one in lines), *panel.levels]]


def spread_labels(labels):
    """Moves the labels of a panel up or down until none overlaps another; they keep their order. The layout must be final."""
    if not labels:
        return
    figure = labels[0].figure
    step = 1.25 * labels[0].get_fontsize()  # points
    ends = sorted(((label.axes.transData.transform((1, label.xy[1]))[1] * 72 / figure.dpi, label) for label in labels), key=lambda end: end[0])
    groups = []  # of labels that touch: [middle, ends]
    for end in ends:
        groups.append([end[0], [end]])
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < step * (len(groups[-1][1]) + len(groups[-2][1])) / 2:
            of = groups[-2][1] + groups.pop()[1]
            groups[-1] = [statistics.mean(y for y, _ in of), of]
    for middle, of in groups:
        for i, (y, label) in enumerate(of):
            label.set_position((4, middle + step * (i - (len(of) - 1) / 2) - y))


def draw_bars(axis, panel):
    """Draws bars and returns them, for the legend."""
    width, marks = 0.8 / len(panel.labels), []
    for i, (label, colour) in enumerate(zip(panel.labels, COLOURS)):
        there = [(g, values[i]) for g, (_, values) in enumerate(panel.groups) if i < len(values) and values[i] is not None]
        marks.append(axis.bar([g + (i + 0.5) * width - 0.4 for g, _ in there], [value for _, value in there], width, color=colour,
                              label=label))
        if not panel.normalized:
            axis.bar_label(marks[-1], fmt="{:.3g}", rotation=90, padding=2, fontsize=7)
    axis.set_xticks(range(len(panel.groups)), [name for name, _ in panel.groups])
    axis.margins(y=0 if panel.normalized else 0.2)
    return marks


def for_dark_pages(svg):
    """An SVG of matplotlib without its white areas, and with the colours of DARK where the reader prefers dark pages."""
    dark = "".join(f'[style*="{what}: {light}"]{{{what}:{to}!important}}' for light, to in DARK.items() for what in ("fill", "stroke")
                   if f"{what}: {light}" in svg)
    style = f'[style*="fill: #ffffff"]{{fill:none!important}}@media(prefers-color-scheme:dark){{text{{fill:{DARK["#000000"]}}}{dark}}}'
    return svg.replace("</style>", f"{style}</style>", 1)


def draw(path, panels, columns=1):
    """Draws panels, `columns` in a row, as SVG for light and dark pages, the same bytes for the same panels. Lines have labels at their
    ends; all bars share one legend. Without matplotlib it says so and draws nothing."""
    try:
        import matplotlib
        from matplotlib import figure
    except ImportError:
        print(f"{script()}: {path.name} is left out: it needs matplotlib", file=sys.stderr)
        return
    rows = -(-len(panels) // columns)
    wide = max([4.5] + [0.5 + 0.19 * len(panel.groups) * len(panel.labels) for panel in panels if isinstance(panel, Bars)])
    with matplotlib.rc_context({"svg.hashsalt": "rulerank", "svg.fonttype": "none", "font.size": 9, "lines.linewidth": 1.4,
                                "axes.grid": True, "axes.grid.axis": "y", "grid.color": "#dddddd", "axes.axisbelow": True,
                                "axes.facecolor": "none", "axes.spines.top": False, "axes.spines.right": False}):
        names = dict.fromkeys(name for panel in panels if isinstance(panel, Bars) for name in panel.labels)
        a_row = max(1, int(wide * columns / (0.6 + 0.07 * max(map(len, names), default=1))))
        whole = figure.Figure(figsize=(wide * columns, 2.5 * rows + 0.2 + 0.19 * -(-len(names) // a_row)), layout="constrained")
        axes = list(whole.subplots(rows, columns, squeeze=False).flat)
        marks, ends = {}, []
        for axis, panel in zip(axes, panels):
            axis.set_title(panel.title, fontsize=10, loc="left")
            if isinstance(panel, Bars):
                marks |= {mark.get_label(): mark for mark in draw_bars(axis, panel)}
            else:
                ends.append(draw_lines(axis, panel))
        for axis in axes[len(panels):]:
            axis.set_axis_off()
        for i, axis in enumerate(axes[:len(panels)]):  # a panel shares the label of the panel below it and of the panel to its left
            if i + columns < len(panels) and axis.get_xlabel() == axes[i + columns].get_xlabel():
                axis.set_xlabel("")
        for i in range(len(panels) - 1, 0, -1):
            if i % columns and axes[i].get_ylabel() == axes[i - 1].get_ylabel():
                axes[i].set_ylabel("")
        if marks:
            whole.legend(handles=marks.values(), loc="outside lower center", ncols=min(a_row, len(marks)), frameon=False)
        whole.draw_without_rendering()
        for labels in ends:
            spread_labels(labels)
        path.parent.mkdir(parents=True, exist_ok=True)
        svg = io.StringIO()
        whole.savefig(svg, format="svg", metadata={"Date": None}, facecolor="none")
        write(path, for_dark_pages(svg.getvalue()))

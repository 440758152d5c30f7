"""What the scripts of bench/ share: their command lines, programs that they run and time, JSON lines, manifests, Markdown tables,
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
    """What add_argument takes for an option with that default."""
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
    """A function of words that runs the program with them and, behind them, `more`, `by` call, output or told."""
    return lambda *words, **also: by(path, *words, *more, **how, **also)


def over_ranks(ranks, *placed):
    """The words that start a command in so many MPI ranks: anywhere, also more than there are cores, or as `placed` says."""
    return ["mpirun", *(placed or ("--oversubscribe", "--bind-to", "none")), "-n", ranks]


def on_cores(ranks, threads=1):
    """The same, each rank on cores of its own, one a thread."""
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
    """An argument without the folders of this machine: of a path, also behind `key=`, the last parts."""
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
    """Writes a LETOR file with the documents of each query in a random order. The queries keep their order."""
    queries = {}
    for line in path.read_text("utf-8").splitlines(True):
        queries.setdefault(line.split(maxsplit=2)[1], []).append(line)
    draw = random.Random(f"{seed} {path.name}")
    for documents in queries.values():
        draw.shuffle(documents)
    write(to, "".join(itertools.chain.from_iterable(queries.values())))


def sums_of(letor_folder, sets, folds, parts):
    """{file: SHA-256} of parts of folds."""
    return {f"{name}/Fold{n}/{part}.txt": checksum(letor_folder / name / f"Fold{n}" / f"{part}.txt")
            for name in sets for n in folds for part in parts}


def cranfield_qrels(folder, position=lambda topic: True):
    """Cranfield's judgments in TREC's form, with grade 5, which means nothing, as 0: of topics whose positions are wanted."""
    rows = (line.split() for line in (folder / "QRelsCorrectedforTRECeval").read_text().splitlines())
    return "".join(f"{q} {i} {d} {0 if grade == '5' else grade}\n" for q, i, d, grade in filter(None, rows) if position(int(q)))


# --- pictures


COLOURS = ["#1b6ca8", "#d1495b", "#3a7d44", "#edae49", "#6b4e9b", "#555555"]


class Line(typing.NamedTuple):
    label: str
    points: list  # of (x, y)
    colour: str
    style: typing.Any = "-"
    spread: list = []  # of (least, most) at each point


class Level(typing.NamedTuple):
    label: str
    y: float
    colour: str


class Lines(typing.NamedTuple):
    """Lines over a logarithmic axis, and levels across all of it."""
    title: str
    x_label: str
    lines: list
    levels: list = []
    y_label: str = ""


class Bars(typing.NamedTuple):
    """Bars in groups of (name, values), a value a label; a value that is None was not measured."""
    title: str
    groups: list
    labels: list
    normalized: bool = True  # at most 1; otherwise each value stands above its bar


def draw_lines(axis, panel):
    from matplotlib import ticker
    marks = [axis.plot(*zip(*one.points), color=one.colour, linestyle=one.style, marker="o", markersize=3, label=one.label)[0]
             for one in panel.lines if one.points]
    for one in panel.lines:
        for (x, _), (least, most) in zip(one.points, one.spread):
            axis.vlines(x, least, most, color=one.colour, linewidth=1, alpha=0.6)
    marks += [axis.axhline(one.y, color=one.colour, linestyle=":", label=one.label) for one in panel.levels]
    axis.set_xscale("log")
    xs = [x for one in panel.lines for x, _ in one.points]
    axis.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if max(xs) < 500 * min(xs) else (1,)))
    axis.xaxis.set_major_formatter("{x:,g}")
    axis.xaxis.set_minor_locator(ticker.NullLocator())
    axis.set(xlabel=panel.x_label, ylabel=panel.y_label)
    return marks


def draw_bars(axis, panel):
    width, marks = 0.8 / len(panel.labels), []
    for i, (label, colour) in enumerate(zip(panel.labels, COLOURS)):
        there = [(g, values[i]) for g, (_, values) in enumerate(panel.groups) if i < len(values) and values[i] is not None]
        marks.append(axis.bar([g + (i + 0.5) * width - 0.4 for g, _ in there], [value for _, value in there], width, color=colour,
                              label=label))
        if not panel.normalized:
            axis.bar_label(marks[-1], fmt="{:.3g}", rotation=90, padding=2, fontsize=6)
    axis.set_xticks(range(len(panel.groups)), [name for name, _ in panel.groups])
    axis.margins(y=0 if panel.normalized else 0.2)
    return marks


def draw(path, panels, columns=1):
    """Draws panels, `columns` in a row, as SVG on white, the same bytes for the same panels, with one legend. Without matplotlib it
    says so and draws nothing."""
    try:
        import matplotlib
        from matplotlib import figure
    except ImportError:
        print(f"{script()}: {path.name} is left out: it needs matplotlib", file=sys.stderr)
        return
    rows = -(-len(panels) // columns)
    wide = max([4.5] + [0.5 + 0.19 * len(panel.groups) * len(panel.labels) for panel in panels if isinstance(panel, Bars)])
    with matplotlib.rc_context({"svg.hashsalt": "rulerank", "svg.fonttype": "none", "font.size": 8, "lines.linewidth": 1.4,
                                "axes.grid": True, "axes.grid.axis": "y", "grid.color": "#dddddd", "axes.axisbelow": True}):
        names = dict.fromkeys(name for panel in panels for name in (
            panel.labels if isinstance(panel, Bars) else [one.label for one in (*panel.lines, *panel.levels)]))
        a_row = max(1, int(wide * columns / (0.6 + 0.06 * max(map(len, names)))))
        whole = figure.Figure(figsize=(wide * columns, 2.7 * rows + 0.3 + 0.17 * -(-len(names) // a_row)), layout="constrained")
        axes = list(whole.subplots(rows, columns, squeeze=False).flat)
        marks = {}
        for axis, panel in zip(axes, panels):
            axis.set_title(panel.title, fontsize=9)
            for mark in (draw_bars if isinstance(panel, Bars) else draw_lines)(axis, panel):
                marks.setdefault(mark.get_label(), mark)
        for axis in axes[len(panels):]:
            axis.set_axis_off()
        whole.legend(handles=marks.values(), loc="outside lower center", ncols=min(a_row, len(marks)), frameon=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        whole.savefig(path, metadata={"Date": None}, facecolor="white")

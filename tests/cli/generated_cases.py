"""A case of generated_test.py: one command, its inputs and its expected result.

The generators of the verbs (generated_searches.py, generated_rankings.py, generated_lists.py, generated_texts.py,
generated_models.py) choose the inputs and options of a case at random, list the changes that the program must refuse, and return a
judge: the definition in Python of the command's output, or the same result by other commands.
"""

import gzip
import random

FREE = {"--tag", "--name", "--template", "--id-field", "--threads"}  # take any value, or another one in another way

# Options that no case draws, and why. The key "" has those of every verb.
READING = "drawn for rank, which reads files in the same way"
FORMS_OF_TEXT = "forms of texts: formats_test.py, search_test.py"
MPI = "needs MPI: mpi_test.py"
LABELLING = "labels, labellers and rounds: labels_test.py, label_test.py, rounds_test.py"
TEXT = ("--encoding", "--text-fields", "--query-fields", "--id-field", "--number-by-position")
COLUMNS = ("--label-column", "--qid-column", "--skip-columns", "--zero-based")
TEXT_FORMS = ("--collection-format", "--labels", *TEXT)
TUNING = ("--try-method", "--try-bins", "--try-rule-size", "--try-min-support", "--try-min-confidence", "--try-support-weight",
          "--try-smoothing", "--try-feature-share", "--cross-fit", "--combine", "--search", "--rungs", "--keep", "--budget")
FITTING = ("--members", "--loss", "--points-penalty", "--smoothness", "--max-features", "--max-points", "--monotone", "--target", "--strength", "--linear-scale",
           "--pairs", "--rule-size", "--min-support", "--min-confidence", "--support-weight", "--smoothing", "--feature-share")
CUTS = ("--norm", "--method", "--bins", "--missing-values", "--unlisted")
LEFT_OUT = {verb: {option: why for why, options in of.items() for option in options} for verb, of in {
    "": {"help": ("--help", "--help-all")},
    "search dense": {MPI: ("--over-ranks",), "has no result; every opening verifies": ("--verify",),
                     "changes only a summary": ("--query-labels",)},
    "search metric": {MPI: ("--over-ranks",)},
    "search text": {MPI: ("--over-ranks",), "need a GPU": ("--launch-queries", "--balance"),
                    FORMS_OF_TEXT: ("--collection-format", *TEXT), "chooses words by rules of its own": ("--correct",)},
    "evaluate": {READING: (*COLUMNS, "--regroup", "--group"), "the files of --test in folders": ("--folds",),
                 "agreement_test.py": ("--machine-qrels", "--human-sample"), "evaluates nothing": ("--list-metrics",),
                 "another form of the report": ("--json", "--per-fold", "--digits"),
                 "eval/significance_test.cpp": ("--compare", "--reference", "--permutations", "--holm")},
    "mine": {READING: (*COLUMNS, "--regroup", "--group", "--unlabelled", "--drop-unjudged"), "drawn for discretize": CUTS},
    "split": {READING: COLUMNS, "refused": ("--group",)},
    "discretize": {READING: COLUMNS},
    "rank": {"drawn for fit": ("--model",), "drawn for discretize": ("--discretizer",), "tune_test.py": ("--settings",),
             "a card that a person changed": ("--card",),
             "the search of a query": ("--query", "--collection", "--index", "--candidates", "--collection-format", "--labels", "--stemmer", *TEXT)},
    "fit": {"drawn for discretize": ("--discretizer",), "tune_test.py": ("--settings",), "a card that a person changed": ("--card",),
            "other libraries": ("--peers", "--lightgbm"), "feature_table_test.py": ("--feature-table",), "wants 1000 labels": ("--best",)},
    "reduce": {READING: (*COLUMNS, "--regroup", "--unlabelled"), "drawn for discretize": ("--discretizer",),
               LABELLING: ("--oracle", "--judged", "--judge-seconds", "--judge-calls", "--judge-cost", "--pending",
                           "--batch", "--resume", "--show", "--topics", "--show-format", "--labels", "--stemmer",
                           "--other-texts", "--names", "--max-label", "--neighbours", "--rounds", "--per-query", "--committee", "--select",
                           *TEXT)},
    "judgments": {"feature logs: judgments_test.py": ("--judgments",)},
    "features": {FORMS_OF_TEXT: TEXT_FORMS, "features_test.py": ("--pool", "--join", "--join-columns", "--names-out"),
                 "feature_table_test.py": ("--feature-table-out",),
                 "chooses words by rules of its own": ("--correct",)},
    "vectors": {FORMS_OF_TEXT: TEXT_FORMS},
    "pipeline": {FORMS_OF_TEXT: TEXT_FORMS, "drawn for features": ("--search-engine",), "drawn for tune": TUNING,
                 "tune_test.py": ("--tune",), "experiment_test.py": ("--scores",), "chooses words by rules of its own": ("--correct",)},
    "rank --query": {FORMS_OF_TEXT: TEXT_FORMS, "beside --query refused": ("--test", "--run", "--tag"),
                     "another form of the list": ("--json",),
                     "drawn for rank and fit": (*COLUMNS, *CUTS, *FITTING, "--train", "--regroup", "--group", "--unlabelled", "--drop-unjudged",
                                                "--discretizer", "--settings", "--card", "--engine", "--cache-memory")},
    "explain": {READING: (*COLUMNS, "--regroup", "--group", "--unlabelled", "--drop-unjudged"), "drawn for discretize": ("--discretizer",),
                "drawn for rank": ("--monotone",), "tune_test.py": ("--settings",), "a card that a person changed": ("--card",),
                "--format json is drawn": ("--json",)},
    "inspect": {READING: (*COLUMNS, "--regroup", "--group", "--unlabelled", "--drop-unjudged"), "--format json is drawn": ("--json",),
                "drawn for evaluate": ("--prel", "--p-break", "--persistence"), "no run is read": ("--complete",)},
    "export": {READING: (*COLUMNS, "--regroup", "--group", "--unlabelled"), "export_test.py": ("--feature-set",)},
    "tune": {READING: (*COLUMNS, "--regroup", "--group", "--unlabelled", "--drop-unjudged"), "drawn for discretize": ("--discretizer",),
             "tune_test.py": ("--resume", "--try-card-bins", "--try-max-features", "--try-norm")},
    "experiment": {READING: (*COLUMNS, "--regroup", "--group", "--unlabelled", "--drop-unjudged"), "drawn for tune": TUNING,
                   "tune_test.py": ("--tune", "--settings"), "experiment_test.py": ("--scores",), "other libraries": ("--lightgbm",)},
    "sample": {"sizes of published sets: sample_test.cpp": ("--shape", "--list-shapes")}}.items()}


class Case:
    """One command: files {name: bytes}, given {option: value}, True for a flag and a list for several values."""

    def __init__(self, verb, seed, generator):
        self.verb, self.draw = verb.partition(" --")[0], random.Random(f"{verb} {seed}")
        self.pick = lambda *values: self.draw.choice(values)
        self.files, self.given, self.refused, self.ways = {}, {"--threads": self.pick(1, 1, 1, 2, 3)}, [], []
        self.streams = []  # inputs that may be standard input
        self.beside_index = None  # options that go when the index of the case is searched
        self.model_of = None  # fit: the command that ranks by the model, and the one that ranks without
        self.seeded = False  # whether --seed changes the result
        self.before = []  # commands that make inputs
        self.may_refuse = ()  # parts of messages of what the generator does not foresee
        self.extra = []
        self.judge = generator(self)
        if self.seeded and verb != "fit":
            self.some({"--seed": [0, 7]})
        self.spoil()

    def likely(self, share):
        return self.draw.random() < share

    def file(self, name, data):
        self.files[name] = data if isinstance(data, bytes) else data.encode()
        return name

    def some(self, table, share=.35):
        """Each of the options with this chance, and one of its values."""
        for option, values in table.items():
            if self.likely(share):
                self.given[option] = self.draw.choice(values)

    def wrong(self, condition, option, message=None):
        """Options that contradict each other: mostly one of them goes, else the program must refuse them, and says the message."""
        if condition and not self.refused and self.likely(.9):
            self.given.pop(option, None)
        elif condition:
            self.refused.append(message or option)

    def value(self, option, default=None):
        return self.given.get(option, default)

    def spoil(self):
        """One command of twenty is refused, whatever else it has."""
        if self.refused or not self.likely(.05):
            return
        changed = {option for way in self.ways for choice in way for option in choice}  # by other_way, which would mend them
        valued = [o for o, v in self.given.items() if v is not True and o not in FREE | changed and not str(v).startswith("out")]
        twice = [o for o in valued if not isinstance(self.given[o], list) and o not in ("--run-weights", "--skip-columns", "--not-relevant")]
        kind = self.draw.randrange(3)
        if kind == 0 or not valued:
            self.extra = ["--no-such-option"]
            self.refused.append("found '--no-such-option'")
        elif kind == 1 and twice:
            option = self.draw.choice(twice)
            self.extra = [option, str(self.given[option])]
            self.refused.append(f"{option}: given 2 times")
        else:
            option = self.draw.choice(valued)
            old = self.given[option]
            self.given[option] = ["absent?", *old[1:]] if isinstance(old, list) else "absent?"
            # Runs that are no longer there, by the names of others; options that need the old value; a format that cannot hold the model.
            self.refused += ["absent?", "--distances: found", "needs --weights bm25", "computes in float32"]

    def words(self, given=None):
        words = []
        for option, value in (given or self.given).items():
            values = value if isinstance(value, list) else [value]
            if value is True:
                words.append(option)
            elif str(values[0]).startswith("-") and values[0] != "-":
                words.append(f"{option}={value}")
            else:
                words += [option, *map(str, values)]
        return words + self.extra

    def other_way(self):
        """The command in another way: its options, files and standard input."""
        given, files, stream = dict(self.given), dict(self.files), b""
        for way in self.ways:
            if self.likely(.5):
                given.update(self.draw.choice(way))
        given["--threads"] = self.pick(1, 2, 3)
        given.update({option: value for option, value in (("--device", "cpu"), ("--quiet", True), ("--manifest", "manifest"))
                      if self.likely(.3)})
        if not self.seeded and self.likely(.5):
            given["--seed"] = self.draw.randrange(99)
        if self.has_summary() and self.likely(.3):
            given["--json"] = True
        for name in files:
            if self.likely(.3) and not name.endswith(".json"):
                files[name] = gzip.compress(files[name], 1, mtime=0)
        streams = [name for name in self.streams if any(name == v or isinstance(v, list) and name in v for v in given.values())]
        if streams and self.likely(.5):
            name = self.draw.choice(streams)
            given = {o: ["-" if x == name else x for x in v] if isinstance(v, list) else "-" if v == name else v
                     for o, v in given.items()}
            stream = files.pop(name)
        return given, files, stream

    def has_summary(self):
        """Whether --json prints a summary and changes no file."""
        outputs = {"--out", "--out-dir"} if self.verb == "export" else {"--out", "--out-dir", "--model"}
        if self.verb in ("experiment", "pipeline", "tune") and self.given.get("--format", "json") != "json":
            return False  # --json beside another form is wrong usage
        return bool(outputs & {*self.given}) and self.verb not in ("evaluate", "explain", "inspect") and "--query" not in self.given

    def options(self):
        return {*self.given, *(option for ways in self.ways for way in ways for option in way),
                "--device", "--quiet", "--manifest", "--seed", *(["--json"] if self.has_summary() else []),
                *(["--index"] if self.beside_index is not None else [])}


def close(found, expected, within=1e-9):
    return abs(found - expected) <= within * max(1, abs(expected))

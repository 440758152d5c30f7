"""Behaviour that all verbs share: help, version, exit codes, the common options, outputs, manifests."""

import contextlib
import hashlib
import json
import os
import pty
import re
import resource
import signal
import struct
import subprocess

import harness

SAMPLE = ["sample", "--documents", "60", "--features", "3", "--queries", "6", "--folds", "1"]


class Help(harness.CommandLine):
    def test_every_verb_shows_an_example_and_defaults(self):
        verbs = self.verbs()
        self.assertIn("reduce", verbs)
        for verb in verbs:
            with self.subTest(verb):
                for option in ("--help", "--help-all"):
                    text = self.expect(0, *verb.split(), option).stdout.decode()
                    self.assertRegex(text, rf"Example:\n +rulerank {verb}\b")
                self.assertRegex(text, r"--device auto\|cpu\|cuda\|cuda:0,1,...\n[^-]* \(default: +auto\)")

    def test_version(self):
        text = self.expect(0, "--version").stdout.decode()
        for line in (r"rulerank \d+\.\d+\.\d+", r"commit ([0-9a-f]{40,64}(-dirty)?|unknown)",
                     r"compiler \w+ [\d.]+", r"CUDA (none|[\d.]+)", r"MPI (none|[\d.]+)", r"instruction set \w+"):
            self.assertRegex(text, rf"(?m)^{line}$")


class Usage(harness.CommandLine):
    def test_bare_program_shows_its_help_and_first_commands(self):
        help_text = self.expect(0).stdout.decode()
        self.assertEqual(help_text, self.expect(0, "--help").stdout.decode())
        for command in ("rulerank fit train.txt", "rulerank rank test.txt", "rulerank evaluate --test test.txt"):
            self.assertIn(command, help_text)

    def test_wrong_lines(self):
        for words, message in (
                (["search"], "found nothing after search, expected text"),
                (["fly"], "found 'fly', expected a verb"),
                (["engines", "--fly"], "found '--fly', expected an option of engines"),
                (["engines", "extra"], "found 'extra', expected an option of engines"),
                (["devices", "--threads", "-1"], "--threads"),
                (["devices", "--threads", "two"], "--threads"),
                (["devices", "--seed", "x"], "--seed"),
                (["devices", "--seed", "-1"], "--seed: found '-1', expected an integer"),
                (["devices", "--seed", "010"], "--seed: found '010'"),
                (["devices", "--seed", "99999999999999999999"], "--seed: found '9999"),
                (["sample", "--documents", "-1", "--features", "2", "--out-dir", "d"], "-1"),
                (["sample", "--documents", "9", "--features", "-1", "--out-dir", "d"], "-1"),
                (["split", "--in", "x", "--folds", "-1", "--out-dir", "d"], "-1"),
                (["devices", "--device", "tpu"], "--device: found 'tpu', expected auto, cpu"),
                (["devices", "--device", "cuda:x"], "found 'x', expected the number of a device"),
                (["devices", "--device", "cuda:0,0"], "device 0 twice"),
                (["reduce"], "--train"),
                (["reduce", "--train", "x"], "--out"),
                (["rank", "--test", "x", "--out", "y"], "--train"),
        ):
            with self.subTest(words=words):
                errors = self.expect(2, *words, message=message).stderr.decode()
                self.assertRegex(errors, r"; see rulerank ?\w* --help\n$")

    def test_engines_are_never_replaced_silently(self):
        train = self.file("train.txt", b"1 qid:1 1:1\n0 qid:1 1:2\n")
        reduce = ["reduce", "--train", train, "--out", self.folder / "r.txt"]
        self.expect(2, *reduce, "--engine", "fastest", message="fastest")
        rank = ["rank", "--train", train, "--test", train, "--out", self.folder / "s.txt"]
        self.expect(2, *rank, "--engine", "fastest", message="fastest")
        self.assertEqual(os.listdir(self.folder), ["train.txt"])

    def test_an_output_never_takes_an_inputs_place(self):
        text = b"".join(b"%d qid:1 1:%d\n" % (d % 2, d % 5) for d in range(20))
        a = self.file("a.txt", text)
        (self.folder / "link").symlink_to(a)
        rank = ["rank", "--train", "link", "--test", "link"]
        for words in (["reduce", "--train", a, "--out", a], ["reduce", "--train", a, "--out", "r",
                      "--manifest", "a.txt"], ["fit", "--train", a, "--model", "link"],
                      [*rank, "--out", a], [*rank, "--out", "s", "--run", "a.txt"],
                      ["evaluate", "--test", a, "--feature", "1", "--out", "a.txt"]):
            with self.subTest(words=words):
                self.expect(2, *words, message="is also an input, expected a different file")
                self.assertEqual(a.read_bytes(), text)

    def test_two_inputs_are_not_one_stream(self):
        text = b"1 qid:1 1:1\n0 qid:1 1:2\n"
        a = self.file("a.txt", text)
        rank = ["rank", "--train", "-", "--test", a, "--out", "out"]
        for words, one, other in (
                (["evaluate", "--test", "-", "--scores", "-"], "--test", "--scores"),
                (["evaluate", "--test", "-", "--scores", "new=-"], "--test", "--scores"),
                (["evaluate", "--test", a, "-", "--scores", "s,-"], "--test", "--scores"),
                (["evaluate", "--qrels", "-", "--run", "-"], "--qrels", "--run"),
                (["evaluate", "--test", "-", "--feature", "1", "--group", "-"], "--test",
                 "--group"),
                (["reduce", "--train", "-", "--group", "-", "--out", "out"], "--train", "--group"),
                (["fit", "--train", "-", "--group", "-", "--model", "out"], "--train", "--group"),
                (["rank", "--train", "-", "--test", "-", "--out", "out"], "--train", "--test"),
                ([*rank, "--group", "-"], "--train", "--group"),
                (["rank", "--train", "-", "--test", a, "--discretizer", "-", "--out", "out"], "--train",
                 "--discretizer"),
                (["rank", "--model", "-", "--test", "-", "--out", "out"], "--test", "--model"),
                (["fit", "--train", "-", "--discretizer", "-", "--model", "out"], "--train",
                 "--discretizer"),
                (["reduce", "--train", "-", "--feature-order", "file:-", "--out", "out"], "--train",
                 "--feature-order"),
                (["discretize", "--train", "-", "--apply", a, "--group", "-", "--out-dir", "out"],
                 "--train", "--group")):
            with self.subTest(words=words):
                self.expect(2, *words, input=text,
                            message=f"{one} and {other} cannot both be standard input")
        for words, option in ((["evaluate", "--test", a, "--scores", "a=-", "b=-"], "--scores"),
                              (["evaluate", "--qrels", a, "--run", "a=-", "b=-"], "--run")):
            self.expect(2, *words, message=f"{option}: found standard input twice")
        self.expect(2, "rank", "--train", "/dev/stdin", "--test", "-", "--out", "out", input=text,
                    message="--train and --test cannot both be")
        self.expect(0, *rank, input=text)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.txt", "out"])
        self.expect(0, "evaluate", "--test", a, "--scores", "-", input=b"2\n1\n")

    def test_an_empty_path(self):
        a = self.file("a.txt", b"1 qid:1 1:1\n0 qid:1 1:2\n")
        train, test = ["--train", a], ["--test", a]
        lines = {
            "agreement": ({"--labels": a}, ["--pool", "--out"]),
            "reduce": ({"--train": a, "--out": "o"},
                       ["--ids", "--discretizer-out", "--discretizer", "--pending", "--resume", "--judged", "--names", "--show",
                        "--topics"]),
            "label": ({"--pool": a, "--out": "o"},
                      ["--ids", "--discretizer-out", "--discretizer", "--resume", "--judged", "--names", "--show", "--topics"]),
            "fit": ({"--train": a, "--model": "o"}, ["--discretizer", "--settings"]),
            "rank": ({"--train": a, "--test": a, "--out": "o"}, ["--run", "--discretizer", "--settings"]),
            "explain": ({"--train": a, "--test": a, "--qid": "1", "--out": "o"},
                        ["--names", "--discretizer"]),
            "inspect": ({"--model": a, "--out": "o"}, ["--names", "--test"]),
            "export": ({"--model": a, "--to": "c", "--out": "o"}, ["--names", "--feature-set", "--check"]),
            "discretize": ({"--train": a, "--out-dir": "o"}, ["--apply", "--discretizer-out"]),
            "evaluate": ({"--test": a, "--scores": "s", "--out": "o"},
                         ["--qrels", "--run", "--folds", "--machine-qrels"]),
            "experiment": ({"--folds": ".", "--out-dir": "o"}, ["--settings", "--scores"]),
            "pipeline": ({"--collection": a, "--topics": a, "--qrels": a, "--out-dir": "o"},
                         ["--vectors", "--topic-vectors"]),
            "features": ({"--collection": a, "--topics": a, "--out": "o"},
                         ["--qrels", "--run", "--pool", "--join", "--candidates-out", "--vectors",
                          "--topic-vectors"]),
            "fuse": ({"--run": a, "--out": "o"}, []),
            "report": ({"--model": a, "--out": "o"}, ["--folds", "--bench"]),
            "vectors": ({"--collection": a, "--out": "o.npy"},
                        ["--ids-out", "--topics", "--topics-out", "--topic-ids-out", "--fold-in",
                         "--fold-in-out", "--fold-in-ids-out"]),
            "judgments": ({"--in": a, "--to": "qrels", "--out": "o"}, ["--judgments", "--queries", "--queries-out"]),
            "serve": ({"--model": a},
                      ["--token-file", "--certificate", "--key", "--client-roots", "--access-log", "--collection", "--index"]),
            "split": ({"--in": a, "--out-dir": "o"}, []),
            "start": ({"--collection": a, "--topics": a, "--dir": "o"}, []),
            "sample": ({"--out-dir": "o"}, []),
            "tune": ({"--train": a, "--vali": a, "--out": "o"},
                     ["--trials", "--resume", "--discretizer"]),
            "search text": ({"--collection": a, "--queries": a, "--out": "o"},
                            ["--index", "--run", "--classes"]),
            "search dense": ({"--collection": a, "--queries": a, "--out": "o"},
                             ["--index", "--filter", "--values", "--run", "--ids", "--query-ids", "--labels", "--query-labels",
                              "--classes"]),
            "search metric": ({"--collection": a, "--queries": a, "--out": "o"}, ["--index", "--run"]),
            "mine": ({"--transactions": a, "--out": "o"}, ["--train", "--appear", "--discretizer"]),
            "engines": ({}, []),
            "devices": ({}, []),
        }
        self.assertEqual(sorted(lines), sorted(self.verbs()))
        for verb, (needed, others) in lines.items():
            for option in [*needed, *others, "--manifest"]:
                if option in ("--qid", "--to"):  # needed, and no path
                    continue
                with self.subTest(verb=verb, option=option):
                    words = {**needed, option: ""}
                    self.expect(2, *verb.split(), *(word for pair in words.items() for word in pair),
                                message=f"{option}: found an empty path")
        for words, message in (
                (["evaluate", *test, "--scores", "new="], "--scores new=: found an empty path"),
                (["evaluate", *test, a, "--scores", "s,"], "--scores s,: found an empty path"),
                (["evaluate", "--qrels", a, "--run", "new="], "--run new=: found an empty path"),
                (["reduce", *train, "--out", "o", "--feature-order", "file:"],
                 "--feature-order: found an empty path")):
            self.expect(2, *words, message=message)
        self.assertEqual(os.listdir(self.folder), ["a.txt"])

    def test_a_direction_needs_a_feature(self):
        a = self.file("a.txt", b"1 qid:1 1:1\n0 qid:1 1:2\n")
        self.file("s", b"2\n1\n")
        for option in ("--ascending", "--descending"):
            self.expect(2, "evaluate", "--test", a, "--scores", "s", option, message="need --feature")
            self.expect(0, "evaluate", "--test", a, "--feature", "1", option)

    def test_options_of_a_comparison_need_one(self):
        a = self.file("a.txt", b"1 qid:1 1:1\n0 qid:1 1:2\n")
        line = ["evaluate", "--test", a, "--scores", "x=s", "y=s"]
        self.file("s", b"2\n1\n")
        for words, message in (
                (["--reference", "y"], "--reference needs --compare paired-t, fisher or both"),
                (["--holm", "report"], "--holm needs --compare paired-t, fisher or both"),
                (["--holm", "measure"], "--holm needs --compare"),
                (["--permutations", "100000"], "--permutations needs --compare fisher"),
                (["--permutations", "100000", "--compare", "paired-t"],
                 "--permutations needs --compare fisher"),
                (["--compare", ""], "--compare: found ''"),
                (["--compare", "fisher", "--reference", "z"], "--reference: found 'z'")):
            with self.subTest(words=words):
                self.expect(2, *line, *words, message=message)
        self.expect(0, *line, "--compare", "paired-t", "--reference", "y", "--holm", "report")
        self.expect(0, *line, "--compare", "fisher", "--permutations", "100000")

    def test_rules_too_many_to_count(self):
        text = b"".join(b"%d qid:1 %s\n" % (d, b" ".join(b"%d:%d" % (f, (f >> d) & 1)
                                                         for f in range(1, 2001)))
                        for d in range(2))
        a = self.file("a.txt", text)
        self.file("b.txt", b"".join(b"%d qid:1 %s\n" % (d, b" ".join(b"%d:%d" % (f, d)
                                                                      for f in range(1, 2001)))
                                    for d in range(2)))
        found = "rule size 8 with 2000 features"
        for words in (["fit", "--train", "b.txt", "--model", "o", "--members", "rules"],
                      ["rank", "--train", "b.txt", "--test", a, "--out", "o"],
                      *(["rank", "--train", "b.txt", "--test", a, "--out", "o", "--engine", e]
                        for e in ("lrar", "project")),
                      *(["reduce", "--train", "b.txt", "--out", "o", "--partitions", "1",
                         "--engine", e] for e in ("delta", "ssarp"))):
            with self.subTest(words=words):
                self.expect(2, *words, "--rule-size", "8", "--device", "cpu", "--method", "width",
                            "--bins", "2", message=found)
        self.assertFalse((self.folder / "o").exists())

    def test_itemsets_that_memory_does_not_hold(self):
        limit = 1 << 29
        limited = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))}
        if self.rulerank("engines", **limited).returncode != 0:
            self.skipTest("the program does not start in 512 MB of addresses (a sanitizer's does not)")
        a = self.file("a.txt", b"".join(
            b"%d qid:1 %s\n" % (d % 2, b" ".join(b"%d:%d" % (f, (d >> f % 5) & 1)
                                                 for f in range(1, 41))) for d in range(32)))
        line = ["reduce", "--train", a, "--out", "o", "--partitions", "1", "--engine", "delta",
                "--device", "cpu", "--threads", "1", "--method", "width", "--bins", "2"]
        done = self.expect(2, *line, "--rule-size", "8", **limited,
                           message="rule size 8 with 40 features in a partition: ")
        self.assertRegex(done.stderr.decode(), r"rule size \d+ with \d+ features in a partition: the "
                                               r"itemsets need \d\.\d+ GB more, (but the system|"
                                               r"but 0\.\d+ GB are free)")

    def test_missing_files(self):
        self.expect(3, "reduce", "--train", "absent.txt", "--out", "r.txt",
                    message="absent.txt: cannot be read")
        self.expect(3, "reduce", "--train", self.folder, "--out", "r.txt",
                    message=f"{self.folder}")
        a = self.file("a.txt", b"1 qid:1 1:1\n0 qid:1 1:2\n")
        for words in (["reduce", "--train", a, "--discretizer", self.folder],
                      ["rank", "--test", a, "--model", self.folder]):
            self.expect(3, *words, "--out", "r.txt", message=f"{self.folder}: found a folder, expected a ")

    def test_a_message_is_bounded(self):
        a = self.file("a.txt", b"1 qid:1 1:1\n0 qid:1 1:2\n")
        self.file("s", b"1" * 1000000 + b"\n2\n")
        done = self.expect(3, "evaluate", "--test", a, "--scores", "s", message="s:1:1: found '111")
        self.assertLess(len(done.stderr), 1500)
        self.assertIn(b"expected a finite number as score", done.stderr)


class Engines(harness.CommandLine):
    def test_table_and_json_name_the_same(self):
        lines = self.expect(0, "engines").stdout.decode().splitlines()[1:]
        listed = self.told("engines", "--json")
        self.assertEqual([re.split(" {2,}", line)[:2] for line in lines],
                         [[e["verb"], e["engine"]] for e in listed])
        for choice in {(e["verb"], e["option"]) for e in listed}:
            defaults = [e["runs_on"] for e in listed
                        if (e["verb"], e["option"]) == choice and e["default"]]
            self.assertEqual(sum("cpu" in runs_on for runs_on in defaults), 1)
            self.assertLessEqual(sum("cuda" in runs_on for runs_on in defaults), 1)

    def has_gpu(self):
        return b"cuda:" in self.expect(0, "devices").stdout

    def test_each_listed_engine_runs_and_gives_the_same(self):
        text = b"".join(b"%d qid:%d 1:%d 2:%d\n" % (d % 3, d // 8, d % 7, d % 5)
                        for d in range(64))
        train = self.file("train.txt", text)
        docs = self.file("docs", b"".join(b"%d\tred w%d v%d\n" % (d, d % 7, d % 5)
                                          for d in range(64)))
        dense = self.file("dense.fvecs", b"".join(struct.pack("<i2f", 2, d % 7, d % 5)
                                                  for d in range(64)))
        lines = {"reduce": ["reduce", "--train", train],
                 "rank": ["rank", "--train", train, "--test", train],
                 "mine": ["mine", "--train", train, "--min-support", "5"],
                 "search text": ["search", "text", "--collection", docs, "--queries", docs],
                 "search dense": ["search", "dense", "--collection", dense, "--queries", dense],
                 "search metric": ["search", "metric", "--collection", dense, "--queries", dense]}
        outputs = {verb: set() for verb in lines}
        manifest = self.folder / "m.json"
        for e in self.told("engines", "--json"):
            for device in ("cpu", "cuda") if self.has_gpu() else ("cpu",):
                if device not in e["runs_on"]:
                    continue
                out = self.folder / f"{e['verb']} {e['engine']} {device}"
                self.expect(0, *lines[e["verb"]], "--out", out, e["option"], e["engine"],
                            "--device", device, "--manifest", manifest)
                self.assertEqual(json.loads(manifest.read_text())[e["option"][2:]], e["engine"])
                if "single precision" not in e["what"]:
                    outputs[e["verb"]].add(out.read_bytes())
        where = "cuda" if self.has_gpu() else "cpu"
        for e in self.told("engines", "--json"):
            if e["default"] and where in e["runs_on"]:
                self.expect(0, *lines[e["verb"]], "--out", "auto", "--device", where, "--manifest",
                            manifest)
                self.assertEqual(json.loads(manifest.read_text())[e["option"][2:]], e["engine"])
        self.assertEqual({verb: len(texts) for verb, texts in outputs.items()},
                         dict.fromkeys(lines, 1))

    def test_an_engine_on_a_device_it_cannot_run_on(self):
        train = self.file("train.txt", b"1 qid:1 1:1\n0 qid:1 1:2\n")
        docs = self.file("docs", b"1\tred\n")
        dense = self.file("dense.fvecs", struct.pack("<i2f", 2, 1, 2))
        lines = {"reduce": ["reduce", "--train", train],
                 "rank": ["rank", "--train", train, "--test", train],
                 "mine": ["mine", "--train", train, "--min-support", "1"],
                 "search text": ["search", "text", "--collection", docs, "--queries", docs],
                 "search dense": ["search", "dense", "--collection", dense, "--queries", dense],
                 "search metric": ["search", "metric", "--collection", dense, "--queries", dense]}
        for e in self.told("engines", "--json"):
            if e["option"] != "--engine":
                continue
            line = [*lines[e["verb"]], "--out", "out", "--engine", e["engine"]]
            if "cuda" not in e["runs_on"]:
                self.expect(4, *line, "--device", "cuda", message=e["engine"] if self.has_gpu()
                            else "no CUDA device")
            if "cpu" not in e["runs_on"]:
                self.expect(4, *line, "--device", "cpu", message=e["engine"])
        self.assertFalse((self.folder / "out").exists())

    def test_labels_are_names_however_large(self):
        names = {"small": [0, 1], "large": [0, 2_000_000_000]}
        chosen, scores = {}, {}
        for size, labels in names.items():
            text = b"".join(b"%d qid:%d 1:%d 2:%d\n" % (labels[d % 3 == 0], d // 8, d % 7, d % 5)
                            for d in range(64))
            train = self.file(size, text)
            for e in self.told("engines", "--json"):
                if "cpu" not in e["runs_on"] or e["verb"] not in ("reduce", "rank"):
                    continue
                line = [e["verb"], "--train", train, "--engine", e["engine"], "--device", "cpu",
                        "--out", "out"]
                if e["verb"] == "reduce":
                    self.expect(0, *line, "--ids", "ids")
                    chosen.setdefault(size, set()).add((self.folder / "ids").read_bytes())
                else:
                    self.expect(0, *line, "--test", train)
                    scores.setdefault(size, set()).add((self.folder / "out").read_bytes())
        self.assertEqual(chosen["small"], chosen["large"])
        self.assertEqual([len(chosen["large"]), len(scores["large"])], [1, 1])
        small, large = (map(float, next(iter(scores[size])).split()) for size in names)
        for a, b in zip(small, large):
            self.assertAlmostEqual(a, b / 2e9, 6)


class Shapes(harness.CommandLine):
    def test_table_and_json_name_the_same(self):
        rows = [line.split() for line in
                self.expect(0, "sample", "--list-shapes").stdout.decode().splitlines()[1:]]
        shapes = self.told("sample", "--list-shapes", "--json")
        self.assertEqual(rows, [[s["shape"], *map(str, s["documents"]), str(s["features"]),
                                 str(s["folds"])] for s in shapes])
        hp2003 = next(s for s in shapes if s["shape"] == "hp2003")
        self.assertEqual([hp2003["partitions"], hp2003["reduced"]["4"], hp2003["iterations"]["3"]],
                         [5, 4936, 222])
        for words, message in ((["--shape", "td2003"], "--out-dir is required"),
                               (["--list-shapes", "--manifest", "-"], "--manifest and the list")):
            self.expect(2, "sample", *words, message=message)
        self.assertEqual(os.listdir(self.folder), [])


class Devices(harness.CommandLine):
    def test_cuda_without_a_device_is_device_trouble(self):
        if self.told("devices", "--json")["cuda"]:
            self.skipTest("there is a CUDA device")
        for device in ("cuda", "cuda:0", "cuda:0,1"):
            self.expect(4, "devices", "--device", device, message=f"--device {device}: found no CUDA")

    def test_a_device_that_is_not_there(self):
        self.expect(4, "devices", "--device", "cuda:4095", message="--device cuda:4095")

    def test_auto_says_which_where_there_is_a_gpu(self):
        train = self.file("train.txt", b"1 qid:1 1:1\n0 qid:1 1:2\n")
        line = ["reduce", "--train", train, "--out", self.folder / "r.txt"]
        listed = self.told("devices", "--json")["cuda"]
        took = b"rulerank: --device auto selected the CPU: starting CUDA would take longer"
        self.assertEqual(took in self.expect(0, *line).stderr, bool(listed))
        engines = self.told("engines", "--json")
        if listed and any(e["engine"] == "prss" for e in engines):
            self.expect(0, *line, "--engine", "prss", message="rulerank: --device auto selected cuda:0")
        # An engine that runs on the CPU alone, and no engine, choose nothing.
        for words in (["mine", "--train", train, "--min-support", "1"],
                      ["split", "--in", train, "--folds", "3", "--out-dir", "d"]):
            self.assertNotIn(b"--device", self.rulerank(*words).stderr)
        for quiet in (["--quiet"], ["--device", "cpu"]):
            self.assertNotIn(b"--device", self.expect(0, *line, *quiet).stderr)


class Outputs(harness.CommandLine):
    def test_a_full_disk_is_an_error(self):
        train = self.file("train.txt", b"1 qid:1 1:1\n0 qid:1 1:2\n")
        self.expect(1, "reduce", "--train", train, "--out", "/dev/full",
                    message="/dev/full: cannot be written: No space left on device")
        scores = self.file("scores.txt", b"1\n2\n")
        discretize = ["discretize", "--train", train, "--out-dir", "d", "--json"]
        self.expect(0, *discretize)
        for line in (["--version"], ["--help"], ["engines"], ["engines", "--json"], ["devices"],
                     ["reduce", "--train", train, "--out", "-"],
                     ["reduce", "--train", train, "--out", "r.txt", "--json"],
                     ["fit", "--train", train, "--model", "m", "--json"],
                     ["rank", "--train", train, "--test", train],
                     ["rank", "--train", train, "--test", train, "--out", "s", "--run", "-"],
                     ["rank", "--train", train, "--test", train, "--out", "s", "--json"],
                     ["evaluate", "--test", train, "--scores", scores], discretize,
                     ["search", "--help"], ["--help-all"], *([*verb.split(), "--help"] for verb in self.verbs())):
            with self.subTest(line), open("/dev/full", "wb") as full:
                self.expect(1, *line, stdout=full,
                            message="standard output: cannot be written: No space left on device")
        self.expect(1, "rank", "--train", train, "--test", train, "--out", "/dev/full",
                    message="/dev/full: cannot be written: No space left on device")
        self.expect(1, "engines", "--manifest", "/dev/full", message="/dev/full")

    def test_a_closed_standard_output_is_an_error(self):
        closed = {"stdout": None, "preexec_fn": lambda: os.close(1)}
        for line in (["engines"], ["--version"], ["--help"], ["rank", "--help"]):
            self.expect(1, *line, message="standard output: cannot be written", **closed)

    def test_one_that_cannot_be_written_fails_before_the_work(self):
        reduce = ["reduce", "--train", "not-read-yet", "--out"]
        for line, path in (([*reduce, "absent/r.txt"], "absent/r.txt"),
                           ([*reduce, "r.txt", "--ids", "absent/i.tsv"], "absent/i.tsv"),
                           ([*reduce, "r.txt", "--model", "absent/m.json"], "absent/m.json"),
                           (["rank", "--train", "not-read-yet", "--test", "t", "--out", "absent/s"],
                            "absent/s")):
            self.expect(1, *line, message=f"{path}: cannot be written")
        self.assertEqual(os.listdir(self.folder), [])

    def test_the_old_file_keeps_its_mode(self):
        train = self.file("train.txt", b"1 qid:1 1:1\n0 qid:1 1:2\n")
        out = self.file("r.txt", harness.OLD)
        out.chmod(0o640)
        self.expect(0, "reduce", "--train", train, "--out", out)
        self.assertEqual(out.stat().st_mode & 0o777, 0o640)
        self.assertNotEqual(out.read_bytes(), harness.OLD)

    def test_a_redirection_keeps_its_file(self):
        train = self.file("train.txt", b"1 qid:1 1:1\n0 qid:1 1:2\n")
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "-"):
            with self.subTest(name), open(self.folder / "out", "w+b") as out:
                os.write(out.fileno(), b"before\n")
                self.expect(0, "reduce", "--train", train, "--out", name, "--quiet", stdout=out)
                os.write(out.fileno(), b"after\n")
                self.assertEqual((self.folder / "out").read_bytes(),
                                 b"before\n" + train.read_bytes() + b"after\n")

    def test_no_two_outputs_are_one(self):
        train = self.file("train.txt", b"1 qid:1 1:1\n0 qid:1 1:2\n")
        one = self.file("one", harness.OLD)
        (self.folder / "link").symlink_to("one")
        os.link(one, self.folder / "hard")
        (self.folder / "again").symlink_to(self.folder)
        reduce = ["reduce", "--train", train, "--out"]
        rank = ["rank", "--train", train, "--test", train, "--out"]
        for line, options, found in (
                ([*reduce, "new", "--ids", "new"], "--out and --ids", "new"),
                ([*reduce, "new", "--discretizer-out", "./new"], "--out new and --discretizer-out ./new", "the same"),
                ([*reduce, "a", "--ids", "new", "--discretizer-out", self.folder / "again" / "new"],
                 "--ids new and --discretizer-out", "the same"),
                ([*reduce, "one", "--ids", "link"], "--out one and --ids link", "the same"),
                ([*reduce, "one", "--ids", "hard"], "--out one and --ids hard", "the same"),
                ([*reduce, "-", "--ids", "-"], "--out and --ids", "standard output"),
                ([*reduce, "/dev/stdout", "--ids", "-"], "--out /dev/stdout and --ids standard output", "same"),
                ([*reduce, "new", "--manifest", "new"], "--manifest and --out", "new"),
                ([*rank, "new", "--run", "new"], "--out and --run", "new"),
                ([*rank, "-", "--run", "-"], "--out and --run", "standard output"),
                ([*rank, "new", "--run", "r", "--manifest", "r"], "--manifest and --run", "r"),
                (["fit", "--train", train, "--model", "m", "--manifest", "m"],
                 "--manifest and --model", "m"),
                (["evaluate", "--list-metrics", "--out", "new", "--manifest", "new"],
                 "--manifest and --out", "new"),
                (["evaluate", "--list-metrics", "--manifest", "-"],
                 "--manifest and --out", "standard output"),
                (["engines", "--manifest", "-"], "--manifest and the list", "standard output"),
                (["devices", "--manifest", "-"], "--manifest and the list", "standard output"),
                (["discretize", "--train", train, "--apply", train, "--out-dir", "d"],
                 f"--train {train} and --apply {train} are both", "d/train.txt"),
                (["discretize", "--train", train, "--out-dir", "d", "--discretizer-out", "d/train.txt"],
                 f"--discretizer-out and --train {train} are both", "d/train.txt"),
                (["experiment", "--folds", ".", "--out-dir", ".", "--rank-size", 3, "--manifest", "results.json"],
                 "--out-dir's results.json", "the same"),
                (["experiment", "--folds", ".", "--out-dir", ".", "--manifest", "curves.md"],
                 "--out-dir's curves.md", "the same"),
                ([*SAMPLE, "--out-dir", ".", "--manifest", "one"], "", None),
                ([*SAMPLE, "--out-dir", "again", "--manifest", "Fold1/test.txt"],
                 "--out-dir's Fold1/test.txt", "the same"),
                (["split", "--in", train, "--out-dir", ".", "--manifest", "./Fold1/vali.txt"],
                 "--out-dir's Fold1/vali.txt", "./Fold1/vali.txt"),
        ):
            with self.subTest(line=line):
                if found is None:  # as long as they differ
                    self.expect(0, *line)
                    one.write_bytes(harness.OLD)
                    continue
                errors = self.expect(2, *line, message=options).stderr.decode()
                self.assertIn(found, errors)
                self.assertEqual(one.read_bytes(), harness.OLD)
                self.assertFalse((self.folder / "new").exists())
        self.expect(0, *reduce, "/dev/null", "--ids", "/dev/null", "--manifest", "/dev/null")
        with open("/dev/null", "wb") as null:
            self.expect(2, *reduce, "-", "--ids", "-", message="--out and --ids", stdout=null)
            self.expect(0, *reduce, "-", "--ids", "/dev/null", stdout=null)

    def test_json_on_standard_output_is_json_on_every_verb(self):
        self.file("w.txt", b"rye\nwry\n")
        self.file("d.tsv", b"a\trye bread\nb\twheat bread\nc\tcorn\n")
        self.file("r.run", b"1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n")
        self.file("b.txt", b"1 2\n1\n")
        for line, first in (
                ("search metric --collection w.txt --queries w.txt --metric edit --k 1",
                 {"query": "0", "neighbours": [{"id": "0", "distance": 0}]}),
                ("search text --collection d.tsv --queries d.tsv --k 1 --leave-out-self --weights tf-idf --min-documents 1 --max-share 1",
                 {"query": "a", "neighbours": [{"id": "b", "similarity": 0.1}]}),
                ("mine --transactions b.txt --min-support 1", {"items": ["1"], "support": 2, "share": 1}),
                ("mine --transactions b.txt --min-support 1 --rules",
                 {"antecedent": ["2"], "consequent": ["1"], "transactions": 2, "with_antecedent": 1, "with_consequent": 2, "with_both": 1,
                  "support": .5, "confidence": 1, "lift": 1, "leverage": 0, "conviction": 1, "zhang": 0, "jaccard": .5, "certainty": 0,
                  "kulczynski": .75, "chi_square": 0, "p": 1, "p_holm": 1}),
                ("fuse --run r.run r.run --distinct-scores",
                 {"qid": "1", "documents": [{"docid": "a", "score": 2}, {"docid": "b", "score": 1}]})):
            with self.subTest(line):
                said = self.expect(0, *line.split(), "--json").stdout.splitlines()
                found = json.loads(said[0])
                for near in found.get("neighbours", []):
                    near.update({name: round(value, 1) for name, value in near.items() if name == "similarity"})
                self.assertEqual(found, first)
                for one in said[1:]:
                    json.loads(one)
        # Refused before the inputs are read, which are absent.
        for line, option in (
                ("mine --transactions b.txt --min-support 1 --format spmf", "--out"), ("judgments r.run --to qrels", "--out"),
                ("judgments r.run --to qrels --out o --queries-out -", "--queries-out"), ("report result", "--out"),
                ("features --collection d --topics t --out -", "--out"), ("features --collection d --topics t --out o --candidates-out -", "--candidates-out"),
                ("reduce --train t --out -", "--out"), ("reduce --train t --out o --ids -", "--ids"), ("agreement a b --out -", "--out"),
                ("fit --train t --model -", "--model"), ("fit --train t --model /dev/stdout", "--model"), ("reduce --train t --out /dev/stdout", "--out"),
                ("export m --to c --out -", "--out"), ("rank --model m --test t --out o --run -", "--run"),
                ("search text --collection d --queries q --out o --run -", "--run"), ("label --pool p --out -", "--out"),
                ("discretize --train t --out-dir d --discretizer-out -", "--discretizer-out")):
            self.expect(2, *line.split(), "--json", message=f"--json needs {option} FILE, because both would write to standard output")

    def test_json_says_what_split_and_sample_wrote(self):
        def parts(out, folds):
            written = []
            for n in range(1, folds + 1):
                folder = f"{out}/Fold{n}"
                fold = {"folder": folder}
                for part in ("train", "vali", "test"):
                    lines = (self.folder / folder / f"{part}.txt").read_bytes().splitlines()
                    fold[part] = {"documents": len(lines),
                                  "queries": len({line.split()[1] for line in lines})}
                written.append(fold)
            return {"out_dir": out, "folds": written}

        for words, folds in ((["--documents", "61", "--features", "3", "--queries", "7"], 5),
                             (["--documents", "61", "--features", "3", "--folds", "1"], 1)):
            done = self.expect(0, "sample", *words, "--out-dir", f"drawn{folds}", "--json")
            self.assertEqual(json.loads(done.stdout), parts(f"drawn{folds}", folds))
        drawn = ["split", "--in", "drawn5/Fold1/train.txt", "--folds", "3", "--out-dir"]
        self.assertEqual(self.told(*drawn, "out", "--json"),
                         parts("out", 3))
        self.assertEqual(self.expect(0, *drawn, "again").stdout, b"")
        with open("/dev/full", "wb") as full:
            self.expect(1, *drawn, "out", "--json", stdout=full,
                        message="standard output: cannot be written")
        manifest = self.expect(0, *drawn, "again", "--json", "--manifest", "-").stdout
        self.assertEqual(json.loads(manifest)["command"][1], "split")

    def test_a_fault_leaves_no_folder(self):
        bad = self.file("bad.txt", b"1 qid:1 1:x\n")
        for line in (["discretize", "--train", bad], ["split", "--in", bad]):
            self.expect(3, *line, "--out-dir", "deep/d", message=f"{bad}:1:")
        self.assertEqual(os.listdir(self.folder), ["bad.txt"])

    def test_results_alone_go_to_standard_output(self):
        train = self.file("train.txt", b"1 qid:1 1:1\n0 qid:1 1:2\n")
        done = self.expect(0, "rank", "--train", train, "--test", train, "--out", "-")
        self.assertEqual(len(done.stdout.split()), 2)


class Manifest(harness.CommandLine):
    def test_says_what_was_run(self):
        text = b"1 qid:1 1:1\n0 qid:1 1:2\n"
        train = self.file("train.txt", text)
        manifest = self.folder / "m.json"
        line = ["reduce", "--train", str(train), "--out", str(self.folder / "r.txt"),
                "--device", "cpu", "--threads", "2", "--seed", "9", "--manifest", str(manifest)]
        self.expect(0, *line)
        m = json.loads(manifest.read_text())
        self.assertEqual(m["command"][1:], line)
        self.assertEqual([m["device"], m["threads"], m["seed"]], ["cpu", 2, 9])
        self.assertEqual(m["inputs"],
                         [{"path": str(train), "sha256": hashlib.sha256(text).hexdigest()}])
        self.assertRegex(m["commit"], r"^[0-9a-f]{40}|^unknown$")
        self.assertGreater(m["machine"]["cores"], 0)
        self.assertGreater(m["machine"]["memory_bytes"], 0)
        self.assertGreater(m["peak_memory_bytes"], 0)
        stages = {name: s for name, s in m["seconds"].items() if name != "total"}
        self.assertTrue(stages)
        self.assertLessEqual(sum(stages.values()), m["seconds"]["total"])
        self.assertLessEqual(set(m["cpu_seconds"]), {*m["seconds"]})
        work = {name: s for name, s in m["cpu_seconds"].items() if name != "total"}
        self.assertGreater(work["reduce"], 0)
        self.assertLessEqual(sum(work.values()), m["cpu_seconds"]["total"])
        # Its start comes before the clock's.
        before = harness.processor_seconds_of_ended()
        self.expect(0, "--version")
        start = harness.processor_seconds_of_ended() - before
        self.assertLessEqual(m["cpu_seconds"]["total"], 2.2 * m["seconds"]["total"] + 1 + 2 * start)

    def test_memory_is_the_programs_own(self):
        """Not what the program held that started it, such as a Python with data."""
        data = b"x" * 400_000_000
        self.file("train.txt", b"1 qid:1 1:1\n0 qid:1 1:2\n")
        self.expect(0, "reduce", "--train", "train.txt", "--out", "r", "--manifest", "m.json")
        peak = json.loads((self.folder / "m.json").read_text())["peak_memory_bytes"]
        self.assertLess(peak, len(data))

    def test_an_input_pipe_has_no_checksum(self):
        pipe, end = os.pipe()
        os.write(end, b"1 qid:1 1:1\n0 qid:1 1:2\n")
        os.close(end)
        self.addCleanup(os.close, pipe)
        manifest = self.folder / "m.json"
        self.expect(0, "reduce", "--train", f"/dev/fd/{pipe}", "--out", self.folder / "r.txt",
                    "--manifest", manifest, pass_fds=[pipe])
        self.assertEqual(json.loads(manifest.read_text())["inputs"],
                         [{"path": f"/dev/fd/{pipe}", "sha256": None}])

    def test_standard_input_has_no_checksum(self):
        text = b"1 qid:1 1:1\n0 qid:1 1:2\n"
        train = self.file("train.txt", text)
        self.file("-", b"no input")
        manifest = self.folder / "m.json"
        for line, others in ((["reduce", "--train", "-", "--out", "r"], []),
                             (["rank", "--train", train, "--test", "-", "--out", "s"], [train])):
            self.expect(0, *line, "--manifest", manifest, input=text)
            sums = {entry["path"]: entry["sha256"]
                    for entry in json.loads(manifest.read_text())["inputs"]}
            self.assertEqual(sums, {"-": None, **{str(path): hashlib.sha256(text).hexdigest()
                                                  for path in others}})

    def test_one_that_cannot_be_written_fails_before_the_work(self):
        self.expect(1, "reduce", "--train", "absent", "--out", "r", "--manifest", "absent/m.json",
                    message="absent/m.json: cannot be written")


class Threads(harness.CommandLine):
    def test_results_do_not_depend_on_threads(self):
        self.expect(0, *SAMPLE, "--out-dir", self.folder / "drawn")
        train = next((self.folder / "drawn").rglob("train.txt"))
        texts = set()
        for threads in ("1", "2", "5"):
            out = self.folder / threads
            self.expect(0, "reduce", "--train", train, "--out", out, "--threads", threads)
            self.expect(0, "rank", "--train", out, "--test", train, "--out", f"{out}.scores",
                        "--threads", threads)
            texts.add(out.read_bytes() + (self.folder / f"{threads}.scores").read_bytes())
        self.assertEqual(len(texts), 1)


class StandardError(harness.CommandLine):
    """The program drops text that it cannot write to standard error: its work and exit code do not change."""

    LINE = ["reduce", "--train", "train.txt", "--out"]

    def setUp(self):
        super().setUp()
        self.file("train.txt", b"1 qid:1 1:1\n0 qid:1 1:2\n")

    def without_reader(self):
        """The end of a pipe that nobody reads."""
        reader, writer = os.pipe()
        os.close(reader)
        self.addCleanup(os.close, writer)
        return writer

    def test_one_that_cannot_be_written(self):
        self.expect(0, *self.LINE, "want")
        want = (self.folder / "want").read_bytes()
        with open("/dev/full", "wb") as full:
            for name, options in (("full", {"stderr": full}),
                                  ("closed", {"preexec_fn": lambda: os.close(2)}),
                                  ("without a reader", {"stderr": self.without_reader()})):
                # Python ignores SIGPIPE, and so does a child that does not restore it.
                for sigpipe in (True, False):
                    with self.subTest(name, sigpipe=sigpipe):
                        run = {"cwd": self.folder, "check": False, "timeout": harness.HANGS,
                               "restore_signals": sigpipe, **options}
                        program = [harness.PROGRAM, *self.LINE]
                        self.assertEqual(subprocess.run([*program, "r"], **run).returncode, 0)
                        self.assertEqual((self.folder / "r").read_bytes(), want)
                        self.assertEqual(subprocess.run([*program, "absent/r"], **run).returncode, 1)
                        self.assertEqual(subprocess.run(program, **run).returncode, 2)

    def test_a_person_is_asked_there(self):
        self.file("pool", b"".join(b"-1 qid:1 1:%d 2:%d\n" % (d % 3, d % 2) for d in range(9)))
        line = ["reduce", "--train", "pool", "--unlabelled", "-1", "--oracle", "ask", "--out"]
        answers = b"1\n0\n" * 9
        self.expect(0, *line, "want", "--resume", "a", input=answers)
        with open("/dev/full", "wb") as full:
            done = subprocess.run([harness.PROGRAM, *line, "r", "--resume", "b"], input=answers,
                                  stderr=full, cwd=self.folder, check=False, timeout=harness.HANGS)
        self.assertEqual(done.returncode, 0)
        self.assertEqual((self.folder / "r").read_bytes(), (self.folder / "want").read_bytes())


class NoThreads(harness.CommandLine):
    def test_no_thread_can_be_started(self):
        # The stack of a new thread has this size, which no address space holds.
        stack = 1 << 50
        _, most = resource.getrlimit(resource.RLIMIT_STACK)
        if most != resource.RLIM_INFINITY and most < stack:
            self.skipTest("the limit on the stack cannot be raised")
        self.expect(1, "engines", message="cannot start a thread",
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (stack, most)))


class Terminal(harness.CommandLine):
    def rest_of(self, terminal):
        """The bytes that arrive until the other end is closed."""
        text = b""
        try:
            while part := os.read(terminal, 4096):
                text += part
        except OSError:
            pass
        return text

    def on_a_terminal(self, *arguments):
        """The standard error of the program on a terminal."""
        mine, its = pty.openpty()
        self.addCleanup(os.close, mine)
        process = self.start(*arguments, errors=its)
        os.close(its)
        text = self.rest_of(mine)
        self.assertEqual(process.wait(), 0, text)
        return text

    def expect_bar(self, line_of, bar):
        """The line, of as little work as this machine shows a bar of: there is none in the first 0.1 s."""
        for times in (1, 4, 16):
            line = line_of(times)
            text = self.on_a_terminal(*line)
            if re.search(bar, text):
                return line
        self.assertRegex(text, bar)

    def test_progress_on_a_terminal(self):
        def line_of(times):
            drawn = f"drawn{times}"
            self.expect(0, "sample", "--documents", 4000 * times, "--features", "40", "--queries", "20",
                        "--folds", "1", "--out-dir", drawn)
            return ["reduce", "--train", next((self.folder / drawn).rglob("train.txt")),
                    "--out", "r.txt", "--device", "cpu", "--engine", "ssarp", "--rule-size", "4",
                    "--max-documents", "60"]

        # And it is cleared.
        line = self.expect_bar(line_of, rb"(?s)\r\033\[K(\[[#-]{30}\] )?[\w ]+: \d+.*\r\033\[Krulerank: chose")
        self.assertEqual(self.on_a_terminal(*line, "--quiet"), b"")

    def test_results_on_a_terminal_command_it_nothing(self):
        """Ids are unchanged in files and pipes; on a terminal, bytes that would control it are written as \\xNN."""
        text = "".join(f"{d % 2} qid:\u00e9 1:{d} #docid = a\x1b[31m{d}\n" for d in range(6)).encode()
        self.file("t.txt", text)
        line = ["rank", "--train", "t.txt", "--test", "t.txt", "--out", "s.txt", "--run", "-", "--rule-size", "2", "--device",
                "cpu", "--quiet"]
        piped = self.expect(0, *line).stdout
        self.assertIn("\u00e9 Q0 a\x1b[31m".encode(), piped)
        mine, its = pty.openpty()
        self.addCleanup(os.close, mine)
        done = subprocess.Popen([str(harness.PROGRAM), *line], cwd=self.folder, stdout=its)
        os.close(its)
        shown = self.rest_of(mine)
        self.assertEqual(done.wait(), 0)
        self.assertEqual(shown.replace(b"\r\n", b"\n"), piped.replace(b"\x1b", b"\\x1b"))

    def test_a_bar_is_gone_before_an_interruption(self):
        def begin(_):
            nonlocal mine, text
            mine, its = pty.openpty()
            self.addCleanup(os.close, mine)
            process = self.start("sample", "--documents", "4000000", "--features", "50", "--folds", "1",
                                 "--out-dir", "drawn", errors=its)
            os.close(its)
            text = b""
            with contextlib.suppress(OSError):  # the other end was closed
                while b" left)" not in text:
                    text += os.read(mine, 4096)
            return process

        mine, text = None, b""
        process = self.held_at_work(begin)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        text += self.rest_of(mine)
        self.assertEqual(process.wait(), 130, text)
        self.assertRegex(text, rb"\r\033\[K\[[#-]{30}\] sample: \d+ of 4000000 \(\d+ %, [\d.]+ (s|min|h) left\)")
        self.assertRegex(text, rb"\r\033\[Krulerank: error: interrupted\r\n$")

    def test_bytes_are_readable(self):
        part = b"".join(b"%d %d %d %d\n" % (i % 7, i % 11, i % 13, i % 1000) for i in range(100_000))

        def line_of(times):
            return ["mine", "--transactions", self.file("lines", part * (40 * times)), "--min-support", "100%", "--out", "/dev/null"]

        self.expect_bar(line_of, rb"read: [\d.]+ (kB|MB) of [\d.]+ [MG]B \(\d+ %")

    def test_what_was_done_is_said(self):
        train = self.file("train.txt", b"1 qid:1 1:1\n0 qid:1 1:2\n1 qid:2 1:1\n0 qid:3 1:2\n")
        for line, said in (
                (["rank", "--train", train, "--test", train, "--out", "s"],
                 "rulerank: ranked 4 documents of 3 queries with project; wrote the scores to s\n"),
                (["split", "--in", train, "--fold-count", "3", "--out-dir", "f"],
                 "rulerank: 3 folds in f; f/Fold1 has "),
                ([*SAMPLE, "--out-dir", "d"], "rulerank: 1 fold in d; d/Fold1 has 36 training, "),
                (["reduce", "--train", train, "--out", "r"],
                 "rulerank: chose 2 of 4 documents (50.00 %) with --rule-size 4 in 1 partition by delta\n")):
            with self.subTest(line=line):
                self.assertIn(said, self.expect(0, *line, "--device", "cpu").stderr.decode())
                self.assertEqual(self.expect(0, *line, "--quiet", "--device", "cpu").stderr, b"")

    def test_no_bar_and_no_escapes_off_a_terminal(self):
        self.assertNotIn(b"\033", self.expect(0, *SAMPLE, "--out-dir", "drawn").stderr)


if __name__ == "__main__":
    harness.main()

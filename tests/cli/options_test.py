"""Options: misspelt words, numbers, names of earlier versions, help, completions, manual pages."""

import fcntl
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import harness

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
import options  # noqa: E402


class Misspelt(harness.CommandLine):
    def test_the_word_that_was_meant(self):
        for words, found, meant in (
                (["rank", "--trian", "x"], "found '--trian', expected an option of rank", "--train"),
                (["search", "text", "--qureies", "x"], "expected an option of search text", "--queries"),
                (["fit", "--model-out", "x"], "expected an option of fit", "--model"),
                (["rank", "--trian", "x", "--test", "y", "--out", "z"], "found '--trian'", "--train"),
                (["rank", "-train", "x"], "found '-train'", "--train"),
                (["reduce", "--Rule-Size", "3"], "found '--Rule-Size'", "--rule-size"),
                (["reduce", "--partition", "3"], "found '--partition'", "--partitions"),
                (["rnak", "--train", "x"], "found 'rnak', expected a verb", "rank"),
                (["search", "txet"], "found 'txet', expected text", "text"),
                (["help", "evalute"], "found 'evalute', expected a verb", "evaluate"),
                (["completion", "bsh"], "found 'bsh', expected bash, zsh or fish", "bash"),
                (["rank", "--method", "frequncy"],
                 "--method: found 'frequncy', expected tube, width, frequency or capped", "frequency"),
                (["rank", "--engine", "projct"], "--engine: found engine 'projct'", "project"),
                (["evaluate", "--metrics", "MAP,NCDG@10"], "--metrics: ", "NDCG"),
                (["evaluate", "--profile", "standart"], "--profile: found 'standart'", "standard"),
                (["evaluate", "--compare", "paired-t,fischer"], "found 'fischer'", "fisher"),
                (["experiment", "--baselines", "ful"], "--baselines: found 'ful'", "full"),
                (["sample", "--shape", "td203"], "--shape: found 'td203'", "td2003"),
                (["tune", "--search", "gird"], "--search: found 'gird'", "grid")):
            with self.subTest(words=words):
                errors = self.expect(2, *words, message=found).stderr.decode()
                self.assertIn(f" (did you mean {meant}?)", errors)

    def test_what_other_tools_call_an_option(self):
        for words, meant in (
                (["tune", "--validation", "v"], "--vali"), (["tune", "--validate=v"], "--vali"),
                (["fit", "--out", "m"], "--model"), (["fit", "--output", "m"], "--model"),
                (["search", "text", "--docs", "d"], "--collection"),
                (["search", "text", "--in", "d"], "--collection"),
                (["search", "text", "--topics", "q"], "--queries"),
                (["search", "text", "--top-k", "5"], "--k"),
                (["pipeline", "--queries", "q"], "--topics"),
                (["rank", "--ranker", "m"], "--model"), (["rank", "--output", "s"], "--out"),
                (["split", "--input", "f"], "--in"), (["mine", "--input", "f"], "--transactions"),
                (["mine", "--conf", "0.8"], "--min-confidence"),
                (["evaluate", "--predictions", "s"], "--scores"),
                (["rank", "--n-jobs", "2"], "--threads"), (["reduce", "--max-docs", "2"], "--max-documents"),
                (["rank", "--GPU"], "--device")):
            with self.subTest(words=words):
                errors = self.expect(2, *words, message="expected an option of").stderr.decode()
                self.assertIn(f" (did you mean {meant}?)", errors)

    def test_every_synonym_is_of_an_option_that_there_is(self):
        source = pathlib.Path(__file__).parents[2] / "apps/shared/options/suggestions.cpp"
        named = re.findall(r'(?m)^    \{"(--[a-z-]+)", \{', source.read_text())
        self.assertGreater(len(named), 20)
        known = options.listed(self.expect(0, "--help-all").stdout.decode())
        self.assertEqual(set(named) - known, set())

    def test_an_option_given_twice_or_without_a_value(self):
        self.expect(2, "rank", "--train", "x", "--train", "y", "--test", "z",
                    message="--train: given 2 times, expected once; see")
        self.expect(2, "rank", "--rule-size", "3", "--rule-size", "4", "--rule-size", "4",
                    message="--rule-size: given 3 times, expected once; see")
        self.expect(2, "rank", "--test", "z", "--train",
                    message="--train: found nothing after it, expected FILE; see")
        for line in (["rank", "--test"], ["rank", "--rule-size"], ["evaluate", "--scores"],
                     ["reduce", "--train", "x", "--train"]):
            self.assertNotIn(b"required", self.expect(2, *line).stderr)

    def test_two_forms_of_one_output(self):
        for line in (["inspect", "m", "--format", "html"], ["inspect", "m", "--format", "card"], ["evaluate", "--format", "tsv"],
                     ["explain", "--model", "m", "--test", "t", "--format", "markdown"],
                     ["tune", "--train", "t", "--vali", "v", "--format", "latex"],
                     ["experiment", "--folds", "f", "--out-dir", "o", "--format", "table"],
                     ["pipeline", "--collection", "c", "--topics", "t", "--qrels", "q", "--out-dir", "o", "--format", "tsv"]):
            self.expect(2, *line, "--json", message=f"--json cannot be combined with --format {line[-1]}, expected one of them")
        listed = self.expect(0, "evaluate", "--list-metrics", "--json").stdout
        self.assertEqual(self.expect(0, "evaluate", "--list-metrics", "--json", "--format", "json").stdout, listed)

    def test_nothing_is_guessed_from_afar(self):
        for words in (["rank", "--xyzzy"], ["fly"], ["rank", "--method", "q"], ["engines", "extra"]):
            self.assertNotIn(b"did you mean", self.expect(2, *words).stderr)
        # The name is known, it is the cut-off that is wrong.
        for metric in ("judged", "judged@", "map@x"):
            self.assertNotIn(b"did you mean", self.expect(2, "evaluate", "--metrics", metric).stderr)

    def test_a_known_line_is_judged_by_what_it_lacks(self):
        self.expect(2, "reduce", "--out", "x", message="--train is required")
        self.expect(2, "rank", "--train", "x", "--out", "y", message="--test is required")

    def test_options_that_are_named(self):
        pool = self.file("pool", b"-1 qid:1 1:1\n-1 qid:1 1:2\n-1 qid:1 1:3\n")
        self.expect(3, "reduce", "--train", pool, "--out", "o",
                    message='pool:1:1: label "-1" is negative, expected an integer of 0 or more (or '
                            "--unlabelled -1 if it means that the document has no label)")
        for oracle in ([], ["--oracle", "file:labels"]):
            self.file("labels", b"line\tdocid\tqid\tlabel\tcomment\n")
            self.expect(3, "reduce", "--train", pool, "--unlabelled", "-1", *oracle, "--out", "o",
                        message="or --pending FILE to list the documents to label")
        whole = self.file("whole", b"1 qid:1 1:1\n0 qid:1 1:2\n")
        self.expect(0, "discretize", "--train", whole, "--out-dir", "d")
        self.expect(3, "rank", "--model", "d/discretizer.json", "--test", whole, "--out", "o",
                    message="discretizer.json:1:1: found the cuts of a discretizer, expected a model that `rulerank fit` wrote; use cuts with --discretizer")
        self.expect(0, "fit", "--train", whole, "--model", "m")
        self.expect(3, "rank", "--train", whole, "--discretizer", "m", "--test", whole, "--out", "o",
                    message="m:1:1: found a model that `rulerank fit` wrote, expected the cuts of a discretizer; use a model with --model")
        self.assertFalse((self.folder / "o").exists())

    def test_tuning_without_tune(self):
        line = ["experiment", "--folds", ".", "--out-dir", "o"]
        self.expect(2, *line, "--try-method", "nonsense", message="--try-method: found 'nonsense'")
        for option, value in (("--try-method", "tube"), ("--combine", "8"), ("--rungs", "2")):
            self.expect(2, *line, option, value, message=f"{option} needs --tune")


class Numbers(harness.CommandLine):
    def test_what_is_no_number(self):
        checked, kinds = set(), set()
        for verb in self.verbs():
            text = self.expect(0, *verb.split(), "--help-all", env={**os.environ, "COLUMNS": "200"})
            for option, kind in re.findall(r"(?m)^  (--[\w-]+)(?:, --[\w-]+)* ([NXKP]|SIZE)(?:  | \.|$)",
                                           text.stdout.decode()):
                checked.add(option)
                words = ["0x10", " 5", "5 ", "+5", "010", "5x", "99999999999999999999999"]
                if kind in "XP":
                    words = ["0x10", " 5", "5 ", "nan", "inf", "1e999", "05"]
                if kind == "SIZE":
                    words = ["0x10", " 5MB", "MB", "-1"]
                # A word for each option in turn, and all of them for the first one of its kind.
                for word in [words[len(checked) % len(words)]] if kind in kinds else words:
                    with self.subTest(verb=verb, option=option, word=word):
                        self.expect(2, *verb.split(), f"{option}={word}",
                                    message=f"{option}: found '{word}', expected a")
                kinds.add(kind)
        for option in ("--threads", "--seed", "--rule-size", "--min-confidence", "--fold-count", "--k",
                       "--max-p", "--cache-memory", "--candidates", "--mu"):
            self.assertIn(option, checked)

    def test_ranges(self):
        train = self.file("train.txt", b"1 qid:1 1:1\n0 qid:1 1:2\n")
        for words, message in (
                (["split", "--in", train, "--out-dir", "d", "--folds", "4294967296"],
                 "--fold-count: found '4294967296', expected an integer from 1 to 1000000"),
                (["reduce", "--train", train, "--out", "o", "--rule-size", "1"],
                 "--rule-size: found '1', expected an integer from 2 to 64"),
                (["reduce", "--train", train, "--out", "o", "--min-confidence", "1.5"],
                 "--min-confidence: found '1.5', expected a number from 0 to 1"),
                (["reduce", "--train", train, "--out", "o", "--unlabelled", "0"],
                 "--unlabelled: found '0', expected an integer of -1 or less"),
                (["search", "metric", "--collection", train, "--queries", train, "--out", "o", "--metric", "edit", "--bucket", "-1"],
                 "--bucket: found '-1', expected an integer from 0 to 2147483648"),
                (["mine", "--transactions", train, "--min-support", "1", "--rules", "--max-p", "nan"],
                 "--max-p: found 'nan', expected a number from 0 to 1"),
                (["tune", "--train", train, "--vali", train, "--try-rule-size", "3, 4"],
                 "--try-rule-size: found ' 4', expected an integer"),
                (["evaluate", "--test", train, "--feature", "0x1"],
                 "--feature: found '0x1', expected an integer"),
                (["rank", "--train", train, "--test", train, "--settings", self.folder],
                 f"{self.folder}: found a folder")):
            with self.subTest(words=words):
                self.expect(3 if "--settings" in words else 2, *words, message=message)
        self.expect(0, "rank", "--train", train, "--test", train, "--cache-memory", "512MB")


class Names(harness.CommandLine):
    def test_names_of_earlier_versions(self):
        docs = self.file("docs", b"1\tred blue\n2\tgreen\n")
        line = ["search", "text", "--collection", docs, "--queries", docs]
        for group in (["--group", "4"], ["--group=4"]):
            errors = self.rulerank(*line, *group).stderr
            self.assertIn(b"rulerank: --group is deprecated since version 0.1.0; use --launch-queries\n", errors)
            self.assertNotIn(b"deprecated", self.rulerank(*line, *group, "--quiet").stderr)
        self.assertNotIn(b"--group", self.expect(0, "search", "text", "--help-all").stdout)
        train = self.file("train.txt", b"".join(b"%d qid:%d 1:%d\n" % (d % 2, d // 4, d % 5)
                                                for d in range(24)))
        for line, old, now in ((["reduce", "--train", train, "--out", "o"], "--model", "--discretizer-out"),
                               (["discretize", "--train", train, "--out-dir", "d"], "--model",
                                "--discretizer-out"),
                               (["split", "--in", train, "--out-dir", "s"], "--folds", "--fold-count"),
                               (["sample", "--documents", "60", "--features", "3", "--out-dir", "t"],
                                "--folds", "--fold-count"),
                               (["search", "text", "--collection", docs, "--queries", docs], "--format",
                                "--collection-format")):
            value = {"--folds": "3", "--format": "tsv"}.get(old, "cuts.json")
            self.expect(0, *line, old, value, message=f"rulerank: {old} is deprecated since version 0.1.0; use {now}")
            self.assertNotIn(f"{old} ", self.expect(0, *[w for w in line[:2] if w in (
                "reduce", "discretize", "split", "sample", "search", "text")], "--help-all").stdout.decode())

    def test_values_of_earlier_versions(self):
        words = self.file("words.txt", b"casa\nperro\n")
        line = ["search", "metric", "--metric", "edit", "--collection", words, "--queries", words]
        for before, now in (("brute", "brute-sort"), ("lc", "lc-growing"), ("sss", "sss-objects")):
            for option in (["--engine", before], [f"--engine={before}"]):
                old, new = self.rulerank(*line, *option), self.rulerank(*line, "--engine", now)
                note = f"rulerank: --engine {before} is deprecated since version 0.1.0; use {now}\n".encode()
                self.assertEqual((old.stdout, old.stderr, old.returncode), (new.stdout, note + new.stderr, new.returncode))
            self.expect(0, *line, "--index-type", before)  # the name of an index type stays
        self.expect(2, *line, "--engine", "egnat", message="found engine 'egnat', expected one of auto, index, pairs")

    def test_two_names_of_one_option(self):
        train = self.file("train.txt", b"".join(b"%d qid:%d 1:%d 2:%d\n" % (d % 2, d // 6, d % 5, d % 3)
                                                for d in range(36)))
        outputs = []
        for fold, cuts, metric in (("--folds", "--model", "--metric"),
                                   ("--fold-count", "--discretizer-out", "--metrics")):
            self.expect(0, "split", "--in", train, fold, "3", "--out-dir", f"d{fold}")
            self.expect(0, "reduce", "--train", train, "--out", "r", cuts, "c.json")
            self.expect(0, "discretize", "--train", train, "--out-dir", "binned", cuts, "b.json")
            self.expect(0, "tune", "--train", train, "--vali", train, metric, "MAP", "--budget", "4",
                        "--out", "s.json")
            outputs.append([(self.folder / name).read_bytes() for name in
                            (f"d{fold}/Fold1/train.txt", "c.json", "b.json")])
        self.assertEqual(*outputs)


class Help(harness.CommandLine):
    def text(self, *words, columns="80"):
        return self.expect(0, *words, env={**os.environ, "COLUMNS": columns}).stdout.decode()

    def test_lines_are_as_wide_as_the_terminal(self):
        for verb in ["", *self.verbs()]:
            for columns in ("50", "80", "132"):
                with self.subTest(verb=verb, columns=columns):
                    text = self.text(*verb.split(), "--help-all", columns=columns)
                    # A name with its values and a single long word are not broken.
                    long = [line for line in text.splitlines()
                            if len(line) > int(columns) and not re.match(r"  ([A-Z]+, )?-", line)
                            and " " in line.strip(" \\")]
                    self.assertEqual(long, [])

    def test_help_of_a_verb(self):
        for verb in ["", *self.verbs(), "help", "completion"]:
            self.assertEqual(self.text("help", *verb.split()), self.text(*verb.split(), "--help"))
        self.expect(2, "help", "fly", message="found 'fly', expected a verb")
        self.expect(2, "help", "mine", "fly", message="found 'fly', expected nothing after mine")

    def test_help_fits_two_screens(self):
        for verb in ["", *self.verbs(), "help", "completion"]:
            with self.subTest(verb):
                self.assertLessEqual(len(self.text(*verb.split(), "--help").splitlines()), 50)

    def test_help_says_how_many_options_there_are_more(self):
        for verb in self.verbs():
            with self.subTest(verb):
                usual, whole = (self.text(*verb.split(), option) for option in ("--help", "--help-all"))
                first, more = options.listed(usual), options.listed(whole)
                self.assertLess(first, more)
                self.assertTrue(usual.endswith(f"\nrulerank {verb} --help-all shows {len(more - first)} more options.\n"))
                # Each option is in a group that says what it is for, and in one group alone.
                self.assertNotIn("\nOptions:\n", whole)
                self.assertEqual(len(re.findall(r"(?m)^  (?:[A-Z]+, )?-", whole)), len(more))

    def test_help_all_lists_every_option(self):
        script, whole = self.text("completion", "fish"), self.text("--help-all")
        for verb in self.verbs():
            lines = [line for line in script.splitlines() if f"'__rulerank_verb \\'{verb}\\''" in line]
            known = {f"--{name}" for line in lines for name in re.findall(r" -l (\S+)", line)}
            with self.subTest(verb):
                text = self.text(*verb.split(), "--help-all")
                self.assertGreater(len(known), 6)
                self.assertEqual(known, options.listed(text))
                self.assertIn(text, whole)

    def test_verbs_stand_in_the_order_of_use(self):
        verbs = self.verbs()
        order = ["sample", "reduce", "fit", "rank", "evaluate", "search text", "mine", "devices"]
        self.assertEqual([verb for verb in verbs if verb in order], order)
        self.assertNotIn("\n  pages ", self.text("--help"))

    def test_an_example_can_be_pasted(self):
        for verb in self.verbs():
            text = self.text(*verb.split(), "--help", columns="60").partition("Example:\n")[2]
            line = re.split(r"(?<!\\)\n", text, maxsplit=1)[0].replace("\\\n", " ")
            self.assertTrue(line.strip().startswith(f"rulerank {verb}"), line)

    def test_version(self):
        self.assertEqual(self.text("-V"), self.text("--version"))


class Completion(harness.CommandLine):
    def script(self, shell):
        return self.file(f"rulerank.{shell}", self.expect(0, "completion", shell).stdout)

    def test_bash_completes(self):
        if not shutil.which("bash"):
            self.skipTest("bash is not installed")
        script = self.script("bash")
        self.file("some.txt")
        for line, expected, others in (
                ("rulerank ra", {"rank"}, set()),
                ("rulerank ", {"reduce", "search", "help"}, {"pages"}),
                ("rulerank search ", {"text", "dense", "metric"}, set()),
                ("rulerank search text --que", {"--queries"}, set()),
                ("rulerank rank --tra", {"--train"}, set()),
                ("rulerank rank --train some.txt --me", {"--method"}, set()),
                ("rulerank rank --method ", {"tube", "width", "frequency"}, {"--train"}),
                ("rulerank rank --train so", {"some.txt"}, set()),
                ("rulerank rank --rule-size ", set(), {"some.txt", "--train"}),
                ("rulerank evaluate --compare paired-t,f", {"paired-t,fisher"}, set()),
                ("rulerank evaluate --profile m", {"mslr"}, set()),
                ("rulerank help ev", {"evaluate"}, set()),
                ("rulerank completion z", {"zsh"}, set()),
                ("rulerank reduce --engine de", {"delta"}, set())):
            with self.subTest(line=line):
                words = line.split(" ")
                run = (f"source {script}; COMP_WORDS=({' '.join(w or chr(39) * 2 for w in words)}); "
                       f"COMP_CWORD={len(words) - 1}; _rulerank 2>/dev/null; "
                       "printf '%s\\n' \"${COMPREPLY[@]}\"")
                done = subprocess.run(["bash", "--norc", "-c", run], cwd=self.folder, check=True,
                                      stdout=subprocess.PIPE)
                found = set(done.stdout.decode().split())
                self.assertLessEqual(expected, found)
                self.assertFalse(found & others)

    def parses(self, shell):
        if not shutil.which(shell):
            self.skipTest(f"{shell} is not installed")
        done = subprocess.run([shell, "-n", self.script(shell)], check=False, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_bash_parses(self):
        self.parses("bash")

    def test_zsh_parses(self):
        self.parses("zsh")

    def test_fish_parses(self):
        self.parses("fish")

    def test_fish_completes(self):
        if not shutil.which("fish"):
            self.skipTest("fish is not installed")
        script = self.script("fish")
        for line, expected in (("rulerank ra", "rank"), ("rulerank rank --method t", "tube"),
                               ("rulerank search text --que", "--queries")):
            done = subprocess.run(["fish", "-c", f"source {script}; complete -C '{line}'"], check=True,
                                  stdout=subprocess.PIPE)
            self.assertIn(expected, re.split(r"\s", done.stdout.decode()))

    def test_all_options_are_in_every_script(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.script(shell).read_text()
            for option in ("--train", "--rule-size", "--launch-queries", "--out-dir"):
                self.assertIn(option if shell != "fish" else f"-l {option[2:]}", script)


class Manual(harness.CommandLine):
    def setUp(self):
        super().setUp()
        self.expect(0, "pages", "share")
        self.pages = sorted((self.folder / "share/man/man1").iterdir())

    def test_a_page_for_every_verb(self):
        names = {page.name for page in self.pages}
        for verb in ["", *self.verbs(), "help", "completion"]:
            self.assertIn("-".join(["rulerank", *verb.split()]) + ".1", names)
        self.assertNotIn("rulerank-pages.1", names)

    def test_man_renders_them(self):
        if not shutil.which("man") or not shutil.which("groff"):
            self.skipTest("man is not installed")
        for page in self.pages:
            done = subprocess.run(["man", "--warnings", "-E", "ascii", "-l", page], check=False,
                                  env={**os.environ, "MANWIDTH": "80", "MAN_KEEP_FORMATTING": ""},
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual((done.returncode, done.stderr), (0, b""), page.name)
            text = re.sub(rb".\x08", b"", done.stdout)
            self.assertIn(b"EXIT STATUS", text)
            if page.name == "rulerank-rank.1":
                self.assertIn(b"--rule-size", text)

    def test_mandoc_renders_them(self):
        if not shutil.which("mandoc"):
            self.skipTest("mandoc is not installed")
        for page in self.pages:
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "error", page], check=False,
                                  stdout=subprocess.PIPE)
            self.assertEqual((done.returncode, done.stdout), (0, b""), page.name)


class Several(harness.CommandLine):
    def test_several_test_files(self):
        text = [b"".join(b"%d qid:%d 1:%d 2:%d # docid = %d\n" % (d % 3, 10 * f + d // 4, d % 5, d % 7, d)
                         for d in range(24)) for f in range(2)]
        a, b = self.file("a", text[0]), self.file("b", text[1])
        line = ["rank", "--train", a, "--json"]
        one = []
        for test in (a, b):
            self.expect(0, *line, "--test", test, "--out", "s", "--run", "r")
            one += [(self.folder / "s").read_bytes(), (self.folder / "r").read_bytes()]
        done = self.expect(0, *line, "--test", a, b, "--out", "s1", "s2", "--run", "r1", "r2")
        self.assertEqual(one, [(self.folder / n).read_bytes() for n in ("s1", "r1", "s2", "r2")])
        summary = json.loads(done.stdout)
        self.assertEqual((summary["scores"], summary["documents"]), (["s1", "s2"], 48))
        self.expect(2, *line, "--test", a, b, "--out", "s",
                    message="--out: found 1 file, expected 2, one for each --test")
        self.expect(2, *line, "--test", a, b, message="--out: found 0 files")
        self.expect(2, *line, "--test", a, b, "--out", "x", "y", "--run", "z",
                    message="--run: found 1 file, expected 2")
        self.expect(2, *line, "--test", a, b, "--out", "x", "x", message="--out and --out are both x")
        self.assertFalse((self.folder / "x").exists())


class Split(harness.CommandLine):
    def test_its_input_stays(self):
        text = b"".join(b"%d qid:%d 1:%d\n" % (d % 2, d // 4, d % 5) for d in range(24))
        (self.folder / "F" / "Fold1").mkdir(parents=True)
        train = self.file("F/Fold1/train.txt", text)
        self.expect(2, "split", "--in", train, "--out-dir", "F", "--fold-count", "3",
                    message="is also an input, expected a different file")
        self.assertEqual(train.read_bytes(), text)
        self.assertEqual([p.name for p in (self.folder / "F").iterdir()], ["Fold1"])

    def test_one_run_at_a_time_writes_a_folder(self):
        train = self.file("train.txt", b"".join(b"%d qid:%d 1:%d\n" % (d % 2, d // 4, d % 5)
                                                for d in range(24)))
        (self.folder / "d").mkdir()
        with open(self.folder / "d" / ".rulerank.lock", "wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for line in (["split", "--in", train], ["sample", "--documents", "60", "--features", "3"],
                         ["discretize", "--train", train]):
                self.expect(1, *line, "--out-dir", "d", message="d: another run writes to this folder")
        self.expect(0, "split", "--in", train, "--out-dir", "d", "--fold-count", "3")
        self.assertEqual(sorted(os.listdir(self.folder / "d")), ["Fold1", "Fold2", "Fold3"])


if __name__ == "__main__":
    harness.main()

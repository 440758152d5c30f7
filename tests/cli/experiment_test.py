"""The verb experiment: outputs, equal bytes after interruptions, refused options."""

import contextlib
import gzip
import json
import os
import pathlib
import re
import shutil
import signal

import harness

QUICK = ["--rank-size", "3", "--random-draws", "3", "--permutations", "1000"]


class Experiment(harness.CommandLine):
    def setUp(self):
        super().setUp()
        self.expect(0, "sample", "--documents", "600", "--features", "13", "--queries", "30",
                    "--folds", "3", "--out-dir", "data")

    def experiment(self, out, *options, folds="data", code=0, message=""):
        return self.expect(code, "experiment", "--folds", folds, "--out-dir", out, *QUICK,
                           *options, message=message)

    def results(self, out):
        return json.loads((self.folder / out / "results.json").read_text())

    def test_layout(self):
        shown = self.experiment("out").stdout
        systems = ["full-rank-3", "reduced-3-rank-3", "reduced-4-rank-3", "feature"]
        expected = {"results.json", "table.md", "table.tex"}
        for n in (1, 2, 3):
            expected |= {f"folds/Fold{n}.json", f"reduced/Fold{n}-cuts.json"}
            expected |= {f"reduced/Fold{n}-size{a}.{end}" for a in (3, 4) for end in ("txt", "tsv")}
            expected |= {f"scores/{s}/Fold{n}.txt" for s in systems}
            expected |= {f"runs/{s}/Fold{n}.run" for s in systems}
        self.assertEqual(set(self.files_in("out")), expected)
        self.assertIn(b"reduced-4", shown)
        manifest = json.loads((self.folder / "out" / "manifest.json").read_text())
        self.assertEqual(len([i for i in manifest["inputs"] if i["sha256"]]), 9)
        self.assertIn("rank", manifest["engine"])
        self.assertNotIn("seconds", json.dumps(self.results("out")))

    def test_agrees_with_the_other_verbs(self):
        self.experiment("out", "--method", "frequency")
        self.expect(0, "reduce", "--train", "data/Fold2/train.txt", "--rule-size", "4",
                    "--method", "frequency", "--out", "r.txt", "--ids", "r.tsv", "--model",
                    "cuts.json")
        self.expect(0, "rank", "--train", "r.txt", "--test", "data/Fold2/test.txt",
                    "--discretizer", "cuts.json", "--out", "s.txt")
        for mine, theirs in (("reduced/Fold2-size4.txt", "r.txt"),
                             ("reduced/Fold2-size4.tsv", "r.tsv"),
                             ("reduced/Fold2-cuts.json", "cuts.json"),
                             ("scores/reduced-4-rank-3/Fold2.txt", "s.txt")):
            self.assertEqual((self.folder / "out" / mine).read_bytes(),
                             (self.folder / theirs).read_bytes(), mine)
        names = [s["name"] for s in self.results("out")["systems"] if "random" not in s["name"]]
        judged = json.loads(self.expect(
            0, "evaluate", "--folds", "data", "--json", "--metrics", "MAP,NDCG@1,NDCG@10,MeanNDCG",
            "--scores", *(f"{name}=out/scores/{name}" for name in names)).stdout)
        means = {s["name"]: s["means"] for s in self.results("out")["systems"]}
        for system in judged["systems"]:
            self.assertEqual(system["averages"], means[system["name"]])

    def test_validation_labels_above_those_of_the_test_sets(self):
        for n in (1, 2, 3):
            test = self.folder / f"data/Fold{n}/test.txt"
            test.write_bytes(re.sub(rb"^[2-9]", b"1", test.read_bytes(), flags=re.M))
        self.experiment("out", "--baselines", "full,feature")
        self.assertIn("feature", [s["name"] for s in self.results("out")["systems"]])

    def test_ties(self):
        self.experiment("index")
        self.experiment("same", "--ties", "index")
        self.experiment("seeded", "--ties", "seeded", "--seed", "3")
        self.assertEqual(self.files_in("index"), self.files_in("same"))
        self.assertNotIn("ties", self.results("index")["settings"])
        self.assertEqual(self.results("seeded")["settings"]["ties"], "seeded")
        manifest = json.loads((self.folder / "seeded" / "manifest.json").read_text())
        self.assertEqual(manifest["ties"], "seeded")
        self.expect(0, "reduce", "--train", "data/Fold2/train.txt", "--rule-size", "4", "--ties", "seeded",
                    "--seed", "3", "--out", "r.txt", "--ids", "r.tsv")
        for end in ("txt", "tsv"):
            chosen = self.read(f"seeded/reduced/Fold2-size4.{end}")
            self.assertEqual(chosen, self.read(f"r.{end}"))
            self.assertNotEqual(chosen, self.read(f"index/reduced/Fold2-size4.{end}"))
        self.experiment("none", "--ties", "fair", code=2)
        self.experiment("none", "--systems", "rules", "--ties", "seeded", code=2)

    def test_members_of_any_kind(self):
        """They are fitted as `fit --settings` does it; the training set is the pool of reduced sets."""
        self.expect(0, "tune", "--train", "data/Fold1/train.txt", "--vali", "data/Fold1/vali.txt", "--kinds", "card",
                    "--try-max-features", "3", "--try-card-bins", "6", "--out", "card.json")
        card = json.loads(self.read("card.json"))
        cuts = {"discretizer": card["discretizer"]}
        members = [
            card, {"kind": "joint", **cuts, "max_pairs": 2, "folds": 3},
            {"kind": "scorecard", **cuts, "loss": "pair", "points_penalty": .01, "smoothness": 1},
            {"kind": "linear", "strength": 10, "folds": 5, "missing_values": "item", "unlisted": "zero"},
            {**cuts, "rule_size": 3, "min_support": 1, "min_confidence": .1, "support_weight": 0, "smoothing": 5,
             "feature_share": 1}]
        quick = ["--folds", "data", "--reduce-size", "3", "--random-draws", "2", "--permutations", "10"]
        for name, some in (("full-card", members[:1]), (f"full-members-{len(members)}", members)):
            settings = {"rulerank_settings": 1, **some[0]} if len(some) == 1 else {
                "rulerank_settings": 1, "members": some}
            self.file("s.json", json.dumps(settings).encode())
            for threads in ("1", "2"):
                self.expect(0, "experiment", *quick, "--settings", "s.json", "--out-dir", f"{name}-{threads}",
                            "--threads", threads)
            self.assertEqual(self.files_in(f"{name}-1"), self.files_in(f"{name}-2"))
            self.assertEqual([s["name"] for s in self.results(f"{name}-1")["systems"]],
                             [name, *(f"{way}-3{name.removeprefix('full')}" for way in ("reduced", "random")),
                              "feature"])
            self.assertEqual([m.get("kind") for m in self.results(f"{name}-1")["settings"]["members"]],
                             [m.get("kind") for m in some])
            self.expect(0, "fit", "--train", "data/Fold2/train.txt", "--settings", "s.json", "--model", "m")
            self.expect(0, "rank", "--model", "m", "--test", "data/Fold2/test.txt", "--out", "s.txt")
            self.assertEqual(self.read(f"{name}-1/scores/{name}/Fold2.txt"), self.read("s.txt"))
            self.expect(0, "fit", "--train", f"{name}-1/reduced/Fold2-size3.txt", "--pool", "data/Fold2/train.txt",
                        "--settings", "s.json", "--model", "m")
            self.expect(0, "rank", "--model", "m", "--test", "data/Fold2/test.txt", "--out", "s.txt")
            self.assertEqual(self.read(f"{name}-1/scores/reduced-3{name.removeprefix('full')}/Fold2.txt"),
                             self.read("s.txt"))
        # Rules among them have the rank size; without rules there is none.
        self.expect(0, "experiment", *quick, "--settings", "s.json", "--out-dir", "sized", "--rank-size", "2",
                    "--baselines", "full")
        self.assertEqual([s["name"] for s in self.results("sized")["systems"]],
                         ["full-rank-2", "reduced-3-rank-2"])
        self.experiment("none", "--settings", "card.json", code=2, message="--rank-size needs a member of the kind rules in --settings")
        # Sampling has the cuts of the line, not those of the card.
        self.assertEqual(self.read("full-card-1/reduced/Fold1-cuts.json"),
                         self.read_cuts_of("data/Fold1/train.txt"))
        self.expect(0, "report", f"full-members-{len(members)}-1", "full-card-1", "--out", "r.html")

    def read_cuts_of(self, train):
        self.expect(0, "discretize", "--train", train, "--out-dir", "cuts")
        return self.read("cuts/discretizer.json")

    def test_random_is_the_mean_of_its_draws(self):
        self.experiment("out")
        random = next(s for s in self.results("out")["systems"] if s["name"] == "random-4-rank-3")
        reduced = next(s for s in self.results("out")["systems"] if s["name"] == "reduced-4-rank-3")
        self.assertEqual([f["documents"] for f in random["folds"]],
                         [f["documents"] for f in reduced["folds"]])
        for fold in random["folds"]:
            self.assertEqual(len(fold["draws"]), 3)
            mean = sum(draw["MAP"] for draw in fold["draws"]) / 3
            self.assertAlmostEqual(fold["means"]["MAP"], mean, 12)
        means = [sum(f["draws"][d]["MAP"] for f in random["folds"]) / 3 for d in range(3)]
        centre = sum(means) / 3
        deviation = (sum((m - centre) ** 2 for m in means) / 2) ** .5
        self.assertAlmostEqual(random["deviation_over_draws"]["MAP"], deviation, 12)

    def test_threads_and_engines_do_not_matter(self):
        self.experiment("one", "--threads", "1")
        self.experiment("three", "--threads", "3")
        self.experiment("lrar", "--engine", "lrar")
        self.assertEqual(self.files_in("one"), self.files_in("three"))
        self.assertEqual(self.files_in("one"), self.files_in("lrar"))

    def check_part(self, out, whole):
        """Checks the outputs of an interrupted experiment: some of the files, each complete."""
        part, whole = self.files_in(out), self.files_in(whole)
        self.assertEqual(part, {name: whole.get(name) for name in part})
        self.assertNotIn("results.json", part)
        self.assertFalse((self.folder / out / "manifest.json").exists())

    def test_stopped_and_run_again_gives_the_same_bytes(self):
        # Enough draws that a fold takes its time, on any machine.
        options = ["--rank-size", "4", "--random-draws", "400", "--threads", "1"]
        line = ["experiment", "--folds", "data", "--permutations", "1000", *options, "--out-dir"]
        whole = self.expect(0, *line, "whole")
        for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                out = number.name
                first = self.folder / out / "folds" / "Fold1.json"

                def begin(_):
                    shutil.rmtree(first.parents[1], ignore_errors=True)
                    process = self.start(*line, out)
                    self.wait_until(first.exists, process)
                    return process

                self.expect_stopped(self.held_at_work(begin, (self.folder / out / "results.json").exists), number)
                self.assertTrue(first.exists())
                self.check_part(out, "whole")
                written = first.stat().st_mtime_ns
                resumed = self.expect(0, *line, out, message="Fold1: finished by an earlier run")
                self.assertEqual(first.stat().st_mtime_ns, written)
                self.assertEqual(resumed.stdout, whole.stdout)
                self.assertEqual(self.files_in(out), self.files_in("whole"))

    def test_a_full_disk_and_run_again_gives_the_same_bytes(self):
        line = ["experiment", "--folds", "data", "--out-dir", "out", *QUICK]
        whole = self.expect(0, *line[:4], "whole", *QUICK)
        sizes = {name: len(data) for name, data in self.files_in("whole").items()}
        # Full at the first file, at one in the middle of a fold, at the results.
        for limit in (100, max(n for f, n in sizes.items() if f.startswith("runs/")) - 1,
                      sizes["results.json"] - 1):
            with self.subTest(limit):
                self.expect_full_disk(limit, *line)
                self.check_part("out", "whole")
        with open("/dev/full", "wb") as full:
            self.expect(1, *line, stdout=full, message="standard output: cannot be written: ")
        self.assertEqual(self.expect(0, *line).stdout, whole.stdout)
        self.assertEqual(self.files_in("out"), self.files_in("whole"))
        self.expect(1, "experiment", "--folds", "data", "--out-dir", "/dev/full", *QUICK,
                    message="/dev/full")

    def test_a_fold_is_done_again_where_something_changed(self):
        self.experiment("out")
        before = self.files_in("out")
        self.experiment("out", message="Fold3: finished by an earlier run")
        self.assertEqual(self.files_in("out"), before)
        (self.folder / "out" / "runs" / "feature" / "Fold2.run").unlink()
        errors = self.experiment("out", message="Fold2: runs again: runs/feature/Fold2.run")
        self.assertIn(b"Fold1: finished by an earlier run", errors.stderr)
        self.assertEqual(self.files_in("out"), before)
        (self.folder / "out" / "folds" / "Fold1.json").write_bytes(b'{"name"')
        self.experiment("out", message="Fold1: runs again: ")
        self.assertEqual(self.files_in("out"), before)
        with open(self.folder / "data" / "Fold1" / "vali.txt", "ab") as file:
            file.write(b"0 qid:more 1:0.5\n")
        errors = self.experiment("out", message="Fold1: runs again: settings, inputs")
        self.assertIn(b"Fold2: finished by an earlier run", errors.stderr)
        self.experiment("out", "--seed", "2", message="Fold2: runs again: settings")

    def test_compressed_parts_of_one_fold_in_any_place(self):
        for part in ("train", "vali", "test"):
            path = self.folder / "one" / "Fold12" / f"{part}.txt.gz"
            path.parent.mkdir(parents=True, exist_ok=True)
            plain = (self.folder / "data" / "Fold1" / f"{part}.txt").read_bytes()
            path.write_bytes(gzip.compress(plain))
        self.experiment("out", folds="one")
        results = self.results("out")
        self.assertEqual([fold["name"] for fold in results["folds"]], ["Fold12"])
        self.experiment("plain")
        first = self.results("plain")["systems"][0]
        self.assertEqual(first["folds"][0]["means"], results["systems"][0]["folds"][0]["means"])

    def test_scores_from_elsewhere(self):
        self.experiment("out")
        shutil.copytree(self.folder / "out" / "scores" / "full-rank-3", self.folder / "theirs")
        self.experiment("again", "--scores", "theirs=theirs")
        theirs = self.results("again")["systems"][-1]
        self.assertEqual(theirs["name"], "theirs")
        self.assertEqual(theirs["means"], self.results("out")["systems"][0]["means"])
        same = [c for c in self.results("again")["comparisons"][0]["results"]
                if c["system"] == "theirs"]
        self.assertEqual({(c["difference"], c["paired-t"]["p"]) for c in same}, {(0, 1)})
        (self.folder / "theirs" / "Fold3.txt").unlink()
        self.experiment("none", "--scores", "theirs=theirs", code=3, message="theirs: found no "
                        "Fold3.score, expected the scores of theirs for Fold3")
        self.assertFalse(os.path.exists(self.folder / "none"))
        (self.folder / "theirs" / "Fold3.txt").write_bytes(b"1\n2\n")
        self.experiment("none", "--scores", "theirs=theirs", code=3, message="Fold3.txt")

    def test_a_docid_twice_in_a_query(self):
        path = self.folder / "data" / "Fold2" / "test.txt"
        first, second, rest = path.read_bytes().split(b"\n", 2)
        lines = [line.partition(b"#")[0] + b"# docid = same" for line in (first, second)]
        path.write_bytes(b"\n".join([*lines, rest]))
        errors = self.experiment("out", message="Fold2/test.txt:2:1: found docid 'same'").stderr
        self.assertEqual(errors.count(b"warning"), 1)
        runs = self.folder / "out" / "runs" / "full-rank-3"
        names = [row.split() for row in (runs / "Fold2.run").read_text().splitlines()]
        self.assertTrue(all(name.rpartition("-")[0] == qid for qid, _, name, *_ in names))

    def test_formats(self):
        results = self.experiment("out", "--json").stdout
        self.assertEqual(results, (self.folder / "out" / "results.json").read_bytes())
        for name, file in (("markdown", "table.md"), ("latex", "table.tex")):
            self.assertEqual(self.experiment("out", "--format", name).stdout,
                             (self.folder / "out" / file).read_bytes())
        self.assertTrue(self.experiment("out", "--format", "tsv").stdout.startswith(b"# tube"))

    def test_wrong_lines(self):
        for options in (["--reduce-size", "1"], ["--reduce-size", "3,3"], ["--baselines", "best"],
                        ["--reduce-size", "3,"], ["--rank-size", "65"], ["--rank-size", "3x"],
                        ["--rank-size", "-3"], ["--rank-size", "3,none"], ["--scores", "x="],
                        ["--scores", "=d"], ["--scores", "a/b=d"], ["--scores", "..=d"],
                        ["--scores", "a=d", "--scores", "a=e"], ["--baselines", "full,best"],
                        ["--random-draws", "0"], ["--scores", "x"], ["--scores", "feature=d"],
                        ["--metrics", "best"], ["--metrics", "MAP,MAP"], ["--profile", "x"],
                        ["--engine", "x"], ["--rule-size", "3"], ["--format", "x"],
                        ["--bins", "1"], ["--partitions", "0"], ["--group", "x"],
                        ["--baselines", "none", "--reduce-size", "none"]):
            with self.subTest(options):
                line = ["experiment", "--folds", "data", "--out-dir", "none", *options]
                code = 3 if options[0] == "--group" else 2
                self.expect(code, *line)
                self.assertFalse(os.path.exists(self.folder / "none"))

    def test_bad_inputs(self):
        self.experiment("none", folds="absent", code=3, message="absent: ")
        os.mkdir(self.folder / "empty")
        self.experiment("none", folds="empty", code=3, message="empty: found no folder Fold1")
        (self.folder / "data" / "Fold2" / "vali.txt").unlink()
        self.experiment("none", code=3, message="data/Fold2: found no vali.txt")
        told = self.experiment("out", "--baselines", "full", "--manifest", "manifest.json").stderr.decode()
        found = json.loads(self.read("manifest.json"))
        self.assertTrue(found["portable"])
        self.assertEqual("the compared rankers are portable only where the features" in told, found["features_normalized_within_queries"] > 0)
        # The program reports faults of the last test set before it works on the first fold.
        with open(self.folder / "data" / "Fold3" / "test.txt", "ab") as file:
            file.write(b"1 qid:more 1:x\n")
        done = self.experiment("none", "--baselines", "full", code=3,
                               message="data/Fold3/test.txt:201:14: value")
        self.assertNotIn(b"Fold1", done.stderr)


class Curves(harness.CommandLine):
    """`--systems`: learning curves of our rules and of other libraries' rankers."""

    QUICK = ["--ways", "chosen,random,queries,depth,entropy", "--budgets", "2%,25%,100%",
             "--metrics", "MAP,NDCG@10"]
    DRAWS = ["--random-draws", "2"]

    def setUp(self):
        super().setUp()
        self.expect(0, "sample", "--documents", "600", "--features", "13", "--queries", "30",
                    "--folds", "3", "--out-dir", "data")

    def curves(self, out, *options, code=0, message="", systems="rules"):
        return self.expect(code, "experiment", "--folds", "data", "--out-dir", out, "--systems",
                           systems, *self.QUICK, *self.DRAWS, *options, message=message)

    def outputs(self, out):
        return {name: data for name, data in self.files_in(out).items() if not name.endswith(".seconds.tsv")}

    def rows(self, out):
        lines = (self.folder / out / "curves.tsv").read_text().splitlines()
        names = lines[1].split("\t")
        return [dict(zip(names, line.split("\t"))) for line in lines[2:]]

    def available(self, *systems):
        """Our rules, and those of the systems whose library this build has."""
        line = ["--folds", "data", "--budgets", "2%", "--ways", "random", *self.DRAWS]
        return ["rules", *(s for s in systems if self.rulerank(
            "experiment", *line, "--out-dir", s, "--systems", s).returncode == 0)]

    def test_files_and_rows(self):
        systems = ["scorecard", *self.available("ranksvm")]
        shown = self.curves("out", systems=",".join(systems)).stdout.decode()
        self.assertEqual(set(self.outputs("out")), {"curves.tsv", "curves.md", "curves.svg",
                                                    *(f"curves/Fold{n}.json" for n in (1, 2, 3))})
        rows = self.rows("out")
        samples = 1 + 4 * 2  # `chosen` is not random
        self.assertEqual(len(rows), 3 * len(systems) * 2 * (samples + samples + 1))
        seconds = (self.folder / "out" / "curves" / "Fold3.seconds.tsv").read_text().splitlines()
        self.assertEqual(len(seconds), 2 + len(rows) // 3)
        self.assertTrue(all(float(cell) >= 0 for line in seconds[2:] for cell in line.split("\t")[-2:]))
        for row in rows:
            documents = int(row["documents"])
            if row["way"] != "chosen":
                self.assertEqual(documents, round(float(row["share"]) * 200))
            self.assertEqual(int(row["labels"]) - documents, 200 if row["settings"] == "validated" else 0)
            self.assertTrue(0 <= float(row["MAP"]) <= 1)
        for share, settings in (("0.02", "cross-fitted"), ("0.25", "validated"), ("1", "validated")):
            self.assertEqual({row["settings"] for row in rows if row["share"] == share}, {"defaults", settings})
        for word in ("MAP, settings without a choice", "25 %", "settings chosen on the validation sets",
                     "MAP, settings chosen by cross-fitting within a random sample", "pairs in order"):
            self.assertIn(word, shown)
        self.assertEqual("our systems minus the best system of another library" in shown, "ranksvm" in systems)
        picture = (self.folder / "out" / "curves.svg").read_text()
        self.assertTrue(picture.startswith("<svg ") and picture.endswith("</svg>\n"))
        # A system has marks at two budgets and at all labels, for five ways and two metrics, and one in the legend.
        self.assertEqual(len(re.findall('<path class="s[0-7]" ', picture)), ((2 + 1) * 5 * 2 + 1) * len(systems))
        manifest = json.loads((self.folder / "out" / "manifest.json").read_text())
        self.assertEqual(len(manifest["libraries"]), len(systems) - 2)
        data = json.loads(self.curves("out", "--json", systems=",".join(systems)).stdout)
        self.assertEqual(len(data["curves"]), len(systems) * 2 * (5 + 5 + 1))

    def test_all_labels_agree_with_rank(self):
        self.curves("out")
        self.expect(0, "rank", "--train", "data/Fold2/train.txt", "--rule-size", "3", "--test",
                    "data/Fold2/test.txt", "--out", "s.txt")
        judged = self.told("evaluate", "--test", "data/Fold2/test.txt", "--scores", "s.txt", "--metrics", "MAP,NDCG@10", "--ties",
                           "average", "--json")
        row = next(row for row in self.rows("out") if row["fold"] == "Fold2" and row["way"] == "all"
                   and row["settings"] == "defaults")
        for name, value in judged["systems"][0]["averages"].items():
            self.assertAlmostEqual(float(row[name]), value, 12)

    def test_our_members(self):
        line = ["--folds", "data", "--systems", "scorecard,linear,members,recommended", "--ways", "chosen,random", "--budgets",
                "5%,100%", *self.DRAWS, "--out-dir"]
        shown = self.expect(0, "experiment", *line, "out").stdout.decode()
        for word in ("random, members", "pairs in order", "settings chosen on the validation sets"):
            self.assertIn(word, shown)
        self.assertNotIn("our systems minus", shown)
        self.expect(0, "experiment", *line, "again", "--threads", "1")
        self.assertEqual(self.outputs("out"), self.outputs("again"))
        # With all labels a system ranks as a model that is fitted on the training set.
        for system, members in (("scorecard", "scorecard"), ("linear", "linear"), ("members", "rules,scorecard,linear"),
                                ("recommended", "recommended")):
            with self.subTest(system):
                self.expect(0, "fit", "--train", "data/Fold2/train.txt", "--members", members, "--model", "m")
                self.expect(0, "rank", "--model", "m", "--test", "data/Fold2/test.txt", "--out", "s.txt")
                judged = json.loads(self.expect(
                    0, "evaluate", "--test", "data/Fold2/test.txt", "--scores", "s.txt", "--metrics", "MAP",
                    "--ties", "average", "--json").stdout)["systems"][0]["averages"]["MAP"]
                row = next(row for row in self.rows("out") if row["fold"] == "Fold2" and row["way"] == "all"
                           and row["settings"] == "defaults" and row["system"] == system)
                self.assertAlmostEqual(float(row["MAP"]), judged, 12)

    def test_stopped_and_run_again_gives_the_same_bytes(self):
        line = ["experiment", "--folds", "data", "--systems", "rules", *self.QUICK, "--random-draws", "60",
                "--threads", "1", "--out-dir"]
        whole = self.expect(0, *line, "whole")
        for number in (signal.SIGKILL, signal.SIGINT):
            with self.subTest(number):
                journal = self.folder / number.name / "curves" / "Fold1.journal"

                def has_some():
                    with contextlib.suppress(FileNotFoundError):  # there is none yet, or none any more
                        return journal.read_bytes().count(b"\n") > 40

                def begin(_):
                    shutil.rmtree(journal.parents[1], ignore_errors=True)
                    process = self.start(*line, number.name)
                    self.wait_until(has_some, process)
                    return process

                self.expect_stopped(self.held_at_work(begin, lambda: not journal.exists()), number)
                self.assertTrue(journal.exists())
                again = self.expect(0, *line, number.name, message="Fold1: continues after ")
                self.assertEqual(again.stdout, whole.stdout)
                self.assertEqual(self.outputs(number.name), self.outputs("whole"))

    def test_threads_do_not_matter(self):
        self.curves("one", "--threads", "1")
        self.curves("three", "--threads", "3")
        self.assertEqual(self.outputs("one"), self.outputs("three"))

    def test_wrong_lines(self):
        for options in (["--budgets", "5"], ["--budgets", "0%"], ["--budgets", "101%"], ["--budgets", "x%"],
                        ["--budgets", "5%,5%"], ["--budgets", "5%,"], ["--ways", "best"], ["--ways", "all"], ["--ways", "random,random"],
                        ["--systems", "best"], ["--systems", "rules,rules"], ["--tune", "MAP"],
                        ["--scores", "a=b"], ["--rank-size", "3"], ["--smoothing", "5"], ["--engine", "lrar"]):
            with self.subTest(options):
                systems = [] if options[0] == "--systems" else ["--systems", "rules"]
                self.expect(2, "experiment", "--folds", "data", "--out-dir", "none", *systems, *options)
                self.assertFalse(os.path.exists(self.folder / "none"))
        for options, message in (
                (["--systems", "rules,rules"], "--systems: found 'rules' twice"),
                (["--systems", "rules", "--ways", "random,random"], "--ways: found 'random' twice"),
                (["--systems", "rules,linear", "--lightgbm", "/absent.so"],
                 "--lightgbm needs lightgbm or ilmart among --systems (rules,linear)")):
            self.expect(2, "experiment", "--folds", "data", "--out-dir", "none", *options, message=message)
        for options in (["--budgets", "5%"], ["--ways", "random"], ["--lightgbm", "x.so"]):
            with self.subTest(options):
                self.expect(2, "experiment", "--folds", "data", "--out-dir", "none", "--rank-size", 3, *options,
                            message=f"{options[0]} needs --systems")

    def test_without_options_the_best_ranker_stands_first(self):
        empty = {**os.environ, "HOME": str(self.folder), "VIRTUAL_ENV": str(self.folder), "CONDA_PREFIX": str(self.folder)}
        line = ["experiment", "--folds", "data", "--random-draws", 2, "--metrics", "MAP", "--out-dir"]
        shown = self.expect(0, *line, "first", "--format", "tsv", env=empty).stdout.decode()
        tables = [table.splitlines() for table in shown.split("\n\n")]
        for table, labels, rankers in ((tables[0], "100 %", 4), (tables[1], "5 %", 8)):
            self.assertTrue(table[0].removeprefix("# ").startswith(f"{labels} of the labels, the best system first"), table[0])
            rows = [dict(zip(table[1].split("\t"), row.split("\t"))) for row in table[2:]]
            systems = [row["system"] for row in rows if row["system"] != "lightgbm"]
            self.assertEqual(sorted(systems), sorted(["card", "joint", "rules", "feature"] * (rankers // 4)))
            means = [float(row["MAP"]) for row in rows]
            self.assertEqual(means, sorted(means, reverse=True))
            self.assertEqual(rows[0]["difference"], "")
            for row in rows[1:]:
                self.assertLessEqual(float(row["from"]), float(row["difference"]))
                self.assertLessEqual(float(row["difference"]), float(row["to"]))
        self.assertEqual({row["system"] for row in self.rows("first")} - {"lightgbm"}, {"card", "joint", "rules", "feature"})
        # A library that is not there is named, and how to get it.
        data = json.loads(self.expect(0, *line, "first", "--json", env=empty).stdout)
        manifest = json.loads((self.folder / "first/manifest.json").read_text())
        if any(row["system"] == "lightgbm" for row in self.rows("first")):  # the machine has it
            self.assertEqual(data["left_out"], [])
            self.assertNotIn("left_out", manifest)
        else:
            remedy = "not installed; python3 -m pip install lightgbm, or --lightgbm PATH"
            self.assertEqual(tables[2], ["left out\twhy, and how to get it", f"lightgbm\t{remedy}"])
            self.assertEqual(data["left_out"], [{"system": "lightgbm", "remedy": remedy}])
            self.assertEqual(manifest["left_out"], data["left_out"])
            self.assertIn(remedy, (self.folder / "first/curves.md").read_text())

    def test_lightgbm(self):
        line = ["experiment", "--folds", "data", "--out-dir", "out", "--systems", "rules,lightgbm", *self.QUICK]
        self.expect(3, *line, "--lightgbm", "absent.so", message="--lightgbm: absent.so: cannot be loaded: cannot open ")
        self.expect(3, *line, "--lightgbm", "/absent.so", message="--lightgbm: /absent.so: cannot be loaded: cannot open ")
        self.file("text.so", b"text")
        self.expect(3, *line, "--lightgbm", self.folder / "text.so", message="text.so: cannot be loaded: ")
        # One that was cut short is named, and ends nothing else.
        program = pathlib.Path(harness.PROGRAM).read_bytes()
        short = self.file("short.so", program[:200000])
        self.expect(3, *line, "--lightgbm", short,
                    message=f"{short}: found 200000 bytes, expected the ")
        empty = {**os.environ, "HOME": str(self.folder), "VIRTUAL_ENV": str(self.folder),
                 "CONDA_PREFIX": str(self.folder)}
        installed = "*lib/python3*/*-packages/lightgbm/lib/lib_lightgbm.so"
        if not [*pathlib.Path("/usr").glob(installed), *pathlib.Path("/usr/local").glob(installed)]:
            self.expect(2, *line, env=empty, message="lightgbm: found no lib_lightgbm.so")
        library = os.environ.get("RULERANK_LIGHTGBM")
        if not library:
            self.skipTest("needs the path of lib_lightgbm.so in $RULERANK_LIGHTGBM")
        (self.folder / "one").mkdir()
        (self.folder / "data" / "Fold1").rename(self.folder / "one" / "Fold1")
        line = ["experiment", "--folds", "one", "--systems", "rules,lightgbm", "--ways", "random",
                "--budgets", "10%,100%", *self.DRAWS, "--lightgbm", library, "--out-dir"]
        self.assertIn("LightGBM 4", self.expect(0, *line, "out").stdout.decode())
        self.expect(0, *line, "again", "--threads", "1")
        self.assertEqual(self.outputs("out"), self.outputs("again"))
        # All labels teach both more than nothing.
        test = "one/Fold1/test.txt"
        self.file("nothing.txt", b"0\n" * len((self.folder / test).read_bytes().splitlines()))
        nothing = self.told("evaluate", "--test", test, "--scores", "nothing.txt", "--metrics", "NDCG@10", "--ties", "average",
                            "--json")
        for row in self.rows("out"):
            if row["way"] == "all":
                self.assertGreater(float(row["NDCG@10"]), nothing["systems"][0]["averages"]["NDCG@10"] + .1)

    def test_xgboost(self):
        if self.available("xgboost") == ["rules"]:
            self.skipTest("needs a build with XGBoost")
        (self.folder / "one").mkdir()
        (self.folder / "data" / "Fold1").rename(self.folder / "one" / "Fold1")
        line = ["--folds", "one", "--systems", "rules,xgboost", "--ways", "chosen,random", "--budgets", "10%",
                *self.DRAWS, "--out-dir"]
        shown = self.expect(0, "experiment", *line, "out").stdout.decode()
        for word in ("XGBoost ", "our systems minus the best system of another library", "chosen, xgboost"):
            self.assertIn(word, shown)
        self.expect(0, "experiment", *line, "again", "--threads", "1")
        self.assertEqual(self.outputs("out"), self.outputs("again"))


class Published(harness.CommandLine):
    """Real sets, all training documents, rule size 3: what an independent program reaches, and
    the averages of a third party's scores."""

    FIGURES = {
        ("OHSUMED", "tube"): (.4431, .5416, .4410, .5279),
        ("OHSUMED", "width"): (.4459, .5444, .4428, .5326),
        ("OHSUMED", "frequency"): (.4404, .4944, .4275, .5226),
        ("MQ2008", "tube"): (.4609, .3563, .2221, .4738),
        ("MQ2008", "width"): (.4621, .3541, .2249, .4763),
        ("MQ2008", "frequency"): (.4688, .3733, .2254, .4801),
    }
    ADARANK = (.4464, .5552, .4507)  # on OHSUMED

    def test_effectiveness(self):
        data, _ = (self.real("letor", name).parents[1] for name in ("OHSUMED", "MQ2008"))
        for (name, method), figures in self.FIGURES.items():
            with self.subTest(f"{name}, {method}"):
                shown = self.expect(
                    0, "experiment", "--folds", data / "letor" / name, "--method", method,
                    "--out-dir", f"{name}-{method}", "--reduce-size", "none", "--rank-size", "3",
                    "--baselines", "full", "--permutations", "1", "--json",
                    "--scores", f"AdaRank={data / 'eval' / 'scores' / name / 'AdaRank'}").stdout
                full, adarank = (list(s["means"].values()) for s in json.loads(shown)["systems"])
                for mine, theirs in zip(full, figures):
                    self.assertAlmostEqual(mine, theirs, delta=.0005)
                if name == "OHSUMED":
                    for mine, theirs in zip(adarank, self.ADARANK):
                        self.assertAlmostEqual(mine, theirs, delta=.0005)


if __name__ == "__main__":
    harness.main()

"""`tune`, `--settings` and `experiment --tune`: choices, their data, and continued runs."""

import json
import os
import shutil
import signal
import statistics

import harness
from harness import Row

SMALL = ["--try-bins", "4,8", "--try-min-support", "1", "--try-min-confidence", "0.001",
         "--try-support-weight", "0,-0.5", "--try-smoothing", "0,5", "--try-rule-size", "2,3"]
CANDIDATES = 3 * 2 * 2 * 2 * 2


class Tune(harness.CommandLine):
    def setUp(self):
        super().setUp()
        self.expect(0, "sample", "--documents", "600", "--features", "9", "--queries", "30",
                    "--folds", "3", "--out-dir", "data")

    def tune(self, *options, code=0, message="", small=SMALL):
        return self.expect(code, "tune", "--train", "data/Fold1/train.txt", "--vali",
                           "data/Fold1/vali.txt", *small, *options, message=message)

    def rows(self, name):
        title, names, *rows = self.read(name).decode().splitlines()
        return [dict(zip(names.split("\t"), row.split("\t"))) for row in rows]

    def expect_explained(self, line):
        """By the settings, the first query's best document has the score that s.txt has."""
        why = json.loads(self.expect(
            0, "explain", *line, "--settings", "best.json", "--qid",
            self.read("data/Fold1/vali.txt").split()[1].decode().removeprefix("qid:"),
            "--format", "json").stdout)
        self.assertEqual(why["document"]["score"],
                         float(self.read("s.txt").split()[why["document"]["line"] - 1]))

    def test_models_that_depend_on_the_list_are_named(self):
        depends = "the chosen settings are not portable: scores depend on the list of a query's documents"
        for norm, portable in (("none", True), ("query-zscore", False)):
            done = self.tune("--norm", norm, "--manifest", "manifest.json")
            self.assertEqual(depends in done.stderr.decode(), not portable)
            self.assertEqual(json.loads(self.read("manifest.json"))["portable"], portable)
        self.assertIn(depends, self.tune("--kinds", "linear", small=[]).stderr.decode())
        done = self.tune("--norm", "query-minmax")
        self.assertEqual(done.stderr.decode().count("portable"), 1)

    def test_the_best_of_a_grid_is_what_rank_and_evaluate_say(self):
        self.tune("--search", "grid", "--metric", "MAP,NDCG@10", "--out", "best.json",
                  "--trials", "tried.tsv")
        rows = self.rows("tried.tsv")
        self.assertEqual(len(rows), CANDIDATES)
        self.assertEqual({row["rung"] for row in rows}, {"1/1"})
        best = json.loads(self.read("best.json"))
        for row in (rows[0], rows[1], rows[-1]):
            line = ["--train", "data/Fold1/train.txt", "--test", "data/Fold1/vali.txt"]
            self.expect(0, "rank", *line, "--out", "s.txt", "--method", row["method"], "--bins",
                        row["bins"], "--rule-size", row["rule size"], "--min-support",
                        row["min support"], "--min-confidence", row["min confidence"],
                        "--support-weight", row["support weight"], "--smoothing",
                        row["smoothing"])
            judged = json.loads(self.expect(
                0, "evaluate", "--test", "data/Fold1/vali.txt", "--scores", "s.txt", "--metrics",
                "MAP,NDCG@10", "--json").stdout)["systems"][0]["averages"]
            self.assertEqual(judged, {m: float(row[m]) for m in ("MAP", "NDCG@10")})
            if row is rows[0]:
                self.assertEqual(judged, best["validation"])
                self.assertEqual(judged["MAP"], max(float(r["MAP"]) for r in rows))
                # The settings file and a model give equal scores.
                self.expect(0, "rank", *line, "--settings", "best.json", "--out", "t.txt")
                self.assertEqual(self.read("s.txt"), self.read("t.txt"))
                self.expect(0, "fit", *line[:2], "--settings", "best.json", "--model", "m")
                self.expect(0, "rank", "--model", "m", *line[2:], "--out", "u.txt")
                self.assertEqual(self.read("s.txt"), self.read("u.txt"))
                # `explain` uses these settings, too.
                self.expect_explained(line)
                # Options of the command line override the settings file.
                self.expect(0, "rank", *line, "--settings", "best.json", "--out", "v.txt",
                            "--bins", "3")
                self.assertNotEqual(self.read("s.txt"), self.read("v.txt"))

    def test_several_that_rank_together(self):
        self.tune("--cross-fit", "3", "--combine", "3", "--try-feature-share", "1,0.4", "--out",
                  "best.json", "--trials", "t.tsv")
        best = json.loads(self.read("best.json"))
        self.assertEqual(len(best["members"]), 3)
        rows = self.rows("t.tsv")
        self.assertEqual(len(rows), 2 * CANDIDATES)
        queries = {line.split()[1] for part in ("train", "vali")
                   for line in self.read(f"data/Fold1/{part}.txt").decode().splitlines()}
        self.assertEqual((best["queries"], best["cross_fit"]), (len(queries), 3))
        line = ["--train", "data/Fold1/train.txt", "--test", "data/Fold1/test.txt"]
        for member, row in zip(best["members"], rows):
            self.assertEqual([str(member["discretizer"]["bins"]), member["feature_share"]],
                             [row["bins"], float(row["feature share"])])
        # The scores are those of the members, standardized in each query.
        self.expect(0, "rank", *line, "--settings", "best.json", "--out", "s.txt")
        expected = None
        for member in best["members"]:
            one = {"rulerank_settings": 1, **member}
            (self.folder / "one.json").write_text(json.dumps(one))
            self.expect(0, "rank", *line, "--settings", "one.json", "--out", "one.txt")
            scores = [float(word) for word in self.read("one.txt").split()]
            standard = self.standardized(scores)
            expected = standard if expected is None else [a + b for a, b in zip(expected, standard)]
        for got, want in zip(self.read("s.txt").split(), expected, strict=True):
            self.assertAlmostEqual(float(got), want / 3, 9)
        self.expect(0, "rank", *line[:2], "--test", "-", "--settings", "best.json", "--out",
                    "stream.txt", input=self.read("data/Fold1/test.txt"))
        self.assertEqual(self.read("stream.txt"), self.read("s.txt"))
        # A model has all of them.
        self.expect(0, "fit", *line[:2], "--model", "m", "--settings", "best.json")
        self.expect(0, "rank", "--model", "m", *line[2:], "--out", "by_model.txt")
        self.assertEqual(self.read("by_model.txt"), self.read("s.txt"))
        self.check_experiment_by_members(best, line)

    def check_experiment_by_members(self, best, line):
        """Three members rank together in each fold, as `rank` ranks by them."""
        quick = ["--folds", "data", "--reduce-size", "3", "--random-draws", "2",
                 "--permutations", "10", "--settings", "best.json"]
        self.expect(0, "experiment", *quick, "--out-dir", "by")
        self.assertEqual(self.read("by/scores/full-members-3/Fold1.txt"), self.read("s.txt"))
        results = json.loads(self.read("by/results.json"))
        self.assertEqual([s["name"] for s in results["systems"]],
                         ["full-members-3", "reduced-3-members-3", "random-3-members-3", "feature"])
        self.assertEqual([m["rule_size"] for m in results["settings"]["members"]],
                         [m["rule_size"] for m in best["members"]])
        # The first member's cuts and thresholds sample.
        (self.folder / "first.json").write_text(
            json.dumps({"rulerank_settings": 1, **best["members"][0]}))
        self.expect(0, "experiment", *quick[:-1], "first.json", "--out-dir", "first")
        for name in ("reduced/Fold1-size3.tsv", "reduced/Fold1-cuts.json"):
            self.assertEqual(self.read(f"by/{name}"), self.read(f"first/{name}"))
        # Options of the command line override the settings of all folds.
        self.expect(0, "experiment", *quick, "--out-dir", "sized", "--rank-size", "2",
                    "--baselines", "full")
        self.expect(0, "rank", *line, "--settings", "best.json", "--rule-size", "2", "--out",
                    "two.txt")
        self.assertEqual(self.read("sized/scores/full-rank-2/Fold1.txt"), self.read("two.txt"))

    def standardized(self, scores):
        queries = [text.split()[1] for text in
                   self.read("data/Fold1/test.txt").decode().splitlines()]
        all_of = {}
        for query, score in zip(queries, scores, strict=True):
            all_of.setdefault(query, []).append(score)
        return [(score - statistics.fmean(all_of[query])) / (statistics.pstdev(all_of[query]) or 1)
                for query, score in zip(queries, scores)]

    def test_threads_engines_and_shown_forms(self):
        shown = self.tune("--out", "a.json", "--trials", "a.tsv", "--format", "tsv").stdout
        self.assertEqual(shown, self.read("a.tsv"))
        self.tune("--out", "b.json", "--trials", "b.tsv", "--threads", "1", "--engine", "lrar")
        for end in ("json", "tsv"):
            self.assertEqual(self.read(f"a.{end}"), self.read(f"b.{end}"))
        both = json.loads(self.tune("--json").stdout)
        self.assertEqual(both["best"], json.loads(self.read("a.json")))
        self.assertEqual(len(both["trials"]), CANDIDATES)
        self.assertIn(b"NDCG@10", self.tune("--format", "markdown").stdout)

    def test_budgets(self):
        best = json.loads(self.tune("--json", "--budget", "20").stdout)["best"]
        self.assertLessEqual(best["trials"], 20)
        self.assertLess(best["tried"], best["candidates"])
        self.assertEqual(best["candidates"], CANDIDATES)
        vali = self.read("data/Fold1/vali.txt").decode().splitlines()
        self.assertEqual(best["queries"], len({line.split()[1] for line in vali}))
        # Members that are kept without a trial are not counted in the budget, and the output names them.
        poor = ["--metrics", "MAP", "--kinds", "rules,linear", "--try-strength", "1e9", "--try-rule-size",
                "2", "--try-min-support", "900", "--try-smoothing", "0", "--out", "poor.json"]
        for budget, tried in ((3, 1), (6, 3), (12, 5)):
            with self.subTest(budget=budget):
                title = self.tune(*poor, "--budget", budget, small=[]).stdout.decode().splitlines()[0]
                best = json.loads(self.read("poor.json"))
                self.assertTrue(best["defaults"]["kept"])
                self.assertLessEqual(best["trials"], budget)
                self.assertGreaterEqual(best["tried"], tried)
                self.assertRegex(title, f"^{best['trials']} trials of {best['tried']} candidates? of .*, by MAP; "
                                        "2 more that they were compared with$")
        # Many candidates, little time.
        many = ["--try-smoothing", ",".join(map(str, range(400))), "--try-rule-size", "4"]
        process = self.start("tune", "--train", "data/Fold1/train.txt", "--vali", "data/Fold1/vali.txt", *many,
                             "--json", "--budget", "1s")
        with harness.OwnSeconds(process.pid) as took:
            shown, errors = process.communicate(timeout=harness.HANGS)
        self.assertEqual(process.returncode, 0, errors)
        self.assertLess(took.seconds, 20 * harness.slowness())
        timed = json.loads(shown)["best"]
        self.assertLess(timed["tried"], timed["candidates"])
        self.assertGreaterEqual(timed["tried"], 1)

    def test_stopped_and_run_again_gives_the_same_bytes(self):
        many = ["--try-rule-size", "4,5", "--try-bins", "6,9,12,20", "--threads", "1",
                "--try-smoothing", ",".join(map(str, range(8)))]
        self.tune("--out", "whole.json", "--trials", "whole.tsv", "--resume", "whole", small=many)
        line = ["tune", "--train", "data/Fold1/train.txt", "--vali", "data/Fold1/vali.txt", *many]
        never = self.folder / "never.json"

        def begin(_):
            for path in (self.folder / "state", never):
                path.unlink(missing_ok=True)
            process = self.start(*line, "--resume", "state", "--out", never)
            self.wait_until((self.folder / "state").exists, process)
            return process

        self.expect_stopped(self.held_at_work(begin, never.exists), signal.SIGINT)
        self.assertFalse(never.exists())
        tried = len(json.loads(self.read("state"))["trials"])
        self.assertGreater(tried, 0)
        self.tune("--out", "again.json", "--trials", "again.tsv", "--resume", "state", small=many,
                  message=f"state: kept {harness.counted(tried, 'candidate')} that an earlier run tried")
        self.assertEqual(self.read("again.json"), self.read("whole.json"))
        self.assertEqual(self.read("again.tsv"), self.read("whole.tsv"))
        self.assertEqual(self.read("state"), self.read("whole"))
        # Other inputs are another search.
        with open(self.folder / "data" / "Fold1" / "vali.txt", "ab") as file:
            file.write(b"0 qid:more 1:0.5\n")
        self.tune("--resume", "state", small=many, code=3,
                  message="state:1:1: found trials of different inputs")
        self.assertEqual(self.read("state"), self.read("whole"))

    def test_cuts_that_are_given(self):
        self.expect(0, "reduce", "--train", "data/Fold1/train.txt", "--out", "r.txt", "--method",
                    "frequency", "--model", "cuts.json")
        scoring = SMALL[2:]
        self.expect(0, "tune", "--train", "r.txt", "--vali", "data/Fold1/vali.txt", *scoring,
                    "--discretizer", "cuts.json", "--out", "best.json", "--trials", "t.tsv")
        self.assertEqual({row["method"] for row in self.rows("t.tsv")}, {"frequency"})
        best = json.loads(self.read("best.json"))
        self.assertIsNone(best["discretizer"])
        self.expect(0, "rank", "--train", "r.txt", "--test", "data/Fold1/vali.txt", "--out",
                    "s.txt", "--discretizer", "cuts.json", "--settings", "best.json")
        judged = json.loads(self.expect(
            0, "evaluate", "--test", "data/Fold1/vali.txt", "--scores", "s.txt", "--metrics",
            "NDCG@10", "--json").stdout)["systems"][0]["averages"]
        self.assertEqual(judged, best["validation"])

    def test_norms(self):
        self.tune("--try-norm", "none,query-zscore", "--search", "grid", "--out", "best.json",
                  "--trials", "t.tsv")
        rows = self.rows("t.tsv")
        self.assertEqual(len(rows), 2 * CANDIDATES)
        line = ["--train", "data/Fold1/train.txt", "--test", "data/Fold1/vali.txt"]
        for norm in ("none", "query-zscore"):
            row = next(row for row in rows if row["norm"] == norm)
            self.expect(0, "rank", *line, "--out", "s.txt", "--norm", norm, "--method", row["method"],
                        "--bins", row["bins"], "--rule-size", row["rule size"], "--min-support",
                        row["min support"], "--min-confidence", row["min confidence"],
                        "--support-weight", row["support weight"], "--smoothing", row["smoothing"])
            judged = json.loads(self.expect(
                0, "evaluate", "--test", "data/Fold1/vali.txt", "--scores", "s.txt", "--metrics",
                "NDCG@10", "--json").stdout)["systems"][0]["averages"]
            self.assertEqual(judged["NDCG@10"], float(row["NDCG@10"]))
        self.assertEqual(json.loads(self.read("best.json"))["discretizer"]["norm"], rows[0]["norm"])
        # A list of one norm gives the results of --norm.
        self.tune("--norm", "query-minmax", "--trials", "one.tsv", "--out", "one.json")
        self.tune("--try-norm", "query-minmax", "--trials", "list.tsv", "--out", "list.json")
        self.assertEqual([row["NDCG@10"] for row in self.rows("one.tsv")],
                         [row["NDCG@10"] for row in self.rows("list.tsv")])
        self.assertEqual(json.loads(self.read("list.json"))["discretizer"]["norm"], "query-minmax")

    def test_kinds(self):
        quick = ["--try-points-penalty", "0.01", "--try-bins", "4", "--try-method", "tube,width",
                 "--threads"]
        kinds = ["--kinds", "rules,scorecard,linear", "--search", "grid", "--cross-fit", "3",
                 "--combine", "2", "--try-smoothing", "0", "--try-support-weight", "0", *quick]
        self.tune(*kinds, "1", "--out", "best.json", "--trials", "t.tsv", small=[])
        rows = self.rows("t.tsv")
        added = json.loads(self.read("best.json"))["defaults"]["kept"]  # the scorecard that fit has
        kinds_of = [row["kind"] for row in rows]
        self.assertEqual([kinds_of.count(kind) for kind in ("rules", "scorecard", "linear")],
                         [2 * 2 * 2 * 2, 2 * 3 * 2 + added, 4])
        self.assertEqual({row["kind"] for row in rows}, {"rules", "scorecard", "linear"})
        self.assertEqual({row["method"] for row in rows if row["kind"] == "linear"}, {"-"})
        self.tune(*kinds, "2", "--out", "two.json", small=[])
        self.assertEqual(self.read("two.json"), self.read("best.json"))
        # Each kind alone: rank and evaluate say what the table does.
        line = ["--train", "data/Fold1/train.txt", "--test", "data/Fold1/vali.txt"]
        for kind in ("scorecard", "linear"):
            own = quick if kind == "scorecard" else ["--threads"]
            self.tune("--kinds", kind, *own, "1", "--out", "kind.json", small=[])
            best = json.loads(self.read("kind.json"))
            self.expect(0, "rank", *line, "--settings", "kind.json", "--out", "s.txt")
            judged = json.loads(self.expect(
                0, "evaluate", "--test", "data/Fold1/vali.txt", "--scores", "s.txt", "--metrics",
                "NDCG@10", "--json").stdout)["systems"][0]["averages"]
            self.assertEqual(judged, best["validation"])
            if best["defaults"]["kept"]:
                self.assertEqual([one["kind"] for one in best["members"]], ["scorecard", "linear"])
            else:
                self.assertEqual(best["kind"], kind)
        # Both, as one model.
        self.expect(0, "fit", *line[:2], "--model", "m", "--settings", "best.json")
        self.expect(0, "rank", "--model", "m", *line[2:], "--out", "by_model.txt")
        self.expect(0, "rank", *line, "--settings", "best.json", "--out", "by_settings.txt")
        self.assertEqual(self.read("by_model.txt"), self.read("by_settings.txt"))

    def test_cards_and_joint_members(self):
        """Their settings give `fit`, `rank` and `explain` what the search measured."""
        line = ["--train", "data/Fold1/train.txt", "--test", "data/Fold1/vali.txt"]

        def judged(*options):
            self.expect(0, "fit", *line[:2], "--model", "m", *options)
            self.expect(0, "rank", "--model", "m", *line[2:], "--out", "s.txt")
            return json.loads(self.expect(
                0, "evaluate", "--test", "data/Fold1/vali.txt", "--scores", "s.txt", "--metrics",
                "NDCG@10", "--json").stdout)["systems"][0]["averages"]["NDCG@10"]

        grid = ["--kinds", "card,joint", "--search", "grid"]
        self.tune(*grid, "--combine", "13", "--out", "all.json", "--trials", "t.tsv", "--resume", "state",
                  "--threads", "1", small=[])
        rows = self.rows("t.tsv")
        self.assertFalse(json.loads(self.read("all.json"))["defaults"]["kept"])
        self.assertEqual(len(rows), 4 * 3 + 1)
        self.assertEqual({(row["max features"], row["bins"]) for row in rows if row["kind"] == "card"},
                         {(f, b) for f in ("3", "5", "8", "10") for b in ("6", "12", "24")})
        for row in rows:
            options = (["--members", "joint"] if row["kind"] == "joint" else
                       ["--members", "card", "--max-features", row["max features"], "--bins", row["bins"]])
            self.assertEqual(judged(*options), float(row["NDCG@10"]), row)
        self.assertEqual(judged("--settings", "all.json"),
                         json.loads(self.read("all.json"))["validation"]["NDCG@10"])
        # Going on from what was tried, and with several threads.
        self.tune(*grid, "--out", "best.json", "--resume", "state", "--threads", "2", small=[],
                  message="state: kept 13 candidates that an earlier run tried")
        best = json.loads(self.read("best.json"))
        self.assertEqual(best["kind"], rows[0]["kind"])
        self.assertEqual(judged("--settings", "best.json"), best["validation"]["NDCG@10"])
        self.expect(0, "rank", *line, "--settings", "best.json", "--out", "by_settings.txt")
        self.assertEqual(self.read("by_settings.txt"), self.read("s.txt"))
        self.expect_explained(line)

    def test_cards_alone_are_compared_with_the_card_of_fit(self):
        done = self.tune("--kinds", "card", "--try-max-features", "1", "--try-card-bins", "2", "--out",
                         "best.json", "--json", small=[])
        self.assertIn(b"tuning gained nothing over the defaults for cards, which are kept: -", done.stderr)
        self.assertIn(b"difference to the recommended members (scorecard", done.stderr)
        self.assertEqual([one["kind"] for one in json.loads(done.stdout)["fit"]["members"]],
                         ["scorecard", "linear"])
        for options in (["--settings", "best.json"], ["--members", "card"]):
            self.expect(0, "fit", "--train", "data/Fold1/train.txt", "--model", options[0], *options)
        self.assertEqual(self.read("--settings"), self.read("--members"))

    def test_cards_by_norms_and_by_cuts_that_are_given(self):
        train = ["--train", "data/Fold1/train.txt"]
        few = ["--kinds", "card,joint", "--try-max-features", "3", "--search", "grid"]
        self.tune(*few, "--try-norm", "none,query-zscore", "--trials", "t.tsv", small=[])
        self.assertEqual(len(self.rows("t.tsv")), 2 * (3 + 1))
        self.tune(*few, "--norm", "query-zscore", "--missing-values", "zero", "--combine", "4", "--out",
                  "s.json", small=[])
        for member in json.loads(self.read("s.json"))["members"]:
            self.assertEqual([member["discretizer"][key] for key in ("norm", "missing_values")],
                             ["query-zscore", "zero"])
        self.expect(0, "reduce", *train, "--out", "r.txt", "--method", "width", "--bins", "7",
                    "--discretizer-out", "cuts.json")
        self.tune(*few, "--discretizer", "cuts.json", "--combine", "2", "--out", "c.json", "--trials",
                  "t.tsv", small=[])
        best = json.loads(self.read("c.json"))
        self.assertEqual([member["discretizer"] for member in best["members"]], [None, None])
        self.assertIn({"width"}, [{row["method"]} for row in self.rows("t.tsv")])
        self.expect(0, "rank", *train, "--test", "data/Fold1/vali.txt", "--settings", "c.json",
                    "--discretizer", "cuts.json", "--out", "s.txt")
        self.assertEqual(json.loads(self.expect(
            0, "evaluate", "--test", "data/Fold1/vali.txt", "--scores", "s.txt", "--metrics", "NDCG@10",
            "--json").stdout)["systems"][0]["averages"], best["validation"])

    def test_kinds_are_compared_with_what_fit_recommends(self):
        """Few labels, many, and more features than linear systems take; with and without norms."""
        wide = b"".join(b"%d qid:%d %s\n" % (d % 3 * (d % 7 > 2), d // 8, b" ".join(
            b"%d:%d" % (f, (d * f * f + d % 3) % 11) for f in range(1, 800))) for d in range(24))
        self.file("wide.txt", wide)
        self.expect(0, "sample", "--documents", "1200", "--features", "5", "--queries", "60",
                    "--fold-count", "3", "--out-dir", "more")
        self.expect(0, "reduce", "--train", "more/Fold1/train.txt", "--out", "r.txt", "--method",
                    "frequency", "--discretizer-out", "cuts.json")
        fold = ["more/Fold1/train.txt", "more/Fold1/vali.txt"]
        outcomes = set()
        for row, files, kinds, given in (
                ("few-labels", ["data/Fold1/train.txt", "data/Fold1/vali.txt"], "linear", []),
                ("several-labels", fold, "linear,scorecard", []),
                ("several-labels", fold, "scorecard", ["--norm", "query-zscore"]),
                ("several-labels", fold, "rules,linear", ["--discretizer", "cuts.json"]),
                ("many-features", ["wide.txt", "wide.txt"], "linear", [])):
            poor = {"linear": ["--try-strength", "1e9"],
                    "scorecard": ["--try-points-penalty", "10000", "--try-smoothness", "10000"],
                    "rules": ["--try-rule-size", "2", "--try-min-support", "900"]}
            for tried in ([], [word for kind in kinds.split(",") for word in poor[kind]]):
                with self.subTest(row=row, kinds=kinds, given=given, tried=tried):
                    outcomes.add((row, self.check_kinds(row, files, kinds, given, tried)))
        self.assertLessEqual({(row, True) for row in ("few-labels", "several-labels")}, outcomes)
        self.assertIn(("several-labels", False), outcomes)

    def check_kinds(self, row, files, kinds, given, tried):
        """Whether the defaults were kept: what fit gives, whose model the settings give then."""
        line = ["--train", files[0], *given]

        def judged():
            self.expect(0, "rank", "--model", "m", "--test", files[1], "--out", "s.txt")
            return json.loads(self.expect(
                0, "evaluate", "--test", files[1], "--scores", "s.txt", "--metrics", "MAP",
                "--json").stdout)["systems"][0]["averages"]

        fitted = self.expect(0, "fit", *line, "--model", "m", "--members", "recommended").stderr.decode().splitlines()
        model, base = self.read("m"), judged()
        done = self.expect(0, "tune", *line, "--vali", files[1], "--metrics", "MAP", "--kinds", kinds,
                           *tried, "--out", "best.json",
                           "--manifest", "log", "--threads", "1")
        best = json.loads(self.read("best.json"))
        said = done.stderr.decode().splitlines()
        self.assertIn(f"recommended ({row}): ", said[0])
        self.assertEqual(said[:2], fitted[:2])
        self.assertEqual(json.loads(self.read("log"))["recommended"]["name"], row)
        self.assertEqual(best["defaults"]["validation"], base)
        self.assertEqual(len(best["defaults"]["members"]), 2)
        self.assertGreaterEqual(best["validation"]["MAP"], base["MAP"])
        self.expect(0, "fit", *line[:2], *(given if "--discretizer" in given else []), "--settings",
                    "best.json", "--model", "m")
        self.assertEqual(judged(), best["validation"])
        kept = best["defaults"]["kept"]
        self.assertIn("gained nothing over the recommended members, which are kept: " if kept else
                      " over the recommended members on the ", said[-1])
        if kept:
            self.assertEqual(self.read("m"), model)
            self.assertEqual(len(best["members"]), 2)
        else:
            self.assertGreater(best["validation"]["MAP"], base["MAP"])
            self.assertIn(best.get("kind", "rules"), kinds.split(","))
        return kept

    def test_the_candidates_of_kinds(self):
        """The default candidates include the settings that `fit` recommends."""
        self.tune("--kinds", "scorecard,linear", "--search", "grid", "--metrics", "MAP", "--out",
                  "best.json", "--trials", "t.tsv", small=[])
        rows = self.rows("t.tsv")
        kinds = [row["kind"] for row in rows]
        self.assertEqual((kinds.count("scorecard"), kinds.count("linear")), (2 * 3 * 3 * 9, 4))
        self.assertEqual({row["strength"] for row in rows if row["kind"] == "linear"},
                         {"10", "100", "1000", "cross-fit"})
        self.assertTrue([row for row in rows if [row[name] for name in (
            "method", "bins", "loss", "points penalty", "smoothness")] ==
            ["frequency", "20", "point", "0.001", "100"]])
        # A strength that is cross-fitted is so in the settings, too.
        self.tune("--kinds", "linear", "--try-strength", "cross-fit,1e9", "--combine", "2", "--out",
                  "two.json", small=[])
        two = json.loads(self.read("two.json"))
        self.assertIn("cross-fit" if not two["defaults"]["kept"] else 1000,
                      [member.get("strength") for member in two["members"]])

    def test_lists_of_kinds_that_are_not_searched(self):
        for kinds, of in (("linear", "rules"), ("scorecard,linear", "rules"),
                          ("rules,linear", "scorecard"), ("rules", "scorecard"),
                          ("scorecard", "linear"), ("rules", "linear")):
            lists = {"rules": ["--try-rule-size=4", "--try-min-support=1", "--try-min-confidence=.1",
                               "--try-support-weight=0", "--try-smoothing=0", "--try-feature-share=1"],
                     "scorecard": ["--try-loss=pair", "--try-points-penalty=1", "--try-smoothness=1"],
                     "linear": ["--try-strength=4"]}[of]
            for word in lists:
                with self.subTest(kinds=kinds, word=word):
                    self.tune("--kinds", kinds, word, code=2, small=[], message=f"{word.split('=')[0]} needs {of} among --kinds ({kinds})")
        for word in ("--try-method=tube", "--try-bins=4"):
            self.tune("--kinds", "linear", word, code=2, small=[], message=f"{word.split('=')[0]} "
                      "needs rules or scorecard among --kinds (linear)")
        self.tune("--kinds", "linear", "--try-norm=none", code=2, small=[], message="--try-norm needs rules or scorecard or card or joint among --kinds (linear)")
        for word in ("--try-max-features=3", "--try-card-bins=4"):
            self.tune("--kinds", "rules,joint", word, code=2, small=[], message=f"{word.split('=')[0]} "
                      "needs card among --kinds (rules,joint)")
        self.tune("--kinds", "card", "--try-card-bins", "cv", code=2, small=[])
        self.tune("--try-strength", "4", code=2, small=[], message="--try-strength needs linear among --kinds (rules)")
        for words in (["--engine", "lrar"], ["--cache-memory", "1GB"]):
            self.tune("--kinds", "linear,scorecard", *words, code=2, small=[], message=f"{words[0]}: "
                      "needs rules among --kinds (linear,scorecard)")
        for word in ("0", "-1", "often"):
            self.tune("--kinds", "linear", "--try-strength", f"10,{word}", code=2, small=[], message=
                      f"error: --try-strength: found '{word}', expected a number from 1e-9 to 1e9, or")

    def test_what_tuning_gained(self):
        line = ["--train", "data/Fold1/train.txt", "--test", "data/Fold1/vali.txt"]

        def judged(*options):
            self.expect(0, "rank", *line, *options, "--out", "s.txt")
            found = json.loads(self.expect(
                0, "evaluate", "--test", "data/Fold1/vali.txt", "--scores", "s.txt", "--metrics",
                "NDCG@10", "--json").stdout)
            return found["systems"][0]["averages"]["NDCG@10"]

        done = self.tune("--out", "best.json")
        best = json.loads(self.read("best.json"))
        self.assertFalse(best["defaults"]["kept"])
        self.assertEqual(best["defaults"]["validation"]["NDCG@10"], judged())
        gain = judged("--settings", "best.json") - judged()
        self.assertGreater(gain, 0)
        self.assertAlmostEqual(best["defaults"]["gain"], gain, 12)
        low, high = best["defaults"]["low"], best["defaults"]["high"]
        self.assertIn(f"tuning gained {gain:+.4f} NDCG@10 [{low:+.4f}, {high:+.4f}] over the defaults for "
                      "rules on the 10 queries of the validation set: ".encode() +
                      (b"significant" if low > 0 else b"not significant"), done.stderr)
        # Rules of one item alone, of few bins, are worse than the defaults.
        poor = ["--try-bins", "2", "--try-rule-size", "2", "--try-method", "width", "--try-min-support",
                "20", "--try-min-confidence", "0.5"]
        done = self.tune("--out", "poor.json", "--trials", "poor.tsv", "--combine", "2", small=poor)
        self.assertIn(b"tuning gained nothing over the defaults for rules, which are kept: -", done.stderr)
        kept = json.loads(self.read("poor.json"))
        self.assertTrue(kept["defaults"]["kept"])
        self.assertEqual((kept["discretizer"]["method"], kept["discretizer"]["bins"],
                          kept["rule_size"], kept["smoothing"]), ("tube", 10, 3, 0))
        self.assertEqual(kept["validation"], kept["defaults"]["validation"])
        self.assertEqual(judged("--settings", "poor.json"), judged())
        self.assertEqual(self.rows("poor.tsv")[0]["method"], "tube")
        # The defaults themselves gain nothing; theirs are the cuts that are given.
        one = ["--try-bins", "10", "--try-rule-size", "3", "--try-method", "tube", "--try-min-support",
               "1", "--try-min-confidence", "0.001", "--try-support-weight", "0", "--try-smoothing", "0"]
        done = self.tune("--out", "one.json", "--json", small=one)
        self.assertIn(b"which are kept: +0.0000 NDCG@10 [+0.0000, +0.0000]", done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["trials"]), 1)

    def test_rules_stand_beside_what_fit_recommends(self):
        line = ["--train", "data/Fold1/train.txt"]

        def judged(*options):
            self.expect(0, "fit", *line, "--model", "m", *(options or ("--members", "recommended")))
            self.expect(0, "rank", "--model", "m", "--test", "data/Fold1/vali.txt", "--out", "s.txt")
            return json.loads(self.expect(
                0, "evaluate", "--test", "data/Fold1/vali.txt", "--scores", "s.txt", "--metrics",
                "MAP", "--json").stdout)["systems"][0]["averages"]["MAP"]

        advice = b"; the recommended members are at least as good on these queries: use fit --members recommended, or tune --kinds"
        poor = ["--try-bins", "2", "--try-rule-size", "2", "--try-method", "width", "--try-min-support",
                "1", "--try-min-confidence", "0.001"]
        seen = set()
        for small in (SMALL, poor):
            done = self.tune("--metrics", "MAP", "--out", "best.json", "--json", "--trials", "t.tsv",
                             small=small)
            fit = json.loads(done.stdout)["fit"]
            self.assertEqual(fit["validation"]["MAP"], judged())
            gain = judged("--settings", "best.json") - judged()
            self.assertAlmostEqual(fit["gain"], gain, 12)
            self.assertEqual(fit["at_least_as_good"], gain <= 0)
            self.assertIn(f"): {gain:+.4f} MAP [{fit['low']:+.4f}, {fit['high']:+.4f}]".encode() +
                          (advice if gain <= 0 else b", "), done.stderr)
            self.assertIn(b"difference to the recommended members (scorecard", done.stderr)
            self.assertEqual([one["kind"] for one in fit["members"]], ["scorecard", "linear"])
            seen.add(gain <= 0)
            # The choice does not depend on it.
            self.assertNotIn("kind", self.rows("t.tsv")[0])  # a column where there are others
            self.assertNotIn("kind", json.loads(self.read("best.json")))
        self.assertEqual(seen, {True, False})
        # Other kinds have it as their defaults.
        done = self.tune("--kinds", "linear", "--out", "best.json", "--json", small=[])
        self.assertNotIn("fit", json.loads(done.stdout))
        self.assertNotIn(b"difference to the recommended members (", done.stderr)

    def test_wrong_lines(self):
        for options in (["--metric", "best"], ["--profile", "x"], ["--try-method", "best"],
                        ["--try-bins", "1"], ["--try-bins", "0"], ["--try-bins", "4,4"],
                        ["--try-rule-size", "1"], ["--try-smoothing", "x"],
                        ["--try-smoothing", "-1"], ["--try-min-confidence", "2"],
                        ["--try-support-weight", ""], ["--budget", "0"], ["--budget", "x"],
                        ["--budget", "0s"], ["--budget", "2"], ["--budget", "-1s"],
                        ["--search", "x"], ["--rungs", "0"], ["--combine", "0"],
                        ["--kinds", "trees"], ["--kinds", "rules,rules"], ["--try-loss", "pairs"],
                        ["--kinds", "scorecard", "--try-points-penalty", "0"],
                        ["--kinds", "scorecard", "--try-smoothness", "x"],
                        ["--kinds", "linear", "--try-strength", "0"],
                        ["--try-norm", "best"], ["--try-norm", "none,none"], ["--try-norm", ""],
                        ["--try-norm", "none", "--norm", "none"],
                        ["--discretizer", "c.json", "--try-norm", "none"],
                        ["--try-feature-share", "0"], ["--try-feature-share", "1.5"],
                        ["--cross-fit", "1"], ["--cross-fit", "1000"], ["--cross-fit", "x"], ["--keep", "1"], ["--engine", "x"],
                        ["--format", "x"], ["--method", "tube"], ["--rule-size", "3"],
                        ["--out", "same", "--trials", "same"],
                        ["--discretizer", "c.json", "--try-method", "tube"]):
            with self.subTest(options):
                self.tune(*options, code=2, small=[])

    def test_bad_input(self):
        good = b"".join(b"%d qid:%d 1:%d 2:%d\n" % (d % 2, d // 4, d, d * 7 % 5) for d in range(12))
        quick = "--try-rule-size 2 --try-bins 3 --try-smoothing 0 --try-support-weight 0"
        line = f"tune --train {{train}} --vali {{in}} {quick} --out {{out}}"
        self.check_rows([
            Row("good", good, line, 0, files={"train": good}),
            Row("an empty validation set", b"", line, 3, "{in}:1:1: found no documents",
                files={"train": good}),
            Row("a malformed one", b"1 qid:1 1:x\n", line, 3, "{in}:1:11: ", files={"train": good}),
            Row("without a label", b"-1 qid:1 1:1\n", line + " --unlabelled -1", 3,
                "{in}:1:1: found a document without a label, expected labels to choose by",
                files={"train": good}),
            Row("nothing to cut", good, line, 3, "{train}:1:1: no feature",
                files={"train": b"1 qid:1 1:1\n0 qid:1 1:1\n"}),
            Row("a state of something else", b"{}", f"tune --train {{train}} --vali {{train}} "
                f"{quick} --resume {{in}} --out {{out}}", 3, "{in}:1:1: found no trials that `rulerank tune",
                files={"train": good}),
            Row("settings of something else", b"{}", "rank --train {train} --test {train} "
                "--settings {in} --out {out}", 3, "{in}:1:1: found no member rulerank_settings",
                files={"train": good}),
            Row("settings with a number that is no rule size",
                b'{"rulerank_settings":1,"discretizer":null,"rule_size":4294967299,"min_support":1,'
                b'"min_confidence":0.1,"support_weight":0,"smoothing":0}',
                "rank --train {train} --test {train} --settings {in} --out {out}", 3,
                "{in}:1:1: rule_size: found 4294967299, expected an integer",
                files={"train": good}),
            Row("settings that nest deeply",
                b'{"rulerank_settings":' + b"[" * 90_000 + b"]" * 90_000 + b"}",
                "rank --train {train} --test {train} --settings {in} --out {out}", 3,
                "{in}:1:521: found JSON of more than 500 nested levels",
                files={"train": good}),
            Row("settings that make no sense",
                b'{"rulerank_settings":1,"discretiser":null,"rule_size":1,"min_support":1,'
                b'"min_confidence":0.1,"support_weight":0,"smoothing":0}',
                "rank --train {train} --test {train} --settings {in} --out {out}", 3,
                "{in}:1:1: found rule size 1",
                files={"train": good}),
        ])


class TunedExperiment(harness.CommandLine):
    QUICK = [*SMALL, "--rank-size", "3", "--reduce-size", "3", "--baselines", "full",
             "--permutations", "100", "--tune", "MAP,NDCG@10"]

    def setUp(self):
        super().setUp()
        self.expect(0, "sample", "--documents", "450", "--features", "9", "--queries", "30",
                    "--folds", "3", "--out-dir", "data")

    def experiment(self, out, *options, folds="data", code=0, message=""):
        return self.expect(code, "experiment", "--folds", folds, "--out-dir", out, *self.QUICK,
                           *options, message=message)

    def outputs(self, out):
        root = self.folder / out
        return {str(path.relative_to(root)): path.read_bytes()
                for path in root.rglob("*") if path.is_file() and path.name != "manifest.json"}

    def test_agrees_with_the_verbs_and_resumes(self):
        self.experiment("out")
        results = json.loads((self.folder / "out" / "results.json").read_text())
        self.assertEqual([s["name"] for s in results["systems"]],
                         ["full-rank-3", "reduced-3-rank-3", "full-tuned-MAP",
                          "reduced-3-tuned-MAP", "full-tuned-NDCG@10", "reduced-3-tuned-NDCG@10"])
        self.assertEqual([c["reference"] for c in results["comparisons"]],
                         ["full-rank-3", "full-tuned-MAP", "full-tuned-NDCG@10"])
        fold = ["--train", "data/Fold2/train.txt", "--vali", "data/Fold2/vali.txt", *SMALL]
        self.expect(0, "tune", *fold, "--metric", "MAP,NDCG@10", "--out", "a.json", "--trials",
                    "a.tsv")
        for end in ("json", "tsv"):
            self.assertEqual((self.folder / f"a.{end}").read_bytes(),
                             (self.folder / f"out/tuned/full-tuned-MAP/Fold2.{end}").read_bytes())
        best = json.loads((self.folder / "a.json").read_text())
        self.assertEqual(results["folds"][1]["tuned"]["full-tuned-MAP"], best)
        self.expect(0, "rank", "--train", "data/Fold2/train.txt", "--test", "data/Fold2/test.txt",
                    "--settings", "a.json", "--out", "s.txt")
        self.assertEqual((self.folder / "s.txt").read_bytes(),
                         (self.folder / "out/scores/full-tuned-MAP/Fold2.txt").read_bytes())
        # A whole experiment by these settings.
        self.expect(0, "experiment", "--folds", "data", "--out-dir", "by", "--settings", "a.json",
                    "--reduce-size", "none", "--baselines", "full", "--permutations", "1")
        name = f"full-rank-{best['rule_size']}"
        self.assertEqual((self.folder / f"by/scores/{name}/Fold2.txt").read_bytes(),
                         (self.folder / "s.txt").read_bytes())
        # Nothing else is left, and the second run takes all of the first.
        before = self.outputs("out")
        self.assertFalse([name for name in before if name.endswith(".trials")])
        self.experiment("out", message="Fold3: finished by an earlier run")
        self.assertEqual(self.outputs("out"), before)
        # A fold that was tuned and no more goes on from its trials.
        (self.folder / "out/folds/Fold2.json").unlink()
        self.experiment("out", "--threads", "1")
        self.assertEqual(self.outputs("out"), before)

    def test_nothing_of_the_test_part_is_looked_at(self):
        self.experiment("out")
        shutil.copytree(self.folder / "data", self.folder / "other")
        for n in (1, 2, 3):
            test = self.folder / "other" / f"Fold{n}" / "test.txt"
            lines = test.read_text().splitlines()
            test.write_text("".join(f"{(int(line[0]) + n) % 3}{line[1:]}\n" for line in lines[5:]))
        self.experiment("changed", folds="other")
        for name, data in self.outputs("out").items():
            if name.startswith("tuned/"):
                self.assertEqual((self.folder / "changed" / name).read_bytes(), data, name)
        # `tune` gives these bytes although the test set in the folder is broken.
        (self.folder / "data/Fold1/test.txt").write_bytes(b"broken\n")
        self.expect(0, "tune", "--train", "data/Fold1/train.txt", "--vali", "data/Fold1/vali.txt",
                    *SMALL, "--metric", "MAP,NDCG@10", "--out", "a.json")
        self.assertEqual((self.folder / "a.json").read_bytes(),
                         (self.folder / "out/tuned/full-tuned-MAP/Fold1.json").read_bytes())

    def test_several_that_rank_together_in_each_fold(self):
        several = ["--cross-fit", "2", "--combine", "4"]
        self.experiment("out", *several)
        results = json.loads((self.folder / "out" / "results.json").read_text())
        self.assertEqual(results["settings"]["tune"]["cross_fit"], 2)
        self.expect(0, "tune", "--train", "data/Fold2/train.txt", "--vali", "data/Fold2/vali.txt",
                    *SMALL, *several, "--metric", "MAP,NDCG@10", "--out", "a.json")
        self.assertEqual((self.folder / "a.json").read_bytes(),
                         (self.folder / "out/tuned/full-tuned-MAP/Fold2.json").read_bytes())
        self.expect(0, "rank", "--train", "data/Fold2/train.txt", "--test", "data/Fold2/test.txt",
                    "--settings", "a.json", "--out", "s.txt")
        self.assertEqual((self.folder / "s.txt").read_bytes(),
                         (self.folder / "out/scores/full-tuned-MAP/Fold2.txt").read_bytes())
        # Reduced sets are those that were chosen by the experiment's own cuts.
        documents = {s["name"]: s["documents"] for s in results["systems"]}
        self.assertEqual(documents["reduced-3-tuned-MAP"], documents["reduced-3-rank-3"])
        before = self.outputs("out")
        self.experiment("out", *several, "--threads", "1",
                        message="Fold3: finished by an earlier run")
        self.assertEqual(self.outputs("out"), before)

    def test_wrong_lines(self):
        line = ["experiment", "--folds", "data", "--out-dir", "none", "--tune"]
        self.expect(2, *line, "best")
        self.expect(2, *line, "MAP,MAP", message="MAP is given twice")
        self.expect(2, *line, "MAP", "--try-bins", "1")
        self.experiment("none", "--budget", "x", code=2)
        self.assertFalse(os.path.exists(self.folder / "none"))
        (self.folder / "data/Fold2/vali.txt").unlink()
        self.experiment("none", code=3, message="data/Fold2: found no vali.txt, expected a "
                        "validation set, by which")


if __name__ == "__main__":
    harness.main()

"""The verb report: one page from the outputs of experiments with arbitrary ids, features and folders; Markdown and LaTeX."""

import html.parser
import itertools
import json
import math
import random
import re
import shutil
import subprocess

import harness

QUICK = ["--random-draws", "3", "--permutations", "1000", "--metrics", "MAP,NDCG@1,NDCG@10"]
EVIL = "</script><script>document.title='taken'</script><img/src=//evil.example/x>\"'&"


class Elements(html.parser.HTMLParser):
    """The contents of a page for a browser: elements, their attributes, text outside of scripts and styles."""

    def __init__(self, page):
        super().__init__()
        self.found, self.words, self.scripts, self.inside, self.attributes = [], [], [], None, []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.inside = tag if tag in ("script", "style") else None
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data
        elif self.inside is None:
            self.words.append(data)


# Machado, Oliveira and Fernandes 2009: linear RGB as it looks without one kind of cones, and with all of them.
SEEN = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((.152286, 1.052583, -.204868), (.114503, .786281, .099216), (-.003882, -.048116, 1.051998)),
    "no green": ((.367322, .860646, -.227968), (.280085, .672501, .047413), (-.011820, .042940, .968881)),
    "no blue": ((1.255528, -.076749, -.178779), (-.078411, .930809, .147602), (.004733, .691367, .303900))}


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def linear(colour):
    """Linear RGB of #rrggbb or #rgb."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * one for one in colour[1:])
    parts = [int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    return [c / 12.92 if c <= .04045 else ((c + .055) / 1.055) ** 2.4 for c in parts]


def contrast(one, other):
    """The contrast ratio of WCAG 2."""
    lights = [.05 + sum(times([(.2126, .7152, .0722)], linear(of))) for of in (one, other)]
    return max(lights) / min(lights)


def oklab(rgb):
    """Where a colour is among the colours that people tell apart (Ottosson 2020)."""
    cones = times(((.4122214708, .5363325363, .0514459929), (.2119034982, .6806995451, .1073969566),
                   (.0883024619, .2817188376, .6299787005)), [min(max(c, 0), 1) for c in rgb])
    return times(((.2104542553, .7936177850, -.0040720468), (1.9779984951, -2.4285922050, .4505937099),
                  (.0259040371, .7827717662, -.8086757660)), [c ** (1 / 3) for c in cones])


def drawn_experiment(test, folder="result", data="data", qid=lambda qid: qid, docid=lambda docid: docid,
                     more=("--rank-size", "3")):
    """Runs a cross-validation of synthetic data whose ids are changed."""
    test.expect(0, "sample", "--documents", "600", "--features", "9", "--queries", "30", "--fold-count", "3",
                "--out-dir", data)
    for path in (test.folder / data).glob("Fold*/*.txt"):
        lines = [re.sub(r"qid:(\S+)", lambda found: "qid:" + qid(found[1]),
                        re.sub(r"docid = (\S+)", lambda found: "docid = " + docid(found[1]), line))
                 for line in path.read_text().splitlines()]
        path.write_text("\n".join(lines) + "\n")
    test.expect(0, "experiment", "--folds", data, "--out-dir", folder, *QUICK, *more)


class Report(harness.CommandLine):
    def page(self, *arguments):
        self.expect(0, "report", *arguments, "--out", "page.html")
        return (self.folder / "page.html").read_text()

    def expect_own(self, page):
        """Nothing is requested, and scripts are those of the report."""
        found = Elements(page)
        self.assertLessEqual(set(found.found), {
            "html", "head", "meta", "title", "style", "body", "a", "h1", "h2", "h3", "nav", "ul", "li", "main", "p",
            "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "svg", "path",
            "text", "details", "summary", "section", "script", "span"})
        for tag, name, value in found.attributes:
            self.assertNotIn(name, ("src", "srcset", "action", "style"), tag)
            self.assertFalse(name.startswith("on"), name)
            if name == "href":
                self.assertTrue(value.startswith("#"), value)
        self.assertEqual(page.count("<script"), page.count("</script>"))
        self.assertIn(len(found.scripts), (1, 4))
        self.assertIn("default-src 'none'", page)
        return found

    def test_says_what_the_results_say(self):
        drawn_experiment(self)
        page = self.page("result")
        words = " ".join(self.expect_own(page).words)
        results = json.loads((self.folder / "result/results.json").read_text())
        for system in results["systems"]:
            self.assertIn(system["name"], words)
            for value in system["means"].values():
                self.assertIn(f"{value:.4f}", words)
        # The test of each system with `full` is that of the results.
        for one in results["comparisons"][0]["results"]:
            if one["measure"] == "NDCG@10":
                self.assertIn(f"{one['wins']} won, {one['ties']} tied, {one['losses']} lost; p = "
                              f"{one['paired-t']['p']:.3g}, {one['paired-t']['p_holm']:.3g} after Holm", words)
        self.assertIn("NDCG@k by k", words)
        self.assertIn("rules on the score of document", words)
        self.assertIn("the folder keeps no training set or model of feature", words)
        self.assertIn(results["folds"][0]["inputs"]["Fold1/train.txt"], words)
        self.assertEqual(page, self.page("result"))
        self.assertEqual(page, self.page("result", "--threads", "1"))
        self.assertLess(len(page), 600_000)

    def by_query(self, folder, measure):
        """The values of each system, query by query, and the means of its folds' means."""
        queries, means = {}, {}
        for path in sorted((self.folder / folder / "folds").glob("*.json")):
            fold = json.loads(path.read_text())
            place, count = fold["metrics"].index(measure), len(fold["metrics"])
            for system in fold["systems"]:
                values = system["values"][place::count]
                queries.setdefault(system["name"], []).extend(values)
                means.setdefault(system["name"], []).append(sum(values) / len(values))
        return queries, {name: sum(of) / len(of) for name, of in means.items()}

    def test_leads_with_the_winner(self):
        drawn_experiment(self)
        words = self.expect_own(self.page("result", "--baseline", "random-3-rank-3")).words
        lead = words[len(words) - words[::-1].index("In short"):]
        queries, means = self.by_query("result", "NDCG@10")
        best, following = sorted(means, key=means.get, reverse=True)[:2]

        def difference(other):
            values = [a - b for a, b in zip(queries[best], queries[other])]
            mean = sum(values) / len(values)
            error = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values))
            self.assertEqual(len(values), 30)
            reach = 2.0452296 * error  # Student's t, 29 degrees of freedom
            return f"{mean:+.4f} [{mean - reach:+.4f}, {mean + reach:+.4f}] over "

        said = lead[1]
        self.assertTrue(said.startswith(f"result: {best} is the best of {len(means)} by NDCG@10: {means[best]:.4f}, "
                                        f"{difference(following)}the next, {following} ("), said)
        self.assertIn(f", and {difference('random-3-rank-3')}the baseline, random-3-rank-3 (", said)
        # The table of differences, the best first.
        page = (self.folder / "page.html").read_text()
        table = page[page.index("NDCG@10: differences to random-3-rank-3, means over the queries with 95 % intervals"):]
        names = re.findall(r"<tr><td>([^<]*)</td>", table[:table.index("</table>")])
        self.assertEqual(names, sorted(means, key=means.get, reverse=True))
        # Only the comparison of the best system with the baseline is open.
        self.assertEqual(len(re.findall(r"<summary>[^<]* against random-3-rank-3</summary>", page)), len(means) - 1)
        self.assertEqual(page.count("<details open>"), 1)
        self.assertIn(f"<details open><summary>{best} against random-3-rank-3</summary>", page)

    def test_what_was_measured_at_few_ranks_is_no_line(self):
        drawn_experiment(self)
        self.expect(0, "report", "result", "--format", "markdown", "--out", "r.md")
        text = (self.folder / "r.md").read_text()
        curves = (self.folder / re.search(r"!\[NDCG@k by k: result\]\(<(\S+)>\)", text)[1]).read_text()
        lines = re.findall(r'<path class="line (s\d)"', curves)
        systems = json.loads((self.folder / "result/results.json").read_text())["systems"]
        drawn = [one["name"] for one in systems if one["name"].startswith("random")]
        self.assertGreater(len(drawn), 0)
        self.assertEqual(len(set(lines)), len(systems) - len(drawn))
        for name in drawn:  # NDCG@1 and NDCG@10
            self.assertEqual(len(re.findall(rf"<title>{name}: ", curves)), 2)

    def test_ranks_of_a_clicked_query(self):
        """The page shows ranks of the whole ranking, as its static part does."""
        drawn_experiment(self)
        found = Elements(self.page("result"))
        if len(found.scripts) < 2:
            self.skipTest("built without d3: the page has no script")
        part = json.loads(found.scripts[0])["parts"][0]
        deep = 0
        for place, (ids, _, ranks) in part["documents"].items():
            qid = part["qids"][int(place)]
            for system, of in zip(part["systems"], ranks):
                if of is None:
                    continue
                for run in (self.folder / "result/runs" / system).glob("*.run"):
                    rows = [line.split() for line in run.read_text().splitlines()]
                    expected = {row[2]: int(row[3]) for row in rows if row[0] == qid}
                    if expected:
                        scores = [row[4] for row in rows if row[0] == qid]
                        deep += max(of) > 10
                        if len(set(scores)) == len(scores):
                            self.assertEqual([expected[id] for id in ids], of)
        self.assertGreater(deep, 0)

    def test_a_card_has_a_frontier(self):
        self.expect(0, "sample", "--documents", "4000", "--features", "10", "--queries", "60", "--fold-count", "1", "--out-dir", "data")
        said = json.loads(self.expect(0, "fit", "--train", "data/Fold1/train.txt", "--model", "m", "--members", "card",
                                      "--json").stdout)
        tried = said["sizes"][0]["frontier"]
        self.assertGreater(len(tried), 1)
        self.expect(0, "report", "--model", "m", "--format", "markdown", "--out", "r.md")
        text = (self.folder / "r.md").read_text()
        self.assertIn("## In short", text)
        frontier = (self.folder / "r-figures/figure-1.svg").read_text()
        self.assertEqual(frontier.count('class="error'), len(tried))
        for one in tried:
            self.assertIn(f"card: {one['features']}, {abs(one['quality']):.6g} [", frontier)
        self.assertIn(f"; {said['sizes'][0]['chosen']} were chosen; ", text)

    def test_an_experiment_has_the_frontier_of_its_cards(self):
        self.expect(0, "sample", "--documents", "8000", "--features", "10", "--queries", "60", "--fold-count", "3", "--out-dir", "data")
        self.expect(0, "experiment", "--folds", "data", "--out-dir", "result", "--systems", "card,feature", "--budgets", "5%,100%",
                    "--ways", "random", "--random-draws", "1", "--metrics", "MAP", "--quiet")
        sizes = []
        for fold in (1, 2, 3):
            points = json.loads((self.folder / f"result/curves/Fold{fold}.json").read_text())["points"]
            self.assertTrue(all("sizes" not in p for p in points if p["system"] == "feature"))
            sizes += [p["sizes"] for p in points
                      if p["system"] == "card" and p["budget"] == 1 and p["settings"] == "defaults"]
        self.assertEqual(len(sizes), 3)
        self.expect(0, "report", "result", "--format", "markdown", "--out", "r.md")
        text = (self.folder / "r.md").read_text()
        self.assertIn("result, card: NDCG by features on the card, by cross-fitting in the training sets, mean of the folds; "
                      f"chosen in the folds: {', '.join(str(of['chosen']) for of in sizes)}; ", text)
        number = re.search(r"result, card: NDCG by features.*?figure-(\d)\.svg", text, re.S)[1]
        frontier = (self.folder / f"r-figures/figure-{number}.svg").read_text()
        for of in zip(*(of["frontier"] for of in sizes)):
            self.assertIn(f"card: {of[0]['features']}, {sum(one['quality'] for one in of) / 3:.6g} [", frontier)

    def expect_rules_as_explained(self, system, *how, train="data/{}/train.txt", top=1):
        """The page shows the rules of `explain` for scores of a system."""
        found = Elements(self.page("result"))
        titles = [text for text in found.words if text.startswith(f"{system}: the most influential rules on the score of document ")]
        self.assertGreater(len(titles), 3)
        shown = json.loads(found.scripts[0])["parts"][0] if len(found.scripts) > 1 else None
        for title in titles[:3]:
            docid = re.search(r"score of document ([^\s,]+)", title)[1]
            fold, = (path.parent.name for path in (self.folder / "data").glob("Fold*/test.txt")
                     if f"docid = {docid}\n" in path.read_text())
            said = json.loads(self.expect(
                0, "explain", "--train", train.format(fold), "--test", f"data/{fold}/test.txt", "--qid",
                docid.split("-")[0], "--docid", docid, "--top", str(top), "--json",
                *(word.format(fold) for word in how)).stdout)
            members = said["members"] if "members" in said else [said]
            expected = [[*([str(k + 1)] if len(members) > 1 else []), f"{rule['moved']['value']:.6f}", str(rule["support"]),
                         str(rule["documents"]), rule["rule"]]
                        for k, member in enumerate(members) for way in ("up", "down") for rule in member[way]["most"]]
            columns = len(expected[0])
            cells = [text for text in found.words[found.words.index(title) + 1:] if text.strip()]
            rows = [cells[i:i + columns] for i in range(columns, columns * (len(expected) + 1), columns)]
            self.assertEqual(rows, expected)
            if shown:
                (place, key), = ((int(place), key) for place, those in shown["rules"].items() for number, key in those
                                 if (shown["systems"][number], key.split(" ")[2]) == (system, docid))
                self.assertEqual(shown["qids"][place], docid.split("-")[0])
                self.assertEqual(self.read_text("page.html").count(f'<table data-key="{key}">\n<caption>{title[:60]}'), 1)

    def test_rules_of_all_training_documents(self):
        drawn_experiment(self)
        self.expect_rules_as_explained("full-rank-3", "--rule-size", "3")
        self.expect_rules_as_explained("reduced-3-rank-3", "--discretizer", "result/reduced/{}-cuts.json", "--regroup",
                                       train="result/reduced/{}-size3.txt", top=3)
        for path in (self.folder / "data").glob("Fold*/train.txt"):
            path.write_text(path.read_text() + "# another\n")
        page = self.page("result", "--folds", "data")
        self.assertFalse("full-rank-3: the most influential rules on" in page)
        self.assertTrue("reduced-3-rank-3: the most influential rules on" in page)
        self.assertTrue(re.search(r"Rules are not shown: the training set of Fold\d is missing or has changed since the run\.", page))

    def test_rules_of_several_members_and_of_tuned_systems(self):
        member = {"rulerank_settings": 1, "discretizer": {"method": "tube", "bins": 10, "missing_values": "item",
                                                          "unlisted": "zero", "norm": "none"},
                  "rule_size": 3, "min_support": 1, "min_confidence": 0.001, "support_weight": 0.0, "smoothing": 0.0,
                  "feature_share": 1.0}
        other = member | {"discretizer": member["discretizer"] | {"method": "width", "bins": 5}, "rule_size": 2,
                          "smoothing": 5.0}
        self.file("two.json", json.dumps({"rulerank_settings": 1, "members": [member, other]}).encode())
        drawn_experiment(self, "result", "data", more=["--settings", "two.json", "--tune", "MAP", "--budget", "3"])
        self.expect_rules_as_explained("full-members-2", "--settings", "two.json")
        page = self.page("result")
        for system in ("full-members-2", "reduced-3-members-2"):
            self.assertTrue(re.search(f"{system}: the most influential rules on the score of document \\S+, by member", page))
        self.assertTrue("full-tuned-MAP: the most influential rules on" in page)

    def test_colours_are_told_apart(self):
        """In both themes: on the paper, and from each other with any kind of cones."""
        drawn_experiment(self)
        page = self.page("result")
        themes = [dict(re.findall(r"--(\w+):(#\w+)", theme)) for theme in re.findall(r":root\{([^}]*--c0[^}]*)\}", page)]
        self.assertEqual(len(themes), 2)
        for theme in themes:
            colours = [theme[f"c{k}"] for k in range(8)]
            for colour in colours:
                self.assertGreaterEqual(contrast(colour, theme["paper"]), 3, colour)
            for name, matrix in SEEN.items():
                for one, other in itertools.combinations(colours, 2):
                    self.assertGreater(math.dist(*(oklab(times(matrix, linear(c))) for c in (one, other))), .07,
                                       (name, one, other))
        self.expect(0, "report", "result", "--format", "markdown", "--out", "r.md")
        figure = (self.folder / "r-figures/figure-1.svg").read_text()
        self.assertEqual(re.findall(r"\.s\d\{stroke:(#\w+);fill:\1\}", figure), [themes[0][f"c{k}"] for k in range(8)])

    def test_curve_by_rank_is_evaluates(self):
        drawn_experiment(self)
        judged = json.loads(self.expect(
            0, "evaluate", "--folds", "data", "--json", "--metrics", "NDCG@1-10", "--scores",
            "full=result/scores/full-rank-3").stdout)
        row = "".join(f'<td class="n">{value:.4f}</td>' for value in judged["systems"][0]["averages"].values())
        self.assertIn("<tr><td>full-rank-3</td>" + row, self.page("result"))

    def test_names_cannot_leave_their_place(self):
        drawn_experiment(self, qid=lambda qid: f"{qid}![i](//x/t.png){EVIL}", docid=lambda docid: f"{docid}{EVIL}",
                         folder="re<b>sult", data="da<i>ta&'")
        page = self.page("re<b>sult", "--title", f"T {EVIL} \x01")
        found = self.expect_own(page)
        self.assertIn(f"T {EVIL} \ufffd", found.words)
        self.assertTrue(any(EVIL in text and text.startswith("Query ") for text in found.words))
        if len(found.scripts) > 1:
            data = json.loads(found.scripts[0])
            self.assertTrue(all(qid.endswith(EVIL) for qid in data["parts"][0]["qids"]))
        for form in ("markdown", "latex"):
            self.expect(0, "report", "re<b>sult", "--format", form, "--out", f"r.{form}")
            self.assertNotIn("<script", (self.folder / f"r.{form}").read_text().replace("\\textless{}", ""))
        text = (self.folder / "r.markdown").read_text()
        self.assertIn("\\!\\[i\\](//x/t.png)", text)
        self.assertNotIn("![i]", text)

    def test_several_experiments_stand_side_by_side(self):
        drawn_experiment(self, "one")
        self.expect(0, "experiment", "--folds", "data", "--out-dir", "two", *QUICK, "--rank-size", "3", "--method", "frequency")
        page = self.page("one", "two", "--baseline", "feature", "--metric", "MAP")
        words = self.expect_own(page).words
        self.assertIn("Results: one, two", words)
        for text in ("full-rank-3", "full-rank-3 (two)", "feature (baseline)", "full-rank-3 (two) against feature"):
            self.assertIn(text, words)
        for name in ("full-rank-3", "full-rank-3 (two)"):  # the page distinguishes the rules of the two
            self.assertTrue(any(text.startswith(f"{name}: the most influential rules on") for text in words))
        shutil.copytree(self.folder / "one", self.folder, dirs_exist_ok=True)
        self.assertIn(f"Results: {self.folder.name}", self.expect_own(self.page(".")).words)
        self.expect(2, "report", "one", "--baseline", "nobody", "--out", "x", message="'nobody', expected one of feature, ")
        self.expect(2, "report", "one", "--metric", "NDCG@3", "--out", "x", message="'NDCG@3', expected one of MAP, ")

    def test_data_that_is_not_there(self):
        drawn_experiment(self)
        shutil.move(self.folder / "data", self.folder / "moved")
        words = " ".join(Elements(self.page("result")).words)
        self.assertIn("The test set of Fold2 of result is missing or has changed since the run", words)
        self.assertNotIn("each ranking", words)
        self.assertIn("each ranking", " ".join(Elements(self.page("result", "--folds", "moved")).words))
        test = self.folder / "moved/Fold2/test.txt"
        test.write_text(test.read_text() + "# another\n")
        self.expect(3, "report", "result", "--folds", "moved", "--out", "x",
                    message="moved/Fold2/test.txt: found a test set that differs from that of")

    def test_learning_curves(self):
        self.expect(0, "sample", "--documents", "600", "--features", "9", "--queries", "30", "--fold-count", "3",
                    "--out-dir", "data")
        self.expect(0, "experiment", "--folds", "data", "--out-dir", "curves", "--systems", "rules,scorecard",
                    "--budgets", "5%,20%,100%", "--ways", "chosen,random", "--random-draws", "2")
        page = self.page("curves")
        words = self.expect_own(page).words
        # Both ways are in one chart of each system, with error bars; charts have the same axes.
        self.expect(0, "report", "curves", "--format", "markdown", "--out", "r.md")
        text = (self.folder / "r.md").read_text()
        lead = text[text.index("## In short"):text.index("## Learning curves")]
        name = re.search(r"!\[curves: NDCG@10 by labels, each system with its best way to choose them; bars[^]]*\]\(<(\S+)>\)", lead)[1]
        picture = (self.folder / name).read_text()
        self.assertEqual(sorted(re.findall(r">(rules|scorecard)</text>", picture)), ["rules", "scorecard"])
        self.assertEqual(picture.count('class="error'), 6)  # 2 systems, 3 shares
        axes = []
        for system in ("rules", "scorecard"):
            name = re.search(rf"!\[{system}: NDCG@10 by labels\]\(<(\S+)>\)", text)[1]
            picture = (self.folder / name).read_text()
            self.assertEqual(picture.count('class="error'), 6)
            self.assertEqual(re.findall(r">(chosen|random)</text>", picture), ["chosen", "random"])
            axes.append(re.findall(r"<text [^>]*>([\d.]+)</text>", picture))
        self.assertEqual(*axes)
        leads = [text for text in words if re.match(r"curves: With \d+ % of the labels, \w+", text)]
        self.assertEqual(len(leads), 3)
        self.assertIn(" is the best of 4 by NDCG@10: ", leads[0])
        self.assertIn("over the baseline, rules", self.page("curves", "--baseline", "rules"))
        shutil.rmtree(self.folder / "curves/curves")
        bare = " ".join(self.expect_own(self.page("curves")).words)
        self.assertIn("There are no intervals, because the folder lacks curves/FOLD.json of some folds.", bare)
        self.assertNotIn("In short", bare)
        self.assertIn("defaults, rules: NDCG@10 by labels", words)
        # A mean by hand.
        rows = [line.split("\t") for line in (self.folder / "curves/curves.tsv").read_text().splitlines()[1:]]
        head, rows = rows[0], rows[1:]
        folds = {}
        for row in rows:
            row = dict(zip(head, row))
            if (row["way"], row["share"], row["settings"], row["system"]) == ("random", "0.2", "defaults", "rules"):
                folds.setdefault(row["fold"], []).append(float(row["NDCG@10"]))
        self.assertEqual([len(draws) for draws in folds.values()], [2, 2, 2])
        mean = sum(sum(draws) / 2 for draws in folds.values()) / 3
        self.assertRegex(page, rf"<td>random</td><td>rules</td><td class=\"n\">20</td>.*{mean:.4f}")

    def test_model_and_benchmarks(self):
        drawn_experiment(self)
        self.expect(0, "fit", "--train", "data/Fold1/train.txt", "--model", "m", "--members", "rules,scorecard,linear")
        lines = [{"engine": "a<b", "input": "web", "seconds": 2.0, "bytes": 1e9, "ops": 4e9, "threads": 2,
                  "peak_bytes_per_s": 1e9, "peak_ops_per_s": 1e10},
                 {"engine": "b", "input": "web", "seconds": 0.5, "bytes": 2e9, "ops": 1e9}, {"commit": "0"}]
        self.file("b.jsonl", "".join(json.dumps(line) + "\n" for line in lines).encode())
        words = self.expect_own(self.page("--model", "m", "--bench", "b.jsonl", "--top", "3")).words
        for text in ("Member 1, kind rules", "The most influential rules", "Member 2, kind scorecard",
                     "Seconds: web", "Roofline: web", "a<b, threads 2", "0.25",
                     "1 line of the file has no engine and seconds, and is not shown."):
            self.assertIn(text, words)

    def test_benchmarks_whose_values_are_far_apart(self):
        choose = random.Random(3)
        values = (5e-324, 1e-300, 1e-9, 1, 1e300, 1.7e308)
        for keys in (("seconds",), ("seconds", "bytes", "ops", "peak_bytes_per_s", "peak_ops_per_s")):
            for _ in range(12):
                lines = [{"engine": name, **{key: choose.choice(values) for key in keys}} for name in "abc"]
                self.file("b.jsonl", "".join(json.dumps(line) + "\n" for line in lines).encode())
                shown = "".join(self.expect_own(self.page("--bench", "b.jsonl")).words)
                self.expect(0, "report", "--bench", "b.jsonl", "--format", "markdown", "--out", "far.md")
                shown += self.read_text("far.md") + "".join(path.read_text() for path in self.folder.glob("far-figures/*"))
                page = re.sub(r"(?s)<(script|style)\b.*?</\1>", "", self.read_text("page.html"))
                self.assertNotRegex(shown + page, r"(?<![a-z])(inf|nan)(?![a-z])", lines)

    def test_texts_with_figures(self):
        drawn_experiment(self)
        said = self.told("report", "result", "--out", "r.html", "--json")
        self.assertEqual((said["out"], said["format"]), ("r.html", "html"))
        self.expect(0, "report", "result", "--format", "markdown", "--out", "r.md")
        text = (self.folder / "r.md").read_text()
        figures = re.findall(r"!\[[^]]*\]\(<(\S+)>\)", text)
        self.assertGreater(len(figures), 4)
        for name in figures:
            picture = (self.folder / name).read_text()
            self.assertTrue(picture.startswith("<svg xmlns=") and picture.endswith("</svg>\n"))
            Elements(picture)
        # All of them or none: the disk has no room for the largest.
        sizes = [len(self.read(name)) for name in figures]
        self.assertGreater(max(sizes), sizes[0])
        full = ["report", "result", "--format", "markdown", "--out", "full.md"]
        self.expect_full_disk(max(sizes) - 1, *full)
        self.assertFalse(list(self.folder.glob("full*")))
        (self.folder / "full-figures").mkdir()
        self.expect_full_disk(max(sizes) - 1, *full)
        self.assertFalse(list(self.folder.glob("full*/*")))
        self.expect(0, "report", "result", "--format", "latex", "--out", "r.tex")
        text = (self.folder / "r.tex").read_text()
        self.assertEqual(text.count("\\includesvg"), len(figures))
        self.assertEqual(text.count("\\begin{longtable}"), text.count("\\end{longtable}"))
        self.expect(2, "report", "result", "--format", "latex", message="format latex needs a file for out, because its figures go to files in the same folder")

    def test_figures_in_pdf(self):
        drawn_experiment(self)
        pdf = ["report", "result", "--format", "latex", "--figures", "pdf", "--out", "r.tex"]
        self.expect(1, *pdf, env={"PATH": str(self.folder)},
                    message="needs the program rsvg-convert, which was not found; install it (Debian: librsvg2-bin)")
        broken = self.file("rsvg-convert", b"#!/bin/sh\necho no PDF\n")
        broken.chmod(0o755)
        self.expect(1, *pdf, env={"PATH": str(self.folder)}, message="figure-1.svg: ")
        self.assertFalse((self.folder / "r.tex").exists())
        self.expect(2, "report", "result", "--figures", "pdf", "--out", "x", message="a page holds its own figures")
        if not shutil.which("rsvg-convert"):
            self.skipTest("needs rsvg-convert (Debian: librsvg2-bin)")
        self.expect(0, *pdf)
        text = (self.folder / "r.tex").read_text()
        self.assertNotIn("includesvg", text)
        names = re.findall(r"\\includegraphics\[[^]]*\]\{(\S+)\}", text)
        self.assertGreater(len(names), 4)
        first = {name: (self.folder / name).read_bytes() for name in names}
        self.assertTrue(all(made.startswith(b"%PDF") for made in first.values()))
        self.expect(0, *pdf)
        self.assertEqual(first, {name: (self.folder / name).read_bytes() for name in names})
        if shutil.which("pdflatex"):
            done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "r.tex"], cwd=self.folder, capture_output=True,
                                  check=False)
            self.assertEqual(done.returncode, 0, done.stdout.decode(errors="replace")[-2000:])

    def test_bad_input(self):
        (self.folder / "empty").mkdir()
        self.expect(3, "report", "empty", "--out", "x", message="empty: found neither results.json nor curves.tsv")
        self.expect(3, "report", "absent", "--out", "x", message="absent: does not exist, expected a folder that experiment or pipeline wrote")
        self.expect(2, "report", "--out", "x", message="expected folders that experiment or pipeline wrote")
        drawn_experiment(self)
        fold = self.folder / "result/folds/Fold2.json"
        good = fold.read_text()
        fold.write_text(good.replace('"Fold2"', '"Fold3"', 1))
        self.expect(3, "report", "result", "--out", "x", message="Fold2.json: these results are damaged")
        fold.write_text(good)
        results = self.folder / "result/results.json"
        results.write_text(results.read_text().replace('"letor"', '"leto"', 1))
        self.expect(3, "report", "result", "--out", "x", message="results.json:1:1: settings.profile.name: profile: found 'leto'")
        results.write_text("{")
        self.expect(3, "report", "result", "--out", "x", message="results.json:1:2")
        (self.folder / "curves").mkdir()
        self.file("curves/curves.tsv", b"a\tb\n")
        self.expect(3, "report", "curves", "--out", "x", message="curves.tsv:1:1: found a different header")
        self.file("b.jsonl", b'{"engine": "a", "seconds": 1}\n[]\n')
        self.expect(3, "report", "--bench", "b.jsonl", "--out", "x", message="b.jsonl:2:1: found no JSON object")
        for bad, found in (('"fast"', "string"), ("-1", "-1"), ("0", "0"), ("[1]", "array"), ("true", "boolean")):
            self.file("b.jsonl", b'{"commit": "0"}\n{"engine": "a", "seconds": null}\n{"engine": "a", "seconds": %s}\n' % bad.encode())
            self.expect(3, "report", "--bench", "b.jsonl", "--out", "x",
                        message=f"b.jsonl:3:1: seconds: found {found}")
        self.assertFalse((self.folder / "x").exists())


if __name__ == "__main__":
    harness.main()

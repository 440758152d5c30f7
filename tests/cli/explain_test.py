"""The verb explain: explanations of a score compared with rules counted here, and refused options."""

import decimal
import fractions
import json
import random
import re
import statistics

import harness
from harness import Row

CHANCE = random.Random(7)


def draw(documents, first):
    """Labels and values of three features of documents, with their lines."""
    rows = []
    for d in range(documents):
        values = [CHANCE.randrange(6) for _ in range(3)]
        rows.append((min(2, max(0, (values[0] + values[1] - 3) // 2)), values))
    text = "".join(f"{label} qid:{d // 8} 1:{v[0]} 2:{v[1]} 3:{v[2]} # docid = {first}{d}\n"
                   for d, (label, v) in enumerate(rows))
    return rows, text.encode()


TRAIN_ROWS, TRAIN = draw(40, "T")
TEST_ROWS, TEST = draw(16, "D")
SEVERAL = json.dumps({"rulerank_settings": 1, "members": [
    {"discretizer": {"method": method, "bins": 4, "missing_values": "item", "unlisted": "zero",
                     "norm": "none"},
     "rule_size": size, "min_support": 1, "min_confidence": 0.001, "support_weight": 0,
     "smoothing": smoothing, "feature_share": share}
    for method, size, smoothing, share in (("tube", 3, 0, 1), ("width", 4, 5, 1),
                                           ("tube", 2, 0, .6))]}).encode()
NAMES = b"1\tBM25 of title\n3 inlink | count\n"
TWICE = b"0 qid:1 1:1 # docid = A\n1 qid:1 1:2 # docid = A\n1 qid:1 1:3 # docid = B\n"


def holds(antecedent, values):
    def inside(item):
        value = values[item["feature"] - 1]
        return ((item["from"] is None or value >= item["from"])
                and (item["below"] is None or value < item["below"]))
    return all(inside(item) for item in antecedent)


class Explain(harness.CommandLine):
    def setUp(self):
        super().setUp()
        self.train = self.file("train.txt", TRAIN)
        self.test = self.file("test.txt", TEST)
        self.names = self.file("names.tsv", NAMES)

    def explain(self, *words, **options):
        source = () if "--model" in words else ("--train", self.train)
        return self.expect(0, "explain", *source, "--test", self.test, "--quiet", *words,
                           **options).stdout.decode()

    def explained(self, *words):
        return json.loads(self.explain(*words, "--format", "json"))

    def ranked(self, *words):
        """Scores of the test documents, as rank writes them."""
        done = self.expect(0, "rank", "--train", self.train, "--test", self.test, "--quiet", *words)
        return [float(line) for line in done.stdout.split()]

    def check_rule(self, rule):
        """Support, confidence and labels by going through the training documents."""
        labels = [label for label, values in TRAIN_ROWS if holds(rule["antecedent"], values)]
        self.assertEqual(rule["documents"], len(labels))
        self.assertEqual(rule["support"], labels.count(rule["label"]))
        self.assertEqual(rule["confidence"], rule["support"] / rule["documents"])
        self.assertEqual(rule["labels"], {str(r): labels.count(r) for r in (2, 1, 0)})

    def check_part(self, item, part, rules, denominator):
        """An item's part of what the rules move, each rule split evenly among its items."""
        range_of = {key: item[key] for key in ("feature", "from", "below")}
        own = [rule for rule in rules if range_of in rule["antecedent"]]
        self.assertEqual(item["rules"], len(own))
        self.assertEqual(part, sum(fractions.Fraction(int(rule["moved"]["numerator"]),
                                                      denominator * len(rule["antecedent"]))
                                   for rule in own))

    def test_ids_do_not_reach_the_terminal_raw(self):
        self.file("train.txt", b"2 qid:1 1:0.5 2:3 #docid = a\x1b[31mb\n0 qid:1 1:0.1 2:1 #docid = c\n")
        shown = self.expect(0, "explain", "--train", "train.txt", "--test", "train.txt", "--qid", "1", "--quiet").stdout
        self.assertNotIn(b"\x1b", shown)
        self.assertIn(b"a\\x1b[31mb", shown)

    def test_points_of_a_card_add_up_as_shown(self):
        self.expect(0, "fit", "--train", self.train, "--model", "page.model", "--members", "card", "--quiet")
        line = ["explain", "--model", "page.model", "--test", self.test, "--qid", 1, "--rank", 1, "--quiet"]
        for top, others in ((50, 0), (1, 1)):
            shown = self.expect(0, *line, "--top", top).stdout.decode()
            score = re.search(r"score (\d+)$", shown, re.M)
            rows = re.findall(r"^ *(\d+) +(\d+)  (\S.*)$", shown, re.M)
            self.assertTrue(score and len(rows) > 2, shown)
            self.assertEqual(shown.count("other feature"), others)
            *parts, whole = rows
            self.assertEqual((whole[0], whole[2]), (score[1], "(score)"))
            for column in (0, 1):
                self.assertEqual(sum(int(row[column]) for row in parts), int(whole[column]))
            self.assertRegex(shown, r"\d+\.\d % of 40 labelled training documents have scores .*mean label is \d")
        self.assertEqual(self.told(*line, "--format", "json")["kind"], "card")
        shown = self.expect(0, *line, "--against-rank", 4, "--top", 1).stdout.decode()
        rows = [list(map(int, row)) for row in re.findall(r"^ *(-?\d+) +(\d+) +(\d+)  \S", shown, re.M)]
        self.assertEqual([sum(column) for column in zip(*rows[:-1])], rows[-1], shown)

    def test_terms_of_points_and_weights_add_up(self):
        for kinds in ("scorecard", "linear", "joint", "scorecard,linear,rules"):
            with self.subTest(kinds=kinds):
                why = self.explained("--members", kinds, "--qid", 1, "--rank", 2)
                members = why.get("members", [why])
                self.assertEqual([m["kind"] for m in members], kinds.split(","))
                self.assertAlmostEqual(sum(m.get("part", m["document"]["score"]) for m in members),
                                       why["document"]["score"], places=12)
                for member in members[:2]:
                    if "terms" not in member["document"]:
                        continue
                    terms = member["document"]["terms"]
                    self.assertEqual([t["feature"] for t in terms], [1, 2, 3])
                    self.assertAlmostEqual(sum(t["adds"] for t in terms),
                                           member["document"]["score"], places=12)
                    for term in terms:
                        if "weight" in term:
                            self.assertAlmostEqual(term["adds"], term["weight"] * term["z"] + term.get("points", 0), places=12)
                            self.assertEqual("points" in term, kinds == "joint")
                both = self.explained("--members", kinds, "--qid", 1, "--against-rank", 3)
                first = both.get("members", [both])[0]
                difference = sum(t["adds"] for t in first["first"]["terms"]) - sum(
                    t["adds"] for t in first["second"]["terms"])
                self.assertAlmostEqual(difference,
                                       first["first"]["score"] - first["second"]["score"], places=12)
                for words in ([], ["--against-rank", 2], ["--format", "markdown"]):
                    shown = self.explain("--members", kinds, "--qid", 1, "--top", 3, "--names", self.names,
                                         *words)
                    self.assertIn("BM25 of title", shown)

    def rows_of(self, shown, head):
        """Rows of numbers, and the words after them, of the table whose header begins with `head`."""
        lines = shown.split("\n")
        at = next(i for i, line in enumerate(lines) if line.split()[:1] == [head])
        rows = []
        for line in lines[at + 1:]:
            if not line:
                break
            rows.append(re.findall(r"(?<!\S)-?\d+(?:\.\d+)?(?= |$)|\([^)]*\)", line))
        return lines[at], rows

    KINDS = ("card", "scorecard", "linear", "joint", "rules", "scorecard,linear,rules", "rules,joint")

    def test_one_line_a_feature_adds_up_as_shown(self):
        for kinds in self.KINDS:
            members = kinds.split(",")
            columns = 1 + (len(members) if len(members) > 1 else 0)
            for top in (0, 1, 50):
                with self.subTest(kinds=kinds, top=top):
                    shown = self.explain("--members", kinds, "--qid", 1, "--rank", 2, "--by-feature", "--top", top)
                    score = decimal.Decimal(re.search(r"score (\S+)$", shown, re.M)[1])
                    head, rows = self.rows_of(shown, "adds")
                    self.assertEqual(head.split()[1:-2], members if len(members) > 1 else [])
                    numbers = [[decimal.Decimal(x) for x in row[:columns]] for row in rows]
                    for row in numbers:
                        if columns > 1:
                            self.assertEqual(sum(row[1:]), row[0], shown)
                    for column in zip(*numbers):
                        self.assertEqual(sum(column[:-1]), column[-1], shown)
                    self.assertEqual(numbers[-1][0], score.quantize(numbers[-1][0], decimal.ROUND_HALF_UP))
            why = self.explained("--members", kinds, "--qid", 1, "--rank", 2, "--by-feature")
            self.assertEqual(why["members"], members)
            adds = [f["adds"] for f in why["features"]]
            self.assertEqual(adds, sorted(adds, key=abs, reverse=True))
            self.assertAlmostEqual(why["base"] + sum(adds), why["document"]["score"], places=12)
            for one in why["features"]:
                if len(members) > 1:
                    self.assertAlmostEqual(sum(one["by_member"]), one["adds"], places=12)
                line = TEST_ROWS[int(why["document"]["docid"][1:])]
                self.assertEqual(one["value"], line[1][one["feature"] - 1])

    def test_terms_of_sums_add_up_as_shown(self):
        for kind in ("card", "scorecard", "linear", "joint"):
            for top in (1, 2, 50):
                with self.subTest(kind=kind, top=top):
                    line = ["--members", kind, "--qid", 1, "--rank", 2, "--top", top]
                    for head, words, columns in (("points" if kind == "card" else "adds", [], 1),
                                                 ("difference", ["--against-rank", 5], 3)):
                        shown = self.explain(*line, *words)
                        _, rows = self.rows_of(shown, head)
                        for column in zip(*([decimal.Decimal(x) for x in row[:columns]] for row in rows)):
                            self.assertEqual(sum(column[:-1]), column[-1], shown)
                        self.assertEqual(rows[-1][-1], "(score)")
                        self.assertEqual(shown.count(" other "), int(top < 3), shown)

    def tables_of(self, shown):
        """The heading, first words of the header and first numbers of the rows of each table."""
        tables = []
        for block in shown.split("\n\n"):
            lines = block.rstrip("\n").split("\n")
            for at, line in enumerate(lines):
                if re.match(" *(adds|moves|difference)  ", line):
                    numbers = [[decimal.Decimal(x) for x in re.match(r"(?: *-?\d+\.\d+(?= |$))+", row)[0].split()]
                               for row in lines[at + 1:]]
                    tables.append((lines[at - 1], line.split(), numbers))
        return tables

    def test_tables_of_members_are_in_the_unit_of_the_score_and_add_up(self):
        for kinds in ("scorecard,linear,rules", "card,joint,rules"):
            for top in (1, 2, 50):
                for other in ((), ("--against-rank", 5)):
                    with self.subTest(kinds=kinds, top=top, other=other):
                        self.check_tables(kinds, top, other)

    def check_tables(self, kinds, top, other):
        shown = self.explain("--members", kinds, "--qid", 1, "--rank", 2, "--top", top, *other)
        combined, *members = re.split(r"\nMember \d, ", shown)
        ((_, head, effects),) = self.tables_of(combined)
        columns = {name: [row[k] for row in effects] for k, name in enumerate(head[:len(effects[0])])}
        for kind, member in zip(kinds.split(","), members):
            part = decimal.Decimal(re.match(r"(?:difference of the parts|part) (\S+): " + kind, member)[1])
            if not other:
                self.assertEqual(part, columns[kind][-1], shown)
            tables = self.tables_of(member)
            sides = decimal.Decimal(0)
            for title, names, rows in tables:
                if "labels" in names:  # a list of rules, which adds up to the number in its title
                    total = decimal.Decimal(re.search(r"by (\S+) in total", title)[1])
                    self.assertEqual(abs(sum(row[0] for row in rows)), total, shown)
                    sides += sum(row[0] for row in rows)
                    continue
                for column in zip(*(row[:3 if other and kind != "rules" else 1] for row in rows)):
                    self.assertEqual(sum(column[:-1]), column[-1], shown)
                self.assertEqual(rows[-1][0], part, shown)
            if kind == "rules":
                moved = re.search(r"the rules move it by (\S+)\.\n|difference of the parts, (\S+)\.\n", member)
                self.assertEqual(sides, decimal.Decimal(moved[1] or moved[2]), shown)

    def test_the_difference_of_two_documents_adds_up_as_shown(self):
        for kinds in self.KINDS:
            for top in (0, 1, 50):
                with self.subTest(kinds=kinds, top=top):
                    shown = self.explain("--members", kinds, "--qid", 1, "--against-rank", 5, "--by-feature",
                                         "--top", top)
                    _, rows = self.rows_of(shown, "difference")
                    numbers = [[decimal.Decimal(x) for x in row[:3]] for row in rows]
                    for row in numbers:
                        self.assertEqual(row[1] - row[2], row[0], shown)
                    for column in zip(*numbers):
                        self.assertEqual(sum(column[:-1]), column[-1], shown)
            both = self.explained("--members", kinds, "--qid", 1, "--against-rank", 5, "--by-feature")
            self.assertAlmostEqual(sum(f["difference"] for f in both["features"]),
                                   both["first"]["score"] - both["second"]["score"], places=12)
            for one in both["features"]:
                self.assertAlmostEqual(one["first"]["adds"] - one["second"]["adds"], one["difference"], places=12)

    def test_all_documents_at_once(self):
        for kinds in self.KINDS:
            scores = self.ranked("--members", kinds)
            with self.subTest(kinds=kinds):
                queries = self.explained("--members", kinds, "--all")
                self.assertEqual([q["qid"] for q in queries], ["0", "1"])
                self.assertEqual(queries[1], self.explained("--members", kinds, "--all", "--qid", 1))
                self.assertEqual(queries, self.explained("--members", kinds, "--all", "--threads", 3))
                for q, query in enumerate(queries):
                    self.assertEqual([d["rank"] for d in query["documents"]], list(range(1, 9)))
                    for document in query["documents"]:
                        self.assertEqual(document["score"], scores[int(document["docid"][1:])])
                        self.assertAlmostEqual(query["base"] + sum(document["adds"]), document["score"], places=12)
                    second = query["documents"][1]
                    one = self.explained("--members", kinds, "--qid", q, "--rank", 2, "--by-feature")
                    of = {(f["feature"], str(f.get("partner", {}).get("feature"))): f["adds"] for f in one["features"]}
                    self.assertEqual(of, {(f["feature"], str(f.get("partner", {}).get("feature"))): adds for f, adds
                                          in zip(query["features"], second["adds"])})
                for top in (0, 2, 50):
                    shown = self.explain("--members", kinds, "--all", "--qid", 1, "--top", top)
                    head, rows = self.rows_of(shown, "rank")
                    self.assertEqual(len(rows), 8)
                    self.assertEqual("(base)" in head, query["base"] != 0)
                    for row in rows:
                        rank, label, score, *parts = row
                        self.assertEqual(sum(map(decimal.Decimal, parts)), decimal.Decimal(score), shown)
                text = self.explain("--members", kinds, "--all")
                self.assertEqual(text.count("\nquery "), 1)
                self.assertTrue(text.startswith("query 0: 8 documents\n"))
        self.assertIn("## query 1: 8 documents", self.explain("--all", "--format", "markdown"))

    def test_members_that_fit_chooses(self):
        """Points and weights of one model, or rules and points, add up to what rank writes."""
        model = self.folder / "model"
        # With this number of features, the systems of two kinds would be too large; features beyond 3 have no information.
        listed = b"".join(b" %d:1" % f for f in range(4, 1600))
        wide = b"".join(b" ".join(line.split()[:5]) + listed + b"\n" for line in TRAIN.splitlines())
        for name, text, row, kinds in (
                ("many", draw(320, "M")[1], "several-labels", ["scorecard", "linear"]),
                ("wide", wide, "many-features", ["rules", "scorecard"])):
            self.expect(0, "fit", "--train", self.file(name, text), "--model", model, "--members", "recommended",
                        message=f"recommended ({row}): {kinds[0]}")
            scores = [float(line) for line in self.expect(
                0, "rank", "--model", model, "--test", self.test, "--quiet").stdout.split()]
            line = ["explain", "--model", model, "--test", self.test, "--qid", 1]
            for option, value in (("--rule-size", 5), ("--smoothing", 5)):
                self.expect(2, *line, option, value, message=f"{option} 5: the model {model} was "
                            "fitted with" if "rules" in kinds else
                            f"{option}: the model {model} has no member of the kind rules")
            self.expect(0 if "rules" in kinds else 2, *line, "--engine", "lrar")
            for d in range(0, 16, 5):
                words = ["--qid", d // 8, "--docid", f"D{d}", "--model", model]
                why = self.explained(*words, "--top", 100000)
                self.assertEqual(why["document"]["score"], scores[d])
                self.assertEqual(len(why["members"]), 2)
                self.assertAlmostEqual(sum(m["part"] for m in why["members"]), scores[d],
                                       delta=1e-12)
                shown = self.explain(*words, "--top", 2)
                for k, (kind, one) in enumerate(zip(kinds, why["members"]), 1):
                    self.assertIn(f"\nMember {k}, part ", shown)
                    self.assertIn({"rules": " rules of ", "linear": "weight times z-score",
                                   "scorecard": "sum of the points of its items"}[kind], shown)
                    if kind == "rules":
                        told = [r for way in ("up", "down", "level") for r in one[way]["most"]]
                        self.assertEqual(sum(int(r["share"]["numerator"]) for r in told),
                                         int(one["document"]["numerator"]))
                    else:
                        adds = [t["adds"] for t in one["document"]["terms"]]
                        self.assertAlmostEqual(sum(adds), one["document"]["score"], delta=1e-12)

    def test_every_rule_adds_up_to_the_score(self):
        for options in ([], ["--rule-size", 4, "--min-support", 2], ["--smoothing", 5],
                        ["--method", "frequency", "--bins", 3, "--support-weight", -0.25]):
            scores = self.ranked(*options)
            for d in (0, 3, 11):
                with self.subTest(options=options, d=d):
                    why = self.explained("--qid", d // 8, "--docid", f"D{d}", "--top", 100000,
                                         *options)
                    told = why["document"]
                    self.assertEqual(told["docid"], f"D{d}")
                    self.assertEqual(told["line"], d + 1)
                    self.assertEqual(told["label"], TEST_ROWS[d][0])
                    self.assertEqual(told["values"],
                                     {str(f + 1): v for f, v in enumerate(TEST_ROWS[d][1])})
                    self.assertEqual(told["score"], scores[d])
                    query = sorted(range(d // 8 * 8, d // 8 * 8 + 8), key=lambda i: -scores[i])
                    self.assertEqual(told["rank"], query.index(d) + 1)
                    rules = [r for way in ("up", "down", "level") for r in why[way]["most"]]
                    numerator, denominator = int(told["numerator"]), int(told["denominator"])
                    self.assertEqual(sum(int(r["share"]["numerator"]) for r in rules), numerator)
                    self.assertEqual(sum(int(r["weight"]["numerator"]) for r in rules), denominator)
                    self.assertEqual(float(numerator) / float(denominator), scores[d])
                    mean = fractions.Fraction(sum(label for label, _ in TRAIN_ROWS), 40)
                    moved = sum(fractions.Fraction(int(r["moved"]["numerator"]),
                                                   int(why["moved_denominator"])) for r in rules)
                    self.assertEqual(moved, fractions.Fraction(numerator, denominator) - mean)
                    split = [fractions.Fraction(int(i["moved"]["numerator"]),
                                                int(why["split"]["moved_denominator"]))
                             for i in why["split"]["items"]]
                    self.assertEqual(sum(split), moved)
                    self.assertEqual(len(split), 3)
                    self.assertTrue(holds(why["split"]["items"], TEST_ROWS[d][1]))
                    for item, part in zip(why["split"]["items"], split):
                        self.check_part(item, part, rules, int(why["moved_denominator"]))
                    self.assertEqual(len(rules), told["rules"])
                    self.assertEqual(len({r["rule"] for r in rules}), len(rules))
                    for rule in rules:
                        self.check_rule(rule)
                        self.assertTrue(holds(rule["antecedent"], TEST_ROWS[d][1]))

    def test_two_documents(self):
        scores = self.ranked()
        why = self.explained("--qid", 1, "--docid", "D9", "--against", "D14", "--top", 100000)
        rules = why["for_first"]["most"] + why["for_second"]["most"]
        moved = sum(int(r["moved"]["numerator"]) for r in rules)
        difference = [fractions.Fraction(int(why[name]["numerator"]), int(why[name]["denominator"]))
                      for name in ("first", "second")]
        self.assertEqual(fractions.Fraction(moved, int(why["moved_denominator"])),
                         difference[0] - difference[1])
        self.assertEqual([why["first"]["score"], why["second"]["score"]], [scores[9], scores[14]])
        self.assertEqual(sum(int(i["moved"]["numerator"]) for i in why["split"]["items"])
                         * int(why["moved_denominator"]),
                         moved * int(why["split"]["moved_denominator"]))
        for rule in rules:
            self.check_rule(rule)
            self.assertEqual(rule["of_first"], holds(rule["antecedent"], TEST_ROWS[9][1]))
            self.assertEqual(rule["of_second"], holds(rule["antecedent"], TEST_ROWS[14][1]))
        other = self.explained("--qid", 1, "--docid", "D14", "--against", "D9", "--top", 100000)
        self.assertEqual([r["rule"] for r in other["for_second"]["most"]],
                         [r["rule"] for r in why["for_first"]["most"]])

    def test_ways_in_give_the_same_bytes(self):
        model = self.folder / "model"
        self.expect(0, "fit", "--train", self.train, "--model", model, "--members", "rules",
                    "--quiet")
        whole = self.explain("--qid", 1)
        for words in (["--model", model], ["--rank", 1], ["--engine", "lrar"], ["--threads", 3]):
            self.assertEqual(whole, self.explain("--qid", 1, *words))
        best = self.explained("--qid", 1)["document"]
        self.assertEqual(best["rank"], 1)
        self.assertEqual(whole, self.explain("--qid", 1, "--docid", best["docid"]))
        self.assertEqual(whole, self.explain("--qid", 1, "--docid", f"1-{best['line']}"))
        self.assertEqual(self.explain("--qid", 1, "--json"),
                         self.explain("--qid", 1, "--format", "json"))
        out = self.folder / "out"
        self.explain("--qid", 1, "--out", out)
        self.assertEqual(whole, out.read_text())

    def test_forms(self):
        words = ["--qid", 1, "--rank", 2, "--top", 3, "--names", self.names]
        why = self.explained(*words)
        text, markdown = self.explain(*words), self.explain(*words, "--format", "markdown")
        self.assertEqual(len(why["up"]["most"]), 3)
        for rule in why["up"]["most"] + why["down"]["most"]:
            self.assertIn(rule["rule"], text)
            self.assertIn(rule["share"]["numerator"], text)
            self.assertIn(rule["share"]["numerator"], markdown)
        self.assertIn("BM25 of title", text)
        self.assertIn("inlink | count", text)
        self.assertIn("inlink \\| count", markdown)
        self.assertIn("feature 2", text)
        self.assertIn(str(why["document"]["score"]), text)
        self.assertIn("\n| --: |", markdown)
        self.assertEqual({item.get("name") for rule in why["up"]["most"]
                          for item in rule["antecedent"]} - {"BM25 of title", "inlink | count"},
                         {None} if any(item["feature"] == 2 for rule in why["up"]["most"]
                                       for item in rule["antecedent"]) else set())
        both = self.explain(*words, "--against-rank", 5)
        for shown in (text, markdown, both):
            self.assertIn("split evenly among its items", shown)
        self.assertIn("favour the first", both)
        self.assertIn("favour the second", both)

    def test_a_direction_without_rules_is_left_out(self):
        for rank in range(2, 6):
            self.assertNotRegex(self.explain("--qid", 1, "--rank", 1, "--against-rank", rank), r"\b0 rules favour")

    def test_bytes_that_are_no_utf_8(self):
        names = self.file("latin-1", b"1 L\xe4nge\n2 b\n3 c\n")
        why = self.explained("--qid", 1, "--names", names)
        self.assertIn("L\ufffdnge", {item["name"] for item in why["split"]["items"]})

    def test_commands_to_a_terminal_in_names(self):
        names = self.file("names", b"1 a\033[2Jb\n2 b\n3 c\n")
        text = self.explain("--qid", 1, "--names", names)
        self.assertIn("a\\x1b[2Jb", text)
        self.assertNotIn("\033", text)

    def test_a_document_without_rules(self):
        self.test = self.file("test.txt", b"1 qid:7 9:4 # docid = X\n")
        why = self.explained("--qid", 7, "--unlisted", "missing")
        self.assertEqual(why["document"]["rules"], 0)
        self.assertEqual(why["document"]["score"], why["mean_label"])
        self.assertEqual(why["up"]["most"], [])
        self.assertIn("No rule holds for the document", self.explain("--qid", 7, "--unlisted", "missing"))

    def test_members(self):
        """The parts of the members make the score; each has its own rules."""
        settings = self.file("several.json", SEVERAL)
        model = self.folder / "model"
        self.expect(0, "fit", "--train", self.train, "--model", model, "--settings", settings,
                    "--quiet")
        scores = self.ranked("--settings", settings)
        alone = []
        for number, one in enumerate(json.loads(SEVERAL)["members"]):
            path = self.file(f"{number}.json",
                             json.dumps({"rulerank_settings": 1, **one}).encode())
            alone.append((path, self.ranked("--settings", path)))
        for d in (0, 3, 11):
            why = self.explained("--qid", d // 8, "--docid", f"D{d}", "--settings", settings)
            self.assertEqual(why, self.explained("--qid", d // 8, "--docid", f"D{d}", "--model",
                                                 model))
            query = range(d // 8 * 8, d // 8 * 8 + 8)
            self.assertEqual(why["document"]["score"], scores[d])
            self.assertEqual(why["document"]["rank"],
                             sorted(query, key=lambda i: -scores[i]).index(d) + 1)
            self.assertEqual([member["kind"] for member in why["members"]], ["rules"] * 3)
            self.assertAlmostEqual(sum(m["part"] for m in why["members"]), scores[d], delta=1e-12)
            for member, (path, own) in zip(why["members"], alone):
                values = [own[i] for i in query]
                self.assertAlmostEqual(member["mean"], statistics.fmean(values), delta=1e-12)
                self.assertAlmostEqual(member["deviation"], statistics.pstdev(values), delta=1e-12)
                self.assertAlmostEqual(member["part"],
                                       (own[d] - member["mean"]) / member["deviation"] / 3,
                                       delta=1e-12)
                told = self.explained("--qid", d // 8, "--docid", f"D{d}", "--settings", path)
                self.assertEqual({key: member[key] for key in told}, told)
        words = ["--qid", 1, "--docid", "D9", "--settings", settings]
        text, markdown = self.explain(*words), self.explain(*words, "--format", "markdown")
        parts = re.findall(r"^ +(\d) +(-?\d+\.\d+) .*$", text, re.M)[:3]
        _, effects = self.rows_of(text, "adds")
        self.assertEqual([row[1] for row in parts], effects[-1][1:4])  # one unit, the same digits
        rows = [[float(cell) for cell in row.split()] for row in re.findall(r"^ +[123]((?: +-?\d+\.?\d*){6})$", text, re.M)]
        self.assertEqual(len(rows), 3)
        for part, own, _, mean, _, unit in rows:
            self.assertAlmostEqual(part, unit * (own - mean), delta=1e-5)
        for k in (1, 2, 3):
            self.assertIn(f"\nMember {k}, part {decimal.Decimal(parts[k - 1][1]):+}", text)
            self.assertIn(f"\n## Member {k}, part ", markdown)
        both = self.explained(*words, "--against", "D14")
        parts = sum(m["first_part"] - m["second_part"] for m in both["members"])
        self.assertAlmostEqual(parts, scores[9] - scores[14], delta=1e-12)
        self.assertIn("Member 2, difference of the parts ", self.explain(*words, "--against", "D14"))

    def test_wrong_usage(self):
        line = "explain --train {train} --test {in} --out {out} "
        files = {"train": TRAIN}
        def row(name, words, message, data=TEST):
            return Row(name, data, line + words, 2, message, files=files)
        self.check_rows([
            row("no query", "", "--qid is required"),
            row("another query", "--qid 77", "--qid: found '77', expected a query of {in}"),
            row("no such rank", "--qid 1 --rank 9",
                "--rank: found 9, expected 1 to 8, the documents of query 1"),
            row("rank 0", "--qid 1 --rank 0", "--rank: found 0, expected 1 to 8"),
            row("no such document", "--qid 1 --docid D0",
                "--docid: found 'D0', expected a document of query 1"),
            row("two documents", "--qid 1 --docid A",
                "--docid: found two documents 'A', expected 1-1 or 1-2", TWICE),
            row("against two", "--qid 1 --docid B --against A",
                "--against: found two documents 'A', expected 1-1 or 1-2", TWICE),
            row("against itself", "--qid 1 --rank 2 --against-rank 2",
                "itself, expected a different document"),
            row("all and one", "--all --docid D9", "--all excludes --docid"),
            row("all and two", "--all --against-rank 2", "--all excludes --against-rank"),
            row("all of another query", "--all --qid 77", "--qid: found '77', expected a query of {in}"),
            row("by docid and rank", "--qid 1 --docid D9 --rank 1", "--docid excludes --rank"),
            row("format", "--qid 1 --format html", "--format: found 'html', expected text, markdown or json"),
            row("engine", "--qid 1 --engine fast", "found engine 'fast', expected one of auto, project"),
            Row("neither train nor model", TEST, "explain --test {in} --qid 1 --out {out}", 2,
                "expected --train or --model"),
        ])

    def test_bad_input(self):
        line = "explain --train {train} --test {in} --names {names} --qid 1 --out {out}"
        def row(name, message, names=NAMES, train=TRAIN, test=TEST):
            return Row(name, test, line, 3, message, files={"train": train, "names": names})
        self.check_rows([
            row("no names", "{names}:1:1: found no features", names=b""),
            row("a word", "{names}:2:1: found \"title\", expected a feature's number",
                names=b"1 BM25\ntitle BM25\n"),
            row("named twice", "{names}:2:1: found feature 1 twice", names=b"1 a\n1 b\n"),
            row("no label", "{train}:1:1: ", train=b"x qid:1 1:1\n"),
            row("a value", "{in}:1:11: value", test=b"0 qid:1 1:x\n"),
        ])


if __name__ == "__main__":
    harness.main()

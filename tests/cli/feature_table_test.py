"""Units and origins of features: fit --feature-table, and the verbs that show them."""

import json

import harness
from harness import Row

TABLE = b"feature\tunit\torigin\nprice\tEUR\tcatalog.price\nage\tdays\t\nclicks\t\tclick log\n"
UNIT = {"price": " EUR", "age": " days", "clicks": ""}


def training():
    """60 documents with three features; the price matters most."""
    lines = ["label,qid,price,age,clicks,other"]
    lines += [f"{int(d * 7 % 20 > 9)},q{d // 10},{d * 7 % 20 + .5},{d * 3 % 11},{d * 5 % 13},{d % 2}" for d in range(60)]
    return "\n".join(lines).encode() + b"\n"


class FeatureTable(harness.CommandLine):
    def setUp(self):
        super().setUp()
        self.file("train.csv", training())
        self.file("features.tsv", TABLE)

    def fit(self, *more):
        self.expect(0, "fit", "train.csv", "--model", "m", "--quiet", "--feature-table", "features.tsv", *more)

    def run_verb(self, *line):
        return self.expect(0, *line, "--quiet").stdout.decode()

    def test_inspect_shows_units_and_origins(self):
        self.fit("--members", "card", "--smoothness", "0.1", "--target", "labels")
        text = self.run_verb("inspect", "m")
        self.assertRegex(text, r"1\. price \(EUR\) .* points, moves scores by [\d.]+; origin: catalog\.price\n")
        self.assertNotIn("Units and origins", text)
        for form in ("markdown", "latex", "html"):
            page = self.run_verb("inspect", "m", "--format", form)
            self.assertIn("price (EUR)", page, form)
            self.assertIn("origin: catalog.price", page, form)
        self.assertEqual(json.loads(self.run_verb("inspect", "m", "--json"))["features"], [
            {"feature": 1, "name": "age", "unit": "days"}, {"feature": 2, "name": "clicks", "origin": "click log"},
            {"feature": 4, "name": "price", "unit": "EUR", "origin": "catalog.price"}])

    def test_a_page_says_whether_the_card_is_portable(self):
        for norm, words in ("none", "Portable: scores depend on"), ("query-minmax", "Not portable: scores depend on"):
            self.fit("--members", "card", "--smoothness", "0.1", "--target", "labels", "--norm", norm)
            for form in ("html", "latex"):
                self.assertIn(words, self.run_verb("inspect", "m", "--format", form))

    def test_models_of_all_kinds_keep_the_table(self):
        for members in ("rules", "scorecard", "linear", "joint", "scorecard,linear"):
            self.fit("--members", members)
            text = self.run_verb("inspect", "m")
            rows = text[text.index("Units and origins of features:\n"):].splitlines()[2:5]
            self.assertEqual([row.split() for row in rows], [["age", "days"], ["clicks", "click", "log"], ["price", "EUR", "catalog.price"]])
            if members in ("scorecard", "joint"):
                self.assertRegex(text, r"price in \[[\d.]+, [\d.]+\) EUR\n")

    def test_explain_shows_units(self):
        for members in ("card", "scorecard", "scorecard,linear"):
            self.fit("--members", members, *(("--smoothness", "0.1", "--target", "labels") if members == "card" else ()))
            line = ["explain", "--model", "m", "--test", "train.csv", "--qid", "q1"]
            text = self.run_verb(*line, "--by-feature")
            entries = json.loads(self.run_verb(*line, "--by-feature", "--json"))["features"]
            for entry in entries:
                name = entry["name"]
                self.assertRegex(text, rf" {entry['value']:g}{UNIT.get(name, '')}  +{name}\n")
                self.assertEqual(entry.get("unit", ""), UNIT.get(name, "").strip())
            self.assertIn("price", [entry["name"] for entry in entries])
            self.assertRegex(self.run_verb(*line, "--against-rank", 2, "--by-feature"), r"[\d.]+ EUR +[\d.]+ EUR +price\n")
            if members != "scorecard,linear":
                self.assertRegex(self.run_verb(*line), r"price (in \[[\d.]+, [\d.]+\)|(<|>=) [\d.]+) EUR\n")

    def test_scores_and_files_without_a_table_do_not_change(self):
        self.fit()
        scores = self.run_verb("rank", "--model", "m", "--test", "train.csv")
        self.expect(0, "fit", "train.csv", "--model", "plain", "--quiet")
        self.assertEqual(self.run_verb("rank", "--model", "plain", "--test", "train.csv"), scores)
        self.assertNotIn(b'"features":[{"feature":1,"unit"', (self.folder / "plain").read_bytes())
        self.assertIn(b'"features":[{"feature":1,"unit":"days","origin":""},', (self.folder / "m").read_bytes())

    def test_features_writes_a_table_that_fit_reads(self):
        self.file("docs.tsv", b"A\tred green\nB\tred red\nC\tgreen blue blue\n")
        self.file("topics.tsv", b"1\tred blue\n2\tgreen\n")
        self.file("own.csv", b"docid,stock level\nA,3\nB,0\nC,2\n")
        self.file("qrels", b"1 0 A 1\n1 0 B 0\n2 0 A 0\n2 0 C 1\n")
        line = ["features", "docs.tsv", "topics.tsv", "--qrels", "qrels", "--unjudged", 0, "--join", "own.csv", "--quiet"]
        for out, joined in ("pool.txt", "stock_level"), ("pool.csv", "stock level"):
            self.expect(0, *line, "--out", out, "--feature-table-out", "made.tsv")
            head, *rows = self.read_text("made.tsv").splitlines()
            table = {name: (unit, origin) for name, unit, origin in (row.split("\t") for row in rows)}
            self.assertEqual(head, "feature\tunit\torigin")
            self.assertEqual(table[joined], ("", "own.csv"))
            self.assertEqual(table["BM25_of_document"], ("", "rulerank features"))
            self.assertEqual({name for name, (unit, _) in table.items() if unit == "terms"},
                             {"sum_of_tf_of_document", "covered_query_terms_of_document", "length_of_document",
                              "query_length", "distinct_query_terms"})
            self.expect(0, "fit", out, "--model", "m", "--members", "linear", "--quiet", "--feature-table", "made.tsv")
            origins = {f["name"]: f.get("origin") for f in json.loads(self.run_verb("inspect", "m", "--json"))["features"]}
            self.assertEqual(origins, {name: origin for name, (_, origin) in table.items()})
        self.file("numbered.txt", b"1 qid:1 1:2 46:3 # docid = A\n0 qid:1 2:1 # docid = B\n")
        self.expect(0, "features", "--pool", "numbered.txt", "--join", "own.csv", "--out", "wide.txt", "--feature-table-out", "made.tsv", "--quiet")
        self.assertEqual(self.read_text("made.tsv"), "feature\tunit\torigin\n47\t\town.csv\n")

    def test_bad_tables(self):
        line = "fit train.csv --model {out} --feature-table {in}"
        self.check_rows([
            Row("commas", b"feature,unit,origin\n", line, 3, "{in}:1:20: found fewer than 3 cells"),
            Row("other titles", b"name\tunit\torigin\n", line, 3, '{in}:1:1: found "name\\x09unit\\x09origin", expected the titles'),
            Row("unknown name", TABLE + b"prise\tEUR\tx\n", line, 3, '{in}:5:1: found "prise", expected a feature\'s name'),
            Row("twice", TABLE + b"price\tEUR\tx\n", line, 3, '{in}:5:1: found "price" twice'),
            Row("four cells", TABLE + b"other\tEUR\tx\ty\n", line, 3, "{in}:5:12: found more than 3 cells"),
            Row("in place", TABLE, "fit train.csv --model {in} --feature-table {in}", 2, "--model"),
        ])


if __name__ == "__main__":
    harness.main()

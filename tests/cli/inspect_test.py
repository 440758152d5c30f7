"""The verb inspect: descriptions of a model compared with those of explain, and refused options."""

import hashlib
import json
import pathlib
import random
import re

import harness
from harness import Row

CHANCE = random.Random(5)


def draw(documents, first):
    """Feature 1 depends on the label, feature 2 does not, and few documents list feature 3."""
    text = ""
    for d in range(documents):
        label = CHANCE.randrange(3)
        text += f"{label} qid:{d // 8} 1:{2 * label + CHANCE.randrange(3)} 2:{CHANCE.randrange(9)}"
        text += f" 3:{CHANCE.randrange(3)}" if d % 5 == 0 else ""
        text += f" # docid = {first}{d}\n"
    return text.encode()


TRAIN, TEST = draw(80, "T"), draw(64, "D")


class Inspect(harness.CommandLine):
    def setUp(self):
        super().setUp()
        self.train = self.file("train.txt", TRAIN)
        self.test = self.file("test.txt", TEST)
        self.expect(0, "fit", "--train", self.train, "--model", "m.model", "--members", "rules",
                    "--quiet")

    def inspect(self, *words, **options):
        return self.expect(0, "inspect", "--model", "m.model", "--quiet", *words, **options).stdout

    def inspected(self, *words):
        return json.loads(self.inspect("--format", "json", *words))

    def test_features_move_what_explain_says(self):
        found = self.inspected("--documents", "0")["members"][0]
        moved = {1: 0.0, 2: 0.0, 3: 0.0}
        for d in range(80):
            line = ["--model", "m.model", "--test", self.train, "--qid", d // 8, "--docid", f"T{d}", "--top", "0"]
            why = self.told("explain", *line, "--quiet", "--format", "json")
            for item in why["split"]["items"]:
                moved[item["feature"]] += abs(item["moved"]["value"]) / 80
        for part in found["features"]:
            self.assertAlmostEqual(part["moved"], moved[part["feature"]], places=12)
        self.assertEqual(found["features"][0]["feature"], 1)
        self.assertEqual(found["training_documents"], 80)
        self.assertEqual(sum(found["labels"].values()), 80)

    def test_rules_and_dependence(self):
        found = self.inspected("--documents", "0")["members"][0]
        strongest = found["strongest"]
        self.assertEqual(len(strongest), min(50, found["rules"]))
        sizes = [abs(rule["moved"]) for rule in strongest]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        for rule in strongest:
            share = rule["support"] / rule["documents"]
            self.assertAlmostEqual(rule["confidence"], share)
            self.assertAlmostEqual(rule["lift"], share * 80 / rule["with_label"])
            self.assertLessEqual(rule["p"], rule["p_holm"])
        self.assertTrue(any(rule["p_holm"] < 1e-3 for rule in strongest))
        scores = [item["score"] for item in found["dependence"][0]["items"]]
        self.assertGreater(scores[-1], scores[0] + 0.2)  # the feature that depends on the label
        self.assertEqual(found["dependence"][0]["items"][0]["from"], None)

    def test_permutation(self):
        found = self.inspected("--test", self.test, "--metrics", "NDCG@5,MAP")["permutation"]
        losses = {one["feature"]: one["loss"]["NDCG@5"] for one in found["features"]}
        self.assertGreater(losses[1], 0.15)
        self.assertLess(abs(losses[2]), 0.1)
        self.expect(0, "rank", "--model", "m.model", "--test", self.test, "--out", "s.txt", "--quiet")
        values = self.told("evaluate", "--test", self.test, "--scores", "s.txt", "--metrics", "NDCG@5,MAP", "--format", "json")
        self.assertIn(repr(found["whole"]["MAP"]), json.dumps(values))

    def test_text_and_markdown(self):
        text = self.inspect("--top", "2", "--test", self.test).decode()
        for part in ("80 training documents", "feature 1", "p (Holm)", "###", "Permutation"):
            self.assertIn(part, text)
        self.assertIn("## Kind rules", self.inspect("--top", "2", "--format", "markdown").decode())
        names = self.file("names.tsv", b"1\tBM25 of title\n")
        self.assertIn("BM25 of title", self.inspect("--names", names).decode())
        self.assertNotIn("moves", self.inspect("--top", "0").decode())

    def test_cards_and_weights(self):
        self.expect(0, "fit", "--train", self.train, "--model", "k.model", "--members",
                    "rules,scorecard,linear", "--quiet")
        line = ["inspect", "--model", "k.model", "--quiet", "--test", self.test]
        found = self.told(*line, "--format", "json")
        rules, card, linear = found["members"]
        self.assertEqual([one["kind"] for one in found["members"]], ["rules", "scorecard", "linear"])
        points = [item["points"] for item in card["items"] if item["feature"] == 1]
        self.assertGreater(points[-1], points[0])
        weights = {one["feature"]: one["weight"] for one in linear["features"]}
        self.assertEqual(max(weights, key=weights.get), 1)
        self.assertGreater(found["permutation"]["features"][0]["loss"]["MAP"], 0.05)
        text = self.expect(0, *line, "--top", "2").stdout.decode()
        for part in ("Member 1, kind rules", "Member 2, kind scorecard", "Member 3, kind linear",
                     "sum of its items' points", "Weights of z-scores"):
            self.assertIn(part, text)

    def test_a_card_is_one_page(self):
        self.expect(0, "fit", "--train", self.train, "--model", "k.model", "--members", "card", "--target", "labels",
                    "--quiet")
        text = self.expect(0, "inspect", "k.model", "--quiet").stdout.decode()
        self.assertEqual(text, self.expect(0, "inspect", "--model", "k.model", "--quiet").stdout.decode())
        self.assertLessEqual(max(map(len, text.splitlines()[1:])), 100)
        card, = self.told("inspect", "k.model", "--format", "json", "--quiet")["members"]
        self.assertEqual(card["kind"], "card")
        for place, one in enumerate(card["features"], 1):
            of = [item for item in card["items"] if item["feature"] == one["feature"] and (
                "missing" not in item or item["points"] or item["documents"])]
            block = re.search(rf"^{place}\. feature {one['feature']}  (\S+)  .*\nfrom (.*)\npoints (.*)\n% docs (.*)$", text, re.M)
            self.assertTrue(block, text)
            self.assertEqual(len(block[1]), len(of))
            self.assertEqual([float(points) for points in block[3].split()], [item["points"] for item in of])
            self.assertEqual(block[2].split(), ["missing" if "missing" in item else "lowest" if item["from"] is None else
                                                f"{item['from']:g}" for item in of])
        forms = {form: self.expect(0, "inspect", "k.model", "--format", form, "--quiet").stdout for form in ("html", "latex", "pdf")}
        self.assertTrue(forms["html"].startswith(b"<!DOCTYPE html>") and b"http" not in forms["html"].replace(b"http-equiv", b""))
        self.assertIn(b"\\toprule", forms["latex"])
        self.assertTrue(forms["pdf"].startswith(b"%PDF-1.4\n") and forms["pdf"].endswith(b"%%EOF\n"))
        self.assertEqual(forms["pdf"].count(b"/Type /Page "), 1)
        line = ["inspect", "k.model", "--bootstrap", 20, "--train", self.train, "--quiet"]
        sure, = self.told(*line, "--format", "json")["members"]
        self.assertEqual([item["points"] for item in sure["items"]], [item["points"] for item in card["items"]])
        self.assertTrue(all(low <= high for low, high in (item["points_interval"] for item in sure["items"])))
        self.assertRegex(self.expect(0, *line).stdout.decode(), r"\npoints .*\n90 %  .*\n% docs ")
        self.expect(2, "inspect", "k.model", "--bootstrap", 20, message="needs --bootstrap N")
        self.expect(2, *line, "--format", "card", message="--bootstrap cannot be combined with --format card, which has no intervals")
        self.expect(2, "inspect", "k.model", "--bootstrap", 20, "--train", self.test, message="64 labelled documents, expected the 80 that")
        self.expect(2, "inspect", "m.model", "--bootstrap", 20, "--train", self.train, message="--bootstrap: m.model is not a card")
        self.expect(2, "inspect", "m.model", "--format", "pdf", message="--format: m.model is not a card, expected a card")
        self.expect(2, "inspect", "k.model", "--format", "html", "--test", self.test, message="--format html cannot be combined with --test")
        self.expect(2, "inspect", "k.model", "--model", "k.model", message="--model: given 2 times")

    def test_intervals_of_a_card_with_few_labels(self):
        self.expect(0, "sample", "--documents", 600, "--features", 6, "--queries", 40, "--fold-count", 1, "--out-dir", "drawn", "--quiet")
        pool = "drawn/Fold1/train.txt"
        self.expect(0, "reduce", pool, "--out", "chosen.txt", "--max-documents", 60, "--quiet")
        self.expect(0, "fit", "chosen.txt", "--pool", pool, "--model", "k.model", "--members", "card", "--smoothness", .1, "--quiet")
        line = ["inspect", "k.model", "--bootstrap", 5, "--train", "chosen.txt", "--quiet", "--format", "json"]
        sure, = self.told(*line, "--pool", pool)["members"]
        self.assertEqual(sure["options"]["page"]["target"], "members")
        intervals = [item["points_interval"] for item in sure["items"]]
        self.assertTrue(all(0 <= low <= high <= 100 for low, high in intervals))
        self.assertGreater(sum(low < high for low, high in intervals), len(intervals) / 2)
        again, = self.told(*line, "--pool", pool, "--threads", 3)["members"]
        self.assertEqual(sure, again)
        self.expect(2, *line, message="chosen.txt: found 60 documents, expected the 360 of the pool that")
        self.expect(2, "inspect", "k.model", "--pool", pool, message="k.model gives the same scores to a part of a list, expected --bootstrap or a model that")

    def test_intervals_of_a_card_that_was_fitted_without_unjudged_documents(self):
        lines = pathlib.Path(self.train).read_text().splitlines(keepends=True)
        self.file("some.txt", "".join(f"-1 {line.split(' ', 1)[1]}" if n % 4 == 0 else line for n, line in enumerate(lines)).encode())
        self.file("judged.txt", "".join(line for n, line in enumerate(lines) if n % 4).encode())
        for name, *more in (("some", "--drop-unjudged"), ("judged",)):
            self.expect(0, "fit", f"{name}.txt", *more, "--model", f"{name}.model", "--members", "card", "--target", "labels", "--quiet")
        line = ["inspect", "judged.model", "--bootstrap", 5, "--quiet", "--format", "json", "--train"]
        self.assertEqual(self.told("inspect", "some.model", *line[2:], "some.txt", "--drop-unjudged")["members"], self.told(*line, "judged.txt")["members"])
        self.expect(3, *line, "some.txt", message='some.txt:1:1: label "-1" is negative')
        self.expect(3, *line, "some.txt", "--unlabelled", "-1",
                    message="some.txt:1:1: found a document without a label, expected labels to learn from; --drop-unjudged leaves out")
        self.expect(2, "inspect", "judged.model", "--drop-unjudged", message="--drop-unjudged needs --bootstrap")

    def test_features_that_the_file_normalized_within_queries(self):
        # Feature 1 ranges from 0 to 1 within each query, as in LETOR; feature 2 does not.
        chance = random.Random(7)
        lines = [f"{d % 3 == 0:d} qid:{d // 5} 1:{(0, .25, .5, .75, 1)[d % 5]} 2:{chance.randrange(50)}\n" for d in range(200)]
        train = self.file("letor.txt", "".join(lines).encode())
        fit = ["fit", "--train", train, "--model", "m.model", "--points-penalty", "0.1"]
        words = "features looks normalized within its query, and then a document's score depends on the other documents of its list"
        only = "portable only where its features are: 1 of the model's 2 "
        for members in ("scorecard", "card"):
            told = self.expect(0, *fit, "--members", members, *(["--target", "labels"] if members == "card" else []), "--json")
            self.assertIn(only + words, told.stderr.decode())
            self.assertEqual((json.loads(told.stdout)["portable"], json.loads(told.stdout)["features_normalized_within_queries"]), (True, 1))
            self.assertIn((only + words).encode(), self.inspect())
            self.assertEqual(self.inspected()["features_normalized_within_queries"], 1)
            for verb in (["rank", "--test", train, "--out", "o"], ["explain", "--test", train, "--qid", "1"], ["export", "--to", "python", "--out", "o.py"]):
                self.assertIn(only + words, self.expect(0, *verb, "--model", "m.model").stderr.decode(), verb)
            formats = ["c", "java", "javascript", "python", "sql", "lightgbm", "onnx"]
            for to in formats + ["xgboost"] * (members == "card"):  # XGBoost's float32 needs whole points
                self.expect(0, "export", "--model", "m.model", "--to", to, "--out", "card.out", "--quiet")
                self.assertIn(only + words, self.read("card.out").decode("latin-1"), to)
        self.assertIn(("Portable only where its " + words[:8]).encode(), self.inspect("--format", "html"))
        # A model that normalizes the values itself is not portable at all.
        self.expect(0, *fit, "--members", "scorecard", "--norm", "query-minmax", message="not portable: ")
        self.assertEqual(self.inspected()["features_normalized_within_queries"], 0)
        broken = pathlib.Path(self.folder, "m.model").read_bytes()
        head, body = broken.split(b"\n", 1)
        for value in (b"[2,1]", b"[-1]", b"[1.5]", b"3"):
            changed = body.replace(b'"members"', b'"list_normalized":' + value + b',"members"', 1)
            magic, version, _ = head.split()
            self.file("m.model", magic + b" " + version + b" " + hashlib.sha256(changed).hexdigest().encode() + b"\n" + changed)
            self.expect(3, "inspect", "--model", "m.model", message="list_normalized")

    def test_curves_of_a_joint_member(self):
        self.expect(0, "fit", "--train", self.train, "--model", "j.model", "--members", "joint", "--quiet")
        line = ["inspect", "--model", "j.model", "--quiet", "--test", self.test]
        member = self.told(*line, "--format", "json")["members"][0]
        self.assertEqual([one["feature"] for one in member["features"]], [1, 2, 3])
        moved = [one["moved"] for one in member["features"]]
        self.assertEqual(moved[0], max(moved))
        curve = [one["weight"] * z + one["items"][b]["points"]
                 for one in member["features"][:1] for z, b in ((-1, 0), (1, -2))]
        self.assertGreater(curve[1], curve[0])
        text = self.expect(0, *line, "--top", "2").stdout.decode()
        for part in ("Kind joint", "loss pair, penalties of weights ", "Curves of features: each adds its weight"):
            self.assertIn(part, text)

    def test_members_that_fit_chooses(self):
        many = self.file("many.txt", draw(320, "M"))
        self.expect(0, "fit", "--train", many, "--model", "best.model", "--members", "recommended",
                    message="recommended (several-labels): scorecard (")
        line = ["inspect", "--model", "best.model", "--quiet", "--test", self.test]
        found = self.told(*line, "--format", "json")
        card, linear = found["members"]
        self.assertEqual([one["kind"] for one in found["members"]], ["scorecard", "linear"])
        points = [item["points"] for item in card["items"] if item["feature"] == 1]
        self.assertGreater(points[-1], points[0])
        weights = {one["feature"]: one["weight"] for one in linear["features"]}
        self.assertEqual(max(weights, key=weights.get), 1)
        losses = {one["feature"]: one["loss"]["MAP"] for one in found["permutation"]["features"]}
        self.assertEqual(max(losses, key=losses.get), 1)
        self.assertEqual(card["training_documents"], sum(
            item["documents"] for item in card["items"] if item["feature"] == 1))
        self.assertEqual(card["features"][0]["feature"], 1)
        self.assertEqual(len(card["dependence"]), len(card["features"]))
        moved = {one["feature"]: one["moved"] for one in linear["features"]}
        self.assertEqual(max(moved, key=moved.get), 1)
        text = self.expect(0, *line, "--top", "2").stdout.decode()
        for part in ("Member 1, kind scorecard", "Member 2, kind linear", "Mean influence of features on scores",
                     "documents  bar", "moves    weight"):
            self.assertIn(part, text)
        self.expect(2, "inspect", "--model", "best.model", "--documents", "5",
                    message="--documents needs a model with a member of the kind rules")

    def moved_by_hand(self, model):
        """The changes of the combined score by each feature, from `explain` of each document."""
        moved = {1: 0.0, 2: 0.0, 3: 0.0}
        for q in range(8):
            parts = []  # a dict a document
            for d in range(8 * q, 8 * q + 8):
                line = ["--model", model, "--test", self.test, "--qid", q, "--docid", f"D{d}", "--top", "0"]
                why = self.told("explain", *line, "--quiet", "--format", "json")
                whole = why if "members" in why else {**why, "members": [{**why, "deviation": 1}]}
                mine = []
                for member in whole["members"]:
                    own = {1: 0.0, 2: 0.0, 3: 0.0}
                    if "split" in member:
                        for item in member["split"]["items"]:
                            own[item["feature"]] += item["moved"]["value"]
                    else:
                        for term in member["document"]["terms"]:
                            own[term["feature"]] += term["adds"]
                    mine.append((own, member["deviation"] * len(whole["members"])))
                parts.append((whole["document"]["score"], mine))
            members = range(len(parts[0][1]))
            means = [{f: sum(mine[k][0][f] for _, mine in parts) / 8 for f in moved} for k in members]
            level = sum(score for score, _ in parts) / 8
            for score, mine in parts:
                total = {f: sum((mine[k][0][f] - means[k][f]) / mine[k][1] for k in members) for f in moved}
                self.assertAlmostEqual(sum(total.values()), score - level, places=9)  # they add up
                for f in moved:
                    moved[f] += abs(total[f]) / 64
        return moved

    def test_what_features_move_in_the_combined_score(self):
        for kinds in ("scorecard,linear", "rules,scorecard,linear", "rules", "linear"):
            with self.subTest(kinds):
                self.expect(0, "fit", "--train", self.train, "--model", "k.model", "--members", kinds, "--quiet")
                line = ["inspect", "--model", "k.model", "--quiet"]
                whole = [*line, "--test", self.test, "--format", "json"]
                found = self.expect(0, *whole, "--threads", "1").stdout
                self.assertEqual(found, self.expect(0, *whole, "--threads", "2").stdout)
                combined = json.loads(found)["combined"]
                self.assertEqual((combined["documents"], combined["queries"]), (64, 8))
                moved = self.moved_by_hand("k.model")
                parts = combined["features"]
                self.assertEqual([part["feature"] for part in parts], sorted(moved, key=lambda f: -moved[f]))
                for part in parts:
                    self.assertAlmostEqual(part["moved"], moved[part["feature"]], places=12)
                text = self.expect(0, *line, "--test", self.test, "--format", "markdown").stdout.decode()
                self.assertIn("by within the query, the mean over 64 documents of 8 queries", text)
                self.assertIn(f"| {parts[0]['moved']:.6f} | feature {parts[0]['feature']} |", text)
                self.assertEqual(b"--test FILE adds the influence of each feature on" in self.expect(0, *line).stdout,
                                 "," in kinds)
        # Rules are explained of whole queries, at even distances.
        few = self.inspected("--test", self.test, "--documents", "16")["combined"]
        self.assertEqual((few["documents"], few["queries"]), (16, 2))

    def test_the_same_bytes_on_any_threads(self):
        line = ["--format", "json", "--test", self.test, "--documents", "33"]
        self.assertEqual(self.inspect(*line, "--threads", "1"), self.inspect(*line, "--threads", "4"))

    def test_bad_input(self):
        whole = (self.folder / "m.model").read_bytes()

        def row(name, line, code, message, data=whole):
            return Row(name, data, f"inspect {line}", code, message, files={"test": TEST})
        self.check_rows([
            row("metrics", "--model {in} --out {out} --metrics MAP", 2, "--metrics needs --test"),
            row("shuffles", "--model {in} --out {out} --shuffles 3", 2, "--shuffles needs --test"),
            row("complete", "--model {in} --out {out} --complete", 2, "--complete needs --test"),
            row("none", "--model {in} --out {out} --test {test} --shuffles 0", 2,
                "--shuffles: found 0, expected at least 1"),
            row("format", "--model {in} --out {out} --format xml", 2, "--format: found 'xml'"),
            row("no model", "--out {out}", 2, "--model is required"),
            row("cuts", "--model {in} --out {out}", 3, "{in}", b"{}"),
            row("cut short", "--model {in} --out {out}", 3, "{in}", whole[:-1]),
            row("in place", "--model {in} --out {in}", 2, "--out"),
        ])


if __name__ == "__main__":
    harness.main()

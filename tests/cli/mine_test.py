"""The verb mine: itemsets and rules, formats, refused options, and files after errors."""

import itertools
import json
import random

import harness
from harness import Row

GOLDEN = b"A B D E\nB C E\nA B D E\nA B C E\nA B C D E\nB C D\n"
FREQUENT = {6: "B", 5: "E BE", 4: "A C D AB AE BC BD ABE", 3: "AD CE DE ABD ADE BCE BDE ABDE"}
ENGINES = ("vertical", "apriori", "bruteforce")


def draw(transactions, items, seed):
    chance = random.Random(seed)
    density = [chance.random() for _ in range(items)]
    return [[x for x in range(items) if chance.random() < density[x]] for _ in range(transactions)]


def fimi(transactions):
    return "".join(" ".join(map(str, t)) + "\n" for t in transactions).encode()


def frequent(transactions, least):
    """The definition: the support of every set of items that reaches the least."""
    sets = [frozenset(t) for t in transactions]
    items = sorted(frozenset().union(*sets))
    found = {}
    for size in range(1, len(items) + 1):
        for x in itertools.combinations(items, size):
            support = sum(s.issuperset(x) for s in sets)
            if support >= least:
                found[x] = support
    return found


def of_kind(found, kind):
    def more(x):
        return [y for y in found if len(y) == len(x) + 1 and set(y) > set(x)]
    if kind == "closed":
        return {x: n for x, n in found.items() if all(found[y] < n for y in more(x))}
    return {x: n for x, n in found.items() if not more(x)} if kind == "maximal" else found


def read_borgelt(text):
    found = {}
    for line in text.decode().splitlines():
        items, _, support = line.rpartition(" (")
        items = tuple(map(int, items.split()))
        assert items not in found
        found[items] = int(support[:-1])
    return found


class Mine(harness.CommandLine):
    def mine(self, data, *arguments, code=0, message=""):
        path = self.file("transactions", data)
        return self.expect(code, "mine", "--transactions", path, "--quiet", *arguments,
                           message=message).stdout

    def test_golden_case(self):
        expected = sorted(f"{' '.join(x)} ({n})" for n, sets in FREQUENT.items()
                          for x in sets.split())
        for engine in ENGINES:
            lines = self.mine(GOLDEN, "--form", "baskets", "--min-support", "3", "--engine", engine)
            self.assertEqual(sorted(lines.decode().splitlines()), expected, engine)
        rules = self.mine(GOLDEN, "--form", "baskets", "--min-support", "3", "--min-size", "4",
                          "--rules", "--min-confidence", "0.9").decode().splitlines()
        self.assertEqual(sorted(rules), ["A <- B D E (3, 100)", "A B <- D E (3, 100)",
                                         "B <- A D E (3, 100)", "B E <- A D (3, 100)",
                                         "E <- A B D (3, 100)"])

    def test_engines_find_what_is_defined(self):
        for seed in range(4):
            data = draw(40, 9, seed)
            for least in (2, 8):
                all_of_them = frequent(data, least)
                for kind in ("all", "closed", "maximal"):
                    expected = of_kind(all_of_them, kind)
                    for engine in ENGINES:
                        found = read_borgelt(self.mine(fimi(data), "--min-support", str(least),
                                                       "--kind", kind, "--engine", engine))
                        self.assertEqual(found, expected, (seed, least, kind, engine))

    def test_threads_do_not_matter(self):
        data = fimi(draw(400, 14, 9))
        for kind in ("all", "closed", "maximal"):
            one, two, five = (self.mine(data, "--min-support", "5%", "--kind", kind, "--threads", t)
                              for t in ("1", "2", "5"))
            self.assertEqual(one, two)
            self.assertEqual(one, five)

    def test_sizes_and_percentages(self):
        data = draw(50, 8, 3)
        expected = {x: n for x, n in frequent(data, 10).items() if 2 <= len(x) <= 3}
        found = self.mine(fimi(data), "--min-support", "20%", "--min-size", "2", "--max-size", "3")
        self.assertEqual(sorted(found.decode().splitlines()),
                         sorted(f"{' '.join(map(str, x))} ({100 * n / 50:.6g})"
                                for x, n in expected.items()))

    def test_says_what_it_did(self):
        baskets = self.file("baskets", b"1 2 3\n1 2\n1\n")
        line = ["mine", "--transactions", baskets, "--min-support", 2]
        self.assertEqual(self.expect(0, *line).stderr, b"")
        self.expect(0, *line, "--out", "sets", message="rulerank: found 3 itemsets in 3 transactions; wrote sets\n")
        self.expect(0, *line, "--rules", "--min-confidence", 1, "--out", "rules",
                    message="rulerank: found 1 rule in 3 transactions; wrote rules\n")

    def test_forms_of_output(self):
        options = ("--form", "baskets", "--min-support", "3", "--format")
        itemsets = [json.loads(line) for line in self.mine(GOLDEN, *options, "json").splitlines()]
        self.assertEqual(len(itemsets), 19)
        self.assertIn({"items": ["A", "B", "D", "E"], "support": 3, "share": .5}, itemsets)
        self.assertIn(b"A B D E #SUP: 3\n", self.mine(GOLDEN, *options, "spmf"))
        rules = ("--rules", "--min-confidence", "100%", "--measures", "lift")
        self.assertIn(b"A D ==> B E #SUP: 3 #CONF: 1 #LIFT: 1.2\n",
                      self.mine(GOLDEN, *options, "spmf", *rules))
        found = [json.loads(line)
                 for line in self.mine(GOLDEN, *options, "json", *rules).splitlines()]
        for rule in found:
            self.assertEqual(rule["with_both"] / rule["with_antecedent"], rule["confidence"])
        rule, = (r for r in found if r["antecedent"] == ["D"] and r["consequent"] == ["B"])
        self.assertEqual((rule["with_both"], rule["with_consequent"]), (4, 6))
        rule, = (r for r in found if r["antecedent"] == ["A"] and r["consequent"] == ["E"])
        self.assertIsNone(rule["conviction"])  # infinite

    def test_items_that_are_not_utf8_in_json(self):
        line = ["mine", "--min-support", 1, "--format", "json", "--transactions"]
        note = r'the item "caf\xe9" is not UTF-8 (the first such item); in JSON its bytes become U+FFFD'
        for form, text in (("fimi", b"@ITEM=1=caf\xe9\n1\n"), ("baskets", b"caf\xe9\n")):
            done = self.expect(0, *line, self.file("bytes", text), "--form", form, message=note)
            self.assertEqual(json.loads(done.stdout), {"items": ["caf\ufffd"], "support": 1, "share": 1})
            self.assertEqual(done.stderr.count(b"warning"), 2)  # the other has the place in the file

    def test_where_items_may_stand(self):
        where = self.file("where", b"antecedent\nE consequent\nC neither\n")
        rules = self.mine(GOLDEN, "--form", "baskets", "--min-support", "3", "--rules",
                          "--min-confidence", "0", "--appear", where).decode().splitlines()
        self.assertEqual(sorted(rules), ["E <- A (4, 100)", "E <- A B (4, 100)",
                                         "E <- A B D (3, 100)", "E <- A D (3, 100)",
                                         "E <- B (6, 83.3333)", "E <- B D (4, 75)",
                                         "E <- D (4, 75)"])

    def test_names_with_blanks_and_streams(self):
        data = b"green tea; milk\nmilk\ngreen tea;milk ; bread\n"
        line = ("mine", "--transactions", "-", "--form", "baskets", "--separator", ";",
                "--min-support", "2", "--quiet")
        out = self.expect(0, *line, input=data).stdout
        self.assertEqual(sorted(out.splitlines()),
                         [b"green tea (2)", b"green tea milk (2)", b"milk (3)"])

    def test_documents(self):
        train = self.file("train", b"".join(
            b"%d qid:1 1:%d 2:%d\n" % (r, r, d % 4) for d, r in enumerate([0, 1] * 10)))
        rules = self.expect(0, "mine", "--train", train, "--method", "width", "--bins", "2",
                            "--min-support", "25%", "--rules", "--min-confidence", "1", "--quiet",
                            "--max-size", "2").stdout.decode().splitlines()
        self.assertEqual(sorted(rules), ["label=0 <- 1:(-inf,0.5) (50, 100)",
                                         "label=1 <- 1:[0.5,inf) (50, 100)"])
        sets = self.expect(0, "mine", "--train", train, "--method", "width", "--bins", "2",
                           "--min-support", "10", "--quiet").stdout
        self.assertNotIn(b"label", sets)

    def test_max_p(self):
        data = fimi([[1, 2]] * 30 + [[3]] * 30 + [[1, 3]] * 2)
        options = ("--min-support", "2", "--rules", "--min-confidence", "0", "--measures", "p_holm")
        every = self.mine(data, *options).decode().splitlines()
        few = self.mine(data, *options, "--max-p", "0.001").decode().splitlines()
        self.assertLess(len(few), len(every) + 1)
        self.assertEqual(few, [line for line in every
                               if float(line[:-1].rpartition(", ")[2]) <= .001])

    def test_too_many_itemsets(self):
        everything = fimi([[x for x in range(60) if x != t % 60] for t in range(600)])
        out = self.file("out", harness.OLD)
        self.mine(everything, "--min-support", "1", "--out", out, code=2,
                  message="GB are free, expected ")
        self.assertEqual(out.read_bytes(), harness.OLD)

    def test_summary_and_manifest(self):
        manifest = self.folder / "manifest.json"
        out = self.folder / "out"
        summary = json.loads(self.mine(GOLDEN, "--form", "baskets", "--min-support", "50%",
                                       "--json", "--out", out, "--manifest", manifest))
        self.assertEqual(summary, {"transactions": 6, "items": 5, "min_support": 3, "itemsets": 19})
        self.assertEqual(len(out.read_bytes().splitlines()), 19)
        self.assertEqual(json.loads(manifest.read_text())["engine"], "vertical")

    def test_bad_input(self):
        line = "mine --transactions {in} --min-support 1 --out {out}"
        self.check_rows([
            Row("nothing", b"", line, 3, "{in}:1:1: found no transactions"),
            Row("a word", b"1 2\n3 x\n", line, 3, "{in}:2:3: found \"x\", expected an item"),
            Row("utilities", b"1:5:5\n3 12:7.5:2.5 5\n", line + " --form baskets", 3,
                "{in}:2:1: found \"3 12:7.5:2.5 5\", which is SPMF's form for items with utilities, expected items alone"),
            Row("times", b"8 12:30:15 20\n1 2:4:1 2\n", line + " --form baskets", 0, ""),
            Row("lists", b"milk\n[rye]\n[rye milk]\n", line + " --form baskets", 3,
                "{in}:2:1: found 2 of 3 lines in brackets (this is the first), expected items between separators"),
            Row("one item in brackets", b"[children's]\nmilk [new]\nrye\n", line + " --form baskets", 0, ""),
            Row("empty name", b"a,,b\n", line + " --form baskets --separator ,", 3,
                "{in}:1:3: found nothing"),
            Row("where of an unknown item", b"1 2\n", line + " --rules --appear {where}", 3,
                "{where}:2:1: found \"7\", expected an item of the transactions",
                files={"where": b"both\n7 in\n"}),
        ])

    def test_wrong_usage(self):
        line = "mine --transactions {in} --out {out} "
        least = line + "--min-support 1 "
        self.check_rows([
            Row("no support", b"1\n", line, 2, "--min-support is required"),
            Row("support in words", b"1\n", line + "--min-support many", 2,
                "--min-support: found 'many', expected a count of transactions"),
            *(Row(f"support {bound}", b"1 2\n", "mine --transactions {in} --min-support " + bound, 2,
                  f"found '{bound}', expected a count of transactions such as 500, or a share such as 0.1, 1e-3 or 10%, of at most "
                  "19 digits") for bound in ("1e3", "1" * 21, "0." + "1" * 21 + "%", "1.5", "1e-40")),
            Row("more than all", b"1\n", line + "--min-support 101%", 2, "found '101%'"),
            Row("confidence", b"1\n", least + "--rules --min-confidence 80", 2,
                "--min-confidence: found '80', expected a share from 0 to 1"),
            Row("engine", b"1\n", least + "--engine eclat", 2,
                "--engine: found engine 'eclat', expected one of auto, bruteforce, apriori, vertical"),
            Row("measure", b"1\n", least + "--rules --measures cosine", 2,
                "--measures: found 'cosine', expected lift"),
            Row("confidence of itemsets", b"1\n", least + "--min-confidence 50%", 2,
                "--min-confidence needs --rules"),
            Row("measures of itemsets", b"1\n", least + "--measures lift", 2,
                "--measures needs --rules"),
            Row("rules of closed sets", b"1\n", least + "--rules --kind closed", 2,
                "--rules cannot be combined with --kind closed"),
            Row("sizes", b"1\n", least + "--min-size 3 --max-size 2", 2,
                "--max-size 2 is below --min-size 3"),
            Row("no input", b"1\n", "mine --min-support 1 --out {out}", 2,
                "expected either --transactions FILE or --train FILE"),
            Row("two inputs", b"1\n", least + "--train {in}", 2,
                "expected either --transactions FILE or --train FILE"),
            Row("separator", b"1\n", least + "--separator ,", 2, "--separator needs --form baskets"),
            Row("items for bruteforce", b" ".join(b"%d" % x for x in range(30)),
                least + "--engine bruteforce --max-size 1", 2, "expected at most 24 items, found 30"),
        ])


if __name__ == "__main__":
    harness.main()

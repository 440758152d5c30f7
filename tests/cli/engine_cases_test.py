"""One table of cases for the engines of all verbs: each engine does each case with the result of the CPU's default engine, or refuses
it, as the table of docs/reference/verbs/engines.md says.

    engine_cases_test.py PROGRAM              the tests; engines for GPUs that are not there are skipped by name
    engine_cases_test.py PROGRAM --table      the table for the page
    engine_cases_test.py PROGRAM --times      seconds of each engine and case, the median of three runs of the whole command"""

import collections
import json
import pathlib
import random
import statistics
import subprocess
import sys
import time

import harness

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/reference/verbs/engines.md"
BEGIN, END = "<!-- engine cases -->\n", "<!-- end of engine cases -->\n"
LETOR = "--train train.txt"
DENSE = "search dense --collection base.fvecs --queries asked.fvecs"
WORDS = "search metric --metric edit --collection words.txt --queries asked.txt"
VECTORS = "search metric --collection base.fvecs --queries asked.fvecs"
TEXT = "search text --collection documents.tsv --queries topics.tsv"
# verb of `engines`: {case: what follows the program}; the output is {out}.
CASES = {
    "reduce": {"size 3": f"reduce {LETOR} --rule-size 3 --out {{out}}", "size 4": f"reduce {LETOR} --rule-size 4 --out {{out}}",
               "partitions": f"reduce {LETOR} --rule-size 3 --partitions 3 --out {{out}}",
               "thresholds": f"reduce {LETOR} --rule-size 3 --min-support 2 --min-confidence 0.4 --out {{out}}",
               "labels at most": f"reduce {LETOR} --rule-size 3 --max-documents 20 --out {{out}}"},
    "rank": {"size 3": f"rank {LETOR} --test test.txt --rule-size 3 --out {{out}}",
             "size 4": f"rank {LETOR} --test test.txt --rule-size 4 --out {{out}}",
             "thresholds": f"rank {LETOR} --test test.txt --min-support 2 --min-confidence 0.4 --out {{out}}"},
    "mine": {"all": "mine baskets.txt --min-support 5% --out {out}", "closed": "mine baskets.txt --min-support 5% --kind closed --out {out}",
             "maximal": "mine baskets.txt --min-support 5% --kind maximal --out {out}",
             "rules": "mine baskets.txt --min-support 5% --rules --min-confidence 0.3 --out {out}",
             "sizes": "mine baskets.txt --min-support 5% --min-size 2 --max-size 3 --out {out}"},
    "search text": {"cosine": f"{TEXT} --k 5 --metric cosine --out {{out}}", "l2": f"{TEXT} --k 5 --metric l2 --out {{out}}",
                    "bm25": f"{TEXT} --k 5 --weights bm25 --out {{out}}", "pad": f"{TEXT} --k 100 --pad --out {{out}}",
                    "radius": f"{TEXT} --radius 0.3 --out {{out}}", "filter": f"{TEXT} --k 5 --filter some.txt --out {{out}}"},
    "search dense": {"l2": f"{DENSE} --k 5 --out {{out}}", "ip": f"{DENSE} --k 5 --metric ip --out {{out}}",
                     "cosine": f"{DENSE} --k 5 --metric cosine --out {{out}}",
                     "k of all": f"{DENSE} --k 300 --out {{out}}",
                     "bytes": "search dense --collection base.bvecs --queries asked.bvecs --k 5 --out {out}",
                     "radius": f"{DENSE} --radius 3.5 --out {{out}}", "filter": f"{DENSE} --k 5 --filter numbers.txt --out {{out}}"},
    "search metric": {"words, k": f"{WORDS} --k 5 --out {{out}}", "words, radius": f"{WORDS} --radius 2 --out {{out}}",
                      "l2, k": f"{VECTORS} --k 5 --out {{out}}", "l2, radius": f"{VECTORS} --radius 3.5 --out {{out}}",
                      "l1, k": f"{VECTORS} --metric l1 --k 5 --out {{out}}",
                      "filter": f"{WORDS} --k 5 --filter numbers.txt --out {{out}}"},
}
SAME, NEAR, REFUSED, NO_DEVICE = "same", "near", "no", None
SINGLE = "single precision"  # in what `engines` says of one: its values are near, not the same
WITHIN = 1e-4


def write_inputs(folder, many=300):
    """`many` objects and 30 queries; values repeat, so many objects are equally near."""
    draw = random.Random(5)

    def letor(queries):
        return "".join(f"{draw.choice((0, 0, 0, 1, 2))} qid:{q} " + " ".join(f"{f}:{draw.randrange(6)}" for f in range(1, 9)) + "\n"
                       for q in range(queries) for _ in range(12))

    words = ["".join(draw.choices("abcd", k=draw.randint(3, 8))) for _ in range(many + 30)]
    rows = [[draw.randrange(7) for _ in range(8)] for _ in range(many + 30)]
    texts = [" ".join(draw.choices("red blue green warm cold wet dry old".split(), k=5)) for _ in range(many + 30)]
    for name, text in {
            "train.txt": letor(25), "test.txt": letor(10), "words.txt": "\n".join(words[:many]), "asked.txt": "\n".join(words[many:]),
            "documents.tsv": "".join(f"d{d}\t{text}\n" for d, text in enumerate(texts[:many])),
            "topics.tsv": "".join(f"t{d}\t{text}\n" for d, text in enumerate(texts[many:])),
            "some.txt": "".join(f"d{d}\n" for d in range(0, many, 3)), "numbers.txt": "".join(f"{d}\n" for d in range(0, many, 3)),
            "baskets.txt": "".join(" ".join(map(str, sorted(draw.sample(range(12), 5)))) + "\n" for _ in range(400))}.items():
        (folder / name).write_text(text)
    for name, some in (("base", rows[:many]), ("asked", rows[many:])):
        (folder / f"{name}.fvecs").write_bytes(harness.fvecs(some))
        (folder / f"{name}.bvecs").write_bytes(b"".join((8).to_bytes(4, "little") + bytes(row) for row in some))


def near(found, expected):
    """Whether lines of query, rank, item and value have the same queries and ranks, and values that are near."""
    pairs = [(one.split("\t"), other.split("\t")) for one, other in zip(found.splitlines(), expected.splitlines())]
    return (len(found.splitlines()) == len(expected.splitlines()) and
            all(a[:2] == b[:2] and abs(float(a[3]) - float(b[3])) <= WITHIN * max(1, abs(float(b[3]))) for a, b in pairs))


class Cases:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        write_inputs(folder)
        self.engines = json.loads(subprocess.run([program, "engines", "--json"], capture_output=True, check=True, text=True).stdout)
        self.expected = {}

    def run(self, line, *words):
        """(exit code, output, message)"""
        out = self.folder / "out"
        out.unlink(missing_ok=True)
        done = subprocess.run([self.program, *line.format(out=out).split(), *words, "--quiet"], cwd=self.folder, capture_output=True,
                              text=True)
        return done.returncode, out.read_text() if out.exists() else "", done.stderr.strip()

    def expect(self, line):
        """The output of the CPU's default engine."""
        if line not in self.expected:
            code, output, message = self.run(line, "--device", "cpu")
            assert code == 0 and output, f"{line}: {message}"
            self.expected[line] = output
        return self.expected[line]

    def result(self, engine, device, line):
        """(what the table says of an engine on a device and a case, the message)"""
        code, output, message = self.run(line, engine["option"], engine["engine"], "--device", device)
        if code == 4:
            return NO_DEVICE, message
        if code == 2:
            return REFUSED, message
        expected = self.expect(line)
        if code != 0:
            return f"exit code {code}", message
        if output == expected:
            return SAME, ""
        return (NEAR, "") if SINGLE in engine["what"] and near(output, expected) else ("another result", output)

    def rows(self):
        """Each engine and device that it runs on, with its name in the table, its cases and their lines."""
        return [(engine, device, f"{engine['engine']}, {device}", CASES[engine["verb"]])
                for engine in self.engines for device in engine["runs_on"].split(", ")]


def table(results):
    """Markdown: a table a verb, of {(verb, engine): {case: what}}."""
    text = ""
    for verb, cases in CASES.items():
        rows = [(name, of) for (of_verb, name), of in results.items() if of_verb == verb]
        text += f"\n| `{verb}` | " + " | ".join(cases) + " |\n" + "|---" * (1 + len(cases)) + "|\n"
        text += "".join(f"| `{name}` | " + " | ".join(of[case] or "?" for case in cases) + " |\n" for name, of in rows)
    return text + "\n"


def of_page():
    """{(verb, engine): {case: what}} of the page."""
    found, verb, cases = {}, None, []
    for line in PAGE.read_text("utf-8").split(BEGIN)[1].split(END)[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0].strip("`") in CASES:
            verb, cases = cells[0].strip("`"), cells[1:]
        elif line.startswith("| `"):
            found[verb, cells[0].strip("`")] = dict(zip(cases, cells[1:]))
    return found


class Engines(harness.CommandLine):
    def check(self, verb):
        cases = Cases(harness.PROGRAM, self.folder)
        page, without, counts = of_page(), [], collections.Counter()
        for engine, device, name, lines in cases.rows():
            if engine["verb"] != verb:
                continue
            for case, line in lines.items():
                with self.subTest(engine=name, case=case):
                    found, message = cases.result(engine, device, line)
                    if found is NO_DEVICE:
                        without.append(name)
                        continue
                    counts[found] += 1
                    self.assertEqual(found, page[verb, name][case], message)
        self.assertGreater(counts[SAME], 0)
        if without:
            print(f"skipped without a GPU: {', '.join(dict.fromkeys(without))} of {verb}")

    def test_reduce(self):
        self.check("reduce")

    def test_rank(self):
        self.check("rank")

    def test_mine(self):
        self.check("mine")

    def test_search_text(self):
        self.check("search text")

    def test_search_dense(self):
        self.check("search dense")

    def test_search_metric(self):
        self.check("search metric")

    def test_the_page_has_the_engines_of_a_build(self):
        engines = {(engine["verb"], name) for engine, _, name, _ in Cases(harness.PROGRAM, self.folder).rows()}
        self.assertLessEqual(engines, of_page().keys())


def main():
    program, mode = sys.argv[1:3]
    with harness.tempfile.TemporaryDirectory() as name:
        cases = Cases(str(pathlib.Path(program).resolve()), pathlib.Path(name))
        results = collections.defaultdict(dict)
        for engine, device, name, lines in cases.rows():
            for case, line in lines.items():
                found, message = cases.result(engine, device, line)
                results[engine["verb"], name][case] = found
                if mode == "--times" and found in (SAME, NEAR):
                    seconds = []
                    for _ in range(3):
                        begin = time.perf_counter()
                        cases.run(line, engine["option"], engine["engine"], "--device", device)
                        seconds.append(time.perf_counter() - begin)
                    print(f"{engine['verb']}\t{name}\t{case}\t{statistics.median(seconds):.4f}", flush=True)
                elif mode == "--times":
                    print(f"{engine['verb']}\t{name}\t{case}\t{message}", flush=True)
        if mode == "--table":
            print(table(results), end="")


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[2] in ("--table", "--times"):
        main()
    else:
        harness.main()

"""capi_examples.py PROGRAM LIBRARY INCLUDE [TEST]: the C library's header and exports, and its examples in C, Python and
Java, whose scores and terms must be those of the program's verbs rank and explain, bit for bit."""

import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, LIBRARY, INCLUDE = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "capi" / "examples"
STRICT = ("-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror")
JNA = pathlib.Path("/usr/share/java/jna.jar")
MEMBERS = ("card", "scorecard", "rules", "linear", "joint", "rules,linear")


def run(*words, text=None):
    return subprocess.run([str(word) for word in words], input=text, capture_output=True, text=True, timeout=500)


def rows_of(documents, seed):
    """Values of five features, some of them missing."""
    chance = random.Random(seed)
    return [[chance.choice([0, .25, .5, 1, 1.5, 2, 3, float("nan")]) for _ in range(5)] for _ in range(documents)]


def lines_of(rows, documents_a_query):
    """Lines in SVMlight's form."""
    def label(row):
        return int(row[0] >= 1) + int(row[1] >= 1.5)
    return "".join(f"{label(row)} qid:{d // documents_a_query} "
                   + " ".join(f"{f}:{value}" for f, value in enumerate(row, 1)) + f" # docid = D{d}\n"
                   for d, row in enumerate(rows))


class Capi(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def succeed(self, *words, text=None):
        done = run(*words, text=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def fit(self):
        """Yields members, and the path of a model of them."""
        train = self.folder / "train.txt"
        train.write_text(lines_of(rows_of(200, 1), 10))
        for members in MEMBERS:
            model = self.folder / f"{members}.model"
            self.succeed(PROGRAM, "fit", train, "--members", members, "--model", model, "--quiet")
            yield members, model

    def check(self, *command):
        """An example gives what the program gives, and refuses what is no model."""
        rows = rows_of(30, 2)
        test = self.folder / "test.txt"
        test.write_text(lines_of(rows, len(rows)))
        text = "\n".join(" ".join(map(str, row)) for row in rows)
        for members, model in self.fit():
            with self.subTest(members):
                scores = self.succeed(PROGRAM, "rank", test, "--model", model, "--out", "-", "--quiet").split()
                explained = json.loads(self.succeed(PROGRAM, "explain", "--test", test, "--model", model, "--all",
                                                    "--by-feature", "--json", "--quiet"))[0]
                of_document = {one["docid"]: one for one in explained["documents"]}
                lines = self.succeed(*command, model, text=text).splitlines()
                self.assertEqual(len(lines), len(rows))
                for d, line in enumerate(lines):
                    score, base, *added = map(float, line.split())
                    self.assertEqual(score, float(scores[d]))
                    self.assertEqual(base, explained["base"])
                    self.assertEqual(added, of_document[f"D{d}"]["adds"])
        cut = self.folder / "cut.model"
        cut.write_bytes(model.read_bytes()[:-9])
        for bad, why in ((cut, "damaged or cut short"), (self.folder / "none.model", "No such file")):
            done = run(*command, bad, text=text)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertRegex(done.stderr, rf"^score: {re.escape(str(bad))}:.*{why}")

    def test_exports_are_those_of_the_header(self):
        code = re.sub(r"/\*.*?\*/", "", (INCLUDE / "rulerank.h").read_text(), flags=re.S)
        declared = re.findall(r"\b(rulerank_\w+)\(", code)
        exported = [line.split() for line in self.succeed("nm", "-D", "--defined-only", LIBRARY).splitlines()]
        functions = [re.sub("@.*", "", name) for _, kind, name in exported if kind == "T"]
        self.assertEqual(sorted(functions), sorted(declared))
        self.assertEqual([name for _, kind, name in exported if kind != "T"], ["RULERANK_1"])
        self.assertGreater(len(functions), 10)

    def test_the_description_has_every_part(self):
        interface = json.loads((EXAMPLES.parent / "interface.json").read_text())
        for one in interface["functions"]:
            self.assertLessEqual(one["since"], interface["interface"])
            self.assertEqual("errors" in one, one["returns"] == "rulerank_code", one["name"])
            self.assertTrue(one["doc"] and all(len(line) <= 110 for line in one["doc"]), one["name"])

    def test_header_compiles_alone(self):
        for compiler, words in (("gcc", STRICT), ("clang", STRICT), ("g++", ("-std=c++98", "-x", "c++", *STRICT[1:]))):
            if not shutil.which(compiler):
                continue
            done = run(compiler, *words, "-fsyntax-only", INCLUDE / "rulerank.h")
            self.assertEqual((done.returncode, done.stderr), (0, ""), compiler)

    def check_c(self, compiler):
        if not shutil.which(compiler):
            self.skipTest(f"no {compiler}")
        program = self.folder / "score"
        self.succeed(compiler, *STRICT, "-I", INCLUDE, EXAMPLES / "score.c", "-o", program, LIBRARY,
                     f"-Wl,-rpath,{LIBRARY.parent}")
        self.check(program)

    def test_c_by_gcc(self):
        self.check_c("gcc")

    def test_c_by_clang(self):
        self.check_c("clang")

    def test_python(self):
        self.check(sys.executable, EXAMPLES / "score.py", LIBRARY)

    def test_java(self):
        if not shutil.which("javac") or not JNA.exists():
            self.skipTest("no javac (default-jdk-headless) or no JNA (libjna-java)")
        self.succeed("javac", "-Xlint:all", "-Werror", "-cp", JNA, "-d", self.folder, EXAMPLES / "Score.java")
        self.check("java", "-cp", f"{JNA}:{self.folder}", "Score", LIBRARY)


if __name__ == "__main__":
    result = unittest.main(argv=[sys.argv[0], *sys.argv[4:]], exit=False, verbosity=2).result
    sys.exit(77 if result.skipped and result.wasSuccessful() else not result.wasSuccessful())

"""The verb export: each output is compiled and run if its tools are installed, and its scores are those of rank."""

import base64
import bisect
import csv
import gzip
import http.server
import json
import math
import os
import pathlib
import random
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import threading
import unittest
import zipfile
from xml.etree import ElementTree

import harness
from harness import Row

NAN = math.nan
FLOAT_MAX = 3.4028234663852886e38
CARDS = 3  # random ones for each format


def single(value):
    """The float32 of a number."""
    return struct.unpack("f", struct.pack("f", value))[0]


def next_single(value, up):
    """The next larger or smaller float32."""
    if value == 0:
        return math.copysign(1.401298464324817e-45, 1 if up else -1)
    bits = struct.unpack("i", struct.pack("f", value))[0]
    return struct.unpack("f", struct.pack("i", bits + (1 if up == (value > 0) else -1)))[0]


# Units and origins, some of which would end a comment, a string or a line.
TEXTS = ["", "EUR", "\u20ac", "catalog.price", "a = b", "*/", "/*/ **/", "\\u000a", "C:\\users", "??/", '"', "'''", '"""', "-- x", "a\u2028b", "]]>&<"]


class Card:
    """A random card: features {name: (cuts, points of bins, points of missing values)}, and how values are read."""

    def __init__(self, draw, names=None, singles=False, cuts=None):
        self.singles = singles
        names = names or draw.choice([["1", "4", "12"], ["2"], ["age-days", "bm25", "title.len"]])
        self.unlisted, self.missing = draw.choice(["zero", "zero", "missing"]), draw.choice(["item", "item", "none", "zero"])
        self.features = {}
        texts = random.Random(str(draw.getstate()))
        self.descriptions = {name: (texts.choice(TEXTS), texts.choice(TEXTS)) for name in names if texts.random() < .8}
        for name in names:
            own = cuts or self.draw_cuts(draw)
            points = [draw.randrange(1000) for _ in range(len(own) + 1)]
            for i in range(1, len(points)):  # neighbouring bins with the same points would be one
                points[i] += points[i] == points[i - 1]
            self.features[name] = (own, points, draw.choice([0, draw.randrange(1000)]))

    def draw_cuts(self, draw):
        scale = draw.choice([1, 1, 1e-5, 1e8])
        one = lambda: draw.choice([0.0, round(draw.uniform(-1, 2), draw.randint(1, 4)) * scale, draw.gauss(0, 1) * scale])
        return sorted({(single(x) if self.singles else x) + 0.0 for x in (one() for _ in range(draw.randint(1, 11)))})

    def text(self):
        text = ""
        for name, (cuts, points, missing) in self.features.items():
            text += f"free {name}\n" + "".join(f"  {least!r} {p}\n" for least, p in zip(["least", *cuts], points)).replace("'", "")
            text += f"  missing {missing}\n" if self.missing == "item" else ""
        return text.encode()

    def points(self, name, value):
        """The points of a value; None: not listed."""
        cuts, points, missing = self.features[name]
        if value is None:
            value = NAN if self.unlisted == "missing" else 0
        if math.isnan(value):
            if self.missing == "item":
                return missing
            if self.missing == "none":
                return 0
            value = 0
        return points[bisect.bisect_right(cuts, value)]

    def by_names(self, document):
        """A document by the names of features in an export: those without a name are f1, f2."""
        return {exported(name): value for name, value in document.items()}

    def score(self, document):
        return sum(self.points(name, document.get(name)) for name in self.features)

    def draw_value(self, draw, name):
        cuts = self.features[name][0]
        beside = next_single if self.singles else lambda x, up: math.nextafter(x, math.inf if up else -math.inf)
        cut = draw.choice(cuts)
        largest = FLOAT_MAX if self.singles else 1.7976931348623157e308
        below = next_single(largest, False) if self.singles else math.nextafter(largest, 0)
        value = draw.choice([cut, beside(cut, True), beside(cut, False), draw.gauss(0, 2) * abs(cut), 0.0, -0.0, below, -below])
        return single(value) if self.singles else value

    def draw_documents(self, draw, count=60, listed_missing=True):
        """Some values are missing, and some are not listed."""
        documents = []
        for _ in range(count):
            document = {}
            for name in self.features:
                kind = draw.random()
                if kind > .2 or (kind > .1 and not listed_missing):
                    document[name] = self.draw_value(draw, name)
                elif kind > .1:
                    document[name] = NAN
            documents.append(document)
        return documents

    def ends(self):
        return [{name: cuts[0] - 1 - abs(cuts[0]) for name, (cuts, _, _) in self.features.items()},
                {name: cuts[-1] + 1 + abs(cuts[-1]) for name, (cuts, _, _) in self.features.items()}]

    def training(self):
        """Two documents that differ in all features; the better one has the higher score."""
        documents = sorted(self.ends(), key=self.score)
        return svmlight(documents, range(len(documents)))

    def dense(self, document):
        """The values in the order of the features, as the target gets them."""
        absent = NAN if self.unlisted == "missing" and self.missing != "zero" else 0.0
        return [document.get(name, absent) for name in self.features]


def exported(name):
    return name if name[0].isalpha() else f"f{name}"


def svmlight(documents, labels=None):
    lines = []
    for i, document in enumerate(documents):
        fields = "".join(f" {name}:{'nan' if math.isnan(x) else repr(x)}" for name, x in document.items())
        lines.append(f"{labels[i] if labels else 0} qid:1{fields}\n")
    return "".join(lines).encode()


def tool(test, *names):
    for name in names:
        if not shutil.which(name):
            test.skipTest(f"needs {name}")


def library(test, name):
    try:
        return __import__(name)
    except ImportError:
        test.skipTest(f"needs the Python package {name}")


class Exporting(harness.CommandLine):
    def fit(self, card):
        self.file("train.txt", card.training())
        self.file("card.txt", card.text())
        rows = [("feature", "unit", "origin"), *((name, *texts) for name, texts in card.descriptions.items())]
        self.file("features.tsv", "".join("\t".join(row) + "\n" for row in rows).encode())
        self.expect(0, "fit", "--train", "train.txt", "--card", "card.txt", "--model", "card.model", "--quiet", "--feature-table", "features.tsv",
                    "--unlisted", card.unlisted, "--missing-values", card.missing)

    def cards(self, seed, **how):
        """Fitted random cards, each with documents; their scores by rank are those of the definition above."""
        for number in range(CARDS):
            draw = random.Random(f"{seed} {number}")
            card = Card(draw, **how)
            while len(set(map(card.score, card.ends()))) < 2:  # fit refuses labels that the points do not follow
                card = Card(draw, **how)
            self.fit(card)
            documents = card.draw_documents(draw)
            self.file("test.txt", svmlight(documents))
            scores = self.expect(0, "rank", "--test", "test.txt", "--model", "card.model", "--quiet").stdout
            self.assertEqual([float(score) for score in scores.split()], list(map(card.score, documents)))
            yield card, documents

    def export(self, to, out, *more, message=""):
        self.expect(0, "export", "card.model", "--to", to, "--out", out, *more, message=message)
        return self.folder / out

    def run_tool(self, *words, **options):
        done = subprocess.run([str(word) for word in words], cwd=self.folder, capture_output=True, check=False, **options)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode()

    def expect_descriptions(self, card, units, origins):
        """Lists of JSON; None for both: no feature has a unit or an origin."""
        expected = [card.descriptions.get(name, ("", "")) for name in card.features]
        self.assertEqual(units is None, set(expected) == {("", "")})
        if units is not None:
            self.assertEqual(list(zip(json.loads(units), json.loads(origins))), expected)

    def expect_head(self, card, text):
        """A line of the comment at the head for each feature that has a unit or an origin."""
        decode = json.JSONDecoder().raw_decode
        found = {}
        for line in text.split("\n"):
            begin = line.find('"')
            if not 0 <= begin <= 3 or not line.startswith(("//", "#", "--", " *")):
                continue
            name, end = decode(line, begin)
            self.assertEqual(line[end], ":")
            texts = dict.fromkeys(("unit", "origin"), "")
            while end + 1 < len(line):
                word = line[end + 1:].lstrip().partition(" ")[0]
                texts[word], end = decode(line, line.index('"', end + 1))
            found[name] = (texts["unit"], texts["origin"])
        self.assertEqual(found, {exported(name): texts for name, texts in card.descriptions.items() if any(texts)})

    def expect_rows(self, card, documents, text):
        """Lines of a score and the points of each feature."""
        for document, line in zip(documents, text.splitlines(), strict=True):
            score, *points = map(float, line.split())
            self.assertEqual(points, [card.points(name, document.get(name)) for name in card.features], document)
            self.assertEqual(score, card.score(document), document)

    def lines_of_values(self, card, documents):
        return "\n".join(" ".join("NaN" if math.isnan(x) else x.hex() for x in card.dense(document)) for document in documents)


C_DRIVER = """
#include <math.h>
#include <stdio.h>
#include "mine.h"
int main(void) {
  double values[MINE_FEATURES], points[MINE_FEATURES];
  for (;;) {
    for (int f = 0; f < MINE_FEATURES; ++f)
      if (scanf("%la", &values[f]) != 1) return 0;
    double const score = mine_score(values, points);
    if (score != mine_score(values, NULL)) return 1;
    printf("%.17g", score);
    for (int f = 0; f < MINE_FEATURES; ++f) printf(" %.17g", points[f]);
    printf("\\n");
  }
}
"""

JAVA_DRIVER = """
public class Driver {
  public static void main(String[] arguments) {
    java.util.Scanner lines = new java.util.Scanner(System.in);
    while (lines.hasNextLine()) {
      String[] words = lines.nextLine().split(" ");
      double[] values = new double[words.length];
      for (int f = 0; f < words.length; ++f) values[f] = Double.parseDouble(words[f]);
      StringBuilder line = new StringBuilder().append(Mine.score(values));
      for (double points : Mine.contributions(values)) line.append(" ").append(points);
      System.out.println(line);
    }
  }
}
"""

JAVASCRIPT_DRIVER = """
import { readFileSync } from "node:fs";
import { contributions, score } from "./mine.mjs";
for (const values of JSON.parse(readFileSync("documents.json")))
  console.log([score(values), ...contributions(values).values()].join(" "));
"""


class Languages(Exporting):
    def test_c(self):
        tool(self, "gcc", "g++")
        for card, documents in self.cards("c"):
            self.expect_head(card, self.export("c", "mine.h").read_text())
            self.file("driver.c", C_DRIVER.encode())
            for compiler, standard in (("gcc", "c99"), ("clang", "c99"), ("g++", "c++11")):
                if shutil.which(compiler):
                    language = "c++" if compiler == "g++" else "c"
                    self.run_tool(compiler, f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1", "-x", language,
                                  "driver.c", "-o", "driver")
                    found = self.run_tool("./driver", input=self.lines_of_values(card, documents).encode())
                    self.expect_rows(card, documents, found)

    def test_java(self):
        tool(self, "javac", "java")
        for card, documents in self.cards("java"):
            self.expect_head(card, self.export("java", "Mine.java").read_text())
            self.file("Driver.java", JAVA_DRIVER.encode())
            self.run_tool("javac", "-Xlint:all", "-Werror", "Mine.java", "Driver.java")
            self.expect_rows(card, documents, self.run_tool("java", "Driver", input=self.lines_of_values(card, documents).encode()))

    def test_java_of_many_numbers(self):
        """Java limits the code that begins a class to 64 KB."""
        tool(self, "javac", "java")
        draw = random.Random("large")
        card = Card(draw, names=[str(f + 1) for f in range(20)])
        for name in card.features:
            points = [draw.randrange(0, 1000, 2) + b % 2 for b in range(230)]
            card.features[name] = (sorted({draw.random() for _ in range(229)}), points, 0)
        self.fit(card)
        self.export("java", "Mine.java")
        self.file("Driver.java", JAVA_DRIVER.encode())
        self.run_tool("javac", "-Xlint:all", "-Werror", "Mine.java", "Driver.java")
        documents = card.draw_documents(draw, 3)
        self.expect_rows(card, documents, self.run_tool("java", "Driver", input=self.lines_of_values(card, documents).encode()))

    def test_javascript(self):
        tool(self, "node")
        for card, documents in self.cards("javascript"):
            self.expect_head(card, self.export("javascript", "mine.mjs").read_text())
            self.file("driver.mjs", JAVASCRIPT_DRIVER.encode())
            nulls = [{name: None if math.isnan(x) else x for name, x in card.by_names(document).items()}
                     for document in documents]
            self.file("documents.json", json.dumps(nulls).encode())
            self.expect_rows(card, documents, self.run_tool("node", "driver.mjs").replace("-0", "0"))

    def test_python(self):
        for card, documents in self.cards("python"):
            module = {}
            text = self.export("python", "mine.py").read_text()
            self.expect_head(card, text)
            exec(compile(text, "mine.py", "exec"), module)
            for document in documents:
                values = card.by_names(document)
                self.assertEqual(module["contributions"](values),
                                 card.by_names({name: card.points(name, document.get(name)) for name in card.features}))
                self.assertEqual(module["score"](values), card.score(document))
                none = {name: None if math.isnan(x) else x for name, x in values.items()}
                self.assertEqual(module["score"](none), card.score(document))

    def test_infinite_values_are_beyond_all_cuts(self):
        draw = random.Random("infinite")
        card = Card(draw)
        self.fit(card)
        module = {}
        exec(self.export("python", "mine.py").read_text(), module)
        for name, (_, points, _) in card.features.items():
            name = exported(name)
            self.assertEqual([module["contributions"]({name: x})[name] for x in (math.inf, -math.inf)], [points[-1], points[0]])

    def test_points_that_are_not_whole(self):
        draw = random.Random("scorecard")
        documents = [{"1": draw.gauss(0, 1), "2": draw.gauss(0, 1), "3": draw.random()} for _ in range(60)]
        text = svmlight(documents, [int(d["1"] > d["2"]) for d in documents])
        self.file("train.txt", text)
        self.expect(0, "fit", "--train", "train.txt", "--model", "card.model", "--members", "scorecard", "--quiet")
        module = {}
        exec(self.export("python", "mine.py", "--check", "train.txt", message="gives all 60 documents").read_text(), module)
        scores = self.expect(0, "rank", "--test", "train.txt", "--model", "card.model", "--quiet").stdout
        self.assertEqual([float(score) for score in scores.split()], [module["score"]({f"f{f}": x for f, x in d.items()}) for d in documents])
        self.expect(2, "export", "card.model", "--to", "xgboost", message="found points that are no whole numbers")


class Queries(Exporting):
    def sql_cards(self, seed):
        for card, documents in self.cards(seed):
            query = self.export("sql", "mine.sql").read_text()
            self.expect_head(card, query)
            rows = [[None if math.isnan(x) else x for x in card.dense(document)] for document in documents]
            columns = ", ".join(f'"{exported(name)}" double precision' for name in card.features)
            yield card, documents, query, rows, f"CREATE TABLE documents (place integer, {columns})"

    def expect_table(self, card, documents, rows):
        self.expect_rows(card, documents, "\n".join(
            " ".join(map(repr, [row[-1], *row[1 + len(card.features):-1]])) for row in sorted(rows, key=lambda row: row[0])))

    def test_sqlite(self):
        for card, documents, query, rows, table in self.sql_cards("sqlite"):
            base = sqlite3.connect(":memory:")
            base.execute(table)
            base.executemany(f"INSERT INTO documents VALUES ({', '.join('?' * (len(card.features) + 1))})",
                             [[i, *row] for i, row in enumerate(rows)])
            self.expect_table(card, documents, base.execute(query).fetchall())

    def test_duckdb(self):
        duckdb = library(self, "duckdb")
        for card, documents, query, rows, table in self.sql_cards("duckdb"):
            base = duckdb.connect()
            base.execute(table)
            with_nan = [[i, *(NAN if x is None and i % 2 else x for x in row)] for i, row in enumerate(rows)]
            base.executemany(f"INSERT INTO documents VALUES ({', '.join('?' * (len(card.features) + 1))})", with_nan)
            self.expect_table(card, documents, base.execute(query).fetchall())

    def test_spreadsheet(self):
        """Gnumeric computes the formulas: points are those of the card, and the sum is the score."""
        tool(self, "ssconvert")
        for card, documents in self.cards("xlsx", singles=True):
            # A row without any value has no score.
            documents = [document for document in documents if not all(map(math.isnan, card.dense(document)))][:50]
            sheet = self.export("xlsx", "mine.xlsx")
            self.expect_card_sheet(card, sheet)
            self.fill(sheet, [card.dense(document) for document in documents])
            self.run_tool("ssconvert", "--recalc", "-O", "sheet=documents separator=, format=raw", "mine.xlsx", "mine.txt")
            head, *rows = csv.reader(self.read_text("mine.txt").splitlines())
            names = list(map(exported, card.features))
            self.assertEqual(head, [*names, *(f"points of {name}" for name in names), "score"])
            self.assertEqual(rows[len(documents)][len(names):], [""] * (len(names) + 1))
            self.expect_rows(card, documents, "\n".join(" ".join([row[-1], *row[len(names):-1]]) for row in rows[:len(documents)]))

    def expect_card_sheet(self, card, sheet):
        """The last two columns of the sheet of the card are the unit and the origin of each feature."""
        space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
        with zipfile.ZipFile(sheet) as archive:
            rows = ElementTree.fromstring(archive.read("xl/worksheets/sheet2.xml")).iter(f"{space}row")
        cells = [{cell.get("r")[0]: "".join(cell.itertext()) for cell in row} for row in rows]
        found = {row["A"]: (row["D"], row["E"]) for row in cells[1:] if "E" in row}
        described = any(map(any, card.descriptions.values()))
        self.assertEqual(found, {exported(name): card.descriptions.get(name, ("", "")) for name in card.features} if described else {})

    def fill(self, sheet, rows):
        """Writes values into the first cells of the rows of the sheet of documents; missing ones stay empty."""
        with zipfile.ZipFile(sheet) as archive:
            self.assertIsNone(archive.testzip())
            files = {name: archive.read(name) for name in archive.namelist()}
        text = files["xl/worksheets/sheet1.xml"].decode()
        for number, row in enumerate(rows, 2):
            cells = "".join(f'<c r="{chr(65 + f)}{number}"><v>{x!r}</v></c>' for f, x in enumerate(row) if not math.isnan(x))
            text = text.replace(f'<row r="{number}">', f'<row r="{number}">{cells}')
        for name, content in files.items():
            ElementTree.fromstring(content)
        with zipfile.ZipFile(sheet, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, text if name.endswith("sheet1.xml") else content)

    def test_postgresql(self):
        folders = sorted(os.path.join("/usr/lib/postgresql", version, "bin") for version in
                         (os.listdir("/usr/lib/postgresql") if os.path.isdir("/usr/lib/postgresql") else []))
        if not folders:
            self.skipTest("needs PostgreSQL")
        as_user = []
        if os.geteuid() == 0:  # which PostgreSQL refuses to run as
            tool(self, "runuser")
            as_user = ["runuser", "-u", "postgres", "--"]
            self.folder.chmod(0o777)
        data = self.folder / "data"
        server = [*as_user, os.path.join(folders[-1], "pg_ctl"), "-D", data, "-s", "-w"]
        self.run_tool(*as_user, os.path.join(folders[-1], "initdb"), "-D", data, "-A", "trust", "-N")
        self.run_tool(*server, "-l", data / "log", "-o", f"-k {self.folder} -h ''", "start")
        self.addCleanup(self.run_tool, *server, "-m", "immediate", "stop")
        for card, documents, query, rows, table in self.sql_cards("postgresql"):
            word = lambda i, x: "NULL" if x is None and i % 2 else "'NaN'" if x is None else f"'{x!r}'"
            values = ", ".join(f"({i}, {', '.join(word(i, x) for x in row)})" for i, row in enumerate(rows))
            script = f"DROP TABLE IF EXISTS documents;\n{table};\nINSERT INTO documents VALUES {values};\n{query}"
            found = self.run_tool(*as_user, "psql", "-h", self.folder, "-d", "postgres", "-q", "-t", "-A", "-F", " ", "-v", "ON_ERROR_STOP=1",
                                  "-P", "null=NaN", input=script.encode())
            self.expect_table(card, documents, [[*map(float, line.split())] for line in found.splitlines() if line])


class Libraries(Exporting):
    def matrix(self, card, documents):
        numpy = library(self, "numpy")
        return numpy.array([card.dense(document) for document in documents])

    def test_lightgbm(self):
        lightgbm = library(self, "lightgbm")
        for card, documents in self.cards("lightgbm"):
            booster = lightgbm.Booster(model_str=self.export("lightgbm", "mine.txt").read_text())
            self.assertEqual(booster.num_feature(), len(card.features))
            head = dict(line.split("=") for line in self.read_text("mine.txt").split("\n\n")[0].split("\n") if "=" in line)
            self.assertEqual(head["portable"], "true")
            self.expect_descriptions(card, head.get("feature_units"), head.get("feature_origins"))
            documents = [{name: 0.0 if abs(x) <= 1e-35 else x for name, x in of.items()} for of in documents]  # as LightGBM does
            self.assertEqual(list(booster.predict(self.matrix(card, documents))), list(map(card.score, documents)))

    def test_xgboost(self):
        xgboost = library(self, "xgboost")
        for card, documents in self.cards("xgboost", singles=True):
            booster = xgboost.Booster(model_file=self.export("xgboost", "mine.json"))
            self.assertEqual(booster.attr("portable"), "true")
            self.expect_descriptions(card, booster.attr("feature_units"), booster.attr("feature_origins"))
            data = xgboost.DMatrix(self.matrix(card, documents), feature_names=booster.feature_names)
            self.assertEqual(list(booster.predict(data)), list(map(card.score, documents)))

    def test_xgboost_ubjson(self):
        """A file *.ubj has the same model as a file of JSON."""
        xgboost = library(self, "xgboost")
        for card, documents in self.cards("ubjson", singles=True):
            self.assertEqual(self.export("xgboost", "mine.ubj").read_bytes()[:1], b"{")
            booster = xgboost.Booster(model_file=self.folder / "mine.ubj")
            as_json = xgboost.Booster(model_file=self.export("xgboost", "mine.json"))
            self.assertEqual(booster.save_raw("json"), as_json.save_raw("json"))
            self.assertEqual(booster.feature_names, as_json.feature_names)
            data = xgboost.DMatrix(self.matrix(card, documents), feature_names=booster.feature_names)
            self.assertEqual(list(booster.predict(data)), list(map(card.score, documents)))

    def test_eland(self):
        """The program of the guide, against a server that keeps what eland sends: Elasticsearch's own learning to rank reads it, a forest
        of its inference."""
        library(self, "eland.ml.ltr")
        library(self, "xgboost")
        page = pathlib.Path(__file__).parents[2] / "docs/guides/deploy-elasticsearch-opensearch.md"
        program = page.read_text().partition("```python\n")[2].partition("```\n")[0]
        with ModelServer() as server:
            self.assertIn('"http://localhost:9200"', program)
            self.file("page.py", program.replace("localhost:9200", f"127.0.0.1:{server.server_port}").encode())
            for card, documents in self.cards("eland", names=["body_bm25", "title_bm25"], singles=True):
                self.export("xgboost", "card.json")
                self.run_tool(sys.executable, "page.py")
                path, sent = server.stored.pop()
                self.assertEqual(path, "/_ml/trained_models/card")
                forest = json.loads(gzip.decompress(base64.b64decode(sent["compressed_definition"])))["trained_model"]
                names = [one["query_extractor"]["feature_name"] for one in sent["inference_config"]["learning_to_rank"]["feature_extractors"]]
                self.assertEqual(names, list(card.features))
                for document in documents:
                    self.assertEqual(inference_score(forest["ensemble"], dict(zip(names, card.dense(document)))), card.score(document))

    def test_onnx(self):
        onnxruntime, numpy = library(self, "onnxruntime"), library(self, "numpy")
        for card, documents in self.cards("onnx"):
            session = onnxruntime.InferenceSession(self.export("onnx", "mine.onnx"), providers=["CPUExecutionProvider"])
            self.assertEqual(json.loads(session.get_modelmeta().custom_metadata_map["features"]), list(map(exported, card.features)))
            about = session.get_modelmeta().custom_metadata_map
            if any(map(any, card.descriptions.values())):
                self.expect_descriptions(card, about["feature_units"], about["feature_origins"])
            scores, points = session.run(["score", "contributions"], {"values": self.matrix(card, documents)})
            self.expect_rows(card, documents, "\n".join(" ".join(map(repr, map(float, [*s, *p]))) for s, p in zip(scores, points)))
            self.assertEqual((scores.dtype, scores.shape), (numpy.float64, (len(documents), 1)))

    def test_onnx_of_lists(self):
        """Models whose scores depend on the list get all documents of a query at once."""
        onnxruntime, numpy = library(self, "onnxruntime"), library(self, "numpy")
        for number, (members, missing, unlisted) in enumerate((
                ("linear", "item", "zero"), ("linear", "none", "missing"), ("linear", "zero", "zero"), ("scorecard,linear", "item", "zero"),
                ("scorecard,linear", "item", "missing"), ("card,scorecard", "item", "zero"), ("joint", "item", "zero"),
                ("joint", "none", "missing"), ("joint", "zero", "missing"), ("joint,linear,scorecard", "item", "missing"))):
            draw = random.Random(number)
            value = lambda f: draw.choice([0.0, 1.0, 2.5, draw.gauss(f, 10 ** (f if "joint" not in members else 0))])
            queries = [[{str(f): 7.0 if f == 4 else NAN if draw.random() < .1 else value(f) for f in (1, 2, 4, 9) if draw.random() < .9}
                        for _ in range(draw.randint(1, 20))] for _ in range(40)]
            together = missing == "item"  # whether labels depend on two features together
            relevant = lambda d: int((d.get("1", 0) > 1) != (together and d.get("9", 0) > 1))
            lines = [line.replace(b"qid:1", b"qid:%d" % q) for q, of in enumerate(queries)
                     for line in svmlight(of, list(map(relevant, of))).splitlines(True)]
            self.file("lists.txt", b"".join(lines))
            fitted = self.expect(0, "fit", "--train", "lists.txt", "--model", "card.model", "--members", members,
                                 "--missing-values", missing, "--unlisted", unlisted)
            done = self.expect(0, "export", "card.model", "--to", "onnx", "--out", "mine.onnx", "--check", "lists.txt")
            self.assertIn(b"gives all %d documents of lists.txt the model's scores within 1e-09" % len(lines), done.stderr)
            self.assertIn(b"not portable: scores depend on the list of a query's documents, so a part of the list gets other scores", done.stderr)
            # fit, inspect and export measure the same halves.
            halves = re.search("if each half of a list is scored alone, [0-9.]+ % of the pairs of its documents change their order",
                               done.stderr.decode()).group()
            self.assertIn(halves, fitted.stderr.decode())
            shown = self.told("inspect", "card.model", "--pool", "lists.txt", "--json")["order_changed_in_halves"]
            self.assertIn(f" {100 * shown:.1f} %", halves)
            self.assertIn(halves.encode(), self.expect(0, "inspect", "card.model", "--pool", "lists.txt").stdout)
            session = onnxruntime.InferenceSession(self.folder / "mine.onnx", providers=["CPUExecutionProvider"])
            names = json.loads(session.get_modelmeta().custom_metadata_map["features"])
            absent = float(session.get_modelmeta().custom_metadata_map["absent"])
            pairs = json.loads(session.get_modelmeta().custom_metadata_map["pairs"])
            self.assertEqual([set(pair) <= set(names) for pair in pairs], [True] * len(pairs))
            self.assertEqual(len(pairs) > 0, "joint" in members and together)
            scores = list(map(float, self.expect(0, "rank", "--test", "lists.txt", "--model", "card.model", "--quiet").stdout.split()))
            for of in queries:
                data = numpy.array([[document.get(name[1:], absent) for name in names] for document in of])
                found, points = session.run(["score", "contributions"], {"values": data})
                own, scores = scores[:len(of)], scores[len(of):]
                self.assertEqual(points.shape, (len(of), len(names) + len(pairs)))
                for a, b, row in zip(own, found.ravel(), points):
                    self.assertLessEqual(abs(a - b), 1e-9 * max(1, abs(a)), (members, of))
                    self.assertLessEqual(abs(b - sum(row)), 1e-9 * max(1, abs(a)))

    def test_treelite(self):
        treelite, numpy = library(self, "treelite"), library(self, "numpy")
        for to, load in (("lightgbm", treelite.frontend.load_lightgbm_model), ("xgboost", treelite.frontend.load_xgboost_model)):
            for card, documents in self.cards(f"treelite {to}", singles=True):
                documents = [{name: 0.0 if abs(x) <= 1e-35 else x for name, x in of.items()} for of in documents]
                model = load(self.export(to, "mine.json"))
                data = self.matrix(card, documents).astype(numpy.float64 if to == "lightgbm" else numpy.float32)
                found = treelite.gtil.predict(model, data).reshape(-1)
                self.assertEqual(list(found), list(map(card.score, documents)))

    def test_lightgbm_refuses_names(self):
        card = Card(random.Random("names"), names=["1"])
        self.fit(card)
        self.file("names.tsv", b"1\tBM25 of title\n")
        self.expect(2, "export", "card.model", "--to", "lightgbm", "--names", "names.tsv", message="whose name LightGBM refuses")
        self.export("c", "mine.h", "--names", "names.tsv")
        self.assertIn('"BM25 of title"', self.read_text("mine.h"))


def inference_score(forest, values):
    """The score that Elasticsearch's inference computes from an ensemble of trees (Ensemble, Tree): in double, missing values
    as `default_left` says."""
    assert forest["aggregate_output"] == {"weighted_sum": {}}
    names, total = forest["feature_names"], 0.0
    for model in forest["trained_models"]:
        nodes = {node["node_index"]: node for node in model["tree"]["tree_structure"]}
        node = nodes[0]
        while "split_feature" in node:
            value = values[names[node["split_feature"]]]
            assert node["decision_type"] == "lt"
            left = node["default_left"] if math.isnan(value) else value < node["threshold"]
            node = nodes[node["left_child"] if left else node["right_child"]]
        leaf = node["leaf_value"]
        total += leaf[0] if isinstance(leaf, list) else leaf
    return total


def plugin_score(trees, values):
    """The scores of the LTR plugins of Elasticsearch and OpenSearch (NaiveAdditiveDecisionTree) in three versions: an
    absent value is 0; it is NaN, which goes right; it is NaN, which goes where `missing` says."""
    scores = []
    for absent, follows_missing in ((0.0, False), (NAN, False), (NAN, True)):
        total = 0.0
        for node in trees:
            while "leaf" not in node:
                value = single(values.get(node["split"], absent))
                left, right = node["children"]
                assert (node["yes"], node["no"]) == (left["nodeid"], right["nodeid"])
                if follows_missing and math.isnan(value):
                    node = left if node["missing"] == left["nodeid"] else right
                else:
                    node = left if single(node["split_condition"]) > value else right
            total = single(total + single(node["leaf"]))
        scores.append(total)
    return scores


def solr_score(trees, values):
    """The score of Solr's MultipleAdditiveTreesModel."""
    total = 0.0
    for tree in trees:
        node = tree["root"]
        while "feature" in node:
            threshold = single(single(float(node["threshold"])) + single(1e-6))
            node = node["left"] if single(values.get(node["feature"], 0.0)) <= threshold else node["right"]
        total = single(total + single(float(tree["weight"])) * single(float(node["value"])))
    return total


class ModelServer(http.server.ThreadingHTTPServer):
    """What eland asks of Elasticsearch to store a model: `stored` has the path and the body of each PUT."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self, code, body):
            text = json.dumps(body).encode()
            self.send_response(code)
            for name, value in (("X-Elastic-Product", "Elasticsearch"), ("Content-Type", "application/json"), ("Content-Length", len(text))):
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(text)

        def do_GET(self):
            found = self.path == "/"
            self.answer(200 if found else 404, {"version": {"number": "9.2.0", "build_flavor": "default"}} if found else {"error": "none"})

        def do_PUT(self):
            self.server.stored.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            self.answer(200, {})

        def log_message(self, *args):
            pass

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)
        self.stored = []

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *args):
        self.shutdown()
        self.server_close()


class SearchEngines(Exporting):
    """By evaluators of the engines' published sources: no engine runs here."""

    def test_plugin(self):
        for to in ("elasticsearch", "opensearch"):
            for card, _ in self.cards(to, singles=True):
                model = json.loads(self.export(to, "mine.json").read_bytes())["model"]
                self.assertEqual((model["name"], model["model"]["type"]), ("mine", "model/xgboost+json"))
                for document in card.draw_documents(random.Random(to), listed_missing=False):
                    as_zero, *others = plugin_score(model["model"]["definition"], card.by_names(document))
                    self.assertEqual(others, [card.score(document)] * 2)
                    filled = {name: document.get(name, 0.0) for name in card.features}
                    self.assertEqual(as_zero, card.score(filled))

    def test_feature_set(self):
        """The definitions of the card's features go with the model, no others."""
        card = Card(random.Random(4), names=["age-days", "bm25"])
        self.fit(card)
        of = [{"name": name, "params": ["keywords"], "template": {"match": {name: "{{keywords}}"}}} for name in ("bm25", "other", "age-days")]
        self.file("set.json", json.dumps({"featureset": {"features": of}}).encode())
        model = json.loads(self.export("elasticsearch", "mine.json", "--feature-set", "set.json").read_bytes())["model"]
        self.assertEqual(model["feature_set"], {"name": "mine", "features": [of[2], of[0]]})
        self.file("less.json", json.dumps({"featureset": {"features": of[:2]}}).encode())
        for file, message in (("less.json", 'less.json:1:1: found no feature "age-days", expected all features of the model'),
                              ("card.txt", "card.txt:1:"), ("test.json", "test.json:1:1: found no list featureset.features")):
            self.file("test.json", b"[]")
            self.expect(3, "export", "card.model", "--to", "opensearch", "--feature-set", file, message=message)
        self.expect(2, "export", "card.model", "--to", "solr", "--feature-set", "set.json", message="--feature-set without --to elastic")

    def test_solr(self):
        for card, _ in self.cards("solr", singles=True):
            done = self.expect(0, "export", "card.model", "--to", "solr", "--out", "mine.json")
            model = json.loads(self.read("mine.json"))
            self.assertEqual(model["name"], "mine")
            moved = done.stderr.count(b"as Solr adds 1e-6")
            for document in card.draw_documents(random.Random("solr"), listed_missing=False):
                filled = {name: document.get(name, 0.0) for name in card.features}
                found = solr_score(model["params"]["trees"], card.by_names(document))
                cuts = [cut for of, _, _ in card.features.values() for cut in of]
                if not moved or all(abs(x - cut) > 1e-12 or x == cut for x in filled.values() for cut in cuts):
                    self.assertEqual(found, card.score(filled), document)

    def test_solr_keeps_most_cuts(self):
        card = Card(random.Random(3), names=["1"], cuts=[-3.5, 0.125, 0.5, 1.0, 12.0, 1e6])
        self.fit(card)
        done = self.expect(0, "export", "card.model", "--to", "solr", "--out", "mine.json")
        self.assertNotIn(b"the cut", done.stderr)

    def test_values_that_are_missing(self):
        card = Card(random.Random("missing"), names=["1"], cuts=[0.5])
        card.unlisted, card.missing, card.features["1"] = "missing", "item", ([0.5], [0, 40], 7)
        self.fit(card)
        done = self.expect(0, "export", "card.model", "--to", "solr")
        self.assertNotIn(b"warning", done.stderr)  # no training document misses the value
        card.ends = lambda: [{"1": 0.0}, {"1": 1.0}, {"1": NAN}]
        self.fit(card)
        self.export("solr", "mine.json", message="Solr: a missing value of f1 has 7 points in the model; it gives a document without "
                                                 "a value the points of 0, 0")
        self.export("opensearch", "mine.json", message="but some versions the points of 0, 0")


def linear_score(weights, values):
    """The score of model/linear and of Solr's LinearModel: float32, feature by feature; an absent value is 0."""
    total = 0.0
    for name, weight in weights.items():
        total = single(total + single(single(weight) * single(values.get(name, 0.0))))
    return total


class RawWeights(Exporting):
    """A linear member of `fit --linear-scale pool` as weights of raw values."""

    def lists(self, draw, missing):
        scales = {"1": 1, "2": 1e-4, "4": 1e5, "9": 3}
        return [[{f: draw.gauss(2, 1) * scale for f, scale in scales.items() if not missing or draw.random() < .9}
                 for _ in range(draw.randint(1, 12))] for _ in range(30)]

    def fit_lists(self, lists, *options, code=0, message=""):
        relevant = lambda d: int(d.get("1", 0) + 1e4 * d.get("2", 0) - 1e-5 * d.get("4", 0) > 2)
        self.file("lists.txt", b"".join(line.replace(b"qid:1", b"qid:%d" % q) for q, of in enumerate(lists)
                                        for line in svmlight(of, list(map(relevant, of))).splitlines(True)))
        self.expect(code, "fit", "--train", "lists.txt", "--model", "card.model", "--members", "linear", "--linear-scale", "pool",
                    *options, message=message)

    def scores(self, test):
        self.expect(0, "rank", "--test", test, "--model", "card.model", "--quiet", "--out", "s")
        return list(map(float, self.read("s").split()))

    def test_engines(self):
        for missing in (False, True):
            lists = self.lists(random.Random(missing), missing)
            self.fit_lists(lists)
            documents = [d for of in lists for d in of]
            scores = self.scores("lists.txt")
            for to in ("elasticsearch", "opensearch", "solr"):
                done = self.expect(0, "export", "card.model", "--to", to, "--out", "mine.json", "--check", "lists.txt")
                self.assertIn(f"gives all {len(documents)} documents of lists.txt the model's scores within ".encode(), done.stderr)
                above = float(re.search(rb"scores are the model's plus (\S+), because", done.stderr).group(1))
                whole = json.loads(self.read("mine.json"))
                if to == "solr":
                    self.assertEqual(whole["class"], "org.apache.solr.ltr.model.LinearModel")
                    self.assertEqual([one["name"] for one in whole["features"]], list(whole["params"]["weights"]))
                    weights = whole["params"]["weights"]
                    self.assertTrue(all(isinstance(weight, float) for weight in weights.values()))  # Solr casts to Double
                else:
                    self.assertEqual(whole["model"]["model"]["type"], "model/linear")
                    weights = whole["model"]["model"]["definition"]
                for document, score in zip(documents, scores, strict=True):
                    found = linear_score(weights, {exported(name): x for name, x in document.items()})
                    self.assertAlmostEqual(found - above, score, delta=1e-5)
            self.assertIn(b"; portable: scores depend on a document's own values alone", self.expect(0, "inspect", "card.model").stdout)

    def test_scores_do_not_depend_on_the_list(self):
        lists = self.lists(random.Random(3), True)
        self.fit_lists(lists)
        scores = self.scores("lists.txt")
        self.file("alone.txt", b"".join(line.replace(b" qid:", b" qid:%d0" % i, 1) for i, line in enumerate(self.read("lists.txt").splitlines(True))))
        self.assertEqual(self.scores("alone.txt"), scores)
        told = self.told("inspect", "card.model", "--json")["members"][0]
        self.assertEqual(told["options"]["scale"], "pool")
        for document, score in zip((d for of in lists for d in of), scores):  # the definition
            expected = sum(one["weight"] * (document.get(str(one["feature"]), 0.0) - one["mean"]) / one["deviation"] for one in told["features"])
            self.assertAlmostEqual(expected, score, delta=1e-9)
        why = json.loads(self.expect(0, "explain", "--model", "card.model", "--test", "lists.txt", "--qid", "0", "--format", "json").stdout)
        self.assertEqual(why["document"]["score"], max(scores[:len(lists[0])]))
        shown = self.expect(0, "explain", "--model", "card.model", "--test", "lists.txt", "--qid", "0").stdout
        self.assertIn(b"above the mean of all training documents", shown)

    def test_missing_values_are_named(self):
        lists = self.lists(random.Random(4), True)
        self.fit_lists(lists, "--unlisted", "missing")
        done = self.expect(0, "export", "card.model", "--to", "solr", "--out", "mine.json")
        self.assertRegex(done.stderr.decode(), "a missing value of f2 adds -?[0-9.e-]+ in the model; engines take it as 0, which adds -?[0-9.e-]+")
        done = self.expect(3, "export", "card.model", "--to", "solr", "--out", "mine2.json", "--check", "lists.txt")
        self.assertIn(b"have other scores, in another order", done.stderr)

    def test_refusals(self):
        lists = self.lists(random.Random(5), False)
        self.fit_lists(lists)
        self.expect(2, "export", "card.model", "--to", "c", message="found a model of the kind linear, which this format does not hold, expected one card")
        self.expect(2, "export", "card.model", "--to", "onnx", message="found a linear member fitted with --linear-scale pool, expected --linear-scale query")
        for d in (d for of in lists for d in of):
            d["2"] *= 1e-50
        self.fit_lists(lists)
        self.expect(2, "export", "card.model", "--to", "solr", message='of a raw value of "f2", expected one that float32 holds')
        for d in (d for of in lists for d in of):
            d["2"] *= 1e250
        self.fit_lists(lists, code=3, message="feature 2: found values too large for a deviation")
        self.expect(0, "fit", "--train", "lists.txt", "--model", "card.model", "--members", "linear", "--quiet")
        self.expect(2, "export", "card.model", "--to", "opensearch", message="also hold a linear member fitted with --linear-scale pool")

    def test_a_program_without_this_scale_refuses_the_file(self):
        self.fit_lists(self.lists(random.Random(6), False))
        self.assertNotIn(b'"unit_bits"', self.read("card.model").split(b"\n")[1])
        self.expect(0, "fit", "--train", "lists.txt", "--model", "card.model", "--members", "linear", "--quiet")
        self.assertNotIn(b"pool", self.read("card.model"))  # as before


class Checks(Exporting):
    def test_a_cut_that_float32_moves(self):
        """Values that are double lose the side of a cut that is none of float32."""
        card = Card(random.Random("moved"), names=["1"], cuts=[0.1])
        card.features["1"] = ([0.1], [0, 40], 0)
        card.unlisted = card.missing = "zero"
        self.fit(card)
        beside = math.nextafter(0.1, 0)
        self.file("equal.txt", svmlight([{"1": 0.1}, {"1": 0.09}, {"1": single(0.1)}]))
        self.file("other.txt", svmlight([{"1": 0.1}, {"1": beside}]))
        for to in ("xgboost", "elasticsearch", "opensearch", "solr"):
            self.export(to, "mine", "--check", "equal.txt", message="gives all 3 documents of equal.txt the model's scores")
            self.expect(3, "export", "card.model", "--to", to, "--out", "mine2", "--check", "other.txt",
                        message="other.txt:2:1: the export gives the score 40, expected the model's 0; 1 of 2 documents")
            self.assertFalse((self.folder / "mine2").exists())
        for to in ("c", "java", "javascript", "python", "sql", "lightgbm", "onnx"):
            self.expect(0, "export", "card.model", "--to", to, "--check", "other.txt", message="gives all 2 documents")

    def test_the_same_order(self):
        card = Card(random.Random("order"), names=["1"], cuts=[0.1])
        card.features["1"] = ([0.1], [0, 40], 0)
        card.unlisted = card.missing = "zero"
        self.fit(card)
        self.file("one.txt", svmlight([{"1": math.nextafter(0.1, 0)}]))
        self.expect(0, "export", "card.model", "--to", "xgboost", "--out", "mine", "--check", "one.txt",
                    message="warning: the export gives 1 of 1 document other scores, in the same order: 40 instead of 0 in one.txt, line 1")

    def test_cuts_that_float32_does_not_distinguish(self):
        card = Card(random.Random("near"), names=["1"], cuts=[1.0, math.nextafter(1.0, 2)])
        self.fit(card)
        for to in ("xgboost", "elasticsearch", "opensearch", "solr"):
            self.expect(2, "export", "card.model", "--to", to,
                        message="found the cut 1.0000000000000002 of f1, which float32 does not distinguish from 1")
        self.expect(0, "export", "card.model", "--to", "c")

    def test_real_data(self):
        lines = self.real("letor", "MQ2008", "Fold1", "train.txt").read_bytes().splitlines(True)
        self.file("train.txt", b"".join(lines[:1000]))
        self.expect(0, "fit", "--train", "train.txt", "--model", "card.model", "--max-features", "5", "--target", "labels", "--quiet")
        for to in ("c", "xgboost", "solr", "opensearch"):
            self.export(to, "mine", "--check", self.real("letor", "MQ2008", "Fold1", "test.txt"), message="gives all ")


class Refusals(Exporting):
    def test_models_that_depend_on_the_list(self):
        text = svmlight([{"1": i % 5, "2": i % 3} for i in range(30)], [i % 2 for i in range(30)])
        self.file("train.txt", text)
        portable = "expected one card or scorecard, whose scores depend on a document's own values alone; rulerank fit --members card makes one"
        for members, message in (
                ("rules", "found a model of the kind rules, which no format holds"),
                ("linear", "found a model of the kind linear, whose scores depend on the documents of the list"),
                ("joint", "found a model of the kind joint, whose scores depend on the documents of the list"),
                ("linear,scorecard", "found 2 members, whose combined scores depend on the documents of the list")):
            self.expect(0, "fit", "--train", "train.txt", "--model", "m.model", "--members", members, "--quiet")
            self.expect(2, "export", "m.model", "--to", "c", message=f"m.model: {message}, {portable}")
        self.expect(0, "fit", "--train", "train.txt", "--model", "m.model", "--members", "rules,linear", "--quiet")
        self.expect(2, "export", "m.model", "--to", "onnx", message="m.model: found a member of the kind rules, which no format holds")
        self.expect(0, "fit", "--train", "train.txt", "--model", "m.model", "--members", "joint", "--norm", "query-zscore", "--quiet")
        self.expect(2, "export", "m.model", "--to", "onnx", message="normalized within their query (query-zscore)")
        self.expect(0, "fit", "--train", "train.txt", "--model", "m.model", "--members", "scorecard", "--norm", "query-zscore", "--quiet")
        self.expect(2, "export", "m.model", "--to", "c", message="normalized within their query (query-zscore)")

    def test_messages_say_what_is_portable(self):
        draw = random.Random("portable")
        documents = [{"1": draw.gauss(0, 1), "2": draw.random()} for _ in range(40)]
        self.file("train.txt", svmlight(documents, [int(d["1"] > d["2"]) for d in documents]))
        depends = "not portable: scores depend on the list of a query's documents, so a part of the list gets other scores"
        for members, norm, portable in (("card", "none", True), ("rules", "none", True), ("scorecard", "query-zscore", False),
                                        ("linear", "none", False), ("joint", "none", False), ("card,scorecard", "none", False)):
            done = self.expect(0, "fit", "--train", "train.txt", "--model", "m.model", "--members", members, "--norm", norm)
            self.assertEqual(depends in done.stderr.decode(), not portable, members)
            for verb in (["rank", "--out", "scores"], ["explain", "--qid", "1"]):
                done = self.expect(0, *verb, "--test", "train.txt", "--model", "m.model", "--manifest", "manifest.json")
                self.assertEqual(depends in done.stderr.decode(), not portable, members)
                self.assertEqual(json.loads(self.read("manifest.json"))["portable"], portable)
            first = self.expect(0, "inspect", "m.model").stdout.decode().splitlines()[0]
            self.assertTrue(first.endswith("; portable: scores depend on a document's own values alone" if portable else depends), first)
            self.assertEqual(self.told("inspect", "m.model", "--json")["portable"], portable)

    def test_bad_input(self):
        card = Card(random.Random(1), names=["1", "4"])
        self.fit(card)
        model = self.read("card.model")
        self.check_rows([
            Row("no format", model, "export {in} --out {out}", 2, "--to is required"),
            Row("a format that is none", model, "export {in} --to C --out {out}", 2, "--to: found 'C', expected c, java"),
            Row("no model", b"1 qid:1 1:1\n", "export {in} --to c --out {out}", 3, "{in}:1:1: "),
            Row("two features of one name", model, "export {in} --to c --out {out} --names {names}", 3,
                '{names}:2:3: found the name "a" of feature 1 again', {"names": b"1\ta\n4\ta\n"}),
            Row("documents that are none", model, "export {in} --to c --out {out} --check {test}", 3, "{test}:1:1: ", {"test": b"?\n"}),
        ])
        self.expect(2, "export", "card.model", "--to", "java", "--out", "my-card.java",
                    message="--out: found my-card.java for the class my_card, expected a file whose name is that of a class")

    def test_summary(self):
        card = Card(random.Random(1), names=["1", "4"])
        self.fit(card)
        self.file("test.txt", svmlight([{"1": 1.0}]))
        told = self.told("export", "card.model", "--to", "c", "--out", "mine.h", "--check", "test.txt", "--json")
        self.assertEqual({key: told[key] for key in ("to", "name", "portable", "check")},
                         {"to": "c", "name": "mine", "portable": True,
                          "check": {"documents": 1, "other_scores": 0, "same_order": True}})


if __name__ == "__main__":
    harness.main()

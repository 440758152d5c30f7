"""Texts in other encodings: the same outputs as from UTF-8."""

import gzip
import shutil

import harness
from harness import Row

TEXTS = {
    "windows-1252": ("Le café “noir” coûte 3 €.", "L’été, Voilà un déjeuner.", "café d’été"),
    "KOI8-R": ("Это русский текст.", "Кодировка другого текста.", "русский текст"),
    "Shift_JIS": ("日本語の表と予定。", "検索する文書です。", "検索 日本語"),
    "GB18030": ("中文文档的编码。", "检索系统测试。", "编码 测试"),
    "EUC-KR": ("한국어 문서입니다.", "검색 시험 자료.", "한국어 검색"),
    "ISO-8859-2": ("Zażółć gęślą jaźń.", "Łódź i Kraków.", "Łódź jaźń"),
}


class Encoding(harness.CommandLine):
    def write(self, encoding, python_encoding):
        first, second, query = TEXTS[encoding]
        docs = "".join(f'{{"id": "d{i}", "title": "{first} {i}", "text": "{second * (i % 3)}"}}\n' for i in range(1, 9))
        self.file("docs.jsonl", docs.encode(python_encoding))
        self.file("queries.tsv", "".join(f"q{i}\t{query}\n" for i in range(1, 5)).encode(python_encoding))

    def outputs(self, *more):
        """Standard output and files of each verb that reads texts."""
        search = self.expect(0, "search", "text", "--collection", "docs.jsonl", "--queries", "queries.tsv", "--index", "index", *more)
        self.expect(0, "features", "--collection", "docs.jsonl", "--topics", "queries.tsv", "--out", "pool", *more)
        self.expect(0, "vectors", "--collection", "docs.jsonl", "--dimensions", 2, "--out", "vectors.npy", "--seed", 3, *more)
        shown = self.expect(0, "rank", "--model", "card.model", "--query", self.query, "--collection", "docs.jsonl", *more)
        wanted = self.rulerank("reduce", "--train", "pool", "--unlabelled", "-1", "--show", "docs.jsonl", "--topics", "queries.tsv",
                               "--pending", "pending", "--out", "reduced", *more)
        self.assertEqual(wanted.returncode, 5, wanted.stderr)  # texts that are not the pool's are refused
        return [search.stdout, shown.stdout, *map(self.read, ("index", "pool", "vectors.npy", "pending"))]

    def test_verbs_give_the_bytes_of_utf8(self):
        for encoding, (first, second, self.query) in TEXTS.items():
            with self.subTest(encoding):
                self.write(encoding, "utf-8")
                if encoding == next(iter(TEXTS)):
                    self.expect(0, "features", "--collection", "docs.jsonl", "--topics", "queries.tsv", "--out", "train")
                    train = self.read("train").decode().splitlines()
                    self.file("train", "".join(f"{i % 2}{line[line.index(' '):]}\n" for i, line in enumerate(train)).encode())
                    self.expect(0, "fit", "--train", "train", "--model", "card.model")
                expected = self.outputs()
                self.assertIn(first.encode(), expected[1])
                self.write(encoding, encoding)
                self.assertEqual(self.outputs("--encoding", encoding), expected)
                packed = gzip.compress(self.read("docs.jsonl"))
                self.file("docs.jsonl", packed)
                self.assertEqual(self.outputs("--encoding", encoding), expected)

    def test_the_likely_encoding_is_named(self):
        for encoding in ("KOI8-R", "Shift_JIS", "GB18030", "EUC-KR"):
            self.write(encoding, encoding)
            self.expect(3, "search", "text", "--collection", "docs.jsonl", "--queries", "queries.tsv",
                        message=f"expected UTF-8; the text is probably {encoding}: --encoding {encoding}\n")
        self.file("d.tsv", "1\tcafé\n".encode("latin-1"))
        self.expect(0, "search", "text", "--collection", "d.tsv", "--queries", "d.tsv",
                    message="d.tsv:1:6: found the byte E9, which is not UTF-8; read such bytes as Latin-1\n")

    def test_start_keeps_the_encoding(self):
        self.write("KOI8-R", "KOI8-R")
        line = ["start", "docs.jsonl", "queries.tsv", "--dir", "of", "--judged-queries", 2, "--listen", "127.0.0.1:0"]
        answers = self.folder / "of/labels.tsv"
        answers.mkdir(parents=True)  # ends the run where the label page begins
        self.expect(1, *line, "--encoding", "KOI8-R", message="of/labels.tsv")
        self.assertTrue(self.read("of", "learn-queries.tsv").decode("utf-8-sig").endswith(f"\t{TEXTS['KOI8-R'][2]}\n"))
        pool = self.read("of", "pool.txt")
        shutil.rmtree(f"{self.folder}/of")
        self.write("KOI8-R", "utf-8")
        answers.mkdir(parents=True)
        self.expect(1, *line, message="of/labels.tsv")
        self.assertEqual(self.read("of", "pool.txt"), pool)

    def test_bad_input(self):
        line = "search text --collection {in} --queries {in} --out {out} --encoding "
        self.check_rows([
            Row("another name", b"1\ta\n", line + "latni1", 2, "--encoding: found the encoding 'latni1'"),
            Row("meant name", b"1\ta\n", line + "windows1251x", 2, "(did you mean windows-1251?)"),
            Row("bytes of another", b"1\ta\n2\tb\xff\n", line + "Shift_JIS", 3,
                "{in}:2:4: found the byte FF, expected a character of Shift_JIS"),
            Row("strict", b"1\ta\n2\t\xe9\n", line + "UTF-8", 3, "{in}:2:3: found the byte E9, expected a character of UTF-8"),
            Row("cut off", b"1\ta\x95", line + "Shift_JIS", 3, "{in}:1:4: the Shift_JIS text ends inside a character"),
            Row("without --query", b"1 qid:1 1:1\n", "rank --train {in} --test {in} --encoding UTF-8 --out {out}", 2,
                "--encoding needs --query"),
        ])


if __name__ == "__main__":
    harness.main()

"""Files that were joined, whose later lines begin with a byte order mark, and files whose lines end with a carriage return alone: the
first are read as without the marks, the second are refused with the place, never read as one long line."""

import shlex

import harness

MARK = b"\xef\xbb\xbf"
TEXT = "search text --stemmer none --weights bm25"
EDIT = "search metric --metric edit --k 1"
LABELS = "0 qid:1 1:1\n1 qid:1 1:2\n0 qid:1 1:3\n"
# input: its lines, the command that reads them as {in}, and other files
INPUTS = {
    "tsv": ("d1\tgreen\nd2\tred\n", f"{TEXT} --collection {{in}} --queries q", {"q": "1\tred\n"}),
    "queries": ("1\tgreen\n2\tred\n", f"{TEXT} --collection c --queries {{in}}", {"c": "d1\tgreen\nd2\tred\n"}),
    "table": ("id,text\nd1,green\nd2,red\n", f"{TEXT} --collection {{in}} --queries q", {"q": "1\tred\n"}),
    "jsonl": ('{"id": "d1", "text": "green"}\n{"id": "d2", "text": "red"}\n', f"{TEXT} --collection {{in}} --queries q", {"q": "1\tred\n"}),
    "filter": ("d1\nd2\n", f"{TEXT} --collection c --queries q --filter {{in}}", {"c": "d1\tred\nd2\tred\nd3\tred\n", "q": "1\tred\n"}),
    "qrels": ("1 0 a 1\n2 0 b 1\n", "evaluate --qrels {in} --run r --metrics MAP", {"r": "1 Q0 a 1 2 x\n2 Q0 b 1 1 x\n"}),
    "qrels, a table": ("qid,docid,rating\n1,a,1\n2,b,1\n", "evaluate --qrels {in} --run r --metrics MAP", {"r": "1 Q0 a 1 2 x\n2 Q0 b 1 1 x\n"}),
    "run": ("1 Q0 a 1 2 x\n2 Q0 b 1 1 x\n", "evaluate --qrels q --run name={in} --metrics MAP", {"q": "1 0 a 1\n2 0 b 1\n"}),
    "judgments": ("qid,docid,rating\n1,a,2\n1,b,1\n", "judgments {in} --to qrels", {}),
    "scores": ("3\n2\n1\n", "evaluate --test t --scores name={in} --metrics MAP", {"t": LABELS}),
    "features": ("docid,qid,label,f1\na,1,2,1\nb,1,0,9\n", "rank --train {in} --test {in} --run - --out scores", {}),
    "fimi": ("1 2\n1 2\n2\n", "mine --transactions {in} --min-support 2", {}),
    "baskets": ("tea milk\ntea milk\n", "mine --form baskets --transactions {in} --min-support 2", {}),
    "pairs": ("1 tea\n1 milk\n2 tea\n", "mine --form pairs --transactions {in} --min-support 1", {}),
    "names": ("1\tfirst\n2\tsecond\n", "explain --train t --test t --qid 1 --rank 1 --names {in}", {"t": LABELS}),
    "words": ("abc\ndef\n", f"{EDIT} --collection {{in}} --queries q", {"q": "def\n"}),
}


class LineEnds(harness.CommandLine):
    def run_on(self, data, line, files, code=0, message=""):
        for name, text in files.items():
            self.file(name, text.encode())
        self.file("in", data)
        return self.expect(code, *shlex.split(line.replace("{in}", "in")), message=message).stdout

    def test_joined_files(self):
        for name, (text, line, files) in INPUTS.items():
            with self.subTest(name):
                plain = self.run_on(text.encode(), line, files)
                self.assertTrue(plain)
                for end in (b"\n", b"\r\n"):
                    joined = b"".join(MARK + row.encode() + end for row in text.splitlines())
                    self.assertEqual(self.run_on(joined, line, files), plain)

    def test_lines_that_end_with_carriage_returns_alone(self):
        for name, (text, line, files) in INPUTS.items():
            with self.subTest(name):
                self.run_on(text.replace("\n", "\r").encode(), line, files, 3, "in:1:")

    def test_two_carriage_returns_end_a_line(self):
        for name in ("tsv", "qrels", "baskets", "fimi", "words"):
            with self.subTest(name):
                text, line, files = INPUTS[name]
                self.assertEqual(self.run_on(text.replace("\n", "\r\r\n").encode(), line, files), self.run_on(text.encode(), line, files))

    def test_a_carriage_return_in_a_text_is_a_blank(self):
        line = f"{TEXT} --collection in --queries q"
        found = self.run_on(b"d1\tgreen\rred\nd2\tblue\n", line, {"q": "1\tred\n"})
        self.assertTrue(found.startswith(b"1\t1\td1\t"), found)

    def test_headers_in_the_middle(self):
        for name, message in (("table", "found the header again"), ("pairs", "found the header again"), ("judgments", "found 'rating'"),
                              ("features", 'label "label" is not a number')):
            with self.subTest(name):
                text, line, files = INPUTS[name]
                text = "order_id item\n" + text if name == "pairs" else text
                again = text + text
                self.run_on(again.encode(), line, files, 3, f"in:{again.count(chr(10)) // 2 + 1}:")
                self.run_on(again.encode(), line, files, 3, message)

    def test_blanks_that_do_not_show(self):
        for name, message in (("baskets", r'the item "milk\xc2\xa0" begins or ends with a blank such as U+00A0'),
                              ("words", "in:1: 1 line beginning or ending with a blank such as U+00A0")):
            with self.subTest(name):
                text, line, files = INPUTS[name]
                hidden = text.replace("milk\n", "milk\u00a0\n", 1).replace("abc", "abc\u00a0")
                self.run_on(hidden.encode(), line, files, message=message)


class Ids(harness.CommandLine):
    def test_ids_in_comments(self):
        for comment, docid in (("docid = D12", "D12"), ("docid:D12", "D12"), ("docid: D12 inc = 1", "D12"), ("docno = D12", "D12"),
                               ("D12, red car", "D12"), ("D12 red car", "D12"), ("score 12", "1-1"), ("source: 12", "1-1")):
            with self.subTest(comment):
                self.file("in", f"2 qid:1 1:1 # {comment}\n0 qid:1 1:9 # {comment.replace('12', '13')}\n".encode())
                found = self.expect(0, "rank", "--train", "in", "--test", "in", "--out", "scores", "--run", "-").stdout.decode()
                self.assertTrue(found.startswith(f"1 Q0 {docid} 1 "), found)

    def test_a_document_of_trec_has_one_number(self):
        self.file("q", b"1\tgreen\n")
        for data, message in ((b"<DOC>\n<DOCNO>d1</DOCNO>\n<DOCNO>d2</DOCNO>\n<TEXT>green</TEXT>\n</DOC>\n", "c:3:1: found <DOCNO> again"),
                              (b"<DOC>\n<DOCNO>d1\n<TEXT>green</TEXT>\n</DOC>\n", "c:3:1: found <TEXT> within <DOCNO>"),
                              (b"<DOC>\n<DOCNO>d1\ngreen\n</DOC>\n", "c:2:1: found <DOCNO> without its end")):
            with self.subTest(message):
                self.file("c", data)
                self.expect(3, "search", "text", "--collection", "c", "--queries", "q", message=message)


if __name__ == "__main__":
    harness.main()

"""Files that others change while a run reads or writes them, and requests that no machine can meet."""

import fcntl
import os
import random
import resource
import struct
import time

import harness

DOCUMENTS = b"".join(b"%d qid:%d 1:%d 2:%d # docid = d%d\n" % (n % 3, n // 10, n % 7, n % 5, n)
                     for n in range(1000))


class Faults(harness.CommandLine):
    def old(self, path):
        """A file that was written an hour ago: what is written to it now has another time, however coarse times are."""
        os.utime(path, (time.time() - 3600,) * 2)
        return path

    def changed_while_read(self, change, message):
        """An input is changed after its lines were counted: sizes of queries come from a pipe."""
        documents = self.old(self.file("documents.txt", DOCUMENTS.replace(b"qid:", b"9:")))
        scores = self.file("scores.txt", b"1\n" * 1000)
        pipe = self.folder / "sizes"
        os.mkfifo(pipe)
        process = self.start("evaluate", "--test", documents, "--group", pipe, "--scores", scores)
        with open(pipe, "w") as sizes:  # waits until the program opens it
            change(documents)
            sizes.write("10\n" * 100)
        errors = process.communicate(timeout=harness.HANGS)[1].decode()
        self.assertEqual(process.returncode, 3, errors)
        self.assertIn(f"rulerank: error: {documents}: {message}", errors)

    def test_an_input_is_cut_short(self):
        self.changed_while_read(lambda path: os.truncate(path, 0), "was cut short while it was read")

    def test_an_input_is_overwritten(self):
        def overwrite(path):
            with open(path, "r+b") as file:
                file.write(b"0 1:1 2:1 3:1 4:1 5:1 6:1 7:1\n" * 500)
        self.changed_while_read(overwrite, "was changed while it was read")

    def test_vectors_change_while_they_are_searched(self):
        """Rows of a collection lie in its mapping, those of an index in memory; the filter, which comes from a pipe, is read when
        they do."""
        rows = struct.pack("<2I", 20000, 64) + bytes(n * n % 251 for n in range(20000 * 64))
        asked = self.file("asked.u8bin", struct.pack("<2I", 2, 64) + bytes(128))

        def overwrite(path):
            with open(path, "r+b") as file:
                file.seek(4096)
                file.write(b"\1" * 4096)
        for change, message in ((lambda path: os.truncate(path, 4096), "was cut short while it was read"),
                                (overwrite, "was changed while it was read")):
            base = self.file("base.u8bin", rows)
            self.expect(0, "search", "dense", "--collection", base, "--index", "kept", "--quiet")
            for option, path in (("--collection", base), ("--index", self.folder / "kept")):
                with self.subTest(message, option=option):
                    pipe = self.folder / "filter"
                    os.mkfifo(pipe)
                    process = self.start("search", "dense", option, self.old(path), "--queries", asked, "--filter", pipe,
                                         "--out", "near", "--threads", 8)
                    with open(pipe, "w") as rows_of_filter:  # waits until the program opens it
                        change(path)
                        rows_of_filter.write("1\n19999\n")
                    errors = process.communicate(timeout=harness.HANGS)[1].decode()
                    self.assertEqual(process.returncode, 3, errors)
                    found = message if option == "--collection" else "was changed since it was read"
                    self.assertIn(f"rulerank: error: {path}: {found}", errors)
                    self.assertEqual(errors.count("rulerank: error"), 1, errors)  # of several threads
                    self.assertFalse((self.folder / "near").exists())
                    pipe.unlink()

    def test_documents_change_before_their_search_ends(self):
        """Queries come from a pipe when the documents have been read, or their index has been opened."""
        text = "".join(f"d{d}\t{' '.join(f'w{(d * 7919 + w * w * 31) % 4001}' for w in range(60))}\n" for d in range(5000))
        asked = "".join(f"q{q}\tw{q} w{q + 1} w{q + 2}\n" for q in range(2000))

        def cut(path):
            os.truncate(path, path.stat().st_size // 3)

        def grow(path):
            with open(path, "ab") as file:
                file.write(b"d9\tw1\n")

        def overwrite(path):
            noise = random.Random(1)
            with open(path, "r+b") as file:
                for place in range(0, path.stat().st_size, 8192):
                    file.seek(place)
                    file.write(noise.randbytes(4096))
        for change in (cut, grow, overwrite):
            for option in ("--collection", "--index"):
                with self.subTest(change.__name__, option=option):
                    path = self.file("docs.tsv", text.encode())
                    if option == "--index":
                        self.expect(0, "search", "text", "--collection", path, "--index", "kept", "--quiet")
                        path = self.folder / "kept"
                    pipe = self.folder / "queries"
                    os.mkfifo(pipe)
                    process = self.start("search", "text", option, self.old(path), "--queries", pipe, "--out", "near")
                    with open(pipe, "w") as queries:  # waits until the program opens it
                        change(path)
                        queries.write(asked)
                    errors = process.communicate(timeout=harness.HANGS)[1].decode()
                    self.assertEqual(process.returncode, 3, errors)
                    self.assertRegex(errors, f"rulerank: error: {path}: was (changed|cut short) (while|since) it was read")
                    self.assertFalse((self.folder / "near").exists())
                    pipe.unlink()

    def test_an_index_that_becomes_another_one(self):
        """A loaded index answers as before although its file is replaced by another of equal size and time."""
        texts = [f"{' '.join(f'w{(d * 7919 + w * w * 31) % 401}' for w in range(30))}\n" for d in range(2000)]
        words = [f"{n:05}" for n in range(0, 40000, 7)]
        rows = [bytes(r * n % 251 for n in range(64)) for r in range(2000)]
        head = struct.pack("<2I", 2000, 64)
        floats = struct.Struct("<64f")
        for kind, one, other, asked, more in (
                ("text", "".join(f"d{d:04}\t{text}" for d, text in enumerate(texts)).encode(),
                 "".join(f"d{d:04}\t{text}" for d, text in enumerate(texts[::-1])).encode(), b"q1\tw7 w9\nq2\tw300\n", []),
                ("dense", head + b"".join(rows), head + b"".join(rows[::-1]), struct.pack("<2I", 1, 64) + rows[3], []),
                ("metric", head + b"".join(floats.pack(*row) for row in rows), head + b"".join(floats.pack(*row) for row in rows[::-1]),
                 struct.pack("<2I", 1, 64) + floats.pack(*rows[3]), ["--metric", "l2", "--index-type", "brute"]),
                ("metric", "\n".join(words).encode(), "\n".join(words[::-1]).encode(), b"00014\n", ["--metric", "edit", "--index-type", "brute"])):
            with self.subTest(kind, options=more):
                end = {"dense": "u8bin", "text": "tsv"}.get(kind, "fbin" if "l2" in more else "txt")
                self.file(f"queries.{end}", asked)
                for index, data in (("one", one), ("other", other)):
                    self.expect(0, "search", kind, "--collection", self.file(f"base.{end}", data), *more, "--index", index, "--quiet")
                search = ["search", kind, "--k", 5, "--index", "one", "--quiet", "--out"]
                self.expect(0, *search, "near", "--queries", f"queries.{end}")
                path, new = self.folder / "one", self.read("other")
                self.assertEqual(path.stat().st_size, len(new))
                self.assertNotEqual(self.read("one"), new)
                pipe = self.folder / f"pipe.{end}"
                os.mkfifo(pipe)
                if kind == "dense":  # its queries are read before the index, the rows of a filter after
                    asked = b"".join(b"%d\n" % n for n in range(2000))
                    process = self.start(*search, "again", "--queries", f"queries.{end}", "--filter", pipe)
                else:
                    process = self.start(*search, "again", "--queries", pipe)
                with open(pipe, "wb") as last:  # waits until the program opens it
                    then = path.stat().st_mtime_ns
                    with open(path, "r+b") as file:
                        file.write(new)
                    os.utime(path, ns=(then, then))
                    last.write(asked)
                errors = process.communicate(timeout=harness.HANGS)[1].decode()
                self.assertEqual((process.returncode, errors), (0, ""))
                self.assertEqual(self.read("again"), self.read("near"))
                self.expect(0, *search, "changed", "--queries", f"queries.{end}")
                self.assertNotEqual(self.read("changed"), self.read("near"))  # the other index is another one
                pipe.unlink()

    def test_a_subfolder_of_documents_that_cannot_be_read(self):
        self.folder.chmod(0o755)
        topics = self.file("topics.tsv", b"1\twing\n")
        (self.folder / "docs/open/closed").mkdir(parents=True)
        self.file("docs/a.txt", b"wing")
        self.file("docs/open/b.txt", b"flap")
        (self.folder / "docs/open/closed").chmod(0)
        self.addCleanup((self.folder / "docs/open/closed").chmod, 0o755)
        other = {"user": 65534} if os.geteuid() == 0 else {}
        self.expect(3, "search", "text", "--collection", "docs", "--queries", topics, **other,
                    message="error: docs/open/closed: cannot be read: Permission denied")

    def test_files_that_belong_together_on_a_full_disk(self):
        self.expect(0, "sample", "--documents", "300", "--features", "5", "--queries", "10", "--out-dir", "data")
        line = ["reduce", "--train", "data/Fold1/train.txt", "--out", "out", "--ids", "ids", "--discretizer-out", "cuts"]
        self.expect(0, *line)
        sizes = {name: len(self.read(name)) for name in ("out", "ids", "cuts")}
        for name in sizes:
            (self.folder / name).unlink()
        self.assertEqual(max(sizes, key=sizes.get), "out")
        self.expect_full_disk(sizes["out"] - 1, *line)
        self.assertEqual([name for name in sizes if (self.folder / name).exists()], [])

    def test_files_that_belong_together_beside_a_bad_input(self):
        train = self.file("train.txt", DOCUMENTS)
        for late in (self.file("bad.txt", b"1 x\n"), "absent"):
            self.expect(3, "discretize", "--train", train, "--apply", late, "--out-dir", "new")
            self.assertEqual(self.files_in("new"), {})

    def test_outputs_are_checked_before_inputs_are_read(self):
        for name in ("bad.txt", "bad.run", "bad.fvecs"):
            self.file(name, b"1 x\n")
        self.file("bad.jsonl", b"{\n")
        texts = ["--collection", "bad.jsonl", "--topics", "bad.jsonl"]
        rows = ["--collection", "bad.fvecs", "--queries", "bad.fvecs"]
        for line, options in (
                (["fit", "bad.txt"], ["--model"]),
                (["rank", "--train", "bad.txt", "--test", "bad.txt"], ["--out", "--run"]),
                (["reduce", "--train", "bad.txt"], ["--out", "--ids", "--discretizer-out"]),
                (["reduce", "--train", "bad.txt", "--oracle", "ask", "--out", "o"], ["--resume"]),
                (["tune", "--train", "bad.txt", "--vali", "bad.txt"], ["--out", "--trials", "--resume"]),
                (["label", "--pool", "bad.txt", "--show", "bad.jsonl", "--topics", "bad.jsonl"], ["--out", "--ids", "--resume"]),
                (["evaluate", "--test", "bad.txt", "--scores", "bad.txt"], ["--out"]),
                (["inspect", "bad.txt"], ["--out"]), (["report", "--bench", "bad.jsonl"], ["--out"]),
                (["search", "text", "--collection", "bad.jsonl", "--queries", "bad.jsonl"], ["--out", "--run", "--index"]),
                (["search", "dense", *rows], ["--out", "--run", "--index"]),
                (["search", "metric", *rows, "--metric", "l2"], ["--out", "--run", "--index"]),
                (["fuse", "--run", "bad.run", "bad.run"], ["--out"]),
                (["features", *texts], ["--out", "--candidates-out"]),
                (["mine", "--transactions", "bad.txt", "--min-support", "1"], ["--out"]),
                (["discretize", "--train", "bad.txt", "--out-dir", "new"], ["--discretizer-out"])):
            for option in [*options, "--manifest"]:
                required = [word for word in ("--out", "--model") if word in options and word != option]
                with self.subTest(line=line, option=option):
                    self.expect(1, *line, *(word for one in required[:1] for word in (one, "o")), option, "absent/x",
                                message="error: absent/x: cannot be written: No such file or directory")
        self.expect(0, "sample", "--documents", "60", "--features", "3", "--queries", "6", "--out-dir", "data")
        self.expect(0, "discretize", "--train", "data/Fold1/train.txt", "--out-dir", "new", "--discretizer-out", "new/cuts")

    def test_a_manifest_is_of_what_was_read(self):
        documents = self.file("documents.txt", DOCUMENTS)
        pipe = self.folder / "scores"
        os.mkfifo(pipe)
        process = self.start("evaluate", "--test", documents, "--scores", pipe, "--manifest", "m")
        with open(pipe, "w") as scores:
            self.file("new.txt", DOCUMENTS + b"# more\n").rename(documents)
            scores.write("1\n" * 1000)
        errors = process.communicate(timeout=harness.HANGS)[1].decode()
        self.assertEqual(process.returncode, 3, errors)
        self.assertIn(f"{documents}: was changed since it was read", errors)
        self.assertFalse((self.folder / "m").exists())

    def test_one_run_at_a_time_writes_into_a_folder(self):
        for part in ("train", "vali", "test"):
            path = self.folder / f"data/Fold1/{part}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(DOCUMENTS)
        lock = self.folder / "out/folds/.rulerank.lock"
        lock.parent.mkdir(parents=True)
        line = ["experiment", "--folds", "data", "--out-dir", "out", "--reduce-size", "none",
                "--rank-size", "2", "--baselines", "full"]
        with open(lock, "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.expect(1, *line, message="another run writes to this folder, expected a different folder")
        self.expect(0, *line)
        self.assertFalse(lock.exists())

    def test_messages_send_no_commands_to_the_terminal(self):
        documents = self.file("documents.txt", DOCUMENTS)
        for number, data in enumerate((b"\x1b[31mred\n", b"\xc2\x9b31m\n", b"\xff\n")):
            done = self.expect(3, "evaluate", "--test", documents, "--scores",
                               self.file(f"scores{number}.txt", data))
            self.assertRegex(done.stderr, rb"found '\\x(1b|c2\\x9b|ff)")
            self.assertNotIn(b"\x1b", done.stderr)
            done.stderr.decode("utf-8")

    def test_rules_that_would_take_days(self):
        lines = [b"%d qid:1 " % label + b" ".join(b"%d:%d" % (f, label) for f in range(1, 251))
                 for label in (0, 1) * 10]
        data = self.file("wide.txt", b"\n".join(lines) + b"\n")
        self.expect(2, "rank", "--train", data, "--test", data, "--rule-size", 10, "--threads", 1,
                    message="itemsets for 20 documents, expected at most 2e+12; use a rule size of 6 or less")

    def test_rules_that_no_memory_holds(self):
        data = self.file("two.txt", (" ".join(map(str, range(20))) + "\n").encode() * 2)
        limit = 4 << 30
        self.expect(2, "mine", "--transactions", data, "--min-support", 1, "--rules",
                    "--min-confidence", 0, message="--rules: found about 3.5e+09 rules, more than",
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))

    def test_a_label_of_any_size_is_one_item(self):
        data = self.file("labels.txt", b"2147483647 qid:1 1:1\n0 qid:1 1:2\n7 qid:1 1:3\n")
        limit = 4 << 30
        self.expect(0, "mine", "--train", data, "--min-support", 1, "--rules", "--quiet",
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))

    def test_links_in_a_circle(self):
        (self.folder / "circle").symlink_to("circle")
        data = self.file("documents.txt", DOCUMENTS)
        for line in (["evaluate", "--test", "circle", "--scores", "circle"],
                     ["evaluate", "--folds", "circle", "--scores", "circle"],
                     ["rank", "--train", data, "--test", data, "--settings", "circle"],
                     ["rank", "--train", data, "--test", data, "--settings", "."]):
            self.expect(3, *line)


if __name__ == "__main__":
    harness.main()

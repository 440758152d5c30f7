"""--regroup: outputs with a line for each document keep the order of the input's lines."""

import json
import pathlib
import random

import harness


def interleaved(text, seed):
    """The lines, those of a query in their order but among those of the others, and their places."""
    lines = text.splitlines(keepends=True)
    queries = {}
    for place, line in enumerate(lines):
        queries.setdefault(line.split()[1], []).append(place)
    # Queries still begin in their order, so that the data set is the same.
    waiting = list(queries.values())
    open_queries, order = [], []
    draw = random.Random(seed)
    while waiting or open_queries:
        if waiting and (not open_queries or draw.random() < 0.2):
            open_queries.append(waiting.pop(0))
            order.append(open_queries[-1].pop(0))
        else:
            order.append(draw.choice(open_queries).pop(0))
        open_queries = [query for query in open_queries if query]
    return b"".join(lines[place] for place in order), order


class Regroup(harness.CommandLine):
    def setUp(self):
        super().setUp()
        self.expect(0, "sample", "--documents", "400", "--features", "13", "--queries", "25",
                    "--folds", "3", "--out-dir", "sorted")
        self.order = {}
        for fold in (1, 2, 3):
            (self.folder / f"mixed/Fold{fold}").mkdir(parents=True)
            for part in ("train", "vali", "test"):
                name = f"Fold{fold}/{part}.txt"
                text, self.order[name] = interleaved(self.read("sorted", name), fold)
                (self.folder / "mixed" / name).write_bytes(text)

    def mixed(self, text, name):
        """Lines in the order of the sorted file, as the mixed file has them."""
        lines = text.splitlines(keepends=True)
        return b"".join(lines[place] for place in self.order[name])

    def test_is_needed(self):
        self.expect(3, "rank", "--train", "mixed/Fold1/train.txt", "--test",
                    "sorted/Fold1/test.txt", message="expected its lines together")

    def test_rank_and_evaluate(self):
        train, test = "Fold1/train.txt", "Fold1/test.txt"
        for folder, more in (("sorted", []), ("mixed", ["--regroup"])):
            self.expect(0, "rank", "--train", f"{folder}/{train}", "--test", f"{folder}/{test}",
                        "--out", f"{folder}.scores", "--run", f"{folder}.run", *more)
        self.assertEqual(self.read("sorted.run"), self.read("mixed.run"))
        scores = self.read("sorted.scores")
        self.assertGreater(len(set(scores.split())), 50)
        self.assertNotEqual(self.read("mixed.scores"), scores)
        self.assertEqual(self.read("mixed.scores"), self.mixed(scores, test))
        tables = [self.expect(0, "evaluate", "--test", f"{folder}/{test}", "--scores",
                              f"s={folder}.scores", "--per-query", *more).stdout
                  for folder, more in (("sorted", []), ("mixed", ["--regroup"]))]
        self.assertEqual(tables[0].replace(b"sorted", b"mixed"), tables[1])

    def test_lines_without_documents_take_no_place(self):
        train, test = "Fold1/train.txt", "Fold1/test.txt"
        for name in (train, test):
            lines = self.read("mixed", name).splitlines(keepends=True)
            self.file(pathlib.Path(name).name, b"".join([b"# c\n", *lines[:5], b"\n", *lines[5:]]))
        self.expect(0, "rank", "--train", f"sorted/{train}", "--test", f"sorted/{test}", "--norm",
                    "query-minmax", "--out", "sorted.scores")
        self.expect(0, "rank", "--train", "train.txt", "--test", "test.txt", "--norm",
                    "query-minmax", "--out", "mixed.scores", "--regroup")
        self.expect(0, "fit", "--train", "train.txt", "--norm", "query-minmax", "--model", "model",
                    "--members", "rules", "--regroup")
        self.expect(0, "rank", "--model", "model", "--test", "test.txt", "--out", "fitted.scores",
                    "--regroup")
        expected = self.mixed(self.read("sorted.scores"), test)
        self.assertEqual(self.read("mixed.scores"), expected)
        self.assertEqual(self.read("fitted.scores"), expected)
        self.expect(0, "reduce", "--train", "train.txt", "--out", "r.txt", "--ids", "r.tsv",
                    "--regroup")
        self.expect(0, "reduce", "--train", f"mixed/{train}", "--out", "m.txt", "--ids", "m.tsv",
                    "--regroup")
        self.assertEqual(self.read("r.txt"), self.read("m.txt"))
        self.assertEqual([row.split(b"\t")[0] for row in self.read("r.tsv").splitlines()],
                         [row.split(b"\t")[0] for row in self.read("m.tsv").splitlines()])

    def test_scores_in_three_columns(self):
        test = "Fold1/test.txt"
        seen, lines = {}, []
        for d, line in enumerate(self.read("sorted", test).splitlines()):
            query = line.split()[1][len(b"qid:"):]
            seen[query] = seen.get(query, -1) + 1
            lines.append(b"%s\t%d\t%d\n" % (query, seen[query], d * 7 % 31))
        self.file("sorted.scores", b"".join(lines))
        self.file("mixed.scores", self.mixed(b"".join(lines), test))
        tables = [self.expect(0, "evaluate", "--test", f"{folder}/{test}", "--scores",
                              f"s={folder}.scores", "--per-query", *more).stdout
                  for folder, more in (("sorted", []), ("mixed", ["--regroup"]))]
        self.assertEqual(tables[0].replace(b"sorted", b"mixed"), tables[1])
        self.expect(3, "evaluate", "--test", f"mixed/{test}", "--regroup", "--scores",
                    "sorted.scores", message="sorted.scores:")

    def test_reduce(self):
        train = "Fold2/train.txt"
        for folder, more in (("sorted", []), ("mixed", ["--regroup"])):
            self.expect(0, "reduce", "--train", f"{folder}/{train}", "--out", f"{folder}.txt",
                        "--ids", f"{folder}.tsv", *more)
        kept = set(self.read("sorted.txt").splitlines())
        self.assertGreater(len(kept), 5)
        expected = [line for line in self.read("mixed", train).splitlines() if line in kept]
        self.assertEqual(self.read("mixed.txt").splitlines(), expected)
        lines = self.read("mixed", train).splitlines()
        for mine, theirs in zip(self.read("mixed.tsv").splitlines()[1:],
                                self.read("sorted.tsv").splitlines()[1:], strict=True):
            place, docid, *choice = mine.split(b"\t")
            self.assertIn(docid, lines[int(place)])
            self.assertEqual([docid, *choice], theirs.split(b"\t")[1:])
        # Separate lines of a query stay separate, so the reduced set needs --regroup as its source does.
        test = "sorted/Fold2/test.txt"
        self.expect(0, "rank", "--train", "sorted.txt", "--test", test, "--out", "sorted.scores")
        self.expect(3, "rank", "--train", "mixed.txt", "--test", test, "--out", "mixed.scores",
                    message="expected its lines together")
        self.expect(0, "rank", "--train", "mixed.txt", "--test", test, "--out", "mixed.scores",
                    "--regroup")
        self.assertEqual(self.read("mixed.scores"), self.read("sorted.scores"))

    def test_split_and_discretize_gather(self):
        train = "Fold1/train.txt"
        for folder, more in (("sorted", []), ("mixed", ["--regroup"])):
            self.expect(0, "split", "--in", f"{folder}/{train}", "--folds", "3", "--out-dir",
                        f"{folder}-folds", *more)
            self.expect(0, "discretize", "--train", f"{folder}/{train}", "--out-dir",
                        f"{folder}-bins", *more)
        self.assertEqual(self.read("mixed-bins/train.txt"), self.read("sorted-bins/train.txt"))
        for fold in (1, 2, 3):
            for part in ("train", "vali", "test"):
                name = f"Fold{fold}/{part}.txt"
                self.assertEqual(self.read("mixed-folds", name), self.read("sorted-folds", name))

    def test_experiment(self):
        for folder, more in (("sorted", []), ("mixed", ["--regroup"])):
            self.expect(0, "experiment", "--folds", folder, "--out-dir", f"{folder}-out",
                        "--rank-size", "3", "--random-draws", "2", "--permutations", "200", *more)
        self.assertEqual(self.read("sorted-out/table.md"), self.read("mixed-out/table.md"))
        for system in ("full-rank-3", "reduced-3-rank-3"):
            scores = self.read("sorted-out/scores", system, "Fold3.txt")
            self.assertEqual(self.read("mixed-out/scores", system, "Fold3.txt"),
                             self.mixed(scores, "Fold3/test.txt"))
        # The scores are inputs of a second experiment, with its own systems.
        self.expect(0, "experiment", "--folds", "mixed", "--out-dir", "again", "--rank-size", "3",
                    "--random-draws", "2", "--permutations", "200", "--regroup", "--scores",
                    "copy=mixed-out/scores/full-rank-3")
        results = json.loads(self.read("again/results.json"))
        means = {system["name"]: system["means"] for system in results["systems"]}
        self.assertEqual(means["copy"], means["full-rank-3"])


if __name__ == "__main__":
    harness.main()

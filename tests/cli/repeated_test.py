"""Commands that run twenty times: every run writes the same bytes, with several threads, of every engine that runs here."""

import json
import shutil
import subprocess

import engine_cases_test
import harness

TIMES = 20
MANY = 3000  # objects of a search: sorts and selections of many equal values take their general way
FIT = "fit --train train.txt --model {out}/m --members"
WITHOUT_ENGINES = {
    "rules": f"{FIT} rules", "linear": f"{FIT} linear --strength cross-fit", "scorecard": f"{FIT} scorecard", "joint": f"{FIT} joint",
    "card": f"{FIT} card", "cuts": "discretize --train train.txt --method tube --out-dir {out}",
    "folds": "split --in train.txt --folds 3 --out-dir {out}", "sample": "sample --documents 900 --features 9 --out-dir {out}",
    "vectors": "vectors --collection documents.tsv --dimensions 5 --out {out}/v.npy",
    "features": "features --collection documents.tsv --topics topics.tsv --out {out}/f --candidates-out {out}/c",
    "both": "features --collection documents.tsv --topics topics.tsv --vectors base.fvecs --topic-vectors asked.fvecs --out {out}/f",
    "chosen with members": "reduce --train train.txt --committee rules,ranksvm --rounds 3 --max-documents 20 --out {out}/r",
    "explained": "explain --train train.txt --test test.txt --all --qid 1",
    "significance": "evaluate --test test.txt --scores one.txt --scores two.txt --compare paired-t,fisher",
    "settings": "tune --train train.txt --vali test.txt --out {out}/t --search halving --budget 12",
    "experiment": "experiment --folds folds --out-dir {out} --permutations 99 --random-draws 2",
    "curves": "experiment --folds folds --out-dir {out} --systems rules,linear --budgets 10%,50% --ways random,chosen --random-draws 2",
}


class Repeated(harness.CommandLine):
    def setUp(self):
        super().setUp()
        engine_cases_test.write_inputs(self.folder, MANY)
        for name, by in (("one.txt", 7), ("two.txt", 5)):
            self.file(name, b"".join(b"%d\n" % (n * by % 11) for n in range(120)))
        for fold in ("Fold1", "Fold2"):
            (self.folder / "folds" / fold).mkdir(parents=True)
            for name in ("train", "vali", "test"):
                shutil.copy(self.folder / ("train.txt" if name == "train" else "test.txt"), self.folder / "folds" / fold / f"{name}.txt")

    def run_once(self, line):
        """Standard output and the output files, without those that have times."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        done = self.expect(0, *line.format(out="out").split(), "--threads", "4", "--quiet")
        return done.stdout, {name: data for name, data in self.files_in("out").items() if not name.endswith(".seconds.tsv")}

    def check(self, lines):
        for name, line in lines.items():
            with self.subTest(name):
                first = self.run_once(line)
                self.assertTrue(any([first[0], *first[1].values()]), "no output")
                for time in range(2, TIMES + 1):
                    self.assertEqual(self.run_once(line), first, f"run {time} of {line}")

    def lines_of_engines(self, takes):
        """Lines of each engine that runs here: those of the cases by whose number takes(number) is true."""
        engines = json.loads(subprocess.run([harness.PROGRAM, "engines", "--json"], capture_output=True, check=True).stdout)
        gpu = bool(json.loads(subprocess.run([harness.PROGRAM, "devices", "--json"], capture_output=True, check=True).stdout)["cuda"])
        devices, page = {"cpu": True, "cuda": gpu}, engine_cases_test.of_page()
        return {f"{engine['verb']}, {engine['engine']}, {device}, {case}":
                f"{line.replace('{out}', '{out}/o')} {engine['option']} {engine['engine']} --device {device}"
                for engine in engines for device in engine["runs_on"].split(", ") if devices[device]
                for number, (case, line) in enumerate(engine_cases_test.CASES[engine["verb"]].items())
                if takes(number) and page[engine["verb"], f"{engine['engine']}, {device}"][case] != engine_cases_test.REFUSED}

    def test_engines(self):
        self.check(self.lines_of_engines(lambda number: number == 0))

    def test_slow_engines_and_other_cases(self):
        self.check(self.lines_of_engines(lambda number: number > 0))

    def test_slow_without_engines(self):
        self.check(WITHOUT_ENGINES)


if __name__ == "__main__":
    harness.main()

#!/usr/bin/env python3
"""Copies data sets and shuffles the documents of each query, for comparisons that keep the order of a file.

    shuffled_folds.py LETOR_FOLDER OUT_FOLDER [--sets A,B] [--seeds 10] [--scores FOLDER]

The order of some files follows the labels, and rankers and samplers that keep the order of equal documents profit from it. Writes
OUT_FOLDER/SEED/SET/FoldN/{train,vali,test}.txt. FOLDER has scores of test sets, SET/SYSTEM/FoldN.score; OUT_FOLDER/SEED/scores gets them in
the order of the copies. The copies then take the place of LETOR_FOLDER:

    for seed in OUT_FOLDER/*; do
      neural_gam.py PROGRAM $seed RESULTS/$(basename $seed) --jobs 32
      peers/boosting_machine.py PROGRAM $seed RESULTS/$(basename $seed) --jobs 32
      rulerank experiment --folds $seed/MQ2008 --ties seeded --seed $(basename $seed) --scores AdaRank=$seed/scores/MQ2008/AdaRank --out-dir ...
    done
"""

import common
from validation_parts import letor_sets

PARTS = ("train", "vali", "test")


def main():
    a = common.arguments(__doc__, "letor", "out", sets=list, seeds=10, scores=dict(type=common.path_of))
    for seed in range(1, a.seeds + 1):
        to = a.out / str(seed)
        for name in a.sets or letor_sets(a.letor):
            for fold in sorted((a.letor / name).glob("Fold*")):
                order = {part: common.shuffled(fold / f"{part}.txt", to / name / fold.name / f"{part}.txt", seed) for part in PARTS}
                for path in a.scores.glob(f"{name}/*/{fold.name}.score") if a.scores else ():
                    lines = path.read_text("ascii").splitlines(True)
                    if len(lines) != len(order["test"]):
                        common.fail(f"{path}: found {len(lines)} scores, expected {len(order['test'])}")
                    common.write(to / "scores" / path.relative_to(a.scores), "".join(lines[place] for place in order["test"]))


if __name__ == "__main__":
    main()

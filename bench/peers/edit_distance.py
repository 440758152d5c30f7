"""edit_bench compared with rapidfuzz's cdist, on one core in one run, with equal results:

    python3 bench/peers/edit_distance.py build/bin/edit_bench Spanish.dic [--queries 1000] [--objects N] [--out FILE.jsonl]

Queries are every n-th word of the dictionary and are removed from it; with --objects, this many random words are the
database, and the queries are sampled from the others. cdist gets two lists, so that it compares several words at
once, with workers=1. CPU time is measured for both, for several types of result, with and without a cut-off. The last
line compares total times: all distances, ours including the layout of the words, cdist's for its fastest type.
"""

import json
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402
import needs  # noqa: E402

numpy, rapidfuzz = needs.packages("numpy", "rapidfuzz")

from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist


def main():
    given = common.arguments(__doc__, "program", "words", queries=1000, objects=int, rounds=3, out=pathlib.Path)
    words = given.words.read_bytes().split(b"\n")[:-1]
    every = len(words) // given.queries
    asked = words[::every][:given.queries]
    database = [word for i, word in enumerate(words) if i % every != 0 or i >= every * given.queries]
    if given.objects:
        random.Random(1).shuffle(words)
        database, asked = words[:given.objects], words[given.objects:given.objects + given.queries]
    with common.scratch() as folder:
        files = {name: folder / name for name in ("database", "queries", "matrix")}
        files["database"].write_bytes(b"".join(word + b"\n" for word in database))
        files["queries"].write_bytes(b"".join(word + b"\n" for word in asked))
        lines = common.told_rows(given.program, f"rounds={given.rounds}", *(f"{name}={path}" for name, path in files.items()))
        ours = numpy.fromfile(files["matrix"], dtype=numpy.uint8).reshape(len(asked), len(database))
    left = [word.decode("latin-1") for word in asked]
    right = [word.decode("latin-1") for word in database]
    for radius in (None, 1, 2, 3):
        for kind in (numpy.uint8, numpy.uint16, numpy.int32):
            times = []
            for _ in range(given.rounds):
                start = time.process_time()
                theirs = cdist(left, right, scorer=Levenshtein.distance, workers=1, dtype=kind, score_cutoff=radius)
                times.append(time.process_time() - start)
            expected = ours if radius is None else numpy.minimum(ours, radius + 1)
            if not numpy.array_equal(theirs, expected):
                common.fail("rapidfuzz has other distances")
            lines.append({"what": f"rapidfuzz {rapidfuzz.__version__} cdist", "dtype": kind.__name__,
                          "score_cutoff": radius, "seconds": min(times), "pairs_s": ours.size / min(times)})
    mine = {line["what"]: line["seconds"] for line in lines if "seconds" in line and "dtype" not in line}
    best = min(line["seconds"] for line in lines if "dtype" in line and line["score_cutoff"] is None)
    whole = mine["build"] + mine["matrix"]
    lines.append({"what": "matrix with the words laid out, beside cdist", "objects": len(database), "queries": len(asked),
                  "seconds": whole, "pairs_s": ours.size / whole, "cdist_seconds": best, "times_faster": best / whole,
                  "times_faster_without_laying_out": best / mine["matrix"]})
    for line in lines:
        print(json.dumps(line))
    if given.out:
        common.write_rows(given.out, lines)


if __name__ == "__main__":
    main()

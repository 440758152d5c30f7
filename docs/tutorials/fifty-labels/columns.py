#!/usr/bin/env python3
"""columns.py DOCS.jsonl < PAIRS.txt > OWN.csv: the numbers of each pair's document, for `rulerank features --join`.

DOCS.jsonl has an object a line; its members that are numbers become columns. PAIRS.txt is what `rulerank features` writes.
"""

import csv
import json
import re
import sys


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as lines:
        documents = {one["id"]: one for one in map(json.loads, lines)}
    names = [name for name, value in next(iter(documents.values())).items() if isinstance(value, (int, float))]
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["qid", "docid", *names])
    for line in sys.stdin:
        qid, docid = re.search(r" qid:(\S+) .*# ?docid = (\S+)", line).groups()
        out.writerow([qid, docid, *(documents[docid][name] for name in names)])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""columns.py DOCS.jsonl > OWN.csv: the numbers of each document, for `rulerank features --join`.

DOCS.jsonl has an object in each line; its members that are numbers become columns.
"""

import csv
import json
import sys


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as lines:
        documents = list(map(json.loads, lines))
    names = [name for name, value in documents[0].items() if isinstance(value, (int, float))]
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["docid", *names])
    for one in documents:
        out.writerow([one["id"], *(one[name] for name in names)])


if __name__ == "__main__":
    main()

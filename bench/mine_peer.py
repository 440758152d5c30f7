#!/usr/bin/env python3
"""The miner beside Borgelt's eclat (the Python package pyfim): the same files, one run, one thread.

usage: mine_peer.py PATH/TO/rulerank PATH/TO/mine_bench DATA [OUT.jsonl]

DATA holds chess.dat, mushroom.dat and T10I4D100K.dat in FIMI's form. For each of them and three
supports, what both find is compared, itemset by itemset with its support, before any time is
printed. Then both mine what lies in memory already, in turn; the best of five counts, in seconds of
the processor, which other work on the machine does not blur:

  rulerank       all itemsets into the list that the library gives
  eclat, counts  eclat only counts them by size (report '#'), no itemset is made; the time to take
                 the transactions over from Python (a run that finds nothing) is subtracted
  eclat, sets    eclat as it is called, itemsets as Python objects

Needs pyfim (python3 -m venv V && V/bin/pip install pyfim).
"""

import importlib.metadata
import json
import os
import subprocess
import sys
import time

import fim

ROUNDS = 5
SETS = {"chess": (70, 60, 50), "mushroom": (20, 10, 5), "T10I4D100K": (1, 0.1, 0.02)}


def seconds(work):
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def eclat(transactions, support, report):
    return fim.eclat(transactions, target="s", supp=-support, report=report)


def ours(program, path, support):
    """Itemsets and supports as the program writes them."""
    process = subprocess.Popen(
        [program, "mine", "--transactions", path, "--min-support", str(support), "--quiet"],
        stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        items, _, count = line.rpartition(" (")
        yield tuple(map(int, items.split())), int(count[:-2])
    assert process.wait() == 0


def compare(program, path, transactions, support):
    """The number of itemsets; those of items that all transactions hold may be missing in eclat's."""
    theirs = {tuple(sorted(items)): count for items, count in eclat(transactions, support, "a")}
    everywhere = set.intersection(*map(set, transactions))
    found, left_out = 0, []
    for items, count in ours(program, path, support):
        found += 1
        if items not in theirs and everywhere.issuperset(items):
            left_out.append(items)
        elif theirs.pop(items, None) != count:
            sys.exit(f"{path}, support {support}: {items} differs, so nothing is timed")
    if theirs:
        sys.exit(f"{path}, support {support}: eclat has {len(theirs)} more, so nothing is timed")
    return found, left_out


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    program, bench, data = sys.argv[1:4]
    out = open(sys.argv[4], "w", encoding="ascii") if len(sys.argv) == 5 else None
    print(f"pyfim {importlib.metadata.version('pyfim')}")
    print(f"{'set':<12}{'support':>8}{'itemsets':>10}{'rulerank':>12}{'eclat,counts':>14}"
          f"{'ratio':>7}{'eclat,sets':>13}{'ratio':>7}")
    for name, percents in SETS.items():
        path = os.path.join(data, f"{name}.dat")
        with open(path, encoding="ascii") as lines:
            transactions = [list(map(int, line.split())) for line in lines]
        for percent in percents:
            support = -(-round(percent * len(transactions) * 1000) // 100000)
            found, left_out = compare(program, path, transactions, support)
            mined = json.loads(subprocess.run(
                [bench, path, "all", "vertical", "1", str(support)],
                check=True, capture_output=True, text=True).stdout)
            assert mined["itemsets"] == found
            nothing = seconds(lambda: eclat(transactions, len(transactions) + 1, "#"))
            counts = seconds(lambda: eclat(transactions, support, "#")) - nothing
            sets = seconds(lambda: eclat(transactions, support, "a"))
            us = mined["mine_cpu_s"]
            print(f"{name:<12}{percent:>7}%{found:>10}{us * 1e3:>9.2f} ms{counts * 1e3:>11.2f} ms"
                  f"{counts / us:>7.1f}{sets * 1e3:>10.1f} ms{sets / us:>7.1f}"
                  + (f"  (eclat leaves out {left_out})" if left_out else ""), flush=True)
            if out:
                row = {"set": name, "percent": percent, "support": support, "itemsets": found,
                       "rulerank_s": us, "eclat_counts_s": counts, "eclat_sets_s": sets,
                       "eclat_left_out": left_out}
                print(json.dumps(row), file=out)


if __name__ == "__main__":
    main()

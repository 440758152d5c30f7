#!/usr/bin/env python3
"""The miner compared with Borgelt's eclat, fpgrowth, sam and relim: the same files, one run, one thread.

usage: mine_peer.py MINE_BENCH BORGELT DATA OUT_FOLDER [--rounds 5] [--turns 3]

DATA contains chess.dat, mushroom.dat and T10I4D100K.dat in FIMI's format; `baskets`, a synthetic set of 88,000
baskets of 16,000 items, is written to OUT_FOLDER and removed. BORGELT is mine_borgelt, or the folder of pyfim's
unpacked source package (pip download --no-binary :all: pyfim), from which it is then built with cc -O3.

For each set and three supports, the itemsets of all programs are first compared (by their number and a checksum of
the sets and their supports). Then all mine data in memory, alternately, in CPU seconds; the best of ROUNDS counts in
each of TURNS turns:

  list   every itemset, its items and its support, into one array; the number to quote
  ours   ours into the library's list, a prefix tree; theirs counting itemsets by size, making none

A ratio is the time of the fastest of the four divided by ours, in one turn: median, least and largest over the turns.
Writes results.jsonl, tables.md and manifest.json.
"""

import itertools
import pathlib
import random
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common  # noqa: E402

SETS = {"chess": (70, 60, 50), "mushroom": (20, 10, 5), "T10I4D100K": (1, 0.1, 0.02), "baskets": (1, 0.1, 0.02)}
MACROS = ("NDEBUG", "IDMAPFN", "TATREEFN", "TA_SURR", "PSP_ESTIM", "ISR_PATSPEC", "ISR_CLOMAX", "ISR_NONAMES")
PARTS = {"util": ("arrays", "memsys", "symtab", "random", "sigint"), "math": ("chi2", "gamma", "ruleval"),
         "tract": ("tract", "fim16", "patspec", "clomax", "report", "patred"), "apriori": ("istree",),
         "eclat": ("eclat",), "fpgrowth": ("fpgrowth", "fpgpsp"), "sam": ("sam",), "relim": ("relim",)}


def built(source, folder):
    """Builds mine_borgelt from pyfim's sources."""
    program = folder / "mine_borgelt"
    common.call("cc", "-O3", "-w", *(f"-D{m}" for m in MACROS), *(f"-I{source / p / 'src'}" for p in PARTS),
                *(source / p / "src" / f"{name}.c" for p, names in PARTS.items() for name in names),
                common.ROOT / "bench/peers/mine_borgelt.c", "-lm", "-o", program)
    return program


def draw_baskets(path, baskets=88_000, items=16_000, mean=10.3, seed=1):
    """Skewed as retail baskets are: items by Zipf's law, a few in a large share of the baskets;
    lengths geometric."""
    draw = random.Random(seed)
    upto = list(itertools.accumulate(1 / (rank + 2) for rank in range(items)))
    with open(path, "w", encoding="ascii") as out:
        for _ in range(baskets):
            length = min(80, 1 + int(draw.expovariate(1 / (mean - 0.5))))
            basket = set(draw.choices(range(items), cum_weights=upto, k=length))
            out.write(" ".join(map(str, sorted(basket))) + "\n")


def mixed(x):
    """splitmix64"""
    mask = 2 ** 64 - 1
    x = (x + 0x9e3779b97f4a7c15) & mask
    x = ((x ^ (x >> 30)) * 0xbf58476d1ce4e5b9) & mask
    x = ((x ^ (x >> 27)) * 0x94d049bb133111eb) & mask
    return x ^ (x >> 31)


def same(ours, theirs, everywhere, transactions):
    """Whether the itemsets are the same; a set of one item that occurs in all transactions may be missing."""
    missing = ours["itemsets"] - theirs["itemsets"]
    gap = (ours["checksum"] - theirs["checksum"]) % 2 ** 64
    if missing == 0:
        return gap == 0
    return any(gap == sum(mixed((mixed(item) + mixed(transactions)) % 2 ** 64) for item in some) % 2 ** 64
               for some in itertools.combinations(everywhere, missing)) if 0 < missing <= len(everywhere) else False


def spread(values):
    return [round(v, 3) for v in common.spread(values).values()]


def measured(arguments, borgelt, name, path, percent):
    with open(path, encoding="ascii") as text:
        transactions = [list(map(int, line.split())) for line in text]
    everywhere = sorted(set.intersection(*map(set, transactions)))
    support = -(-round(percent * len(transactions) * 1000) // 100000)
    turns = []
    for _ in range(arguments.turns):
        ours = common.told_rows(arguments.bench, path, "all", "vertical", 1, support)[0]
        theirs = {row["program"]: row for row in common.told_rows(borgelt, path, arguments.rounds, support)}
        for program, row in theirs.items():
            if not same(ours, row, everywhere, len(transactions)):
                common.fail(f"{name}, support {support}: {program} finds other itemsets, so nothing is timed")
        turns.append((ours, theirs))
    ours, theirs = turns[0]

    def median(value):
        return statistics.median(value(*turn) for turn in turns)

    best = {what: min(theirs, key=lambda p, what=what: median(lambda _, them: them[p][what])) for what in ("list_s", "count_s")}
    return {"set": name, "transactions": len(transactions), "percent": percent, "support": support, "itemsets": ours["itemsets"],
            "turns": arguments.turns, "rounds": arguments.rounds, "rulerank_list_s": median(lambda us, _: us["list_cpu_s"]),
            "rulerank_mine_s": median(lambda us, _: us["mine_cpu_s"]),
            **{f"{program}_{what}": median(lambda _, them: them[program][what]) for program in theirs
               for what in ("list_s", "count_s")}, "fastest_list": best["list_s"], "fastest_count": best["count_s"],
            "list_ratio": spread([min(r["list_s"] for r in them.values()) / us["list_cpu_s"] for us, them in turns]),
            "count_ratio": spread([min(r["count_s"] for r in them.values()) / us["mine_cpu_s"] for us, them in turns]),
            "left_out": {p: ours["itemsets"] - row["itemsets"] for p, row in theirs.items() if row["itemsets"] != ours["itemsets"]},
            "commit": ours["commit"]}


def table(rows):
    programs = ("eclat", "fpgrowth", "sam", "relim")
    body = [[r["set"], f"{r['percent']} %", f"{r['itemsets']:,}", r["rulerank_list_s"] * 1e3,
             *(r[f"{p}_list_s"] * 1e3 for p in programs), "{} ({} to {})".format(*r["list_ratio"]), r["rulerank_mine_s"] * 1e3,
             *(r[f"{p}_count_s"] * 1e3 for p in programs), "{} ({} to {})".format(*r["count_ratio"])] for r in rows]
    head = ["set", "support", "itemsets", "rulerank, list, ms", *(f"{p}, list" for p in programs), "fastest over rulerank x",
            "rulerank, its own list, ms", *(f"{p}, counts" for p in programs), "fastest over rulerank x"]
    return common.table(head, body, "Itemsets: one thread, milliseconds of the processor, transactions in memory")


def main():
    a = common.arguments(__doc__, "bench", "borgelt", "data", "out", rounds=5, turns=3, sets=list(SETS))
    rows, hashes = common.Log(a.out / "results.jsonl"), {}
    with common.scratch() as scratch:
        borgelt = built(a.borgelt, scratch) if a.borgelt.is_dir() else a.borgelt
        for name in a.sets:
            path = a.data / f"{name}.dat"
            if name == "baskets":
                path = scratch / "baskets.dat"
                draw_baskets(path)
            hashes[f"{name}.dat"] = common.checksum(path)
            for percent in SETS[name]:
                rows.add(measured(a, borgelt, name, path, percent))
    common.write(a.out / "tables.md", table(rows))
    common.manifest(a.out / "manifest.json", commit=rows[0]["commit"], threads=1, peers="pyfim 6.28's C sources, cc -O3",
                    sha256=hashes)
    print(table(rows))


if __name__ == "__main__":
    main()

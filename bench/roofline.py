#!/usr/bin/env python3
"""roofline.py RESULTS.jsonl: converts the lines of dense_peer_gpu.py to lines from which `rulerank report --bench` draws
a roofline.

A search reads two bytes per dimension of every row and does 2 operations per query, row and dimension. The roofs are
those of an H200: 4.28 TB/s, as in `read_ms`, and the 989 TFLOP/s that NVIDIA states for dense bfloat16.
"""

import json

import common

BYTES_PER_S, OPS_PER_S = 4.28e12, 989e12


def main():
    for one in common.read_rows(common.arguments(__doc__, "results").results):
        rows, dimensions = (int(word.replace(",", "")) for word in one["shape"].rsplit(" ", 1)[0].split(" x "))
        print(json.dumps({"engine": f"flat, queries {one['queries']}", "device": "H200", "shape": one["shape"], "k": one["k"],
                          "seconds": one["device_ms"] / 1e3, "bytes": 2 * rows * dimensions,
                          "ops": 2 * one["queries"] * rows * dimensions, "peak_bytes_per_s": BYTES_PER_S,
                          "peak_ops_per_s": OPS_PER_S}))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""roofline.py RESULTS.jsonl: the lines of dense_peer_gpu.py as lines that `rulerank report --bench` draws a roofline of.

A search reads two bytes a dimension of every row and does 2 operations a query, row and dimension. The roofs are an H200's:
4.28 TB/s, as `read_ms` is of, and the 989 TFLOP/s that NVIDIA gives for dense bfloat16.
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

"""threads.py ROWS BATCHES blas|rows: seconds of each thread of FAISS's flat index, ROWS x 128, l2, k = 32, on two threads.

OPENBLAS_CORETYPE, from outside, has OpenBLAS take the kernels of that processor; OMP_WAIT_POLICY=passive has no thread spin while it waits.
"""
import os
import sys
import time

import faiss
import numpy
import threadpoolctl

blas = next(one for one in threadpoolctl.threadpool_info() if "openblaso" in one["filepath"])
print("core", blas["architecture"], blas["version"], blas["threading_layer"], "threads", blas["num_threads"])
count, batches, way = int(sys.argv[1]), [int(word) for word in sys.argv[2].split(",")], sys.argv[3]
random = numpy.random.default_rng(1)
rows = random.standard_normal((count, 128), dtype=numpy.float32)
queries = random.standard_normal((max(batches), 128), dtype=numpy.float32)
faiss.omp_set_num_threads(2)
index = faiss.IndexFlatL2(128)
index.add(rows)
faiss.cvar.distance_compute_blas_threshold = 1 if way == "blas" else 1 << 30


def of_threads():
    return {task: int(open(f"/proc/self/task/{task}/schedstat").read().split()[0]) / 1e9 for task in os.listdir("/proc/self/task")}


for n in batches:
    goes = []
    for _ in range(2):
        before, begin = of_threads(), time.perf_counter()
        index.search(queries[:n], 32)
        wall, after = time.perf_counter() - begin, of_threads()
        used = sorted((after[task] - before.get(task, 0) for task in after), reverse=True)
        goes.append((sum(used), wall, used))
    total, wall, used = min(goes)
    print(way, n, f"wall {wall:.3f} s, threads {total:.3f} s, {2 * count * 128 * n / total / 1e9:.1f} GFLOP/s a thread's second;",
          "by thread", " ".join(f"{one:.3f}" for one in used if one > .001), flush=True)

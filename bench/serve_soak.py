#!/usr/bin/env python3
"""serve_soak.py PROGRAM [--minutes N] [--rate R] [--device D]

Drives `rulerank serve` on loopback with a mixture of requests and reports its resident memory. Prints a JSON line each minute, and at
the end one with the verdict; exits with 1 if the memory grew or a response had a wrong status.

The mixture, at R requests a second: rankings as JSON, some with explanations, and binary tensors, for a card and for rules; malformed JSON,
wrong sizes of tensors, unknown paths and models, and heads that are too large. At the same time:
  - each 2 s, the file of one model is replaced, and the server loads it;
  - each second, a client begins a request and stops in the head or in the body. The last 50 of them stay connected.

The memory grew if the median of its last quarter exceeds the median of the second quarter by more than 5 % and 8 MB. The first quarter
is left out: allocators and buffers reach their size there.
"""

import argparse
import collections
import http.client
import json
import os
import pathlib
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import serve

LEAST_GROWTH = 8 << 20


def mixture(folder):
    """(name, method, path, body, fields, expected status) of each kind of request, and its weight."""
    test, _ = serve.write_set(folder / "test.txt", 100, 10, 2)
    rows = test.tolist()
    document = {"model": "card", "features": list(range(1, 11)), "rows": rows}
    values = test.astype("<f8").tobytes()
    header = json.dumps({"inputs": [{"name": "features", "datatype": "FP64", "shape": [100, 10],
                                     "parameters": {"binary_data_size": len(values)}}],
                         "parameters": {"binary_data_output": True}}).encode()
    tensor = {"Inference-Header-Content-Length": str(len(header))}

    def ranked(**more):
        return json.dumps({**document, **more}).encode()
    return {
        ("rank", "POST", "/rank", ranked(), (), 200): 8,
        ("rank by rules", "POST", "/rank", ranked(model="rules"), (), 200): 4,
        ("explained", "POST", "/rank", ranked(rows=rows[:20], explain=True), (), 200): 1,
        ("explain", "POST", "/explain", ranked(rows=rows[:20]), (), 200): 1,
        ("tensors", "POST", "/v2/models/card/infer", header + values, tuple(tensor.items()), 200): 6,
        ("tensors of rules", "POST", "/v2/models/rules/infer", header + values, tuple(tensor.items()), 200): 4,
        ("metrics", "GET", "/metrics", b"", (), 200): 1,
        ("page", "GET", "/", b"", (), 200): 1,
        ("malformed", "POST", "/rank", ranked()[:-7], (), 400): 2,
        ("a string in place of a number", "POST", "/rank", ranked(rows=[["x"] * 10]), (), 400): 1,
        ("a short tensor", "POST", "/v2/models/card/infer", header + values[:-8], tuple(tensor.items()), 400): 1,
        ("no model", "POST", "/rank", ranked(model="none"), (), 404): 1,
        ("no path", "GET", "/none", b"", (), 404): 1,
        ("a large head", "GET", "/", b"", (("X", "y" * 9000),), 431): 1,
    }


class Client:
    """A connection that stays open between requests."""

    def __init__(self, port):
        self.port, self.link = port, None

    def send(self, request):
        """The status of the response."""
        _, method, path, body, fields, _ = request
        if self.link is None:
            self.link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        self.link.request(method, path, body or None, dict(fields))
        reply = self.link.getresponse()
        reply.read()
        if reply.will_close:
            self.link.close()
            self.link = None
        return reply.status


def begin_request(port):
    """A client that stops in the head or the body of its request."""
    link = socket.create_connection(("127.0.0.1", port))
    begin = b"POST /rank HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % port
    link.sendall(begin + random.choice([b"", b"Content-Length: 100000\r\n\r\n" + b" " * random.randrange(90000)]))
    return link


def grew(sizes):
    """Whether the medians of the second and the last quarter differ, and both."""
    quarter = max(1, len(sizes) // 4)
    before, after = statistics.median(sizes[quarter:2 * quarter]), statistics.median(sizes[-quarter:])
    return after - before > max(LEAST_GROWTH, .05 * before), before, after


def soak(server, folder, given):
    """(resident bytes each second, wrong statuses, counts) of a server under the mixture."""
    weights = mixture(folder)
    clients = [Client(server.port) for _ in range(4)]
    sizes, wrong, counts, slow = [], collections.Counter(), collections.Counter(), []
    begin = time.monotonic()
    total = int(60 * given.minutes * given.rate)
    for i in range(total):
        time.sleep(max(0.0, begin + i / given.rate - time.monotonic()))
        request = random.choices(list(weights), list(weights.values()))[0]
        status = random.choice(clients).send(request)
        counts[status] += 1
        if status != request[5]:
            wrong[f"{request[0]}: {status}"] += 1
        if time.monotonic() - begin < len(sizes) + 1:
            continue
        sizes.append(server.resident())  # each second
        slow.append(begin_request(server.port))
        if len(slow) > 50:
            slow.pop(0).close()
        if len(sizes) % 2 == 0:
            for model in ("card", "rules"):
                shutil.copy(folder / f"{model}{len(sizes) // 2 % 2}.model", folder / "next")
                os.replace(folder / "next", folder / f"{model}.model")
        if len(sizes) % 60 == 0:
            print(json.dumps({"minute": len(sizes) // 60, "resident_bytes": sizes[-1], "responses": dict(sorted(counts.items()))}), flush=True)
    return sizes, wrong, counts


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("program", type=pathlib.Path)
    words.add_argument("--minutes", type=float, default=20)
    words.add_argument("--rate", type=float, default=50, help="requests per second")
    words.add_argument("--device", default="cpu")
    given = words.parse_args()
    program = given.program.resolve()
    random.seed(1)
    with tempfile.TemporaryDirectory(prefix="rulerank-soak-") as name:
        folder = pathlib.Path(name)
        serve.write_set(folder / "train0.txt", 1000, 10, 1)
        serve.write_set(folder / "train1.txt", 1000, 10, 3)
        for n in (0, 1):
            for model, options in (("card", []), ("rules", ["--members", "rules"])):
                subprocess.run([program, "fit", f"train{n}.txt", "--model", f"{model}{n}.model", "--quiet", *options], cwd=folder, check=True)
        for model in ("card", "rules"):
            shutil.copy(folder / f"{model}0.model", folder / f"{model}.model")
        server = serve.Server([program, "serve", "--quiet", "--listen", "127.0.0.1:0", "--device", given.device,
                               "--model", "card.model", "--model", "rules.model"], folder)
        try:
            sizes, wrong, counts = soak(server, folder, given)
        finally:
            server.stop()
        failed, before, after = grew(sizes)
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[1].split()[1]
        print(json.dumps({"minutes": given.minutes, "rate": given.rate, "resident_second_quarter_bytes": before, "resident_last_quarter_bytes": after,
                          "most_bytes": max(sizes), "grew": failed, "wrong_statuses": dict(wrong), "responses": dict(sorted(counts.items())),
                          "exit_code": server.process.returncode, "commit": version, "device": given.device}))
        if failed or wrong or server.process.returncode != 0:
            sys.exit("serve_soak.py: the memory grew, a response had a wrong status, or the server did not end")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""serve.py PROGRAM [--seconds S] [--rates R,...] [--threads N] [--connections N] [--processes N] [--cores N] [--workload NAME,...] [--system NAME,...]

Measures `rulerank serve` and LightGBM in Python's http.server on loopback. Prints a JSON line for each system, workload and
rate. The generator sends requests at a fixed rate, whether or not earlier ones have been answered (an open loop), on connections
that stay open, from --processes processes. With --cores N the server has N cores and the generator the others. A latency counts from the
time at which a request was due, so waiting in the generator counts, too. Each response is compared with the first one, which must have
the scores of `rulerank rank`.

Workloads:
  json      100 documents of 10 features as JSON; a card and a scorecard, LightGBM with 100 trees
  tensors   1,000 documents of 59 features as binary tensors; rules of size 4 of 1,091 training documents

Where wrk is installed, a line `wrk` has the closed-loop rate of 16 connections. A line `overload` has 64 connections that send without
pause to a server with a queue of four: how many responses were 200 and 503, and how long a 503 took, for the client and, from the head of the request to the end of
the response, by the access log. The package lightgbm is
needed for LightGBM. The last line has the machine and the commit.

`resident_begin_bytes` and `resident_bytes` are the memory after the first 50 requests and at the end of a rate. `stages_ms` are the mean
times of the server's stages, and `joined` is the mean number of requests that a GPU scored together with a request, itself included.
bench/serve_soak.py is a soak.

Rules on a GPU, on a machine with 16 cores:
  serve.py PROGRAM --workload tensors --system rules --device cuda --rates 200,500,1000,1500 --seconds 20 --cores 8 --processes 6 --connections 48
"""

import argparse
import concurrent.futures
import http.client
import json
import multiprocessing
import os
import pathlib
import re
import selectors
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

import numpy

PEER = '''
import json, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import lightgbm, numpy
booster = lightgbm.Booster(model_file=sys.argv[1])
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        scores = booster.predict(numpy.array(body["rows"], dtype=float), num_threads=1)
        order = numpy.argsort(-scores, kind="stable")
        reply = json.dumps({"ranking": [{"document": int(d), "score": float(scores[d])} for d in order]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)
    def log_message(self, *_):
        pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"peer at http://127.0.0.1:{server.server_port}/", file=sys.stderr, flush=True)
server.serve_forever()
'''


def write_set(path, documents, features, seed):
    """Documents in queries of 100; the label follows some of the features."""
    chance = numpy.random.default_rng(seed)
    values = chance.random((documents, features)).round(4)
    want = values[:, :5].sum(axis=1) + chance.normal(0, .4, documents)
    labels = numpy.digitize(want, numpy.quantile(want, [.6, .9]))
    with open(path, "w", encoding="ascii") as out:
        for d in range(documents):
            out.write(f"{labels[d]} qid:{d // 100} " + " ".join(f"{f + 1}:{v:g}" for f, v in enumerate(values[d])) + "\n")
    return values, labels


class Server:
    """A started server; `load` are its resident bytes."""

    def __init__(self, command, cwd):
        self.process = subprocess.Popen(command, cwd=cwd, stderr=subprocess.PIPE)
        line = self.process.stderr.readline().decode()
        found = re.search(r"127\.0\.0\.1:(\d+)/", line)
        if not found:
            sys.exit(f"serve.py: {command[0]}: {line}")
        self.port = int(found[1])

    def resident(self):
        pages = int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()


def send(link, path, body, fields):
    link.request("POST", path, body, fields)
    reply = link.getresponse()
    return reply.status, reply.read()


def counters(port):
    """The values of GET /metrics by name and labels."""
    link = http.client.HTTPConnection("127.0.0.1", port)
    link.request("GET", "/metrics")
    lines = link.getresponse().read().decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


def means(before, after):
    """The mean times of stages, and of the requests scored together, between two readings of /metrics."""
    def mean(name, labels=""):
        count = after[f"{name}_count{labels}"] - before[f"{name}_count{labels}"]
        return (after[f"{name}_sum{labels}"] - before[f"{name}_sum{labels}"]) / max(1, count)
    stages = {stage: round(1000 * mean("rulerank_stage_seconds", f'{{stage="{stage}"}}'), 3) for stage in ("queue", "parse", "score", "total")}
    return {"stages_ms": stages, "joined": round(mean("rulerank_batch_requests"), 2)}


class Connection:
    """A connection of the generator. `due`: when the request that it waits for was due; None: it is free."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.due, self.parts, self.left = None, b"", None

    def send(self, request, due):
        self.due, self.parts, self.left = due, b"", None
        self.socket.sendall(request)

    def read(self):
        """(status, body) once the response is whole."""
        data = self.socket.recv(1 << 20)
        if not data:
            sys.exit("serve.py: the server closed a connection")
        self.parts += data
        if self.left is None and (end := self.parts.find(b"\r\n\r\n")) >= 0:
            self.left = end + 4 + int(re.search(rb"[Cc]ontent-[Ll]ength: *(\d+)", self.parts)[1])
            self.body_at = end + 4
        if self.left is None or len(self.parts) < self.left:
            return None
        return int(self.parts[9:12]), self.parts[self.body_at:]


def generator(task):
    """Sends requests first, first + step, ... of an open loop; (latencies of responses 200, number of others)."""
    port, request, expected, rate, total, begin, first, step, connections, cores = task
    if cores:
        os.sched_setaffinity(0, cores)
    free, latencies, others, i = [Connection(port) for _ in range(connections)], [], 0, first
    waiting = selectors.DefaultSelector()
    busy = 0
    while i < total or busy:
        while free and i < total and begin + i / rate <= time.monotonic():
            link = free.pop()
            link.send(request, begin + i / rate)
            waiting.register(link.socket, selectors.EVENT_READ, link)
            busy, i = busy + 1, i + step
        pause = None if i >= total or not free else max(0.0, begin + i / rate - time.monotonic())
        if not busy:
            time.sleep(pause)
            continue
        for key, _ in waiting.select(pause):
            link = key.data
            if (response := link.read()) is None:
                continue
            took = time.monotonic() - link.due
            waiting.unregister(link.socket)
            free.append(link)
            busy -= 1
            if response[0] != 200:
                others += 1
                continue
            if response[1] != expected:
                sys.exit("serve.py: found another response to the same request")
            latencies.append(took)
    return latencies, others


def open_loop(port, path, body, fields, rate, seconds, given):
    """Sends at a fixed rate; (latencies of responses 200, number of others, seconds that it took)."""
    expected = send(http.client.HTTPConnection("127.0.0.1", port), path, body, fields)[1]
    lines = [f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Content-Length: {len(body)}", *(f"{name}: {value}" for name, value in fields.items())]
    request = "\r\n".join(lines).encode() + b"\r\n\r\n" + body
    begin = time.monotonic() + .3
    tasks = [(port, request, expected, rate, max(1, int(rate * seconds)), begin, n, given.processes, max(1, given.connections // given.processes),
              given.rest) for n in range(given.processes)]
    with multiprocessing.Pool(given.processes) as pool:
        parts = pool.map(generator, tasks, chunksize=1)
    return [took for latencies, _ in parts for took in latencies], sum(others for _, others in parts), time.monotonic() - begin


def overload(port, path, body, fields, seconds, connections=64):
    """Sends without pause; (responses 200, latencies of 503, other statuses)."""
    end = time.monotonic() + seconds
    good, refused, others = [], [], []

    def work():
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while time.monotonic() < end:
            begin = time.monotonic()
            status, _ = send(link, path, body, fields)
            took = time.monotonic() - begin
            (good if status == 200 else refused if status == 503 else others).append(took)
            if status == 503:
                time.sleep(.01)  # the generator has a processor with the server
    with concurrent.futures.ThreadPoolExecutor(connections) as pool:
        for one in [pool.submit(work) for _ in range(connections)]:
            one.result()
    return len(good), sorted(refused), len(others)


def quantile(sorted_values, share):
    return sorted_values[min(len(sorted_values) - 1, int(share * len(sorted_values)))]


def closed_loop(folder, port, path, body, fields, seconds, threads):
    """The rate of wrk with 16 connections."""
    (folder / "body").write_bytes(body)
    lines = [f'wrk.headers["{name}"] = "{value}"' for name, value in fields.items()]
    (folder / "post.lua").write_text(f'wrk.method = "POST"\nlocal f = io.open("{folder}/body", "rb")\nwrk.body = f:read("*a")\n'
                                     + "\n".join(lines) + "\n", encoding="ascii")
    done = subprocess.run(["wrk", "-t", str(threads), "-c", "16", "-d", f"{int(seconds)}s", "-s", folder / "post.lua",
                           f"http://127.0.0.1:{port}{path}"], capture_output=True, text=True, check=True).stdout
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)", done)
    return float(re.search(r"Requests/sec:\s+([\d.]+)", done)[1]), int(failed[1]) if failed else 0


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("program", type=pathlib.Path)
    words.add_argument("--seconds", type=float, default=10, help="of each measurement")
    words.add_argument("--rates", default="50,100,200,400,800,1600", help="requests per second")
    words.add_argument("--threads", type=int, default=0, help="of the server; 0: all")
    words.add_argument("--connections", type=int, default=32, help="of the generator")
    words.add_argument("--processes", type=int, default=1, help="of the generator")
    words.add_argument("--cores", type=int, default=0, help="of the server, the generator has the others; 0: both share all")
    words.add_argument("--device", default="cpu")
    words.add_argument("--workload", default="json,tensors")
    words.add_argument("--system", default="card,scorecard,rules,lightgbm")
    given = words.parse_args()
    program = given.program.resolve()
    rates = [float(rate) for rate in given.rates.split(",")]
    all_cores = sorted(os.sched_getaffinity(0))
    given.rest = all_cores[given.cores:] if given.cores else []
    given.prefix = ["taskset", "-c", ",".join(map(str, all_cores[:given.cores]))] if given.cores else []
    with tempfile.TemporaryDirectory(prefix="rulerank-serve-") as name:
        folder = pathlib.Path(name)
        measure(program, folder, given, rates)
    commit = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[1].split()[1]
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    print(json.dumps({"commit": commit, "cpu": model[1] if model else "", "cores": len(os.sched_getaffinity(0)),
                      "device": given.device, "threads": given.threads, "server_cores": given.cores, "processes": given.processes, "load": os.getloadavg()[0]}))


def measure(program, folder, given, rates):
    def rulerank(*arguments):
        return subprocess.run([program, *map(str, arguments), "--quiet"], cwd=folder, check=True, capture_output=True, text=True).stdout

    systems = set(given.system.split(","))
    serve = [*given.prefix, str(program), "serve", "--quiet", "--listen", "127.0.0.1:0", "--threads", str(given.threads), "--device", given.device]
    cases = []
    if "json" in given.workload:
        train, labels = write_set(folder / "train-json.txt", 4000, 10, 1)
        test, _ = write_set(folder / "json.txt", 100, 10, 2)
        body = json.dumps({"features": list(range(1, 11)), "rows": test.tolist()}).encode()
        for system, options in (("card", []), ("scorecard", ["--members", "scorecard"])):
            if system in systems:
                rulerank("fit", "train-json.txt", "--model", f"{system}.model", *options)
                cases.append((system, "json", [*serve, "--model", f"{system}.model"], "/rank", body, {}, f"{system}.model"))
        if "lightgbm" in systems:
            import lightgbm
            booster = lightgbm.train({"objective": "lambdarank", "verbose": -1, "num_threads": 1},
                                     lightgbm.Dataset(train, labels, group=[100] * 40), 100)
            booster.save_model(folder / "lightgbm.txt")
            (folder / "peer.py").write_text(PEER, encoding="ascii")
            cases.append(("lightgbm", "json", [*given.prefix, sys.executable, "peer.py", "lightgbm.txt"], "/rank", body, {}, None))
    if "tensors" in given.workload and "rules" in systems:
        write_set(folder / "train-tensors.txt", 1091, 59, 3)
        test, _ = write_set(folder / "tensors.txt", 1000, 59, 4)
        rulerank("fit", "train-tensors.txt", "--model", "rules.model", "--members", "rules", "--rule-size", "4")
        values = test.astype("<f8").tobytes()
        header = json.dumps({"inputs": [{"name": "features", "datatype": "FP64", "shape": [1000, 59],
                                         "parameters": {"binary_data_size": len(values)}}],
                             "parameters": {"binary_data_output": True}}).encode()
        cases.append(("rules", "tensors", [*serve, "--model", "rules.model"], "/v2/models/rules/infer", header + values,
                      {"Inference-Header-Content-Length": str(len(header))}, "rules.model"))
    for system, workload, command, path, body, fields, model in cases:
        server = Server(command, folder)
        try:
            check(rulerank, server, path, body, fields, model, f"{workload}.txt")
            alone = sorted(timed(server.port, path, body, fields) for _ in range(50))
            print(json.dumps({"system": system, "workload": workload, "rate": 0, "body_bytes": len(body),
                              "p50_ms": 1000 * statistics.median(alone)}), flush=True)
            begin = server.resident()
            for rate in rates:
                before = counters(server.port) if model else {}
                latencies, others, took = open_loop(server.port, path, body, fields, rate, given.seconds, given)
                latencies.sort()
                line = {"system": system, "workload": workload, "rate": rate, "responses_per_second": round(len(latencies) / took, 1),
                        "not_200": others, "resident_begin_bytes": begin, "resident_bytes": server.resident()}
                for share, key in ((.5, "p50_ms"), (.99, "p99_ms"), (.999, "p999_ms")):
                    line[key] = round(1000 * quantile(latencies, share), 3) if latencies else None
                if model:
                    line |= means(before, counters(server.port))
                print(json.dumps(line), flush=True)
                if latencies and quantile(latencies, .5) > .2:
                    break  # overloaded: the next rates tell no more
            if shutil.which("wrk"):
                per_second, failed = closed_loop(folder, server.port, path, body, fields, given.seconds, given.processes)
                print(json.dumps({"system": system, "workload": workload, "wrk": True, "responses_per_second": per_second,
                                  "not_200": failed}), flush=True)
        finally:
            server.stop()
        if system == "lightgbm":
            continue
        server = Server([*command, "--queue", "4", "--access-log", f"{system}.log"], folder)
        try:
            good, refused, others = overload(server.port, path, body, fields, given.seconds)
            log = [json.loads(line) for line in (folder / f"{system}.log").read_text(encoding="ascii").splitlines()]
            own = sorted(line["total_ms"] for line in log if line.get("status") == 503)
            print(json.dumps({"system": system, "workload": workload, "overload": True, "responses_200": good,
                              "responses_503": len(refused), "others": others,
                              **{f"server_{key}_503_ms": quantile(own, share) if own else None
                                 for share, key in ((.5, "p50"), (.99, "p99"))},
                              **{f"{key}_503_ms": round(1000 * quantile(refused, share), 3) if refused else None
                                 for share, key in ((.5, "p50"), (.99, "p99"))}}), flush=True)
        finally:
            server.stop()


def timed(port, path, body, fields):
    """The seconds of a request without others."""
    link = http.client.HTTPConnection("127.0.0.1", port)
    link.connect()
    begin = time.monotonic()
    send(link, path, body, fields)
    return time.monotonic() - begin


def check(rulerank, server, path, body, fields, model, test):
    """The scores of a response are those of rank."""
    if model is None:
        return
    want = [float(line) for line in rulerank("rank", "--model", model, "--test", test).split()]
    _, text = send(http.client.HTTPConnection("127.0.0.1", server.port), path, body, fields)
    if fields:
        got = list(struct.unpack(f"<{len(want)}d", text[-8 * len(want):]))
    else:
        got = [0.0] * len(want)
        for one in json.loads(text)["ranking"]:
            got[one["document"]] = one["score"]
    if got != want:
        sys.exit("serve.py: found other scores than those of rank")


if __name__ == "__main__":
    main()

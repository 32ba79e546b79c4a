"""Composed cases, compiled, under several frameworks, in one run; prints a table of CPU milliseconds and ratios.

    python benchmarks/composed.py --peer torch=PYTHON --peer jax=PYTHON --peer official=PYTHON [--threads 1] [CASE ...]

This interpreter's `paddle` is measured as "ours". A peer is NAME=PYTHON, an interpreter that has the framework; NAME is torch, jax, or
anything else for another `paddle`. Workers set up and warm up, then run in turn, so that they share the machine's moods.
The last column is our best time over the best peer's, by CPU time with one thread, by wall time with more (or as --by says); --median
takes each worker's median instead. --set names another module of cases: step_cases, convolution_cases.
"""

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time


def worker(cases, framework, case):
    build = importlib.import_module(cases).build
    began = time.perf_counter()
    step, number = build(framework, case)
    check = number(step())
    print(json.dumps({"check": check, "setup_s": time.perf_counter() - began}), flush=True)
    for line in sys.stdin:
        seconds = float(line)
        wall, cpu, end = [], [], time.perf_counter() + seconds
        while len(wall) < 3 or time.perf_counter() < end:
            w, c = time.perf_counter(), time.process_time()
            step()
            wall.append(time.perf_counter() - w)
            cpu.append(time.process_time() - c)
        print(json.dumps({"wall": wall, "cpu": cpu}), flush=True)


class Worker:
    def __init__(self, name, python, cases, case, threads):
        framework = name if name.split("-")[0] in ("torch", "jax") else "paddle"
        count = {k: str(threads) for k in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NPROC")}
        environment = {**os.environ, **count, "GLOG_minloglevel": "2", "JAX_PLATFORMS": "cpu"}
        if framework == "jax" and threads == 1:
            environment["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
        if name == "official":
            environment["MKL_DEBUG_CPU_TYPE"] = "5"
        command = [os.path.expanduser(python), __file__, "--worker", cases, framework, case]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
                                        stderr=subprocess.DEVNULL, cwd=os.path.dirname(os.path.abspath(__file__)))  # fmt: skip
        self.name, self.wall, self.cpu = name, [], []
        self.setup = self.answer()

    def answer(self):
        while line := self.process.stdout.readline():
            if line.startswith("{"):
                return json.loads(line)
        return None

    def run(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        got = self.answer() or {"wall": [], "cpu": []}
        self.wall += got["wall"]
        self.cpu += got["cpu"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def compare(case, pythons, options):
    workers = [w for w in (Worker(n, p, options.set, case, options.threads) for n, p in pythons.items()) if w.setup]
    for _ in range(options.rounds):
        for w in workers:
            w.run(options.seconds)
    for w in workers:
        w.close()
    workers = [w for w in workers if w.cpu]
    of = statistics.median if options.median else min
    calls = 1000 / getattr(importlib.import_module(options.set), "PER_CALL", 1)
    best = {w.name: of(w.cpu if options.by == "cpu" else w.wall) for w in workers}
    expected = workers[0].setup["check"]
    agree = all(abs(w.setup["check"] - expected) <= 2e-3 * abs(expected) for w in workers)
    peers = [t for n, t in best.items() if n != "ours"]
    ratio = f"{best['ours'] / min(peers):8.2f}" if "ours" in best and peers else "       -"
    cells = "".join(f"{best[n] * calls:12.{options.digits}f}" if n in best else "           -" for n in pythons)
    print(f"{case:18}{cells}{ratio}{'' if agree else '   CHECK DIFFERS'}", flush=True)


def main():
    if len(sys.argv) > 4 and sys.argv[1] == "--worker":
        return worker(*sys.argv[2:5])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each turn")
    parser.add_argument("--set", default="composed_cases", help="the module that has the cases")
    parser.add_argument("--by", choices=["wall", "cpu"])
    parser.add_argument("--median", action="store_true")
    parser.add_argument("--digits", type=int, default=2, help="of a millisecond")
    parser.add_argument("cases", nargs="*")
    args = parser.parse_args()
    args.by = args.by or ("cpu" if args.threads == 1 else "wall")
    pythons = {"ours": sys.executable, **dict(p.split("=", 1) for p in args.peer)}
    print(f"{'case, ms':18}{''.join(f'{n:>12}' for n in pythons)}   ratio")
    for case in args.cases or importlib.import_module(args.set).CASES:
        compare(case, pythons, args)


if __name__ == "__main__":
    main()

"""Compiled against eager for each model of the collection (tests/models/zoo): inference, one thread, CPU time.

    python benchmarks/models.py [--rounds 7] [--seconds 0.03] [--batch N] [--markdown FILE] [NAME ...]

The two run in turn, a chunk each, in one process; the figure is the least time per call over the rounds. The ratio is
compiled over eager: below 1 the compiled model is faster.
"""

import argparse
import contextlib
import math
import os
import sys
import time

for _variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "models"))

import paddle  # noqa: E402
from zoo import load_all  # noqa: E402


def chunk(f, args, seconds):
    """CPU seconds per call over a chunk of about ``seconds``."""
    count, start, end = 0, time.process_time(), time.perf_counter() + seconds
    while True:
        f(*args)
        count += 1
        if time.perf_counter() > end:
            return (time.process_time() - start) / count


def measure(entry, batch, rounds, seconds):
    args = [paddle.to_tensor(a) for a in entry.arrays(batch or entry.batches[0])]
    eager = entry.build(paddle)
    eager.eval()
    compiled = entry.build(paddle)
    compiled.eval()
    paddle.jit.to_static(compiled, full_graph=True)
    best = [math.inf, math.inf]
    with contextlib.nullcontext() if entry.differentiates else paddle.no_grad():
        for f in (eager, compiled):
            for _ in range(3):
                f(*args)
        for _ in range(rounds):
            for k, f in enumerate((eager, compiled)):
                best[k] = min(best[k], chunk(f, args, seconds))
    return best


def table(rows):
    lines = ["| model | eager, µs | compiled, µs | ratio |", "|---|---|---|---|"]
    lines += [f"| {name} | {a * 1e6:.0f} | {b * 1e6:.0f} | {b / a:.2f} |" for name, (a, b) in rows.items()]
    return "\n".join(lines)


def summary(rows):
    ratios = [b / a for a, b in rows.values()]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    faster, slower = sum(r < 0.9 for r in ratios), sum(r > 1.05 for r in ratios)
    return f"{len(ratios)} models: geometric mean {mean:.2f}, faster by over 10 % {faster}, slower by over 5 % {slower}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.03)
    parser.add_argument("--batch", type=int, default=0)
    parser.add_argument("--markdown")
    given = parser.parse_args()
    models, rows = load_all(), {}
    for name in given.names or sorted(models):
        try:
            rows[name] = measure(models[name], given.batch, given.rounds, given.seconds)
        except Exception as error:
            print(f"{name:24s} {type(error).__name__}: {str(error).splitlines()[0][:120]}", flush=True)
            continue
        a, b = rows[name]
        print(f"{name:24s} {a * 1e6:9.0f} {b * 1e6:9.0f} {b / a:6.2f}", flush=True)
    print(summary(rows))
    if given.markdown:
        with open(given.markdown, "w") as f:
            f.write(table(rows) + "\n\n" + summary(rows) + "\n")


if __name__ == "__main__":
    main()

"""What one instruction of a program costs: a chain of 1,000 tiny operators, run by kernels one after the other.

    python benchmarks/executor_overhead.py

The kernel's own time is in it; `eager` is the same chain called from Python.
"""

import os

os.environ.setdefault("FLAGS_use_cinn", "0")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import statistics
import time

import paddle

STEPS = 1000


def chain(x):
    for _ in range(STEPS // 2):
        x = x + 1.0
        x = x * 0.5
    return x


def per_step(fn, x, rounds=200):
    fn(x)
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        fn(x)
        times.append(time.perf_counter() - start)
    return statistics.median(times) / STEPS * 1e6


def main():
    x = paddle.ones([16])
    with paddle.no_grad():
        program = paddle.jit.to_static(chain, full_graph=True)
        print(f"program {per_step(program, x):.3f} us an instruction, eager {per_step(chain, x, 50):.3f} us a call")


main()

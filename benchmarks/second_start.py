"""What the first call of a compiled model costs, in a process that compiles everything and in one that finds it on disk.

    python benchmarks/second_start.py --bench FOLDER [--torch PYTHON] [CASE ...]

FOLDER holds bench_paddle.py (and bench_torch.py) with CASES: name -> (make, variants), make(variant) -> {"step": callable}.
Each first call runs in a process of its own, by one thread: tracing is part of it, import and building the model aren't. CPU
milliseconds, since the clock says little on a machine that others use; behind the slash what is left without a steady call.
Rows: cold (nothing on disk), second (the median of three), eager; with --torch also torch.compile with empty caches.
"""

import argparse
import importlib
import os
import statistics
import subprocess
import sys
import tempfile
import time

CASES = ["llama_train_step", "llama_decode", "resnet18_b1", "pinn_step", "rmsnorm", "softmax", "ln_gelu_res", "chain10_4m",
         "rmsnorm_bf16"]  # fmt: skip


def one(folder, module, case, variant):
    sys.path.insert(0, folder)
    sys.argv = [module, "--case", case, "--variant", variant, "--threads", "1"]
    bench = importlib.import_module(module)
    step = bench.CASES[case][0](variant)["step"]

    def timed():
        began = time.process_time()
        step()
        return 1e3 * (time.process_time() - began)

    first = timed()
    timed()
    print(first, min(timed() for _ in range(3)))


def measure(python, options, module, case, variant, environment):
    command = [python, __file__, "--bench", options.bench, "--one", module, case, variant]
    out = subprocess.run(
        command, env={**os.environ, "OMP_NUM_THREADS": "1", **environment}, capture_output=True, text=True
    )
    if out.returncode:
        return None
    first, steady = map(float, out.stdout.split()[-2:])
    return first, first - steady


def text(pair):
    return "failed" if pair is None else f"{pair[0]:.0f} / {pair[1]:.0f}"


def row(options, case):
    with tempfile.TemporaryDirectory() as folder:
        ours = ("bench_paddle", case)
        kept = {"FLAGS_compile_cache_dir": os.path.join(folder, "ours")}
        cold = measure(sys.executable, options, *ours, "compiled", kept)
        seconds = [measure(sys.executable, options, *ours, "compiled", kept) for _ in range(3)]
        second = tuple(map(statistics.median, zip(*seconds))) if None not in seconds else None
        line = [case, text(cold), text(second), text(measure(sys.executable, options, *ours, "eager", kept))]
        if options.torch:
            empty = {"TORCHINDUCTOR_CACHE_DIR": folder + "/inductor", "TRITON_CACHE_DIR": folder + "/triton"}
            line.append(text(measure(options.torch, options, "bench_torch", case, "compiled", empty)))
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--torch")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    if options.one:
        return one(options.bench, *options.one)
    print("| case | cold | second | eager |" + (" torch.compile, cold |" if options.torch else ""))
    for case in options.cases or CASES:
        print("| " + " | ".join(row(options, case)) + " |", flush=True)


if __name__ == "__main__":
    main()

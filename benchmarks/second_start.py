"""What the first call of a compiled model costs, in a process that compiles everything and in one that finds it on disk.

    python benchmarks/second_start.py --bench FOLDER [--torch PYTHON] [--runs N] [CASE ...]

FOLDER holds bench_paddle.py (and bench_torch.py) with CASES: name -> (make, variants), make(variant) -> {"step": callable}.
Each first call runs in a process of its own, by one thread: tracing is part of it, import and building the model aren't.
Milliseconds by CPU time and by the clock. Cold: nothing on disk; second: another process, which finds programs, machine
code and transformed Python there; eager: not compiled at all; steady: the best of later compiled calls. The least of
--runs processes each, since what a host takes to hand out memory varies (torch.compile, with empty caches: one). Two ratios of second to cold: of the whole first calls, and
beyond a steady call, which is what starting costs.
"""

import argparse
import importlib
import mmap
import os
import subprocess
import sys
import tempfile
import time

CASES = ["llama_train_step", "llama_decode", "resnet18_b1", "pinn_step", "rmsnorm", "softmax", "ln_gelu_res", "chain10_4m",
         "rmsnorm_bf16"]  # fmt: skip


def touch_and_free(size):
    """A virtual machine may have given free memory back to its host, and getting it again takes 30 times what clearing it does;
    what was free a moment ago is there. The first call gets its pages from the system all the same. Private: shared memory
    would be small pages, which leave the large ones that the call takes where they were."""
    with mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
        memory.madvise(mmap.MADV_HUGEPAGE)
        memory[:: mmap.PAGESIZE] = bytes(size // mmap.PAGESIZE)


def one(folder, module, case, variant):
    sys.path.insert(0, folder)
    sys.argv = [module, "--case", case, "--variant", variant, "--threads", "1"]
    bench = importlib.import_module(module)
    step = bench.CASES[case][0](variant)["step"]
    touch_and_free(512 << 20)

    def timed():
        began, clock = time.process_time(), time.perf_counter()
        step()
        return 1e3 * (time.process_time() - began), 1e3 * (time.perf_counter() - clock)

    first = timed()
    timed()
    print(*first, *map(min, zip(*(timed() for _ in range(3)))))


def measure(python, options, module, case, variant, environment):
    """(CPU, clock) of the first call, then of a steady one; None where it fails."""
    command = [python, __file__, "--bench", options.bench, "--one", module, case, variant]
    out = subprocess.run(
        command, env={**os.environ, "OMP_NUM_THREADS": "1", **environment}, capture_output=True, text=True
    )
    return None if out.returncode else tuple(map(float, out.stdout.split()[-4:]))


def least(options, folders, *rest):
    runs = [measure(sys.executable, options, *rest, folder) for folder in folders]
    return None if None in runs else tuple(map(min, zip(*runs)))


def ratio(a, b):
    return f"{a / b:.2f}" if b > 0 else "-"


def row(options, case):
    with tempfile.TemporaryDirectory() as folder:
        ours = ("bench_paddle", case)
        folders = [{"FLAGS_compile_cache_dir": os.path.join(folder, str(k))} for k in range(options.runs)]
        cold, second, eager = (least(options, folders, *ours, variant) for variant in ("compiled", "compiled", "eager"))
        if None in (cold, second, eager):
            return [case, "failed"]
        line = [
            case,
            *(f"{m[0]:.0f} / {m[1]:.0f}" for m in (cold, second, eager)),
            f"{second[2]:.0f} / {second[3]:.0f}",
        ]
        line.append(ratio(second[0], cold[0]))
        line.append(ratio(second[0] - second[2], cold[0] - second[2]))
        line.append(f"{ratio(second[0], eager[0])} / {ratio(second[1], eager[1])}")
        if options.torch:
            empty = {"TORCHINDUCTOR_CACHE_DIR": folder + "/inductor", "TRITON_CACHE_DIR": folder + "/triton"}
            torch = measure(options.torch, options, "bench_torch", case, "compiled", empty)
            line += ["failed"] if torch is None else [f"{torch[0]:.0f} / {torch[1]:.0f}", ratio(cold[0], torch[0])]
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--torch")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    if options.one:
        return one(options.bench, *options.one)
    print("CPU / clock, ms; second / cold: whole first calls, beyond a steady call; second / eager: CPU / clock")
    print("| case | cold | second | eager | steady | second / cold | beyond | second / eager |", end="")
    print(" torch.compile, cold | cold / torch |" if options.torch else "")
    for case in options.cases or CASES:
        print("| " + " | ".join(row(options, case)) + " |", flush=True)


if __name__ == "__main__":
    main()

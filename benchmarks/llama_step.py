"""A training step of a small Llama, compiled, in two frameworks: time, time outside matrix products, peak memory.

    python benchmarks/llama_step.py [--peer PYTHON] [--threads 2] [--seconds 4]

PYTHON has torch (torch.compile, fused AdamW). Each figure is taken in a process of its own. *Peak* is the process's largest
resident size after 5 steps less its size before the first. *Outside products* is a step less what the framework's own
profiler says of products of matrices, one thread; attention as one operator counts as no product.
"""

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np

WIDTH, LAYERS, HEADS, LENGTH, BATCH, VOCABULARY, HIDDEN = 256, 4, 4, 256, 4, 4096, 688
PRODUCTS = ("matmul", "gemm", "::mm", "::bmm", "::addmm", "::baddbmm", "mkl_linear", "mkldnn_linear")


def weights():
    rng = np.random.RandomState(21)
    matrix = lambda i, o: (rng.randn(i, o) * i**-0.5).astype("float32")  # noqa: E731
    blocks = []
    for _ in range(LAYERS):
        sizes = dict(q=(WIDTH, WIDTH), k=(WIDTH, WIDTH), v=(WIDTH, WIDTH), o=(WIDTH, WIDTH), gate=(WIDTH, HIDDEN), up=(WIDTH, HIDDEN), down=(HIDDEN, WIDTH))  # fmt: skip
        blocks.append({name: matrix(*size) for name, size in sizes.items()})
    embedding = (rng.randn(VOCABULARY, WIDTH) * 0.5).astype("float32")
    ids = rng.randint(0, VOCABULARY, [BATCH, LENGTH + 1]).astype("int64")
    return embedding, blocks, matrix(WIDTH, VOCABULARY), ids


def tables():
    half = WIDTH // HEADS // 2
    angle = np.arange(LENGTH)[:, None] / 10000.0 ** (np.arange(half) / half)
    mask = np.triu(np.full((LENGTH, LENGTH), -1e9, "float32"), 1)[None, None]
    return np.cos(angle).astype("float32")[None, :, None], np.sin(angle).astype("float32")[None, :, None], mask


def build(lib):
    """The model, written once: `lib` says how the framework spells things."""

    class Norm(lib.Module):
        def __init__(self):
            super().__init__()
            self.weight = lib.parameter(self, np.ones(WIDTH, "float32"))

        def forward(self, x):
            return x * lib.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * self.weight

    class Linear(lib.Module):
        def __init__(self, matrix):
            super().__init__()
            self.weight = lib.parameter(self, matrix)

        def forward(self, x):
            return lib.matmul(x, self.weight)

    class Block(lib.Module):
        def __init__(self, matrices):
            super().__init__()
            self.norm1, self.norm2 = Norm(), Norm()
            for name, matrix in matrices.items():
                setattr(self, name, Linear(matrix))

        def rotated(self, x, cos, sin):
            a, b = lib.halves(x)
            return lib.concat([a * cos - b * sin, a * sin + b * cos])

        def forward(self, x, cos, sin, mask):
            h = self.norm1(x)
            split = lambda t: t.reshape([BATCH, LENGTH, HEADS, WIDTH // HEADS])  # noqa: E731
            q, k = self.rotated(split(self.q(h)), cos, sin), self.rotated(split(self.k(h)), cos, sin)
            q, k, v = lib.heads_first(q), lib.heads_first(k), lib.heads_first(split(self.v(h)))
            scores = lib.matmul(q, lib.turned(k)) * (WIDTH // HEADS) ** -0.5 + mask
            out = lib.heads_first(lib.matmul(lib.softmax(scores), v)).reshape([BATCH, LENGTH, WIDTH])
            x = x + self.o(out)
            h = self.norm2(x)
            return x + self.down(lib.silu(self.gate(h)) * self.up(h))

    class Llama(lib.Module):
        def __init__(self):
            super().__init__()
            embedding, blocks, head, _ = weights()
            self.embedding = lib.parameter(self, embedding)
            self.blocks = lib.module_list([Block(b) for b in blocks])
            self.norm, self.head = Norm(), Linear(head)
            for name, table in zip(("cos", "sin", "mask"), tables()):
                self.register_buffer(name, lib.tensor(table))

        def forward(self, ids, labels):
            x = lib.embedding(ids, self.embedding)
            for block in self.blocks:
                x = block(x, self.cos, self.sin, self.mask)
            logits = self.head(self.norm(x))
            return lib.cross_entropy(logits.reshape([-1, VOCABULARY]), labels.reshape([-1]))

    return Llama()


class Paddle:
    def __init__(self, threads):
        import paddle
        import paddle.nn.functional as F

        paddle.set_num_threads(threads) if hasattr(paddle, "set_num_threads") else None
        self.paddle, self.Module, self.module_list = paddle, paddle.nn.Layer, paddle.nn.LayerList
        self.tensor, self.matmul, self.rsqrt = paddle.to_tensor, paddle.matmul, paddle.rsqrt
        self.softmax, self.silu, self.cross_entropy = F.softmax, F.silu, F.cross_entropy
        self.embedding = F.embedding
        self.halves = lambda x: paddle.chunk(x, 2, axis=-1)
        self.concat = lambda x: paddle.concat(x, axis=-1)
        self.heads_first = lambda x: paddle.transpose(x, [0, 2, 1, 3])
        self.turned = lambda x: paddle.transpose(x, [0, 1, 3, 2])

    def parameter(self, layer, value):
        return layer.create_parameter(list(value.shape), default_initializer=self.paddle.nn.initializer.Assign(value))

    def step(self):
        model = build(self)
        optimizer = self.paddle.optimizer.AdamW(learning_rate=1e-3, weight_decay=0.1, parameters=model.parameters())
        compiled = self.paddle.jit.to_static(model, full_graph=True)
        ids, labels = batch(self.paddle.to_tensor)

        def step():
            loss = compiled(ids, labels)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return loss

        return step

    def events(self, step, steps):
        """Milliseconds of each operator, all steps together."""
        from paddle import profiler
        from paddle.profiler.summary import rows_of

        with profiler.Profiler(targets=[profiler.ProfilerTarget.CPU]) as p:
            for _ in range(steps):
                step()
        times = {}
        for (kind, name), row in rows_of(p.profiler_result.spans).items():
            key = "compiled groups" if kind == "Group" else name
            times[key] = times.get(key, 0) + row.own / 1e6
        return times


class Torch:
    def __init__(self, threads):
        import torch
        import torch.nn.functional as F

        torch.set_num_threads(threads)
        self.torch, self.Module, self.module_list = torch, torch.nn.Module, torch.nn.ModuleList
        self.tensor, self.matmul, self.rsqrt = torch.tensor, torch.matmul, torch.rsqrt
        self.silu, self.cross_entropy, self.embedding = F.silu, F.cross_entropy, F.embedding
        self.softmax = lambda x: F.softmax(x, -1)
        self.halves = lambda x: torch.chunk(x, 2, -1)
        self.concat = lambda x: torch.cat(x, -1)
        self.heads_first = lambda x: x.transpose(1, 2)
        self.turned = lambda x: x.transpose(-1, -2)

    def parameter(self, module, value):
        return self.torch.nn.Parameter(self.torch.tensor(value))

    def step(self):
        model = build(self)
        optimizer = self.torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1, fused=True)
        compiled = self.torch.compile(model)
        ids, labels = batch(self.torch.tensor)

        def step():
            loss = compiled(ids, labels)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            return loss

        return step

    def events(self, step, steps):
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CPU]) as p:
            for _ in range(steps):
                step()
        return {e.key: e.self_cpu_time_total / 1e3 for e in p.key_averages()}


def batch(tensor):
    ids = weights()[3]
    return tensor(ids[:, :-1].copy()), tensor(ids[:, 1:].copy())


def resident(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field)) / 1024


def worker(options):
    threads = 1 if options.figure == "outside" else options.threads
    lib = (Torch if importlib.util.find_spec("torch") else Paddle)(threads)
    step = lib.step()
    before = resident("VmRSS")
    losses = [float(step()) for _ in range(5)]
    peak = resident("VmHWM") - before
    times, end = [], time.perf_counter() + options.seconds
    while time.perf_counter() < end:
        began = time.perf_counter()
        step()
        times.append(1e3 * (time.perf_counter() - began))
    result = {"loss": losses[-1], "peak": peak, "ms": statistics.median(times)}
    if options.figure == "outside":
        steps = 5
        events = lib.events(step, steps)
        result["products"] = sum(v for k, v in events.items() if any(p in k for p in PRODUCTS)) / steps
        result["events"] = {k: v / steps for k, v in sorted(events.items(), key=lambda e: -e[1])[:12]}
    print(json.dumps(result))


def measure(python, options, figure):
    environment = dict(os.environ)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        environment[name] = "1" if figure == "outside" else str(options.threads)
    command = [python, __file__, "--worker", figure, "--threads", str(options.threads), "--seconds", str(options.seconds)]  # fmt: skip
    return json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()[-1])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", help="a python with torch")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=4, help="of steps for each time")
    parser.add_argument("--events", action="store_true", help="also the operators that take longest, one thread")
    parser.add_argument("--worker", dest="figure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.figure:
        return worker(options)
    rows = {}
    for name, python in {"ours": sys.executable, "torch.compile": options.peer}.items():
        if not python:
            continue
        whole, alone = measure(python, options, "time"), measure(python, options, "outside")
        rows[name] = (whole["ms"], alone["ms"] - alone["products"], whole["peak"])
        print(f"{name}: loss {whole['loss']:.4f}, {whole['ms']:.1f} ms by {options.threads} threads; one thread {alone['ms']:.1f} ms, of it products {alone['products']:.1f}, outside {rows[name][1]:.1f}; peak {whole['peak']:.1f} MB", flush=True)  # fmt: skip
        if options.events:
            for event, ms in alone["events"].items():
                print(f"    {ms:8.2f} ms  {event}")
    if len(rows) == 2:
        print("ours / torch.compile: time, outside products, peak:", *(f"{a / b:.2f}" for a, b in zip(*rows.values())))


if __name__ == "__main__":
    main()

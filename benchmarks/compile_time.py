"""CPU and wall seconds to compile a chain of linear, norm and activation blocks, forward and backward, with a symbolic batch.

    python benchmarks/compile_time.py [OPERATORS ...]      default 1000 2000

Each size runs in a process of its own, without the disk cache. Sizes count the operators that the capture holds before any pass.
"""

import os
import subprocess
import sys
import time


def measure(operators):
    import paddle
    from paddle import nn
    from paddle.static import InputSpec

    class Block(nn.Layer):
        def __init__(self, width):
            super().__init__()
            self.linear, self.norm = nn.Linear(width, width), nn.LayerNorm(width)

        def forward(self, x):  # matmul, add, layer_norm, gelu, scale
            return nn.functional.gelu(self.norm(self.linear(x))) * 0.5

    class Chain(nn.Layer):
        def __init__(self, blocks, width=32):
            super().__init__()
            self.blocks = nn.LayerList([Block(width) for _ in range(blocks)])

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return x.mean()

    net = paddle.jit.to_static(Chain(operators // 5), input_spec=[InputSpec([None, 32], "float32")], full_graph=True)
    x = paddle.randn([8, 32])
    began, cpu = time.perf_counter(), time.process_time()
    net(x).backward()
    took, used = time.perf_counter() - began, time.process_time() - cpu
    began = time.process_time()
    net(x).backward()
    print(f"{operators} operators: first step {took:.2f} s, {used:.2f} CPU s; second {time.process_time() - began:.3f} CPU s",
          flush=True)  # fmt: skip


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "--one":
        return measure(int(sys.argv[2]))
    environment = {"FLAGS_compile_cache_dir": "off", **os.environ}
    for size in [int(a) for a in sys.argv[1:]] or [1000, 2000]:
        subprocess.run([sys.executable, __file__, "--one", str(size)], env=environment, check=True)


if __name__ == "__main__":
    main()

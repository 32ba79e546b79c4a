"""Microseconds of small eager work under whichever `paddle` this interpreter imports; one thread."""

import os
import time

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import paddle
import paddle.nn.functional as F


def best(step, times, repeats=7):
    """Smallest mean over `repeats` runs of `times` calls, in microseconds."""
    results = []
    for _ in range(repeats):
        began = time.perf_counter()
        for _ in range(times):
            step()
        results.append((time.perf_counter() - began) / times * 1e6)
    return min(results)


def main():
    x = paddle.ones([16])
    w = paddle.ones([16])
    w.stop_gradient = False
    net = paddle.nn.Sequential(paddle.nn.Linear(32, 32), paddle.nn.ReLU(), paddle.nn.Linear(32, 32))
    optimizer = paddle.optimizer.Adam(learning_rate=0.01, parameters=net.parameters())
    a, b = paddle.randn([32, 32]), paddle.randn([32, 32])

    def train():
        F.mse_loss(net(a), b).backward()
        optimizer.step()
        optimizer.clear_grad()

    print(f"paddle {paddle.__version__}")
    print(f"x + 1, 16 elements               {best(lambda: x + 1, 10000):8.2f} us")
    print(f"w * x, recorded for backward     {best(lambda: w * x, 10000):8.2f} us")
    print(f"training step, 32-32-32 Adam     {best(train, 200):8.2f} us")


if __name__ == "__main__":
    main()

"""Does it work here?"""

from __future__ import annotations

__all__ = ["run_check"]


def run_check() -> None:
    """Trains one step of one layer, and says on what device.

    Raises:
        RuntimeError: the parameters didn't change as they should.
    """
    import numpy as np

    import paddle

    place = paddle.get_device()
    print(f"Running verify PaddlePaddle program ... on {place}")
    layer = paddle.nn.Linear(3, 2)
    before = layer.weight.numpy().copy()
    optimizer = paddle.optimizer.SGD(learning_rate=0.5, parameters=layer.parameters())
    x = paddle.ones([2, 3])
    layer(x).sum().backward()
    optimizer.step()
    # d(sum)/d(weight) is the column sums of x: 2 everywhere.
    if not np.allclose(layer.weight.numpy(), before - 1.0, atol=1e-5):
        raise RuntimeError("[run_check] a training step gave wrong parameters")
    print(f"PaddlePaddle works well on {place}.")
    print("PaddlePaddle is installed successfully! Let's start deep learning with PaddlePaddle now.")

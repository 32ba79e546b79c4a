"""The published demonstration, told step by step: a column-sharded matmul, softmax and a loss over two processes, static and compiled."""

import numpy as np

import paddle
import paddle.distributed as dist
import paddle.nn.functional as F
from paddle.io import DataLoader, Dataset

mesh = dist.ProcessMesh([0, 1], dim_names=["x"])


class Samples(Dataset):
    def __len__(self):
        return 10

    def __getitem__(self, index):
        return np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32"), np.array([1.0])


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        weight = paddle.create_parameter(shape=[2, 4], dtype="float32")
        self.w = dist.shard_tensor(weight, mesh, [dist.Shard(1)])  # each process holds two of the four columns
        self.b = paddle.to_tensor([0.1, 0.2, 0.3, 0.4])

    def forward(self, x):
        return F.softmax(paddle.matmul(x, self.w) + self.b)


def loss_fn(probabilities, label):
    return paddle.nn.MSELoss(reduction="sum")(paddle.sum(probabilities, axis=[1, 2]), label)


def main():
    loader = DataLoader(Samples(), batch_size=1)
    model = dist.to_static(Net(), loader, loss_fn)
    model.eval()
    for x, label in loader():
        print("loss", model(x, label), flush=True)
    if dist.get_rank() == 0:
        for title, text in model.stages():
            print(f"\n--- {title}\n{text}")


if __name__ == "__main__":
    main()

"""Predictors that run for long: memory stays, comes back when they go, and threads don't disturb each other."""

import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import paddle
from paddle import inference, nn


class Net(nn.Layer):
    """Rows of words of any number and length, as a server gets them."""

    def __init__(self):
        super().__init__()
        self.embed, self.up, self.down = nn.Embedding(20000, 256), nn.Linear(256, 1024), nn.Linear(1024, 256)
        self.norm, self.head = nn.LayerNorm(256), nn.Linear(256, 20000)

    def forward(self, words):
        x = self.embed(words)
        scores = paddle.matmul(x, x, transpose_y=True) / 16.0
        x = self.norm(x + paddle.matmul(nn.functional.softmax(scores), x))
        x = x + self.down(nn.functional.gelu(self.up(x)))
        return self.head(x.mean(axis=1))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("model") / "net")
    paddle.seed(3)
    net = Net()
    net.eval()
    paddle.jit.save(net, path, input_spec=[paddle.static.InputSpec([None, None], "int64")])
    return path


def create(path):
    return inference.create_predictor(inference.Config(path + ".json", path + ".pdiparams"))


def words(shape):
    return (np.arange(int(np.prod(shape))) * 7919 % 1000).reshape(shape).astype("int64")


def answer(predictor, shape):
    handle = predictor.get_input_handle(predictor.get_input_names()[0])
    handle.copy_from_cpu(words(shape))
    predictor.run()
    return predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()


SCRIPT = """
import gc, json, random, sys
import numpy as np
sys.path.insert(0, sys.argv[2])
from test_predictor_memory import answer, create

def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096

shapes = [(1 + i % 5, 2 + (i * 37) % 120) for i in range(int(sys.argv[3]))]
for shape in [(2, 3), (5, 119)]:  # what the process loads once, for products of every size
    answer(create(sys.argv[1]), shape)
gc.collect()
before = resident()
predictor = create(sys.argv[1])
order = random.Random(1)
for shape in shapes * 2 + [order.choice(shapes) for _ in shapes * 3]:
    answer(predictor, shape)
warm = resident()
for _ in range(int(sys.argv[4])):
    answer(predictor, order.choice(shapes))
after = resident()
del predictor
gc.collect()
print(json.dumps([before, warm, after, resident()]))
"""


def server(model, shapes, runs):
    """Resident bytes before there is a predictor, after it has seen all shapes, after all runs, and without it."""
    command = [sys.executable, "-c", SCRIPT, model, os.path.dirname(__file__), str(shapes), str(runs)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_memory_of_a_server(model):
    before, warm, after, rest = server(model, shapes=50, runs=300)
    assert after - warm < 0.05 * warm, (before, warm, after, rest)
    assert rest - before < 0.1 * (after - before), (before, warm, after, rest)


def test_threads_answer_as_one_does(model):
    shapes = [(1 + i % 4, 2 + (i * 7) % 33) for i in range(40)]
    predictor = create(model)
    alone = [answer(predictor, shape) for shape in shapes]
    wrong = []

    def work(number, own):
        for i in range(len(shapes)):
            k = (i * (2 * number + 1) + number) % len(shapes)  # each in an order of its own
            if not np.array_equal(answer(own, shapes[k]), alone[k]):
                wrong.append((number, shapes[k]))

    threads = [threading.Thread(target=work, args=(n, predictor.clone())) for n in range(10)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong

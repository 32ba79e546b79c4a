"""Data sets and samplers. Orders drawn from NumPy's generator equal official paddle's (3.3.1) for the same seed."""

import numpy as np
import pytest

import paddle
from paddle import io


def test_orders_equal_official():
    np.random.seed(3)
    assert list(io.RandomSampler(range(6))) == [3, 5, 4, 1, 0, 2]
    assert list(io.RandomSampler(range(6), replacement=True, num_samples=4)) == [0, 5, 5, 3]
    assert list(io.BatchSampler(range(7), shuffle=True, batch_size=3)) == [[0, 5, 6], [4, 1, 3], [2]]
    assert list(io.WeightedRandomSampler(np.array([0.1, 0.5, 0.4]), 5)) == [0, 1, 0, 1, 2]
    assert sorted(io.SubsetRandomSampler([1, 5, 7])) == [1, 5, 7]


@pytest.mark.parametrize(("n", "size", "ranks", "drop"), [(23, 4, 3, False), (10, 3, 2, True), (2, 3, 4, False)])
def test_ranks_share_the_batches(n, size, ranks, drop):
    samplers = [io.DistributedBatchSampler(range(n), size, ranks, r, drop_last=drop) for r in range(ranks)]
    parts = [list(s) for s in samplers]
    assert len({len(p) for p in parts}) == 1 and all(len(p) == len(s) for p, s in zip(parts, samplers))
    if not drop:
        assert {i for p in parts for b in p for i in b} == set(range(n))
    assert parts[0][0] == list(range(min(size, max(1, len(parts[0][0])))))


def test_epochs_shuffle_alike_on_all_ranks():
    def epoch(e):
        samplers = [io.DistributedBatchSampler(range(8), 2, 2, r, shuffle=True) for r in range(2)]
        for s in samplers:
            s.set_epoch(e)
        return [i for pair in zip(*samplers) for b in pair for i in b]

    expected = np.arange(8).tolist()
    np.random.RandomState(5).shuffle(expected)
    assert epoch(5) == expected and epoch(6) != expected


class Letters(io.Dataset):
    def __init__(self, text):
        self.text = text

    def __getitem__(self, i):
        return self.text[i]

    def __len__(self):
        return len(self.text)


class Chars(io.IterableDataset):
    def __iter__(self):
        yield from "xy"


def test_data_sets_compose():
    a, b = Letters("abc"), Letters("def")
    joined = io.ConcatDataset([a, b])
    assert [joined[i] for i in range(6)] == list("abcdef") and joined[-1] == "f" and joined.cumulative_sizes == [3, 6]
    assert io.ComposeDataset([a, b])[1] == ("b", "e")
    assert "".join(c for c in io.ChainDataset([Chars(), Chars()])) == "xyxy"
    assert [io.Subset(a, [2, 0])[i] for i in range(2)] == ["c", "a"]
    rows = io.TensorDataset([paddle.arange(4), paddle.arange(4) * 2])
    assert [int(t) for t in rows[3]] == [3, 6] and len(rows) == 4


def test_random_split():
    parts = io.random_split(Letters("abcdefg"), [3, 4])
    assert sorted(p[i] for p in parts for i in range(len(p))) == list("abcdefg") and [len(p) for p in parts] == [3, 4]
    assert [len(p) for p in io.random_split(range(7), [0.5, 0.5])] == [4, 3]
    with pytest.raises(ValueError):
        io.random_split(range(7), [3, 3])


def test_unfinished_data_sets_say_so():
    with pytest.raises(NotImplementedError):
        io.Dataset()[0]
    with pytest.raises(NotImplementedError):
        iter(io.IterableDataset())
    with pytest.raises(RuntimeError):
        len(io.IterableDataset())

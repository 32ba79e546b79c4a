"""DataLoader: forms of batches, worker processes, and what happens when they fail."""

import os
import signal
import time

import numpy as np
import pytest

import paddle
from paddle.io import DataLoader, Dataset, IterableDataset, get_worker_info


class Table(Dataset):
    """Sample i holds i in several forms; ``trouble(i)`` runs first."""

    def __init__(self, n=32, trouble=None, shape=(3, 40, 40)):
        self.n, self.trouble, self.shape = n, trouble, shape

    def __getitem__(self, i):
        if self.trouble is not None:
            self.trouble(i)
        return np.full(self.shape, i, "float32"), i, float(i), {"name": f"s{i}", "pair": (i, np.array([i], "int32"))}

    def __len__(self):
        return self.n


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("shared", [True, False])
def test_batches_keep_order_structure_and_dtypes(workers, shared):
    loader = DataLoader(Table(10), batch_size=4, num_workers=workers, use_shared_memory=shared)
    batches = list(loader())
    assert len(batches) == len(loader) == 3
    first = 0
    for image, index, real, extra in batches:
        n = image.shape[0]
        ids = np.arange(first, first + n)
        first += n
        np.testing.assert_array_equal(image.numpy()[:, 0, 0, 0], ids.astype("float32"))
        np.testing.assert_array_equal(image.numpy()[:, -1, -1, -1], ids.astype("float32"))
        np.testing.assert_array_equal(index.numpy(), ids)
        assert [str(t.dtype) for t in (image, index, real)] == ["paddle.float32", "paddle.int64", "paddle.float64"]
        assert extra["name"] == [f"s{i}" for i in ids]
        pair = extra["pair"]
        assert isinstance(pair, list) and str(pair[1].dtype) == "paddle.int32" and pair[1].shape == [n, 1]


@pytest.mark.parametrize("workers", [0, 2])
def test_without_batching_and_with_own_collate(workers):
    image, index, *_ = next(iter(DataLoader(Table(4), batch_size=None, num_workers=workers)))
    assert image.shape == [3, 40, 40] and index == 0
    loader = DataLoader(
        Table(4), batch_size=2, num_workers=workers, collate_fn=lambda rows: np.array([r[1] for r in rows])
    )
    assert [b.numpy().tolist() for b in loader] == [[0, 1], [2, 3]]


class Counter(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        start, stride = (0, 1) if info is None else (info.id, info.num_workers)
        yield from range(start, 7, stride)


def test_iterable_data_set_split_by_worker():
    assert [b.numpy().tolist() for b in DataLoader(Counter(), batch_size=3)] == [[0, 1, 2], [3, 4, 5], [6]]
    split = [b.numpy().tolist() for b in DataLoader(Counter(), batch_size=2, num_workers=2)]
    assert split == [[0, 2], [1, 3], [4, 6], [5]]
    dropped = [b.numpy().tolist() for b in DataLoader(Counter(), batch_size=2, num_workers=2, drop_last=True)]
    assert dropped == [[0, 2], [1, 3], [4, 6]]
    with pytest.raises(ValueError):
        len(DataLoader(Counter(), batch_size=2))


def _raise_at_five(i):
    if i == 5:
        raise ZeroDivisionError("no sample five")


class TwoArguments(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


def _raise_two_arguments(i):
    raise TwoArguments(1, 2)


def test_a_workers_exception_arrives_with_its_class_sample_and_traceback():
    with pytest.raises(ZeroDivisionError) as caught:
        list(DataLoader(Table(8, _raise_at_five), batch_size=2, num_workers=2))
    text = str(caught.value)
    assert "no sample five" in text and "sample 5" in text and "_raise_at_five" in text
    with pytest.raises(RuntimeError, match="TwoArguments"):
        list(DataLoader(Table(8, _raise_two_arguments), batch_size=2, num_workers=1))


def _kill_at_five(i):
    if i == 5:
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_worker_is_reported_by_its_signal():
    start = time.monotonic()
    with pytest.raises(RuntimeError, match=r"worker\(\d\).*SIGKILL"):
        list(DataLoader(Table(8, _kill_at_five), batch_size=2, num_workers=2))
    assert time.monotonic() - start < 10


def _sleep_at_five(i):
    if i == 5:
        time.sleep(60)


def test_a_late_batch_times_out():
    with pytest.raises(RuntimeError, match="timed out after 1 s"):
        list(DataLoader(Table(8, _sleep_at_five), batch_size=2, num_workers=2, timeout=1))


def test_persistent_workers_stay_and_others_go():
    loader = DataLoader(Table(12), batch_size=3, num_workers=2, persistent_workers=True)
    sums = [[int(b[1].sum()) for b in loader] for _ in range(3)]
    assert sums == [[3, 12, 21, 30]] * 3
    iterator = iter(DataLoader(Table(12), batch_size=3, num_workers=2))
    next(iterator)
    workers = iterator._workers
    del iterator
    assert all(not w.is_alive() for w in workers)


class Draws(Dataset):
    def __getitem__(self, i):
        return np.random.randint(1 << 30), get_worker_info().seed

    def __len__(self):
        return 8


def test_workers_are_seeded_reproducibly_and_apart():
    def draw():
        np.random.seed(11)
        return np.concatenate([b[0].numpy() for b in DataLoader(Draws(), batch_size=2, num_workers=2)])

    first = draw()
    np.testing.assert_array_equal(first, draw())
    assert len(set(first.tolist())) == 8


def _fail_to_start(worker):
    raise OSError(f"worker {worker} has no data")


def test_worker_init_fn_runs_and_its_failure_arrives():
    with pytest.raises(OSError, match="has no data"):
        list(DataLoader(Table(4), num_workers=1, worker_init_fn=_fail_to_start))


class Tensors(Dataset):
    def __getitem__(self, i):
        return paddle.full([3], float(i)).astype("bfloat16"), paddle.to_tensor(i)

    def __len__(self):
        return 4


def test_tensors_made_in_workers_after_a_parallel_region():
    big = paddle.ones([512, 512])
    float(paddle.matmul(big, big).sum())  # starts the thread pool that the forked children must not touch
    for value, index in DataLoader(Tensors(), batch_size=2, num_workers=2):
        assert str(value.dtype) == "paddle.bfloat16"
        np.testing.assert_array_equal(value.astype("float32").numpy()[:, 0], index.numpy().astype("float32"))


def test_bad_arguments_raise():
    for wrong in (dict(num_workers=-1), dict(batch_size=0), dict(timeout=-1)):
        with pytest.raises(AssertionError):
            DataLoader(Table(4), **wrong)
    with pytest.raises(ValueError):
        DataLoader(Counter(), shuffle=True)

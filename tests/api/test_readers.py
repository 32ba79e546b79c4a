"""paddle.reader: what makes readers of readers."""

import random

import pytest

paddle = pytest.importorskip("paddle")
from paddle import reader as R  # noqa: E402, N812


def of(*samples):
    return lambda: iter(samples)


def failing():
    yield 1
    raise OSError("gone")


def test_joining():
    assert list(R.chain(of(1), of(2, 3))()) == [1, 2, 3]
    assert list(R.compose(of(1, 2), of((3, 4), (5, 6)))()) == [(1, 3, 4), (2, 5, 6)]
    assert list(R.map_readers(lambda a, b: a * b, of(1, 2), of(3, 4))()) == [3, 8]
    assert list(R.firstn(of(1, 2, 3), 2)()) == [1, 2]
    with pytest.raises(R.ComposeNotAligned):
        list(R.compose(of(1, 2), of(3))())
    assert list(R.compose(of(1, 2), of(3), check_alignment=False)()) == [(1, 3)]
    with pytest.raises(TypeError):
        R.compose(of(1), nonsense=True)


def test_cache_reads_once():
    reads = []
    cached = R.cache(lambda: (reads.append(i) or i for i in range(3)))
    assert list(cached()) == list(cached()) == [0, 1, 2] and reads == [0, 1, 2]


def test_shuffle_keeps_to_its_buffer():
    random.seed(1)
    out = list(R.shuffle(of(*range(10)), 4)())
    assert out != list(range(10)) and [sorted(out[i : i + 4]) for i in (0, 4, 8)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


@pytest.mark.parametrize("order", [False, True])
def test_threads(order):
    doubled = R.xmap_readers(lambda v: 2 * v, of(*range(20)), 3, 4, order)
    got = list(doubled())
    assert sorted(got) == list(range(0, 40, 2)) and (not order or got == sorted(got))
    assert list(R.buffered(of(*range(9)), 2)()) == list(range(9))
    for broken in (R.buffered(failing, 2), R.xmap_readers(abs, failing, 2, 2, order)):
        with pytest.raises(OSError, match="gone"):
            list(broken())


def test_processes():
    assert sorted(R.multiprocess_reader([of(1, 2), of(3)])()) == [1, 2, 3]
    with pytest.raises(ValueError, match="gone"):
        list(R.multiprocess_reader([failing])())
    with pytest.raises(ValueError):
        R.multiprocess_reader([])

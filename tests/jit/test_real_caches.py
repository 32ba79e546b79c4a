"""Writing some elements of a buffer or an argument in a captured function: where it lies, without a copy of all of it, unless
somebody still reads what it held."""

from __future__ import annotations

import numpy as np
import paddle
import pytest

from paddle import nn

LENGTH, WIDTH = 1024, 256
BYTES = LENGTH * WIDTH * 4


class Cache(nn.Layer):
    def __init__(self, write):
        super().__init__()
        self.register_buffer("kept", paddle.zeros([LENGTH, WIDTH]), persistable=False)
        self.write = write

    def forward(self, x, at):
        self.write(self.kept, x, at)
        return paddle.matmul(self.kept[:8], x)


def by_item(kept, x, at):
    kept[at] = x


def by_slice(kept, x, at):
    kept[at : at + 1] = x


def by_scatter(kept, x, at):
    paddle.scatter_(kept, at.reshape([1]), x.reshape([1, WIDTH]))


def by_index_put(kept, x, at):
    paddle.index_put_(kept, (at.reshape([1]),), x.reshape([1, WIDTH]))


def twice(kept, x, at):
    kept[at] = x
    kept[at + 8, : WIDTH // 2] = kept[at, WIDTH // 2 :] + 1


WRITES = [by_item, by_slice, by_scatter, by_index_put, twice]


def extra_memory(call):
    """Bytes in use at most while it runs, beyond those before."""
    call()
    before = paddle.device.memory_allocated("cpu")
    paddle.device.reset_peak_memory_stats("cpu")
    call()
    return paddle.device.max_memory_allocated("cpu") - before


@pytest.mark.parametrize("write", WRITES, ids=lambda f: f.__name__)
def test_a_buffer_is_written_where_it_lies(write):
    eager, static = Cache(write), paddle.jit.to_static(Cache(write), full_graph=True)
    address = static.kept.data_ptr()
    with paddle.no_grad():
        for at in (3, 5, 3):
            x = paddle.rand([WIDTH])
            at = paddle.to_tensor(at, dtype="int64")
            np.testing.assert_allclose(static(x, at).numpy(), eager(x, at).numpy(), rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(static.kept.numpy(), eager.kept.numpy())
        assert static.kept.data_ptr() == address
        assert extra_memory(lambda: static(x, at)) < BYTES // 2


def test_an_argument_is_written_where_it_lies():
    def f(kept, x):
        kept[:, 2] = x
        return kept[1] + 1

    static = paddle.jit.to_static(f, full_graph=True)
    kept, x = paddle.zeros([LENGTH, WIDTH]), paddle.rand([LENGTH])
    with paddle.no_grad():
        out = static(kept, x)
        assert extra_memory(lambda: static(kept, x)) < BYTES // 2
    want = np.zeros([LENGTH, WIDTH], "float32")
    want[:, 2] = x.numpy()
    np.testing.assert_array_equal(kept.numpy(), want)
    np.testing.assert_array_equal(out.numpy(), want[1] + 1)


class Old(nn.Layer):
    """Gives back what the buffer held before."""

    def __init__(self, copy):
        super().__init__()
        self.register_buffer("kept", paddle.ones([6, 4]), persistable=False)
        self.copy = copy

    def forward(self, x):
        old = self.copy(self.kept)
        self.kept[2] = x
        return old * 2, self.kept.sum()


@pytest.mark.parametrize("copy", [lambda t: t.clone(), lambda t: t.clone().t(), lambda t: t.clone()[1:4]])
def test_what_is_still_read_is_kept(copy):
    static = paddle.jit.to_static(Old(copy), full_graph=True)
    with paddle.no_grad():
        for x in (5.0, 7.0):
            held = static.kept.numpy().copy()
            old, total = static(paddle.full([4], x))
            np.testing.assert_array_equal(old.numpy(), copy(paddle.to_tensor(held)).numpy() * 2)
            held[2] = x
            np.testing.assert_array_equal(static.kept.numpy(), held)
            assert float(total) == held.sum()


def test_buffers_that_change_places():
    class Swap(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("a", paddle.zeros([3]), persistable=False)
            self.register_buffer("b", paddle.ones([3]), persistable=False)

        def forward(self, x):
            a, b = self.a.clone(), self.b.clone()
            a[0] = x
            self.a.set_value(b)
            self.b.set_value(a)
            return x + 1

    static = paddle.jit.to_static(Swap(), full_graph=True)
    with paddle.no_grad():
        static(paddle.to_tensor(5.0))
        np.testing.assert_array_equal(static.a.numpy(), [1, 1, 1])
        np.testing.assert_array_equal(static.b.numpy(), [5, 0, 0])


def test_whole_buffers_that_change_places():
    class Swap(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("a", paddle.zeros([3]), persistable=False)
            self.register_buffer("b", paddle.ones([3]), persistable=False)

        def forward(self, x):
            a, b = self.a.clone(), self.b.clone()
            self.a.set_value(b)
            self.b.set_value(a)
            return x + 1

    static = paddle.jit.to_static(Swap(), full_graph=True)
    with paddle.no_grad():
        static(paddle.to_tensor(5.0))
        np.testing.assert_array_equal(static.a.numpy(), [1, 1, 1])
        np.testing.assert_array_equal(static.b.numpy(), [0, 0, 0])


def test_a_saved_program_says_nothing_of_it(tmp_path):
    class Layer(nn.Layer):
        def forward(self, kept, x):
            kept[1] = x
            return kept * 2

    path = str(tmp_path / "layer")
    spec = [paddle.static.InputSpec([3, 2], "float32"), paddle.static.InputSpec([2], "float32")]
    paddle.jit.save(Layer(), path, input_spec=spec)
    with open(path + ".json") as file:
        assert "writes_input" not in file.read()


def shifted(kept):
    kept[:] = kept[::-1]


def turned(kept):
    kept[:4] = paddle.transpose(kept[:4], [1, 0])


def scattered(kept):
    kept.set_value(paddle.scatter(kept, paddle.to_tensor([1, 2, 3]), kept[0:3]))


@pytest.mark.parametrize("write", [shifted, turned, scattered], ids=lambda f: f.__name__)
def test_what_is_written_may_lie_in_the_buffer(write):
    class Overlapping(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("kept", paddle.arange(24.0).reshape([6, 4]), persistable=False)

        def forward(self):
            write(self.kept)
            return self.kept.sum()

    static = paddle.jit.to_static(Overlapping(), full_graph=True)
    want = np.arange(24.0, dtype="float32").reshape([6, 4])
    with paddle.no_grad():
        static()
    if write is shifted:
        want = want[::-1]
    elif write is turned:
        want[:4] = want[:4].T.copy()
    else:
        want[1:4] = want[0:3].copy()
    np.testing.assert_array_equal(static.kept.numpy(), want)


class Returning(nn.Layer):
    def __init__(self, make):
        super().__init__()
        self.register_buffer("kept", paddle.zeros([4]), persistable=False)
        self.make = make

    def forward(self, x):
        return self.make(self.kept, x)


def before(kept, x):
    old = kept.clone()
    kept[1] = x
    return old


def after(kept, x):
    new = paddle.scatter(kept, paddle.to_tensor([1]), x.reshape([1]))
    paddle.assign(new, kept)
    return new


@pytest.mark.parametrize(("make", "want"), [(before, [0.0, 1.0, 2.0]), (after, [1.0, 2.0, 3.0])])
def test_what_was_returned_stays(make, want):
    static = paddle.jit.to_static(Returning(make), full_graph=True)
    with paddle.no_grad():
        got = [static(paddle.to_tensor(x)) for x in (1.0, 2.0, 3.0)]
    assert [float(t[1]) for t in got] == want


def itself(kept, x):
    kept[1] = x
    return kept


def itself_twice(kept, x):
    kept[1] = x
    return [kept, {"again": kept, "half": kept * 0.5}]


@pytest.mark.parametrize("make", [itself, itself_twice])
@pytest.mark.parametrize("learns", [False, True])
def test_a_buffer_is_returned_as_it_is(make, learns):
    """As eager does: the result means the buffer, without a copy, also in what later calls write."""
    layer = Returning(make)
    layer.scale = layer.create_parameter([1])
    layer.make = (lambda kept, x: (make(kept, x), (layer.scale * x).sum())) if learns else make
    static = paddle.jit.to_static(layer, full_graph=True)
    results = []
    for x in (1.0, 2.0, 3.0):
        got = static(paddle.to_tensor(x))
        got = got[0] if learns else got
        results.append(got if make is itself else got[0])
        if make is itself_twice:
            assert got[1]["again"].data_ptr() == static.kept.data_ptr()
            assert float(got[1]["half"][1]) == x / 2
    for t in results:
        assert t.data_ptr() == static.kept.data_ptr() and float(t[1]) == 3.0
        assert t.stop_gradient


def test_an_argument_is_returned_as_it_is():
    @paddle.jit.to_static(full_graph=True)
    def f(kept, x):
        kept[2:] = x
        return kept, kept + 1.0

    kept = paddle.zeros([4])
    with paddle.no_grad():
        same, other = f(kept, paddle.ones([2]))
    assert same.data_ptr() == kept.data_ptr() and other.data_ptr() != kept.data_ptr()
    np.testing.assert_array_equal(same.numpy(), [0, 0, 1, 1])
    np.testing.assert_array_equal(other.numpy(), [1, 1, 2, 2])

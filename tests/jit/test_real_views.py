"""Views in captured programs: every operator that makes one (or what looks like one), every write in place after it, through the base and
through the view, in Python's straight line, in a branch and in a loop, with and without gradients. Eager, whose tensors share
memory, says what is right; NumPy does for some."""

from __future__ import annotations

import numpy as np
import paddle
import pytest
from real_core import close, static, tensor

X = np.arange(24, dtype="float32").reshape(4, 6) / 7 + 0.5
VIEWS = {
    "int": lambda b: b[1],
    "slice": lambda b: b[1:3],
    "step": lambda b: b[::2],
    "reversed": lambda b: b[:, ::-1],
    "column": lambda b: b[:, 2],
    "new axis": lambda b: b[None],
    "ellipsis": lambda b: b[...],
    "tensor index": lambda b: b[paddle.to_tensor(1)],
    "detach": lambda b: b.detach(),
    "reshape": lambda b: b.reshape([6, 4]),
    "view": lambda b: b.view([2, 12]),
    "flatten": lambda b: b.flatten(),
    "transpose": lambda b: b.transpose([1, 0]),
    "T": lambda b: b.T,
    "squeeze": lambda b: b.reshape([4, 1, 6]).squeeze(1),
    "unsqueeze": lambda b: b.unsqueeze(0),
    "unbind": lambda b: b.unbind(0)[1],
    "unbind 1": lambda b: paddle.unbind(b, 1)[2],
    "rows": lambda b: list(b)[1],
    "split": lambda b: paddle.split(b, 2)[0],
    "chunk": lambda b: b.chunk(2, axis=1)[1],
    "tensor_split": lambda b: paddle.tensor_split(b, 2)[1],
    "unstack": lambda b: paddle.unstack(b)[1],
    "expand": lambda b: b.unsqueeze(0).expand([2, 4, 6]),
    "diagonal": lambda b: b.diagonal(),
    "as_strided": lambda b: paddle.as_strided(b, [2, 2], [6, 1]),
    "unfold": lambda b: b.unfold(1, 2, 2),
    "strided_slice": lambda b: paddle.strided_slice(b, [0], [0], [4], [2]),
    "moveaxis": lambda b: paddle.moveaxis(b, 0, 1),
    "unflatten": lambda b: b.unflatten(1, [2, 3]),
    "real of complex": lambda b: paddle.as_real(paddle.as_complex(b.reshape([4, 3, 2]))),
    "contiguous": lambda b: b.contiguous(),
    "contiguous transposed": lambda b: b.T.contiguous(),
    "reshape of transposed": lambda b: b.T.reshape([24]),
    "flatten of transposed": lambda b: b.T.flatten(),
    "reshape of columns": lambda b: b[:, 1:3].reshape([8]),
    "reshape of rows": lambda b: b[1:3].reshape([12]),
    "chain": lambda b: b[1:][0].reshape([2, 3])[1],
    "slice of detached": lambda b: b.detach()[1],
    "detached slice": lambda b: b[1].detach(),
    "clone": lambda b: b.clone(),
    "assign": lambda b: paddle.assign(b),
    "astype": lambda b: b.astype("float32"),
}
WRITES = {
    "[...] =": lambda t: t.__setitem__(Ellipsis, 9.0),
    "[0] =": lambda t: t.__setitem__(0, 9.0),
    "[mask] =": lambda t: t.__setitem__(t > 1.5, -1.0),
    "[list] =": lambda t: t.__setitem__([0], 7.0),
    "multiply_": lambda t: t.multiply_(paddle.full([], 3.0)),
    "add_": lambda t: t.add_(paddle.ones_like(t)),
    "zero_": lambda t: t.zero_(),
    "fill_": lambda t: t.fill_(4.0),
    "copy_": lambda t: t.copy_(paddle.full_like(t, 6.0), False),
    "set_value": lambda t: t.set_value(paddle.full_like(t, 2.5)),
    "assign": lambda t: paddle.assign(paddle.full_like(t, 5.0), output=t),
    "clip_": lambda t: t.clip_(1.0, 2.0),
    "tanh_": lambda t: t.tanh_(),
    "where_": lambda t: paddle.where_(t > 1, t, t * 0),
    "masked_fill_": lambda t: t.masked_fill_(t > 1, 0.0),
    "index_add_": lambda t: t.index_add_(paddle.to_tensor([0]), 0, paddle.ones_like(t[:1])),
    "in no_grad": lambda t: paddle.no_grad()(lambda: t.__setitem__(0, 3.0))(),
}


def _branch(write, n):
    if n > 0:
        write()


def _loop(write, n):
    i = paddle.zeros([], "int64")
    while i < n:
        write()
        i = i + 1


PLACES = {"straight": lambda write, n: write(), "branch": _branch, "loop": _loop}


def program(view, write, through_base, place, grad):
    def f(x, n):
        b = x * 1.0 if grad else x.detach() * 1.0
        rows = b[1:]
        v = view(b)
        place(lambda: write(b if through_base else v), n)
        return v * 1, rows * 1, b * 1

    return f


def outcome(f):
    x = tensor(X, grad=True)
    outs = f(x, paddle.to_tensor(2))
    roots = [o for o in outs if not o.stop_gradient]
    if roots:
        sum((o * o).sum() for o in roots).backward()
    return [o.numpy() for o in outs], x.grad.numpy() if x.grad is not None else np.zeros_like(X)


def agrees(view, write, through_base, place, grad):
    f = program(VIEWS[view], WRITES[write], through_base, PLACES[place], grad)
    try:
        want, want_grad = outcome(f)
    except ValueError:  # not a write that this view takes
        return
    got, got_grad = outcome(static(f))
    for a, b in zip(got, want):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6, err_msg=f"{view}, {write}, base: {through_base}")
    np.testing.assert_allclose(got_grad, want_grad, rtol=1e-4, atol=1e-5, err_msg=f"gradient: {view}, {write}")


@pytest.mark.parametrize("through_base", [True, False], ids=["base", "view"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_view(view, through_base):
    for write in ("[0] =", "multiply_"):
        for place in PLACES:
            for grad in (False, True):
                agrees(view, write, through_base, place, grad)


@pytest.mark.parametrize("through_base", [True, False], ids=["base", "view"])
@pytest.mark.parametrize("write", WRITES)
def test_every_write(write, through_base):
    for view in ("slice", "unbind", "T", "detach", "reshape of transposed", "detached slice"):
        for grad in (False, True):
            agrees(view, write, through_base, "straight", grad)


def test_writes_as_numpy_makes_them():
    def f(x):
        b = x * 1
        d, (top, *_) = b.detach(), b.unbind(0)
        flat = b.reshape([24])
        left = b.T[:3]
        d[1] = -1.0
        top[2] = 5.0
        left[0, 3] = 7.0
        flat[-1] = 8.0
        return b, d, top, flat, left

    b = X.copy()
    d, top, flat, left = b, b[0], b.reshape(24), b.T[:3]
    d[1], top[2], left[0, 3], flat[-1] = -1.0, 5.0, 7.0, 8.0
    compiled = static(f)
    for _ in range(2):
        for got, want in zip(compiled(tensor(X)), (b, d, top, flat, left)):
            close(got, want)


def test_a_tensor_reshaped_in_place_leaves_its_views_where_they_were():
    def f(x):
        b = x * 1
        v = b[1]
        b.reshape_([6, 4])
        w = b[0]
        v[0] = 9.0
        b[0, 1] = 5.0
        b.unsqueeze_(0)
        b[0, 5, 3] = 2.0
        return v * 1, w * 1, b * 1

    for got, want in zip(static(f)(tensor(X)), f(tensor(X))):
        close(got, want.numpy())


def test_unrecorded_writes_leave_the_history():
    def f(x):
        b = x * 2
        y = b * 1
        with paddle.no_grad():
            b[0] = 5.0
        b.detach()[1] = 7.0
        return (b * b).sum() + y.sum()

    def of_leaf(x):
        with paddle.no_grad():
            x[0] = 5.0
        return (x * x).sum()

    for fn in (f, of_leaf):
        grads = []
        for g in (static(fn), fn):
            x = tensor(X, grad=True)
            g(x).backward()
            grads.append(x.grad.numpy())
        close(paddle.to_tensor(grads[0]), grads[1])


class Cache(paddle.nn.Layer):
    """Buffers that share memory."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", paddle.zeros([4, 3]))
        self.last, self.flat = self.kept[3], self.kept.detach()

    def forward(self, x):
        self.last[0] = self.last[0] + 1
        self.kept[1] = x
        self.flat[2] = self.last
        return self.kept.sum(), self.last * 1, self.flat * 2


def test_tensors_from_outside_that_share_memory():
    eager, whole = Cache(), Cache()
    compiled = static(whole.forward)
    for k in range(3):
        x = tensor(np.full(3, k + 1.0, "float32"))
        for got, want in zip(compiled(x), eager(x)):
            close(got, want.numpy())
        for name in ("kept", "last", "flat"):
            close(getattr(whole, name), getattr(eager, name).numpy())


def test_a_view_as_complex_numbers_has_the_gradient_of_finite_differences():
    x = np.arange(12, dtype="float64").reshape(2, 3, 2) / 7 + 0.5

    def f(t):
        b = t * 1.0
        v = paddle.as_complex(b)
        v[0] = v[1] * 2
        return (b * b * b).sum()

    want = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = x.copy()
            moved[i] += step
            ends.append(float(f(paddle.to_tensor(moved))))
        want[i] = (ends[0] - ends[1]) / 2e-6
    t = tensor(x, grad=True, dtype="float64")
    static(f)(t).backward()
    close(t.grad, want, rtol=1e-5, atol=1e-5)
    with pytest.raises(NotImplementedError, match="through a view as complex128"):
        f(tensor(x, grad=True, dtype="float64"))

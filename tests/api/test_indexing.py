"""x[key] and x[key] = v against NumPy on random keys; views, writes through them and their gradients; errors."""

import random

import numpy as np
import paddle
import pytest

SHAPES = [(5,), (4, 3), (2, 3, 4), (3, 1, 2, 5), (2, 0, 3)]


def random_int(rng, n):
    return rng.randint(-n, n - 1)


def random_slice(rng, n):
    def bound():
        return rng.choice([None, rng.randint(-n - 2, n + 2)])

    return slice(bound(), bound(), rng.choice([None, None, 1, 2, 3, -1, -2]))


def random_array(rng, n, shape):
    return np.asarray([random_int(rng, n) for _ in range(int(np.prod(shape)))], dtype="int64").reshape(shape)


def random_key(rng, shape):
    """A key that NumPy accepts: basic items, Ellipsis, new axes, and some advanced ones that broadcast together."""
    key, axis, rank = [], 0, len(shape)
    used_ellipsis = used_mask = False
    index_shape = rng.choice([(2,), (3,), (2, 2), (1,)])
    while axis < rank:
        n = shape[axis]
        kind = rng.choice(["int", "slice", "slice", "full", "none", "ellipsis", "array", "mask", "stop"])
        if kind == "stop":
            break
        if kind == "none":
            if sum(k is None for k in key) < 2:
                key.append(None)
            continue
        if kind == "ellipsis":
            if used_ellipsis:
                continue
            used_ellipsis = True
            skip = rng.randint(0, rank - axis)
            key.append(Ellipsis)
            axis += skip
            # What follows addresses the last axes.
            key.extend(random_slice(rng, m) for m in shape[axis:])
            axis = rank
            break
        if kind == "int" and n > 0:
            key.append(random_int(rng, n))
        elif kind == "array" and n > 0:
            key.append(random_array(rng, n, rng.choice([index_shape, (1,)])))
        elif kind == "mask" and not used_mask and not any(isinstance(k, np.ndarray) for k in key):
            used_mask = True
            mask = np.asarray([rng.random() < 0.5 for _ in range(n)], dtype=bool)
            key.append(mask)
            index_shape = (1,)
        elif kind == "full":
            key.append(slice(None))
        else:
            key.append(random_slice(rng, n))
        axis += 1
    return tuple(key) if len(key) != 1 or rng.random() < 0.5 else key[0]


def integers_first(x, key):
    """The view that the integers of a key with arrays leave, and the key of the rest.

    Paddle takes integers as basic indices always; NumPy, next to arrays, as arrays that broadcast with them.
    """
    items = key if isinstance(key, tuple) else (key,)
    if not any(isinstance(k, np.ndarray) for k in items):
        return x, key
    first, rest, axis = [slice(None)] * x.ndim, [], 0
    for k in items:
        if isinstance(k, int):
            first[axis] = k
        else:
            rest.append(k)
        axis += k is not None
    return x[tuple(first)], tuple(rest)


def to_paddle(key, as_tensor):
    if isinstance(key, tuple):
        return tuple(to_paddle(k, as_tensor) for k in key)
    if isinstance(key, np.ndarray):
        return paddle.to_tensor(key) if as_tensor else key.tolist() if key.size and key.dtype != bool else key
    return key


@pytest.mark.parametrize("shape", SHAPES)
def test_getitem_is_numpys(shape):
    for seed in range(60):
        rng = random.Random(1000 * seed + len(shape))
        x = np.arange(np.prod(shape), dtype="float32").reshape(shape)
        key = random_key(rng, shape)
        view, rest = integers_first(x, key)
        try:
            want = view[rest]
        except IndexError:
            continue  # NumPy refuses it: two masks that don't broadcast
        got = paddle.to_tensor(x)[to_paddle(key, rng.random() < 0.7)]
        assert list(got.shape) == list(want.shape), (seed, key)
        np.testing.assert_array_equal(got.numpy(), want, err_msg=f"{seed} {key}")


@pytest.mark.parametrize("shape", SHAPES)
def test_setitem_is_numpys(shape):
    for seed in range(60):
        rng = random.Random(1000 * seed + len(shape) + 500)
        x = np.arange(np.prod(shape), dtype="float32").reshape(shape)
        key = random_key(rng, shape)
        view, rest = integers_first(x, key)
        try:
            part = view[rest]
        except IndexError:
            continue
        # Of repeated indices any may win: one value for all of them makes every order right.
        items = key if isinstance(key, tuple) else (key,)
        repeats = any(isinstance(k, np.ndarray) and k.dtype != bool for k in items)
        shape_of_value = rng.choice([part.shape, part.shape[-1:], ()])
        value = np.random.default_rng(seed).random(shape_of_value).astype("float32")
        if repeats:
            value = np.full(shape_of_value, 0.5, "float32")
        t = paddle.to_tensor(x)
        view[rest] = value
        t[to_paddle(key, rng.random() < 0.7)] = paddle.to_tensor(value) if rng.random() < 0.7 else value
        np.testing.assert_array_equal(t.numpy(), x, err_msg=f"{seed} {key}")


def test_basic_indices_give_views():
    x = paddle.arange(12, dtype="float32").reshape([3, 4])
    row = x[1]
    row[:] = 7.0
    assert x.numpy()[1].tolist() == [7.0] * 4
    x[0, 0] = -1.0
    column = x[:, 0]
    assert column.tolist() == [-1.0, 7.0, 8.0]
    column.add_(paddle.to_tensor([1.0, 1.0, 1.0]))
    assert x.numpy()[:, 0].tolist() == [0.0, 8.0, 9.0]


def test_advanced_indices_copy():
    x = paddle.arange(4, dtype="float32")
    picked = x[[0, 1]]
    picked[:] = 9.0
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]


def gradient(f, value):
    x = paddle.to_tensor(value, stop_gradient=False)
    f(x).sum().backward()
    return x.grad.numpy()


def test_gradients_of_getitem():
    value = np.arange(6, dtype="float32").reshape(2, 3)
    np.testing.assert_array_equal(gradient(lambda x: x[:, 1:] * 2, value), [[0, 2, 2], [0, 2, 2]])
    np.testing.assert_array_equal(gradient(lambda x: x[[0, 0, 1]], value), [[2, 2, 2], [1, 1, 1]])
    np.testing.assert_array_equal(gradient(lambda x: x[x > 2], value), [[0, 0, 0], [1, 1, 1]])
    np.testing.assert_array_equal(gradient(lambda x: x[..., ::-2], value), [[1, 0, 1], [1, 0, 1]])


def test_gradients_through_writes_into_views():
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
    y = x * 1.0
    view = y[0]
    view.multiply_(paddle.to_tensor([10.0, 10.0]))
    y[1, 0] = 0.0
    (y * y).sum().backward()
    # y = [[10, 20], [0, 4]]; dy/dx = [[10, 10], [0, 1]]
    np.testing.assert_allclose(x.grad.numpy(), [[200.0, 400.0], [0.0, 8.0]])


def test_gradient_of_the_written_value():
    v = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    y = paddle.zeros([2, 2])
    y[1] = v * 3
    y[:, [0]] = paddle.to_tensor([[5.0]])
    (y * y).sum().backward()
    np.testing.assert_allclose(v.grad.numpy(), [0.0, 36.0])


def test_a_leaf_that_needs_a_gradient_is_not_written():
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    with pytest.raises((RuntimeError, ValueError)):
        x[0] = 1.0


@pytest.mark.parametrize(
    "key, error",
    [((0, 0, 0), IndexError), (3, IndexError), (-4, IndexError), ("a", ValueError), (1.5, ValueError),
     (slice(None, None, 0), ValueError), ((Ellipsis, Ellipsis), ValueError)],
)  # fmt: skip
def test_errors(key, error):
    with pytest.raises(error):
        paddle.zeros([3, 2])[key]


def test_index_tensor_out_of_range():
    with pytest.raises((IndexError, ValueError)):
        paddle.zeros([3])[paddle.to_tensor([3])]
    with pytest.raises(IndexError):
        paddle.zeros([3, 2])[paddle.to_tensor([True, False])]


def test_iteration_and_length():
    x = paddle.arange(6).reshape([3, 2])
    assert len(x) == 3
    assert [row.tolist() for row in x] == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(TypeError):
        len(paddle.to_tensor(1.0))

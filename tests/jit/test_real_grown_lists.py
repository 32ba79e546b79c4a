"""Lists and dicts that grow in loops of tensor-dependent length, used after the loop: as eager runs them."""

from __future__ import annotations

import numpy as np
import paddle
import pytest
from real_core import I0, I, N, P, argument, check, close, leaves, outcome, same, static, tensor

ONE = np.array(1, "int64")


def grow(x, n):
    items = []
    i = paddle.zeros([], "int64")
    while i < n:
        items.append(x * (i.astype("float32") + 1))
        i = i + 1
    return items


def test_returned():
    check(grow, [P, I], [N, ONE], [P, I0])
    check(lambda x, n: {"a": grow(x, n), "b": x}, [P, I])


def test_returned_with_items_of_a_structure():
    def f(x, n):
        items = []
        for i in range(n):
            items.append((x * i, {"k": x + i}))
        return items, [a for a, _ in items]

    check(f, [P, I], [P, ONE])


def test_indexed():
    def f(x, n):
        items = grow(x, n)
        items[1] = items[1] * 3
        return items[n - 1], items[0], items[-1], items[-2]

    check(f, [P, I], [N, np.array(5, "int64")])


def test_sliced():
    def f(x, n):
        items = grow(x, n)
        return (
            paddle.stack(items[1:]),
            paddle.stack(items[:2]),
            paddle.stack(items[-2:]),
            items[1:-1],
            items[: n - 1],
            items[:],
            items[0:9],
        )

    check(f, [P, I], [N, np.array(5, "int64")])
    with pytest.raises(TypeError, match="slice with step 2"):
        static(lambda x, n: grow(x, n)[::2])(argument(P), argument(I))


def test_gone_through():
    def f(x, n):
        items = grow(x, n)
        t = x * 0
        for k, (a, b) in enumerate(zip(items, reversed(items))):
            t = t + a * b * k
        doubled = [v * 2 + t for v in items]
        return t, doubled, sum(items), sum(v.sum() for v in items), list(items)

    check(f, [P, I], [N, ONE])


def test_made_longer():
    def f(x, n):
        items = grow(x, n)
        items.append(x)
        items += [x + 1]
        both = [x - 1] + items + [x - 2]
        items.extend(items)
        items.insert(1, x * 9)
        last = items.pop()
        return both, items, last, items.pop(0)

    check(f, [P, I], [N, ONE])


def test_augmented_in_the_loop():
    def f(x, n):
        a, b = [], [x]
        i = paddle.zeros([], "int64")
        while i < n:
            a += [x * i.astype("float32")]
            b = b + [x + 1]
            i = i + 1
        return paddle.stack(a), paddle.concat(b), b

    check(f, [P, I], [N, ONE])


def test_in_containers():
    def f(x, n):
        d = {"a": [], "b": (x, [x])}
        i = paddle.zeros([], "int64")
        while i < n:
            d["a"].append(x * i.astype("float32"))
            d["b"][1].append(x + 1)
            d.setdefault("a", []).append(x)
            i = i + 1
        return paddle.stack(d["a"]), d["b"], len(d["b"])

    check(f, [P, I], [N, ONE])


def test_keys_that_a_round_makes():
    def f(x, n):
        d = {"first": x}
        i = paddle.zeros([], "int64")
        while i < n:
            d["last"] = x * i.astype("float32")
            d["pair"] = (x + i.astype("float32"), i)
            i = i + 1
        return d["last"], d["pair"], d["first"]

    compiled = check(f, [P, I], [N, ONE])
    with pytest.raises(AssertionError, match="'d' is used after a loop that ran no round"):
        compiled(argument(P), argument(I0))


def test_joined():
    def f(x, n):
        items = grow(x, n)
        m = [v.reshape([1, 3]) for v in items]
        return (
            paddle.stack(items, axis=1),
            paddle.concat(items),
            paddle.vstack(items),
            paddle.hstack(items),
            paddle.add_n(items),
            paddle.concat(m, axis=1),
            paddle.vstack(m),
            paddle.hstack(m),
        )

    check(f, [P, I], [N, ONE])


def test_truth_and_length():
    def f(x, n):
        items = grow(x, n)
        if items:
            x = x + 10
        if not items:
            x = x * 2
        if len(items) > 2:
            x = x - 3
        y = x if items else -x
        while items:
            y = y + items.pop()
        return y

    check(f, [P, I], [N, I0], [P, ONE])


def test_items_of_different_sizes():
    def f(x, n):
        items = []
        for i in range(n):
            items.append(x[: i + 1].detach() * i)
        return items, paddle.concat(items)

    check(f, [P, I])

    def g(x, n):
        items = []
        for i in range(n):
            items.append(x[: i + 1])
        return items

    with pytest.raises(TypeError, match="can't be returned with gradients where its items' sizes differ"):
        static(g)(argument(P), argument(I))


def segmented(f, *calls):
    compiled = paddle.jit.to_static(f)
    for args in calls:
        same(outcome(compiled, args), outcome(f, args))
    kinds = [e.kind for e in compiled._events]
    assert kinds and "eager" not in kinds, compiled.report()
    return compiled


def test_outliving_an_interruption():
    def f(x, n):
        items = grow(x, n)
        scale = float(x.sum())
        k = len(items)
        items.append(x)
        more = [v * scale for v in items]
        return paddle.stack(items).sum(0) * scale, k, items[1:], more, items[n - 1], isinstance(k, int)

    segmented(f, [P, I], [N, I], [P, ONE], [P, I0 + 2])


def test_growing_on_after_an_interruption():
    def f(x, n):
        items = grow(x, n)
        y = x * float(x.sum())
        i = paddle.zeros([], "int64")
        while i < n:
            items.append(y)
            i = i + 1
        return paddle.stack(items), len(items) if isinstance(len(items), int) else int(len(items))

    segmented(f, [P, I], [N, ONE])


def test_what_a_list_cannot_do():
    with pytest.raises(TypeError, match=r"list.sort .*test_real_grown_lists.py"):
        static(lambda x, n: grow(x, n).sort())(argument(P), argument(I))
    assert len(leaves([1, [2]])) == 4  # the comparison above sees structure
    close(tensor(P), P)

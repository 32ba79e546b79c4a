"""Differences from official Paddle 3.3.1 that are meant: the case, and why."""

_REFUSED = "official computes something without sense here (or reads beyond the data); we refuse"
_COMPLEX = "complex numbers have no order: we refuse to compare or round them"
_INTEGERS = "official cuts the mean of integers to an integer; we ask for floats"
_CLASS = "a value that doesn't fit is a ValueError"

_BY_REASON = {
    _REFUSED: [
        "R([3], low=1) + 'a'", "R([3], low=1) - 'a'", "R([3], low=1) / 'a'", "R([3], low=1) // 'a'",
        "R([3], low=1) % 'a'", "R([3], low=1) ** 'a'", "paddle.full([2], 'a')", "paddle.transpose(R([2, 3]), [0])",
        "paddle.slice(R([3, 4]), [2], [0], [1])", "paddle.index_select(R([3, 4]), T([[0]]))",
        "R([3]).masked_fill(R([3]), 1.0)", "paddle.argmax(R([0]))", "F.pad(R([2, 3]), [1, 1, 1])",
        "F.conv2d(R([1, 2, 2, 2]), R([3, 2, 3, 3]))", "F.max_pool2d(R([1, 2, 2, 2]), 3)", "paddle.diag(R([]))",
    ],
    _COMPLEX: [
        "paddle.round(R([2, 3], 'complex64'))", "paddle.remainder(R([3], 'float32', 1, 5), R([3], 'complex64', 1, 4))",
        *(f"paddle.{f}(R([3], 'float32', 1, 5), R([3], 'complex64', 1, 4))"
          for f in ("less_than", "less_equal", "greater_than", "greater_equal")),
    ],
    _INTEGERS: [f"paddle.{f}(R([2, 3], '{t}'){a})" for f in ("std", "var") for t in ("int32", "int64")
                for a in ("", ", axis=1")],
    _CLASS: [
        "paddle.eye(-1)",
        "paddle.split(tensor=R([5]), split_size_or_sections=2, dim=0)",
    ],
    "official's result for integers is computed in float32 and stored as float64": [
        f"paddle.atan2(R([2, 3], '{t}', 1, 5), R([2, 3], '{t}', 1, 4))" for t in ("int32", "int64")
    ],
    "true division of booleans is a float": ["R([3], 'bool', 1, 4) / True"],
    "which of several equal elements comes first is not promised; we take the first": [
        "paddle.topk(R([5], 'int64'), 2)"
    ],
    "no gradient flows through indices: they say so": ["grads(lambda x: paddle.topk(x, 2), R([2, 4]))"],
    "zeros after clear_grad are nobody's leaf": [
        "after(T([2.0], grad=True), lambda x: (x * x).backward(), lambda x: x.clear_grad()).grad"
    ],
}  # fmt: skip

EXPLAINED = {case: reason for reason, cases in _BY_REASON.items() for case in cases}

"""Which dtype comes out where kinds of numbers meet, results without elements, results with names."""

REALS = "int32 int64 float16 float32 float64".split()

CASES = [
    *(f"T([1, 2, 3]).astype('{d}') {f}" for d in REALS for f in ("+ 1j", "* 1j", "/ 1j", "+ 1.5", "// 2", "% 2", "** 2", "** 0.5")),
    *(f"T([1, 2, 3]).astype('{d}').{f}" for d in ("int32", "int64", "float32") for f in ("pow(2)", "pow(2.5)", "pow(0.5)", "sum()", "cumsum()", "prod()")),
    *(f"T([[1, 2], [3, 4]]).astype('{d}').trace()" for d in ("int32", "int64", "float32")), "T([1, 2, 3]).astype('uint8').sum()",
    *(f"T([1 + 1j, 2 - 1j, 3j, 4.0]).norm({p})" for p in ("", "1", "3", "float('inf')", "'fro'")), "paddle.norm(R([2, 2], 'complex64'), 2, 1)", "grads(lambda x: x.norm(), R([2, 2]))",
    *(f"paddle.zeros([0]).{f}()" for f in ("sum", "mean", "prod", "logsumexp", "norm", "cumsum", "sort", "unique", "all")), *(f"paddle.zeros([0, 3]).{f}(0)" for f in ("sum", "mean", "logsumexp")),
    "paddle.topk(T([3.0, 1.0, 2.0]), 2).values", "T([3.0, 1.0, 2.0]).topk(1).indices", "type(paddle.topk(R([3]), 1)).__name__",
]  # fmt: skip

"""Elementwise functions, reductions and scans."""

UNARY = (
    "abs exp log sqrt rsqrt square sin cos tan tanh floor ceil round sign erf reciprocal sigmoid "
    "sinh cosh asin acos atan asinh acosh atanh expm1 log1p log2 log10 trunc frac neg isnan isinf isfinite"
).split()
BINARY = (
    "add subtract multiply divide maximum minimum pow floor_divide remainder fmax fmin atan2 "
    "equal not_equal less_than less_equal greater_than greater_equal"
).split()
LOGICAL = "logical_and logical_or logical_xor".split()
REDUCE = "sum mean max min prod amax amin logsumexp std var".split()
BOOLEAN = "all any".split()

CASES = []
for f in UNARY:
    for dtype in ("float32", "float64", "int32", "int64", "uint8", "bool", "complex64", "float16"):
        CASES.append(f"paddle.{f}(R([2, 3], '{dtype}'))")
    CASES += [f"paddle.{f}(R([], 'float32'))", f"paddle.{f}(R([0, 3], 'float32'))",
              f"paddle.{f}(input=R([2], low=0.2, high=0.9))", f"paddle.{f}(x=R([2], low=0.2, high=0.9))",
              f"paddle.{f}(R([3], low=0.2, high=0.9), name='n')", f"R([3], low=0.2, high=0.9).{f}()",
              f"paddle.{f}([1.0, 2.0])", f"paddle.{f}(None)"]  # fmt: skip
    if not f.startswith("is"):
        CASES.append(f"grads(paddle.{f}, R([2, 2], low=0.2, high=0.9))")
        CASES.append(f"grads(paddle.{f}, R([2, 2], low=1.2, high=1.9))")
for f in BINARY:
    for dtype in ("float32", "float64", "int32", "int64", "uint8", "bool"):
        CASES.append(f"paddle.{f}(R([2, 3], '{dtype}', 1, 5), R([2, 3], '{dtype}', 1, 4))")
    for a, b in (("int32", "int64"), ("int64", "float32"), ("float32", "float64"), ("bool", "int64"),
                 ("uint8", "int32"), ("float16", "float32"), ("float32", "complex64")):  # fmt: skip
        CASES.append(f"paddle.{f}(R([3], '{a}', 1, 5), R([3], '{b}', 1, 4))")
    CASES += [f"paddle.{f}(R([2, 1, 3], low=1), R([4, 1], low=1))", f"paddle.{f}(R([], low=1), R([3], low=1))",
              f"paddle.{f}(R([], low=1), R([], low=1))", f"paddle.{f}(R([0, 3]), R([3]))",
              f"paddle.{f}(R([2, 3]), R([4]))", f"paddle.{f}(x=R([3], low=1), y=R([3], low=1))",
              f"paddle.{f}(input=R([3], low=1), other=R([3], low=1))", f"R([3], low=1).{f}(R([3], low=1))"]  # fmt: skip
    if BINARY.index(f) < 12 and f not in ("floor_divide",):
        CASES.append(f"grads(paddle.{f}, R([2, 3], low=1), R([3], low=1, high=1.8))")
        CASES.append(f"grads(paddle.{f}, R([2, 1], 'float64', low=1), R([2, 3], 'float64', low=1, high=1.8))")
for f in LOGICAL:
    for dtype in ("bool", "int32", "float32"):
        CASES.append(f"paddle.{f}(R([2, 3], '{dtype}'), R([3], '{dtype}'))")
    CASES += [f"paddle.{f}(R([], 'bool'), R([2], 'bool'))", f"paddle.{f}(R([2], 'bool'), R([3], 'bool'))",
              f"paddle.{f}(R([2], 'bool'), R([2], 'int64'))"]  # fmt: skip
CASES += [f"paddle.logical_not(R([3], '{d}'))" for d in ("bool", "int32", "float32")]
for f in REDUCE + BOOLEAN:
    dtypes = ("bool", "int32", "float32") if f in BOOLEAN else (
        "float32", "float64", "int32", "int64", "uint8", "bool", "float16", "int8")  # fmt: skip
    base = "'bool'" if f in BOOLEAN else "'float32'"
    for dtype in dtypes:
        CASES.append(f"paddle.{f}(R([2, 3], '{dtype}'))")
        CASES.append(f"paddle.{f}(R([2, 3], '{dtype}'), axis=1)")
    CASES += [f"paddle.{f}(R([2, 3, 4], {base}), axis=-1, keepdim=True)",
              f"paddle.{f}(R([2, 3, 4], {base}), [0, -1])", f"paddle.{f}(R([2, 3, 4], {base}), (0, 1), keepdim=True)",
              f"paddle.{f}(R([2, 3], {base}), axis=2)", f"paddle.{f}(R([2, 3], {base}), axis=-3)",
              f"paddle.{f}(R([], {base}))", f"paddle.{f}(R([], {base}), axis=0)", f"paddle.{f}(R([], {base}), axis=-1)",
              f"paddle.{f}(R([0, 3], {base}), axis=1)", f"paddle.{f}(R([2, 0], {base}), axis=0)",
              f"paddle.{f}(x=R([2, 3], {base}), axis=None)", f"paddle.{f}(input=R([2, 3], {base}), dim=0)",
              f"R([2, 3], {base}).{f}()", f"R([2, 3], {base}).{f}(0)", f"R([2, 3], {base}).{f}(axis=[])",
              f"paddle.{f}(R([2, 3], {base}), axis=T(1))"]  # fmt: skip
    if f not in BOOLEAN:
        CASES.append(f"grads(lambda x: paddle.{f}(x, axis=1), R([2, 3]))")
        CASES.append(f"grads(lambda x: paddle.{f}(x, axis=[0, 2], keepdim=True), R([2, 3, 2], 'float64'))")
CASES += [
    "paddle.sum(R([2, 3], 'float32'), dtype='float64')", "paddle.sum(R([2, 3], 'int32'), dtype='float32')",
    "paddle.sum(R([2, 3], 'bool'), dtype='int32')", "paddle.sum(R([0, 3]), axis=0)", "paddle.sum(R([0]))",
    "paddle.mean(R([0]))", "paddle.max(R([0]))", "paddle.prod(R([2, 3], 'int32'), dtype='float32')",
    "paddle.prod(R([0]))", "paddle.std(R([4]), unbiased=False)", "paddle.var(R([2, 4]), axis=0, unbiased=False)",
    "paddle.std(R([1]))", "paddle.max(R([2, 3]), 0, True)", "paddle.sum(R([2, 3]), 0, 'float64', True)",
    "paddle.max(T([3.0, 1.0, 2.0]), T([1.0, 4.0, 2.0]))", "paddle.mean(R([2, 3], 'bfloat16'))",
    "paddle.sum(R([2, 3], 'complex64'), axis=0)", "paddle.mean(R([2, 3], 'complex64'))",
]  # fmt: skip
# scans
for f in ("cumsum", "cumprod", "logcumsumexp"):
    axis = "dim" if f == "cumprod" else "axis"
    for dtype in ("float32", "float64", "int32", "int64", "uint8", "bool", "float16"):
        CASES.append(f"paddle.{f}(R([2, 3], '{dtype}'), {axis}=1)")
    CASES += [f"paddle.{f}(R([2, 3]), {axis}=-1)", f"paddle.{f}(R([2, 3]), {axis}=0)", f"paddle.{f}(R([2, 3]), {axis}=2)",
              f"paddle.{f}(R([]), {axis}=0)", f"paddle.{f}(R([0, 3]), {axis}=1)", f"R([2, 3]).{f}(1)",
              f"grads(lambda x: paddle.{f}(x, {axis}=1), R([2, 3]))"]  # fmt: skip
CASES += ["paddle.cumsum(R([2, 3]))", "paddle.cumsum(R([2, 3]), dtype='float64')", "paddle.cumsum(R([2, 3]), 0, 'int32')",
          "paddle.cumsum(x=R([2, 3]), axis=0, name='n')", "paddle.cumsum(input=R([2, 3]), dim=0)",
          "paddle.cummax(R([2, 3]), axis=1)", "paddle.cummin(R([2, 3]), axis=0)", "paddle.cummax(R([4], 'int32'))"]  # fmt: skip
# numbers as operands
for op in ("+", "-", "*", "/", "//", "%", "**"):
    for dtype in ("float32", "int32", "int64", "uint8", "bool", "float16", "bfloat16"):
        for number in ("2", "2.5", "True"):
            CASES.append(f"R([3], '{dtype}', 1, 4) {op} {number}")
            CASES.append(f"{number} {op} R([3], '{dtype}', 1, 4)")
    CASES += [f"R([3], 'int32', 1, 4) {op} R([3], 'float32', 1, 4)", f"R([2, 1], 'int64', 1, 4) {op} R([3], 'int32', 1, 4)",
              f"R([3], low=1) {op} np.ones(3, 'float32')", f"R([3], low=1) {op} None", f"R([3], low=1) {op} 'a'"]  # fmt: skip
for op in ("==", "!=", "<", "<=", ">", ">="):
    CASES += [f"R([3]) {op} 1", f"R([3], 'int64') {op} 1.5", f"R([2, 1]) {op} R([3])", f"R([3], 'bool') {op} True",
              f"R([3], 'int32') {op} R([3], 'int64')"]  # fmt: skip
for op in ("&", "|", "^"):
    CASES += [f"R([3], 'bool') {op} R([3], 'bool')", f"R([3], 'int32') {op} R([3], 'int32')", f"R([3]) {op} R([3])",
              f"R([3], 'int64') {op} 3", f"R([3], 'bool') {op} True"]  # fmt: skip
CASES += ["~R([3], 'bool')", "~R([3], 'int32')", "~R([3])", "-R([3], 'bool')", "-R([3], 'uint8')", "abs(R([3]))",
          "R([3], 'int32') << 1", "R([3], 'int32') >> 1", "R([2, 3]) @ R([3, 2])", "R([3]) @ R([3])"]  # fmt: skip
# clip, scale, pow and kin
CASES += [
    "paddle.clip(R([2, 3]), -0.5, 0.5)", "paddle.clip(R([2, 3]), min=0)", "paddle.clip(R([2, 3]), max=0.5)",
    "paddle.clip(R([2, 3], 'int32'), 0, 1)", "paddle.clip(R([2, 3], 'int64'), 0.5, 1.5)", "paddle.clip(R([]), 0, 1)",
    "paddle.clip(R([0, 2]), 0, 1)", "R([3]).clip(0, 1)", "R([3]).clip(min=T(0.0), max=T(1.0))", "paddle.clip(R([3]))",
    "paddle.clip(R([3]), T([0.0]), T([1.0]))", "paddle.clip(R([3]), 1, 0)", "paddle.clip(R([3], 'bool'), 0, 1)",
    "paddle.clip(R([3], 'uint8'), 0, 1)", "paddle.clip(R([3], 'float16'), 0, 1)",
    "grads(lambda x: paddle.clip(x, -0.5, 0.5), R([2, 3]))", "after(R([3]), lambda x: x.clip_(0, 1))",
    "paddle.scale(R([3]), 2.0, 1.0)", "paddle.scale(R([3]), 2.0, 1.0, bias_after_scale=False)",
    "paddle.scale(R([3], 'int32'), 2)", "paddle.scale(R([3]), T(2.0))", "R([3]).scale(2.0, bias=0.5)",
    "paddle.scale(R([3]), act='relu')", "grads(lambda x: paddle.scale(x, 3.0, 1.0), R([3]))",
    "paddle.pow(R([3], low=0.5), 2)", "paddle.pow(R([3], low=0.5), 0.5)", "paddle.pow(R([3], 'int32'), 2)",
    "paddle.pow(R([3], 'int32', 1, 4), 0.5)", "paddle.pow(R([3], 'int64', 1, 4), 2.5)", "R([3], 'int32', 1, 4).pow(2.0)",
    "paddle.pow(R([3], 'uint8', 1, 4), 2)", "paddle.pow(2, R([3]))", "paddle.pow(R([3]), 'a')",
    "paddle.pow(input=R([3]), exponent=2)", "paddle.pow(R([], low=1), 2)", "paddle.pow(R([0]), 2)",
    "grads(lambda x: paddle.pow(x, 3), R([2, 3], low=0.5))", "grads(lambda x: x ** 2, R([2, 3]))",
    "grads(lambda x: 2.0 ** x, R([2, 3]))", "grads(lambda x: x.astype('int32').astype('float32') * x, R([3]))",
    "grads(lambda x: x.astype('float64'), R([3]))", "grads(lambda x: paddle.cast(x, 'float16'), R([3]))",
    "paddle.add_n([R([3]), R([3])])", "paddle.add_n(R([3]))", "paddle.lerp(R([3]), R([3], low=0), 0.3)",
    "paddle.allclose(R([3]), R([3]))", "paddle.isclose(R([3]), R([3]) + 1e-9)", "paddle.equal_all(R([3]), R([3]))",
    "paddle.equal(R([3]), 1.0)", "paddle.nan_to_num(T([float('nan'), 1.0, float('inf')]))", "paddle.logit(R([3], low=0.2, high=0.8))",
    "paddle.outer(R([3]), R([2]))", "paddle.inner(R([2, 3]), R([4, 3]))", "paddle.kron(R([2, 2]), R([2, 1]))",
    "paddle.diff(R([2, 4]))", "paddle.trace(R([3, 3]))", "paddle.add(R([3]), R([3]), alpha=2)", "paddle.round(R([3]), 1)",
    "paddle.divide(R([3], 'int32', 1, 5), R([3], 'int32', 1, 4))", "paddle.remainder(R([3], 'int32'), T([2, -2, 3], 'int32'))",
    "paddle.floor_divide(T([-7, 7]), T([2, -2]))", "T([-7, 7]) // 2", "T([-7, 7]) % 3", "T([-7.5, 7.5]) // 2", "T([-7.5, 7.5]) % 2",
]  # fmt: skip

"""Further functions of paddle: elementwise, joining, cutting, indexing, in place, special functions, conversions."""

SPECIAL = "lgamma digamma gammaln i0 i0e i1 i1e erfinv sinc deg2rad rad2deg stanh sgn signbit isneginf isposinf isreal positive exp2 conj real imag angle negative bitwise_not".split()
PAIRS = "copysign hypot gcd lcm logaddexp nextafter heaviside ldexp bitwise_and bitwise_or bitwise_xor gammainc gammaincc true_divide floor_mod mod bitwise_left_shift bitwise_right_shift".split()
INPLACE = "abs acos asin asinh acosh atan atanh ceil cos cosh digamma erf exp expm1 floor frac i0 lgamma log log10 log1p log2 neg reciprocal round rsqrt sigmoid sin sinh sqrt square tan tanh trunc logit gammaln sinc erfinv tril triu t squeeze flatten nan_to_num".split()
INPLACE2 = "add subtract multiply divide floor_divide remainder mod pow copysign hypot gcd lcm bitwise_and bitwise_or bitwise_xor logical_and logical_or logical_xor equal not_equal less_than less_equal greater_than greater_equal ldexp".split()

CASES = {}
for f in SPECIAL:
    some = [f"paddle.{f}(R([2, 3], '{d}', 0.2, 3))" for d in ("float32", "float64", "int32", "int64", "bool", "complex64", "float16", "uint8")]
    some += [f"paddle.{f}(R([], low=0.2, high=0.9))", f"paddle.{f}(R([0, 3]))", f"R([3], low=0.2, high=0.9).{f}()", f"paddle.{f}(x=R([2]))", f"paddle.{f}(None)", f"paddle.{f}(T([float('nan'), float('inf'), -float('inf'), 0.0, -0.0]))"]
    if not f.startswith("is") and f not in ("sgn", "signbit", "bitwise_not"):
        some.append(f"grads(paddle.{f}, R([2, 2], low=0.2, high=0.9))")
    CASES[f"paddle.{f}"] = some
for f in PAIRS:
    some = [f"paddle.{f}(R([2, 3], '{d}', 1, 5), R([2, 3], '{d}', 1, 4))" for d in ("float32", "float64", "int32", "int64", "uint8", "bool", "int8")]
    some += [f"paddle.{f}(R([2, 1, 3], '{d}', 1, 9), R([4, 1], '{d}', 1, 9))" for d in ("float32", "int64")]
    some += [f"paddle.{f}(R([], 'int32', 1, 9), R([3], 'int32', 1, 9))", f"paddle.{f}(R([0, 3], 'int32'), R([3], 'int32'))", f"paddle.{f}(R([2, 3], 'int32'), R([4], 'int32'))", f"paddle.{f}(R([3], 'int32', 1, 5), R([3], 'int64', 1, 5))", f"paddle.{f}(R([3], 'int32', 1, 5), R([3], 'float32', 1, 5))", f"R([3], low=1, high=4).{f}(R([3], low=1, high=3))"]
    if f in ("copysign", "hypot", "logaddexp", "heaviside", "gammainc", "gammaincc", "true_divide", "ldexp"):
        some.append(f"grads(paddle.{f}, R([2, 3], low=1), R([3], low=1, high=1.8))")
    CASES[f"paddle.{f}"] = some
for f in INPLACE:
    shape = "[2, 2]"
    CASES[f"paddle.{f}_"] = [
        f"after(R({shape}, low=1.1, high=1.9), lambda x: x.{f}_())", f"after(R({shape}, 'float64', 0.1, 0.9), lambda x: paddle.{f}_(x))", f"after(R({shape}, 'int32', 1, 5), lambda x: x.{f}_())",
        f"x = R({shape}, low=0.1, high=0.9)\nx.{f}_() is x", f"x = R({shape}, low=0.1, high=0.9, grad=True)\ny = x * 1\ny.{f}_()\ny.sum().backward()\nx.grad", f"R({shape}, grad=True).{f}_()", f"after(R([0, 2]), lambda x: x.{f}_())",
    ]  # fmt: skip
for f in INPLACE2:
    CASES[f"paddle.{f}_"] = [
        f"after(R([2, 3], '{d}', 1, 5), lambda x: x.{f}_(R([3], '{d}', 1, 4)))" for d in ("float32", "float64", "int32", "int64", "bool")
    ] + [f"after(R([3], 'int32', 1, 5), lambda x: x.{f}_(R([2, 3], 'int32', 1, 4)))", f"after(R([3], 'int32', 1, 5), lambda x: x.{f}_(R([3], 'float32', 1, 4)))", f"after(R([3], 'float32', 1, 5), lambda x: x.{f}_(R([3], 'int64', 1, 4)))"]  # fmt: skip

SPELT = {
    "tensors": [
        "paddle.finfo('float32').eps", "[paddle.finfo(d).max for d in ('float16', 'bfloat16', 'float64')]", "str(paddle.finfo(paddle.float32))", "paddle.finfo('int32')", "[paddle.iinfo(d).max for d in ('int8', 'uint8', 'int64')]", "paddle.iinfo('float32')", "str(paddle.iinfo('int32'))",
        "paddle.as_tensor([1, 2])", "paddle.asarray([1.0, 2.0], dtype='float64')", "paddle.from_numpy(np.arange(3))", "a = np.zeros(2, 'float32')\nt = paddle.from_numpy(a)\na[0] = 5\nt", "paddle.tolist(R([2]))", "paddle.rank(R([2, 3]))", "paddle.is_empty(R([0]))", "paddle.is_complex(R([2], 'complex64'))", "paddle.is_complex(R([2]))", "paddle.is_integer(R([2], 'int32'))", "paddle.is_integer(R([2]))", "paddle.is_integer(3)", "paddle.is_complex(3)",
        "paddle.range(0, 5, 2)", "paddle.range(0.0, 1.0, 0.25, 'float32')", "paddle.complex(R([2]), R([2], low=0))", "paddle.complex(R([2, 1]), R([3]))", "paddle.complex(R([2], 'int32'), R([2]))", "grads(lambda a, b: paddle.complex(a, b).abs(), R([2]), R([2], low=1))", "paddle.polar(R([3], low=0), R([3]))", "paddle.polar(R([3], 'float64', 0), R([3], 'float64'))", "paddle.as_complex(R([2, 2]))", "paddle.as_complex(R([2, 3]))", "paddle.as_real(R([2], 'complex64'))", "paddle.view_as_complex(R([2, 2]))", "paddle.view_as_real(R([2], 'complex64'))",
        "paddle.frexp(R([3]))", "paddle.frexp(T([0.0, 8.0, -0.75]))", "paddle.polygamma(R([3], low=0.5, high=3), 1)", "paddle.polygamma(R([3], low=0.5, high=3), 2)", "paddle.polygamma(R([3], low=0.5), -1)", "paddle.multigammaln(R([3], low=3, high=5), 2)", "paddle.isin(R([4], 'int32'), R([2], 'int32'))", "paddle.isin(R([4], 'int64'), 1)", "paddle.isin(R([4], 'int64'), R([2], 'int64'), invert=True)", "paddle.isin(R([2, 2]), R([0]))", "paddle.shape(R([2, 0]))",
        "paddle.increment(T([1.0]))", "paddle.increment(T([1]), 3)", "paddle.increment(R([2]))", "paddle.shard_index(T([[1], [6], [12], [19]]), 20, 2, 0)", "paddle.shard_index(T([[1], [6], [12], [19]]), 20, 2, 1, -5)", "paddle.broadcast_shape([2, 1, 3], [4, 1])", "paddle.broadcast_shape([2, 3], [4])", "paddle.broadcast_shapes([2, 1], [3], [1, 1])", "paddle.broadcast_tensors([R([2, 1]), R([3])])", "paddle.broadcast_tensors([R([2, 2]), R([3])])", "paddle.check_shape([2, 3])",
        "paddle.reduce_as(R([2, 3]), R([3]))", "paddle.reduce_as(R([2, 3, 4]), R([3, 1]))", "grads(lambda x: paddle.reduce_as(x, R([3])), R([2, 3]))", "paddle.renorm(R([2, 3]), 2.0, 0, 1.0)", "paddle.renorm(R([2, 3, 2]), 1.0, -1, 0.5)", "grads(lambda x: paddle.renorm(x, 2.0, 0, 1.0), R([2, 3]))", "paddle.count_nonzero(R([2, 3], 'int32'))", "paddle.count_nonzero(R([2, 3], 'int32'), axis=1, keepdim=True)", "paddle.count_nonzero(R([2, 3], 'bool'), [0, 1])", "paddle.count_nonzero(R([]))",
    ],
    "joining": [
        *(f"paddle.{f}([R([2, 3]), R([2, 3])])" for f in ("hstack", "vstack", "dstack", "column_stack", "row_stack", "atleast_2d", "cartesian_prod")), *(f"paddle.{f}([R([3]), R([3])])" for f in ("hstack", "vstack", "dstack", "column_stack", "row_stack", "cartesian_prod")), *(f"paddle.{f}([R([]), R([])])" for f in ("hstack", "vstack", "dstack", "column_stack", "row_stack")),
        *(f"paddle.{f}({x})" for f in ("atleast_1d", "atleast_2d", "atleast_3d") for x in ("R([])", "R([3])", "R([2, 3])", "R([]), R([2])", "[R([]), R([2])]")), *(f"paddle.{f}(R([2, 4, 4]), 2)" for f in ("hsplit", "vsplit", "dsplit", "tensor_split")), *(f"paddle.{f}(R([4, 5, 6]), [1, 3])" for f in ("hsplit", "vsplit", "dsplit", "tensor_split")), "paddle.hsplit(R([4]), 2)", "paddle.vsplit(R([4]), 2)", "paddle.dsplit(R([4, 4]), 2)", "paddle.tensor_split(R([7]), 3)", "paddle.tensor_split(R([2, 7]), [2, 5], axis=-1)", "paddle.hsplit(R([3, 5]), 2)",
        "paddle.block_diag([R([2, 2]), R([1, 3])])", "paddle.block_diag([R([2]), R([])])", "paddle.combinations(T([1, 2, 3]))", "paddle.combinations(T([1, 2, 3]), 2, True)", "paddle.combinations(T([1, 2, 3]), 0)", "paddle.combinations(R([2, 2]))", "paddle.unstack(R([2, 3]))", "paddle.unstack(R([2, 3]), axis=-1)", "paddle.unstack(R([2, 3]), 1, 3)", "paddle.unstack(R([2, 3]), 0, 3)", "grads(lambda x: paddle.unstack(x)[1], R([2, 3]))", "paddle.unflatten(R([2, 6]), 1, [2, 3])", "paddle.unflatten(R([2, 6]), -1, (-1, 3))", "paddle.unflatten(R([2, 6]), 1, T([2, 3]))", "paddle.unflatten(R([2, 6]), 1, [4, 2])",
        "paddle.diag_embed(R([2, 3]))", "paddle.diag_embed(R([2, 3]), offset=1, dim1=0, dim2=2)", "paddle.diag_embed(R([3]), -1)", "paddle.diagflat(R([2, 2]))", "paddle.diagflat(R([3]), offset=-1)", "paddle.diagonal(R([3, 4]))", "paddle.diagonal(R([2, 3, 4]), 1, 0, 2)", "paddle.diagonal(R([3, 4]), offset=-2)", "paddle.diagonal(R([3]))", "grads(lambda x: paddle.diagonal(x, 1), R([3, 4]))", "paddle.diagonal_scatter(R([3, 3]), R([3], low=5))", "paddle.diagonal_scatter(R([3, 4]), R([3], low=5), offset=1)", "paddle.select_scatter(R([2, 3]), R([3], low=5), 0, 1)", "paddle.select_scatter(R([2, 3]), R([2], low=5), -1, -1)", "paddle.slice_scatter(R([4, 3]), R([2, 3], low=5), [0], [0], [4], [2])", "paddle.slice_scatter(R([4, 3]), R([4, 1], low=5), axes=[1], starts=[2], ends=[3], strides=[1])", "grads(lambda x, v: paddle.slice_scatter(x, v, [0], [1], [3], [1]), R([4, 3]), R([2, 3]))",
        "paddle.tril_indices(3, 4, 0)", "paddle.tril_indices(4, 3, -1)", "paddle.tril_indices(3)", "paddle.triu_indices(3, 4, 1)", "paddle.triu_indices(3, dtype='int32')", "paddle.vander(R([3]))", "paddle.vander(R([3]), 2, True)", "paddle.vander(R([2, 2]))", "paddle.rot90(R([2, 3]))", "paddle.rot90(R([2, 3]), 2)", "paddle.rot90(R([2, 3, 2]), -1, [1, 2])", "paddle.rot90(R([3]))", "paddle.moveaxis(R([2, 3, 4]), 0, -1)", "paddle.moveaxis(R([2, 3, 4]), [0, 1], [-1, 0])", "paddle.moveaxis(R([2, 3]), 0, 2)", "paddle.swapaxes(R([2, 3, 4]), 0, 2)", "paddle.as_strided(R([4]), [2, 2], [1, 1])", "paddle.as_strided(R([2, 3]), (3, 2), (1, 3), 0)", "grads(lambda x: paddle.as_strided(x, [3, 2], [1, 1]), R([4]))", "R([6]).unfold(0, 2, 3)", "paddle.unfold(R([2, 5]), 1, 3, 1)", "paddle.view(R([2, 3]), [3, 2])", "paddle.view(R([4]), 'int32')", "paddle.view_as(R([2, 3]), R([6]))", "R([2, 3]).view_as(R([3, 2]))", "paddle.crop(R([3, 4]), [2, 2], [1, 1])", "paddle.crop(R([3, 4]), [-1, 2], [1, 0])", "paddle.crop(R([3, 4]))", "paddle.strided_slice(R([3, 4]), [0, 1], [0, 3], [3, 0], [2, -1])", "paddle.strided_slice(R([5]), [0], [-1], [-6], [-2])", "grads(lambda x: paddle.strided_slice(x, [0], [0], [4], [2]), R([4]))",
    ],
    "indexing": [
        "paddle.index_sample(R([2, 4]), T([[0, 3], [1, 1]]))", "paddle.index_sample(R([2, 4], 'int32'), T([[0], [1]], 'int32'))", "paddle.index_sample(R([2, 4]), T([[4], [0]]))", "grads(lambda x: paddle.index_sample(x, T([[0, 3], [1, 1]])), R([2, 4]))", "paddle.index_add(R([3, 2]), T([0, 2]), 0, R([2, 2], low=5))", "paddle.index_add(R([2, 3]), T([1, 1], 'int32'), 1, R([2, 2], low=5))", "paddle.index_add(R([3, 2]), T([3]), 0, R([1, 2]))", "grads(lambda x, v: paddle.index_add(x, T([0, 0]), 0, v), R([3, 2]), R([2, 2]))", "after(R([3, 2]), lambda x: x.index_add_(T([0]), 0, R([1, 2])))", "paddle.index_fill(R([3, 2]), T([0, 2]), 0, 7.0)", "paddle.index_fill(R([3, 2]), T([1]), 1, T(7.0))", "after(R([3, 2]), lambda x: x.index_fill_(T([0]), 0, -1))", "grads(lambda x: paddle.index_fill(x, T([0]), 0, 5.0), R([3, 2]))",
        "paddle.index_put(R([3, 3]), (T([0, 1]), T([1, 2])), T([9.0, 8.0]))", "paddle.index_put(R([3, 3]), (T([0, 0]),), T([1.0, 2.0, 3.0]), accumulate=True)", "paddle.index_put(R([3]), (T([True, False, True]),), T(5.0))", "after(R([3, 3]), lambda x: x.index_put_((T([0, -1]),), T(1.0)))", "grads(lambda x, v: paddle.index_put(x, (T([0, 0]),), v, accumulate=True), R([3, 2]), R([2, 2]))", "paddle.index_put(R([3]), (T([5]),), T([1.0]))", "paddle.take(R([2, 3]), T([0, 5]))", "paddle.take(R([2, 3]), T([[-1, 2]]))", "paddle.take(R([2, 3]), T([6]))", "paddle.take(R([2, 3]), T([7, -8]), mode='wrap')", "paddle.take(R([2, 3]), T([7, -8]), mode='clip')", "paddle.take(R([2, 3]), T([7]), mode='x')", "grads(lambda x: paddle.take(x, T([0, 0, 4])), R([2, 3]))",
        "paddle.put_along_axis(R([2, 3]), T([[0], [1]]), 9.0, 1)", "paddle.put_along_axis(R([2, 3]), T([[0, 1, 0]]), T([[5.0, 6.0, 7.0]]), 0, reduce='add')", *(f"paddle.put_along_axis(R([2, 3]), T([[0, 1, 1], [2, 2, 0]]), R([2, 3], low=1), 1, '{r}')" for r in ("assign", "add", "multiply", "mul", "mean", "amin", "amax", "x")), "paddle.put_along_axis(R([2, 3]), T([[0, 1, 1], [2, 2, 0]]), R([2, 3], low=1), 1, 'add', include_self=False)", "paddle.put_along_axis(R([2, 3]), T([[0]]), T([[1.0]]), 1, broadcast=False)", "after(R([2, 3]), lambda x: x.put_along_axis_(T([[0], [1]]), 9.0, 1))", *(f"grads(lambda x, v: paddle.put_along_axis(x, T([[0, 1, 2], [2, 1, 0]]), v, 1, '{r}'), R([2, 3]), R([2, 3], low=1))" for r in ("assign", "add", "mul")),
        "paddle.scatter_nd(T([[1], [0], [1]]), R([3, 2]), [3, 2])", "paddle.scatter_nd(T([[1, 1]]), T([5.0]), [2, 2])", "paddle.scatter_nd_add(R([3]), T([[1], [1]]), T([5.0, 1.0]))", "paddle.scatter_nd_add(R([2, 3]), T([[0, 2]], 'int32'), T([1.0]))", "grads(lambda x, v: paddle.scatter_nd_add(x, T([[0], [0]]), v), R([2, 3]), R([2, 3]))", "after(R([3, 2]), lambda x: x.scatter_(T([0]), R([1, 2])))", "paddle.scatter_add(R([2, 3]), 1, T([[0], [1]]), R([2, 1]))", *(f"paddle.scatter_reduce(R([2, 3]), 1, T([[0, 1, 1], [2, 2, 0]]), R([2, 3], low=1), '{r}')" for r in ("sum", "prod", "mean", "amin", "amax")), "paddle.masked_scatter(R([2, 3]), R([2, 3], 'bool'), R([6], low=5))", "paddle.masked_scatter(R([3]), R([3], 'bool'), R([1]))", "grads(lambda x, v: paddle.masked_scatter(x, T([True, False, True]), v), R([3]), R([3]))", "paddle.masked_select(R([2, 3]), R([2, 3], 'bool'))", "paddle.masked_select(R([2, 3]), R([3], 'bool'))", "paddle.masked_select(R([2, 3]), T(np.zeros((2, 3), 'bool')))", "grads(lambda x: paddle.masked_select(x, x > 0), R([2, 3]))",
        "after(R([2, 2]), lambda x: x.fill_diagonal_(1.0))", "after(R([4, 2]), lambda x: x.fill_diagonal_(1.0, wrap=True))", "after(R([3, 3]), lambda x: x.fill_diagonal_(1.0, 1))", "R([3, 3]).fill_diagonal_tensor(R([3], low=5))", "R([2, 3, 3]).fill_diagonal_tensor(R([3, 2], low=5), 0, 1, 2)", "paddle.multiplex([R([2, 3]), R([2, 3], low=5)], T([[1], [0]], 'int32'))", "paddle.argwhere(R([2, 3], 'int32'))", "paddle.argwhere(T(1.0))", "paddle.searchsorted(T([1, 3, 5]), T([3, 6]))", "paddle.searchsorted(T([1.0, 3.0, 5.0]), T([[3.0], [0.0]]), out_int32=True, right=True)", "paddle.searchsorted(T([[1, 3], [2, 4]]), T([[3], [1]]))", "paddle.bucketize(T([3.0, 6.0]), T([1.0, 3.0, 5.0]))", "paddle.bucketize(T([3, 6]), T([1, 3, 5]), right=True)", "paddle.kthvalue(R([5]), 2)", "paddle.kthvalue(R([2, 5]), 3, axis=0)", "paddle.kthvalue(R([2, 5]), 2, axis=1, keepdim=True)", "grads(lambda x: paddle.kthvalue(x, 2)[0], R([2, 3]))", "paddle.mode(T([1.0, 2.0, 2.0, 3.0]))", "paddle.mode(T([[1, 2, 2], [3, 3, 1]]), axis=1, keepdim=True)", "paddle.unique_consecutive(T([1, 1, 2, 2, 1]))", "paddle.unique_consecutive(T([1, 1, 2, 2, 1]), return_inverse=True, return_counts=True)", "paddle.unique_consecutive(T([[1, 2], [1, 2], [0, 1]]), axis=0)", "paddle.argmin(R([2, 3]))", "paddle.argmin(R([2, 3]), 1, True)", "paddle.argmin(R([2, 3]), axis=-2, dtype='int32')",
    ],
    "statistics": [
        *(f"paddle.{f}(R([2, 5]){a})" for f in ("median", "nanmedian") for a in ("", ", axis=1", ", axis=0, keepdim=True", ", axis=1, mode='min'", ", axis=[0, 1]")), "paddle.median(T([1, 2, 4, 8]))", "paddle.median(T([1.0, float('nan')]))", "paddle.nanmedian(T([1.0, float('nan'), 3.0]))", "paddle.median(R([0]))", "grads(lambda x: paddle.median(x, 1), R([2, 3]))", "grads(lambda x: paddle.median(x, 1), R([2, 4]))", *(f"paddle.{f}(R([2, 5]), {a})" for f in ("quantile", "nanquantile") for a in ("0.5", "[0.1, 0.9], axis=1", "0.3, axis=0, keepdim=True", "0.3, 1, False, 'lower'", "0.3, 1, False, 'higher'", "0.3, 1, False, 'midpoint'", "0.3, 1, False, 'nearest'", "2.0", "0.3, axis=[0, 1]")), "paddle.quantile(R([5], 'float64'), T(0.5, 'float64'))", "grads(lambda x: paddle.quantile(x, 0.3, axis=1), R([2, 4]))", *(f"paddle.{f}(T([[1.0, float('nan')], [2.0, 3.0]]){a})" for f in ("nanmean", "nansum") for a in ("", ", axis=0", ", axis=1, keepdim=True")),
        "paddle.bincount(T([1, 2, 2, 5]))", "paddle.bincount(T([1, 2, 2]), T([0.5, 1.0, 2.0]))", "paddle.bincount(T([1, 2]), minlength=5)", "paddle.bincount(T([-1]))", "paddle.bincount(R([2]))", "paddle.bincount(T([], 'int64'))", "paddle.histogram(R([10]))", "paddle.histogram(R([10]), bins=4, min=-1, max=1)", "paddle.histogram(R([10], 'int64'), bins=3)", "paddle.histogram(R([10]), 4, -2, 2, density=True)", "paddle.histogram(R([10]), 4, -2, 2, weight=R([10], low=0))", "paddle.histogram_bin_edges(R([10]), 4)", "paddle.histogram_bin_edges(R([10]), 3, 0, 1)", "paddle.histogramdd(R([5, 2]), [2, 3])", "paddle.histogramdd(R([5, 2]), 2, [-1.0, 1.0, -2.0, 2.0], True)", "paddle.corrcoef(R([3, 5]))", "paddle.corrcoef(R([5, 3]), rowvar=False)", "paddle.cov(R([3, 5]))", "paddle.cov(R([3, 5]), ddof=False)", "paddle.cov(R([3, 5]), fweights=T([1, 2, 1, 1, 3]))", "paddle.cov(R([3, 5]), aweights=R([5], low=0.1))", "grads(lambda x: paddle.cov(x), R([2, 4]))",
        "paddle.trapezoid(R([2, 4]))", "paddle.trapezoid(R([4]), T([0.0, 1.0, 3.0, 4.0]))", "paddle.trapezoid(R([2, 4]), dx=0.5, axis=0)", "paddle.cumulative_trapezoid(R([2, 4]))", "paddle.cumulative_trapezoid(R([4]), T([0.0, 1.0, 3.0, 4.0]))", "paddle.diff(R([2, 4]), 2)", "paddle.diff(R([2, 4]), axis=0)", "paddle.diff(R([3]), prepend=T([0.0]), append=T([1.0, 2.0]))", "paddle.diff(R([4], 'bool'))", "paddle.logspace(0, 2, 3)", "paddle.logspace(0, 2, 3, base=2, dtype='float64')", "paddle.logspace(T(0.0), T(1.0), T(4))", "paddle.logaddexp(R([3]), R([3], low=0))", "paddle.cummax(R([2, 4]))", "paddle.cummin(R([2, 4]), 1)", "grads(lambda x: paddle.cummax(x, 1)[0], R([2, 4]))", "paddle.dist(R([2, 3]), R([3], low=0))", *(f"paddle.dist(R([2, 3]), R([2, 3], low=0), {p})" for p in ("0", "1", "3", "float('inf')", "-float('inf')")), *(f"paddle.cdist(R([3, 4]), R([2, 4], low=0), {p})" for p in ("2.0", "1.0", "0.0", "float('inf')", "3.0")), "grads(lambda a, b: paddle.cdist(a, b), R([3, 4]), R([2, 4], low=0))", "paddle.pdist(R([4, 3]))", "paddle.pdist(R([4, 3]), 1.0)",
    ],
    "products": [
        "paddle.addmm(R([2, 2]), R([2, 3]), R([3, 2]), beta=0.5, alpha=2.0)", "paddle.addmm(R([2]), R([2, 3]), R([3, 2]))", "paddle.baddbmm(R([2, 2, 2]), R([2, 2, 3]), R([2, 3, 2]), beta=0.5, alpha=2.0)", "paddle.dot(R([3]), R([3], low=0))", "paddle.dot(R([2, 3]), R([2, 3], low=0))", "paddle.dot(R([3]), R([2]))", "paddle.mv(R([2, 3]), R([3]))", "paddle.mv(R([2, 3]), R([2]))", "paddle.t(R([2, 3]))", "paddle.t(R([2, 3, 4]))", "paddle.t(R([3]))", "paddle.tensordot(R([2, 3, 4]), R([3, 4, 5]))", "paddle.tensordot(R([2, 3]), R([2, 3]), axes=[[0], [0]])", "paddle.tensordot(R([2, 3]), R([4]), 0)", "paddle.tensordot(R([2, 3, 4]), R([4, 3]), axes=[[1, 2], [1, 0]])", "paddle.cross(R([2, 3]), R([2, 3], low=0))", "paddle.cross(R([3, 2]), R([3, 2], low=0), axis=0)", "paddle.cross(R([2, 2]), R([2, 2]))", "grads(paddle.cross, R([2, 3]), R([2, 3]))", "paddle.vecdot(R([2, 3]), R([2, 3], low=0))", "paddle.vecdot(R([2, 3]), R([3], low=0), axis=1)", "paddle.vecdot(R([3], 'complex64'), R([3], 'complex64'))", "paddle.multi_dot([R([2, 3]), R([3, 4]), R([4, 2])])", "paddle.linalg.multi_dot([R([3]), R([3, 4]), R([4])])", "paddle.kron(R([2, 3]), R([2]))", "paddle.lerp(R([3]), R([3], low=0), T(0.3))", "grads(lambda a, b, w: paddle.lerp(a, b, w), R([3]), R([3], low=0), R([3], low=0, high=1))", "after(R([3]), lambda x: x.lerp_(R([3], low=0), 0.5))", "paddle.matmul(R([2, 0]), R([0, 3]))", "paddle.bmm(R([2, 2, 3]), R([2, 3, 1]))", "paddle.inverse(R([3, 3], low=1))", "paddle.linalg.vector_norm(R([2, 3]))", "paddle.linalg.vector_norm(R([2, 3]), 1, axis=1, keepdim=True)", "paddle.linalg.vector_norm(R([2, 3]), float('inf'))", "paddle.linalg.vector_norm(R([2, 3]), 0, 0)", *(f"paddle.linalg.matrix_norm(R([2, 3, 3]), {p})" for p in ("'fro'", "'nuc'", "1", "-1", "2", "-2", "float('inf')", "-float('inf')", "'x'")), "paddle.linalg.matrix_norm(R([3, 2]), 'fro', [0, 1], True)",
    ],
    "random": [
        "paddle.bernoulli(T([0.0, 1.0, 1.0]))", "paddle.bernoulli(T([0.0, 1.0]), p=1.0)", "paddle.bernoulli(T([2.0]))", "statistics(paddle.bernoulli(paddle.full([1000], 0.5)), 0, 1)[:3]", "paddle.multinomial(T([0.0, 1.0, 0.0]), 3, True)", "sorted(paddle.multinomial(T([0.5, 0.5, 0.0]), 2).tolist())", "paddle.multinomial(T([[0.0, 1.0], [1.0, 0.0]]), 1)", "paddle.multinomial(T([0.0, 1.0]), 2)", "paddle.multinomial(T([-1.0, 1.0]), 1)", "statistics(paddle.poisson(paddle.full([100], 4.0)), 0)[:3]", "paddle.poisson(T([0.0]))", "statistics(paddle.standard_gamma(paddle.full([100], 4.0)), 0)", "statistics(paddle.standard_normal([50]))", "statistics(paddle.binomial(paddle.full([50], 9, 'int64'), paddle.full([50], 0.5)), 0, 9)[:3]", "statistics(paddle.log_normal(shape=[50]), 0)", "statistics(paddle.randint_like(R([50]), 0, 100), 0, 99)", "statistics(paddle.randint_like(R([50], 'int32'), 5), 0, 4)[:3]", "statistics(paddle.rand_like(R([50])), 0, 1)", "statistics(paddle.randn_like(R([50], 'float64')))", "paddle.randn_like(R([2]), dtype='float64').dtype", "statistics(R([50]).uniform_(0.0, 2.0), 0, 2)", "statistics(R([50]).normal_(3.0, 0.1), 1, 5)", "statistics(R([50]).exponential_(2.0), 0)", "statistics(R([50]).cauchy_())", "statistics(R([50]).geometric_(0.3), 0)[:3]", "statistics(R([50]).bernoulli_(0.5), 0, 1)[:3]", "statistics(R([50]).log_normal_(), 0)", "statistics(paddle.tensor.random.gaussian([40], 1.0, 0.1), 0, 2)", "paddle.randperm(5).sort()", "statistics(R([50], 'int64').random_(0, 10), 0, 9)[:3]", "paddle.random.initial_seed() if hasattr(paddle.random, 'initial_seed') else 0",
        "len(paddle.get_rng_state())", "s = paddle.get_rng_state()\na = paddle.rand([3])\npaddle.set_rng_state(s)\nbool((a == paddle.rand([3])).all())", "paddle.get_cuda_rng_state()", "paddle.set_cuda_rng_state([])", "g = paddle.seed(3)\n[type(g).__name__, g.initial_seed()]",
    ],
    "conversions": [
        *(f"R([2], low=0, high=9).{m}().dtype" for m in "int long short half double float bool byte char bfloat16 cfloat cdouble".split()), "R([2]).type_as(R([1], 'int32'))", "R([2]).new_zeros([3])", "R([2], 'int32').new_ones([2, 2])", "R([2]).new_full([2], 3.0, dtype='float64')", "R([2]).new_empty([2, 0])", "R([2]).new_tensor([1, 2])", "R([2, 3]).element_size()", "R([2, 3]).itemsize", "R([2, 3]).nbytes", "R([2, 3]).stride()", "R([2, 3]).stride(0)", "R([2, 3]).storage_offset()", "R([2, 3]).ndimension()", "R([2, 3]).is_contiguous()", "R([2, 3]).T.is_contiguous()", "R([2, 3]).mT", "R([2, 3], 'complex64').H", "R([2, 3, 4]).mT", "R([3]).is_dense()", "R([3]).is_sparse()", "R([3]).is_dist()", "R([3]).is_cuda", "R([3]).is_selected_rows()", "R([3]).gradient()", "x = T([2.0], grad=True)\n(x * x).backward()\nx.gradient()", "x = T([2.0], grad=True)\n(x * x).backward()\nx.clear_gradient()\nx.grad", "x = T([2.0], grad=True)\n(x * x).backward()\nx.clear_gradient(False)\nx.grad", "len(R([3, 2]))", "len(R([]))", "R([2]).persistable", "R([2]).block", "R([2]).get_device()", "x = R([2])\nx.requires_grad_()\nx.stop_gradient", "x = R([2])\nx.requires_grad = True\nx.stop_gradient", "R([2]).resize_([3])", "after(R([4]), lambda x: x.resize_([2, 2]))", "after(R([4]), lambda x: x.resize_([2]))", "x = R([2])\ny = x.pin_memory()", "R([2, 3]).apply(lambda t: t + 1)", "after(R([2]), lambda x: x.copy_(R([2], low=5)))", "after(R([2]), lambda x: x.copy_(R([2], 'int32')))", "after(R([2]), lambda x: x.zero_())", "hash(R([2])) == hash(R([2]))", "R([]).__index__()", "T(3).__index__()", "T([3]).__int__()", "float(T([2.5]))", "int(R([2]))", "bool(R([2]))", "bool(T([]))", "format(T(2.5), '.2f')", "'%s' % T(1)", "'{:.3f}'.format(T([2.5]))", "complex(T(2.5))", "import copy\nx = T([1.0], grad=True)\ny = copy.deepcopy(x)\n[y, y is x]", "import copy\ncopy.deepcopy(T([1.0], grad=True) * 2)", "R([2]).__array__()", "np.asarray(R([2], 'int32'))", "np.add(R([2]), 1)", "R([2]).__dlpack_device__()", "paddle.utils.dlpack.from_dlpack(paddle.utils.dlpack.to_dlpack(R([2])))", "paddle.from_dlpack(np.arange(3)) if hasattr(paddle, 'from_dlpack') else paddle.utils.dlpack.from_dlpack(np.arange(3))", "np.from_dlpack(R([3]))", "x = T([1.0, 2.0], grad=True)\nh = x.register_hook(lambda g: g * 2)\n(x * x).sum().backward()\nr = [x.grad]\nh.remove()\nx.clear_grad()\n(x * x).sum().backward()\nr + [x.grad]", "R([2]).register_hook(lambda g: g)", "x = T([1.0], grad=True)\ny = x * 2\ny.retain_grads()\n(y * y).backward()\ny.grad", "[paddle.Size([2, 3]), paddle.Size([2, 3]).numel()]", "R([2, 3]).size() if callable(R([2]).size) else R([2]).size", "paddle.FloatTensor([1, 2])", "paddle.LongTensor([1, 2])", "paddle.IntTensor(2, 3).shape", "paddle.BoolTensor([1, 0])", "paddle.DoubleTensor([1])", "R([3]).to_sparse_coo(1)", "R([2, 2]).to_sparse_csr()", "R([2, 3]).to_dense()", "R([3]).split_with_sizes([1, 2])",
    ],
}  # fmt: skip
CASES[""] = [c for some in SPELT.values() for c in some]

CASES[""] += [
    "paddle.signbit(None)",
    "paddle.isreal(None)",
    "paddle.diagonal(R([3]))",
    "paddle.take(R([2, 3]), T([6]))",
    "paddle.copysign(R([2, 3], 'int32', 1, 5), R([2, 3], 'int32', 1, 4))",
    "paddle.copysign(R([2, 3], 'int64', 1, 5), R([2, 3], 'int64', 1, 4))",
    "paddle.copysign(R([2, 3], 'uint8', 1, 5), R([2, 3], 'uint8', 1, 4))",
    "paddle.copysign(R([2, 3], 'bool', 1, 5), R([2, 3], 'bool', 1, 4))",
    "paddle.copysign(R([2, 3], 'int8', 1, 5), R([2, 3], 'int8', 1, 4))",
    "paddle.copysign(R([2, 1, 3], 'int64', 1, 9), R([4, 1], 'int64', 1, 9))",
    "paddle.copysign(R([], 'int32', 1, 9), R([3], 'int32', 1, 9))",
    "paddle.copysign(R([0, 3], 'int32'), R([3], 'int32'))",
    "after(R([2, 3], 'int32', 1, 5), lambda x: x.copysign_(R([3], 'int32', 1, 4)))",
    "after(R([2, 3], 'int64', 1, 5), lambda x: x.copysign_(R([3], 'int64', 1, 4)))",
    "after(R([2, 3], 'bool', 1, 5), lambda x: x.copysign_(R([3], 'bool', 1, 4)))",
    *(f"paddle.bitwise_{f}({a}, paddle.zeros([3], 'int32'))" for f, a in (("or", "R([3], 'int32', 1, 5), T([4, 4, 4], 'int32')"), ("not", "R([3], 'int32', 1, 5)"))),
    "paddle.bitwise_and(R([3], 'int32', 1, 5), T([4, 4, 4], 'int32'), None, 'name')", "paddle.bitwise_xor(T([1, 2]), T([3, 3]), None, 'name', 5)", "paddle.bitwise_not(3)",
    "paddle.copysign(R([3], 'int64', 1, 5), -1)", "paddle.copysign(R([3], 'int64', -5, 5), -1.5)", "paddle.copysign(R([3], 'int32', -5, 5), 2)",
]

DIFFERS = {
    "NaN beyond the domain, as SciPy and NumPy have it": {"": [
        "paddle.erfinv(R([2, 3], 'float32', 0.2, 3))",
        "paddle.erfinv(R([2, 3], 'float64', 0.2, 3))",
        "paddle.erfinv(R([2, 3], 'int32', 0.2, 3))",
        "paddle.erfinv(R([2, 3], 'int64', 0.2, 3))",
        "paddle.erfinv(R([2, 3], 'uint8', 0.2, 3))",
        "paddle.erfinv(T([float('nan'), float('inf'), -float('inf'), 0.0, -0.0]))",
        "paddle.sinc(T([float('nan'), float('inf'), -float('inf'), 0.0, -0.0]))",
        "after(R([2, 2], low=1.1, high=1.9), lambda x: x.erfinv_())",
    ]},
    "an angle is a float, of booleans and bytes too": {"": [
        "paddle.deg2rad(R([2, 3], 'bool', 0.2, 3))",
        "paddle.deg2rad(R([2, 3], 'uint8', 0.2, 3))",
        "paddle.rad2deg(R([2, 3], 'bool', 0.2, 3))",
        "paddle.rad2deg(R([2, 3], 'uint8', 0.2, 3))",
    ]},
    "official's attributes of operators are float32, whatever the tensor's dtype": {"": [
        "paddle.stanh(R([2, 3], 'float64', 0.2, 3))",
        "paddle.stanh(R([2, 3], 'complex64', 0.2, 3))",
    ]},
    "official's refusal of a write to a leaf that needs a gradient is itself broken: an AttributeError": {"": [
        "R([2, 2], grad=True).erf_()",
        "R([2, 2], grad=True).expm1_()",
    ]},
    "a write that does not fit is a ValueError": {"": [
        "after(R([3], 'int32', 1, 5), lambda x: x.pow_(R([2, 3], 'int32', 1, 4)))",
        "after(R([2]), lambda x: x.copy_(R([2], 'int32')))",
    ]},
    "a helper of official's own code, under paddle.base here": {"": [
        "paddle.check_shape([2, 3])",
    ]},
    "official reads or leaves memory beyond the data": {"": [
        "paddle.index_put(R([3]), (T([5]),), T([1.0]))",
        "paddle.masked_scatter(R([3]), R([3], 'bool'), R([1]))",
        "R([2]).resize_([3])",
    ]},
    "sizes that don't fit are a ValueError": {"": [
        "paddle.dot(R([3]), R([2]))",
    ]},
    "a float is no index in Python": {"": [
        "R([]).__index__()",
    ]},
    "official does not broadcast here: it goes through the second operand as if it were as long as the first": {"": [
        "paddle.gammainc(R([2, 1, 3], 'float32', 1, 9), R([4, 1], 'float32', 1, 9))",
        "grads(paddle.gammainc, R([2, 3], low=1), R([3], low=1, high=1.8))",
        "paddle.gammaincc(R([2, 1, 3], 'float32', 1, 9), R([4, 1], 'float32', 1, 9))",
        "grads(paddle.gammaincc, R([2, 3], low=1), R([3], low=1, high=1.8))",
    ]},
    "an in-place call returns its target": {"": [
        "x = R([2, 2], low=0.1, high=0.9)\nx.sinc_() is x",
    ]},
    "a gradient adds up where elements are read twice": {"": [
        "grads(lambda x: paddle.as_strided(x, [3, 2], [1, 1]), R([4]))",
    ]},
    "labels and variances have a gradient too": {"": [
        "grads(lambda a, b, w: paddle.lerp(a, b, w), R([3]), R([3], low=0), R([3], low=0, high=1))",
    ]},
    "zeros after clearing are nobody's leaf; a gradient is no alias of the next one": {"": [
        "x = T([2.0], grad=True)\n(x * x).backward()\nx.clear_gradient()\nx.grad",
        "x = T([1.0, 2.0], grad=True)\nh = x.register_hook(lambda g: g * 2)\n(x * x).sum().backward()\nr = [x.grad]\nh.remove()\nx.clear_grad()\n(x * x).sum().backward()\nr + [x.grad]",
        "x = T([1.0], grad=True)\ny = x * 2\ny.retain_grads()\n(y * y).backward()\ny.grad",
    ]},
    "what is printed or left out where nothing can be said": {"": [
        "R([2]).block",
        "R([2]).__dlpack_device__()",
    ]},
}  # fmt: skip

"""Gradients where a function has a kink, a tie, a root or a pole: which slope is taken there is a matter of agreement."""

NAN, INF = "float('nan')", "float('inf')"
AROUND = "[-1.0, 0.0, 1.0, -0.0]"
TIES = "[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]"
ROWS = "[[1.0, 3.0, 3.0], [3.0, 2.0, 2.0]]"


def slope(function, *inputs):
    """The case: a function of tensors that hold ``inputs``, its value and its gradients."""
    return f"grads({function}, {', '.join(f'T({i})' for i in inputs)})"


def of_one(x, *functions):
    return [slope(f, x) for f in functions]


CASES = [
    *(slope(f"paddle.{f}", "[1.0, 2.0, 3.0]", "[2.0, 2.0, 2.0]") for f in ("maximum", "minimum", "fmax", "fmin", "logaddexp")),
    *(slope(f"paddle.{f}", f"[1.0, {NAN}, 3.0, {NAN}]", f"[{NAN}, 2.0, 2.0, {NAN}]") for f in ("maximum", "minimum", "fmax", "fmin")),
    slope("paddle.maximum", "[[1.0, 2.0, 3.0]]", "[[2.0], [1.0]]"), slope("lambda x: paddle.maximum(x, x)", "[1.0, 2.0]"),
    *of_one(f"[-2.0, -1.0, 0.0, 1.0, 2.0, {NAN}]", "lambda x: paddle.clip(x, -1.0, 1.0)", "F.hardtanh"),
    *of_one("[-2.0, -1.0, 0.0, 1.0, 2.0]", "lambda x: paddle.clip(x, min=0.0)", "lambda x: paddle.clip(x, max=0.0)", "lambda x: paddle.clip(x, 1.0, 1.0)", "lambda x: (x * 1).clip_(-1.0, 1.0)", "lambda x: F.hardsigmoid(x, 0.5, 0.5)"),
    slope("lambda x: paddle.clip(x, -1.0, 1.0)", "[-2.0, -1.0, 0.0, 1.0], 'float64'"),
    *of_one(AROUND, "F.relu", "F.leaky_relu", "lambda x: F.leaky_relu(x, -0.5)", "lambda x: F.rrelu(x, 0.2, 0.4, training=False)", "F.elu", "lambda x: F.elu(x, 0.3)", "lambda x: F.elu(x, -0.3)", "F.selu", "lambda x: F.celu(x, 0.5)", "F.gelu", "F.silu", "F.softsign", "F.tanhshrink", "paddle.abs", "paddle.sign", "paddle.floor", "paddle.ceil", "paddle.round", "paddle.trunc", "paddle.frac", "paddle.square", "lambda x: F.relu_(x * 1)"),
    slope("lambda x, a: F.prelu(x, a)", AROUND, "[0.25]"), slope("F.relu6", f"[-1.0, 0.0, 3.0, 6.0, 7.0, {NAN}]"),
    slope("F.mish", "[-1.0, 0.0, 19.9, 20.0, 20.1]"), slope("F.softplus", "[-1.0, 0.0, 19.0, 20.0, 21.0]"), slope("lambda x: F.softplus(x, 2.0, 1.0)", "[-1.0, 0.4, 0.5, 0.6]"),
    slope("F.log_sigmoid", "[-1.0, 0.0, 1.0, 100.0, -100.0]"), *of_one("[-4.0, -3.0, 0.0, 3.0, 4.0]", "F.hardsigmoid", "F.hardswish"),
    *of_one("[-1.0, -0.5, 0.0, 0.5, 1.0, 2.0]", "F.hardshrink", "F.softshrink", "F.thresholded_relu", "lambda x: F.thresholded_relu(x, 1.0, 5.0)"),
    *(slope(f"lambda x: paddle.{f}(x{a})", ROWS) for f in ("max", "min", "amax", "amin") for a in ("", ", axis=1")),
    *of_one("[2.0, 1.0, 2.0]", "paddle.median", "lambda x: paddle.median(x, mode='min')"), *of_one("[2.0, 2.0, 2.0, 1.0]", "paddle.median", "paddle.nanmedian"),
    *(slope(f"lambda x: paddle.quantile(x, {q})", "[1.0, 2.0, 2.0, 3.0]") for q in (0.3, 0.5, 0.9)),
    *of_one("[2.0, 1.0, 2.0, 3.0, 3.0]", "lambda x: paddle.cummax(x)[0]", "lambda x: paddle.cummin(x)[0]"), slope("lambda x: paddle.cumprod(x, 0)", "[2.0, 0.0, 2.0, 1.0, 0.0]"),
    *of_one("[0.0, 0.0]", "paddle.norm", "lambda x: paddle.norm(x, p=3)", "lambda x: paddle.norm(x, p=1)"), *(slope(f"lambda x: paddle.norm(x, p={p}, axis=1)", "[[0.0, 0.0], [0.0, 4.0]]") for p in (1, 2, 3)),
    *(slope(f"lambda x: paddle.norm(x, p={p}, axis=0)", "[2.0, -2.0, 1.0, 1.0]") for p in (INF, f"-{INF}")), slope("lambda x: paddle.norm(x, p=0, axis=0)", "[2.0, 1.0, -1.0, 0.0]"), slope("lambda x: paddle.norm(x, p='fro')", "[[0.0, 0.0], [0.0, 0.0]]"),
    *(slope(f"lambda x, y: paddle.dist(x, y, {p})", "[1.0, 2.0]", "[2.0, 3.0]") for p in (1, 2, INF)), slope("lambda x, y: paddle.dist(x, y, 2)", "[1.0, 2.0]", "[1.0, 2.0]"),
    *(slope(f"lambda x, y: paddle.cdist(x, y, p={p})", "[[1.0, 2.0]]", "[[1.0, 2.0], [0.0, 0.0]]") for p in (1.0, 2.0)), slope("paddle.pdist", "[[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]]"),
    slope("F.pairwise_distance", "[[1.0, 2.0]]", "[[1.0, 2.0]]"), slope("F.cosine_similarity", "[[0.0, 0.0]]", "[[1.0, 2.0]]"), slope("F.normalize", "[[0.0, 0.0], [1.0, 2.0]]"),
    *of_one("[0.0, 1.0]", "paddle.sqrt", "paddle.rsqrt", "paddle.log", "paddle.reciprocal", "lambda x: paddle.pow(x, 0.5)", "lambda x: paddle.pow(x, 2)", "lambda x: paddle.pow(x, 0)", "lambda x: x * paddle.log(x)", "paddle.sinc", "paddle.i0", "paddle.i1", "paddle.i1e", "paddle.acosh"),
    *of_one("[-1.0, 1.0, 0.0]", "paddle.asin", "paddle.acos", "paddle.atanh", "paddle.erfinv", "paddle.log1p", "paddle.angle"),
    slope("paddle.pow", "[0.0, 0.0, 0.0, 1.0, -1.0, 2.0]", "[0.0, 1.0, 2.0, 0.0, 2.0, 0.5]"), slope("lambda y: 0.0 ** y", "[0.0, 1.0, 2.0]"), slope("paddle.divide", "[0.0, 1.0]", "[0.0, 0.0]"),
    slope("paddle.copysign", "[0.0, 1.0, -1.0, 1.0]", "[1.0, -1.0, 0.0, -0.0]"), slope("paddle.heaviside", "[0.0, 1.0, -1.0]", "[0.5, 1.0, 1.0]"), slope("paddle.remainder", "[1.0, 2.0, 3.0]", "[1.0, 2.0, 2.0]"),
    slope("lambda x: paddle.renorm(x, 2.0, 0, 1.0)", "[[0.0, 0.0], [3.0, 4.0], [0.1, 0.1], [1.0, 0.0]]"), slope("lambda x: paddle.renorm(x, 2.0, 1, 1.0)", "[[0.0, 0.0], [3.0, 0.0]]"),
    *of_one("[1.0, 1.0]", "paddle.var", "paddle.std"), *of_one("[0.0, 0.1, 0.5, 1.0]", "lambda x: paddle.logit(x, 0.1)", "paddle.logit"), slope("paddle.nan_to_num", f"[{NAN}, {INF}, 1.0]"),
    slope("F.l1_loss", "[1.0, 2.0]", "[1.0, 3.0]"), slope("F.smooth_l1_loss", "[1.0, 2.0, 3.0, 0.0]", "[1.0, 3.0, 1.0, 5.0]"), slope("lambda x: F.hinge_embedding_loss(x, T([1.0, -1.0, -1.0]))", "[1.0, 2.0, 1.0]"),
    slope("lambda x, y: F.margin_ranking_loss(x, y, T([1.0, -1.0, 1.0]))", "[1.0, 2.0, 2.0]", "[1.0, 1.0, 3.0]"), slope("lambda x: F.multi_margin_loss(x, T([0]))", "[[1.0, 2.0, 0.0]]"), slope("lambda a, b: F.cosine_embedding_loss(a, b, T([-1]))", "[[1.0, 0.0]]", "[[0.0, 1.0]]"),
    slope("lambda x: F.binary_cross_entropy(x, T([0.0, 1.0, 1.0]))", "[0.0, 1.0, 0.5]"), slope("lambda x: F.binary_cross_entropy(x, T([1.0, 0.0]))", "[0.0, 1.0]"),
    *of_one("[[[1.0, 1.0, 2.0, 2.0]]]", "lambda x: F.max_pool1d(x, 2)", "lambda x: F.adaptive_max_pool1d(x, 1)"), slope("lambda x: F.maxout(x, 2)", "[[[[1.0]], [[1.0]]]]"),
    *(slope(f"lambda x: paddle.geometric.segment_{f}(x, T([0, 0, 1]))", "[[1.0], [1.0], [2.0]]") for f in ("max", "min")),
    *(slope(f"lambda x, v: paddle.put_along_axis(x, T([0, 0]), v, 0, '{f}')", "[1.0, 2.0]", "[1.0, 1.0]") for f in ("amax", "amin")),
]  # fmt: skip

DIFFERS = {
    "official's relu of NaN is 0: NaN is passed on": {"": of_one(f"[1.0, {NAN}]", "F.relu")},
    "official divides by the zero: the gradient of a product is right at zeros": {"": of_one("[2.0, 0.0, 2.0]", "paddle.prod")},
    "official divides by the length 0: the gradient there is 0, as that of a norm": {"": [slope("paddle.hypot", "[0.0, 3.0]", "[0.0, 4.0]")]},
    "official's slope at 0 has the wrong sign": {"": [slope("lambda x: F.binary_cross_entropy_with_logits(x, T([0.0, 1.0]))", "[0.0, 1.0]")]},
    "official takes the slope from the right at 0, we the mean of both": {"": of_one("[0.0, 1.0]", "paddle.i0e")},
    "official cuts logarithms at -64": {"": of_one(f"[1.0, -{INF}]", "F.log_softmax")},
    "official computes inf - inf": {"": [slope("paddle.logaddexp", f"[1.0, -{INF}]", "[1.0, 1.0]")]},
    "official lets gradients through integers as if nothing were cut off: the slope of a step is 0": {"": of_one("[1.5, 2.5]", "lambda x: x.astype('int32').astype('float32') + x")},
    "official picks one of several equal elements where the median lies between two values; they share the gradient": {"": [slope(f"lambda x: paddle.{f}(x)", ROWS) for f in ("median", "nanmedian")]},
    "which of several equal elements is picked is not promised; we take the first": {"": of_one("[2.0, 1.0, 2.0, 2.0]", "lambda x: paddle.kthvalue(x, 2)[0]", "lambda x: paddle.topk(x, 2)[0]")},
}  # fmt: skip

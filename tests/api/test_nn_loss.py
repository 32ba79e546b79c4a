"""Losses against NumPy."""

import itertools

import numpy as np
import paddle
import paddle.nn.functional as F
import pytest
from paddle import nn

rng = np.random.RandomState(1)
N, C = 5, 7
logits = rng.randn(N, C).astype("float32")
labels = np.array([1, 6, 3, 0, 3])
weight = rng.rand(C).astype("float32") + 0.1
log_p = logits - np.log(np.exp(logits).sum(1, keepdims=True))
picked = -log_p[np.arange(N), labels]


def t(array):
    return paddle.to_tensor(array)


def reduced(values, reduction, divisor=None):
    if reduction == "none":
        return values
    return values.sum() if reduction == "sum" else values.sum() / (values.size if divisor is None else divisor)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy(reduction):
    def same(got, want):
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-5, atol=1e-6)

    same(F.cross_entropy(t(logits), t(labels), reduction=reduction), reduced(picked, reduction))
    same(
        F.cross_entropy(t(logits), t(labels), weight=t(weight), reduction=reduction),
        reduced(picked * weight[labels], reduction, weight[labels].sum()),
    )
    counts = labels != 3
    same(
        F.cross_entropy(t(logits), t(labels), ignore_index=3, reduction=reduction),
        reduced(picked * counts, reduction, counts.sum()),
    )
    soft = rng.dirichlet(np.ones(C), N).astype("float32")
    per_row = -(soft * log_p).sum(1)
    got = F.cross_entropy(t(logits), t(soft), soft_label=True, reduction=reduction)
    same(got.squeeze() if reduction == "none" else got, reduced(per_row, reduction))
    smooth = np.eye(C)[labels] * 0.9 + 0.1 / C
    got = F.cross_entropy(t(logits), t(labels), label_smoothing=0.1, reduction=reduction)
    same(got.squeeze() if reduction == "none" else got, reduced(-(smooth * log_p).sum(1), reduction))
    same(
        F.nll_loss(t(log_p), t(labels), t(weight), 3, reduction),
        reduced(picked * weight[labels] * counts, reduction, (weight[labels] * counts).sum()),
    )
    column = F.cross_entropy(t(logits), t(labels[:, None]), reduction="none")
    assert column.shape == [N, 1]


def test_cross_entropy_over_another_axis_and_bad_arguments():
    x, y = rng.randn(2, 4, 3).astype("float32"), rng.randint(0, 4, (2, 3))
    want = np.log(np.exp(x).sum(1)) - np.take_along_axis(x, y[:, None], 1)[:, 0]
    np.testing.assert_allclose(F.cross_entropy(t(x), t(y), axis=1, reduction="none").numpy(), want, rtol=1e-5)
    for kwargs in ({"reduction": "x"}, {"soft_label": True, "ignore_index": 2}):
        with pytest.raises(ValueError):
            F.cross_entropy(t(logits), t(labels), **kwargs)
    with pytest.raises(ValueError):
        F.cross_entropy(t(logits), t(labels[:, None, None]))


a, b = rng.randn(4, 3).astype("float32"), rng.randn(4, 3).astype("float32")
p, y = 1 / (1 + np.exp(-a)), (b > 0).astype("float32")
sign = np.where(b > 0, 1, -1).astype("float32")
d = np.abs(a - b)
pair = np.array([1, -1, 1, -1])
cosine = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


@pytest.mark.parametrize(
    ("layer", "args", "want"),
    [
        (nn.MSELoss, (a, b), (a - b) ** 2),
        (nn.L1Loss, (a, b), d),
        (nn.SmoothL1Loss, (a, b), np.where(d <= 1, 0.5 * d * d, d - 0.5)),
        (nn.BCELoss, (p, y), -(y * np.log(p) + (1 - y) * np.log(1 - p))),
        (nn.BCEWithLogitsLoss, (a, y), -(y * np.log(p) + (1 - y) * np.log(1 - p))),
        (nn.KLDivLoss, (np.log(p), p[::-1].copy()), p[::-1] * (np.log(p[::-1]) - np.log(p))),
        (nn.PoissonNLLLoss, (a, y), np.exp(a) - y * a),
        (nn.MarginRankingLoss, (a, b, sign), np.maximum(0, -sign * (a - b))),
        (nn.HingeEmbeddingLoss, (a, sign), np.where(sign > 0, a, np.maximum(0, 1 - a))),
        (nn.SoftMarginLoss, (a, sign), np.log1p(np.exp(-sign * a))),
        (nn.CosineEmbeddingLoss, (a, b, pair), np.where(pair > 0, 1 - cosine, np.maximum(0, cosine))),
        (
            nn.TripletMarginLoss, (a, b, p),
            np.maximum(0, np.linalg.norm(a - b + 1e-6, axis=1) - np.linalg.norm(a - p + 1e-6, axis=1) + 1),
        ),
        (
            nn.MultiMarginLoss, (a, np.array([0, 2, 1, 1])),
            (np.maximum(0, 1 - a[range(4), [0, 2, 1, 1]][:, None] + a).sum(1) - 1) / 3,
        ),
    ],
)  # fmt: skip
def test_reductions(layer, args, want):
    for reduction in ("mean", "sum", "none"):
        got = layer(reduction=reduction)(*map(t, args))
        np.testing.assert_allclose(got.numpy(), reduced(want, reduction), rtol=2e-5, atol=1e-6)
    if layer is not nn.TripletMarginLoss and layer is not nn.KLDivLoss:
        with pytest.raises(ValueError):
            layer(reduction="typo")(*map(t, args))


def test_bce_with_logits_does_not_overflow():
    extreme = t(np.array([-200.0, 200.0], "float32"))
    got = F.binary_cross_entropy_with_logits(extreme, t(np.array([1.0, 0.0], "float32")), reduction="none")
    np.testing.assert_allclose(got.numpy(), [200, 200])
    # pos_weight multiplies the loss of the positive label alone.
    got = F.binary_cross_entropy_with_logits(
        extreme, t(np.array([1.0, 0.0], "float32")), pos_weight=t([3.0]), reduction="none"
    )
    np.testing.assert_allclose(got.numpy(), [600, 200])


def test_ctc_sums_over_all_alignments():
    steps, classes, target = 4, 3, [1, 2]
    x = rng.randn(steps, 1, classes).astype("float32")
    probs = np.exp(x[:, 0]) / np.exp(x[:, 0]).sum(1, keepdims=True)
    total = 0.0
    for path in itertools.product(range(classes), repeat=steps):
        merged = [c for i, c in enumerate(path) if c != 0 and (i == 0 or path[i - 1] != c)]
        if merged == target:
            total += np.prod([probs[i, c] for i, c in enumerate(path)])
    got = F.ctc_loss(
        t(x), t(np.array([target], "int32")), t(np.array([steps])), t(np.array([len(target)])), reduction="none"
    )
    np.testing.assert_allclose(got.numpy(), [-np.log(total)], rtol=1e-5)

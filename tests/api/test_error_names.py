"""Errors name the function that was called, what it expected and what it got."""

from __future__ import annotations

import paddle
import paddle.nn.functional as F
import pytest
from paddle import nn


X = paddle.ones([2, 3])
WIDER = paddle.ones([2, 4])
LABEL = paddle.to_tensor([0, 1])
LOSSES = {
    "cross_entropy": [
        (lambda: F.cross_entropy(X, paddle.to_tensor([0, 7])), IndexError, r"labels in \[0, 3\).* got 7"),
        (lambda: F.cross_entropy(X, paddle.to_tensor([0, 1, 2])), ValueError, "size 2, got 3"),
        (lambda: F.cross_entropy(X, LABEL, weight=paddle.ones([5])), ValueError, "3 classes, got 5"),
        (lambda: F.cross_entropy(X, LABEL, axis=5), ValueError, "axis"),
        (lambda: F.cross_entropy(X, None), TypeError, "NoneType"),
        (lambda: nn.CrossEntropyLoss()(X, paddle.to_tensor([0, 9])), IndexError, "got 9"),
    ],
    "nll_loss": [
        (lambda: F.nll_loss(X, paddle.to_tensor([0, 9])), IndexError, "got 9"),
        (lambda: F.nll_loss(X, LABEL, weight=paddle.ones([5])), ValueError, "3 classes, got 5"),
    ],
    "mse_loss": [
        (lambda: F.mse_loss(X, WIDER), ValueError, r"\[2, 3\] and \[2, 4\]"),
        (lambda: F.mse_loss(X, "a"), TypeError, "str"),
        (lambda: nn.MSELoss()(X, WIDER), ValueError, r"\[2, 3\] and \[2, 4\]"),
    ],
    "l1_loss": [(lambda: F.l1_loss(X, WIDER), ValueError, r"\[2, 4\]")],
    "smooth_l1_loss": [(lambda: F.smooth_l1_loss(X, WIDER), ValueError, r"\[2, 4\]")],
    "kl_div": [(lambda: F.kl_div(X, WIDER), ValueError, r"\[2, 4\]")],
    "binary_cross_entropy": [(lambda: F.binary_cross_entropy(X, WIDER), ValueError, r"\[2, 4\]")],
    "margin_ranking_loss": [(lambda: F.margin_ranking_loss(X, X, paddle.ones([5])), ValueError, r"\[5\]")],
    "triplet_margin_loss": [(lambda: F.triplet_margin_loss(X, X, WIDER), ValueError, r"\[2, 4\]")],
    "multi_margin_loss": [(lambda: F.multi_margin_loss(X, paddle.to_tensor([0, 8])), IndexError, "got 8")],
    "ctc_loss": [(lambda: F.ctc_loss(X, LABEL, LABEL, LABEL), ValueError, r"3 axes, got shape \[2, 3\]")],
    "rnnt_loss": [(lambda: F.rnnt_loss(X, LABEL, LABEL, LABEL), ValueError, r"4 axes, got shape \[2, 3\]")],
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name):
    for call, kind, text in LOSSES[name]:
        with pytest.raises(kind, match=text) as error:
            call()
        assert str(error.value).startswith(f"[{name}]"), str(error.value)


def test_a_loss_under_to_static_names_itself_and_the_line():
    @paddle.jit.to_static(full_graph=True)
    def f(x, y):
        return F.mse_loss(x, y)

    with pytest.raises(ValueError, match=r"^\[mse_loss\].*test_error_names.py:"):
        f(X, WIDER)


@pytest.mark.parametrize(("state", "text"), [(3, "dict, got int"), ({"weight": "a"}, "weight to be a Tensor, got str")])
def test_a_layers_state(state, text):
    with pytest.raises(TypeError, match=rf"\[set_state_dict\] expected .*{text}"):
        nn.Linear(3, 2).set_state_dict(state)


def test_sizes_that_nothing_can_be_made_of():
    with pytest.raises(ValueError, match=r"\[fft_r2c\] expected elements"):
        paddle.fft.rfft(paddle.zeros([0, 5]), axis=0)
    with pytest.raises(ValueError, match=r"\[bilinear_interp\] expected 2 sizes in out_size, got 1"):
        paddle._C_ops.bilinear_interp(
            paddle.zeros([1, 2, 3, 4]), paddle.to_tensor([6], dtype="int32"), None, None,
            "NCHW", 0, 0, 0, [], "bilinear", True, 1,
        )  # fmt: skip
    with pytest.raises(ValueError, match=r"\[distribute_fpn_proposals\] expected levels from 0 to 63"):
        paddle.vision.ops.distribute_fpn_proposals(paddle.zeros([4, 4]), 3, 2**33, 3, 100)

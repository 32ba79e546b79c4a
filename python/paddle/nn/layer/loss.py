"""Losses as layers: `reduction` is "mean", "sum" or "none". Formulas, shapes and errors stand with the functions in
`paddle.nn.functional`."""

from __future__ import annotations

import paddle

from .. import functional as F
from .._alias import accepts
from ._reduction import _check, _old_reduction
from .layers import Layer
from .loss_margin import (  # noqa: F401
    AdaptiveLogSoftmaxWithLoss,
    CosineEmbeddingLoss,
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)

__all__ = []


class CrossEntropyLoss(Layer):
    """`paddle.nn.functional.cross_entropy` with its options fixed."""

    def __init__(
        self, weight=None, ignore_index=-100, reduction="mean", soft_label=False, axis=-1, use_softmax=True,
        label_smoothing=0.0, name=None,
    ):  # fmt: skip
        super().__init__()
        self.weight = weight
        self.reduction = reduction
        self.ignore_index = ignore_index
        self.soft_label = soft_label
        self.axis = axis
        self.use_softmax = use_softmax
        self.label_smoothing = label_smoothing
        self.name = name

    @accepts(label="target")
    def forward(self, input, label):
        return F.cross_entropy(
            input, label, self.weight, self.ignore_index, self.reduction, self.soft_label, self.axis, self.use_softmax,
            self.label_smoothing, self.name,
        )  # fmt: skip


class NLLLoss(Layer):
    """-input[label] for log probabilities [N, C, ...]."""

    @_old_reduction
    def __init__(self, weight=None, ignore_index=-100, reduction="mean", name=None):
        super().__init__()
        _check("nll_loss", reduction)
        self._weight = weight
        self._ignore_index = ignore_index
        self._reduction = reduction
        self._name = name

    @accepts(label="target")
    def forward(self, input, label):
        return F.nll_loss(input, label, self._weight, self._ignore_index, self._reduction, self._name)


class MSELoss(Layer):
    """(input - label)^2."""

    @_old_reduction
    def __init__(self, reduction="mean"):
        super().__init__()
        _check("MSELoss", reduction)
        self.reduction = reduction

    @accepts(label="target")
    def forward(self, input, label):
        return F.mse_loss(input, label, self.reduction)


class L1Loss(Layer):
    """|input - label|."""

    @_old_reduction
    def __init__(self, reduction="mean", name=None):
        super().__init__()
        _check("L1Loss", reduction)
        self.reduction = reduction
        self.name = name

    @accepts(label="target")
    def forward(self, input, label):
        return F.l1_loss(input, label, self.reduction, name=self.name)


class SmoothL1Loss(Layer):
    """Squares of small differences, absolute values of large ones."""

    def __init__(self, reduction="mean", delta=1.0, is_huber=True, name=None):
        super().__init__()
        self.reduction = reduction
        self.delta = delta
        self.name = name
        self.is_huber = is_huber

    def forward(self, input, label):
        return F.smooth_l1_loss(input, label, self.reduction, self.delta, self.is_huber, self.name)


class BCELoss(Layer):
    """Binary cross-entropy of probabilities."""

    @_old_reduction
    def __init__(self, weight=None, reduction="mean", name=None):
        super().__init__()
        _check("bce_loss", reduction)
        self.weight = weight
        self.reduction = reduction
        self.name = name

    @accepts(label="target")
    def forward(self, input, label):
        return F.binary_cross_entropy(input, label, self.weight, self.reduction, self.name)


class BCEWithLogitsLoss(Layer):
    """Binary cross-entropy of logits."""

    @_old_reduction
    def __init__(self, weight=None, reduction="mean", pos_weight=None, name=None):
        super().__init__()
        _check("BCEWithLogitsLoss", reduction)
        self.weight = weight
        self.reduction = reduction
        self.pos_weight = pos_weight
        self.name = name

    @accepts(logit="input", label="target")
    def forward(self, logit, label):
        return F.binary_cross_entropy_with_logits(logit, label, self.weight, self.reduction, self.pos_weight, self.name)


class KLDivLoss(Layer):
    """label * (log(label) - input); `reduction` may also be "batchmean"."""

    @_old_reduction
    def __init__(self, reduction="mean", log_target=False):
        super().__init__()
        self.reduction = reduction
        self.log_target = log_target

    @accepts(label="target")
    def forward(self, input, label):
        return F.kl_div(input, label, self.reduction, self.log_target)


class PoissonNLLLoss(Layer):
    """exp(input) - label * input."""

    @_old_reduction
    def __init__(self, log_input=True, full=False, epsilon=1e-8, reduction="mean", name=None):
        super().__init__()
        if epsilon <= 0:
            raise ValueError(
                f"The value of `epsilon` in PoissonNLLLoss should be "
                f"positive, but received {epsilon:f}, which is not allowed"
            )
        _check("PoissonNLLLoss", reduction)
        self._log_input = log_input
        self._full = full
        self._epsilon = epsilon
        self._reduction = reduction
        self._name = name

    @accepts(label="target")
    def forward(self, input, label):
        return F.poisson_nll_loss(input, label, self._log_input, self._full, self._epsilon, self._reduction, self._name)


class GaussianNLLLoss(Layer):
    """0.5 * (log(variance) + (input - label)^2 / variance)."""

    def __init__(self, full=False, epsilon=1e-6, reduction="mean", name=None):
        super().__init__()
        _check("GaussianNLLLoss", reduction)
        self.full = full
        self.epsilon = epsilon
        self.reduction = reduction
        self.name = name

    def forward(self, input, label, variance):
        return F.gaussian_nll_loss(input, label, variance, self.full, self.epsilon, self.reduction, self.name)


class CTCLoss(Layer):
    """Connectionist temporal classification; see `paddle.nn.functional.ctc_loss`."""

    def __init__(self, blank=0, reduction="mean", zero_infinity=False):
        super().__init__()
        self.blank = blank
        self.reduction = reduction
        self.zero_infinity = zero_infinity

    def forward(self, log_probs, labels, input_lengths, label_lengths, norm_by_times=False):
        return F.ctc_loss(
            log_probs, labels, input_lengths, label_lengths, self.blank, self.reduction, norm_by_times,
            self.zero_infinity,
        )  # fmt: skip


class RNNTLoss(Layer):
    """Loss of a recurrent transducer; see `paddle.nn.functional.rnnt_loss`."""

    def __init__(self, blank=0, fastemit_lambda=0.001, reduction="mean", name=None):
        super().__init__()
        self.blank = blank
        self.fastemit_lambda = fastemit_lambda
        self.reduction = reduction
        self.name = name

    def forward(self, input, label, input_lengths, label_lengths):
        return F.rnnt_loss(
            input, label, input_lengths, label_lengths, self.blank, self.fastemit_lambda, self.reduction, self.name
        )


class HSigmoidLoss(Layer):
    """Hierarchical sigmoid over `num_classes` classes.

    Args:
        feature_size (int): D of the input [N, D].
        num_classes (int): at least 2; with `is_custom` the number of inner nodes is this.
        weight_attr, bias_attr (ParamAttr | bool, optional): of `weight` [C, D] and `bias` [C, 1].
        is_custom (bool): the caller gives path_table and path_code.
        is_sparse (bool): accepted.
    """

    def __init__(
        self, feature_size, num_classes, weight_attr=None, bias_attr=None, is_custom=False, is_sparse=False, name=None
    ):
        super().__init__()
        if num_classes < 2 and not is_custom:
            raise ValueError("num_classes must not be less than 2 with default tree")
        self._feature_size = feature_size
        self._num_classes = num_classes
        self._is_custom = is_custom
        self._is_sparse = is_sparse
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self._name = name
        self._dtype = paddle.get_default_dtype()
        nodes = num_classes if is_custom else num_classes - 1
        self.weight = self.create_parameter([nodes, feature_size], attr=weight_attr, dtype=self._dtype)
        self.bias = self.create_parameter([nodes, 1], attr=bias_attr, is_bias=True, dtype=self._dtype)

    def forward(self, input, label, path_table=None, path_code=None):
        return F.hsigmoid_loss(
            input, label, self._num_classes, self.weight, self.bias, path_table, path_code, self._is_sparse, self._name
        )

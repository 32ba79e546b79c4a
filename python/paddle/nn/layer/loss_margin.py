"""Losses with margins, and the adaptive softmax, as layers."""

from __future__ import annotations

import paddle

from .. import functional as F
from .._alias import accepts
from ._reduction import _check, _old_reduction
from .layers import Layer

__all__ = []


class MarginRankingLoss(Layer):
    """max(0, -label * (input - other) + `margin`)."""

    @_old_reduction
    def __init__(self, margin=0.0, reduction="mean", name=None):
        super().__init__()
        _check("MarginRankingLoss", reduction)
        self.margin = margin
        self.reduction = reduction
        self.name = name

    def forward(self, input, other, label):
        return F.margin_ranking_loss(input, other, label, self.margin, self.reduction, self.name)


class HingeEmbeddingLoss(Layer):
    """input where label is 1, max(0, `margin` - input) where it is -1."""

    @_old_reduction
    def __init__(self, margin=1.0, reduction="mean", name=None):
        super().__init__()
        _check("HingeEmbeddingLoss", reduction)
        self.margin = margin
        self.reduction = reduction
        self.name = name

    @accepts(label="target")
    def forward(self, input, label):
        return F.hinge_embedding_loss(input, label, self.margin, self.reduction, self.name)


class CosineEmbeddingLoss(Layer):
    """1 - cos where label is 1, max(0, cos - `margin`) where it is -1; `margin` in [-1, 1]."""

    @_old_reduction
    def __init__(self, margin=0, reduction="mean", name=None):
        super().__init__()
        if margin > 1 or margin < -1:
            raise ValueError(
                f"The value of 'margin' should be in the interval of [-1, "
                f"1], but received {margin:f}, which is not allowed."
            )
        _check("CosineEmbeddingLoss", reduction)
        self.margin = margin
        self.reduction = reduction
        self.name = name

    @accepts(label="target")
    def forward(self, input1, input2, label):
        return F.cosine_embedding_loss(input1, input2, label, self.margin, self.reduction, self.name)


class SoftMarginLoss(Layer):
    """log(1 + exp(-label * input))."""

    @_old_reduction
    def __init__(self, reduction="mean", name=None):
        super().__init__()
        _check("SoftMarginLoss", reduction)
        self.reduction = reduction
        self.name = name

    @accepts(label="target")
    def forward(self, input, label):
        return F.soft_margin_loss(input, label, self.reduction, self.name)


class MultiLabelSoftMarginLoss(Layer):
    """Binary cross-entropy of [N, C] logits, averaged over the classes."""

    @_old_reduction
    def __init__(self, weight=None, reduction="mean", name=None):
        super().__init__()
        _check("MultiLabelSoftMarginloss", reduction)
        self.weight = weight
        self.reduction = reduction
        self.name = name

    @accepts(label="target")
    def forward(self, input, label):
        return F.multi_label_soft_margin_loss(input, label, self.weight, self.reduction, self.name)


class MultiLabelMarginLoss(Layer):
    """Margins of 1 between target classes and the others."""

    @_old_reduction
    def __init__(self, reduction="mean", name=None):
        super().__init__()
        _check("MultiLabelMarginLoss", reduction)
        self.reduction = reduction
        self.name = name

    @accepts(label="target")
    def forward(self, input, label):
        return F.multi_label_margin_loss(input, label, self.reduction, self.name)


class MultiMarginLoss(Layer):
    """Margins between the right class and every other, to the power `p`."""

    @_old_reduction
    def __init__(self, p=1, margin=1.0, weight=None, reduction="mean", name=None):
        super().__init__()
        _check("MultiMarginLoss", reduction)
        self.p = p
        self.margin = margin
        self.weight = weight
        self.reduction = reduction
        self.name = name

    @accepts(label="target")
    def forward(self, input, label):
        return F.multi_margin_loss(input, label, self.p, self.margin, self.weight, self.reduction, self.name)


class TripletMarginWithDistanceLoss(Layer):
    """max(0, d(input, positive) - d(input, negative) + `margin`)."""

    def __init__(self, distance_function=None, margin=1.0, swap=False, reduction="mean", name=None):
        super().__init__()
        _check("TripletMarginWithDistanceLoss", reduction)
        self.margin = margin
        self.swap = swap
        self.reduction = reduction
        self.distance_function = distance_function
        self.name = name

    def forward(self, input, positive, negative):
        return F.triplet_margin_with_distance_loss(
            input, positive, negative, self.distance_function, self.margin, self.swap, self.reduction, self.name
        )


class TripletMarginLoss(Layer):
    """`TripletMarginWithDistanceLoss` with the `p`-norm distance."""

    @_old_reduction
    def __init__(self, margin=1.0, p=2.0, epsilon=1e-6, swap=False, reduction="mean", name=None):
        super().__init__()
        _check("TripletMarginLoss", reduction)
        self.margin = margin
        self.p = p
        self.epsilon = epsilon
        self.swap = swap
        self.reduction = reduction
        self.name = name

    def forward(self, input, positive, negative):
        return F.triplet_margin_loss(
            input, positive, negative, self.margin, self.p, self.epsilon, self.swap, self.reduction, self.name
        )


class AdaptiveLogSoftmaxWithLoss(Layer):
    """Log-softmax over frequent classes (the head) and clusters of rare ones (the tails).

    Args:
        in_features (int): D. n_classes (int): all classes.
        cutoffs (sequence of int): increasing class indices, below `n_classes`, where the clusters begin.
        weight_attr, bias_attr (ParamAttr | bool, optional): of the parameters.
        div_value (float): a cluster's inner size is D over this to the power of its number.
        head_bias (bool): whether the head has a bias.

    Raises:
        ValueError: `cutoffs` is not as described.

    Source: Grave et al., 2016 (https://arxiv.org/abs/1609.04309).
    """

    def __init__(
        self, in_features, n_classes, cutoffs, weight_attr=None, bias_attr=None, div_value=4.0, head_bias=False,
        name=None,
    ):  # fmt: skip
        super().__init__()
        cutoffs = list(cutoffs)
        if (
            not cutoffs or cutoffs != sorted(cutoffs) or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1
            or len(set(cutoffs)) != len(cutoffs) or any(int(c) != c for c in cutoffs)
        ):  # fmt: skip
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        self._dtype = paddle.get_default_dtype()
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self._weight_attr = weight_attr
        self._bias_attr = bias_attr
        self.is_head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head_weight = self.create_parameter([in_features, self.head_size], attr=weight_attr, dtype=self._dtype)
        self.head_bias = None
        if head_bias:
            self.head_bias = self.create_parameter([self.head_size], attr=bias_attr, dtype=self._dtype, is_bias=True)
        self.tail_weights = []
        for i in range(self.n_clusters):
            inner = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            pair = [
                self.create_parameter(shape, attr=weight_attr, dtype=self._dtype)
                for shape in ([in_features, inner], [inner, size])
            ]
            self.add_parameter(f"tail_weight_{i}_0", pair[0])
            self.add_parameter(f"tail_weight_{i}_1", pair[1])
            self.tail_weights.append(pair)

    def forward(self, input, label):
        return F.adaptive_log_softmax_with_loss(
            input, label, self.head_weight, self.tail_weights, self.cutoffs, self.head_bias
        )

    def log_prob(self, input):
        """The log probabilities of all classes: [N, D] to [N, n_classes]."""
        head = F.log_softmax(F.linear(input, self.head_weight, self.head_bias), axis=1)
        parts = [head[:, : self.shortlist_size]]
        for i, (project, weight) in enumerate(self.tail_weights):
            local = F.log_softmax(paddle.matmul(paddle.matmul(input, project), weight), axis=1)
            parts.append(local + head[:, self.shortlist_size + i].unsqueeze(1))
        return paddle.concat(parts, axis=1)

    def predict(self, input):
        """The most probable class of each row: [N, D] to [N] integers."""
        return paddle.argmax(self.log_prob(input), axis=1)

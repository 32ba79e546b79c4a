"""Losses: as layers and as functions, with every reduction."""

A, B = "R([3, 4])", "R([3, 4], low=0)"
P, Q = "R([3, 4], low=0.1, high=0.9)", "R([3, 4], low=0.2, high=0.7)"
SIGNS = "T([[1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0], [-1.0, 1.0, 1.0, 1.0]])"
REDUCTIONS = ("'none'", "'mean'", "'sum'")


def reduced(text):
    """The case for every reduction, and for one that does not exist."""
    return [text.replace("RED", f"reduction={r}") for r in (*REDUCTIONS, "'x'")]


CASES = {
    "paddle.nn.BCELoss": [*reduced(f"layer(nn.BCELoss(RED), {P}, {Q})"), f"layer(nn.BCELoss(weight=R([4], low=0.5)), {P}, {Q})", "nn.BCELoss()(T([0.0, 1.0]), T([1.0, 0.0]))", "nn.BCELoss()(R([2]), R([3]))"],
    "paddle.nn.BCEWithLogitsLoss": [*reduced(f"layer(nn.BCEWithLogitsLoss(RED), {A}, {Q})"), f"layer(nn.BCEWithLogitsLoss(pos_weight=R([4], low=0.5)), {A}, {Q})", f"layer(nn.BCEWithLogitsLoss(R([4], low=0.5), 'sum'), {A}, {Q})"],
    "paddle.nn.KLDivLoss": [*reduced(f"layer(nn.KLDivLoss(RED), {A}, {P})"), f"layer(nn.KLDivLoss('batchmean'), {A}, {P})", f"F.kl_div({A}, {A}, log_target=True)"],
    "paddle.nn.SmoothL1Loss": [*reduced(f"layer(nn.SmoothL1Loss(RED), {A}, {B})"), f"layer(nn.SmoothL1Loss(delta=0.5), {A}, {B})", f"F.smooth_l1_loss({A}, {B}, 'mean', 0.3, False)"],
    "paddle.nn.HuberLoss": [f"F.smooth_l1_loss({A}, {B}, delta=2.0)"],
    "paddle.nn.NLLLoss": [*reduced(f"layer(nn.NLLLoss(RED), F.log_softmax({A}), T([0, 2, 3]))"), f"layer(nn.NLLLoss(weight=R([4], low=0.5), ignore_index=2), {A}, T([0, 2, 3]))", "nn.NLLLoss()(R([2, 3, 2, 2]), T([[[0, 1], [2, 0]], [[1, 1], [2, 2]]]))", f"nn.NLLLoss()({A}, T([0, 2]))"],
    "paddle.nn.CTCLoss": [*(f"nn.CTCLoss(0, {r})(R([5, 2, 4]), T([[1, 2], [3, 1]], 'int32'), T([5, 4]), T([2, 1]))" for r in REDUCTIONS), "grads(lambda x: F.ctc_loss(x, T([[1, 2], [3, 1]], 'int32'), T([5, 4]), T([2, 1]), reduction='none'), R([5, 2, 4]))", "F.ctc_loss(R([5, 2, 4]), T([[1, 2], [3, 1]], 'int32'), T([5, 4]), T([2, 1]), norm_by_times=True)", "F.ctc_loss(R([5, 2, 4]), T([[0, 2], [3, 1]], 'int32'), T([5, 4]), T([2, 1]), blank=3)"],
    "paddle.nn.RNNTLoss": [*(f"nn.RNNTLoss(0, 0.0, {r})(R([2, 3, 3, 4]), T([[1, 2], [3, 1]], 'int32'), T([3, 3], 'int32'), T([2, 2], 'int32'))" for r in REDUCTIONS), "grads(lambda x: F.rnnt_loss(x, T([[1, 2], [3, 1]], 'int32'), T([3, 2], 'int32'), T([2, 1], 'int32'), fastemit_lambda=0.0), R([2, 3, 3, 4]))"],
    "paddle.nn.CosineEmbeddingLoss": [*reduced(f"layer(nn.CosineEmbeddingLoss(RED), {A}, {B}, T([1, -1, 1]))"), f"nn.CosineEmbeddingLoss(margin=0.5)({A}, {B}, T([1, -1, 1]))", f"nn.CosineEmbeddingLoss(margin=2)({A}, {B}, T([1, -1, 1]))", "F.cosine_embedding_loss(R([4]), R([4], low=0), T(-1))"],
    "paddle.nn.MarginRankingLoss": [*reduced(f"layer(nn.MarginRankingLoss(RED), {A}, {B}, {SIGNS})"), f"nn.MarginRankingLoss(margin=0.5)({A}, {B}, {SIGNS})"],
    "paddle.nn.HingeEmbeddingLoss": [*reduced(f"layer(nn.HingeEmbeddingLoss(RED), {A}, {SIGNS})"), f"nn.HingeEmbeddingLoss(margin=0.5)({A}, {SIGNS})"],
    "paddle.nn.SoftMarginLoss": [*reduced(f"layer(nn.SoftMarginLoss(RED), {A}, {SIGNS})")],
    "paddle.nn.MultiLabelSoftMarginLoss": [*reduced(f"layer(nn.MultiLabelSoftMarginLoss(RED), {A}, T([[1, 0, 1, 0], [0, 0, 1, 1], [1, 1, 1, 0]], 'float32'))"), f"nn.MultiLabelSoftMarginLoss(weight=R([4], low=0.5))({A}, {P})"],
    "paddle.nn.MultiMarginLoss": [*reduced(f"layer(nn.MultiMarginLoss(RED), {A}, T([0, 3, 2]))"), f"nn.MultiMarginLoss(2, 0.5)({A}, T([0, 3, 2]))", f"nn.MultiMarginLoss(weight=R([4], low=0.5))({A}, T([0, 3, 2]))"],
    "paddle.nn.MultiLabelMarginLoss": [*reduced(f"layer(nn.MultiLabelMarginLoss(RED), {A}, T([[3, 0, -1, 1], [0, 2, -1, 1], [1, -1, -1, 0]]))")],
    "paddle.nn.TripletMarginLoss": [*reduced(f"layer(nn.TripletMarginLoss(RED), {A}, {B}, {P})"), f"nn.TripletMarginLoss(0.5, 1.0, swap=True)({A}, {B}, {P})", f"nn.TripletMarginLoss(margin=-1)({A}, {B}, {P})"],
    "paddle.nn.TripletMarginWithDistanceLoss": [*reduced(f"layer(nn.TripletMarginWithDistanceLoss(RED), {A}, {B}, {P})"), f"nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(-1), swap=True)({A}, {B}, {P})"],
    "paddle.nn.PoissonNLLLoss": [*reduced(f"layer(nn.PoissonNLLLoss(RED), {A}, {P})"), f"nn.PoissonNLLLoss(log_input=False, full=True)({P}, R([3, 4], low=1, high=5))"],
    "paddle.nn.GaussianNLLLoss": [*reduced(f"layer(nn.GaussianNLLLoss(RED), {A}, {B}, {P})"), f"nn.GaussianNLLLoss(full=True, epsilon=0.1)({A}, {B}, R([3, 1], low=0.1))", f"nn.GaussianNLLLoss()({A}, {B}, {A})"],
    "paddle.nn.HSigmoidLoss": ["layer(nn.HSigmoidLoss(4, 5), R([3, 4]), T([[0], [4], [2]]))", "F.hsigmoid_loss(R([3, 4]), T([0, 1, 4]), 5, R([4, 4]))", "described(nn.HSigmoidLoss(4, 5))"],
    "paddle.nn.AdaptiveLogSoftmaxWithLoss": ["described(nn.AdaptiveLogSoftmaxWithLoss(4, 8, [2, 5]))", "l = fixed(nn.AdaptiveLogSoftmaxWithLoss(4, 8, [2, 5], 2.0, True))\n[*l(R([3, 4]), T([0, 4, 7])), l.log_prob(R([3, 4])), l.predict(R([3, 4]))]", "nn.AdaptiveLogSoftmaxWithLoss(4, 8, [5, 2])"],
    "paddle.nn.functional.sigmoid_focal_loss": [*reduced("F.sigmoid_focal_loss(R([3, 4]), T(np.eye(3, 4, dtype='float32')), RED)"), "F.sigmoid_focal_loss(R([3, 4]), T(np.eye(3, 4, dtype='float32')), T([2.0]), 0.5, 1.0)", "grads(lambda x: F.sigmoid_focal_loss(x, T(np.eye(3, 4, dtype='float32'))), R([3, 4]))"],
    "paddle.nn.functional.square_error_cost": [f"F.square_error_cost({A}, {B})", f"grads(F.square_error_cost, {A}, {B})", "F.square_error_cost(R([3]), R([2]))"],
    "paddle.nn.functional.log_loss": ["F.log_loss(R([3, 1], low=0.1, high=0.9), T([[1.0], [0.0], [1.0]]))", "F.log_loss(R([3, 1], low=0.1, high=0.9), T([[1.0], [0.0], [1.0]]), epsilon=0.1)"],
    "paddle.nn.functional.dice_loss": ["F.dice_loss(F.softmax(R([2, 3, 4])), T([[[0], [1], [2]], [[3], [1], [0]]]))", "F.dice_loss(F.softmax(R([2, 3, 4])), T([[[0], [1], [2]], [[3], [1], [0]]]), 0.1)"],
    "paddle.nn.functional.npair_loss": ["F.npair_loss(R([3, 4]), R([3, 4], low=0), T([0.0, 1.0, 0.0]))", "F.npair_loss(R([3, 4]), R([3, 4], low=0), T([0.0, 1.0, 2.0]), 0.1)"],
    "paddle.nn.functional.softmax_with_cross_entropy": ["F.softmax_with_cross_entropy(R([3, 4]), T([[0], [3], [1]]))", "F.softmax_with_cross_entropy(R([3, 4]), T([[0], [3], [1]]), return_softmax=True)", "F.softmax_with_cross_entropy(R([3, 4]), F.softmax(R([3, 4])), soft_label=True)", "F.softmax_with_cross_entropy(R([3, 4]), T([[0], [3], [1]]), ignore_index=3)", "F.softmax_with_cross_entropy(R([2, 4, 3]), T([[[0, 1, 2]], [[3, 3, 0]]]), axis=1)", "grads(lambda x: F.softmax_with_cross_entropy(x, T([[0], [3], [1]])), R([3, 4]))"],
    "paddle.nn.functional.margin_cross_entropy": ["F.margin_cross_entropy(R([3, 4], low=-1, high=1), T([0, 3, 1]), margin1=1.0, margin2=0.5, margin3=0.0, scale=64.0, return_softmax=True, reduction=None)"],
    "paddle.nn.functional.label_smooth": ["F.label_smooth(T(np.eye(3, dtype='float32')))", "F.label_smooth(T(np.eye(3, dtype='float32')), epsilon=0.3)", "F.label_smooth(T(np.eye(3, dtype='float32')), prior_dist=T([[0.2, 0.3, 0.5]]))"],
    "paddle.nn.functional.gaussian_nll_loss": [f"grads(lambda a, b, v: F.gaussian_nll_loss(a, b, v), {A}, {B}, {P})"],
    "paddle.nn.functional.binary_cross_entropy": [f"grads(lambda a: F.binary_cross_entropy(a, {Q}), {P})", f"F.binary_cross_entropy({P}, {Q}, reduction='none')", f"F.binary_cross_entropy({P}, {Q}, R([3, 4], low=0.5), 'sum')"],
    "paddle.nn.functional.hinge_loss": ["lacking(F, 'hinge_loss')"],
}  # fmt: skip

DIFFERS = {
    "labels and variances have a gradient too": {"": [
        "layer(nn.BCELoss(reduction='none'), R([3, 4], low=0.1, high=0.9), R([3, 4], low=0.2, high=0.7))",
        "layer(nn.BCELoss(reduction='mean'), R([3, 4], low=0.1, high=0.9), R([3, 4], low=0.2, high=0.7))",
        "layer(nn.BCELoss(reduction='sum'), R([3, 4], low=0.1, high=0.9), R([3, 4], low=0.2, high=0.7))",
        "layer(nn.BCELoss(weight=R([4], low=0.5)), R([3, 4], low=0.1, high=0.9), R([3, 4], low=0.2, high=0.7))",
        "layer(nn.BCEWithLogitsLoss(reduction='none'), R([3, 4]), R([3, 4], low=0.2, high=0.7))",
        "layer(nn.BCEWithLogitsLoss(reduction='mean'), R([3, 4]), R([3, 4], low=0.2, high=0.7))",
        "layer(nn.BCEWithLogitsLoss(reduction='sum'), R([3, 4]), R([3, 4], low=0.2, high=0.7))",
        "layer(nn.BCEWithLogitsLoss(pos_weight=R([4], low=0.5)), R([3, 4]), R([3, 4], low=0.2, high=0.7))",
        "layer(nn.BCEWithLogitsLoss(R([4], low=0.5), 'sum'), R([3, 4]), R([3, 4], low=0.2, high=0.7))",
        "layer(nn.KLDivLoss(reduction='none'), R([3, 4]), R([3, 4], low=0.1, high=0.9))",
        "layer(nn.KLDivLoss(reduction='mean'), R([3, 4]), R([3, 4], low=0.1, high=0.9))",
        "layer(nn.KLDivLoss(reduction='sum'), R([3, 4]), R([3, 4], low=0.1, high=0.9))",
        "layer(nn.KLDivLoss('batchmean'), R([3, 4]), R([3, 4], low=0.1, high=0.9))",
        "layer(nn.GaussianNLLLoss(reduction='none'), R([3, 4]), R([3, 4], low=0), R([3, 4], low=0.1, high=0.9))",
        "layer(nn.GaussianNLLLoss(reduction='mean'), R([3, 4]), R([3, 4], low=0), R([3, 4], low=0.1, high=0.9))",
        "layer(nn.GaussianNLLLoss(reduction='sum'), R([3, 4]), R([3, 4], low=0), R([3, 4], low=0.1, high=0.9))",
        "grads(lambda a, b, v: F.gaussian_nll_loss(a, b, v), R([3, 4]), R([3, 4], low=0), R([3, 4], low=0.1, high=0.9))",
    ]},
    "official takes an argument without sense here: we refuse it": {"": [
        "layer(nn.KLDivLoss(reduction='x'), R([3, 4]), R([3, 4], low=0.1, high=0.9))",
    ]},
    "official's layer takes the Euclidean distance whatever function it is given": {"": [
        "nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(-1), swap=True)(R([3, 4]), R([3, 4], low=0), R([3, 4], low=0.1, high=0.9))",
    ]},
    "official does not register the clusters' weights": {"": [
        "described(nn.AdaptiveLogSoftmaxWithLoss(4, 8, [2, 5]))",
    ]},
}  # fmt: skip

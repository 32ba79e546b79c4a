"""Further functions of paddle.nn.functional: convolutions, pooling, norms, embeddings, resizing, activations in place."""

X3, X4, X5 = "R([2, 4, 6])", "R([2, 4, 6, 6])", "R([1, 2, 4, 4, 4])"
INPLACE = "relu elu softmax tanh hardtanh leaky_relu thresholded_relu".split()
ACT = "celu elu selu mish swish hardswish hardsigmoid hardtanh softplus softsign log_sigmoid tanhshrink hardshrink softshrink thresholded_relu leaky_relu relu6 silu".split()

CASES = {f"paddle.nn.functional.{f}": [f"F.{f}(R([2, 3], 'float64'))", f"F.{f}(R([]))", f"F.{f}(R([0, 3]))", f"F.{f}(R([2, 3], 'int32'))", f"F.{f}(R([3], 'float16'))", f"F.{f}(R([3], 'bfloat16'))", f"grads(F.{f}, R([2, 3]))", f"F.{f}(T([float('nan'), float('inf'), -float('inf')]))", f"signature(F.{f})"] for f in ACT}
for f in INPLACE:
    CASES[f"paddle.nn.functional.{f}_"] = [f"after(R([2, 3]), lambda x: F.{f}_(x))", f"x = R([2, 3])\nF.{f}_(x) is x", f"x = R([2, 3], grad=True)\ny = x * 1\nF.{f}_(y).sum().backward()\nx.grad"]
CASES |= {
    "paddle.nn.functional.conv1d": [f"F.conv1d({X3}, R([3, 4, 3]))", f"F.conv1d({X3}, R([2, 2, 3]), R([2]), 2, 1, 1, 2)", f"F.conv1d({X3}, R([3, 4, 3]), padding='same')", f"grads(lambda x, w: F.conv1d(x, w), {X3}, R([3, 4, 3]))", f"F.conv1d({X3}, R([3, 3, 3]))", "F.conv1d(R([4, 6]), R([3, 4, 3]))"],
    "paddle.nn.functional.conv3d": [f"F.conv3d({X5}, R([3, 2, 2, 2, 2]))", f"F.conv3d({X5}, R([2, 1, 3, 3, 3]), padding=1, groups=2)", f"grads(lambda x, w: F.conv3d(x, w), {X5}, R([1, 2, 2, 2, 2]))"],
    "paddle.nn.functional.conv1d_transpose": [f"F.conv1d_transpose({X3}, R([4, 2, 3]))", f"F.conv1d_transpose({X3}, R([4, 2, 3]), stride=2, padding=1, output_size=12)", f"grads(lambda x, w: F.conv1d_transpose(x, w, stride=2), {X3}, R([4, 2, 3]))"],
    "paddle.nn.functional.conv2d_transpose": [f"F.conv2d_transpose({X4}, R([4, 2, 3, 3]), stride=2, padding=1, output_padding=1)", f"F.conv2d_transpose({X4}, R([4, 1, 3, 3]), groups=2, dilation=2)", "F.conv2d_transpose(R([1, 4, 2, 2]), R([4, 2, 3, 3]), padding='SAME')", "grads(lambda x, w: F.conv2d_transpose(x, w), R([1, 2, 3, 3]), R([2, 2, 2, 2]))"],
    "paddle.nn.functional.conv3d_transpose": [f"F.conv3d_transpose({X5}, R([2, 2, 2, 2, 2]), stride=2)"],
    "paddle.nn.functional.avg_pool1d": [f"F.avg_pool1d({X3}, 2)", f"F.avg_pool1d({X3}, 3, 2, 1, False)", f"F.avg_pool1d({X3}, 3, 2, [1], ceil_mode=True)"],
    "paddle.nn.functional.avg_pool3d": [f"F.avg_pool3d({X5}, 2)", f"F.avg_pool3d({X5}, 3, 2, 1, divisor_override=5)"],
    "paddle.nn.functional.max_pool1d": [f"F.max_pool1d({X3}, 2)", f"F.max_pool1d({X3}, 3, 2, 1, True)", f"F.max_pool1d({X3}, 4, 3, ceil_mode=True)"],
    "paddle.nn.functional.max_pool3d": [f"F.max_pool3d({X5}, 2)", f"F.max_pool3d({X5}, 3, 2, 1, return_mask=True)"],
    "paddle.nn.functional.max_unpool2d": [f"p, i = F.max_pool2d({X4}, 2, return_mask=True)\nF.max_unpool2d(p, i, 2)", f"p, i = F.max_pool2d({X4}, 2, 2, return_mask=True)\ngrads(lambda t: F.max_unpool2d(t, i, 2), p)[1]"],
    "paddle.nn.functional.adaptive_avg_pool1d": [f"F.adaptive_avg_pool1d({X3}, 4)", f"F.adaptive_avg_pool3d({X5}, (3, 2, 1))", f"F.adaptive_avg_pool1d({X3}, 0)"],
    "paddle.nn.functional.adaptive_max_pool1d": [f"F.adaptive_max_pool1d({X3}, 4)", f"F.adaptive_max_pool1d({X3}, 4, True)", f"F.adaptive_max_pool2d({X4}, (4, 3), True)", f"F.adaptive_max_pool3d({X5}, 3)"],
    "paddle.nn.functional.lp_pool1d": [f"F.lp_pool1d({X3}, 2, 2)", f"F.lp_pool1d({X3}, 1.5, 3, 2, ceil_mode=True)", f"F.lp_pool2d({X4}, 3, 2)", "grads(lambda x: F.lp_pool2d(x, 2, 2), R([1, 1, 4, 4], low=0.1))"],
    "paddle.nn.functional.layer_norm": ["F.layer_norm(R([2, 3, 4]), 4)", "F.layer_norm(R([2, 3, 4]), [3, 4], R([12]), R([12]))", "F.layer_norm(R([2, 4]), [4], epsilon=0.1)", "F.layer_norm(R([2, 4]), [3])", "grads(lambda x: F.layer_norm(x, 4), R([2, 4]))", "F.layer_norm(R([2, 4], 'float64'), 4)"],
    "paddle.nn.functional.batch_norm": [f"F.batch_norm({X4}, paddle.zeros([4]), paddle.ones([4]), R([4]), R([4]))", f"m, v = paddle.zeros([4]), paddle.ones([4])\n[F.batch_norm({X4}, m, v, R([4]), R([4]), training=True), m, v]", f"F.batch_norm({X4}, paddle.zeros([4]), paddle.ones([4]), R([4]), R([4]), True, use_global_stats=True)"],
    "paddle.nn.functional.instance_norm": [f"F.instance_norm({X4})", f"F.instance_norm({X3}, weight=R([4]), bias=R([4]))", f"grads(lambda x: F.instance_norm(x), {X3})"],
    "paddle.nn.functional.group_norm": [f"F.group_norm({X4}, 2)", f"F.group_norm({X4}, 2, 0.1, R([4]), R([4]))", f"grads(lambda x: F.group_norm(x, 2), {X3})"],
    "paddle.nn.functional.rms_norm": ["F.rms_norm(R([2, 4]), [4], R([4]))", "F.rms_norm(R([2, 4]), [4], R([4]), 0.1)", "signature(F.rms_norm)"],
    "paddle.nn.functional.local_response_norm": [f"F.local_response_norm({X4}, 3)", f"F.local_response_norm({X3}, 2, 0.1, 0.5, 2.0)"],
    "paddle.nn.functional.embedding": ["F.embedding(T([[0, 2]]), R([3, 2]))", "F.embedding(T([0, 2]), R([3, 2]), padding_idx=2)", "F.embedding(T([0, 2]), R([3, 2]), -1)", "F.embedding(T([3]), R([3, 2]))", "grads(lambda w: F.embedding(T([0, 0, 2]), w, padding_idx=2), R([3, 2]))", "F.embedding(T([1, 2]), R([3, 4]), max_norm=1.0)"],
    "paddle.nn.functional.unfold": [f"F.unfold({X4}, 2)", f"F.unfold({X4}, [3, 2], 2, [1, 0], 1)", "F.fold(R([1, 8, 9]), [4, 4], 2)", "grads(lambda x: F.unfold(x, 2), R([1, 1, 3, 3]))", "grads(lambda x: F.fold(x, [4, 4], 2), R([1, 4, 9]))"],
    "paddle.nn.functional.cosine_similarity": ["F.cosine_similarity(R([2, 3]), R([2, 3], low=0))", "F.cosine_similarity(R([2, 3]), R([3], low=0), axis=-1)", "F.cosine_similarity(R([2, 3]), R([2, 3], low=0), 0, 1.0)"],
    "paddle.nn.functional.sequence_mask": ["F.sequence_mask(T([1, 3, 0]))", "F.sequence_mask(T([1, 3]), 4, 'float32')", "F.sequence_mask(T([[1], [2]]), maxlen=2)"],
    "paddle.nn.functional.gather_tree": ["F.gather_tree(T([[[2, 2], [6, 1]], [[3, 9], [6, 1]], [[0, 1], [9, 0]]]), T([[[0, 0], [1, 1]], [[1, 0], [0, 0]], [[0, 0], [0, 1]]]))"],
    "paddle.nn.functional.temporal_shift": ["F.temporal_shift(R([6, 4, 2, 2]), 2)", "F.temporal_shift(R([6, 4, 2, 2]), 3, 0.5)", "F.temporal_shift(R([6, 2, 2, 4]), 2, data_format='NHWC')"],
    "paddle.nn.functional.affine_grid": ["F.affine_grid(R([1, 2, 3]), [1, 1, 2, 3])", "F.affine_grid(R([1, 2, 3]), [1, 1, 2, 3], align_corners=False)", "F.affine_grid(R([1, 3, 4]), [1, 1, 2, 2, 2])", "grads(lambda t: F.affine_grid(t, [1, 1, 2, 3]), R([1, 2, 3]))"],
    "paddle.nn.functional.pixel_shuffle": [f"F.pixel_shuffle({X4}, 2)", f"F.pixel_unshuffle({X4}, 2)", f"F.channel_shuffle({X4}, 2)", f"F.zeropad2d({X4}, [1, 0, 1, 1])"],
    "paddle.nn.functional.upsample": [f"F.upsample({X4}, scale_factor=2)", f"F.upsample({X4}, [3, 4], mode='bilinear')", f"F.upsample({X3}, [4], mode='linear', data_format='NCW')", f"F.upsample({X5}, [2, 3, 4], mode='trilinear', data_format='NCDHW')", f"F.upsample({X4}, [3, 4], mode='area')"],
    "paddle.nn.functional.gumbel_softmax": ["F.gumbel_softmax(R([2, 3])).sum(-1)", "F.gumbel_softmax(R([2, 3]), hard=True).sum(-1)", "F.gumbel_softmax(R([2, 3]), 0.5, axis=0).shape"],
    "paddle.nn.functional.rrelu": ["F.rrelu(R([2, 3]), 0.2, 0.2)", "F.rrelu(R([2, 3]), training=False)", "F.rrelu(R([2, 3]), 0.5, 0.2)", "F.maxout(R([2, 4, 3]), 2)", "F.maxout(R([2, 3, 4]), 2, -1)", "F.glu(R([2, 4]), 0)", "F.glu(R([2, 3]))", "F.prelu(R([2, 3]), T([0.2]))", "F.softmax(R([2, 3], 'float64'), -1, 'float32')"],
    "paddle.nn.functional.bilinear": ["F.bilinear(R([2, 3]), R([2, 4]), R([2, 3, 4]))", "F.bilinear(R([2, 3]), R([2, 4]), R([2, 3, 4]), R([1, 2]))"],
    "paddle.nn.functional.class_center_sample": ["signature(F.class_center_sample)"],
    "paddle.nn.functional.pairwise_distance": ["F.pairwise_distance(R([2, 3]), R([2, 3], low=0))", "F.pairwise_distance(R([3]), R([3], low=0), 1.0, 0.0, True)"],
    "paddle.nn.functional.sparse_attention": ["F.sparse_attention(R([1, 1, 2, 2]), R([1, 1, 2, 2]), R([1, 1, 2, 2]), T([[[0, 2, 4]]], 'int32'), T([[[0, 1, 0, 1]]], 'int32'))"],
    "paddle.nn.functional": ["public(F)"],
    "paddle.nn": ["public(nn)", "public(nn.initializer)", "public(nn.utils)", "public(nn.init)", *(f"w = paddle.empty([3, 4])\nnn.init.{f}\nstatistics(w, {b})[:3]" for f, b in (("uniform_(w, -1, 1)", "-1, 1"), ("normal_(w)", "-9, 9"), ("xavier_uniform_(w)", "-1, 1"), ("kaiming_uniform_(w)", "-2, 2"), ("kaiming_normal_(w)", "-9, 9"), ("xavier_normal_(w)", "-9, 9"), ("trunc_normal_(w)", "-2, 2"))), "w = paddle.empty([3, 3])\n[nn.init.zeros_(w), nn.init.ones_(w), nn.init.constant_(w, 2.5), nn.init.eye_(w)]", "nn.init.orthogonal_(paddle.empty([3, 3])).shape", "nn.init.dirac_(paddle.empty([2, 2, 3]))", "nn.init.calculate_gain('relu')"],
    "paddle.vision.ops": ["paddle.vision.ops.matrix_nms(R([1, 3, 4], low=0, high=9), R([1, 2, 3], low=0, high=1), 0.1, 0.0, 3, 2, return_index=True)", "paddle.vision.ops.generate_proposals(R([1, 2, 2, 2], low=0, high=1), R([1, 8, 2, 2], low=-0.1, high=0.1), T([[16.0, 16.0]]), R([2, 2, 2, 4], low=1, high=12), R([2, 2, 2, 4], low=0.1, high=0.3), return_rois_num=True)", "described(paddle.vision.ops.DeformConv2D(2, 3, 3))", "paddle.vision.ops.RoIAlign(2)(R([1, 1, 4, 4]), T([[0.0, 0.0, 3.0, 3.0]]), T([1], 'int32'))", "paddle.vision.ops.RoIPool(2)(R([1, 1, 4, 4]), T([[0.0, 0.0, 3.0, 3.0]]), T([1], 'int32'))", "paddle.vision.ops.PSRoIPool(2)(R([1, 4, 4, 4]), T([[0.0, 0.0, 3.0, 3.0]]), T([1], 'int32'))", "paddle.vision.ops.yolo_loss(R([1, 14, 2, 2]), R([1, 2, 4], low=0.1, high=0.9), T([[0, 1]], 'int32'), [10, 13, 16, 30], [0, 1], 2, 0.7, 8)", "described(paddle.vision.ops.ConvNormActivation(3, 4))", "signature(paddle.vision.ops.DeformConv2D)", "signature(paddle.vision.ops.generate_proposals)"],
}  # fmt: skip

DIFFERS = {
    "official's attributes of operators are float32, whatever the tensor's dtype": {"": [
        "F.selu(R([2, 3], 'float64'))",
        "F.hardsigmoid(R([2, 3], 'float64'))",
    ]},
    "official multiplies infinity by zero": {"": [
        "F.log_sigmoid(T([float('nan'), float('inf'), -float('inf')]))",
        "F.softshrink(T([float('nan'), float('inf'), -float('inf')]))",
        "F.thresholded_relu(T([float('nan'), float('inf'), -float('inf')]))",
    ]},
    "official gives pictures without pixels for a size of 0; we refuse it": {"": [
        "F.adaptive_avg_pool1d(R([2, 4, 6]), 0)",
    ]},
    "official's gradient of group norm is wrong without a scale: it does not sum to 0 over a group": {"": [
        "grads(lambda x: F.group_norm(x, 2), R([2, 4, 6]))",
    ]},
    "which classes are added is drawn": {"": [
        "F.class_center_sample(T([0, 2, 2]), 4, 4)",
    ]},
    "not offered: kernels that official has on GPUs only": {"": [
        "F.sparse_attention(R([1, 1, 2, 2]), R([1, 1, 2, 2]), R([1, 1, 2, 2]), T([[[0, 2, 4]]], 'int32'), T([[[0, 1, 0, 1]]], 'int32'))",
        "public(F)",
    ]},
    "what official's module imports for itself": {"": [
        "public(nn.init)",
    ]},
    "what initialises gives the tensor back, as in the framework whose name it has": {"": [
        "w = paddle.empty([3, 3])\n[nn.init.zeros_(w), nn.init.ones_(w), nn.init.constant_(w, 2.5), nn.init.eye_(w)]",
        "nn.init.dirac_(paddle.empty([2, 2, 3]))",
    ]},
}  # fmt: skip

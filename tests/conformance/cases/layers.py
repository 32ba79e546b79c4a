"""Layers: parameters, state, result, gradients and evaluation, each with known weights."""

X4 = "R([2, 4, 6, 6])"

CASES = {
    "paddle.nn.Linear": [
        "layer(nn.Linear(3, 4), R([2, 3]))", "layer(nn.Linear(3, 4, bias_attr=False), R([2, 5, 3]))",
        "layer(nn.Linear(in_features=3, out_features=2, weight_attr=paddle.ParamAttr('fc_w'), name='fc'), R([3]))",
        "layer(nn.Linear(3, 4), R([0, 3]))", "nn.Linear(3, 4)(R([2, 4]))", "nn.Linear(3, 4, weight_attr=False)", "nn.Linear('a', 2)",
        "str(nn.Linear(3, 4))", "[p.name for p in nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)).parameters()]",
    ],
    "paddle.nn.Conv2D": [
        f"layer(nn.Conv2D(4, 3, 3), {X4})", f"layer(nn.Conv2D(4, 6, (3, 2), stride=2, padding=1, groups=2), {X4})",
        f"layer(nn.Conv2D(4, 2, 3, dilation=2, padding='SAME', bias_attr=False), {X4})",
        "layer(nn.Conv2D(4, 2, 1, data_format='NHWC'), R([2, 3, 3, 4]))",
        f"layer(nn.Conv2D(4, 2, 3, padding=1, padding_mode='reflect'), {X4})",
        f"layer(nn.Conv2D(4, 2, 3, padding=[1, 2], padding_mode='circular'), {X4})",
        "layer(nn.Conv2D(4, 2, 3, padding=1), R([0, 4, 6, 6]))", f"layer(nn.Conv2D(4, 2, 3, bias=False), {X4})",
        "nn.Conv2D(4, 3, 3, groups=3)", "nn.Conv2D(4, 3, 3)(R([2, 3, 6, 6]))", "str(nn.Conv2D(4, 3, 3, stride=2, padding=1))",
        "nn.Conv2D(4, 3, 3, padding_mode='x')",
    ],
    "paddle.nn.Conv1D": [
        "layer(nn.Conv1D(3, 4, 3), R([2, 3, 8]))", "layer(nn.Conv1D(4, 4, 3, 2, 1, groups=2), R([2, 4, 8]))",
        "layer(nn.Conv1D(3, 2, 3, padding='SAME', data_format='NLC'), R([2, 8, 3]))",
        "layer(nn.Conv1D(3, 2, 3, padding=2, padding_mode='replicate', bias_attr=False), R([1, 3, 5]))",
        "nn.Conv1D(3, 4, 3)(R([2, 4, 8]))", "str(nn.Conv1D(3, 4, 3))",
    ],
    "paddle.nn.Conv2DTranspose": [
        "layer(nn.Conv2DTranspose(4, 3, 3), R([1, 4, 4, 4]))",
        "layer(nn.Conv2DTranspose(4, 2, 3, stride=2, padding=1, output_padding=1, groups=2), R([1, 4, 4, 4]))",
        "layer(nn.Conv2DTranspose(4, 2, 3, stride=2, bias_attr=False), R([1, 4, 3, 3]), output_size=[8, 8])",
        "nn.Conv2DTranspose(4, 2, 3)(R([1, 3, 4, 4]))", "str(nn.Conv2DTranspose(4, 3, 3, 2))",
    ],
    "paddle.nn.Embedding": [
        "layer(nn.Embedding(5, 3), T([[0, 2], [4, 2]]))", "layer(nn.Embedding(5, 3, padding_idx=2), T([0, 2]))",
        "layer(nn.Embedding(5, 3, padding_idx=-1), T([4, 1], 'int32'))", "layer(nn.Embedding(5, 3, sparse=False), T(1))",
        "nn.Embedding(5, 3)(T([5]))", "nn.Embedding(5, 3)(R([2]))", "nn.Embedding(5, 3, padding_idx=5)",
        "str(nn.Embedding(5, 3, padding_idx=2))", "nn.Embedding(5, 3, padding_idx=1).weight[1]", "nn.Embedding(0, 3)",
    ],
    "paddle.nn.LayerNorm": [
        "layer(nn.LayerNorm(4), R([2, 3, 4]))", "layer(nn.LayerNorm([3, 4], epsilon=0.01), R([2, 3, 4]))",
        "layer(nn.LayerNorm(4, weight_attr=False), R([2, 4]))", "layer(nn.LayerNorm(4, bias_attr=False), R([2, 4]))",
        "layer(nn.LayerNorm(4, elementwise_affine=False), R([2, 4]))", "nn.LayerNorm(4)(R([2, 3]))", "str(nn.LayerNorm([3, 4]))",
        "layer(nn.LayerNorm(4), R([0, 4]))",
    ],
    "paddle.nn.GroupNorm": [
        f"layer(nn.GroupNorm(2, 4), {X4})", f"layer(nn.GroupNorm(num_groups=1, num_channels=4, bias_attr=False), {X4})", "layer(nn.GroupNorm(2, 4), R([2, 4]))",
        "layer(nn.GroupNorm(2, 4, data_format='NHWC'), R([2, 3, 3, 4]))", "nn.GroupNorm(3, 4)", "nn.GroupNorm(2, 4)(R([2, 6, 3]))",
        "str(nn.GroupNorm(2, 4))",
    ],
    "paddle.nn.BatchNorm1D": [
        "layer(nn.BatchNorm1D(3), R([4, 3]))", "layer(nn.BatchNorm1D(3, momentum=0.5, epsilon=0.1), R([2, 3, 5]))",
        "layer(nn.BatchNorm1D(3, data_format='NLC'), R([2, 5, 3]))", "nn.BatchNorm1D(3)(R([2, 3, 4, 4]))",
        "layer(nn.BatchNorm1D(3, use_global_stats=True), R([4, 3]))", "str(nn.BatchNorm1D(3))",
    ],
    "paddle.nn.BatchNorm2D": [
        f"layer(nn.BatchNorm2D(4), {X4})", f"layer(nn.BatchNorm2D(4, 0.8, 1e-3, weight_attr=False, bias_attr=False), {X4})",
        "layer(nn.BatchNorm2D(4, data_format='NHWC'), R([2, 3, 3, 4]))", f"layer(nn.BatchNorm2D(4, use_global_stats=True), {X4})",
        f"layer(nn.BatchNorm2D(4, use_global_stats=False), {X4})", "nn.BatchNorm2D(4)(R([2, 4]))", "nn.BatchNorm2D(4)(R([2, 3, 5, 5]))",
        "str(nn.BatchNorm2D(4))", "nn.BatchNorm2D(4, data_format='x')(R([2, 4, 3, 3]))",
        "[(k, b.name) for k, b in nn.BatchNorm2D(4).named_buffers()]",
    ],
    "paddle.nn.BatchNorm": [
        f"layer(nn.BatchNorm(4), {X4})", f"layer(nn.BatchNorm(4, act='relu'), {X4})", "layer(nn.BatchNorm(3, momentum=0.5), R([4, 3]))",
        f"layer(nn.BatchNorm(4, is_test=True), {X4})", "list(nn.BatchNorm(4).state_dict())", "str(nn.BatchNorm(4))",
        "layer(nn.BatchNorm(4, data_layout='NHWC'), R([2, 3, 3, 4]))",
    ],
    "paddle.nn.Dropout": [
        "layer(nn.Dropout(0.0), R([2, 3]))", "layer(nn.Dropout(1.0), R([2, 3]))", "nn.Dropout(0.5, mode='x')(R([3]))",
        "l = nn.Dropout(0.5, mode='downscale_in_infer')\nl.eval()\nl(R([2, 3]))", "nn.Dropout(1.5)(R([3]))", "str(nn.Dropout(0.3, axis=1))",
        "y = nn.Dropout(0.5)(paddle.ones([1000]))\nsorted(set(y.tolist()))",
        "y = nn.Dropout(0.5, axis=0)(paddle.ones([50, 4]))\nbool((y.min(1) == y.max(1)).all())",
    ],
    "paddle.nn.ReLU": ["layer(nn.ReLU(), R([2, 3]))", "str(nn.ReLU())", "nn.ReLU(name='n')(R([0]))", "nn.ReLU()(None)"],
    "paddle.nn.ReLU6": ["layer(nn.ReLU6(), R([2, 3], 'float32', -9, 9))", "str(nn.ReLU6())", "nn.ReLU6()(R([], 'float64'))"],
    "paddle.nn.GELU": ["layer(nn.GELU(), R([2, 3]))", "layer(nn.GELU(approximate=True), R([2, 3]))", "str(nn.GELU(True))", "nn.GELU()(R([0]))"],
    "paddle.nn.LeakyReLU": ["layer(nn.LeakyReLU(), R([2, 3]))", "layer(nn.LeakyReLU(negative_slope=0.3), R([3]))", "str(nn.LeakyReLU(0.2))"],
    "paddle.nn.Sigmoid": ["layer(nn.Sigmoid(), R([2, 3]))", "str(nn.Sigmoid(name='s'))", "nn.Sigmoid()(R([], 'float64'))"],
    "paddle.nn.Tanh": ["layer(nn.Tanh(), R([2, 3]))", "str(nn.Tanh())", "nn.Tanh(name='t')(R([0, 2]))"],
    "paddle.nn.Softmax": [
        "layer(nn.Softmax(), R([2, 3]))", "layer(nn.Softmax(axis=0), R([2, 3]))", "str(nn.Softmax(axis=1))", "nn.Softmax(2)(R([2, 3]))",
        "nn.Softmax()(R([]))",
    ],
    "paddle.nn.Identity": [
        "layer(nn.Identity(), R([2, 3]))", "nn.Identity(3, a=4)(R([0]))", "str(nn.Identity())", "nn.Identity()('text')",
        "x = R([2])\nnn.Identity()(x) is x",
    ],
    "paddle.nn.Flatten": [
        "layer(nn.Flatten(), R([2, 3, 4]))", "layer(nn.Flatten(0, 1), R([2, 3, 4]))", "layer(nn.Flatten(start_axis=1, stop_axis=-2), R([2, 3, 4, 2]))",
        "str(nn.Flatten())", "nn.Flatten(3)(R([2, 3]))",
    ],
    "paddle.nn.MaxPool2D": [
        f"layer(nn.MaxPool2D(2), {X4})", f"layer(nn.MaxPool2D(3, stride=2, padding=1, ceil_mode=True), {X4})",
        "nn.MaxPool2D(2)(R([2, 3]))", "str(nn.MaxPool2D(2, 1))",
        f"nn.MaxPool2D((2, 3), data_format='NHWC')({X4})",
    ],
    "paddle.nn.AvgPool2D": [
        f"layer(nn.AvgPool2D(2), {X4})", f"layer(nn.AvgPool2D(3, 2, 1, exclusive=False), {X4})", f"layer(nn.AvgPool2D(2, divisor_override=3), {X4})",
        f"layer(nn.AvgPool2D(3, 2, 1, ceil_mode=True), {X4})", "str(nn.AvgPool2D(2))",
    ],
    "paddle.nn.AdaptiveAvgPool2D": [
        f"layer(nn.AdaptiveAvgPool2D(1), {X4})", f"layer(nn.AdaptiveAvgPool2D((2, 3)), {X4})", f"layer(nn.AdaptiveAvgPool2D([None, 4]), {X4})",
        f"layer(nn.AdaptiveAvgPool2D(4, data_format='NHWC'), {X4})", "str(nn.AdaptiveAvgPool2D(1))",
    ],
    "paddle.nn.Upsample": [
        "layer(nn.Upsample(scale_factor=2), R([1, 2, 3, 3]))", "layer(nn.Upsample(size=[5, 4], mode='bilinear'), R([1, 2, 3, 3]))",
        "layer(nn.Upsample(scale_factor=[2, 1.5], mode='bilinear', align_corners=True), R([1, 2, 4, 4]))",
        "layer(nn.Upsample(size=[5, 5], mode='bicubic'), R([1, 1, 3, 3]))", "layer(nn.Upsample(size=[6], mode='linear', data_format='NCW'), R([1, 2, 3]))",
        "nn.Upsample(size=[5, 5], mode='x')(R([1, 1, 3, 3]))", "str(nn.Upsample(scale_factor=2))",
    ],
    "paddle.nn.Pad2D": [
        "layer(nn.Pad2D([1, 0, 1, 2]), R([1, 2, 3, 3]))", "layer(nn.Pad2D(1, mode='reflect'), R([1, 2, 3, 3]))",
        "layer(nn.Pad2D([1, 1, 0, 0], value=2.0, data_format='NHWC'), R([1, 3, 3, 2]))", "layer(nn.Pad2D(2, mode='replicate'), R([1, 1, 3, 3]))",
        "layer(nn.Pad2D(1, mode='circular'), R([1, 1, 3, 3]))", "str(nn.Pad2D(1))",
    ],
    "paddle.nn.CrossEntropyLoss": [
        "layer(nn.CrossEntropyLoss(), R([4, 3]), T([0, 2, 1, 2]))", "layer(nn.CrossEntropyLoss(reduction='sum', ignore_index=2), R([4, 3]), T([0, 2, 1, 2]))",
        "layer(nn.CrossEntropyLoss(weight=T([1.0, 2.0, 0.5]), reduction='none'), R([4, 3]), T([[0], [2], [1], [2]]))",
        "layer(nn.CrossEntropyLoss(label_smoothing=0.1), R([4, 3]), T([0, 2, 1, 2]))", "layer(nn.CrossEntropyLoss(axis=1), R([2, 3, 2]), T([[0, 1], [2, 2]]))",
        "layer(nn.CrossEntropyLoss(use_softmax=False), T([[0.2, 0.8], [0.5, 0.5]]), T([0, 1]))", "nn.CrossEntropyLoss(reduction='x')(R([4, 3]), T([0, 1, 2, 0]))",
        "nn.CrossEntropyLoss()(R([4, 3]), T([0, 3, 1, 2]))", "nn.CrossEntropyLoss()(R([4, 3]), T([0, 1]))", "str(nn.CrossEntropyLoss())",
    ],
    "paddle.nn.MSELoss": [
        "layer(nn.MSELoss(), R([2, 3]), R([2, 3], low=0))", "layer(nn.MSELoss(reduction='sum'), R([2, 3]), R([3], low=0))",
        "layer(nn.MSELoss('none'), R([2, 3]), R([2, 1], low=0))", "nn.MSELoss('x')", "nn.MSELoss()(R([2]), R([3]))",
    ],
    "paddle.nn.L1Loss": [
        "layer(nn.L1Loss(), R([2, 3]), R([2, 3], low=0))", "layer(nn.L1Loss(reduction='sum'), R([2, 3]), R([3], low=0))",
        "layer(nn.L1Loss('none'), R([2, 3]), R([2, 3], low=0))", "nn.L1Loss('x')",
    ],
    "paddle.nn.LSTM": [
        "layer(nn.LSTM(3, 4, proj_size=2), R([2, 5, 3]))", "nn.LSTM(3, 4)(R([2, 5, 4]))", "nn.LSTM(3, 4, direction='x')", "str(nn.LSTM(3, 4))",
    ],
    "paddle.nn.MultiHeadAttention": [
        "layer(nn.MultiHeadAttention(4, 2), R([2, 3, 4]))", "layer(nn.MultiHeadAttention(4, 2, need_weights=True), R([2, 3, 4]), R([2, 5, 4]), R([2, 5, 4]))",
        "layer(nn.MultiHeadAttention(4, 2, kdim=3, vdim=5), R([2, 3, 4]), R([2, 6, 3]), R([2, 6, 5]))",
        "layer(nn.MultiHeadAttention(4, 2), R([2, 3, 4]), attn_mask=T(np.tril(np.ones((3, 3), 'bool'))))", "nn.MultiHeadAttention(4, 3)",
        "m = fixed(nn.MultiHeadAttention(4, 2))\nc = m.gen_cache(R([2, 1, 4]))\nm(R([2, 1, 4]), R([2, 1, 4]), R([2, 1, 4]), None, c)",
        "m = fixed(nn.MultiHeadAttention(4, 2))\nm.gen_cache(R([2, 3, 4]), R([2, 3, 4]), m.StaticCache)",
    ],
    "paddle.nn.LayerList": [
        "l = nn.LayerList([nn.Linear(2, 2), nn.ReLU()])\n[len(l), described(l), str(l)]", "l = nn.LayerList([nn.Linear(2, 2) for _ in range(3)])\n[type(l[0]).__name__, len(l[1:]), l[-1].weight.name]",
        "l = nn.LayerList()\nl.extend([nn.ReLU(), nn.Tanh()])\nl.insert(1, nn.GELU())\n[type(x).__name__ for x in l]",
        "l = nn.LayerList([nn.ReLU(), nn.Tanh()])\nl[0] = nn.GELU()\ndel l[1]\nstr(l)", "nn.LayerList([nn.ReLU()])[3]", "nn.LayerList([1])",
        "nn.LayerList([nn.ReLU()])(R([2]))",
    ],
    "paddle.nn.LayerList.append": [
        "l = nn.LayerList()\nl.append(nn.Linear(2, 3)) is l", "l = nn.LayerList([nn.ReLU()])\nl.append(nn.Linear(2, 3))\nlist(l.state_dict())",
        "nn.LayerList().append(3)", "nn.LayerList().append(None)",
    ],
    "paddle.nn.Sequential": [
        "layer(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), R([2, 3]))", "layer(nn.Sequential(('a', nn.Linear(3, 4)), ('b', nn.Tanh())), R([2, 3]))",
        "s = nn.Sequential(nn.Linear(2, 2), nn.ReLU())\n[len(s), type(s[1]).__name__, str(s)]", "s = nn.Sequential(('a', nn.ReLU()))\ntype(s['a']).__name__",
        "import collections\ndescribed(nn.Sequential(collections.OrderedDict(x=nn.Linear(1, 1), y=nn.ReLU())))", "described(nn.Sequential([nn.Linear(1, 1), nn.ReLU()]))",
        "s = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.GELU())\n[type(x).__name__ for x in s[1:]]", "nn.Sequential()(R([2]))", "nn.Sequential(3)",
        "s = nn.Sequential(nn.ReLU())\ns[0] = nn.Tanh()\nstr(s)", "nn.Sequential(nn.ReLU())[1]",
    ],
}  # fmt: skip

DIFFERS = {
    "official's gradient of group norm is wrong without a scale: it does not sum to 0 over a group": {
        "paddle.nn.GroupNorm": [f"layer(nn.GroupNorm(4, 4, epsilon=0.1, weight_attr=False), {X4})"],
    },
    "no gradient flows through indices: they say so": {
        "paddle.nn.MaxPool2D": [f"layer(nn.MaxPool2D(2, return_mask=True), {X4})"],
    },
    "soft labels have a gradient too": {
        "paddle.nn.CrossEntropyLoss": ["layer(nn.CrossEntropyLoss(soft_label=True), R([2, 3]), T([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]]))"],
    },
    "official keeps the dropout state of a GPU library among the buffers": {
        "paddle.nn.LSTM": ["layer(nn.LSTM(3, 4), R([2, 5, 3]))", "layer(nn.LSTM(3, 4, num_layers=2), R([2, 5, 3]))", "layer(nn.LSTM(3, 4, direction='bidirect'), R([2, 5, 3]))", "layer(nn.LSTM(3, 4, time_major=True), R([5, 2, 3]))", "layer(nn.LSTM(3, 4), R([2, 5, 3]), (R([1, 2, 4]), R([1, 2, 4], low=0)))", "layer(nn.LSTM(3, 4), R([2, 5, 3]), sequence_length=T([3, 5]))"],
    },
}  # fmt: skip

"""Further layers: parameters, state, result, gradients and evaluation, each with known weights."""

X3 = "R([2, 4, 6])"
X4 = "R([2, 4, 6, 6])"
X5 = "R([1, 2, 4, 4, 4])"
PADDED = "T([[0.0, 0.0, -1e9], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])"

ACTIVATIONS = {
    "CELU": ["", "alpha=0.5"], "ELU": ["", "alpha=0.5"], "GLU": ["axis=1"], "Hardshrink": ["", "0.3"], "Hardsigmoid": [""], "Hardswish": [""],
    "Hardtanh": ["", "-0.5, 0.7"], "LogSigmoid": [""], "LogSoftmax": ["", "axis=0"], "Maxout": ["2"], "Mish": [""], "PReLU": ["", "4, 0.1"],
    "RReLU": ["0.2, 0.2"], "SELU": ["", "1.2, 1.5"], "Silu": [""], "Softmax2D": [""], "Softplus": ["", "2, 15"], "Softshrink": ["", "0.3"],
    "Softsign": [""], "Swish": [""], "Tanhshrink": [""], "ThresholdedReLU": ["", "0.5", "0.5, 2.0"],
}  # fmt: skip

CASES = {}
for name, arguments in ACTIVATIONS.items():
    CASES[f"paddle.nn.{name}"] = [
        *(f"layer(nn.{name}({a}), {X4})" for a in arguments), *(f"str(nn.{name}({a}))" for a in arguments),
        f"nn.{name}({arguments[0]})(R([0, 4, 2, 2]))", f"nn.{name}({arguments[0]})(R([2, 4, 1, 2], 'float64'))",
        f"nn.{name}({arguments[0]})(None)", f"signature(nn.{name})", f"nn.{name}({arguments[0]})(R([2, 4, 1, 2], 'int32'))",
    ]  # fmt: skip

CASES |= {
    "paddle.nn.Conv3D": [
        f"layer(nn.Conv3D(2, 3, 3), {X5})", f"layer(nn.Conv3D(2, 4, (3, 2, 1), stride=(2, 1, 1), padding=1, groups=2), {X5})",
        f"layer(nn.Conv3D(2, 2, 2, padding='SAME', bias_attr=False), {X5})", "layer(nn.Conv3D(2, 2, 1, data_format='NDHWC'), R([1, 3, 3, 3, 2]))",
        f"layer(nn.Conv3D(2, 2, 2, dilation=2, padding='VALID'), {X5})", f"layer(nn.Conv3D(2, 2, 3, padding=1, padding_mode='replicate'), {X5})",
        f"layer(nn.Conv3D(2, 2, 3, padding=1, padding_mode='circular'), {X5})", "nn.Conv3D(2, 3, 3, groups=3)", "str(nn.Conv3D(2, 3, 3))", "nn.Conv3D(2, 3, 3)(R([1, 3, 4, 4, 4]))",
    ],
    "paddle.nn.Conv1DTranspose": [
        f"layer(nn.Conv1DTranspose(4, 3, 3), {X3})", f"layer(nn.Conv1DTranspose(4, 2, 3, stride=2, padding=1, output_padding=1, groups=2), {X3})",
        f"layer(nn.Conv1DTranspose(4, 2, 3, stride=2, bias_attr=False), {X3}, output_size=[14])", "layer(nn.Conv1DTranspose(4, 2, 3, data_format='NLC'), R([2, 6, 4]))",
        f"layer(nn.Conv1DTranspose(4, 2, 3, dilation=2), {X3})", "str(nn.Conv1DTranspose(4, 3, 3))", "nn.Conv1DTranspose(4, 3, 3)(R([2, 3, 6]))",
    ],
    "paddle.nn.Conv3DTranspose": [
        f"layer(nn.Conv3DTranspose(2, 3, 3), {X5})", f"layer(nn.Conv3DTranspose(2, 2, 3, stride=2, padding=1, output_padding=1, groups=2), {X5})",
        f"layer(nn.Conv3DTranspose(2, 2, 2, stride=2, bias_attr=False), {X5}, output_size=[8, 9, 8])", "str(nn.Conv3DTranspose(2, 3, 3))",
        "layer(nn.Conv3DTranspose(2, 2, 2, data_format='NDHWC'), R([1, 3, 3, 3, 2]))",
    ],
    "paddle.nn.AvgPool1D": [f"layer(nn.AvgPool1D(2), {X3})", f"layer(nn.AvgPool1D(3, 2, 1), {X3})", f"layer(nn.AvgPool1D(3, 2, 1, exclusive=False), {X3})", f"layer(nn.AvgPool1D(4, 3, ceil_mode=True), {X3})", "str(nn.AvgPool1D(2))", "nn.AvgPool1D(2)(R([2, 3]))"],
    "paddle.nn.MaxPool1D": [f"layer(nn.MaxPool1D(2), {X3})", f"layer(nn.MaxPool1D(3, 2, 1), {X3})", f"layer(nn.MaxPool1D(4, 3, ceil_mode=True), {X3})", f"nn.MaxPool1D(2, return_mask=True)({X3})", "str(nn.MaxPool1D(2))"],
    "paddle.nn.AvgPool3D": [f"layer(nn.AvgPool3D(2), {X5})", f"layer(nn.AvgPool3D(3, 2, 1), {X5})", f"layer(nn.AvgPool3D(3, 2, 1, exclusive=False), {X5})", f"layer(nn.AvgPool3D(2, divisor_override=3), {X5})", "str(nn.AvgPool3D(2))", "nn.AvgPool3D(2, data_format='NDHWC')(R([1, 4, 4, 4, 2]))"],
    "paddle.nn.MaxPool3D": [f"layer(nn.MaxPool3D(2), {X5})", f"layer(nn.MaxPool3D(3, 2, 1), {X5})", f"nn.MaxPool3D(2, return_mask=True)({X5})", "str(nn.MaxPool3D(2))", f"layer(nn.MaxPool3D(3, 2, ceil_mode=True), {X5})"],
    "paddle.nn.LPPool1D": [f"layer(nn.LPPool1D(2, 2), {X3})", f"layer(nn.LPPool1D(3.0, 3, 2, ceil_mode=True), {X3})", "str(nn.LPPool1D(2, 2))"],
    "paddle.nn.LPPool2D": [f"layer(nn.LPPool2D(2, 2), {X4})", f"layer(nn.LPPool2D(float('inf'), 2), {X4})", "str(nn.LPPool2D(2, 2))"],
    "paddle.nn.AdaptiveAvgPool1D": [f"layer(nn.AdaptiveAvgPool1D(1), {X3})", f"layer(nn.AdaptiveAvgPool1D(4), {X3})", "str(nn.AdaptiveAvgPool1D(1))", "nn.AdaptiveAvgPool1D(1)(R([2, 3]))"],
    "paddle.nn.AdaptiveAvgPool3D": [f"layer(nn.AdaptiveAvgPool3D(1), {X5})", f"layer(nn.AdaptiveAvgPool3D((2, 3, None)), {X5})", "str(nn.AdaptiveAvgPool3D(1))"],
    "paddle.nn.AdaptiveMaxPool1D": [f"layer(nn.AdaptiveMaxPool1D(4), {X3})", f"nn.AdaptiveMaxPool1D(4, return_mask=True)({X3})", "str(nn.AdaptiveMaxPool1D(1))"],
    "paddle.nn.AdaptiveMaxPool2D": [f"layer(nn.AdaptiveMaxPool2D(1), {X4})", f"layer(nn.AdaptiveMaxPool2D((4, 3)), {X4})", f"nn.AdaptiveMaxPool2D(4, return_mask=True)({X4})", "str(nn.AdaptiveMaxPool2D(1))", f"layer(nn.AdaptiveMaxPool2D([None, 4]), {X4})"],
    "paddle.nn.AdaptiveMaxPool3D": [f"layer(nn.AdaptiveMaxPool3D(1), {X5})", f"layer(nn.AdaptiveMaxPool3D((3, 2, 1)), {X5})", f"nn.AdaptiveMaxPool3D(3, return_mask=True)({X5})"],
    "paddle.nn.FractionalMaxPool2D": ["nn.FractionalMaxPool2D(3, random_u=0.3)(R([1, 2, 7, 7]))", "nn.FractionalMaxPool2D([3, 2], kernel_size=2, random_u=0.6, return_mask=True)(R([1, 2, 7, 7]))", "str(nn.FractionalMaxPool2D(3, random_u=0.3))"],
    "paddle.nn.FractionalMaxPool3D": ["nn.FractionalMaxPool3D(2, random_u=0.3)(R([1, 1, 5, 5, 5]))", "nn.FractionalMaxPool3D(2, kernel_size=2, random_u=0.6, return_mask=True)(R([1, 1, 5, 5, 5]))"],
    "paddle.nn.MaxUnPool1D": [f"p, i = F.max_pool1d({X3}, 2, return_mask=True)\nnn.MaxUnPool1D(2)(p, i)", f"p, i = F.max_pool1d({X3}, 2, return_mask=True)\nnn.MaxUnPool1D(2, output_size=[2, 4, 7])(p, i)"],
    "paddle.nn.MaxUnPool2D": [f"p, i = F.max_pool2d({X4}, 2, return_mask=True)\nnn.MaxUnPool2D(2)(p, i)", f"p, i = F.max_pool2d({X4}, 2, return_mask=True)\nF.max_unpool2d(p, i, 2, output_size=[7, 7])", "str(nn.MaxUnPool2D(2))"],
    "paddle.nn.MaxUnPool3D": [f"p, i = F.max_pool3d({X5}, 2, return_mask=True)\nnn.MaxUnPool3D(2)(p, i)"],
    "paddle.nn.Pad1D": [f"layer(nn.Pad1D([1, 2]), {X3})", f"layer(nn.Pad1D(1, mode='reflect'), {X3})", f"layer(nn.Pad1D(2, mode='replicate'), {X3})", f"layer(nn.Pad1D(1, mode='circular'), {X3})", "str(nn.Pad1D([1, 2]))", f"layer(nn.Pad1D([1, 0], value=3.0, data_format='NLC'), {X3})"],
    "paddle.nn.Pad3D": [f"layer(nn.Pad3D([1, 0, 1, 2, 0, 1]), {X5})", f"layer(nn.Pad3D(1, mode='reflect'), {X5})", f"layer(nn.Pad3D(1, mode='replicate'), {X5})", "str(nn.Pad3D(1))", f"layer(nn.Pad3D(1, mode='circular'), {X5})"],
    "paddle.nn.ZeroPad1D": [f"layer(nn.ZeroPad1D([1, 2]), {X3})", "str(nn.ZeroPad1D(1))"],
    "paddle.nn.ZeroPad2D": [f"layer(nn.ZeroPad2D([1, 2, 0, 1]), {X4})", "str(nn.ZeroPad2D(1))"],
    "paddle.nn.ZeroPad3D": [f"layer(nn.ZeroPad3D(1), {X5})"],
    "paddle.nn.UpsamplingBilinear2D": [f"layer(nn.UpsamplingBilinear2D(scale_factor=2), {X4})", f"layer(nn.UpsamplingBilinear2D(size=[5, 8]), {X4})", "str(nn.UpsamplingBilinear2D(scale_factor=2))"],
    "paddle.nn.UpsamplingNearest2D": [f"layer(nn.UpsamplingNearest2D(scale_factor=2), {X4})", f"layer(nn.UpsamplingNearest2D([5, 8]), {X4})", "str(nn.UpsamplingNearest2D(scale_factor=2))"],
    "paddle.nn.PixelShuffle": [f"layer(nn.PixelShuffle(2), {X4})", "layer(nn.PixelShuffle(2, 'NHWC'), R([1, 2, 3, 8]))", "nn.PixelShuffle('a')", f"nn.PixelShuffle(3)({X4})", "str(nn.PixelShuffle(2))"],
    "paddle.nn.PixelUnshuffle": [f"layer(nn.PixelUnshuffle(2), {X4})", "layer(nn.PixelUnshuffle(3, 'NHWC'), R([1, 3, 6, 2]))", "nn.PixelUnshuffle(-1)", "str(nn.PixelUnshuffle(2))"],
    "paddle.nn.ChannelShuffle": [f"layer(nn.ChannelShuffle(2), {X4})", "layer(nn.ChannelShuffle(2, 'NHWC'), R([1, 2, 2, 4]))", "str(nn.ChannelShuffle(2))", "nn.ChannelShuffle(0)"],
    "paddle.nn.Unfold": [f"layer(nn.Unfold(2), {X4})", f"layer(nn.Unfold([3, 2], strides=2, paddings=1, dilations=2), {X4})", "str(nn.Unfold(2))"],
    "paddle.nn.Fold": ["layer(nn.Fold([4, 5], [2, 2]), R([2, 12, 12]))", "layer(nn.Fold([4, 4], 2, strides=2, paddings=1), R([1, 8, 9]))", "str(nn.Fold([4, 5], [2, 2]))", "nn.Fold([4, 5], [2, 2])(R([2, 12, 11]))"],
    "paddle.nn.Bilinear": ["layer(nn.Bilinear(3, 4, 2), R([5, 3]), R([5, 4]))", "layer(nn.Bilinear(3, 4, 2, bias_attr=False), R([5, 3]), R([5, 4]))", "str(nn.Bilinear(3, 4, 2))"],
    "paddle.nn.CosineSimilarity": ["layer(nn.CosineSimilarity(), R([2, 3]), R([2, 3], low=0))", "layer(nn.CosineSimilarity(axis=0, eps=0.1), R([2, 3]), R([2, 3], low=0))", "str(nn.CosineSimilarity())"],
    "paddle.nn.PairwiseDistance": ["layer(nn.PairwiseDistance(), R([2, 3]), R([2, 3], low=0))", "layer(nn.PairwiseDistance(p=1, keepdim=True), R([2, 3]), R([2, 3], low=0))", "nn.PairwiseDistance(float('inf'))(R([2, 3]), R([2, 3], low=0))", "str(nn.PairwiseDistance())"],
    "paddle.nn.Unflatten": ["layer(nn.Unflatten(1, [2, -1]), R([2, 6, 3]))", "str(nn.Unflatten(1, [2, 3]))"],
    "paddle.nn.Dropout2D": [f"layer(nn.Dropout2D(0.0), {X4})", "y = nn.Dropout2D(0.5)(paddle.ones([40, 3, 2, 2]))\nsorted(set(y.tolist()[0][0][0])) in ([0.0], [2.0])", "str(nn.Dropout2D(0.3))", "nn.Dropout2D(0.5)(R([2, 3]))", "l = nn.Dropout2D(0.9)\nl.eval()\nl(R([1, 2, 2, 2]))"],
    "paddle.nn.Dropout3D": [f"layer(nn.Dropout3D(0.0), {X5})", "str(nn.Dropout3D(0.3))"],
    "paddle.nn.AlphaDropout": ["layer(nn.AlphaDropout(0.0), R([2, 3]))", "str(nn.AlphaDropout(0.3))", "l = nn.AlphaDropout(0.9)\nl.eval()\nl(R([2, 2]))"],
    "paddle.nn.FeatureAlphaDropout": [f"layer(nn.FeatureAlphaDropout(0.0), {X4})", "str(nn.FeatureAlphaDropout(0.3))"],
    "paddle.nn.InstanceNorm1D": [f"layer(nn.InstanceNorm1D(4), {X3})", f"layer(nn.InstanceNorm1D(4, epsilon=0.1, weight_attr=False, bias_attr=False), {X3})", "str(nn.InstanceNorm1D(4))", "nn.InstanceNorm1D(4)(R([2, 4, 6, 6]))"],
    "paddle.nn.InstanceNorm2D": [f"layer(nn.InstanceNorm2D(4), {X4})", f"layer(nn.InstanceNorm2D(4, weight_attr=False, bias_attr=False), {X4})", "str(nn.InstanceNorm2D(4))", "nn.InstanceNorm2D(4)(R([2, 4, 6]))", "list(nn.InstanceNorm2D(4, weight_attr=False, bias_attr=False).state_dict())"],
    "paddle.nn.InstanceNorm3D": [f"layer(nn.InstanceNorm3D(2), {X5})", "str(nn.InstanceNorm3D(2))"],
    "paddle.nn.BatchNorm3D": [f"layer(nn.BatchNorm3D(2), {X5})", f"layer(nn.BatchNorm3D(2, momentum=0.5, use_global_stats=True), {X5})", "layer(nn.BatchNorm3D(2, data_format='NDHWC'), R([1, 3, 3, 3, 2]))", "str(nn.BatchNorm3D(2))"],
    "paddle.nn.LocalResponseNorm": [f"layer(nn.LocalResponseNorm(3), {X4})", f"layer(nn.LocalResponseNorm(2, 0.1, 0.5, 2.0), {X4})", "str(nn.LocalResponseNorm(3))", f"layer(nn.LocalResponseNorm(3, alpha=0.5), {X3})"],
    "paddle.nn.RMSNorm": ["layer(nn.RMSNorm(4), R([2, 3, 4]))", "layer(nn.RMSNorm([3, 4], 0.01), R([2, 3, 4]))", "str(nn.RMSNorm(4))", "signature(nn.RMSNorm)"],
    "paddle.nn.SpectralNorm": ["nn.SpectralNorm([3, 4], dim=0, power_iters=2).weight_u.shape", "n = nn.SpectralNorm([3, 4], 1, 50)\nw = R([3, 4])\nbool(abs(float(np.linalg.norm(n(w).numpy(), 2)) - 1) < 1e-3)", "str(nn.SpectralNorm([3, 4]))", "list(nn.SpectralNorm([3, 4]).state_dict())"],
    "paddle.nn.SyncBatchNorm": ["str(nn.SyncBatchNorm(4))", "m = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm2D(3), nn.ReLU()))\nstr(m)", "described(nn.SyncBatchNorm(4))", f"l = fixed(nn.SyncBatchNorm(4))\nl.eval()\nl({X4})"],
    "paddle.nn.SimpleRNN": ["signature(nn.SimpleRNN)", "str(nn.SimpleRNN(3, 4))", "described(nn.SimpleRNN(3, 4, num_layers=2, direction='bidirect'))", "fixed(nn.SimpleRNN(3, 4))(R([2, 5, 3]))", "fixed(nn.SimpleRNN(3, 4, activation='relu', direction='bidirect'))(R([2, 5, 3]))", "fixed(nn.SimpleRNN(3, 4, time_major=True))(R([5, 2, 3]), R([1, 2, 4]))", "fixed(nn.SimpleRNN(3, 4))(R([2, 5, 3]), sequence_length=T([3, 5]))", "nn.SimpleRNN(3, 4, activation='x')(R([2, 5, 3]))"],
    "paddle.nn.GRU": ["signature(nn.GRU)", "str(nn.GRU(3, 4))", "described(nn.GRU(3, 4, num_layers=2, direction='bidirect'))", "fixed(nn.GRU(3, 4))(R([2, 5, 3]))", "fixed(nn.GRU(3, 4, 2, 'bidirectional'))(R([2, 5, 3]))", "fixed(nn.GRU(3, 4, time_major=True))(R([5, 2, 3]), R([1, 2, 4]))", "fixed(nn.GRU(3, 4))(R([2, 5, 3]), sequence_length=T([3, 5]))", "grads(lambda x: fixed(nn.GRU(3, 4))(x)[0], R([2, 5, 3]))"],
    "paddle.nn.LSTMCell": ["layer(nn.LSTMCell(3, 4), R([2, 3]))", "layer(nn.LSTMCell(3, 4), R([2, 3]), (R([2, 4]), R([2, 4], low=0)))", "layer(nn.LSTMCell(3, 4, proj_size=2), R([2, 3]))", "nn.LSTMCell(3, 4).state_shape", "str(nn.LSTMCell(3, 4))", "nn.LSTMCell(3, 0)", "layer(nn.LSTMCell(3, 4, bias_ih_attr=False), R([2, 3]))"],
    "paddle.nn.GRUCell": ["layer(nn.GRUCell(3, 4), R([2, 3]))", "layer(nn.GRUCell(3, 4), R([2, 3]), R([2, 4]))", "nn.GRUCell(3, 4).state_shape", "str(nn.GRUCell(3, 4))", "nn.GRUCell(3, -1)"],
    "paddle.nn.SimpleRNNCell": ["layer(nn.SimpleRNNCell(3, 4), R([2, 3]))", "layer(nn.SimpleRNNCell(3, 4, activation='relu'), R([2, 3]), R([2, 4]))", "str(nn.SimpleRNNCell(3, 4))", "nn.SimpleRNNCell(3, 4, activation='x')"],
    "paddle.nn.RNN": ["r = nn.RNN(fixed(nn.GRUCell(3, 4)), is_reverse=True)\nr(R([2, 5, 3]))", "r = nn.RNN(fixed(nn.LSTMCell(3, 4)), time_major=True)\nr(R([5, 2, 3]), (R([2, 4]), R([2, 4])))", "nn.RNN(fixed(nn.SimpleRNNCell(3, 4)))(R([2, 5, 3]), sequence_length=T([2, 5]))"],
    "paddle.nn.BiRNN": ["nn.BiRNN(fixed(nn.GRUCell(3, 4)), fixed(nn.GRUCell(3, 4)))(R([2, 5, 3]))", "nn.BiRNN(fixed(nn.LSTMCell(3, 4)), fixed(nn.LSTMCell(3, 4)))(R([2, 5, 3]), sequence_length=T([2, 5]))"],
    "paddle.nn.RNNCellBase": ["c = nn.GRUCell(3, 4)\nc.get_initial_states(R([2, 3]))", "c = nn.LSTMCell(3, 4)\nc.get_initial_states(R([2, 3]), init_value=1.0)", "nn.GRUCell(3, 4).get_initial_states(R([2, 3]), [5], 'float64')"],
    "paddle.nn.TransformerEncoderLayer": ["layer(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), R([2, 3, 4]))", f"layer(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, activation='gelu', normalize_before=True), R([2, 3, 4]), {PADDED})", "described(nn.TransformerEncoderLayer(4, 2, 8, weight_attr=[None, False], bias_attr=False))", "l = fixed(nn.TransformerEncoderLayer(4, 2, 8))\nl.eval()\nl(R([2, 1, 4]), cache=l.gen_cache(R([2, 3, 4])))", "nn.TransformerEncoderLayer(4, 3, 8)", "signature(nn.TransformerEncoderLayer)", "str(nn.TransformerEncoderLayer(4, 2, 8))"],
    "paddle.nn.TransformerEncoder": ["layer(nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), 2), R([2, 3, 4]))", "layer(nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), 1, nn.LayerNorm(4)), R([2, 3, 4]))", "l = fixed(nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2))\nl.eval()\nl(R([2, 1, 4]), None, l.gen_cache(R([2, 3, 4])))"],
    "paddle.nn.TransformerDecoderLayer": ["layer(nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0), R([2, 3, 4]), R([2, 5, 4]))", f"layer(nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0, normalize_before=True), R([2, 3, 4]), R([2, 3, 4]), {PADDED})", "l = fixed(nn.TransformerDecoderLayer(4, 2, 8))\nl.eval()\nl(R([2, 1, 4]), R([2, 3, 4]), cache=l.gen_cache(R([2, 3, 4])))", "signature(nn.TransformerDecoderLayer)"],
    "paddle.nn.TransformerDecoder": ["layer(nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0), 2), R([2, 3, 4]), R([2, 5, 4]))", "l = fixed(nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8), 2))\nl.eval()\nl(R([2, 1, 4]), R([2, 3, 4]), cache=l.gen_cache(R([2, 3, 4]), do_zip=True))", "l = fixed(nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8), 2))\nl.eval()\nl(R([2, 1, 4]), R([2, 3, 4]), cache=l.gen_cache(R([2, 3, 4])))"],
    "paddle.nn.Transformer": ["described(nn.Transformer(4, 2, 1, 1, 8))", "l = fixed(nn.Transformer(4, 2, 1, 1, 8, dropout=0.0))\nl(R([2, 3, 4]), R([2, 2, 4]))", "nn.Transformer.generate_square_subsequent_mask(3)", "nn.Transformer(4, 2).generate_square_subsequent_mask(2)", "l = fixed(nn.Transformer(4, 2, 2, 1, 8, dropout=0.0, normalize_before=True))\nl(R([2, 3, 4]), R([2, 2, 4]), tgt_mask=l.generate_square_subsequent_mask(2))", "signature(nn.Transformer)"],
    "paddle.nn.LayerDict": ["d = nn.LayerDict({'a': nn.Linear(1, 2), 'b': nn.ReLU()})\n[len(d), list(d.keys()), str(d), 'a' in d, list(d.state_dict())]", "d = nn.LayerDict([('a', nn.ReLU())])\nd.update({'c': nn.Tanh()})\n[k for k, _ in d.items()]", "d = nn.LayerDict({'a': nn.ReLU(), 'b': nn.Tanh()})\n[type(d.pop('a')).__name__, len(d)]", "d = nn.LayerDict()\nd['x'] = nn.GELU()\ndel d['x']\nlen(d)", "d = nn.LayerDict({'a': nn.ReLU()})\nd.clear()\nlist(d.values())", "nn.LayerDict({'a': nn.ReLU()})['z']", "nn.LayerDict(3)", "list(nn.LayerDict({'b': nn.ReLU(), 'a': nn.Tanh()}))"],
    "paddle.nn.ParameterList": ["l = nn.ParameterList([parameter([1.0]), parameter([2.0])])\n[len(l), list(l.state_dict()), l[1]]", "l = nn.ParameterList()\nl.append(parameter([1.0]))\nl[0] = parameter([3.0])\nlist(l)", "str(nn.ParameterList([parameter([1.0])]))", "nn.ParameterList([3])", "nn.ParameterList([parameter([1.0])])[2]"],
    "paddle.nn.ParameterDict": ["d = nn.ParameterDict({'a': parameter([1.0]), 'b': parameter([2.0])})\n[len(d), list(d.keys()), list(d.state_dict()), d['b']]", "d = nn.ParameterDict()\nd['x'] = parameter([1.0])\nd.update({'y': parameter([2.0])})\nlist(d)", "nn.ParameterDict({'a': parameter([1.0])})['z']", "str(nn.ParameterDict({'a': parameter([1.0])}))"],
    "paddle.nn.utils.weight_norm": ["l = nn.utils.weight_norm(fixed(nn.Linear(3, 4)), dim=1)\n[list(l.state_dict()), l.weight_g, l(R([2, 3]))]", "l = nn.utils.weight_norm(fixed(nn.Conv2D(2, 3, 2)))\n[l.weight_g.shape, l.weight_v.shape, l(R([1, 2, 3, 3]))]", "l = nn.utils.weight_norm(fixed(nn.Linear(3, 4)), dim=None)\nl.weight_g", "nn.utils.weight_norm(nn.Linear(3, 4), dim=5)", "l = fixed(nn.Linear(3, 4))\nw = l.weight.clone()\nl = nn.utils.remove_weight_norm(nn.utils.weight_norm(l))\n[bool(paddle.allclose(w, l.weight)), list(l.state_dict())]", "nn.utils.remove_weight_norm(nn.Linear(2, 2))"],
    "paddle.nn.utils.spectral_norm": ["l = nn.utils.spectral_norm(fixed(nn.Linear(3, 4)))\nsorted(l.state_dict())", "l = nn.utils.spectral_norm(fixed(nn.Conv2D(2, 3, 2)), n_power_iterations=30)\nl(R([1, 2, 3, 3])).shape", "l = nn.utils.spectral_norm(fixed(nn.Linear(3, 4)), n_power_iterations=50)\nl(R([2, 3]))\nbool(abs(np.linalg.norm(l.weight.numpy(), 2) - 1) < 1e-3)"],
    "paddle.nn.utils.clip_grad_norm_": ["p = parameter([3.0, 4.0])\n(p * T([3.0, 4.0])).sum().backward()\n[nn.utils.clip_grad_norm_([p], 1.0), p.grad]", "p = parameter([3.0, 4.0])\n(p * T([3.0, 4.0])).sum().backward()\n[nn.utils.clip_grad_norm_(p, 2.0, norm_type=1), p.grad]", "p = parameter([3.0, 4.0])\n(p * T([3.0, 4.0])).sum().backward()\n[nn.utils.clip_grad_norm_([p], 1.0, float('inf')), p.grad]", "nn.utils.clip_grad_norm_([], 1.0)", "p = parameter([1.0])\n(p * T([float('nan')])).backward()\nnn.utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True)"],
    "paddle.nn.utils.clip_grad_value_": ["p = parameter([3.0, 4.0])\n(p * T([3.0, -4.0])).sum().backward()\nnn.utils.clip_grad_value_([p], 2.0)\np.grad", "nn.utils.clip_grad_value_([parameter([1.0])], -1.0)"],
    "paddle.nn.utils.parameters_to_vector": ["nn.utils.parameters_to_vector([parameter([[1.0, 2.0]]), parameter([3.0])])", "a, b = parameter([[1.0, 2.0]]), parameter([3.0])\nnn.utils.vector_to_parameters(T([7.0, 8.0, 9.0]), [a, b])\n[a, b]"],
    "paddle.nn.initializer.Orthogonal": ["w = nn.Linear(4, 6, weight_attr=nn.initializer.Orthogonal()).weight.numpy()\nbool(np.allclose(w @ w.T, np.eye(4), atol=1e-5))", "w = nn.Linear(6, 4, weight_attr=nn.initializer.Orthogonal(gain=2.0)).weight.numpy()\nbool(np.allclose(w.T @ w, 4 * np.eye(4), atol=1e-4))", "signature(nn.initializer.Orthogonal)"],
    "paddle.nn.initializer.Dirac": ["nn.Conv1D(3, 2, 3, weight_attr=nn.initializer.Dirac()).weight", "nn.Conv2D(4, 4, 3, groups=1, weight_attr=nn.initializer.Dirac(groups=2)).weight", "signature(nn.initializer.Dirac)"],
    "paddle.nn.initializer.Bilinear": ["nn.Conv2DTranspose(2, 2, 4, weight_attr=nn.initializer.Bilinear()).weight"],
    "paddle.nn.initializer.calculate_gain": ["[nn.initializer.calculate_gain(n) for n in ('sigmoid', 'linear', 'conv2d', 'tanh', 'relu', 'leaky_relu', 'selu')]", "nn.initializer.calculate_gain('leaky_relu', 1.0)", "nn.initializer.calculate_gain('x')"],
    "paddle.nn.initializer.set_global_initializer": ["nn.initializer.set_global_initializer(nn.initializer.Constant(2.0), nn.initializer.Constant(1.0))\nl = nn.Linear(1, 2)\n[l.weight, l.bias]", "nn.initializer.set_global_initializer(nn.initializer.Constant(2.0))\nnn.initializer.set_global_initializer(None)\nfloat(nn.Linear(3, 3).bias.sum())"],
}  # fmt: skip

DIFFERS = {
    "official's attributes of operators are float32, whatever the tensor's dtype": {"": [
        "nn.Hardsigmoid()(R([2, 4, 1, 2], 'float64'))",
        "nn.SELU()(R([2, 4, 1, 2], 'float64'))",
    ]},
    "a sequence without that index says so by IndexError": {"": [
        "nn.ParameterList([parameter([1.0])])[2]",
    ]},
    "official's weights don't interpolate: a row is divided without rounding down": {"": [
        "nn.Conv2DTranspose(2, 2, 4, weight_attr=nn.initializer.Bilinear()).weight",
    ]},
}  # fmt: skip

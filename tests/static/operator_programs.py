"""Functions of tensors whose saved programs go to official paddle and come from it: one for each form of an operator."""

import numpy as np


def _f32(*shape, seed=0):
    return np.random.RandomState(seed).uniform(-2, 2, shape).astype("float32")


def _ints(*values, dtype="int32"):
    return np.array(values, dtype)


def cases(paddle):
    """name -> (function, inputs as arrays, axes that are open: one set of axes per input)."""
    F = paddle.nn.functional

    def unfold(x):
        return F.unfold(x, [2, 3], [1, 2], [1, 0, 2, 1], 1)

    def fold(x):
        return F.fold(x, [6, 7], [2, 3])

    def prelu_channel(x, w):
        return F.prelu(x, w)

    def prelu_all(x, w):
        return F.prelu(x, w)

    def linear(x):
        return F.interpolate(x, [7], mode="linear", data_format="NCW")

    def bilinear_size(x):
        return F.interpolate(x, [7, 3], mode="bilinear", align_mode=1)

    def bilinear_scale(x):
        return F.interpolate(x, scale_factor=[1.5, 2.0], mode="bilinear", align_corners=True, data_format="NHWC")

    def bilinear_tensor(x, size):
        return F.interpolate(x, size, mode="bilinear")

    def bilinear_tensors(x, height):
        return F.interpolate(x, [height, 8], mode="bilinear")

    def bilinear_scale_tensor(x, scale):
        return F.interpolate(x, scale_factor=scale, mode="bilinear")

    def nearest(x):
        return F.interpolate(x, scale_factor=2, mode="nearest")

    def bicubic(x):
        return F.interpolate(x, [7, 3], mode="bicubic")

    def trilinear(x):
        return F.interpolate(x, [4, 3, 7], mode="trilinear", data_format="NCDHW")

    def antialias(x):
        return F.interpolate(x, [3, 4], mode="bilinear", antialias=True)

    def einsum_product(a, b):
        return paddle.einsum("ij,jk->ik", a, b)

    def einsum_diagonal(a):
        return paddle.einsum("bii->ib", a)

    def grid_sample(x, grid):
        return F.grid_sample(x, grid, padding_mode="reflection", align_corners=False)

    def affine_grid(theta):
        return F.affine_grid(theta, [2, 3, 4, 5], align_corners=False)

    def affine_grid_tensor(theta, shape):
        return F.affine_grid(theta, shape)

    def lu(a):
        out, pivots, info = paddle.linalg.lu(a, get_infos=True)
        return out, pivots, info

    def lu_unpacked(a):
        return paddle.linalg.lu_unpack(*paddle.linalg.lu(a))

    def eigenvalues(a):
        a = a + paddle.transpose(a, [1, 0])
        return paddle.linalg.eigvalsh(a), paddle.linalg.eigh(a)[0], paddle.sort(paddle.real(paddle.linalg.eigvals(a)))

    def mode(x):
        return paddle.mode(x, 1, True)

    def unique_consecutive(x):
        return paddle.unique_consecutive(x, True, True)

    def unique(x):
        return paddle.unique(x, True, True, True)

    def array(x):
        a = paddle.tensor.create_array("float32")
        i = paddle.zeros([1], "int64")
        a = paddle.tensor.array_write(x, i, a)
        a = paddle.tensor.array_write(x + 1, i + 1, a)
        n = paddle.tensor.array_length(a)
        return paddle.tensor.array_read(a, i + 1) + n.astype("float32")

    def array_in_loop(x, n):
        a = paddle.tensor.create_array("float32")
        i = paddle.zeros([1], "int64")
        while i < n:
            paddle.tensor.array_write(x * i.astype("float32"), i, a)
            i = i + 1
        return paddle.tensor.array_read(a, i - 1)

    def list_in_loop(x, n):
        a = []
        i = paddle.zeros([1], "int64")
        while i < n:
            a.append(x * i.astype("float32"))
            i = i + 1
        return paddle.stack(a)

    def products(x, y):
        return paddle.bmm(x, y), paddle.mv(x[0], y[0, :, 0]), paddle.dot(x[0, 0], y[0, :, 0]), paddle.kron(x[0], y[0])

    def products_of_matrices(x):
        return paddle.trace(x, 1), paddle.addmm(x, x, x, 0.5, 2.0), paddle.linalg.eigvalsh(x)

    def losses(x, y):
        return (
            F.binary_cross_entropy(F.sigmoid(x), y), F.kl_div(x, y), F.smooth_l1_loss(x, y),
            F.log_loss(F.sigmoid(x), y), F.binary_cross_entropy_with_logits(x, y), F.label_smooth(y),
        )  # fmt: skip

    def classes(x, y):
        return F.nll_loss(x, y), F.nll_loss(x, y, reduction="none")

    def channels(x):
        y = F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2)
        return y, F.channel_shuffle(x, 2), F.maxout(x, 2)

    def depthwise(x, w):
        return F.conv2d(x, w, groups=4, padding=1)

    table = {
        "products": (products, [_f32(2, 3, 4), _f32(2, 4, 2, seed=1)]),
        "products_of_matrices": (products_of_matrices, [_f32(3, 3)]),
        "losses": (losses, [_f32(3, 1), abs(_f32(3, 1, seed=1)) / 3]),
        "classes": (classes, [_f32(3, 4), _ints(1, 3, 0, dtype="int64")]),
        "channels": (channels, [_f32(1, 4, 2, 2)]),
        "depthwise": (depthwise, [_f32(1, 4, 5, 5), _f32(4, 1, 3, 3, seed=1)]),
        "unfold": (unfold, [_f32(2, 3, 6, 7)], [(0,)]),
        "fold": (fold, [_f32(2, 18, 25)]),
        "prelu_channel": (prelu_channel, [_f32(2, 3, 4), _f32(3, seed=1)], [(0,), ()]),
        "prelu_all": (prelu_all, [_f32(2, 3, 4), _f32(1, seed=1)]),
        "linear": (linear, [_f32(2, 3, 5)], [(0,)]),
        "bilinear_size": (bilinear_size, [_f32(2, 3, 4, 5)], [(0,)]),
        "bilinear_scale": (bilinear_scale, [_f32(2, 4, 5, 3)], [(0, 1)]),
        "bilinear_tensor": (bilinear_tensor, [_f32(2, 3, 4, 5), _ints(6, 7)]),
        "bilinear_tensors": (bilinear_tensors, [_f32(2, 3, 4, 5), _ints(6)]),
        "bilinear_scale_tensor": (bilinear_scale_tensor, [_f32(2, 3, 4, 5), _f32(1) * 0 + 1.5]),
        "nearest": (nearest, [_f32(2, 3, 4, 5)], [(0, 2)]),
        "bicubic": (bicubic, [_f32(2, 3, 4, 5)]),
        "trilinear": (trilinear, [_f32(1, 2, 3, 4, 5)]),
        "antialias": (antialias, [_f32(1, 2, 8, 9)]),
        "einsum_product": (einsum_product, [_f32(2, 3), _f32(3, 4, seed=1)]),
        "einsum_diagonal": (einsum_diagonal, [_f32(2, 3, 3)]),
        "grid_sample": (grid_sample, [_f32(2, 3, 4, 5), _f32(2, 2, 3, 2, seed=1) * 0.6], [(0,), (0,)]),
        "affine_grid": (affine_grid, [_f32(2, 2, 3)]),
        "affine_grid_tensor": (affine_grid_tensor, [_f32(2, 2, 3), _ints(2, 3, 4, 5)]),
        "lu": (lu, [_f32(3, 3)]),
        "lu_unpacked": (lu_unpacked, [_f32(3, 3)]),
        "eigenvalues": (eigenvalues, [_f32(3, 3)]),
        "mode": (mode, [_ints(1, 2, 2, 3, 3, 1, dtype="float32").reshape(2, 3)]),
        "unique_consecutive": (unique_consecutive, [_ints(1, 1, 2, 2, 2, 3, 1, 1, dtype="int64")]),
        "unique": (unique, [_ints(3, 1, 2, 1, 3, dtype="int64")]),
        "array": (array, [_f32(2)]),
        "array_in_loop": (array_in_loop, [_f32(2), _ints(3, dtype="int64")]),
        "list_in_loop": (list_in_loop, [_f32(2), _ints(3, dtype="int64")]),
    }
    return {name: (*row, [()] * len(row[1]))[:3] for name, row in table.items()}


def networks(paddle):
    """name -> (a layer with parameters, inputs, open axes): recurrent networks and normalisation."""
    nn = paddle.nn

    class Lengths(nn.Layer):
        def __init__(self):
            super().__init__()
            self.net = nn.SimpleRNN(3, 4, direction="bidirect", time_major=True)

        def forward(self, x, state, length):
            return self.net(x, state, length)

    made = {
        "lstm": (lambda: nn.LSTM(3, 4, 2, direction="bidirect", dropout=0.5), [_f32(2, 5, 3)], [(0,)]),
        "gru": (lambda: nn.GRU(3, 4), [_f32(2, 5, 3)], [(0,)]),
        "group_norm": (lambda: nn.GroupNorm(2, 4), [_f32(2, 4, 3, 3)], [(0,)]),
        "instance_norm": (lambda: nn.InstanceNorm2D(4), [_f32(2, 4, 3, 3)], [(0,)]),
        "batch_norm": (lambda: nn.BatchNorm1D(3), [_f32(4, 3)], [(0,)]),
        "simple_rnn": (Lengths, [_f32(5, 2, 3), _f32(2, 2, 4, seed=1), _ints(5, 3)], [(), (), ()]),
    }
    return made


def layer_of(paddle, name):
    """(Layer, inputs, open axes) for a name of either table."""
    if name in networks(paddle):
        make, inputs, axes = networks(paddle)[name]
        paddle.seed(1)
        layer = make()
        layer.eval()
        return layer, inputs, axes
    f, inputs, axes = cases(paddle)[name]
    return paddle.jit.to_static(f, full_graph=True), inputs, axes


def flat(outs):
    return [t for o in outs for t in flat(o)] if isinstance(outs, (list, tuple)) else [outs]


def save(paddle, name, prefix):
    """Saves the program at prefix; its inputs and what it gives, as arrays."""
    layer, inputs, axes = layer_of(paddle, name)
    outs = layer(*(paddle.to_tensor(v) for v in inputs))
    outs = [t.numpy() for t in flat(outs)]
    specs = [
        paddle.static.InputSpec([None if i in free else n for i, n in enumerate(v.shape)], str(v.dtype), f"in_{k}")
        for k, (v, free) in enumerate(zip(inputs, axes))
    ]
    paddle.jit.save(layer, prefix, input_spec=specs)
    return inputs, outs

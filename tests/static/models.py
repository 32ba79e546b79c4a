"""Layers whose saved programs go to official paddle and come from it."""


def make(paddle):
    nn, F = paddle.nn, paddle.nn.functional

    class ConvNet(nn.Layer):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2D(3, 4, 3, padding=1)
            self.norm = nn.BatchNorm2D(4)
            self.drop = nn.Dropout(0.3)
            self.fc = nn.Linear(64, 5)

        def forward(self, x):
            x = F.max_pool2d(F.relu(self.norm(self.conv(x))), 2)
            return F.softmax(self.fc(self.drop(paddle.flatten(x, 1))))

    class Encoder(nn.Layer):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(20, 8)
            self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, activation="gelu")
            self.norm = nn.LayerNorm(8)

        def forward(self, ids):
            return self.norm(self.layer(self.embed(ids)))

    class Flow(nn.Layer):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 4)

        def forward(self, x):
            if x.sum() > 0:
                y = self.fc(x)
            else:
                y = x - 1
            i = paddle.zeros([1], "int64")
            while i < 3:
                y = y * 0.5 + self.fc(y)
                i = i + 1
            return y

    class Sizes(nn.Layer):
        """Sizes that only a call tells, in attributes; parts along the last axis; a slope."""

        def forward(self, x):
            zeros = paddle.zeros([x.shape[0], 2])
            left, right = paddle.split(x, 2, axis=-1)
            return paddle.concat([zeros, F.leaky_relu(left - 0.5), right.mean() * paddle.ones([x.shape[0], 1])], axis=1)

    return {
        "conv_net": (ConvNet, [None, 3, 8, 8], "float32", lambda rng: rng.rand(2, 3, 8, 8).astype("float32")),
        "encoder": (Encoder, [None, None], "int64", lambda rng: rng.randint(0, 20, (2, 5)).astype("int64")),
        "flow": (Flow, [None, 4], "float32", lambda rng: rng.rand(3, 4).astype("float32")),
        "sizes": (Sizes, [None, 4], "float32", lambda rng: rng.rand(3, 4).astype("float32")),
    }


def save(paddle, np, name, prefix):
    """Saves a model; (input, output, output for the negative input where that makes sense)."""
    cls, shape, dtype, sample = make(paddle)[name]
    paddle.seed(1)
    layer = cls()
    layer.eval()
    x = sample(np.random.RandomState(3))
    inputs = [x, -x] if dtype == "float32" else [x]
    outs = [layer(paddle.to_tensor(v)).numpy() for v in inputs]
    paddle.jit.save(layer, prefix, input_spec=[paddle.static.InputSpec(shape, dtype, "x")])
    return inputs, outs

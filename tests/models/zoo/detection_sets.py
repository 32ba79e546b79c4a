"""Detectors that predict sets or masks, and text on images."""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.vision.ops import roi_align

from .registry import model


@model("detr", lambda n, draw: [draw.image(n, 3, 64, 64)])
class DETR(nn.Layer):
    """A transformer with learned object queries; a dict of logits and boxes."""

    def __init__(self, hidden=32, heads=4, queries=6, classes=4):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2D(3, 16, 7, 4, 3), nn.ReLU(), nn.Conv2D(16, hidden, 3, 2, 1))
        self.transformer = nn.Transformer(hidden, heads, 1, 2, 64, dropout=0.0, normalize_before=False)
        self.query = nn.Embedding(queries, hidden)
        self.row = self.create_parameter([20, hidden // 2], default_initializer=nn.initializer.Uniform())
        self.col = self.create_parameter([20, hidden // 2], default_initializer=nn.initializer.Uniform())
        self.classify = nn.Linear(hidden, classes + 1)
        self.box = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 4))

    def forward(self, images):
        features = self.backbone(images)
        b, c, h, w = features.shape
        position = paddle.concat(
            [self.col[:w].unsqueeze(0).tile([h, 1, 1]), self.row[:h].unsqueeze(1).tile([1, w, 1])], axis=-1
        ).flatten(0, 1)
        source = features.flatten(2).transpose([0, 2, 1]) + position.unsqueeze(0)
        target = self.query.weight.unsqueeze(0).expand([b, -1, -1])
        decoded = self.transformer(source, target)
        return {"logits": self.classify(decoded), "boxes": F.sigmoid(self.box(decoded))}


def regions(n, draw):
    corner = draw.uniform32(3 * n, 2) * 30
    return [draw.image(n, 3, 64, 64), np.concatenate([corner, corner + 16], 1), np.full([n], 3, "int32")]


@model("mask_rcnn_head", regions)
class MaskHead(nn.Layer):
    """RoI align, box head, mask head on the regions; each region's mask picked by its class."""

    def __init__(self, classes=4):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2D(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2D(16, 16, 3, 2, 1), nn.ReLU())
        self.fc = nn.Linear(16 * 49, 32)
        self.cls = nn.Linear(32, classes)
        self.delta = nn.Linear(32, classes * 4)
        self.convs = nn.Sequential(nn.Conv2D(16, 16, 3, padding=1), nn.ReLU(), nn.Conv2DTranspose(16, 16, 2, 2), nn.ReLU())
        self.mask = nn.Conv2D(16, classes, 1)

    def forward(self, images, boxes, counts):
        f = self.backbone(images)
        pooled = roi_align(f, boxes, counts, output_size=7, spatial_scale=0.25, sampling_ratio=2)
        h = F.relu(self.fc(pooled.flatten(1)))
        logits, deltas = self.cls(h), self.delta(h).reshape([-1, 4, 4])
        masks = F.sigmoid(self.mask(self.convs(pooled)))
        label = logits.argmax(-1)
        rows = paddle.arange(masks.shape[0])
        picked = paddle.gather_nd(masks, paddle.stack([rows, label], axis=-1))
        delta = paddle.index_sample(deltas.reshape([-1, 16]), label.unsqueeze(-1) * 4 + paddle.arange(4))
        return {"logits": logits, "masks": picked, "deltas": delta}


@model("db_text", lambda n, draw: [draw.image(n, 3, 64, 32 * n)], dynamic=((0, 3),))
class DBText(nn.Layer):
    """Differentiable binarisation; a pyramid; the width is open too."""

    def __init__(self, k=50):
        super().__init__()
        self.k = k
        self.stage1 = nn.Sequential(nn.Conv2D(3, 16, 3, 2, 1), nn.BatchNorm2D(16), nn.ReLU())
        self.stage2 = nn.Sequential(nn.Conv2D(16, 24, 3, 2, 1), nn.BatchNorm2D(24), nn.ReLU())
        self.in1, self.in2 = nn.Conv2D(16, 16, 1), nn.Conv2D(24, 16, 1)
        self.binarize, self.threshold = self.head(), self.head()

    def head(self):
        return nn.Sequential(
            nn.Conv2D(32, 8, 3, padding=1, bias_attr=False), nn.BatchNorm2D(8), nn.ReLU(),
            nn.Conv2DTranspose(8, 1, 2, 2), nn.Sigmoid(),
        )  # fmt: skip

    def forward(self, x):
        c1 = self.stage1(x)
        c2 = self.stage2(c1)
        p2 = self.in2(c2)
        p1 = self.in1(c1) + F.upsample(p2, scale_factor=2, mode="nearest", align_mode=1)
        fuse = paddle.concat([p1, F.upsample(p2, scale_factor=2, mode="nearest")], axis=1)
        shrink = self.binarize(fuse)
        if not self.training:
            return {"maps": shrink}
        threshold = self.threshold(fuse)
        binary = paddle.reciprocal(1 + paddle.exp(-self.k * (shrink - threshold)))
        return {"maps": paddle.concat([shrink, threshold, binary], axis=1)}


@model("crnn_ctc", lambda n, draw: [draw.image(n, 1, 32, 64)])
class CRNN(nn.Layer):
    """Convolutions, a bidirectional LSTM, greedy CTC decoding by a loop over steps."""

    def __init__(self, classes=12, hidden=24):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv2D(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2),
            nn.Conv2D(16, 24, 3, padding=1), nn.BatchNorm2D(24), nn.ReLU(), nn.MaxPool2D((2, 1), (2, 1)),
            nn.Conv2D(24, 24, (8, 3), padding=(0, 1)), nn.ReLU(),
        )  # fmt: skip
        self.rnn = nn.LSTM(24, hidden, direction="bidirect")
        self.fc = nn.Linear(2 * hidden, classes)

    def forward(self, x):
        f = self.cnn(x)
        f = f.squeeze(axis=2).transpose([0, 2, 1])
        y, _ = self.rnn(f)
        logits = self.fc(y)
        if self.training:
            return F.log_softmax(logits, axis=2)
        ids = logits.argmax(axis=-1)
        previous = paddle.zeros_like(ids[:, 0])
        length = paddle.zeros_like(previous)
        text = paddle.zeros_like(ids)
        for t in range(ids.shape[1]):
            current = ids[:, t]
            new = paddle.logical_and(current != 0, current != previous)
            slot = F.one_hot(length, ids.shape[1]).astype("int64") * new.astype("int64").unsqueeze(-1)
            text = text + slot * current.unsqueeze(-1)
            length = length + new.astype("int64")
            previous = current
        return F.softmax(logits, axis=2), text, length

"""Object detectors: heads, decoding, suppression."""

import math

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


def backbone(width=16):
    return nn.Sequential(
        nn.Conv2D(3, width, 3, 2, 1), nn.BatchNorm2D(width), nn.LeakyReLU(0.1),
        nn.Conv2D(width, width * 2, 3, 2, 1), nn.BatchNorm2D(width * 2), nn.LeakyReLU(0.1),
        nn.Conv2D(width * 2, width * 2, 3, 2, 1), nn.BatchNorm2D(width * 2), nn.LeakyReLU(0.1),
    )  # fmt: skip


def box_iou(box, boxes):
    lt = paddle.maximum(box[:2], boxes[:, :2])
    rb = paddle.minimum(box[2:], boxes[:, 2:])
    wh = (rb - lt).clip(min=0)
    inter = wh[:, 0] * wh[:, 1]
    area = (box[2] - box[0]) * (box[3] - box[1])
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return inter / (area + areas - inter + 1e-9)


def greedy_nms(boxes, scores, threshold, limit):
    """Indices of the kept boxes, -1 where fewer were found: a loop that ends when no score is left."""
    keep = paddle.full([limit], -1, dtype="int64")
    alive = scores.clone()
    count = paddle.zeros([], dtype="int64")
    while count < limit:
        best = alive.argmax()
        if alive[best] <= 0.05:
            break
        keep = paddle.where(paddle.arange(limit) == count, best, keep)
        overlaps = box_iou(boxes[best], boxes)
        alive = paddle.where(overlaps > threshold, paddle.zeros_like(alive), alive)
        count += 1
    return keep, count


@model("yolo", lambda n, draw: [draw.image(n, 3, 64, 64)])
class YOLO(nn.Layer):
    """Anchors decoded on a grid; greedy suppression of the first image by a loop with a break."""

    anchors = [(10.0, 13.0), (16.0, 30.0), (33.0, 23.0)]

    def __init__(self, classes=3, stride=8):
        super().__init__()
        self.classes, self.stride = classes, stride
        self.backbone = backbone()
        self.head = nn.Conv2D(32, len(self.anchors) * (5 + classes), 1)
        self.register_buffer("anchor_sizes", paddle.to_tensor(self.anchors))

    def decode(self, raw):
        b, _, h, w = raw.shape
        a = len(self.anchors)
        raw = raw.reshape([b, a, 5 + self.classes, h, w]).transpose([0, 1, 3, 4, 2])
        gy, gx = paddle.meshgrid(paddle.arange(h, dtype="float32"), paddle.arange(w, dtype="float32"))
        grid = paddle.stack([gx, gy], axis=-1)
        xy = (F.sigmoid(raw[..., 0:2]) * 2 - 0.5 + grid) * self.stride
        wh = (F.sigmoid(raw[..., 2:4]) * 2) ** 2 * self.anchor_sizes.reshape([1, a, 1, 1, 2])
        boxes = paddle.concat([xy - wh / 2, xy + wh / 2], axis=-1)
        scores = F.sigmoid(raw[..., 4:5]) * F.sigmoid(raw[..., 5:])
        return boxes.reshape([b, -1, 4]), scores.reshape([b, -1, self.classes])

    def forward(self, x):
        boxes, scores = self.decode(self.head(self.backbone(x)))
        if self.training:
            return {"boxes": boxes, "scores": scores}
        best = scores.max(axis=-1)
        keep, count = greedy_nms(boxes[0], best[0], threshold=0.3, limit=10)
        return {"boxes": boxes, "scores": scores, "keep": keep, "count": count}


@model("ssd", lambda n, draw: [draw.image(n, 3, 64, 64)])
class SSD(nn.Layer):
    """Heads on several maps, gathered in lists; boxes from priors."""

    def __init__(self, classes=4):
        super().__init__()
        self.classes = classes
        self.stages = nn.LayerList([backbone(), nn.Sequential(nn.Conv2D(32, 32, 3, 2, 1), nn.ReLU())])
        self.locations = nn.LayerList([nn.Conv2D(32, 4 * 2, 3, padding=1) for _ in range(2)])
        self.confidences = nn.LayerList([nn.Conv2D(32, classes * 2, 3, padding=1) for _ in range(2)])
        priors = []
        for size, scale in ((8, 0.2), (4, 0.4)):
            for i in range(size):
                for j in range(size):
                    for ratio in (1.0, 2.0):
                        r = math.sqrt(ratio)
                        priors.append([(j + 0.5) / size, (i + 0.5) / size, scale * r, scale / r])
        self.register_buffer("priors", paddle.to_tensor(priors, dtype="float32"))

    def forward(self, x):
        locations, confidences = [], []
        for stage, loc, conf in zip(self.stages, self.locations, self.confidences):
            x = stage(x)
            locations.append(loc(x).transpose([0, 2, 3, 1]).reshape([x.shape[0], -1, 4]))
            confidences.append(conf(x).transpose([0, 2, 3, 1]).reshape([x.shape[0], -1, self.classes]))
        loc = paddle.concat(locations, axis=1)
        scores = F.softmax(paddle.concat(confidences, axis=1), axis=-1)
        centers = loc[:, :, :2] * 0.1 * self.priors[:, 2:] + self.priors[:, :2]
        sizes = paddle.exp(loc[:, :, 2:] * 0.2) * self.priors[:, 2:]
        return paddle.concat([centers - sizes / 2, centers + sizes / 2], axis=-1), scores


@model("fcos", lambda n, draw: [draw.image(n, 3, 64, 64)])
class FCOS(nn.Layer):
    """Anchor-free: distances to four sides, centre-ness, a pyramid of two levels, top-k boxes."""

    def __init__(self, classes=3, top=8):
        super().__init__()
        self.top = top
        self.backbone = backbone()
        self.extra = nn.Conv2D(32, 32, 3, 2, 1)
        self.lateral = nn.Conv2D(32, 32, 1)
        self.tower = nn.Sequential(nn.Conv2D(32, 32, 3, padding=1), nn.GroupNorm(8, 32), nn.ReLU())
        self.cls = nn.Conv2D(32, classes, 3, padding=1)
        self.reg = nn.Conv2D(32, 4, 3, padding=1)
        self.center = nn.Conv2D(32, 1, 3, padding=1)
        self.scales = nn.ParameterList([paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(1.0)) for _ in range(2)])

    def points(self, h, w, stride):
        ys = (paddle.arange(h, dtype="float32") + 0.5) * stride
        xs = (paddle.arange(w, dtype="float32") + 0.5) * stride
        y, x = paddle.meshgrid(ys, xs)
        return paddle.stack([x.flatten(), y.flatten()], axis=1)

    def forward(self, x):
        c3 = self.backbone(x)
        c4 = self.extra(c3)
        p3 = self.lateral(c3) + F.interpolate(c4, scale_factor=2.0, mode="nearest")
        boxes, scores = [], []
        for level, (p, stride) in enumerate(zip([p3, c4], [8, 16])):
            t = self.tower(p)
            h, w = t.shape[-2:]
            distances = F.relu(self.reg(t) * self.scales[level]).flatten(2).transpose([0, 2, 1]) * stride
            points = self.points(h, w, stride)
            boxes.append(paddle.concat([points - distances[:, :, :2], points + distances[:, :, 2:]], axis=-1))
            s = paddle.sqrt(F.sigmoid(self.cls(t)) * F.sigmoid(self.center(t)))
            scores.append(s.flatten(2).transpose([0, 2, 1]))
        boxes, scores = paddle.concat(boxes, 1), paddle.concat(scores, 1)
        best, index = paddle.topk(scores.max(-1), k=self.top, axis=1)
        picked = paddle.take_along_axis(boxes, index.unsqueeze(-1).expand([-1, -1, 4]), axis=1)
        return dict(boxes=picked, scores=best)


@model("centernet", lambda n, draw: [draw.image(n, 3, 64, 64)])
class CenterNet(nn.Layer):
    """Peaks of a heat map by max pooling; the decoder keeps peaks until their score falls below a bound."""

    def __init__(self, classes=3, top=6):
        super().__init__()
        self.classes, self.top = classes, top
        self.backbone = backbone()
        self.up = nn.Conv2DTranspose(32, 32, 4, 2, 1)
        self.heat = nn.Conv2D(32, classes, 1)
        self.size = nn.Conv2D(32, 2, 1)

    def forward(self, x):
        f = F.relu(self.up(self.backbone(x)))
        heat, size = F.sigmoid(self.heat(f)), self.size(f)
        if self.training:
            return heat, size
        peaks = heat * (F.max_pool2d(heat, 3, 1, 1) == heat).astype("float32")
        b, c, h, w = peaks.shape
        scores, index = paddle.topk(peaks.reshape([b, -1]), self.top)
        cls, cell = index // (h * w), index % (h * w)
        ys, xs = (cell // w).astype("float32"), (cell % w).astype("float32")
        wh = size.flatten(2).transpose([0, 2, 1])
        wh = paddle.take_along_axis(wh, cell.unsqueeze(-1).tile([1, 1, 2]), 1)
        boxes = paddle.stack([xs, ys, xs + wh[..., 0], ys + wh[..., 1]], axis=-1)
        found = paddle.to_tensor(0)
        for k in range(self.top):
            if scores[:, k].max() < 0.5:
                break
            found = found + 1
        return boxes, scores, cls, found

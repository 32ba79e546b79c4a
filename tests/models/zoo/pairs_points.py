"""Pairs, sets and points."""

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


@model("siamese", lambda n, draw: [draw.image(n, 1, 20, 20), draw.image(n, 1, 20, 20)])
class Siamese(nn.Layer):
    """One encoder for two images; contrastive distance."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2D(1, 8, 5), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Linear(8 * 64, 16)
        )

    def forward(self, a, b):
        a, b = F.normalize(self.encoder(a)), F.normalize(self.encoder(b))
        return F.pairwise_distance(a, b), F.cosine_similarity(a, b, axis=1)


@model("clip", lambda n, draw: [draw.image(n, 3, 16, 16), draw.tokens(30, n, 6)])
class CLIP(nn.Layer):
    """Image and text towers, a learned temperature, symmetric cross entropy over the batch."""

    def __init__(self, dim=16):
        super().__init__()
        self.image = nn.Sequential(nn.Conv2D(3, 8, 4, 4), nn.GELU(), nn.Flatten(), nn.Linear(128, dim))
        self.text = nn.Embedding(30, dim)
        self.project = nn.Linear(dim, dim, bias_attr=False)
        self.scale = self.create_parameter([], default_initializer=nn.initializer.Constant(1.0))

    def forward(self, image, ids):
        i = F.normalize(self.image(image), axis=-1)
        t = F.normalize(self.project(self.text(ids).max(axis=1)), axis=-1)
        logits = self.scale.exp() * paddle.matmul(i, t.t())
        labels = paddle.arange(logits.shape[0])
        loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2
        return {"logits": logits, "loss": loss}


class TNet(nn.Layer):
    def __init__(self, k):
        super().__init__()
        self.k = k
        self.conv = nn.Conv1D(k, 16, 1)
        self.fc = nn.Linear(16, k * k)

    def forward(self, x):
        y = F.relu(self.conv(x)).max(axis=2)
        y = self.fc(y).reshape([-1, self.k, self.k])
        return y + paddle.eye(self.k)


@model("pointnet", lambda n, draw: [draw.image(n, 3, 20 + 2 * n)], dynamic=((0, 2),))
class PointNet(nn.Layer):
    """Learned transforms of the points, a maximum over them; batch and number of points are open."""

    def __init__(self, classes=5):
        super().__init__()
        self.transform = TNet(3)
        self.conv1, self.conv2 = nn.Conv1D(3, 16, 1), nn.Conv1D(16, 32, 1)
        self.norm1, self.norm2 = nn.BatchNorm1D(16), nn.BatchNorm1D(32)
        self.fc = nn.Linear(32, classes)

    def forward(self, points):
        t = self.transform(points)
        x = paddle.bmm(points.transpose([0, 2, 1]), t).transpose([0, 2, 1])
        x = F.relu(self.norm1(self.conv1(x)))
        x = self.norm2(self.conv2(x))
        x = paddle.max(x, axis=2)
        regular = paddle.norm(paddle.bmm(t, t.transpose([0, 2, 1])) - paddle.eye(3), p=2, axis=[1, 2]).mean()
        return F.log_softmax(self.fc(x), axis=1), regular


@model("dgcnn", lambda n, draw: [draw.image(n, 12, 3)])
class DGCNN(nn.Layer):
    """Edge convolution on the nearest neighbours found at each layer."""

    def __init__(self, k=4, classes=4):
        super().__init__()
        self.k = k
        self.edge1, self.edge2 = nn.Linear(6, 16), nn.Linear(32, 24)
        self.fc = nn.Linear(24, classes)

    def neighbours(self, x):
        distance = paddle.cdist(x, x)
        index = paddle.topk(distance, self.k, axis=-1, largest=False)[1]
        b, n, c = x.shape
        offset = (paddle.arange(b) * n).reshape([-1, 1, 1])
        near = paddle.index_select(x.reshape([-1, c]), (index + offset).flatten(), axis=0).reshape([b, n, self.k, c])
        center = x.unsqueeze(2).expand([-1, -1, self.k, -1])
        return paddle.concat([center, near - center], axis=-1)

    def forward(self, x):
        x = F.leaky_relu(self.edge1(self.neighbours(x)), 0.2).max(axis=2)
        x = F.leaky_relu(self.edge2(self.neighbours(x)), 0.2).max(axis=2)
        return self.fc(x.max(axis=1))


@model("farthest_points", lambda n, draw: [draw.image(n, 16, 3)])
class FarthestPoints(nn.Layer):
    """Farthest point sampling in a while loop, grouping by radius, a set abstraction."""

    def __init__(self, samples=5, classes=3):
        super().__init__()
        self.samples = samples
        self.mlp = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 16))
        self.fc = nn.Linear(16, classes)

    def forward(self, points):
        b, n, _ = points.shape
        distance = paddle.full([b, n], 1e10)
        farthest = paddle.zeros([b], dtype="int64")
        chosen = []
        for _ in range(self.samples):
            chosen.append(farthest)
            center = paddle.take_along_axis(points, farthest.reshape([-1, 1, 1]).expand([b, 1, 3]), axis=1)
            distance = paddle.minimum(distance, ((points - center) ** 2).sum(-1))
            farthest = distance.argmax(-1)
        index = paddle.stack(chosen, axis=1)
        centers = paddle.take_along_axis(points, index.unsqueeze(-1).expand([b, self.samples, 3]), axis=1)
        local = points.unsqueeze(1) - centers.unsqueeze(2)
        near = ((local**2).sum(-1) < 2.0).unsqueeze(-1)
        features = self.mlp(local)
        features = paddle.where(near, features, paddle.full_like(features, -1e4)).max(axis=2)
        return self.fc(features.mean(1)), index


@model("set_transformer", lambda n, draw: [draw.image(n, 7, 8), draw.randint(2, 8, [n]).astype("int64")])
class SetTransformer(nn.Layer):
    """Inducing points, pooling by attention, masked sets."""

    def __init__(self, dim=16, seeds=2):
        super().__init__()
        self.input = nn.Linear(8, dim)
        self.inducing = self.create_parameter([1, 4, dim])
        self.seeds = self.create_parameter([1, seeds, dim])
        self.a1, self.a2, self.a3 = (nn.MultiHeadAttention(dim, 4) for _ in range(3))
        self.fc = nn.Linear(dim * seeds, 3)

    def forward(self, x, count):
        b, n = x.shape[0], x.shape[1]
        x = self.input(x)
        mask = (paddle.arange(n) < count.unsqueeze(1)).unsqueeze([1, 2])
        i = self.inducing.expand([b, -1, -1])
        h = i + self.a1(i, x, x, mask)
        x = x + self.a2(x, h, h)
        s = self.seeds.expand([b, -1, -1])
        return self.fc((s + self.a3(s, x, x, attn_mask=mask)).flatten(1))


@model("sinkhorn_matching", lambda n, draw: [draw.image(n, 5, 8), draw.image(n, 5, 8)])
class Sinkhorn(nn.Layer):
    """Matching of two sets: rows and columns are normalised until they agree."""

    def __init__(self, dim=8):
        super().__init__()
        self.project = nn.Linear(dim, dim)

    def forward(self, a, b):
        scores = paddle.matmul(self.project(a), self.project(b), transpose_y=True) / 8**0.5
        p, error, k = scores, paddle.full([], 1.0), paddle.zeros([], "int32")
        while error > 1e-2:
            p = p - paddle.logsumexp(p, axis=2, keepdim=True)
            p = p - paddle.logsumexp(p, axis=1, keepdim=True)
            error = (p.exp().sum(2) - 1).abs().max()
            k += 1
            if k >= 25:
                break
        return p.exp(), p.argmax(-1)

"""Sound: front ends, encoders, decoders."""

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


class ConformerBlock(nn.Layer):
    def __init__(self, dim, heads, kernel=7):
        super().__init__()
        self.ff1 = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 4 * dim), nn.Silu(), nn.Linear(4 * dim, dim))
        self.ff2 = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 4 * dim), nn.Silu(), nn.Linear(4 * dim, dim))
        self.norm_a, self.norm_c, self.norm = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention = nn.MultiHeadAttention(dim, heads)
        self.point1 = nn.Conv1D(dim, 2 * dim, 1)
        self.depth = nn.Conv1D(dim, dim, kernel, padding=kernel // 2, groups=dim)
        self.batch_norm = nn.BatchNorm1D(dim)
        self.point2 = nn.Conv1D(dim, dim, 1)

    def forward(self, x, mask):
        x = x + 0.5 * self.ff1(x)
        y = self.norm_a(x)
        x = x + self.attention(y, y, y, attn_mask=mask)
        y = self.norm_c(x).transpose([0, 2, 1])
        y = F.glu(self.point1(y), axis=1)
        y = self.point2(F.swish(self.batch_norm(self.depth(y))))
        x = x + y.transpose([0, 2, 1])
        x = x + 0.5 * self.ff2(x)
        return self.norm(x)


def utterances(n, draw):
    frames = 24 + 4 * n
    lengths = draw.randint(8, frames, [n])
    lengths[0] = frames
    return [draw.image(n, frames, 16), lengths.astype("int64")]


@model("conformer", utterances, dynamic=((0, 1), (0,)))
class Conformer(nn.Layer):
    """Convolutional subsampling, masked attention, depthwise convolutions; batch and length are open."""

    def __init__(self, mels=16, dim=24, classes=10):
        super().__init__()
        self.sub = nn.Sequential(nn.Conv2D(1, 8, 3, 2), nn.ReLU(), nn.Conv2D(8, 8, 3, 2), nn.ReLU())
        self.project = nn.Linear(8 * 3, dim)
        self.blocks = nn.LayerList([ConformerBlock(dim, 4) for _ in range(2)])
        self.ctc = nn.Linear(dim, classes)

    def forward(self, features, lengths):
        x = self.sub(features.unsqueeze(1))
        b, c, t, f = x.shape
        x = self.project(x.transpose([0, 2, 1, 3]).reshape([b, t, c * f]))
        lengths = ((lengths - 1) // 2 - 1) // 2
        mask = (paddle.arange(t).unsqueeze(0) < lengths.unsqueeze(1)).unsqueeze([1, 2])
        for block in self.blocks:
            x = block(x, mask)
        return F.log_softmax(self.ctc(x), axis=-1), lengths


@model("wav2vec", lambda n, draw: [draw.image(n, 400)])
class Wav2Vec(nn.Layer):
    """A stack of strided 1-D convolutions, convolutional positions, Gumbel-free quantiser."""

    def __init__(self, dim=24, codes=12):
        super().__init__()
        self.convs = nn.LayerList()
        cin = 1
        for k, s in ((10, 5), (3, 2), (3, 2)):
            self.convs.append(nn.Conv1D(cin, dim, k, s, bias_attr=False))
            cin = dim
        self.norm0 = nn.GroupNorm(dim, dim)
        self.norm = nn.LayerNorm(dim)
        self.position = nn.utils.weight_norm(nn.Conv1D(dim, dim, 8, padding=4, groups=4), dim=0)
        self.layer = nn.TransformerEncoderLayer(dim, 4, 48, dropout=0.0)
        self.codes = self.create_parameter([codes, dim])

    def forward(self, wave):
        x = wave.unsqueeze(1)
        for i, conv in enumerate(self.convs):
            x = conv(x)
            if i == 0:
                x = self.norm0(x)
            x = F.gelu(x)
        y = self.norm(x.transpose([0, 2, 1]))
        x = y + F.gelu(self.position(y.transpose([0, 2, 1]))[:, :, :-1]).transpose([0, 2, 1])
        context = self.layer(x)
        logits = paddle.matmul(F.normalize(context, axis=-1), F.normalize(self.codes, axis=-1), transpose_y=True)
        return context, logits.argmax(-1)


@model("wavenet", lambda n, draw: [draw.image(n, 1, 40)])
class WaveNet(nn.Layer):
    """Dilated causal convolutions with gates; skips are summed from a list."""

    def __init__(self, channels=12, dilations=(1, 2, 4, 8), classes=16):
        super().__init__()
        self.input = nn.Conv1D(1, channels, 1)
        self.dilations = dilations
        self.filters = nn.LayerList([nn.Conv1D(channels, 2 * channels, 2, dilation=d) for d in dilations])
        self.residual = nn.LayerList([nn.Conv1D(channels, channels, 1) for _ in dilations])
        self.skip = nn.LayerList([nn.Conv1D(channels, channels, 1) for _ in dilations])
        self.out = nn.Sequential(nn.ReLU(), nn.Conv1D(channels, channels, 1), nn.ReLU(), nn.Conv1D(channels, classes, 1))

    def forward(self, x):
        x, skips = self.input(x), []
        for d, conv, residual, skip in zip(self.dilations, self.filters, self.residual, self.skip):
            a, b = conv(F.pad(x, [d, 0], data_format="NCL")).chunk(2, axis=1)
            y = paddle.tanh(a) * F.sigmoid(b)
            skips.append(skip(y))
            x = x + residual(y)
        return self.out(sum(skips))


@model("spectrogram_classifier", lambda n, draw: [draw.image(n, 512)])
class SpectrogramClassifier(nn.Layer):
    """Short-time Fourier transform by matrices of sines, mel bands, decibels, convolutions."""

    def __init__(self, n_fft=64, hop=32, mels=16, classes=5):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        bank = paddle.audio.functional.compute_fbank_matrix(sr=8000, n_fft=n_fft, n_mels=mels)
        self.register_buffer("bank", bank)
        self.register_buffer("window", paddle.audio.functional.get_window("hann", n_fft).astype("float32"))
        self.convs = nn.Sequential(nn.Conv1D(mels, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool1D(1))
        self.fc = nn.Linear(16, classes)

    def forward(self, wave):
        wave = F.pad(wave.unsqueeze(1), [self.n_fft // 2, self.n_fft // 2], mode="reflect", data_format="NCL").squeeze(1)
        frames = paddle.signal.frame(wave, self.n_fft, self.hop).transpose([0, 2, 1]) * self.window
        spectrum = paddle.fft.rfft(frames)
        power = spectrum.real() ** 2 + spectrum.imag() ** 2
        mel = paddle.matmul(self.bank, power.transpose([0, 2, 1]))
        log = 10.0 * paddle.log10(paddle.clip(mel, min=1e-10))
        return self.fc(self.convs(log / 20.0).flatten(1)), log


@model("tacotron", lambda n, draw: [draw.tokens(30, n, 7)], tolerance=2e-5, why="the output is fed back")
class Tacotron(nn.Layer):
    """A decoder that emits frames until its stop token: list of frames, location-sensitive attention."""

    def __init__(self, vocab=30, dim=16, mels=8, limit=8):
        super().__init__()
        self.mels, self.dim, self.limit = mels, dim, limit
        self.embedding = nn.Embedding(vocab, dim)
        self.encoder = nn.LSTM(dim, dim // 2, direction="bidirect")
        self.prenet = nn.Sequential(nn.Linear(mels, dim), nn.ReLU())
        self.cell = nn.LSTMCell(2 * dim, dim)
        self.query, self.memory = nn.Linear(dim, dim), nn.Linear(dim, dim, bias_attr=False)
        self.location = nn.Conv1D(1, dim, 3, padding=1)
        self.energy = nn.Linear(dim, 1)
        self.frame, self.stop = nn.Linear(2 * dim, mels), nn.Linear(2 * dim, 1)

    def forward(self, ids):
        memory, _ = self.encoder(self.embedding(ids))
        keys = self.memory(memory)
        b = ids.shape[0]
        frame = paddle.zeros([b, self.mels])
        state = (paddle.zeros([b, self.dim]), paddle.zeros([b, self.dim]))
        context = paddle.zeros([b, self.dim])
        total = paddle.zeros([b, ids.shape[1]])
        frames, stops = [], []
        step = paddle.zeros([], dtype="int64")
        while step < self.limit:
            h, state = self.cell(paddle.concat([self.prenet(frame), context], -1), state)
            location = self.location(total.unsqueeze(1)).transpose([0, 2, 1])
            e = self.energy(paddle.tanh(self.query(h).unsqueeze(1) + keys + location)).squeeze(-1)
            weights = F.softmax(e, axis=-1)
            total = total + weights
            context = (weights.unsqueeze(-1) * memory).sum(1)
            both = paddle.concat([h, context], axis=-1)
            frame, stop = self.frame(both), F.sigmoid(self.stop(both))
            frames.append(frame)
            stops.append(stop)
            step += 1
            if (stop > 0.62).all():
                break
        return {"mel": paddle.stack(frames, axis=1), "stop": paddle.concat(stops, axis=1), "frames": step}


@model("rnn_transducer", lambda n, draw: [draw.image(n, 6, 10)], trains=False, why="returns tokens")
class Transducer(nn.Layer):
    """Greedy search of the first utterance: an inner loop emits labels until blank; a nested while."""

    def __init__(self, size=10, hidden=16, vocab=8):
        super().__init__()
        self.encoder = nn.LSTM(size, hidden)
        self.embedding = nn.Embedding(vocab, hidden, weight_attr=nn.initializer.Normal())
        self.predictor = nn.GRUCell(hidden, hidden)
        self.joint = nn.Linear(hidden, vocab, weight_attr=nn.initializer.Normal())
        self.hidden, self.vocab = hidden, vocab

    def forward(self, x):
        encoded, _ = self.encoder(x)
        h = paddle.zeros([1, self.hidden])
        _, h = self.predictor(self.embedding(paddle.zeros([1], dtype="int64")), h)
        out = paddle.zeros([24], dtype="int64")
        n = paddle.zeros([1], dtype="int64")
        t = paddle.zeros([], dtype="int64")
        while t < encoded.shape[1]:
            emitted = paddle.zeros([], dtype="int64")
            while emitted < 3:
                logits = self.joint(paddle.tanh(encoded[0:1, t] + h))
                label = logits.argmax(-1)
                if label == 0:
                    break
                out = paddle.scatter(out, n, label)
                n = n + 1
                _, h = self.predictor(self.embedding(label), h)
                emitted += 1
            t += 1
        return out, n, encoded

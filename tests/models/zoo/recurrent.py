"""Recurrent networks, from the library's and written by hand."""

import paddle
import paddle.nn.functional as F
from paddle import nn

from .registry import model


def texts(n, draw):
    ids = draw.tokens(50, n, 9)
    lengths = draw.randint(3, 10, [n])
    lengths[0] = 9
    return [ids, lengths.astype("int64")]


@model("lstm_classifier", texts)
class LSTMClassifier(nn.Layer):
    """Two-layer LSTM over padded sentences, the state at each sentence's end."""

    def __init__(self, vocab=50, hidden=24, classes=3):
        super().__init__()
        self.embedding = nn.Embedding(vocab, 16)
        self.lstm = nn.LSTM(16, hidden, num_layers=2)
        self.fc = nn.Linear(hidden, classes)

    def forward(self, ids, lengths):
        _, (h, _) = self.lstm(self.embedding(ids), sequence_length=lengths)
        return self.fc(F.dropout(h[-1], 0.1, training=self.training))


@model("gru_classifier", lambda n, draw: [draw.tokens(50, n, 6 + n)], dynamic=((0, 1),))
class GRUClassifier(nn.Layer):
    """Bidirectional GRU, attention pooling; batch and length are open."""

    def __init__(self, vocab=50, hidden=16, classes=3):
        super().__init__()
        self.embedding = nn.Embedding(vocab, 16)
        self.gru = nn.GRU(16, hidden, direction="bidirectional")
        self.attention = nn.Linear(2 * hidden, 1)
        self.fc = nn.Linear(2 * hidden, classes)

    def forward(self, ids):
        outputs, _ = self.gru(self.embedding(ids))
        weights = F.softmax(self.attention(paddle.tanh(outputs)), axis=1)
        return self.fc((weights * outputs).sum(axis=1)), weights.squeeze(-1)


class ConvLSTMCell(nn.Layer):
    def __init__(self, cin, hidden, k=3):
        super().__init__()
        self.hidden = hidden
        self.conv = nn.Conv2D(cin + hidden, 4 * hidden, k, padding=k // 2)

    def forward(self, x, state):
        h, c = state
        i, f, o, g = paddle.split(self.conv(paddle.concat([x, h], axis=1)), 4, axis=1)
        c = F.sigmoid(f) * c + F.sigmoid(i) * paddle.tanh(g)
        h = F.sigmoid(o) * paddle.tanh(c)
        return h, c


@model("conv_lstm", lambda n, draw: [draw.image(n, 4, 1, 12, 12)])
class ConvLSTM(nn.Layer):
    """Frames one by one; predicts two more from its own output."""

    def __init__(self, hidden=8):
        super().__init__()
        self.cell = ConvLSTMCell(1, hidden)
        self.head = nn.Conv2D(hidden, 1, 1)

    def forward(self, frames):
        b, t, c, h, w = frames.shape
        state = (paddle.zeros([b, self.cell.hidden, h, w]), paddle.zeros([b, self.cell.hidden, h, w]))
        for i in range(t):
            state = self.cell(frames[:, i], state)
        outs = []
        frame = self.head(state[0])
        for _ in range(2):
            outs.append(frame)
            state = self.cell(frame, state)
            frame = self.head(state[0])
        return paddle.stack(outs, axis=1)


@model("sru", lambda n, draw: [draw.image(n, 5 + n, 12)], dynamic=((0, 1),))
class SRU(nn.Layer):
    """A simple recurrent unit in a loop over an open length; the states are appended to a list."""

    def __init__(self, size=12, hidden=16):
        super().__init__()
        self.w = nn.Linear(size, 3 * hidden)
        self.skip = nn.Linear(size, hidden, bias_attr=False)
        self.hidden = hidden

    def forward(self, x):
        z, f, r = paddle.chunk(self.w(x), 3, axis=-1)
        f, r = F.sigmoid(f), F.sigmoid(r)
        s = self.skip(x)
        c = paddle.zeros([x.shape[0], self.hidden])
        outs = []
        for t in range(x.shape[1]):
            c = f[:, t] * c + (1 - f[:, t]) * z[:, t]
            outs.append(r[:, t] * paddle.tanh(c) + (1 - r[:, t]) * s[:, t])
        return paddle.stack(outs, axis=1), c


@model("skip_rnn", lambda n, draw: [draw.image(n, 7, 10)])
class SkipRNN(nn.Layer):
    """A GRU cell that the batch updates only where a gate asks for it: `continue` on a tensor."""

    def __init__(self, size=10, hidden=12):
        super().__init__()
        self.cell = nn.GRUCell(size, hidden)
        self.gate = nn.Linear(hidden, 1)
        self.out = nn.Linear(hidden, 2)
        self.hidden = hidden

    def forward(self, x):
        h = paddle.zeros([x.shape[0], self.hidden])
        budget = paddle.full([1], 0.6)
        used = paddle.zeros([1])
        for t in range(x.shape[1]):
            if budget < 0.5:
                budget = budget + 0.3
                continue
            _, h = self.cell(x[:, t], h)
            used += 1
            budget = budget - F.sigmoid(self.gate(h)).mean()
        return self.out(h), used


def tagged(n, draw):
    lengths = draw.randint(4, 8, [n])
    lengths[0] = 7
    return [draw.tokens(40, n, 7), lengths.astype("int64")]


@model("bilstm_crf", tagged, trains=False, why="decodes; crf_loss is the trained twin")
class CRFTagger(nn.Layer):
    """Bidirectional LSTM and Viterbi: scores forward, pointers in a list, read backwards."""

    def __init__(self, vocab=40, hidden=12, tags=5):
        super().__init__()
        self.tags = tags
        self.embedding = nn.Embedding(vocab, 12)
        self.lstm = nn.LSTM(12, hidden, direction="bidirect")
        self.fc = nn.Linear(2 * hidden, tags)
        self.transitions = self.create_parameter([tags, tags], default_initializer=nn.initializer.Normal())

    def emissions(self, ids):
        return self.fc(self.lstm(self.embedding(ids))[0])

    def forward(self, ids, lengths):
        emissions = self.emissions(ids)
        score, pointers = emissions[:, 0], []
        for t in range(1, ids.shape[1]):
            total = score.unsqueeze(2) + self.transitions
            best = total.max(axis=1) + emissions[:, t]
            pointer = total.argmax(axis=1)
            inside = (t < lengths).unsqueeze(1)
            score = paddle.where(inside, best, score)
            stay = paddle.arange(self.tags).unsqueeze(0).expand_as(pointer)
            pointers.append(paddle.where(inside, pointer, stay))
        tag = score.argmax(-1)
        path = [tag]
        for pointer in reversed(pointers):
            tag = paddle.index_sample(pointer, tag.unsqueeze(1)).squeeze(1)
            path.append(tag)
        path.reverse()
        return paddle.stack(path, axis=1), score.max(-1)


@model("crf_loss", lambda n, draw: [*tagged(n, draw), draw.randint(0, 5, [n, 7]).astype("int64")])
class CRFLoss(CRFTagger):
    """Log-likelihood of a path: the forward algorithm by logsumexp in a while loop over steps."""

    def forward(self, ids, lengths, tags):
        emissions = self.emissions(ids)
        mask = (paddle.arange(ids.shape[1]) < lengths.unsqueeze(1)).astype("float32")
        gold = paddle.take_along_axis(emissions, tags.unsqueeze(-1), 2).squeeze(-1)
        moves = self.transitions.reshape([-1])[tags[:, :-1] * self.tags + tags[:, 1:]]
        gold = (gold * mask).sum(1) + (moves * mask[:, 1:]).sum(1)
        alpha = emissions[:, 0]
        t = paddle.ones([], dtype="int64")
        longest = lengths.max()
        while t < longest:
            step = paddle.logsumexp(alpha.unsqueeze(2) + self.transitions, axis=1) + emissions[:, t]
            alpha = paddle.where((t < lengths).unsqueeze(1), step, alpha)
            t += 1
        return paddle.logsumexp(alpha, axis=1) - gold


class AdditiveAttention(nn.Layer):
    def __init__(self, hidden):
        super().__init__()
        self.query, self.key = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.score = nn.Linear(hidden, 1)

    def forward(self, query, memory):
        e = self.score(paddle.tanh(self.query(query).unsqueeze(1) + self.key(memory))).squeeze(-1)
        w = F.softmax(e, -1)
        return paddle.bmm(w.unsqueeze(1), memory).squeeze(1), w


@model("seq2seq_attention", lambda n, draw: [draw.tokens(30, n, 8)], trains=False, why="returns tokens")
class Seq2Seq(nn.Layer):
    """GRU encoder; the decoder attends and goes on until all have ended; attention maps in a list."""

    def __init__(self, vocab=30, hidden=16, limit=9):
        super().__init__()
        self.limit = limit
        self.embedding = nn.Embedding(vocab, 12, weight_attr=nn.initializer.Normal(std=1.0))
        self.encoder = nn.GRU(12, hidden)
        self.attention = AdditiveAttention(hidden)
        self.cell = nn.GRUCell(12 + hidden, hidden)
        self.out = nn.Linear(2 * hidden, vocab)

    def forward(self, ids):
        memory, h = self.encoder(self.embedding(ids))
        h = h[0]
        token = paddle.ones([ids.shape[0]], dtype="int64")
        finished = paddle.zeros_like(token).astype("bool")
        tokens, maps = [], []
        i = paddle.zeros([], dtype="int32")
        while i < self.limit:
            context, w = self.attention(h, memory)
            y, h = self.cell(paddle.concat([self.embedding(token), context], -1), h)
            token = self.out(paddle.concat([y, context], -1)).argmax(-1)
            token = token * (1 - finished.astype("int64"))
            finished = paddle.logical_or(finished, token == 2)
            tokens.append(token)
            maps.append(w)
            i += 1
            if finished.all():
                break
        return {"tokens": paddle.stack(tokens, 1), "attention": paddle.stack(maps, 1), "steps": i}

"""Transformers. Source: Vaswani et al., 2017, Attention is all you need (https://arxiv.org/abs/1706.03762)."""

from __future__ import annotations

import copy
from collections import namedtuple

import paddle

from .. import functional as F
from .._param_attr import ParamAttr
from ..functional.sdpa import fused
from .common import Dropout, Linear
from .container import LayerList
from .layers import Layer
from .norm import LayerNorm

__all__ = []


def _convert_param_attr_to_list(param_attr, n):
    """One attribute for each of n parts, from one for all or from n; a common name gets ``_0``, ``_1``, ..."""
    if isinstance(param_attr, (list, tuple)):
        assert len(param_attr) == n, f"length of param_attr should be {n} when it is a list/tuple"
        return [ParamAttr._to_attr(attr) for attr in param_attr]
    if isinstance(param_attr, bool):
        return [ParamAttr._to_attr(None) if param_attr else False for _ in range(n)]
    attrs = [copy.copy(ParamAttr._to_attr(param_attr)) for _ in range(n)]
    for i, attr in enumerate(attrs):
        if attr.name:
            attr.name = f"{attr.name}_{i}"
    return attrs


def _convert_attention_mask(attn_mask, dtype):
    """A bool or integer mask as what is added to scores: 0 where it lets through, -1e9 elsewhere."""
    if attn_mask is None or attn_mask.dtype == dtype:
        return attn_mask
    kind = str(attn_mask.dtype).rsplit(".", 1)[-1]
    if kind == "bool" or "int" in kind:
        return (attn_mask.astype(dtype) - 1.0) * 1e9
    return attn_mask.astype(dtype)


class MultiHeadAttention(Layer):
    """Attention of several heads, with projections around it.

    Args:
        embed_dim, num_heads (int): the second divides the first.
        dropout (float): of the attention weights.
        kdim, vdim (int, optional): sizes of keys and values; `embed_dim` when None.
        need_weights (bool): also return the weights [B, H, S_q, S_k].
        weight_attr, bias_attr (ParamAttr | bool, optional): of the four projections.

    `forward(query, key=None, value=None, attn_mask=None, cache=None)` takes [B, S, E] tensors; the mask is bool (True
    attends), integer, or added, and broadcasts to [B, H, S_q, S_k]. It returns the output, and in a tuple with it the
    weights and the new cache where there are such.
    """

    Cache = namedtuple("Cache", ["k", "v"])
    StaticCache = namedtuple("StaticCache", ["k", "v"])

    def __init__(
        self, embed_dim, num_heads, dropout=0.0, kdim=None, vdim=None, need_weights=False, weight_attr=None,
        bias_attr=None,
    ):  # fmt: skip
        super().__init__()
        assert embed_dim > 0, f"Expected embed_dim to be greater than 0, but received {embed_dim}"
        assert num_heads > 0, f"Expected num_heads to be greater than 0, but received {num_heads}"
        self.embed_dim = embed_dim
        self.kdim = kdim if kdim is not None else embed_dim
        self.vdim = vdim if vdim is not None else embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.need_weights = need_weights
        self.head_dim = embed_dim // num_heads
        assert self.head_dim * num_heads == embed_dim, "embed_dim must be divisible by num_heads"
        self.q_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr=bias_attr)
        self.k_proj = Linear(self.kdim, embed_dim, weight_attr, bias_attr=bias_attr)
        self.v_proj = Linear(self.vdim, embed_dim, weight_attr, bias_attr=bias_attr)
        self.out_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr=bias_attr)

    def _heads(self, x):
        """[B, S, E] to [B, H, S, D]."""
        return paddle.transpose(x.reshape([x.shape[0], -1, self.num_heads, self.head_dim]), [0, 2, 1, 3])

    def compute_kv(self, key, value):
        """Projected keys and values, [B, H, S, D] each."""
        return self._heads(self.k_proj(key)), self._heads(self.v_proj(value))

    def _prepare_qkv(self, query, key, value, cache=None):
        q = self._heads(self.q_proj(query))
        if isinstance(cache, self.StaticCache):
            k, v = cache.k, cache.v
        else:
            k, v = self.compute_kv(key, value)
        if isinstance(cache, self.Cache):
            k = paddle.concat([cache.k, k], axis=2)
            v = paddle.concat([cache.v, v], axis=2)
            cache = self.Cache(k, v)
        return (q, k, v) if cache is None else (q, k, v, cache)

    def gen_cache(self, key, value=None, type=Cache):
        """A cache: StaticCache holds projections of `key` and `value`; Cache starts from them, or empty without
        `value`."""
        if type is MultiHeadAttention.StaticCache:
            return self.StaticCache(*self.compute_kv(key, key if value is None else value))
        if value is not None:
            return self.Cache(key, value)
        empty = [paddle.zeros([key.shape[0], self.num_heads, 0, self.head_dim], key.dtype) for _ in range(2)]
        return self.Cache(*empty)

    def _attend(self, q, k, v, mask):
        """The output [B, S_q, H, D], and the weights where they are there anyway. All of q, k, v with heads first."""
        mask = _convert_attention_mask(mask, q.dtype)
        dropout = self.dropout if self.training else 0
        if paddle.in_dynamic_mode() and not self.need_weights and not dropout:
            q, k, v = (paddle.transpose(t, [0, 2, 1, 3]) for t in (q, k, v))
            return fused(q, k, v, mask, scale=self.head_dim**-0.5), None
        scores = paddle.matmul(q * (self.head_dim**-0.5), k, transpose_y=True)
        weights = F.softmax(scores if mask is None else scores + mask)
        if self.dropout:
            weights = F.dropout(weights, self.dropout, training=self.training, mode="upscale_in_train")
        return paddle.transpose(paddle.matmul(weights, v), [0, 2, 1, 3]), weights

    def forward(self, query, key=None, value=None, attn_mask=None, cache=None):
        key = query if key is None else key
        value = query if value is None else value
        if cache is None:
            q, k, v = self._prepare_qkv(query, key, value, cache)
        else:
            q, k, v, cache = self._prepare_qkv(query, key, value, cache)
        out, weights = self._attend(q, k, v, attn_mask)
        out = self.out_proj(out.reshape([out.shape[0], -1, self.embed_dim]))
        results = [out]
        if self.need_weights:
            results.append(weights)
        if cache is not None:
            results.append(cache)
        return out if len(results) == 1 else tuple(results)


def _positive(**sizes):
    for name, value in sizes.items():
        assert value > 0, f"Expected {name} to be greater than 0, but received {value}"


class TransformerEncoderLayer(Layer):
    """Self-attention and a feed-forward network, each with dropout, residual and layer norm.

    Args:
        d_model, nhead, dim_feedforward (int): sizes.
        dropout (float): after each part. attn_dropout, act_dropout (float, optional): of the attention weights and
            after
            the activation; `dropout` when None.
        activation (str): a function of `paddle.nn.functional`.
        normalize_before (bool): norm before each part rather than after its residual.
        weight_attr, bias_attr (ParamAttr, bool or two of them, optional): of attention, and of the feed-forward
            network.
        layer_norm_eps (float): epsilon of the norms.

    `forward(src, src_mask=None, cache=None)` takes and gives [B, S, d_model]; with a cache also the new cache.
    """

    def __init__(
        self, d_model, nhead, dim_feedforward, dropout=0.1, activation="relu", attn_dropout=None, act_dropout=None,
        normalize_before=False, weight_attr=None, bias_attr=None, layer_norm_eps=1e-5,
    ):  # fmt: skip
        self._config = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        super().__init__()
        _positive(d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward)
        attn_dropout = dropout if attn_dropout is None else attn_dropout
        act_dropout = dropout if act_dropout is None else act_dropout
        self.normalize_before = normalize_before
        weights = _convert_param_attr_to_list(weight_attr, 2)
        biases = _convert_param_attr_to_list(bias_attr, 2)
        self.self_attn = MultiHeadAttention(
            d_model, nhead, dropout=attn_dropout, weight_attr=weights[0], bias_attr=biases[0]
        )
        self.linear1 = Linear(d_model, dim_feedforward, weights[1], bias_attr=biases[1])
        self.dropout = Dropout(act_dropout, mode="upscale_in_train")
        self.linear2 = Linear(dim_feedforward, d_model, weights[1], bias_attr=biases[1])
        self.norm1 = LayerNorm(d_model, epsilon=layer_norm_eps)
        self.norm2 = LayerNorm(d_model, epsilon=layer_norm_eps)
        self.dropout1 = Dropout(dropout, mode="upscale_in_train")
        self.dropout2 = Dropout(dropout, mode="upscale_in_train")
        self.activation = getattr(F, activation)

    def forward(self, src, src_mask=None, cache=None):
        residual = src
        x = self.norm1(src) if self.normalize_before else src
        if cache is None:
            x = self.self_attn(x, x, x, src_mask)
        else:
            x, cache = self.self_attn(x, x, x, src_mask, cache)
        x = residual + self.dropout1(x)
        if not self.normalize_before:
            x = self.norm1(x)
        residual = x
        if self.normalize_before:
            x = self.norm2(x)
        x = residual + self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))
        if not self.normalize_before:
            x = self.norm2(x)
        return x if cache is None else (x, cache)

    def gen_cache(self, src):
        """An empty cache for the self-attention of sequences like `src`."""
        return self.self_attn.gen_cache(src, type=self.self_attn.Cache)


class TransformerEncoder(Layer):
    """A stack of `num_layers` encoder layers made like `encoder_layer` (which is the first), and an optional `norm`."""

    def __init__(self, encoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = LayerList(_stack(encoder_layer, num_layers))
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, src, src_mask=None, cache=None):
        src_mask = _convert_attention_mask(src_mask, src.dtype)
        out, caches = src, []
        for i, layer in enumerate(self.layers):
            if cache is None:
                out = layer(out, src_mask=src_mask)
            else:
                out, new = layer(out, src_mask=src_mask, cache=cache[i])
                caches.append(new)
        if self.norm is not None:
            out = self.norm(out)
        return out if cache is None else (out, caches)

    def gen_cache(self, src):
        """One empty cache for every layer."""
        return [layer.gen_cache(src) for layer in self.layers]


def _stack(layer, count):
    return [layer if i == 0 else type(layer)(**layer._config) for i in range(count)]


class TransformerDecoderLayer(Layer):
    """Self-attention, attention over `memory`, and a feed-forward network; arguments as the encoder layer, with three
    attributes in a list of `weight_attr` or `bias_attr`.

    `forward(tgt, memory, tgt_mask=None, memory_mask=None, cache=None)`; the cache is (Cache, StaticCache).
    """

    def __init__(
        self, d_model, nhead, dim_feedforward, dropout=0.1, activation="relu", attn_dropout=None, act_dropout=None,
        normalize_before=False, weight_attr=None, bias_attr=None, layer_norm_eps=1e-5,
    ):  # fmt: skip
        self._config = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        super().__init__()
        _positive(d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward)
        attn_dropout = dropout if attn_dropout is None else attn_dropout
        act_dropout = dropout if act_dropout is None else act_dropout
        self.normalize_before = normalize_before
        weights = _convert_param_attr_to_list(weight_attr, 3)
        biases = _convert_param_attr_to_list(bias_attr, 3)
        self.self_attn = MultiHeadAttention(
            d_model, nhead, dropout=attn_dropout, weight_attr=weights[0], bias_attr=biases[0]
        )
        self.cross_attn = MultiHeadAttention(
            d_model, nhead, dropout=attn_dropout, weight_attr=weights[1], bias_attr=biases[1]
        )
        self.linear1 = Linear(d_model, dim_feedforward, weights[2], bias_attr=biases[2])
        self.dropout = Dropout(act_dropout, mode="upscale_in_train")
        self.linear2 = Linear(dim_feedforward, d_model, weights[2], bias_attr=biases[2])
        self.norm1 = LayerNorm(d_model, epsilon=layer_norm_eps)
        self.norm2 = LayerNorm(d_model, epsilon=layer_norm_eps)
        self.norm3 = LayerNorm(d_model, epsilon=layer_norm_eps)
        self.dropout1 = Dropout(dropout, mode="upscale_in_train")
        self.dropout2 = Dropout(dropout, mode="upscale_in_train")
        self.dropout3 = Dropout(dropout, mode="upscale_in_train")
        self.activation = getattr(F, activation)

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, cache=None):
        before = self.normalize_before
        residual = tgt
        x = self.norm1(tgt) if before else tgt
        if cache is None:
            x = self.self_attn(x, x, x, tgt_mask, None)
        else:
            x, growing = self.self_attn(x, x, x, tgt_mask, cache[0])
        x = residual + self.dropout1(x)
        x = x if before else self.norm1(x)
        residual = x
        x = self.norm2(x) if before else x
        if cache is None:
            x = self.cross_attn(x, memory, memory, memory_mask, None)
        else:
            x, fixed = self.cross_attn(x, memory, memory, memory_mask, cache[1])
        x = residual + self.dropout2(x)
        x = x if before else self.norm2(x)
        residual = x
        x = self.norm3(x) if before else x
        x = residual + self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))
        x = x if before else self.norm3(x)
        return x if cache is None else (x, (growing, fixed))

    def gen_cache(self, memory):
        """(empty Cache, StaticCache of the projected `memory`)."""
        growing = self.self_attn.gen_cache(memory, type=self.self_attn.Cache)
        return growing, self.cross_attn.gen_cache(memory, memory, type=self.cross_attn.StaticCache)


class TransformerDecoder(Layer):
    """A stack of `num_layers` decoder layers made like `decoder_layer` (which is the first), and an optional `norm`."""

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = LayerList(_stack(decoder_layer, num_layers))
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, cache=None):
        tgt_mask = _convert_attention_mask(tgt_mask, tgt.dtype)
        memory_mask = _convert_attention_mask(memory_mask, memory.dtype)
        out, caches = tgt, []
        for i, layer in enumerate(self.layers):
            if cache is None:
                out = layer(out, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, cache=None)
            else:
                out, new = layer(out, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, cache=cache[i])
                caches.append(new)
        if self.norm is not None:
            out = self.norm(out)
        return out if cache is None else (out, caches)

    def gen_cache(self, memory, do_zip=False):
        """One cache for every layer; with `do_zip` the growing ones together, then the fixed ones."""
        caches = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*caches)) if do_zip else caches


class Transformer(Layer):
    """Encoder and decoder; arguments as their layers, or whole `custom_encoder` and `custom_decoder` layers.

    `forward(src, tgt, src_mask=None, tgt_mask=None, memory_mask=None)` takes [B, S, d_model] tensors.
    """

    def __init__(
        self, d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048, dropout=0.1,
        activation="relu", attn_dropout=None, act_dropout=None, normalize_before=False, weight_attr=None,
        bias_attr=None, custom_encoder=None, custom_decoder=None,
    ):  # fmt: skip
        super().__init__()
        _positive(d_model=d_model, nhead=nhead, dim_feedforward=dim_feedforward)
        common = (d_model, nhead, dim_feedforward, dropout, activation, attn_dropout, act_dropout, normalize_before)
        encoder_weights, decoder_weights = _for_both(weight_attr)
        encoder_biases, decoder_biases = _for_both(bias_attr)
        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            layer = TransformerEncoderLayer(*common, encoder_weights, encoder_biases)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, LayerNorm(d_model))
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            layer = TransformerDecoderLayer(*common, decoder_weights, decoder_biases)
            self.decoder = TransformerDecoder(layer, num_decoder_layers, LayerNorm(d_model))
        self.d_model = d_model
        self.nhead = nhead

    def forward(self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None):
        memory = self.encoder(src, src_mask=_convert_attention_mask(src_mask, src.dtype))
        return self.decoder(
            tgt, memory, tgt_mask=_convert_attention_mask(tgt_mask, tgt.dtype),
            memory_mask=_convert_attention_mask(memory_mask, memory.dtype),
        )  # fmt: skip

    def generate_square_subsequent_mask(self, length):
        """[length, length]: 0 on and below the diagonal, -inf above it."""
        return paddle.triu(paddle.full([length, length], float("-inf"), paddle.get_default_dtype()), 1)


def _for_both(attr):
    """(for the encoder, for the decoder), from one attribute, or a list of 1, 2 or 3 of them."""
    if not isinstance(attr, (list, tuple)):
        return attr, attr
    if len(attr) == 1:
        return attr[0], attr[0]
    if len(attr) == 2:
        return attr[0], attr[1]
    if len(attr) == 3:
        return [attr[0], attr[2]], attr
    raise AssertionError("length of weight_attr or bias_attr should be 1 or 2 or 3 when it is a list/tuple")

"""Tensors from stage to stage. A message says itself what it holds, so sizes may differ from one to the next."""

from __future__ import annotations

import pickle

import numpy as np

import paddle

from ...communication.ops import recv, send


def _text(dtype) -> str:
    return str(dtype).rsplit(".", 1)[-1]


class Channel:
    """Sends to and receives from the other ranks of a group. Sends don't wait; :meth:`finish` does."""

    def __init__(self, group) -> None:
        self._group, self._tasks = group, []

    def _send(self, tensor, peer) -> None:
        self._tasks.append((send(tensor, peer, self._group, sync_op=False), tensor))

    def send(self, value, peer) -> None:
        """A tensor, or a tuple of tensors (others are left out)."""
        several = isinstance(value, (tuple, list))
        tensors = [t for t in (value if several else [value]) if isinstance(t, paddle.Tensor)]
        facts = (several, [(list(t.shape), _text(t.dtype), t.stop_gradient) for t in tensors])
        self._send_bytes(pickle.dumps(facts), peer)
        for t in tensors:
            self._send(t.detach().clone(), peer)

    def _send_bytes(self, data, peer) -> None:
        self._send(paddle.to_tensor([len(data)], dtype="int64"), peer)
        self._send(paddle.to_tensor(np.frombuffer(data, dtype=np.uint8).copy()), peer)

    def recv(self, peer):
        """What the other rank sent; gradients may flow into it where they could there."""
        size = paddle.zeros([1], dtype="int64")
        recv(size, peer, self._group)
        data = paddle.zeros([int(size)], dtype="uint8")
        recv(data, peer, self._group)
        several, facts = pickle.loads(data.numpy().tobytes())
        tensors = []
        for shape, dtype, stop in facts:
            t = paddle.empty(shape, dtype=dtype)
            recv(t, peer, self._group)
            t.stop_gradient = stop
            tensors.append(t)
        return tuple(tensors) if several else tensors[0]

    def finish(self) -> None:
        """Waits until all that was sent is on its way."""
        tasks, self._tasks = self._tasks, []
        for task, _ in tasks:
            task.wait()

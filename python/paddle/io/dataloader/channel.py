"""Messages between the loader and a worker: pickles over a socket, large arrays through anonymous shared memory.

Each worker has a socket pair of its own, so a worker that is killed can't leave a lock held or a queue torn for the
others; the end of its stream is its death. Arrays go into a memory file that has no name (memfd): its descriptor
travels with the message, /dev/shm and its size play no part, and nothing stays behind after a crash.
"""

from __future__ import annotations

import mmap
import os
import pickle
import socket
import struct

import numpy as np

from ...base import core

_HEADER = struct.Struct("<QQI")  # bytes of the pickle, bytes of the buffers, their number
_ALIGN = 64
# Below this a memory file costs more (create, map, fault) than copying through the socket.
_SHARE_FROM = 1 << 16


class _TensorForm:
    """A tensor on its way: an array that becomes a tensor again at the other end."""

    __slots__ = ("array",)

    def __init__(self, array):
        self.array = array


def to_portable(batch):
    """A batch with arrays in place of tensors, as processes exchange it."""
    if isinstance(batch, core.Tensor):
        from ...framework.io_utils import tensor_to_numpy

        return _TensorForm(tensor_to_numpy(batch))
    if isinstance(batch, dict):
        return {k: to_portable(v) for k, v in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [to_portable(v) for v in batch]
    return batch


def from_portable(batch):
    """A batch with its arrays as tensors; tensors get back what they were."""
    if isinstance(batch, _TensorForm):
        from ...framework.io_utils import numpy_to_tensor

        return numpy_to_tensor(batch.array)
    if isinstance(batch, np.ndarray):
        return core.to_tensor(batch) if batch.dtype.kind in "biufc" else batch
    if isinstance(batch, dict):
        return {k: from_portable(v) for k, v in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [from_portable(v) for v in batch]
    return batch


def _offsets(sizes):
    at, out = 0, []
    for size in sizes:
        out.append(at)
        at += -(-size // _ALIGN) * _ALIGN
    return out, at


class Channel:
    """One end of a socket pair."""

    def __init__(self, sock, share=True):
        self.sock = sock
        self.share = share and hasattr(os, "memfd_create")

    @staticmethod
    def pair(share=True):
        """Two connected ends."""
        a, b = socket.socketpair()
        for end in (a, b):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)
        return Channel(a, share), Channel(b, share)

    def fileno(self) -> int:
        return self.sock.fileno()

    def close(self) -> None:
        self.sock.close()

    def send(self, message) -> None:
        """Sends any picklable object.

        Raises:
            OSError: the other end is gone.
        """
        buffers: list = []
        body = pickle.dumps(message, 5, buffer_callback=lambda b: buffers.append(b.raw()))
        sizes = [b.nbytes for b in buffers]
        offsets, total = _offsets(sizes)
        header = _HEADER.pack(len(body), total, len(sizes)) + struct.pack(f"<{len(sizes)}Q", *sizes)
        if self.share and total >= _SHARE_FROM:
            fd = os.memfd_create("paddle.io", os.MFD_CLOEXEC)
            try:
                os.ftruncate(fd, total)
                with mmap.mmap(fd, total) as memory:
                    for offset, buffer in zip(offsets, buffers):
                        memory[offset : offset + buffer.nbytes] = buffer.cast("B")
                socket.send_fds(self.sock, [b"S"], [fd])
            finally:
                os.close(fd)
            self.sock.sendall(header + body)
        else:
            self.sock.sendall(b"I" + header + body)
            for offset, size, buffer in zip(offsets, sizes, buffers):
                self.sock.sendall(buffer.cast("B"))
                self.sock.sendall(b"\0" * (-size % _ALIGN))

    def receive(self):
        """The next message.

        Raises:
            EOFError: the other end is gone.
        """
        kind, fds, _, _ = socket.recv_fds(self.sock, 1, 1)
        if not kind:
            raise EOFError("the other end of a DataLoader channel is gone")
        size, total, count = _HEADER.unpack(self._exactly(_HEADER.size))
        sizes = struct.unpack(f"<{count}Q", self._exactly(8 * count))
        body = self._exactly(size)
        if fds:
            try:
                memory = mmap.mmap(fds[0], total)
            finally:
                os.close(fds[0])
        else:
            memory = self._exactly(total)
        view = memoryview(memory)
        offsets, _ = _offsets(sizes)
        return pickle.loads(body, buffers=[view[at : at + n] for at, n in zip(offsets, sizes)])

    def _exactly(self, size):
        data = bytearray(size)
        view, at = memoryview(data), 0
        while at < size:
            n = self.sock.recv_into(view[at:])
            if n == 0:
                raise EOFError("the other end of a DataLoader channel is gone")
            at += n
        return data

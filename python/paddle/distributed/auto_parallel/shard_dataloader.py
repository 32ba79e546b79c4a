"""Batches as distributed tensors."""

from __future__ import annotations

import paddle

from .api import shard_tensor
from .placement_type import Replicate, Shard


class ShardDataloader:
    """Goes through a loader that has the same whole batches on every rank; each tensor becomes a distributed one.

    With ``is_dataset_splitted`` a rank's loader has that rank's part of each batch.
    """

    def __init__(self, dataloader, meshes, input_keys=None, shard_dims=None, is_dataset_splitted=False, dense_tensor_idx=None):  # fmt: skip
        self._dataloader = dataloader
        self._meshes = list(meshes) if isinstance(meshes, (list, tuple)) else [meshes]
        self._dims = list(shard_dims) if isinstance(shard_dims, (list, tuple)) else [shard_dims] * len(self._meshes)
        if len(self._dims) != len(self._meshes):
            raise ValueError(
                f"[shard_dataloader] expected a shard_dim for each of {len(self._meshes)} meshes, got {len(self._dims)}"
            )
        self._keys, self._splitted, self._dense = input_keys, is_dataset_splitted, dense_tensor_idx

    batch_size = property(lambda self: getattr(self._dataloader, "batch_size", None), doc="of the loader inside")
    dataset = property(lambda self: self._dataloader.dataset, doc="of the loader inside")

    def __len__(self) -> int:
        return len(self._dataloader)

    def _shard(self, tensor, i):
        mesh, dim = self._meshes[min(i, len(self._meshes) - 1)], self._dims[min(i, len(self._dims) - 1)]
        placements: list = [Replicate() for _ in range(mesh.ndim)]
        if dim is not None:
            placements[mesh.dim_names.index(dim) if isinstance(dim, str) else dim] = Shard(0)
        if self._splitted and dim is not None:
            from .api import dtensor_from_local

            return dtensor_from_local(tensor, mesh, placements)
        return shard_tensor(tensor, mesh, placements)

    def _convert(self, value, i, dense=()):
        if isinstance(value, paddle.Tensor):
            return self._shard(value, i)
        if isinstance(value, (list, tuple)):
            return type(value)(v if k in dense else self._convert(v, i) for k, v in enumerate(value))
        return value

    def __iter__(self):
        for batch in self._dataloader:
            if isinstance(batch, dict):
                keys = self._keys or list(batch)
                yield {k: self._convert(batch[k], i) if k in keys else batch[k] for i, k in enumerate(batch)}
            elif isinstance(batch, (list, tuple)):
                dense = self._dense or [[] for _ in batch]
                yield [self._convert(v, i, dense[i] or ()) for i, v in enumerate(batch)]
            else:
                yield self._convert(batch, 0)

    def __call__(self):
        return self.__iter__()


def shard_dataloader(dataloader, meshes, input_keys=None, shard_dims=None, is_dataset_splitted=False, dense_tensor_idx=None):  # fmt: skip
    """A loader of distributed batches.

    Args:
        dataloader: an ``io.DataLoader``; every rank goes through the same batches.
        meshes: one ProcessMesh, or one for each item of a batch.
        input_keys: which keys of dictionary batches become distributed; None: all. A name or number alone is `shard_dims`.
        shard_dims: name (or number) of the mesh dimension over which axis 0 is cut, or a list; None: replicated.
        is_dataset_splitted: every rank's loader has just that rank's part.
    """
    if isinstance(input_keys, (str, int)) and not isinstance(shard_dims, (str, int)):
        input_keys, shard_dims = shard_dims, input_keys
    return ShardDataloader(dataloader, meshes, input_keys, shard_dims, is_dataset_splitted, dense_tensor_idx)

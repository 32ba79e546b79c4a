"""Checkpoints: loading under other placements and numbers of ranks, and what is left when writing is cut short."""

import json
import os
import re

import numpy as np
import pytest

pytest.importorskip("paddle")

from ranks import paddle, run  # noqa: E402

import paddle.distributed as dist  # noqa: E402
from paddle.distributed import checkpoint  # noqa: E402

R, S = dist.Replicate, dist.Shard
VALUES = {"w": np.arange(35, dtype="float32").reshape(7, 5), "b": np.arange(5, dtype="float64"), "n": np.array([3, 4])}

# mesh, then placements of w, b, n; None: plain
LAYOUTS = {
    "plain": ([0], None, None, None),
    "rows of two": ([0, 1], [S(0)], [R()], None),
    "columns of three": ([0, 1, 2], [S(1)], [S(0)], [S(0)]),
    "two ways": ([[0, 1], [2, 3]], [S(1), S(0)], [R(), S(0)], [R(), R()]),
    "one dimension twice": ([[0, 1], [2, 3]], [S(0), S(0)], [S(0), R()], None),
    "one of two": ([1], [R()], [R()], None),
}


def state(layout, fill=None, dtype=None):
    ids, *placements = LAYOUTS[layout]
    out = {}
    for (key, value), p in zip(VALUES.items(), placements):
        value = value if fill is None else np.full_like(value, fill)
        t = paddle.to_tensor(value)
        if dtype and key == "w":
            t = t.astype(dtype)
        out[key] = t if p is None else dist.shard_tensor(t, dist.ProcessMesh(ids), p)
    return out


def size(layout):
    return max(1, int(np.max(LAYOUTS[layout][0])) + 1)


def assert_holds(got, rank):
    """Whatever of ``got`` lies on this rank has the values that were saved; the keys that were compared."""
    compared = []
    for key, t in got.items():
        if not t.is_dist() or t.process_mesh.contains(rank):
            whole = dist.unshard_dtensor(t) if t.is_dist() else t
            np.testing.assert_array_equal(whole.numpy(), VALUES[key], err_msg=key)
            compared.append(key)
    return compared


@pytest.mark.parametrize("target", LAYOUTS)
@pytest.mark.parametrize("source", LAYOUTS)
def test_loads_however_it_lies(source, target, tmp_path):
    run(size(source), lambda rank: dist.save_state_dict(state(source), str(tmp_path)))

    def load(rank):
        got = state(target, fill=-1)
        dist.load_state_dict(got, str(tmp_path))
        return assert_holds(got, rank)

    compared = run(size(target), load)
    assert set().union(*compared) == set(VALUES), "every tensor lies on some rank"


def test_sixteen_bit_nested_and_plain_values(tmp_path):
    def save(rank):
        t = dist.shard_tensor(paddle.to_tensor(VALUES["w"]).astype("bfloat16"), dist.ProcessMesh([0, 1]), [S(0)])
        dist.save_state_dict({"model": {"w": t}, "epoch": 3}, str(tmp_path))

    def load(rank):
        got = {"model": {"w": paddle.zeros([7, 5], "bfloat16")}, "epoch": 0}
        dist.load_state_dict(got, str(tmp_path))
        np.testing.assert_array_equal(got["model"]["w"].astype("float32").numpy(), VALUES["w"])
        assert got["epoch"] == 3

    run(2, save)
    run(1, load)


def test_optimizer_states_move_between_stages(tmp_path):
    """Trained in two ranks with states cut, gone on with in one: as if never stopped."""

    def net():
        layer = paddle.nn.Linear(4, 4)
        for k, p in enumerate(layer.parameters()):
            p.set_value(np.random.default_rng(k).standard_normal(p.shape).astype("float32"))
            p.name = f"p{k}"
        return layer

    def steps(layer, opt, n):
        for _ in range(n):
            (layer(paddle.ones([2, 4])) ** 2).mean().backward()
            opt.step()
            opt.clear_grad()

    def states(layer, opt):
        # Without the number that a name has where there were others of its kind before.
        tensors = {re.sub(r"_\d+$", "", k): v for k, v in opt.state_dict().items() if isinstance(v, paddle.Tensor)}
        return {"model": layer.state_dict(), "opt": tensors}

    def straight(rank):
        layer = net()
        steps(layer, paddle.optimizer.Adam(0.1, parameters=layer.parameters()), 4)
        return layer.weight.numpy()

    def first(rank):
        mesh = dist.ProcessMesh([0, 1])
        layer = dist.shard_layer(net(), mesh)
        opt = paddle.optimizer.Adam(0.1, parameters=layer.parameters())
        opt = dist.shard_optimizer(opt, dist.ShardingStage1(mesh))
        steps(layer, opt, 2)
        dist.save_state_dict(states(layer, opt), str(tmp_path))

    def second(rank):
        layer = net()
        opt = paddle.optimizer.Adam(0.1, parameters=layer.parameters())
        steps(layer, opt, 1)  # makes the states
        dist.load_state_dict(states(layer, opt), str(tmp_path))
        steps(layer, opt, 2)
        return layer.weight.numpy()

    run(2, first)
    np.testing.assert_allclose(run(1, second)[0], run(1, straight)[0], rtol=1e-5)


def test_numbers_and_asynchronous_saves(tmp_path):
    def body(rank):
        mesh = dist.ProcessMesh([0, 1])
        for k in range(3):
            t = dist.shard_tensor(np.full([4], k, "float32"), mesh, [S(0)])
            dist.save_state_dict({"t": t}, str(tmp_path), async_save=True)
            t._local_value().set_value(np.full([2], 99, "float32"))  # what was saved is what it was
        checkpoint.wait_for_saves()
        dist.barrier()
        got = {"t": paddle.zeros([4])}
        dist.load_state_dict(got, str(tmp_path), unique_id=1)
        first = got["t"].tolist()
        dist.load_state_dict(got, str(tmp_path))
        return first, got["t"].tolist()

    assert run(2, body) == [([1] * 4, [2] * 4)] * 2


def test_a_cut_short_checkpoint_is_not_there(tmp_path, monkeypatch):
    run(1, lambda rank: dist.save_state_dict(state("plain"), str(tmp_path)))
    real = checkpoint._write

    def dies(name, data):
        if name.endswith(".metadata"):
            raise OSError("the disk is full")
        real(name, data)

    monkeypatch.setattr(checkpoint, "_write", dies)
    with pytest.raises(AssertionError, match="disk is full"):
        run(1, lambda rank: dist.save_state_dict(state("plain", fill=5), str(tmp_path)))
    monkeypatch.undo()

    def load(rank):
        got = state("plain", fill=-1)
        dist.load_state_dict(got, str(tmp_path))
        assert_holds(got, rank)

    run(1, load)
    assert not [n for n in os.listdir(tmp_path) if n.endswith(".tmp")]


def test_bad_checkpoints_say_what_is_wrong(tmp_path):
    with pytest.raises(FileNotFoundError, match="no complete checkpoint"):
        dist.load_state_dict({}, str(tmp_path))
    run(1, lambda rank: dist.save_state_dict(state("plain"), str(tmp_path)))
    with pytest.raises(KeyError, match="no tensor 'other'"):
        dist.load_state_dict({"other": paddle.zeros([1])}, str(tmp_path))
    with pytest.raises(ValueError, match=r"w: expected shape \[2, 2\], the file has \[7, 5\]"):
        dist.load_state_dict({"w": paddle.zeros([2, 2])}, str(tmp_path))
    file = tmp_path / "0.metadata"
    metadata = json.loads(file.read_text())
    metadata["pieces"]["w"] = []
    file.write_text(json.dumps(metadata))
    with pytest.raises(ValueError, match="only 0 of the 35 elements"):
        dist.load_state_dict({"w": paddle.zeros([7, 5])}, str(tmp_path))
    with pytest.raises(AssertionError, match="is Partial"):
        run(1, lambda rank: dist.save_state_dict(
            {"p": dist.shard_tensor(np.ones(2), dist.ProcessMesh([0]), [dist.Partial()])}, str(tmp_path)))  # fmt: skip

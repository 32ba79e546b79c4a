"""Mixed precision."""

import numpy as np
import pytest

import paddle
from paddle import amp


def test_scaler_skips_bad_steps_and_moves_its_factor():
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    optimizer = paddle.optimizer.SGD(0.1, parameters=[w])
    scaler = amp.GradScaler(init_loss_scaling=8.0, incr_every_n_steps=2)
    seen = []
    for factor in (1.0, float("inf"), 1.0, 1.0, 1.0):
        scaler.scale((w * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
        seen.append((round(float(w[0]), 5), float(scaler.state_dict()["scale"][0])))
    assert seen == [(0.9, 8.0), (0.9, 4.0), (0.8, 4.0), (0.7, 8.0), (0.6, 8.0)]


def test_unscale_gives_true_gradients_once():
    w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    optimizer = paddle.optimizer.SGD(0.1, parameters=[w])
    scaler = amp.GradScaler(init_loss_scaling=1024.0)
    scaler.scale((w * 3).sum()).backward()
    scaler.unscale_(optimizer)
    np.testing.assert_allclose(w.grad.numpy(), [3.0, 3.0])
    with pytest.raises(RuntimeError):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    np.testing.assert_allclose(w.numpy(), [0.7, 1.7], rtol=1e-6)
    with pytest.raises(RuntimeError):
        scaler.step(optimizer)


def test_scaler_state():
    scaler = amp.GradScaler(init_loss_scaling=4.0)
    state = scaler.state_dict()
    assert set(state) == {
        "scale", "incr_ratio", "decr_ratio", "incr_every_n_steps", "decr_every_n_nan_or_inf", "incr_count", "decr_count",
        "use_dynamic_loss_scaling",
    }  # fmt: skip
    other = amp.GradScaler()
    other.load_state_dict(state)
    assert other.state_dict()["scale"].tolist() == [4.0]
    assert amp.GradScaler(enable=False).state_dict() == {}
    with pytest.raises(AssertionError):
        amp.GradScaler(incr_ratio=0.5)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_operators_run_in_the_types_of_their_lists(dtype):
    x = paddle.ones([4, 4])
    low = "paddle." + dtype
    with amp.auto_cast(level="O1", dtype=dtype):
        assert str(paddle.matmul(x, x).dtype) == low
        assert str(paddle.exp(paddle.matmul(x, x)).dtype) == "paddle.float32"
        assert amp.is_autocast_enabled() and amp.get_autocast_dtype() == dtype
        with amp.auto_cast(enable=False):
            assert str(paddle.matmul(x, x).dtype) == "paddle.float32"
    with amp.auto_cast(level="O1", dtype=dtype, custom_black_list={"matmul_v2"}):
        assert str(paddle.matmul(x, x).dtype) == "paddle.float32"
    with amp.auto_cast(level="O1", dtype=dtype, custom_white_list={"exp"}):
        assert str(paddle.exp(x).dtype) == low
    with amp.auto_cast(level="O2", dtype=dtype):
        assert str((x + x).dtype) == low
    assert not amp.is_autocast_enabled() and str(paddle.matmul(x, x).dtype) == "paddle.float32"


def test_decorate_keeps_batch_norm_and_makes_masters():
    model = paddle.nn.Sequential(paddle.nn.Linear(4, 4), paddle.nn.BatchNorm1D(4), paddle.nn.Linear(4, 1))
    optimizer = paddle.optimizer.AdamW(learning_rate=0.01, parameters=model.parameters())
    model, optimizer = amp.decorate(model, optimizer, level="O2", dtype="bfloat16")
    kinds = [str(p.dtype)[7:] for p in (model[0].weight, model[1].weight, model[1]._mean, model[2].bias)]
    assert kinds == ["bfloat16", "float32", "float32", "bfloat16"]
    x = paddle.rand([8, 4])
    with amp.auto_cast(level="O2", dtype="bfloat16"):
        loss = (model(x) * model(x)).mean()
    loss.backward()
    optimizer.step()
    masters = optimizer.state_dict()["master_weights"]
    assert len(masters) == 4 and all(str(m.dtype) == "paddle.float32" for m in masters.values())


def test_bad_arguments_raise():
    for wrong in (dict(level="O7"), dict(dtype="float32"), dict(custom_white_list={"a"}, custom_black_list={"a"})):
        with pytest.raises(ValueError):
            amp.auto_cast(**wrong)
    with pytest.raises(RuntimeError):
        amp.decorate(3, level="O2")

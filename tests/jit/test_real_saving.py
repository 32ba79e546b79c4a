"""jit.save and load: which results, which inputs, which functions go to files, and the forms of input_spec."""

from __future__ import annotations

import numpy as np
import paddle
import pytest
from paddle import nn
from paddle.static import InputSpec
from real_core import N, P, close, static, tensor

X = np.stack([P, N])


class Two(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x, y):
        return {"z": self.a(x) * 2, "k": (self.b(y) * 3, x + y)}


SPECS = [InputSpec([None, 3], "float32", "x"), InputSpec([None, 3], "float32", "y")]


def loaded(layer, path, **options):
    paddle.jit.save(layer, str(path / "net"), **options)
    return paddle.jit.load(str(path / "net"))


def names(net):
    return [s.name for s in net._input_spec()]


def test_results_in_dicts_are_saved_by_sorted_keys(tmp_path):
    """As official Paddle does: k before z."""
    net = Two()
    again = loaded(net, tmp_path, input_spec=SPECS)
    out = net(tensor(X), tensor(X))
    for a, b in zip(again(tensor(X), tensor(X)), [*out["k"], out["z"]]):
        close(a, b.numpy())
    assert len(again.parameters()) == 4


@pytest.mark.parametrize(
    "spec, pick", [([0], ["k0"]), ([2, 0], ["z", "k0"]), ([-2], ["k1"]), ([0, 1, 2], ["k0", "k1", "z"])]
)
def test_output_spec_selects(tmp_path, spec, pick):
    net = Two()
    again = loaded(net, tmp_path, input_spec=SPECS, output_spec=spec)
    out = net(tensor(X), tensor(2 * X))
    want = {"k0": out["k"][0], "k1": out["k"][1], "z": out["z"]}
    values = {"x": tensor(X), "y": tensor(2 * X)}
    got = again(*[values[n] for n in names(again)])
    for a, n in zip(got if isinstance(got, list) else [got], pick):
        close(a, want[n].numpy())


def test_output_spec_prunes_inputs_and_parameters(tmp_path):
    net = paddle.jit.to_static(Two(), input_spec=SPECS)
    again = loaded(net, tmp_path, output_spec=[0])
    assert names(again) == ["y"] and len(again.parameters()) == 2
    assert names(loaded(net, tmp_path, output_spec=[0], input_names_after_prune=["x"])) == ["x", "y"]
    assert names(loaded(net, tmp_path, output_spec=[0], skip_prune_program=True)) == ["x", "y"]
    first = net.forward.outputs[0]  # in the order of the function's own result
    close(loaded(net, tmp_path, output_spec=[first])(tensor(X)), net(tensor(X), tensor(X))["z"].numpy())


def test_bad_output_specs(tmp_path):
    def refuse(error, match, **options):
        with pytest.raises(error, match=match):
            loaded(Two(), tmp_path, input_spec=SPECS, **options)

    refuse(ValueError, "below 3, got 5", output_spec=[5])
    refuse(ValueError, "names 'nope'", output_spec=["nope"])
    refuse(TypeError, "expected output_spec to be a list, got int", output_spec=1)
    refuse(TypeError, "got Tensor", output_spec=[tensor(P)])
    refuse(ValueError, "output_spec is empty", output_spec=[])
    refuse(ValueError, "input_names_after_prune names 'q'", output_spec=[0], input_names_after_prune=["q"])
    refuse(RuntimeError, "with_hook", output_spec=[0], with_hook=True)
    refuse(ValueError, "unknown option 'outputs'", outputs=[0])


class Nested(nn.Layer):
    def forward(self, pair, table, scale=2.0, mask=None):
        y = pair[0] * pair[1] + table["a"]
        return y * scale if mask is None else y * mask


def test_nested_specs_and_values(tmp_path):
    one = lambda n: InputSpec([None, 3], "float32", n)  # noqa: E731
    spec = [[one("p"), one("q")], {"a": one("t")}, 3.0]
    again = loaded(Nested(), tmp_path, input_spec=spec)
    assert names(again) == ["p", "q", "t"]
    close(again([tensor(X), tensor(X)], {"a": tensor(X)}), (X * X + X) * 3)
    close(again(tensor(X), tensor(X), tensor(X)), (X * X + X) * 3)
    spec = [(one("p"), one("q")), {"a": one("t")}, 3.0, one("m")]
    close(loaded(Nested(), tmp_path, input_spec=spec)(*[tensor(X)] * 4), (X * X + X) * X)


@pytest.mark.parametrize("example", [tensor(X), X, InputSpec.from_tensor(tensor(X)), InputSpec.from_numpy(X, name="x")])
def test_examples_as_specs(tmp_path, example):
    net = nn.Linear(3, 2)
    again = loaded(net, tmp_path, input_spec=[example])
    close(again(tensor(X)), net(tensor(X)).numpy())
    assert again._input_spec()[0].shape == (2, 3) or list(again._input_spec()[0].shape) == [2, 3]


def test_specs_that_do_not_fit(tmp_path):
    with pytest.raises(TypeError, match="input_spec"):
        loaded(nn.Linear(3, 2), tmp_path, input_spec=InputSpec([None, 3]))
    with pytest.raises(TypeError, match="argument"):
        loaded(nn.Linear(3, 2), tmp_path, input_spec=[InputSpec([None, 3])] * 2)
    with pytest.raises(ValueError, match="call it once, or give input_spec"):
        loaded(nn.Linear(3, 2), tmp_path)


class Several(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(x)

    @paddle.jit.to_static(input_spec=[InputSpec([None, 3], "float32", "u"), InputSpec([1], "float32", "s")])
    def scaled(self, x, s):
        return self.fc(x) * s if s.sum() > 0 else x

    @paddle.jit.to_static(input_spec=[])
    def total(self):
        return self.fc.weight.sum()

    def added(self, x):
        return self.fc(x) + 1


def test_several_functions_of_a_layer(tmp_path):
    net = Several()
    net.later = paddle.jit.to_static(net.added, input_spec=[InputSpec([None, 3], "float32")])
    again = loaded(net, tmp_path, input_spec=[InputSpec([None, 3], "float32")])
    y = net.fc(tensor(X))
    close(again(tensor(X)), y.numpy())
    close(again.scaled(tensor(X), tensor([2.0])), 2 * y.numpy())
    close(again.scaled(tensor(X), tensor([-2.0])), X)
    close(again.total(), net.fc.weight.sum().numpy(), rtol=1e-5)
    close(again.later(tensor(X)), y.numpy() + 1)
    assert len(again.parameters()) == 2
    assert not (tmp_path / "more.json").exists()
    paddle.jit.save(net, str(tmp_path / "more"), skip_forward=True)
    assert not (tmp_path / "more.json").exists() and (tmp_path / "more.scaled.json").exists()


def test_hooks_of_the_layer(tmp_path):
    net = nn.Linear(3, 3)
    net.register_forward_pre_hook(lambda layer, args: (args[0] * 2,))
    net.register_forward_post_hook(lambda layer, args, out: out + 1)
    spec = [InputSpec([None, 3], "float32", "x")]
    plain = loaded(net, tmp_path, input_spec=spec)
    close(plain(tensor(X)), net.forward(tensor(X)).numpy())
    hooked = loaded(net, tmp_path, input_spec=spec, with_hook=True)
    close(hooked(tensor(X)), net(tensor(X)).numpy())
    assert names(hooked) == ["x"]


def test_functions(tmp_path):
    @static
    def f(x):
        return x * 2, x + 1

    f(tensor(X))
    close(loaded(f, tmp_path, output_spec=[1])(tensor(X)), X + 1)
    close(loaded(lambda x: x * 5, tmp_path, input_spec=[InputSpec([2, 3], "float32")])(tensor(X)), X * 5)

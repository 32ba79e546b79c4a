"""paddle.Model, its callbacks, summary, flops and hub: what official paddle 3.3.1 prints and returns for the same weights and data."""

import re
import sys

import numpy as np
import paddle
import pytest
from paddle import callbacks, nn
from paddle.static import InputSpec

STREAM = np.random.RandomState(0)
X, Y = STREAM.randn(37, 6).astype("float32"), STREAM.randint(0, 3, (37, 1)).astype("int64")


class Data(paddle.io.Dataset):
    def __init__(self, count=37):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return X[i], Y[i]


def network():
    with paddle.utils.unique_name.guard():  # the same names every time: files of optimizers go by them
        net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
    stream = np.random.RandomState(1)
    for p in net.parameters():
        p.set_value(stream.randn(*p.shape).astype("float32") * 0.3)
    return net


def ready(rate=0.1, metrics=True, net=None, **options):
    model = paddle.Model(net or network(), **options)
    metric = paddle.metric.Accuracy((1, 2)) if metrics else None
    model.prepare(paddle.optimizer.Adam(rate, parameters=model.parameters()), nn.CrossEntropyLoss(), metric)
    return model


def lines(text):
    """What was printed, without paces."""
    text = text.replace("\b", "").replace("\r", "\n")
    return [re.sub(r" - (ETA: [\d:]+s? - )?\d+(us|ms|s)/step *$", "", t) for t in text.split("\n") if t]


def same_lines(got, want):
    for a, b in zip(got, want, strict=True):
        assert re.sub(r"\d+\.\d+", "#", a) == re.sub(r"\d+\.\d+", "#", b)
        np.testing.assert_allclose(*([float(v) for v in re.findall(r"\d+\.\d+", t)] for t in (a, b)), atol=2e-4)


TRAINED = """The loss value printed in the log is the current step, and the metric is the average value of previous steps.
Epoch 1/2
step 2/5 - loss: 1.0836 - acc_top1: 0.3125 - acc_top2: 0.7500
step 4/5 - loss: 1.5104 - acc_top1: 0.2188 - acc_top2: 0.6875
step 5/5 - loss: 1.3197 - acc_top1: 0.2162 - acc_top2: 0.6757
Eval begin...
step 2/2 - loss: 0.7906 - acc_top1: 0.7000 - acc_top2: 1.0000
Eval samples: 10
Epoch 2/2
step 2/5 - loss: 0.8409 - acc_top1: 0.6875 - acc_top2: 0.9375
step 4/5 - loss: 1.1158 - acc_top1: 0.4688 - acc_top2: 0.8125
step 5/5 - loss: 0.8566 - acc_top1: 0.4595 - acc_top2: 0.8378
Eval begin...
step 2/2 - loss: 0.7634 - acc_top1: 0.8000 - acc_top2: 1.0000
Eval samples: 10"""


def test_training_prints_what_official_prints(capsys):
    model = ready()
    model.fit(Data(), Data(10), batch_size=8, epochs=2, shuffle=False, log_freq=2, verbose=2)
    same_lines(lines(capsys.readouterr().out), TRAINED.split("\n"))
    model.fit(Data(), batch_size=8, epochs=1, shuffle=False, log_freq=2, verbose=1)
    same_lines(
        lines(capsys.readouterr().out)[2:],
        [
            "step 2/5 [===========>..................] - loss: 0.8545 - acc_top1: 0.6250 - acc_top2: 0.9375",
            "step 4/5 [=======================>......] - loss: 0.9576 - acc_top1: 0.5625 - acc_top2: 0.8125",
            "step 5/5 [==============================] - loss: 0.7359 - acc_top1: 0.5946 - acc_top2: 0.8378",
        ],
    )
    found = model.evaluate(Data(), batch_size=16, verbose=0)
    assert list(found) == ["loss", "acc_top1", "acc_top2"]
    np.testing.assert_allclose([found["loss"][0], found["acc_top1"], found["acc_top2"]], [0.69958, 0.54054, 0.81081], atol=1e-4)
    assert abs(model.evaluate(Data(), batch_size=16, verbose=0, num_iters=1)["loss"][0] - 0.81718) < 1e-4


def test_prediction(capsys):
    model = paddle.Model(network())
    want = model.network(paddle.to_tensor(X[:5])).numpy()
    (batches,) = model.predict(Data(5), batch_size=2, verbose=2)
    assert [b.shape for b in batches] == [(2, 3), (2, 3), (1, 3)]
    assert lines(capsys.readouterr().out) == ["Predict begin...", "step 2/3", "step 3/3", "Predict samples: 5"]
    np.testing.assert_allclose(np.vstack(batches), want, rtol=1e-5)
    (whole,) = model.predict(Data(5), batch_size=2, stack_outputs=True, verbose=0)
    np.testing.assert_array_equal(whole, np.vstack(batches))
    np.testing.assert_array_equal(model.predict_batch([X[:2]])[0], whole[:2])


def test_single_batches():
    model = ready()
    losses, metrics = model.eval_batch([X[:4]], [Y[:4]])
    want = nn.CrossEntropyLoss()(model.network(paddle.to_tensor(X[:4])), paddle.to_tensor(Y[:4])).numpy()
    assert losses[0].dtype == np.float32 and losses[0].shape == ()
    np.testing.assert_allclose(losses[0], want, rtol=1e-6)
    before = model.network[0].weight.numpy()
    model.train_batch([X[:4]], [Y[:4]], update=False)
    np.testing.assert_array_equal(model.network[0].weight.numpy(), before)
    gradient = model.network[0].weight.grad.numpy()
    model.train_batch([X[:4]], [Y[:4]], update=False)
    np.testing.assert_allclose(model.network[0].weight.grad.numpy(), 2 * gradient, rtol=1e-6)
    model.train_batch([X[:4]], [Y[:4]])
    assert np.abs(model.network[0].weight.numpy() - before).max() > 0.05
    assert isinstance(ready(metrics=False).train_batch([X[:4]], [Y[:4]])[0], np.ndarray)


def test_checkpoints_and_files(tmp_path, capsys):
    folder = str(tmp_path / "ck")
    names = paddle.utils.unique_name
    with names.guard():  # an optimizer's states are found again by their names
        model = ready()
        model.fit(Data(), batch_size=8, epochs=2, verbose=0, save_dir=folder)
    files = sorted(p.name for p in (tmp_path / "ck").iterdir())
    assert files == [f"{n}.{e}" for n in ("0", "1", "final") for e in ("pdopt", "pdparams")]
    with names.guard():
        other = ready()
        other.load(folder + "/final.pdparams")
        for a, b in zip(model.parameters(), other.parameters()):
            np.testing.assert_array_equal(a.numpy(), b.numpy())
        other.train_batch([X[:8]], [Y[:8]])
    model.train_batch([X[:8]], [Y[:8]])
    np.testing.assert_array_equal(model.network[0].weight.numpy(), other.network[0].weight.numpy())
    wrong = paddle.Model(nn.Sequential(nn.Linear(6, 9), nn.ReLU(), nn.Linear(9, 3)))
    with pytest.raises(ValueError, match=r"0.weight receives a shape \[6, 8\], but the expected shape is \[6, 9\]"):
        wrong.load(folder + "/final")
    with pytest.warns(UserWarning, match="Skip loading for 0.weight"):
        wrong.load(folder + "/final", skip_mismatch=True)
    np.testing.assert_array_equal(wrong.network[2].bias.numpy(), paddle.load(folder + "/final.pdparams")["2.bias"].numpy())
    for path, error in ((folder + "/final.other", AssertionError), (folder + "/none", AssertionError)):
        with pytest.raises(error):
            other.load(path)


def test_saved_programs(tmp_path):
    path = str(tmp_path / "program")
    with pytest.raises(RuntimeError, match="needs 'inputs' or running before saving"):
        paddle.Model(network()).save(path, training=False)
    model = paddle.Model(network(), InputSpec([None, 6], "float32", "x"))
    model.save(path, training=False)
    loaded = paddle.jit.load(path)
    np.testing.assert_allclose(loaded(paddle.to_tensor(X[:3])).numpy(), model.predict_batch([X[:3]])[0], rtol=1e-5)


def test_callbacks_see_every_step():
    seen = []

    class Notes(callbacks.Callback):
        def __getattribute__(self, name):
            if not name.startswith("on_"):
                return super().__getattribute__(name)
            return lambda *a: seen.append((name, a[0] if isinstance(a[0], int) else sorted(a[0] or {})))

    ready().fit(Data(9), Data(5), batch_size=8, epochs=1, verbose=0, callbacks=Notes())
    whole = ["acc_top1", "acc_top2", "batch_size", "loss", "step"]
    assert seen == [
        ("on_train_begin", []), ("on_epoch_begin", 0), ("on_train_batch_begin", 0), ("on_train_batch_end", 0),
        ("on_train_batch_begin", 1), ("on_train_batch_end", 1), ("on_epoch_end", 0),
        ("on_eval_begin", ["metrics", "steps"]), ("on_eval_batch_begin", 0), ("on_eval_batch_end", 0),
        ("on_eval_end", whole), ("on_train_end", whole),
    ]  # fmt: skip


def test_early_stopping(tmp_path, capsys):
    class Rising(callbacks.Callback):
        """Makes the loss of evaluations what it says."""

        def __init__(self, values):
            super().__init__()
            self.values = iter(values)

        def on_eval_end(self, logs=None):
            logs["loss"] = [next(self.values)]

    epochs = []

    class Count(callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            epochs.append(epoch)

    stop = callbacks.EarlyStopping("loss", patience=2, min_delta=0.05)
    model = ready()
    chosen = [Rising([1.0, 0.5, 0.49, 0.48, 0.1]), stop, Count()]
    model.fit(Data(9), Data(5), batch_size=8, epochs=9, verbose=0, callbacks=chosen, save_dir=str(tmp_path))
    assert epochs == [0, 1, 2, 3] and stop.best_value == 0.5
    assert "Epoch 4: Early stopping." in capsys.readouterr().out
    assert (tmp_path / "best_model.pdparams").exists()
    with pytest.warns(UserWarning, match="needs validation data"):
        model.fit(Data(9), batch_size=8, verbose=0, callbacks=callbacks.EarlyStopping())
    with pytest.warns(UserWarning, match="fallback to auto"):
        assert callbacks.EarlyStopping("acc", mode="other").monitor_op is np.greater


def test_learning_rates(capsys):
    model = ready(0.5)
    reduce = callbacks.ReduceLROnPlateau("acc_top1", factor=0.5, patience=1)
    model.fit(Data(), Data(10), batch_size=8, epochs=6, shuffle=False, verbose=0, callbacks=reduce)
    assert model._optimizer.get_lr() == 0.03125
    assert "Epoch 3: ReduceLROnPlateau reducing learning rate to 0.25." in capsys.readouterr().out
    by_batch = paddle.Model(network())
    schedule = paddle.optimizer.lr.StepDecay(0.1, 3)
    by_batch.prepare(paddle.optimizer.SGD(schedule, parameters=by_batch.parameters()), nn.CrossEntropyLoss())
    by_batch.fit(Data(), batch_size=8, verbose=0)
    assert schedule.last_epoch == 5
    by_batch.fit(Data(), batch_size=8, epochs=2, verbose=0, callbacks=callbacks.LRScheduler(False, True))
    assert schedule.last_epoch == 7
    with pytest.raises(ValueError, match="mutually exclusive"):
        callbacks.LRScheduler(True, True)
    with pytest.raises(ValueError, match="factor >= 1.0"):
        callbacks.ReduceLROnPlateau(factor=1.0)


def test_loggers_ask_for_their_packages(monkeypatch):
    monkeypatch.setitem(sys.modules, "visualdl", None)
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ImportError, match="visualdl"):
        ready().fit(Data(9), batch_size=8, verbose=0, callbacks=callbacks.VisualDL("logs"))
    with pytest.raises(ImportError, match="wandb"):
        callbacks.WandbCallback()


def test_streams_numbers_of_batches_and_accumulation():
    class Stream(paddle.io.IterableDataset):
        def __iter__(self):
            return iter([(X[i], Y[i]) for i in range(9)])

    steps = []

    class Count(callbacks.Callback):
        def on_train_batch_end(self, step, logs=None):
            steps.append((step, logs["batch_size"]))

    ready().fit(Stream(), batch_size=4, verbose=0, callbacks=Count())
    assert steps == [(0, 4), (1, 4), (2, 1)]
    del steps[:]
    ready().fit(Data(), batch_size=8, epochs=9, verbose=0, num_iters=7, callbacks=Count())
    assert [s for s, _ in steps] == [0, 1, 2, 3, 4, 0, 1]
    one, two = ready(net=network()), ready(net=network())
    for m, size, times in ((one, 16, 1), (two, 8, 2)):
        m._optimizer = paddle.optimizer.SGD(0.1, parameters=m.parameters())
        m.fit(Data(16), batch_size=size, shuffle=False, verbose=0, accumulate_grad_batches=times)
    start = network()[0].weight.numpy()
    np.testing.assert_allclose(two.network[0].weight.numpy() - start, 2 * (one.network[0].weight.numpy() - start), atol=1e-6)


def test_mixed_precision_and_wrong_arguments():
    model = ready()
    model.prepare(model._optimizer, nn.CrossEntropyLoss(), None, {"level": "O1", "init_loss_scaling": 8.0})
    first = model.train_batch([X], [Y])[0]
    for _ in range(20):
        last = model.train_batch([X], [Y])[0]
    assert last < first - 0.2
    for bad, error in (({"level": "O3"}, ValueError), ({"level": "O1", "other": 1}, ValueError)):
        with pytest.raises(error):
            model.prepare(model._optimizer, nn.CrossEntropyLoss(), None, bad)
    for arguments, error in (((None, 3), TypeError), ((None, None, 3), AssertionError)):
        with pytest.raises(error):
            model.prepare(*arguments)
    with pytest.raises(AssertionError):
        model.fit()
    with pytest.raises(AssertionError):
        model.fit(Data(), batch_size=[1, 2, 3])
    with pytest.raises(ValueError, match="name"):
        paddle.Model(network(), InputSpec([None, 6]))


def test_static_mode_trains_the_same(tmp_path):
    start = {k: v.numpy() for k, v in network().state_dict().items()}
    dynamic = ready()
    dynamic.fit(Data(), batch_size=8, epochs=2, shuffle=False, verbose=0)
    want = dynamic.evaluate(Data(), batch_size=16, verbose=0)
    paddle.save(start, str(tmp_path / "start.pdparams"))
    paddle.enable_static()
    try:
        with pytest.raises(TypeError, match="'inputs' must be"):
            paddle.Model(nn.Linear(2, 3))
        net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
        specs = {"inputs": [InputSpec([None, 6], "float32", "x")], "labels": [InputSpec([None, 1], "int64", "label")]}
        model = ready(net=net, **specs)
        model.load(str(tmp_path / "start"))
        model.fit(Data(), batch_size=8, epochs=2, shuffle=False, verbose=0)
        got = model.evaluate(Data(), batch_size=16, verbose=0)
        assert got["acc_top1"] == want["acc_top1"] and abs(got["loss"][0] - want["loss"][0]) < 1e-5
        model.save(str(tmp_path / "trained"))
        (one,) = model.predict(Data(5), batch_size=2, stack_outputs=True, verbose=0)
        model.save(str(tmp_path / "program"), training=False)
    finally:
        paddle.disable_static()
    again = ready()
    again.load(str(tmp_path / "trained"))
    np.testing.assert_allclose(again.predict(Data(5), stack_outputs=True, verbose=0)[0], one, rtol=1e-5)
    loaded = paddle.jit.load(str(tmp_path / "program"))
    np.testing.assert_allclose(loaded(paddle.to_tensor(X[:5])).numpy(), one, rtol=1e-5)


TABLE = """------------------------------------------------------------------------------------------
 Layer (type)       Input Shape                 Output Shape                 Param #
==========================================================================================
   Linear-{0}           [[2, 4]]                     [2, 5]                      25
   Linear-{1}           [[2, 6]]                     [2, 5]                      30
    LSTM-{2}          [[2, 1, 5]]      [[2, 1, 3], [[1, 2, 3], [1, 2, 3]]]       120
==========================================================================================
Total params: 175
Trainable params: 155
Non-trainable params: 20
------------------------------------------------------------------------------------------
Input size (MB): 0.00
Forward/backward pass size (MB): 0.00
Params size (MB): 0.00
Estimated Total Size (MB): 0.00
------------------------------------------------------------------------------------------"""


class Two(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.l = nn.Linear(4, 5), nn.Linear(6, 5, bias_attr=False), nn.LSTM(5, 3)
        self.a.weight.stop_gradient = True

    def forward(self, x, y):
        return self.l((self.a(x) + self.b(y)).unsqueeze(1))


def test_summary(capsys):
    net = Two()
    found = paddle.summary(net, [(None, 4), InputSpec([2, 6], name="y")], ["float32", "float32"])
    assert found == {"total_params": 175, "trainable_params": 155} and net.training
    paddle.summary(net, [(2, 4), (2, 6)])
    shown = [t.rstrip() for t in capsys.readouterr().out.split("\n")]
    numbers = [int(m.full_name().rsplit("_", 1)[1]) + 1 for m in (net.a, net.b, net.l)]
    want = [" ".join(t.split()) for t in TABLE.format(*numbers).split("\n")]
    assert [" ".join(t.split()) for t in shown if t][-len(want) :] == want
    paddle.summary(nn.ReLU(), input=paddle.ones([2, 3]))
    assert "[[2, 3]]" in capsys.readouterr().out
    for bad in (None, (0, 4), (None, None)):
        with pytest.raises(ValueError):
            paddle.summary(net, bad)
    with pytest.raises(AssertionError):
        paddle.summary(net, ["a"])


def test_flops(capsys):
    net = nn.Sequential(
        nn.Conv2D(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2), nn.BatchNorm2D(6), nn.AvgPool2D(2), nn.LeakyReLU(),
        nn.Conv2D(6, 4, 3, groups=2, bias_attr=False), nn.AdaptiveAvgPool2D(2), nn.Flatten(), nn.Linear(16, 10),
    )  # fmt: skip
    assert paddle.flops(net, [1, 1, 28, 28], print_detail=True) == 52920
    out = capsys.readouterr().out
    assert "[1, 1, 28, 28] | [1, 6, 28, 28] |   60   | 47040 |" in out and "Total Flops: 52920     Total Params: 362" in out

    def count(layer, x, y):
        layer.total_ops += x[0].numel()

    assert paddle.flops(net, [1, 1, 28, 28], {nn.MaxPool2D: count}) == 52920 + 6 * 28 * 28 and net.training
    with pytest.warns(UserWarning):
        assert paddle.flops(3, [1]) == -1


def test_flops_of_a_program():
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program, paddle.static.Program()):
            y = nn.Conv2D(3, 4, 3)(paddle.static.data("x", [1, 3, 8, 8]))
            paddle.static.nn.fc(y, 5)
        assert paddle.flops(program, [1, 3, 8, 8]) == 4 * 36 * 27 + 144 * 5
    finally:
        paddle.disable_static()


def test_hub(tmp_path):
    (tmp_path / "hubconf.py").write_text(
        "dependencies = ['numpy']\nimport beside\n\ndef double(by=2):\n    '''Twice.'''\n    return beside.one * by\n"
    )
    (tmp_path / "beside.py").write_text("one = 1\n")
    folder = str(tmp_path)
    assert paddle.hub.list(folder, source="local") == ["double"]
    assert paddle.hub.help(folder, "double", source="local") == "Twice."
    assert paddle.hub.load(folder, "double", source="local", by=3) == 3
    with pytest.raises(RuntimeError, match="Cannot find callable other in hubconf"):
        paddle.hub.load(folder, "other", source="local")
    with pytest.raises(ValueError, match="Unknown source"):
        paddle.hub.list(folder, source="elsewhere")
    (tmp_path / "hubconf.py").write_text("dependencies = ['no_such_package_at_all']\n")
    with pytest.raises(RuntimeError, match="Missing dependencies: no_such_package_at_all"):
        paddle.hub.list(folder, source="local")
    paddle.save({"w": paddle.ones([2])}, str(tmp_path / "w.pdparams"))
    state = paddle.hub.load_state_dict_from_url("https://nowhere.invalid/w.pdparams", folder, map_location="numpy")
    np.testing.assert_array_equal(state["w"], [1, 1])


def test_sysconfig():
    assert paddle.sysconfig.get_include().startswith(paddle.__path__[0]) and paddle.sysconfig.get_lib() != ""

"""Static-mode scripts as users of Paddle write them, for the fixtures' script (official paddle) and the tests alike."""

import numpy as np


def named(paddle, name):
    # Official paddle's unique_name.guard doesn't reset fc's numbers.
    return paddle.ParamAttr(name=name)


def linear_regression(paddle):
    """A linear net trained by SGD with a step schedule and an L2 penalty."""
    static = paddle.static
    x = static.data("x", [None, 4], "float32")
    y = static.data("y", [None, 1], "float32")
    prediction = static.nn.fc(x, 1, weight_attr=named(paddle, "fc.w"), bias_attr=named(paddle, "fc.b"))
    loss = paddle.mean(paddle.nn.functional.square_error_cost(prediction, y))
    schedule = paddle.optimizer.lr.StepDecay(0.1, 3, 0.5)
    paddle.optimizer.SGD(schedule, weight_decay=paddle.regularizer.L2Decay(0.01)).minimize(loss)
    return loss, prediction, schedule


def linear_batch(rng):
    x = rng.randn(8, 4).astype("float32")
    return {"x": x, "y": (x @ np.array([[1.0], [-2.0], [0.5], [3.0]], "float32") + 1).astype("float32")}


def conv_net(paddle):
    """Convolution, batch normalisation, pooling, momentum with clipped gradients."""
    static, F = paddle.static, paddle.nn.functional
    image = static.data("image", [None, 1, 8, 8], "float32")
    label = static.data("label", [None, 1], "int64")
    h = paddle.nn.Conv2D(1, 4, 3, padding=1)(image)
    h = F.relu(paddle.nn.BatchNorm2D(4)(h))
    h = F.max_pool2d(h, 2, 2)
    scores = static.nn.fc(h, 3, weight_attr=named(paddle, "fc.w"), bias_attr=named(paddle, "fc.b"))
    loss = paddle.mean(F.cross_entropy(scores, label))
    clip = paddle.nn.ClipGradByGlobalNorm(1.0)
    paddle.optimizer.Momentum(0.1, 0.9, grad_clip=clip).minimize(loss)
    return loss, F.softmax(scores), None


def conv_batch(rng):
    return {"image": rng.randn(6, 1, 8, 8).astype("float32"), "label": rng.randint(0, 3, (6, 1)).astype("int64")}


def rnn(paddle):
    """A recurrent net whose steps are a while_loop, trained by Adam."""
    static, F = paddle.static, paddle.nn.functional
    sequence = static.data("sequence", [5, 4, 3], "float32")  # time, batch, width
    target = static.data("target", [4, 6], "float32")
    w = paddle.create_parameter([3, 6], "float32", name="w_in")
    u = paddle.create_parameter([6, 6], "float32", name="w_state")
    i = paddle.full([1], 0, "int64")
    n = paddle.full([1], 5, "int64")
    state = paddle.zeros([4, 6], "float32")

    def more(i, state):
        return i < n

    def step(i, state):
        x = paddle.gather(sequence, i, axis=0).squeeze(0)
        return [i + 1, paddle.tanh(paddle.matmul(x, w) + paddle.matmul(state, u))]

    _, state = static.nn.while_loop(more, step, [i, state])
    loss = paddle.mean(F.square_error_cost(state, target))
    paddle.optimizer.Adam(0.05).minimize(loss)
    return loss, state, None


def rnn_batch(rng):
    return {"sequence": rng.randn(5, 4, 3).astype("float32"), "target": rng.randn(4, 6).astype("float32")}


PROGRAMS = {
    "linear_regression": (linear_regression, linear_batch, 8),
    "conv_net": (conv_net, conv_batch, 6),
    "rnn": (rnn, rnn_batch, 6),
}


def train(paddle, name, initial=None):
    """Runs a program: the parameters it starts with, the losses, and what it predicts before the last update.

    ``initial``: values by name to start from instead of those of the start-up program.
    """
    build, batch, steps = PROGRAMS[name]
    static = paddle.static
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), paddle.utils.unique_name.guard():
        loss, prediction, schedule = build(paddle)
    scope = static.Scope()
    with static.scope_guard(scope):
        exe = static.Executor(paddle.CPUPlace())
        exe.run(startup)
        names = [p.name for p in main.global_block().all_parameters() if not p.name.startswith("learning_rate")]
        for key, value in (initial or {}).items():
            scope.find_var(key).get_tensor().set(value, paddle.CPUPlace())
        start = {n: np.array(scope.find_var(n).get_tensor()) for n in names}
        rng, losses = np.random.RandomState(7), []
        for _ in range(steps):
            value, predicted = exe.run(main, feed=batch(rng), fetch_list=[loss, prediction])
            losses.append(float(value))
            if schedule is not None:
                schedule.step()
        end = {n: np.array(scope.find_var(n).get_tensor()) for n in names}
    return start, np.array(losses), predicted, end

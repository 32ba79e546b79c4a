"""paddle.nn.initializer, ParamAttr, regularisers, creation of parameters."""

MADE = "nn.Linear(40, 50, weight_attr=paddle.nn.initializer.{}).weight"

CASES = {
    "paddle.nn.initializer.Constant": ["nn.Linear(2, 3, weight_attr=paddle.nn.initializer.Constant(2.5)).weight", "nn.Linear(2, 3, bias_attr=paddle.nn.initializer.Constant()).bias", "signature(paddle.nn.initializer.Constant)",
        "x = R([2, 3])\npaddle.nn.initializer.Constant(7.0)(x)\nx", "paddle.nn.initializer.Constant('a')(R([2]))"],
    "paddle.nn.initializer.Assign": ["nn.Linear(2, 2, weight_attr=paddle.nn.initializer.Assign(np.eye(2))).weight", "nn.Linear(1, 2, bias_attr=paddle.nn.initializer.Assign([1.0, 2.0])).bias", "nn.Linear(1, 2, bias_attr=paddle.nn.initializer.Assign(T([1.0, 2.0]))).bias",
        "paddle.nn.initializer.Assign(3)", "signature(paddle.nn.initializer.Assign)"],
    "paddle.nn.initializer.Uniform": [f"statistics({MADE.format('Uniform()')}, -1, 1)", f"spread({MADE.format('Uniform(0, 2)')}, 1.0, 4 / 12 ** 0.5 / 2)", "signature(paddle.nn.initializer.Uniform)", "paddle.nn.initializer.Uniform(1, 'a')", f"statistics({MADE.format('Uniform(low=-0.1, high=0.1)')}, -0.1, 0.1)"],
    "paddle.nn.initializer.Normal": [f"spread({MADE.format('Normal()')}, 0, 1)", f"spread({MADE.format('Normal(mean=1.0, std=0.1)')}, 1, 0.1)", "signature(paddle.nn.initializer.Normal)", f"statistics({MADE.format('Normal(0, 0.01)')}, -1, 1)"],
    "paddle.nn.initializer.TruncatedNormal": [f"statistics({MADE.format('TruncatedNormal()')}, -2, 2)", f"statistics({MADE.format('TruncatedNormal(std=0.1, a=-0.1, b=0.2)')}, -0.1, 0.2)", "signature(paddle.nn.initializer.TruncatedNormal)", f"spread({MADE.format('TruncatedNormal(std=0.5)')}, 0, 0.5)"],
    "paddle.nn.initializer.KaimingNormal": [f"spread({MADE.format('KaimingNormal()')}, 0, (2 / 40) ** 0.5)", f"spread({MADE.format('KaimingNormal(fan_in=10, nonlinearity=chr(114) + chr(101) + chr(108) + chr(117))')}, 0, (2 / 10) ** 0.5)", "signature(paddle.nn.initializer.KaimingNormal)",
        "spread(nn.Linear(40, 50, weight_attr=paddle.nn.initializer.KaimingNormal(negative_slope=1.0, nonlinearity='leaky_relu')).weight, 0, (1 / 40) ** 0.5)", "spread(nn.Conv2D(8, 16, 3, weight_attr=paddle.nn.initializer.KaimingNormal()).weight, 0, (2 / 72) ** 0.5)"],
    "paddle.nn.initializer.KaimingUniform": [f"statistics({MADE.format('KaimingUniform()')}, -(6 / 40) ** 0.5, (6 / 40) ** 0.5)", "signature(paddle.nn.initializer.KaimingUniform)", f"spread({MADE.format('KaimingUniform()')}, 0, (2 / 40) ** 0.5)",
        "spread(nn.Linear(40, 50, weight_attr=paddle.nn.initializer.KaimingUniform(nonlinearity='tanh', mode='fan_out')).weight, 0, 5 / 3 / 50 ** 0.5)", "nn.Linear(4, 5, weight_attr=paddle.nn.initializer.KaimingUniform(nonlinearity='x'))"],
    "paddle.nn.initializer.XavierUniform": [f"statistics({MADE.format('XavierUniform()')}, -(6 / 90) ** 0.5, (6 / 90) ** 0.5)", f"spread({MADE.format('XavierUniform(gain=2.0)')}, 0, 2 * (2 / 90) ** 0.5)", "signature(paddle.nn.initializer.XavierUniform)", f"spread({MADE.format('XavierUniform(fan_in=10, fan_out=30)')}, 0, (2 / 40) ** 0.5)"],
    "paddle.nn.initializer.XavierNormal": [f"spread({MADE.format('XavierNormal()')}, 0, (2 / 90) ** 0.5)", f"spread({MADE.format('XavierNormal(fan_in=10, fan_out=30, gain=0.5)')}, 0, 0.5 * (2 / 40) ** 0.5)", "signature(paddle.nn.initializer.XavierNormal)"],
    "paddle.ParamAttr": ["described(nn.Linear(2, 3, weight_attr=paddle.ParamAttr(name='w', trainable=False)))", "nn.Linear(2, 3, weight_attr=paddle.ParamAttr(learning_rate=0.5)).weight.optimize_attr", "signature(paddle.ParamAttr)", "a = paddle.ParamAttr('n', learning_rate=0.1, need_clip=False)\n[a.name, a.learning_rate, a.trainable, a.need_clip, a.regularizer, a.initializer]",
        "paddle.ParamAttr(name=3)", "paddle.ParamAttr(trainable='a')", "str(nn.Linear(2, 3, weight_attr=paddle.ParamAttr(regularizer=paddle.regularizer.L2Decay(0.1))).weight.regularizer)"],
    "paddle.regularizer.L2Decay": ["str(paddle.regularizer.L2Decay(0.1))", "signature(paddle.regularizer.L2Decay)", "issubclass(paddle.regularizer.L2Decay, paddle.regularizer.WeightDecayRegularizer)", "steps(lambda p: paddle.optimizer.SGD(0.1, p, weight_decay=paddle.regularizer.L2Decay(0.5)))", "steps(lambda p: paddle.optimizer.Momentum(0.1, parameters=p, weight_decay=0.5))",
        "steps(lambda p: paddle.optimizer.SGD(0.1, p, weight_decay=0.5), parameters=[parameter([1.0, -2.0], regularizer=paddle.regularizer.L2Decay(0.1)), parameter([1.0])])", "paddle.regularizer.L2Decay('a')"],
    "paddle.create_parameter": ["p = paddle.create_parameter([2, 3], 'float32')\n[p.shape, str(p.dtype), p.stop_gradient, type(p).__name__]", "paddle.create_parameter([2], 'float64', is_bias=True)", "paddle.create_parameter([2], 'float32', name='n').name", "paddle.create_parameter(shape=[2], dtype='float32', default_initializer=nn.initializer.Constant(3.0))",
        "paddle.create_parameter([2], 'float32', attr=paddle.ParamAttr('q', initializer=nn.initializer.Constant(1.0), trainable=False))", "paddle.create_parameter('a', 'float32')", "paddle.create_parameter([2], 'x')", "signature(paddle.create_parameter)"],
}  # fmt: skip

# The parameter takes the shape of what is assigned.
CASES["paddle.nn.initializer.Assign"] += [
    "nn.Linear(1, 2, bias_attr=paddle.nn.initializer.Assign(np.ones(3)))",
    "l = nn.Linear(2, 2, weight_attr=paddle.nn.initializer.Assign([2, 2]), bias_attr=paddle.nn.initializer.Assign(np.array([2])))\n[l.weight, l.bias, l(paddle.ones([1, 2]))]",
    "nn.Layer().create_parameter([1], attr=paddle.nn.initializer.Assign(np.array(2.0)))", "x = paddle.zeros([6])\npaddle.nn.initializer.Assign(paddle.ones([2, 3], 'float64'))(x)\nx",
]

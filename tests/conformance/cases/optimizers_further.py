"""Every optimiser and every scheduler: options, groups, weight decay, master weights, clipping, errors."""

O = "paddle.optimizer."
L = "paddle.optimizer.lr."
COMMON = ("parameters=p, weight_decay=0.1", "parameters=p, grad_clip=nn.ClipGradByNorm(0.2)", "parameters=p, weight_decay=paddle.regularizer.L1Decay(0.1)")
GROUPS = "parameters=[{'params': [p[0]], 'learning_rate': 0.5}, {'params': [p[1]], 'weight_decay': 0.2}]"
OPTIONS = {
    "SGD": ["learning_rate=0.2, parameters=p"],
    "Momentum": ["0.1, parameters=p", "0.1, 0.5, p, use_nesterov=True, weight_decay=0.1", "0.1, parameters=p, rescale_grad=0.5"],
    "Adagrad": ["0.1, parameters=p, epsilon=1e-3", "0.1, parameters=p, initial_accumulator_value=0.5"],
    "Adadelta": ["0.1, parameters=p", "0.5, 1e-3, 0.9, p"],
    "Adamax": ["0.1, parameters=p", "0.1, 0.8, 0.9, 1e-3, parameters=p"],
    "RMSProp": ["0.1, parameters=p", "0.1, rho=0.8, epsilon=1e-3, momentum=0.5, parameters=p", "0.1, centered=True, parameters=p"],
    "Lamb": ["0.1, parameters=p", "0.1, lamb_weight_decay=0.1, beta1=0.8, beta2=0.9, epsilon=1e-3, parameters=p", "0.1, parameters=p, exclude_from_weight_decay_fn=lambda q: q.name == 'w'", "0.1, parameters=p, always_adapt=True"],
    "NAdam": ["0.1, parameters=p", "0.1, 0.8, 0.9, 1e-3, 0.01, parameters=p"],
    "Adam": ["0.1, parameters=p, lazy_mode=True", "T([0.1]), parameters=p"],
    "AdamW": ["0.1, parameters=p, weight_decay=0.0", "paddle.optimizer.lr.StepDecay(0.1, 1), parameters=p", "0.1, parameters=p, amsgrad=True, lr_ratio=lambda q: 0.1"],
    "Rprop": ["0.1, parameters=p, learning_rate_range=(1e-3, 1.0), etas=(0.6, 1.3)"],
    "ASGD": ["0.1, batch_num=3, parameters=p"],
}  # fmt: skip

CASES = {}
for name, given in OPTIONS.items():
    decays = name not in ("AdamW", "Lamb", "Rprop", "ASGD")
    some = [f"steps(lambda p: {O}{name}({a}), 4)" for a in given]
    first = "0.1, batch_num=2, " if name == "ASGD" else "0.1, "
    some += [f"steps(lambda p: {O}{name}({first}{a}))" for a in (COMMON if decays else COMMON[1:2])]
    if name != "Lamb":
        some.append(f"steps(lambda p: {O}{name}({first}{GROUPS if decays or name == 'AdamW' else 'parameters=p'}))")
    some += [f"signature({O}{name})", f"{O}{name}(None, parameters=[parameter([1.0])])", f"{O}{name}(0.1, parameters=[3])", f"{O}{name}(0.1, parameters=[parameter([1.0])], weight_decay='a')"]
    some.append(f"steps(lambda p: {O}{name}({first}parameters=p), parameters=[paddle.create_parameter([2], 'float64', attr=paddle.ParamAttr('w', initializer=nn.initializer.Constant(0.5)))])")
    CASES[O + name] = some

CASES |= {
    O + "LBFGS": [
        f"p = parameter([1.0, -2.0], 'w')\no = {O}LBFGS(0.5, 5, parameters=[p])\ndef f():\n    o.clear_grad()\n    l = ((p - T([3.0, 1.0])) ** 2 * T([1.0, 4.0])).sum()\n    l.backward()\n    return l\n[o.step(f), p]",
        f"p = parameter([1.0, -2.0], 'w')\no = {O}LBFGS(1.0, 10, line_search_fn='strong_wolfe', parameters=[p])\ndef f():\n    o.clear_grad()\n    l = ((p - T([3.0, 1.0])) ** 4).sum()\n    l.backward()\n    return l\n[o.step(f), p]", f"signature({O}LBFGS)", f"{O}LBFGS(parameters=[parameter([1.0])]).step()",
    ],
    O + "Optimizer.minimize": [f"w = parameter([1.0, 2.0], 'w')\no = {O}SGD(0.1, [w])\nl = (w * w).sum()\nl.backward()\nr = o.minimize(l)\n[type(r).__name__, len(r), w]", f"w = parameter([1.0], 'w')\no = {O}Adam(0.1, parameters=[w])\n(w * w).backward()\no.minimize((w * w).sum(), no_grad_set=None)\nw", f"signature({O}Optimizer.minimize)"],
    O + "Optimizer.set_lr": [f"o = {O}Adam(0.1, parameters=[parameter([1.0])])\no.set_lr(0.3)\no.get_lr()", f"o = {O}Adam(0.1, parameters=[parameter([1.0])])\no.set_lr(1)\no.get_lr()", f"o = {O}SGD(0.1, parameters=[parameter([1.0])])\no.set_lr(T(0.3))\no.get_lr()"],
    O + "Optimizer.zero_grad": [f"w = parameter([1.0])\n(w * w).backward()\no = {O}SGD(0.1, [w])\no.zero_grad(False)\nw.grad"],
    O + "Optimizer.apply_gradients": [f"w = parameter([1.0, 2.0])\no = {O}SGD(0.1, [w])\no.apply_gradients([(w, T([1.0, 1.0]))])\nw"],
    O + "Optimizer.backward": [f"w = parameter([1.0, 2.0])\no = {O}SGD(0.1, [w])\nl = (w * w).sum()\nl.backward()\n[g for _, g in o.backward(l)]"],
    "paddle.amp.decorate": [f"n = fixed(nn.Linear(2, 2))\no = {O}{c}(0.1, parameters=n.parameters())\nn, o = paddle.amp.decorate(n, o, level='O2', dtype='bfloat16')\nfor _ in range(2):\n    n(R([3, 2], 'bfloat16')).sum().backward()\n    o.step()\n    o.clear_grad()\n[n.weight, sorted(o.state_dict())]" for c in ("SGD", "Momentum", "AdamW", "Adam", "Lamb")],
    "paddle.nn.ClipGradByNorm": ["signature(nn.ClipGradByNorm)", "str(nn.ClipGradByNorm(1.0))", "p = parameter([3.0, 4.0])\n[g for _, g in nn.ClipGradByNorm(1.0)([(p, T([3.0, 4.0])), (p, T([0.3, 0.4]))])]"],
    "paddle.nn.ClipGradByValue": ["signature(nn.ClipGradByValue)", "str(nn.ClipGradByValue(1.0))", "p = parameter([3.0, 4.0])\n[g for _, g in nn.ClipGradByValue(1.0, -0.5)([(p, T([3.0, -4.0]))])]"],
    "paddle.regularizer.L1Decay": ["str(paddle.regularizer.L1Decay(0.1))", "signature(paddle.regularizer.L1Decay)", "steps(lambda p: paddle.optimizer.SGD(0.1, p), parameters=[parameter([1.0, -2.0], regularizer=paddle.regularizer.L1Decay(0.1)), parameter([1.0])])"],
    L + "NoamDecay": [f"rates({L}NoamDecay(512, 4, 2.0), 10)", f"rates({L}NoamDecay(d_model=64, warmup_steps=0))", f"signature({L}NoamDecay)"],
    L + "ExponentialDecay": [f"rates({L}ExponentialDecay(0.5, 0.9))", f"rates({L}ExponentialDecay(0.5, 0.9, last_epoch=2))", f"signature({L}ExponentialDecay)"],
    L + "PiecewiseDecay": [f"rates({L}PiecewiseDecay([1, 3], [0.3, 0.2]))", f"rates({L}PiecewiseDecay(boundaries=[3, 6], values=[0.1, 0.2, 0.3], last_epoch=1))", f"signature({L}PiecewiseDecay)"],
    L + "InverseTimeDecay": [f"rates({L}InverseTimeDecay(0.5, 0.1))", f"signature({L}InverseTimeDecay)"],
    L + "NaturalExpDecay": [f"rates({L}NaturalExpDecay(0.5, 0.1))", f"signature({L}NaturalExpDecay)", f"{L}NaturalExpDecay(0.5, -0.1)"],
    L + "PolynomialDecay": [f"rates({L}PolynomialDecay(0.5, 4))", f"rates({L}PolynomialDecay(0.5, 4, 0.1, 0.5, False))", f"rates({L}PolynomialDecay(0.5, 3, cycle=True), 10)", f"{L}PolynomialDecay(0.5, 0)", f"signature({L}PolynomialDecay)"],
    L + "LinearWarmup": [f"rates({L}LinearWarmup(0.5, 4, 0.1, 0.4))", f"rates({L}LinearWarmup({L}ExponentialDecay(0.5, 0.5), 2, 0.1, 0.4))", f"{L}LinearWarmup(0.5, 4, 0.5, 0.4)", f"{L}LinearWarmup('a', 4, 0.1, 0.4)", f"signature({L}LinearWarmup)", f"rates({L}LinearWarmup(0.5, 0, 0.1, 0.4))"],
    L + "MultiStepDecay": [f"rates({L}MultiStepDecay(0.5, [1, 3, 4], 0.5))", f"{L}MultiStepDecay(0.5, [3, 1])", f"{L}MultiStepDecay(0.5, [1], 2.0)", f"{L}MultiStepDecay(0.5, 1)", f"signature({L}MultiStepDecay)"],
    L + "StepDecay": [f"rates({L}StepDecay(0.5, 3, 0.5))", f"{L}StepDecay(0.5, 'a')", f"{L}StepDecay(0.5, 3, 1.0)", f"signature({L}StepDecay)"],
    L + "LambdaDecay": [f"rates({L}LambdaDecay(0.5, lambda e: 1 / (e + 1)))", f"{L}LambdaDecay(0.5, 3)", f"signature({L}LambdaDecay)"],
    L + "MultiplicativeDecay": [f"rates({L}MultiplicativeDecay(0.5, lambda e: 0.5 if e > 2 else 1.0))", f"signature({L}MultiplicativeDecay)"],
    L + "ReduceOnPlateau": [f"s = {L}ReduceOnPlateau(0.5, {a})\nr = []\nfor v in [1.0, 0.9, 0.95, 0.96, 0.94, 0.95, 0.99, 0.9, 0.8]:\n    s.step({w})\n    r.append(s.last_lr)\n[r, sorted(s.state_dict().items())]" for a in ("patience=1", "mode='max', patience=2, factor=0.5", "patience=0, cooldown=2", "threshold=0.2, threshold_mode='abs', patience=1", "min_lr=0.1, patience=0, epsilon=0.01") for w in ("v", "T([v])")] + [f"{L}ReduceOnPlateau(0.5, mode='x')", f"{L}ReduceOnPlateau(0.5, factor=1.0)", f"{L}ReduceOnPlateau(0.5, threshold_mode='x')", f"signature({L}ReduceOnPlateau)"],
    L + "CosineAnnealingDecay": [f"rates({L}CosineAnnealingDecay(0.5, 3, 0.1, 4), 5)"],
    L + "CosineAnnealingWarmRestarts": [f"rates({L}CosineAnnealingWarmRestarts(0.5, 2), 9)", f"rates({L}CosineAnnealingWarmRestarts(0.5, 2, 2, 0.1), 9)", f"{L}CosineAnnealingWarmRestarts(0.5, 0)", f"s = {L}CosineAnnealingWarmRestarts(0.5, 3, 2)\nr = []\nfor e in (0, 0.5, 2.5, 7):\n    s.step(e)\n    r.append(s())\nr", f"signature({L}CosineAnnealingWarmRestarts)"],
    L + "OneCycleLR": [f"rates({L}OneCycleLR(0.5, 10), 10)", f"rates({L}OneCycleLR(0.5, 10, 5.0, 0.01, 0.4, 'linear'), 10)", f"rates({L}OneCycleLR(0.5, 10, three_phase=True), 10)", f"{L}OneCycleLR(0.5, 10, phase_pct=2.0)", f"{L}OneCycleLR(0.5, 10, anneal_strategy='x')", f"signature({L}OneCycleLR)", f"rates({L}OneCycleLR(0.5, 3), 5)"],
    L + "CyclicLR": [f"rates({L}CyclicLR(0.1, 0.5, 2, 3), 12)", f"rates({L}CyclicLR(0.1, 0.5, 3, mode='triangular2'), 14)", f"rates({L}CyclicLR(0.1, 0.5, 2, mode='exp_range', exp_gamma=0.9), 9)", f"rates({L}CyclicLR(0.1, 0.5, 2, scale_fn=lambda x: 1 / x, scale_mode='cycle'), 9)", f"{L}CyclicLR(0.1, 0.5, 2, mode='x')", f"signature({L}CyclicLR)"],
    L + "LinearLR": [f"rates({L}LinearLR(0.5, 5, 0.2, 0.8))", f"{L}LinearLR(0.5, 0)", f"{L}LinearLR(0.5, 5, 2.0)", f"signature({L}LinearLR)"],
    L + "LRScheduler.state_dict": [f"s = {L}StepDecay(0.5, 2)\ns.step()\ns.state_dict()", f"s = {L}LinearWarmup({L}StepDecay(0.5, 2), 2, 0.0, 0.4)\ns.step()\ns.state_dict()"],
    L + "LRScheduler.set_state_dict": [f"s = {L}StepDecay(0.5, 2)\ns.set_state_dict({{'last_epoch': 4, 'last_lr': 0.005}})\n[s(), s.last_epoch]", f"s = {L}StepDecay(0.5, 2)\ns.set_dict({{'last_epoch': 4}})\n[s(), s.last_epoch]"],
    L + "LRScheduler.get_lr": [f"{L}LRScheduler(0.5)", f"{L}StepDecay(0.5, 2).get_lr()"],
}  # fmt: skip

DIFFERS = {
    "official ignores the argument": {"": [
        "steps(lambda p: paddle.optimizer.Momentum(0.1, parameters=p, rescale_grad=0.5), 4)",
    ]},
    "official's attributes of operators are float32, whatever the tensor's dtype": {"": [
        "steps(lambda p: paddle.optimizer.Momentum(0.1, parameters=p), parameters=[paddle.create_parameter([2], 'float64', attr=paddle.ParamAttr('w', initializer=nn.initializer.Constant(0.5)))])",
        "steps(lambda p: paddle.optimizer.Adadelta(0.1, parameters=p), parameters=[paddle.create_parameter([2], 'float64', attr=paddle.ParamAttr('w', initializer=nn.initializer.Constant(0.5)))])",
        "steps(lambda p: paddle.optimizer.Adamax(0.1, parameters=p), parameters=[paddle.create_parameter([2], 'float64', attr=paddle.ParamAttr('w', initializer=nn.initializer.Constant(0.5)))])",
        "steps(lambda p: paddle.optimizer.RMSProp(0.1, parameters=p), parameters=[paddle.create_parameter([2], 'float64', attr=paddle.ParamAttr('w', initializer=nn.initializer.Constant(0.5)))])",
        "steps(lambda p: paddle.optimizer.Lamb(0.1, parameters=p), parameters=[paddle.create_parameter([2], 'float64', attr=paddle.ParamAttr('w', initializer=nn.initializer.Constant(0.5)))])",
        "steps(lambda p: paddle.optimizer.NAdam(0.1, parameters=p), parameters=[paddle.create_parameter([2], 'float64', attr=paddle.ParamAttr('w', initializer=nn.initializer.Constant(0.5)))])",
    ]},
    "rounding to float32 at other places, near zero": {"": [
        "steps(lambda p: paddle.optimizer.Adamax(0.1, parameters=p, weight_decay=paddle.regularizer.L1Decay(0.1)))",
        "steps(lambda p: paddle.optimizer.Lamb(0.1, parameters=p, exclude_from_weight_decay_fn=lambda q: q.name == 'w'), 4)",
        "steps(lambda p: paddle.optimizer.NAdam(0.1, parameters=p, grad_clip=nn.ClipGradByNorm(0.2)))",
        "steps(lambda p: paddle.optimizer.Adam(0.1, parameters=p, weight_decay=paddle.regularizer.L1Decay(0.1)))",
    ]},
    "zeros after clearing are nobody's leaf; a gradient is no alias of the next one": {"": [
        "w = parameter([1.0])\n(w * w).backward()\no = paddle.optimizer.SGD(0.1, [w])\no.zero_grad(False)\nw.grad",
    ]},
}  # fmt: skip

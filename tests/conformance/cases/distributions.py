"""paddle.distribution: parameters, moments, densities, entropies, divergences, transforms; draws by their statistics."""

D = "paddle.distribution."
MADE = {
    "Normal": ["0.5, 2.0", "T([0.5, 1.0]), T([2.0, 0.5])", "np.array([0.5, 1.0]), 1.0"],
    "Uniform": ["0.0, 2.0", "T([0.0, 1.0]), T([2.0, 3.0])"],
    "Bernoulli": ["0.3", "T([0.3, 0.8])"],
    "Beta": ["2.0, 3.0", "T([2.0, 0.5]), T([3.0, 0.7])"],
    "Binomial": ["5, T(0.3)", "T([5, 3], 'int32'), T([0.3, 0.5])"],
    "Categorical": ["T([0.2, 0.3, 0.5])", "T([[0.2, 0.3, 0.5], [1.0, 1.0, 2.0]])"],
    "Cauchy": ["0.5, 2.0", "T([0.5, 1.0]), T([2.0, 0.5])"],
    "Chi2": ["T(3.0)", "T([3.0, 5.0])"],
    "ContinuousBernoulli": ["T(0.3)", "T([0.3, 0.5, 0.8])"],
    "Dirichlet": ["T([2.0, 3.0, 0.5])", "T([[2.0, 3.0], [1.0, 1.5]])"],
    "Exponential": ["T(2.0)", "T([2.0, 0.5])"],
    "Gamma": ["T(2.0), T(3.0)", "T([2.0, 0.5]), T([3.0, 1.0])"],
    "Geometric": ["T(0.3)", "T([0.3, 0.8])"],
    "Gumbel": ["T(0.5), T(2.0)", "T([0.5, 1.0]), T([2.0, 0.5])"],
    "Laplace": ["T(0.5), T(2.0)", "T([0.5, 1.0]), T([2.0, 0.5])"],
    "LogNormal": ["T(0.5), T(0.7)", "T([0.5, 1.0]), T([0.2, 0.5])"],
    "Multinomial": ["5, T([0.2, 0.3, 0.5])"],
    "MultivariateNormal": ["T([0.5, 1.0]), covariance_matrix=T([[2.0, 0.3], [0.3, 1.0]])", "T([0.5, 1.0]), scale_tril=T([[2.0, 0.0], [0.3, 1.0]])"],
    "Poisson": ["T(2.5)", "T([2.5, 0.5])"],
    "StudentT": ["T(5.0), T(0.5), T(2.0)", "T([5.0, 3.5]), T([0.5, 1.0]), T([2.0, 0.5])"],
}
VALUES = {"Bernoulli": "T([1.0, 0.0])", "Beta": "T([0.3, 0.6])", "Binomial": "T([2.0, 3.0])", "Categorical": "T([0, 2])", "ContinuousBernoulli": "T(0.4)", "Dirichlet": "DIR", "Geometric": "T([2.0, 1.0])", "Multinomial": "T([1.0, 2.0, 2.0])", "Poisson": "T([2.0, 1.0])", "MultivariateNormal": "T([0.3, 1.6])", "Uniform": "T([1.3, 1.6])"}
MOMENTS = ("mean", "variance", "stddev", "batch_shape", "event_shape")
KL = ["Normal", "Uniform", "Bernoulli", "Beta", "Categorical", "Cauchy", "ContinuousBernoulli", "Dirichlet", "Exponential", "Gamma", "Geometric", "Laplace", "LogNormal", "MultivariateNormal", "Poisson", "Binomial", "Gumbel"]

CASES = {}
for name, some in MADE.items():
    rows = [f"signature({D}{name})", f"{D}{name}()"]
    for a in some:
        made = f"{D}{name}({a})"
        value = VALUES.get(name, "T([0.3, 1.6])")
        value = value.replace("DIR", "T([0.2, 0.3, 0.5])" if "0.5])" in a else "T([0.4, 0.6])")
        rows += [f"{made}.{m}" for m in MOMENTS] + [f"{made}.entropy()", f"{made}.log_prob({value})", f"{made}.prob({value})"]
        rows += [f"{made}.{f}({value})" for f in ("cdf", "icdf", "pmf", "log_pmf", "probs")]
        rows += [f"{made}.{f}([3])" + (".shape" if f in ("sample", "rsample") else "") for f in ("sample", "rsample")]
        rows += [f"str({made}.sample([2]).dtype)", f"list({made}.sample().shape)", f"{made}.sample([2]).stop_gradient"]
        if name in ("Normal", "Uniform", "Bernoulli", "Exponential", "Poisson", "Laplace", "Geometric", "Cauchy", "Gumbel"):
            rows.append(f"{made}.kl_divergence({made})")
    CASES[D + name] = rows
CASES[D + "kl_divergence"] = [f"{D}kl_divergence({D}{n}({MADE[n][-1]}), {D}{n}({MADE[n][-1].replace('0.5', '0.7')}))" for n in KL] + [
    f"{D}kl_divergence({D}Normal(0.0, 1.0), {D}Uniform(0.0, 1.0))", f"class P({D}Distribution): pass\n@{D}register_kl(P, P)\ndef f(p, q):\n    return 7\n{D}kl_divergence(P(), P())",
]
TRANSFORMS = {
    "AbsTransform": ("", "T([-0.5, 2.0])", "T([0.5, 2.0])"), "AffineTransform": ("T(1.0), T([2.0, -3.0])", "T([0.5, 2.0])", "T([0.5, 2.0])"), "ExpTransform": ("", "T([0.5, 2.0])", "T([0.5, 2.0])"),
    "PowerTransform": ("T(2.0)", "T([0.5, 2.0])", "T([0.5, 2.0])"), "SigmoidTransform": ("", "T([0.5, 2.0])", "T([0.5, 0.2])"), "SoftmaxTransform": ("", "T([0.5, 2.0])", "T([0.5, 0.2])"), "TanhTransform": ("", "T([0.5, 2.0])", "T([0.5, 0.2])"),
    "StickBreakingTransform": ("", "T([0.5, 2.0])", "T([0.3, 0.2, 0.5])"), "ReshapeTransform": ("(2, 3), (3, 2)", "R([2, 3])", "R([3, 2])"),
    "ChainTransform": (f"[{D}AffineTransform(T(0.0), T(2.0)), {D}ExpTransform()]", "T([0.5, 2.0])", "T([0.5, 2.0])"), "IndependentTransform": (f"{D}ExpTransform(), 1", "R([2, 3])", "R([2, 3], low=0.1)"),
    "StackTransform": (f"[{D}ExpTransform(), {D}PowerTransform(T(2.0))], 1", "R([2, 2], low=0.1)", "R([2, 2], low=0.1)"),
}
for name, (a, x, y) in TRANSFORMS.items():
    made = f"{D}{name}({a})"
    CASES[D + name] = [f"{made}.forward({x})", f"{made}.inverse({y})", f"{made}.forward_log_det_jacobian({x})", f"{made}.inverse_log_det_jacobian({y})", f"{made}.forward_shape([2, 3])", f"{made}.inverse_shape([2, 3])", f"signature({D}{name})", f"{made}({x})"]
CASES[D + "TransformedDistribution"] = [f"{D}TransformedDistribution({D}Normal(T([0.0, 1.0]), T([1.0, 2.0])), [{D}ExpTransform()]).log_prob(T([0.5, 2.0]))", f"{D}TransformedDistribution({D}Normal(0.0, 1.0), [{D}AffineTransform(T(1.0), T(2.0))]).sample([3]).shape", f"{D}TransformedDistribution({D}Normal(0.0, 1.0), [{D}AffineTransform(T(1.0), T(2.0))]).prob(T([1.0]))"]
CASES[D + "Independent"] = [f"{D}Independent({D}Normal(T([0.0, 1.0]), T([1.0, 2.0])), 1).{m}" for m in ("batch_shape", "event_shape", "mean", "variance", "entropy()", "log_prob(T([0.5, 1.0]))", "sample([2]).shape")]
CASES[D + "LKJCholesky"] = [f"{D}LKJCholesky(3, 1.5).sample([2]).shape", f"{D}LKJCholesky(2, T([0.5])).log_prob(T([[1.0, 0.0], [0.6, 0.8]]))", f"{D}LKJCholesky(3, 1.0, 'cvine').sample().shape", f"{D}LKJCholesky(1)"]
CASES[D + "Distribution"] = [f"{D}Distribution().sample()", f"public({D[:-1]})", f"{D}Distribution((2,), (3,)).batch_shape"]

CASES[""] = [
    "paddle.distribution.Normal(np.array([0.5, 1.0]), 1.0).variance",
    "paddle.distribution.Normal(np.array([0.5, 1.0]), 1.0).entropy()",
    "paddle.distribution.AbsTransform().forward_shape([2, 3])",
    "paddle.distribution.AbsTransform().inverse_shape([2, 3])",
    "paddle.distribution.ExpTransform().forward_shape([2, 3])",
    "paddle.distribution.ExpTransform().inverse_shape([2, 3])",
    "paddle.distribution.SigmoidTransform().forward_shape([2, 3])",
    "paddle.distribution.SigmoidTransform().inverse_shape([2, 3])",
    "paddle.distribution.SoftmaxTransform().forward_shape([2, 3])",
    "paddle.distribution.SoftmaxTransform().inverse_shape([2, 3])",
    "paddle.distribution.TanhTransform().forward_shape([2, 3])",
    "paddle.distribution.TanhTransform().inverse_shape([2, 3])",
    "paddle.distribution.IndependentTransform(paddle.distribution.ExpTransform(), 1).forward_shape([2, 3])",
    "paddle.distribution.IndependentTransform(paddle.distribution.ExpTransform(), 1).inverse_shape([2, 3])",
    "paddle.distribution.StackTransform([paddle.distribution.ExpTransform(), paddle.distribution.PowerTransform(T(2.0))], 1).forward_shape([2, 3])",
    "paddle.distribution.StackTransform([paddle.distribution.ExpTransform(), paddle.distribution.PowerTransform(T(2.0))], 1).inverse_shape([2, 3])",
]
ARRAY = "np.array([0.5, 1.0])"
CASES[""] += [
    f"d = {D}{name}({arguments})\n[str(v.dtype) for v in (d.{low}, d.{high}, d.entropy(), d.sample(), d.log_prob(T([1.0, 2.0])))]"
    for name, low, high in (("Normal", "loc", "scale"), ("Uniform", "low", "high"))
    for arguments in (f"{ARRAY}, 2.0", f"0.25, {ARRAY}", f"{ARRAY}.astype('float32'), 2.0", f"T({ARRAY}), T({ARRAY} + 1)", "[0.5, 1.0], 2.0", "np.float64(0.0), np.float64(1.0)")
]

DIFFERS = {
    "official rounds to float32 on the way, of parameters in float64": {"": [
        "paddle.distribution.kl_divergence(paddle.distribution.Normal(np.array([0.5, 1.0]), 1.0), paddle.distribution.Normal(np.array([0.7, 1.0]), 1.0))",
    ]},
}  # fmt: skip

"""paddle.distribution against SciPy, numerical integration, and moments of samples."""

import numpy as np
import paddle
import pytest
from paddle import distribution as D  # noqa: N812
from scipy import stats
from scipy.integrate import quad

V = 0.3

LOG_PROBS = [
    (lambda: D.Normal(1.0, 2.0), stats.norm(1, 2), V), (lambda: D.StudentT(3.0, 1.0, 2.0), stats.t(3, 1, 2), V),
    (lambda: D.Gumbel(1.0, 2.0), stats.gumbel_r(1, 2), V), (lambda: D.Laplace(1.0, 2.0), stats.laplace(1, 2), V),
    (lambda: D.Cauchy(1.0, 2.0), stats.cauchy(1, 2), V), (lambda: D.Gamma(2.0, 3.0), stats.gamma(2, scale=1 / 3), V),
    (lambda: D.Chi2(3.0), stats.chi2(3), V), (lambda: D.Beta(2.0, 3.0), stats.beta(2, 3), V),
    (lambda: D.Exponential(2.0), stats.expon(scale=0.5), V), (lambda: D.LogNormal(0.0, 1.0), stats.lognorm(1), V),
    (lambda: D.Uniform(-1.0, 2.0), stats.uniform(-1, 3), V),
]  # fmt: skip


@pytest.mark.parametrize("make, reference, value", LOG_PROBS)
def test_densities_and_entropies(make, reference, value):
    d = make()
    assert float(d.log_prob(paddle.to_tensor(value))) == pytest.approx(reference.logpdf(value), rel=1e-5)
    assert float(d.entropy()) == pytest.approx(reference.entropy(), rel=1e-5)
    if hasattr(d, "cdf") and type(d).cdf is not getattr(D.Distribution, "cdf", None):
        assert float(d.cdf(paddle.to_tensor(value))) == pytest.approx(reference.cdf(value), rel=1e-5)


def test_counts():
    four = paddle.to_tensor(4.0)
    assert float(D.Binomial(10, 0.3).log_prob(four)) == pytest.approx(stats.binom(10, 0.3).logpmf(4), rel=1e-5)
    assert float(D.Binomial(10, 0.3).entropy()) == pytest.approx(stats.binom(10, 0.3).entropy(), rel=1e-5)
    assert float(D.Poisson(3.0).log_prob(four)) == pytest.approx(stats.poisson(3).logpmf(4), rel=1e-5)
    assert float(D.Poisson(3.0).entropy()) == pytest.approx(stats.poisson(3).entropy(), rel=1e-5)
    assert float(D.Geometric(0.3).log_prob(4)) == pytest.approx(stats.geom(0.3, loc=-1).logpmf(4), rel=1e-5)
    m, r = D.Multinomial(5, paddle.to_tensor([0.2, 0.3, 0.5])), stats.multinomial(5, [0.2, 0.3, 0.5])
    assert float(m.log_prob(paddle.to_tensor([1.0, 2.0, 2.0]))) == pytest.approx(r.logpmf([1, 2, 2]), rel=1e-5)
    assert float(m.entropy()) == pytest.approx(r.entropy(), rel=1e-5)


def test_vectors():
    c = np.array([[2, 1], [1, 2.0]], "float32")
    r = stats.multivariate_normal([2, 5], c)
    for given in (
        {"covariance_matrix": c},
        {"precision_matrix": np.linalg.inv(c)},
        {"scale_tril": np.linalg.cholesky(c)},
    ):
        d = D.MultivariateNormal(paddle.to_tensor([2.0, 5.0]), **{k: paddle.to_tensor(v) for k, v in given.items()})
        assert float(d.log_prob(paddle.to_tensor([1.0, 4.0]))) == pytest.approx(r.logpdf([1, 4]), rel=1e-5)
        assert float(d.entropy()) == pytest.approx(r.entropy(), rel=1e-5)
    d, r = D.Dirichlet(paddle.to_tensor([1.0, 2.0, 3.0])), stats.dirichlet([1, 2, 3])
    assert float(d.log_prob(paddle.to_tensor([0.2, 0.3, 0.5]))) == pytest.approx(r.logpdf([0.2, 0.3, 0.5]), rel=1e-5)
    assert float(d.entropy()) == pytest.approx(r.entropy(), rel=1e-5)


@pytest.mark.parametrize("p", [0.2, 0.4995, 0.7])
def test_continuous_bernoulli(p):
    d = D.ContinuousBernoulli(p)
    density = lambda x: float(d.prob(paddle.to_tensor(float(x))))  # noqa: E731
    assert quad(density, 0, 1)[0] == pytest.approx(1, rel=1e-4)
    mean = quad(lambda x: x * density(x), 0, 1)[0]
    assert float(d.mean) == pytest.approx(mean, rel=1e-3)
    assert float(d.variance) == pytest.approx(quad(lambda x: x * x * density(x), 0, 1)[0] - mean**2, rel=4e-3)
    assert float(d.icdf(d.cdf(paddle.to_tensor(V)))) == pytest.approx(V, rel=1e-3)


PAIRS = [
    (lambda: (D.Gamma(2.0, 3.0), D.Gamma(1.5, 2.0)), stats.gamma(2, scale=1 / 3), stats.gamma(1.5, scale=0.5), 1e-9, 40),
    (lambda: (D.Beta(2.0, 3.0), D.Beta(1.5, 2.0)), stats.beta(2, 3), stats.beta(1.5, 2), 1e-9, 1 - 1e-9),
    (lambda: (D.Laplace(0.0, 1.0), D.Laplace(1.0, 2.0)), stats.laplace(0, 1), stats.laplace(1, 2), -40, 40),
    (lambda: (D.Normal(0.0, 1.0), D.Normal(1.0, 2.0)), stats.norm(0, 1), stats.norm(1, 2), -12, 12),
    (lambda: (D.Exponential(2.0), D.Exponential(0.7)), stats.expon(scale=0.5), stats.expon(scale=1 / 0.7), 0, 60),
    (lambda: (D.Cauchy(0.0, 1.0), D.Cauchy(1.0, 2.0)), stats.cauchy(0, 1), stats.cauchy(1, 2), -np.inf, np.inf),
]  # fmt: skip


@pytest.mark.parametrize("make, p, q, low, high", PAIRS)
def test_divergences(make, p, q, low, high):
    a, b = make()
    want = quad(lambda x: p.pdf(x) * (p.logpdf(x) - q.logpdf(x)), low, high)[0]
    assert float(D.kl_divergence(a, b)) == pytest.approx(want, rel=2e-4)
    assert float(a.kl_divergence(b)) == pytest.approx(want, rel=2e-4)


def test_registered_divergence():
    class Mine(D.Normal):
        pass

    @D.register_kl(Mine, D.Uniform)
    def _(p, q):
        return paddle.to_tensor(7.0)

    assert float(D.kl_divergence(Mine(0.0, 1.0), D.Uniform(0.0, 1.0))) == 7.0
    with pytest.raises(NotImplementedError):
        D.kl_divergence(D.Normal(0.0, 1.0), D.Uniform(0.0, 1.0))


SAMPLED = [
    lambda: D.Normal(1.0, 2.0), lambda: D.Uniform(-1.0, 2.0), lambda: D.Laplace(1.0, 2.0), lambda: D.Gumbel(1.0, 2.0),
    lambda: D.Gamma(0.5, 2.0), lambda: D.Gamma(5.0, 2.0), lambda: D.Beta(2.0, 3.0), lambda: D.Exponential(2.0),
    lambda: D.Poisson(3.0), lambda: D.Geometric(0.3), lambda: D.Binomial(10, 0.3), lambda: D.Binomial(200, 0.7),
    lambda: D.Bernoulli(0.3), lambda: D.LogNormal(0.0, 0.5), lambda: D.Chi2(3.0), lambda: D.StudentT(8.0, 1.0, 2.0),
    lambda: D.ContinuousBernoulli(0.2),
]  # fmt: skip


@pytest.mark.parametrize("make", SAMPLED)
def test_moments_of_samples(make):
    paddle.seed(5)
    d, n = make(), 40000
    x = d.sample([n]).numpy().astype("float64")
    mean, variance = float(d.mean), float(d.variance)
    assert x.shape == (n,)
    assert abs(x.mean() - mean) < 5 * np.sqrt(variance / n)
    assert x.var() == pytest.approx(variance, rel=0.15)


def test_shapes_and_gradients():
    loc = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
    d = D.Normal(loc, paddle.to_tensor([1.0, 2.0]))
    assert d.batch_shape == (2,) and d.sample([3, 4]).shape == [3, 4, 2]
    d.rsample([5]).sum().backward()
    np.testing.assert_array_equal(loc.grad.numpy(), [5.0, 5.0])
    i = D.Independent(d, 1)
    assert i.batch_shape == () and i.event_shape == (2,) and i.log_prob(paddle.zeros([2])).shape == []
    assert D.Multinomial(4, paddle.ones([3, 5])).sample([2]).sum(-1).numpy().tolist() == [[4.0] * 3] * 2
    assert D.Categorical(paddle.ones([3, 5])).sample([2, 6]).shape == [2, 6, 3]
    for method in ("onion", "cvine"):
        factor = D.LKJCholesky(4, 1.5, method).sample([7]).numpy()
        np.testing.assert_allclose((factor @ factor.transpose(0, 2, 1)).diagonal(axis1=1, axis2=2), 1, rtol=1e-5)


@pytest.mark.parametrize(
    "transform, x",
    [
        (lambda: D.ExpTransform(), [0.1, 0.7]), (lambda: D.SigmoidTransform(), [0.1, -0.7]),
        (lambda: D.TanhTransform(), [0.1, -0.7]), (lambda: D.PowerTransform(paddle.to_tensor(2.0)), [0.1, 0.7]),
        (lambda: D.AffineTransform(paddle.to_tensor(1.0), paddle.to_tensor(-2.0)), [0.1, 0.7]),
        (lambda: D.ChainTransform([D.AffineTransform(paddle.to_tensor(1.0), paddle.to_tensor(2.0)), D.ExpTransform()]), [0.1, 0.7]),
    ],
)  # fmt: skip
def test_elementwise_transforms(transform, x):
    t, x = transform(), paddle.to_tensor(x, stop_gradient=False)
    y = t.forward(x)
    np.testing.assert_allclose(t.inverse(y).numpy(), x.numpy(), rtol=1e-5)
    (slope,) = paddle.grad(y.sum(), x)
    np.testing.assert_allclose(
        t.forward_log_det_jacobian(x).numpy(), np.log(np.abs(slope.numpy())), rtol=1e-5, atol=1e-6
    )
    np.testing.assert_allclose(
        t.inverse_log_det_jacobian(y).numpy(), -np.log(np.abs(slope.numpy())), rtol=1e-4, atol=1e-6
    )


def test_stick_breaking():
    t, x = D.StickBreakingTransform(), paddle.to_tensor([0.3, -0.2, 0.5], dtype="float64")
    y = t.forward(x)
    assert float(y.sum()) == pytest.approx(1)
    np.testing.assert_allclose(t.inverse(y).numpy(), x.numpy(), rtol=1e-9)
    jacobian = np.array([
        (t.forward(x + e)[:3] - t.forward(x - e)[:3]).numpy() / 2e-6 for e in paddle.eye(3, dtype="float64") * 1e-6
    ])  # fmt: skip
    assert float(t.forward_log_det_jacobian(x)) == pytest.approx(np.log(abs(np.linalg.det(jacobian))), rel=1e-5)
    d = D.TransformedDistribution(D.Normal(paddle.zeros([3]), paddle.ones([3])), [t])
    assert (
        d.event_shape == (4,) and d.sample([2]).shape == [2, 4] and d.log_prob(t.forward(paddle.zeros([3]))).shape == []
    )

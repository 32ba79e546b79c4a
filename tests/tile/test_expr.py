"""The parser of expressions, and the derivatives it takes: against finite differences of the NumPy form."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from opgen import expr, scalar


class _Special:
    """The few functions of scipy.special that the tests here need, where SciPy is not installed."""

    erf = staticmethod(np.vectorize(math.erf))
    erfc = staticmethod(np.vectorize(math.erfc))
    gammaln = staticmethod(np.vectorize(math.lgamma))


try:
    from scipy import special as sp
except ImportError:
    sp = _Special

FUNCTIONS = scalar.load(ROOT)


def run(prog, *values):
    space = {"np": np, "sp": sp}
    exec(expr.numpy_source(prog), space)  # noqa: S102 - text that we generated
    with np.errstate(all="ignore"):
        return space["reference"](*values)


def difference(prog, values, which, step=1e-6):
    """The central difference of the first output in operand `which`."""
    high, low = list(values), list(values)
    high[which], low[which] = high[which] + step, low[which] - step
    return (1.0 * run(prog, *high) - 1.0 * run(prog, *low)) / (2 * step)


# Operands inside the domain, away from kinks; the default is good for most.
DOMAIN = {
    "asin": [0.3], "acos": [0.3], "atanh": [0.3], "erfinv": [0.3], "acosh": [1.7], "gammainc": [1.3, 0.8],
    "gammaincc": [1.3, 0.8], "polygamma": [1.0, 0.8], "where": [1.0, 0.4, 0.9],
}  # fmt: skip
NO_REFERENCE = {"erfinv", "digamma", "polygamma", "gammainc", "gammaincc", "i0", "i0e", "i1", "i1e"}


@pytest.mark.parametrize("name", [n for n, f in FUNCTIONS.items() if f.arity and not f.boolean and "float" in f.types])
def test_derivative_of_each_function(name):
    fn = FUNCTIONS[name]
    names = ["a", "b", "c"][: fn.arity]
    prog = expr.parse(f"{name}({', '.join(names)})", names)
    values = [np.float64(v) for v in DOMAIN.get(name, [0.7, 1.9, -0.4])[: fn.arity]]
    for k, rule in enumerate(fn.derivative):
        if rule is None:
            with pytest.raises(expr.ExprError, match="no derivative"):
                expr.derivative(prog, k)
            continue
        if name == "where" and k == 0:
            continue  # a step in the condition is no small change
        back = expr.derivative(prog, k)
        missing = {i.fn for i in (*prog.instrs, *back.instrs)} & NO_REFERENCE
        if missing and not hasattr(sp, "psi"):
            pytest.skip(f"SciPy is not installed: no reference for {sorted(missing)}")
        np.testing.assert_allclose(run(back, *values), difference(prog, values, k), rtol=2e-7, atol=2e-8)


EXPRESSIONS = {
    "leaky_relu": ("where(x > 0, x, x * y)", 2),
    "gelu": ("0.5 * x * (1 + erf(x * 0.7071067811865476))", 1),
    "softplus": ("where(x * y > 20, x, log1p(exp(x * y)) / y)", 2),
    "elu": ("where(x > 0, x, y * expm1(x))", 2),
    "silu": ("x * sigmoid(x)", 1),
    "mish": ("x * tanh(log1p(exp(x)))", 1),
    "quotient": ("(x * x + y) / (y * y + 1)", 2),
    "clip": ("min(max(x, -0.5), y)", 2),
    "hardswish": ("x * min(max(x + 3, 0), 6) / 6", 1),
    "power": ("x ** y + x ** 3 + 2 ** x", 2),
    "reused": ("sin(x) * sin(x) + sin(x) * y", 2),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_vjp_of_expressions_and_their_second_derivative(name):
    text, arity = EXPRESSIONS[name]
    prog = expr.parse(text, ["x", "y"][:arity])
    rng = np.random.default_rng(3)
    x, y, g = rng.uniform(0.2, 2, 40), rng.uniform(0.6, 1.5, 40), rng.normal(size=40)
    if name not in ("power", "softplus"):
        x[::2] *= -1
    for k in range(arity):
        values = [x, y][:arity]
        back = expr.vjp(prog, k)
        read = {"x": x, "y": y, "out_grad": g}
        np.testing.assert_allclose(
            run(back, *(read[n] for n in back.inputs)), g * difference(prog, values, k), rtol=1e-6, atol=1e-7
        )
        once = expr.derivative(prog, k)
        np.testing.assert_allclose(
            run(expr.derivative(once, k), *values) + 0 * x, difference(once, values, k) + 0 * x, rtol=1e-5, atol=1e-6
        )


def test_vjp_reads_what_is_saved():
    prog = expr.parse("tanh(x)", ["x"])
    back = expr.vjp(prog, "x", saves=["out"])
    assert back.inputs == ("out", "out_grad")
    assert {i.fn for i in back.instrs} == {"constant", "mul", "sub"}
    x, g = np.linspace(-2, 2, 9), np.arange(9.0)
    np.testing.assert_allclose(run(back, np.tanh(x), g), g * (1 - np.tanh(x) ** 2))
    with pytest.raises(expr.ExprError, match="reads 'x'"):
        expr.vjp(expr.parse("sin(x)", ["x"]), "x", saves=["out"])


def test_vjp_sums_over_outputs():
    prog = expr.parse("x * y, x + y", ["x", "y"])
    back = expr.vjp(prog, "x", outputs=["p", "s"])
    values = {"y": 3.0, "p_grad": 5.0, "s_grad": 7.0}
    assert run(back, *(values[n] for n in back.inputs)) == 5 * 3 + 7


def test_no_zero_times_infinity_in_a_branch_not_taken():
    back = expr.vjp(expr.parse("where(x > 0, log(x), 0)", ["x"]), "x")
    np.testing.assert_array_equal(run(back, np.array([0.0, 2.0]), np.array([1.0, 1.0])), [0, 0.5])


def test_python_operators():
    values = {"x": np.int64(-7), "y": np.int64(2)}
    for text in ["x + y", "x - y", "x * y", "x // y", "x % y", "-x", "x & y", "x | y", "x ^ y", "~x", "x << y", "x >> y",
                 "x == y", "x != y", "x < y <= 3", "x if y > 1 else 5", "not x", "x > 0 or y > 0", "x > 0 and y > 0",
                 "min(x, y, 0)", "+x"]:  # fmt: skip
        prog = expr.parse(text, ["x", "y"])
        assert run(prog, values["x"], values["y"]) == eval(text, {}, dict(values)), text


def test_equal_values_are_computed_once():
    prog = expr.parse("exp(x + 1) / (exp(x + 1) + 1)", ["x"])
    assert [i.fn for i in prog.instrs] == ["constant", "add", "exp", "add", "div"]


def test_constants_keep_their_kind():
    assert expr.parse("x / (1 / 2)", ["x"]).instrs[0].fn == "constant"
    # 1 / 2 is 0 to an integer program: it must not be folded to 0.5.
    assert sum(i.fn == "div" for i in expr.parse("x / (1 / 2)", ["x"]).instrs) == 2
    assert run(expr.parse("x * inf", ["x"]), 2.0) == math.inf


def test_source_reads_back():
    for text, arity in EXPRESSIONS.values():
        prog = expr.parse(text, ["x", "y"][:arity])
        again = expr.parse(expr.source(prog), ["x", "y"][:arity])
        assert again.instrs == prog.instrs
        assert again.outputs == prog.outputs


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("x + zz", 4, "unknown name 'zz'"),
        ("x * foo(x)", 4, "unknown function 'foo'"),
        ("1 + sin(x, x)", 4, "sin takes 1 operands, got 2"),
        ("x[0]", 0, "Subscript is not part"),
        ("x is x", 0, "comparison Is"),
        ("exp(a=x)", 0, "plain call"),
        ("", 0, "not an expression"),
    ],
)
def test_errors_point_at_the_place(text, column, message):
    with pytest.raises(expr.ExprError, match=message) as fault:
        expr.parse(text, ["x"])
    assert fault.value.column == column


def test_the_cpp_form_compiles(tmp_path):
    progs = {"elu": expr.parse("where(x > 0, x, alpha * expm1(x))", ["x"], ["alpha"]), "same": expr.parse("x", ["x"]),
             "odd": expr.parse("max(x, -inf) + nan", ["x"])}  # fmt: skip
    scalar.generate(ROOT, tmp_path)
    code = '#include "base/scalar.h"\n' + "".join(expr.emit_cpp(p, n) for n, p in progs.items())
    code += "static_assert(elu.instrs.size() == 5 && elu.num_params == 1 && same.instrs.empty());\n"
    (tmp_path / "code.cc").write_text(code)
    include = ["-I", str(ROOT / "src"), "-I", str(tmp_path)]
    subprocess.run(["c++", "-std=c++20", "-fsyntax-only", *include, str(tmp_path / "code.cc")], check=True)


def test_a_wrong_record_is_named_with_its_line(tmp_path):
    (tmp_path / "ops").mkdir()
    good = "- {name: neg, arity: 1, types: [float], c: '(-$0)', derivative: ['-1'], numpy: '-a'}\n"
    (tmp_path / "ops" / "scalar.yaml").write_text(good + good.replace("['-1']", "[]").replace("neg", "pos"))
    with pytest.raises(scalar.ScalarError, match=r"scalar.yaml:2: pos: expected 1 derivatives, got 0"):
        scalar.load(tmp_path)

"""`loops` of a record: the nest that the compiler gets, and what is said about wrong ones."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from opgen.loop_lang import parse_loops, rule_names  # noqa: E402
from opgen.signature import parse_signature  # noqa: E402

ARGS = parse_signature("x: Tensor, w: Tensor, xs: Tensor[], axis: int = -1, flatten: bool = False, mode: str = 'a'")
OUTS = parse_signature("out: Tensor, at: Tensor", allow_default=False)
FUNCTIONS = {"exp": 1, "isnan": 1, "max": 2}


def parse(text, outs=OUTS[:1]):
    return parse_loops(text, ARGS, outs, {"gather", "scatter"}, FUNCTIONS)


def test_a_nest_becomes_lists():
    assert parse("out[..., i, j] = sum[k](x[..., i, k] * w[k, j])") == (
        "(set out (at ... (i i) (i j)) (reduce sum (over k) (mul (read x ... (i i) (i k)) (read w (i k) (i j)))))"
    )
    assert parse("out[i:axis|flatten] = x[i:axis|flatten] if not flatten and i < size(x, 0) - 1 else -inf") == (
        "(set out (at (along (i i) axis flatten)) (if (logical_and (logical_not (arg flatten)) "
        "(lt (i i) (sub (size x 0) (int 1)))) (read x (along (i i) axis flatten)) (neg (number inf))))"
    )


def test_several_outputs_and_a_value_that_both_read():
    assert parse("m = max[j](x[j:axis]); out[:axis] = m; at[:axis] = min[j](j if x[j:axis] == m else 9)", OUTS) == (
        "(let m (reduce max (over j) (read x (along (i j) axis)))) (set out (at (along - axis)) (value m)) "
        "(set at (at (along - axis)) (reduce min (over j) (if (eq (read x (along (i j) axis)) (value m)) (i j) (int 9))))"
    )


def test_rules_and_kernels():
    assert parse("rule: gather") == "rule gather"
    assert parse("kernel: row by row") == "kernel"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rule: gathr", "no rule 'gathr' in src/cinn/group (did you mean 'gather'?)"),
        ("kernel:", "is followed by what the kernel does"),
        ("out[i] = y[i]", "'y' is no tensor argument"),
        ("out[i] = x[i] +", "invalid syntax"),
        ("outt[i] = x[i]", "'outt' is no output (did you mean 'out'?)"),
        ("out[i] = x", "'x' is no index, argument or value; a tensor is read as x[...]"),
        ("out[i] = summ[k](x[k])", "'summ' is no reduction (did you mean 'sum'?)"),
        ("out[i] = ex(x[i])", "'ex' is no scalar function (did you mean 'exp'?)"),
        ("out[i] = max(x[i])", "max() takes 2 arguments"),
        ("out[i] = mode", "'mode' (str) is no number"),
        ("out[i] = xs[i]", "'xs' is a list of tensors: that needs a rule"),
        ("out[i:axes] = x[i:axes]", "'axes' is no argument of kind int or Scalar or Ints (did you mean 'axis'?)"),
        ("out[i + 1] = x[i]", "an output's indices are plain"),
        ("x = 3; out[i] = x[i]", "'x' is already the name of something else"),
        ("out[i] = size(x, i)", "expected size(tensor, dimension)"),
        ("out[i] = x[i].real", "is nothing that a nest can hold"),
        ("x[i]", "expected `output[indices] = expression`"),
    ],
)
def test_what_is_wrong_is_said(text, message):
    with pytest.raises(ValueError) as caught:
        parse(text)
    assert message in str(caught.value)


def test_an_output_that_nothing_writes():
    with pytest.raises(ValueError, match="nothing says what 'at' is"):
        parse("out[i] = x[i]", OUTS)


def test_the_rules_of_the_compiler_are_found():
    assert {"matmul", "convolution", "view", "argsort", "adam"} <= rule_names(ROOT)


def test_a_wrong_nest_is_named_by_file_and_line(tmp_path):
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops/scalar.yaml").write_text((ROOT / "ops/scalar.yaml").read_text())
    (tmp_path / "src/phi/rules").mkdir(parents=True)
    (tmp_path / "src/phi/rules/infer.h").write_text((ROOT / "src/phi/rules/infer.h").read_text())
    (tmp_path / "ops/tiny.yaml").write_text(
        "- op: twice\n  args: x: Tensor\n  out: out: Tensor\n  shape: same_as(x)\n  dtype: float\n"
        "  loops: out[i] = 2 * z[i]\n  nondifferentiable: true\n  doc: 2 x.\n"
    )
    result = subprocess.run(
        [sys.executable, ROOT / "tools/opgen", "--root", tmp_path, "--out", tmp_path / "out"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 1
    assert result.stderr.startswith("ops/tiny.yaml:6: [twice] loops: 'z' is no tensor argument"), result.stderr

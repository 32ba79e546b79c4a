"""The generator: what it makes of a small record, and what it says about wrong ones."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

TINY = """\
# one family
- op: softsign
  args: x: Tensor, slope: float = 0.5
  out: out: Tensor
  expr: x / (slope + abs(x))
  dtype: float
  inplace: {out: x}
  alias: {x: input}
  python: [paddle.nn.functional.softsign]
  samples: [{x: f32[2,3]}, {x: "f64[4](0,1).t", slope: 2}]
  errors: [{x: i32[2], raises: TypeError}]
  doc: |
    x / (slope + |x|).

- op: multiply
  args: x: Tensor, y: Tensor
  out: out: Tensor
  expr: x * y
  dtype: float
  promote: tensors
  doc: |
    x * y.
"""

SUPPORT = """
- op: divide
  args: x: Tensor, y: Tensor
  out: out: Tensor
  expr: x / y
  dtype: float
  doc: x / y.

- op: add
  args: x: Tensor, y: Tensor
  out: out: Tensor
  expr: x + y
  dtype: float
  doc: x + y.

- op: subtract
  args: x: Tensor, y: Tensor
  out: out: Tensor
  expr: x - y
  dtype: float
  doc: x - y.

- op: abs
  args: x: Tensor
  out: out: Tensor
  expr: abs(x)
  dtype: float
  doc: The absolute value.

- op: sign
  args: x: Tensor
  out: out: Tensor
  expr: sign(x)
  dtype: float
  doc: The sign.
"""


@pytest.fixture
def tree(tmp_path):
    """A source tree that holds just what the generator reads."""
    (tmp_path / "ops").mkdir()
    shutil.copy(ROOT / "ops" / "scalar.yaml", tmp_path / "ops")
    (tmp_path / "src/phi/rules").mkdir(parents=True)
    shutil.copy(ROOT / "src/phi/rules/infer.h", tmp_path / "src/phi/rules")
    return tmp_path


def run(tree):
    return subprocess.run(
        [sys.executable, ROOT / "tools/opgen", "--root", tree, "--out", tree / "out"],
        capture_output=True,
        text=True,
        check=False,
    )


def generated(tree, records):
    (tree / "ops/tiny.yaml").write_text(records)
    result = run(tree)
    assert result.returncode == 0, result.stderr
    return tree / "out"


def test_typed_functions(tree):
    out = generated(tree, TINY + SUPPORT)
    header = (out / "api/ops_tiny.h").read_text()
    assert "Tensor softsign(const Tensor& x, double slope = 0.5);\n" in header
    assert "Tensor& softsign_(Tensor& x, double slope = 0.5);\n" in header
    assert "Tensor softsign_grad(const Tensor& x, const Tensor& out_grad, double slope);\n" in header
    source = (out / "api/ops_tiny.cc").read_text()
    assert (
        "Tensor softsign(const Tensor& x, double slope) {\n"
        "  Arg args[] = {Arg(x), Arg(slope)};\n"
        "  OpCall call(tiny_table[0], args);\n"
        "  dispatch::call(call);\n"
        "  return std::move(call.out0.tensor);\n"
        "}\n"
    ) in source


def test_families_that_stand_apart(tree):
    (tree / "ops/far.yaml").write_text(SUPPORT.split("\n\n")[0].replace("divide", "over").replace("  doc", "  apart: true\n  doc"))
    umbrella = (generated(tree, TINY + SUPPORT) / "api/ops.h").read_text()
    assert "ops_tiny.h" in umbrella
    assert "ops_far.h" not in umbrella


def test_table_rows(tree):
    table = (generated(tree, TINY + SUPPORT) / "api/op_table.cc").read_text()
    row = next(line for line in table.splitlines() if '.name = "softsign", .family' in line)
    assert "kElementwise | OpTraits" not in row
    assert "uint64_t(kElementwise | kInplaceVariant | kPrimitive)" in row
    assert ".expr = &tables::softsign_expr" in row
    assert ".vjp = rules::glue::vjp_softsign" in row
    assert '.name = "slope", .kind = ArgKind::kFloat, .has_default = true, .default_text = "0.5"' in table
    # by_name is what find_op searches: ids sorted by name, so with gradients softsign stands behind sign
    names = [line.split('"')[1] for line in table.splitlines() if line.startswith("    {.name") and ".family" in line]
    order = [int(n) for n in table.split("by_name[] = {")[1].split("}")[0].split(",")]
    assert [names[i] for i in order] == sorted(names)


def test_gradient_of_several_tensors_is_a_composition_that_undoes_broadcasting(tree):
    rules = (generated(tree, TINY + SUPPORT) / "phi/rules_tiny.cc").read_text()
    multiply = rules.split("namespace multiply {")[1].split("namespace glue")[0]
    assert "ops::multiply(v.out_grad, v.y)" in multiply
    assert "v.x_grad = compose::unbroadcast(t2, v.x);" in multiply
    assert "ops::multiply(v.out_grad, v.x)" in multiply


def test_vjp_sees_only_what_is_saved(tree):
    rules = (generated(tree, TINY + SUPPORT) / "phi/rules_tiny.cc").read_text()
    add = rules.split("namespace add {")[1].split("namespace glue")[0].split("struct Vjp")[1]
    assert "TensorMeta x;" in add
    assert "const Tensor& x;" not in add


PASSES = """
- op: convolve
  args: "x: Tensor, w: Tensor, format: str = \\"NCHW\\", groups: int = 1"
  out: out: Tensor
  shape: same_as(x)
  dtype: float
  nondifferentiable: true
  layout: {format: x}
  doc: Like a convolution.

- op: convolve_act
  args: "x: Tensor, w: Tensor, b: Tensor?, act: str = \\"\\", order: str = \\"NCHW\\", groups: int = 1"
  out: out: Tensor
  shape: same_as(x)
  dtype: float
  nondifferentiable: true
  layout: {order: x}
  fuses: {op: convolve, args: {format: order}, bias: b, where: {groups: 1}, dtypes: [float32]}
  doc: And what follows it.

- op: norm
  args: "x: Tensor, mean: Tensor, test: bool = False, batch: bool = False, global: bool = False"
  out: out: Tensor, mean_out: Tensor
  shape: same_as(x)
  dtype: float
  nondifferentiable: true
  inplace: {mean_out: mean}
  traits: [inplace_only]
  evaluation: global or test and not batch
  doc: Like a normalisation.
"""


def test_what_passes_ask(tree):
    table = (generated(tree, PASSES) / "api/op_table.cc").read_text()
    assert "convolve_act_fuses_args[] = {0, 1, 4, 5};" in table
    assert "convolve_act_fuses_where[] = {{5, 1}};" in table
    assert '.op = "convolve"' in table and ".bias = 2, .residual = -1" in table
    assert "norm_evaluation[] = {{4, true, true}, {2, true, false}, {3, false, true}};" in table
    rows = table.split("pass_rows[] = {{}, ")[1].split("};\n")[0]
    assert (
        rows
        == "{2, 1, {}, nullptr}, {4, 1, {}, &tables::convolve_act_fuses}, {-1, 0, tables::norm_evaluation, nullptr}"
    )
    assert "pass_row_of[] = {1, 2, 3};" in table


WRONG_PASSES = [
    ("layout: {format: x}", "layout: {format: y}", 8, "layout: 'y' is no Tensor or Tensor? argument"),
    ("layout: {format: x}", "layout: {groups: x}", 8, "layout: 'groups' is no str argument"),
    ("fuses: {op: convolve,", "fuses: {op: convolv,", 18, "there is no operator 'convolv' (did you mean 'convolve'?)"),
    ("args: {format: order}, ", "", 18, "convolve's 'format' has no counterpart here"),
    ("bias: b", "bias: w", 18, "'w' is no Tensor? argument"),
    ("evaluation: global", "evaluation: globally", 29, "'globally' is no bool argument (did you mean 'global'?)"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), WRONG_PASSES, ids=[w[3][:30] for w in WRONG_PASSES])
def test_a_wrong_word_to_passes(tree, old, new, line, message):
    assert PASSES.count(old) == 1
    (tree / "ops/tiny.yaml").write_text(PASSES.replace(old, new))
    result = run(tree)
    assert result.returncode == 1
    assert result.stderr.startswith(f"ops/tiny.yaml:{line}: ["), result.stderr
    assert message in result.stderr


def test_test_rows(tree):
    rows = json.loads((generated(tree, TINY + SUPPORT) / "tests/op_rows.json").read_text())
    row = rows[0]
    assert row["samples"][0] == {"x": {"dtype": "float32", "shape": [2, 3], "flags": []}}
    assert row["samples"][1]["x"] == {"dtype": "float64", "shape": [4], "low": 0.0, "high": 1.0, "flags": ["t"]}
    assert row["errors"] == [
        {"raises": "TypeError", "match": "", "args": {"x": {"dtype": "int32", "shape": [2], "flags": []}}}
    ]
    assert row["line"] == "ops/tiny.yaml:2"
    namespace = {"np": pytest.importorskip("numpy")}
    exec(row["numpy"], namespace)  # noqa: S102
    assert namespace["reference"](-3.0, 1.0) == -0.75


def test_python_rows_name_the_public_functions(tree):
    rows = (generated(tree, TINY + SUPPORT) / "bindings/py_ops.inc").read_text()
    assert 'softsign_alias[] = {{"input", 0}};' in rows
    assert 'softsign_names[] = {"paddle.nn.functional.softsign"};' in rows
    assert 'softsign_inplace[] = {"paddle.nn.functional.softsign_"};' in rows


def test_a_file_is_rewritten_only_when_its_text_changes(tree):
    out = generated(tree, TINY + SUPPORT)
    before = {p: p.stat().st_mtime_ns for p in out.rglob("*") if p.is_file()}
    time.sleep(0.02)
    generated(tree, (TINY + SUPPORT).replace("x / (slope + |x|).", "Another line."))
    changed = {p.relative_to(out).as_posix() for p, t in before.items() if p.stat().st_mtime_ns != t}
    assert changed == {"api/ops_tiny.h", "docs/reference/tiny.md", "python/_C_ops.pyi", "python/_op_docs.py"}


WRONG = [
    (
        "  dtype: float\n  inplace",
        "  shap: same_as(x)\n  dtype: float\n  inplace",
        6,
        "unknown field 'shap' (did you mean 'shape'?)",
    ),
    ("slope: float = 0.5", "slope: flot = 0.5", 3, "unknown kind 'flot' (did you mean 'float'?)"),
    ("slope: float = 0.5", "slope: float = yes", 3, "'yes' is not a default value"),
    ("slope: float = 0.5", "slope: int = 0.5", 3, "0.5 is no default for int"),
    ("abs(x)", "abs(z)", 5, "unknown name 'z'"),
    ("  dtype: float\n  inplace", "  dtype: flaot\n  inplace", 6, "unknown dtype set 'flaot' (did you mean 'float'?)"),
    ("  dtype: float\n  inplace", "  inplace", 2, "field 'dtype' is missing"),
    ("inplace: {out: x}", "inplace: {out: y}", 7, "'y' is no argument"),
    ("alias: {x: input}", "alias: {z: input}", 8, "'z' is no argument"),
    ("{x: f32[2,3]}", "{x: f32}", 10, "'f32' is no tensor; expected e.g. f32[2,3]"),
    ("{x: f32[2,3]}", "{y: f32[2,3]}", 10, "'y' is no argument"),
    ("raises: TypeError", "raises: Error", 11, "expected one of ValueError"),
    ("python: [paddle.nn", "python: [nn", 9, "is no public name"),
    ("  expr: x / (slope + abs(x))\n", "  shape: same_as(x)\n", 2, "has neither a vjp, nor a composition"),
    ("  expr: x / (slope + abs(x))\n", "  shape: same_as(x)\n  rules: [vjp]\n", 6, "saves: says what the vjp reads"),
    (
        "  expr: x / (slope + abs(x))\n",
        "  shape: same_ass(x)\n  nondifferentiable: true\n",
        5,
        "unknown shape template 'same_ass'",
    ),
    ("  inplace: {out: x}\n", "  saves: [slope]\n", 7, "'slope' is neither a tensor nor `name.meta`"),
    ("  inplace: {out: x}\n", "  saves: [out]\n", 5, "the gradient reads 'x', which is not among saves"),
    ("  inplace: {out: x}\n", "  pir: slope; x\n", 7, "slope (float) can't be an operand; put it after ';'"),
    ("  inplace: {out: x}\n", "  traits: [random]\n", 7, "'random' is no trait"),
    ("- op: multiply", "- op: softsign", 15, "is already defined at ops/tiny.yaml:2"),
    (
        "x * y\n  dtype: float\n  promote: tensors",
        "x * y\n  dtype: float\n  promote: tensor",
        20,
        "'tensor' is no tensor",
    ),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), WRONG, ids=[w[3][:40] for w in WRONG])
def test_a_wrong_record_is_named_by_file_and_line(tree, old, new, line, message):
    assert (TINY + SUPPORT).count(old) >= 1
    (tree / "ops/tiny.yaml").write_text((TINY + SUPPORT).replace(old, new, 1))
    result = run(tree)
    assert result.returncode == 1
    assert result.stderr.startswith(f"ops/tiny.yaml:{line}: ["), result.stderr
    assert message in result.stderr


def test_no_operator_for_what_a_gradient_needs(tree):
    """The gradient of softsign's gradient needs sign; without it the record that asks is named."""
    (tree / "ops/tiny.yaml").write_text(TINY + SUPPORT.split("\n- op: sign")[0])
    result = run(tree)
    assert result.returncode == 1
    assert "no operator computes the scalar function 'sign', which a gradient needs" in result.stderr


def test_the_project_s_own_records_are_right(tmp_path):
    result = subprocess.run(
        [sys.executable, ROOT / "tools/opgen", "--root", ROOT, "--out", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr

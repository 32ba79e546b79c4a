"""The installed type stubs: a type checker understands them, and they say what the package does."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import paddle

PACKAGE = Path(paddle.__file__).parent
STUBS = sorted(PACKAGE.rglob("*.pyi"))

PROGRAM = """
import paddle
import paddle.nn.functional as F
from paddle import nn

x: paddle.Tensor = paddle.ones([2, 3])
shape: list[int] = (paddle.add(x, y=x) * 2).reshape([3, 2]).shape
layer: nn.Linear = nn.Linear(2, 3)
loss: paddle.Tensor = paddle.linalg.norm(layer(x))
paddle.add(1)
x.no_such_method()
paddle.no_such_function(x)
"""


def test_a_type_checker_accepts_the_stubs_and_finds_mistakes(tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--follow-imports=silent",
        "--no-error-summary",
        "--cache-dir",
        str(tmp_path),
    ]
    parts = [p.relative_to(PACKAGE.parent).with_suffix("").parts for p in STUBS]
    modules = [".".join(p[:-1] if p[-1] == "__init__" else p) for p in parts]
    wanted = [w for m in [*modules, "program"] for w in ("-m", m)]
    run = subprocess.run([*command, *wanted], capture_output=True, text=True, cwd=tmp_path)
    errors = [line for line in run.stdout.splitlines() if ": error:" in line]
    assert all("program.py" in line for line in errors), run.stdout
    for expected in ('Missing positional argument "y"', '"no_such_method"', '"no_such_function"'):
        assert any(expected in line for line in errors), run.stdout
    assert len(errors) == 4, run.stdout


def functions(path):
    """Name -> argument names, of the functions at the top level of a stub."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, [a.arg for a in node.args.posonlyargs + node.args.args + node.args.kwonlyargs]


def test_stubs_name_the_arguments_that_functions_take():
    stubbed = {"paddle": PACKAGE / "__init__.pyi", "paddle.linalg": PACKAGE / "linalg.pyi"}
    compared = 0
    for module, path in stubbed.items():
        owner = paddle if module == "paddle" else paddle.linalg
        for name, arguments in functions(path):
            real = list(inspect.signature(getattr(owner, name)).parameters)
            assert [a for a in arguments if a != "out"] == [a for a in real if a != "out"], f"{module}.{name}"
            compared += 1
    assert compared > 200


def test_every_operator_explains_itself():
    operator = type(paddle.add)
    public = [v for v in vars(paddle.tensor).values() if isinstance(v, operator)]
    assert len(public) > 100
    for function in public:
        assert "Returns:" in function.__doc__, function
    assert "axis or dim" in paddle.sum.__doc__


def test_every_operator_has_a_signature():
    operators = [v for v in vars(paddle._C_ops).values() if isinstance(v, type(paddle.add))]
    assert len(operators) > 400
    for operator in operators:
        inspect.signature(operator)
    assert str(inspect.signature(paddle.add)) == "(x, y, name=None, *, alpha=1, out=None)"

"""What README.md and docs/*.md show of Python runs, and says what they say it does.

Fenced ``python`` blocks of one document run one after another in one namespace, in a folder of their own; ``>>>`` lines are run
as well. An error that stands below such a line must be the one that is raised, a list behind a statement what it gives. Where a block speaks of the reader's own things (a
loader, a program), ``GIVEN`` has them.
"""

import ast
import pathlib
import re
import textwrap

import numpy as np
import paddle
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^([ \t]*)```(\w*)[^\n]*\n(.*?)^\1```[ \t]*$", re.MULTILINE | re.DOTALL)


def blocks(path):
    """(line, language, text) of each fenced block."""
    text = path.read_text()
    for found in FENCE.finditer(text):
        yield text[: found.start()].count("\n") + 2, found[2], textwrap.dedent(found[3])


def two_relus():
    """A program in which one relu follows another."""
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            x = paddle.static.data("x", [2, 3], "float32")
            paddle.nn.functional.relu(paddle.nn.functional.relu(x))
    finally:
        paddle.disable_static()
    return program


GIVEN = {
    "looking_at_programs.md": lambda: {"loader": [paddle.ones([2])] * 6, "train": lambda batch: batch * 2},
    "writing_a_pass.md": lambda: {"program": two_relus()},
}


@pytest.fixture
def namespace(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = GIVEN.get(request.param.name, dict)()
    yield {"paddle": paddle, "__name__": "snippet", **given}


def has_python(path):
    return any(language == "python" or text.startswith(">>>") for _, language, text in blocks(path))


def promised(text):
    """(statements, the error that stands below them or None) of an interactive session."""
    session = []
    for line in text.splitlines():
        if line.startswith(">>> "):
            session.append([line[4:], None])
        elif line.startswith("... "):
            session[-1][0] += "\n" + line[4:]
        elif line.strip():
            session[-1][1] = (session[-1][1] or "") + line
    return session


def run_session(text, names, name, line):
    where = f"{name}:{line}"
    for statements, error in promised(text):
        code = compile(statements, name, "exec")
        if error is None:
            exec(code, names)
            continue
        with pytest.raises(Exception) as raised:
            exec(code, names)
        said = f"{raised.type.__name__}: {raised.value}"
        plain = [re.sub(r" \([\w.]+:\d+\)$", "", s) for s in (said, error)]
        assert plain[0] == plain[1], f"{where}: raises {said!r}, the document says {error!r}"


def run_block(text, names, name, line):
    """Statement by statement; `# [32, 108]` behind one says what it gives."""
    padded = "\n" * (line - 1) + text
    path = pathlib.Path(f"{name}_{line}.py").resolve()  # captured functions read their source there
    path.write_text(padded)
    lines = padded.splitlines()
    for statement in ast.parse(padded).body:
        is_value = isinstance(statement, ast.Expr)
        node = ast.Expression(statement.value) if is_value else ast.Module([statement], [])
        code = compile(node, str(path), "eval" if is_value else "exec")
        value = eval(code, names) if is_value else exec(code, names)
        said = re.search(r"# (\[[-\d., ]+\])$", lines[statement.end_lineno - 1])
        if said:
            value = value if is_value else names[statement.targets[0].id]
            np.testing.assert_allclose(value.numpy(), ast.literal_eval(said[1]), rtol=1e-6)


@pytest.mark.parametrize("namespace", [p for p in DOCUMENTS if has_python(p)], indirect=True, ids=lambda p: p.name)
def test_runs(namespace, request):
    path = request.node.callspec.params["namespace"]
    for line, language, text in blocks(path):
        if text.startswith(">>>"):
            run_session(text, namespace, path.name, line)
        elif language == "python":
            run_block(text, namespace, path.stem, line)

"""Records -> everything that follows from them.

    python tools/opgen --root R --out OUT

reads R/ops/*.yaml and writes tables, typed functions, rule glue, Python rows and stubs, reference pages and test rows
under OUT. A file is rewritten only when its text changed. A wrong record ends the run with `file:line: [op] what`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

if not __package__:  # run as a folder: python tools/opgen
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from opgen import derive, emit_api, emit_docs, emit_python, emit_rules, emit_tests, scalar, schema
from opgen.errors import SchemaError


def outputs(root: Path) -> dict[str, str]:
    """Relative path -> text of every file made from the records."""
    families = schema.load(root)
    derive.complete(families, root)
    files = {
        "api/op_table.cc": emit_api.op_table(families),
        "api/ops.h": emit_api.umbrella(families),
        "bindings/py_ops.inc": emit_python.py_ops(families),
        "python/_C_ops.pyi": emit_python.c_ops_stub(families),
        "python/_op_docs.py": emit_python.op_docs(families),
        "tests/op_rows.json": emit_tests.rows(families),
    }
    for family, records in families.items():
        files[f"api/ops_{family}.h"] = emit_api.family_header(family, records)
        files[f"api/ops_{family}.cc"] = emit_api.family_source(family, records)
        files[f"phi/rules_{family}.h"] = emit_rules.header(family, records)
        files[f"phi/rules_{family}.cc"] = emit_rules.source(family, records)
        files[f"docs/reference/{family}.md"] = emit_docs.family_page(family, records)
    return files


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2], help="the source tree")
    parser.add_argument("--out", type=Path, required=True, help="the folder for generated files")
    args = parser.parse_args()
    try:
        files = outputs(args.root.resolve())
        scalar.generate(args.root, args.out)
    except (SchemaError, scalar.ScalarError) as fault:
        print(fault, file=sys.stderr)
        return 1
    for name, text in files.items():
        scalar.write_if_changed(args.out / name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A folder of src/ may include only what stands above it. Reads the includes; prints each one that looks down."""

import re
import sys
from pathlib import Path

ORDER = ["base", "device", "tensor", "spmd", "api", "pir", "phi", "dispatch", "autograd", "passes", "cinn", "executor",
         "distributed", "compile", "inference", "bindings"]  # fmt: skip
INCLUDE = re.compile(r'^\s*#include "([a-z_]+)/', re.MULTILINE)


def violations(src: Path):
    for path in sorted([*src.rglob("*.h"), *src.rglob("*.cc")]):
        folder = path.relative_to(src).parts[0]
        for target in INCLUDE.findall(path.read_text()):
            if target in ORDER and ORDER.index(target) > ORDER.index(folder):
                yield f"{path.relative_to(src.parent)}: {folder} includes {target}, which stands below it"


def main() -> int:
    found = list(violations(Path(__file__).resolve().parents[1] / "src"))
    print("\n".join(found) if found else "layers: clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""Which public names a case is about: read from the expression itself."""

import ast

ROOTS = {"paddle": "paddle", "nn": "paddle.nn", "F": "paddle.nn.functional", "lr": "paddle.optimizer.lr",
         "fleet": "paddle.distributed.fleet", "dist": "paddle.distributed", "init": "paddle.nn.initializer"}  # fmt: skip


def _chain(node):
    """('paddle', 'nn', 'Linear') for ``nn.Linear``; (None, 'sum') for an attribute of anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name) and node.id in ROOTS:
        return tuple(ROOTS[node.id].split(".")) + tuple(reversed(parts))
    return (None, parts[0]) if parts else (None,)


def names_of(expression):
    """The dotted names that ``expression`` uses; an attribute of a value is '.sum'."""
    found = set()
    for node in ast.walk(ast.parse(expression)):
        if isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and node.id in ROOTS):
            chain = _chain(node)
            if chain[0] is None:
                found.update("." + part for part in chain[1:])
            else:
                found.add(".".join(chain))
    return found


def count(names, declared):
    """How many cases each of ``names`` has. ``declared``: cases by name; those under "" are about what they spell, where
    an attribute of a value is a tensor's."""
    spelt = {}
    for case in declared.get("", ()):
        for name in names_of(case):
            name = "paddle.Tensor" + name if name.startswith(".") else name
            spelt.setdefault(name, set()).add(case)
    return {name: len(spelt.get(name, set()) | set(declared.get(name, ()))) for name in names}

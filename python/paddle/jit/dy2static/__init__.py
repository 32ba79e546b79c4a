"""Dynamic-to-static: Python control flow on tensors becomes region operators of a program.

``source`` finds a function's syntax tree, ``early_exit`` lowers ``break``/``continue``/``return``, ``analysis`` says which names are
needed where, ``transformer`` rewrites the tree, ``convert`` compiles it and follows calls, ``runtime`` is what rewritten code calls. ``branches``
and ``loops`` trace region operators, on the places that ``slots`` describes and the ``values`` a program can hold.
"""


def __getattr__(name):
    if name == "program_translator":
        import importlib

        return importlib.import_module(".program_translator", __name__)
    raise AttributeError(f"module 'paddle.jit.dy2static' has no attribute {name!r}")

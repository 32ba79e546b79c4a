"""Dynamic-to-static: Python control flow on tensors becomes region operators of a program.

``source`` finds a function's syntax tree, ``early_exit`` lowers ``break``/``continue``/``return``, ``analysis`` says which names are
needed where, ``transformer`` rewrites the tree, ``convert`` compiles it and follows calls, ``runtime`` is what rewritten code calls. ``branches``
and ``loops`` trace region operators, on the places that ``slots`` describes and the ``values`` a program can hold.
"""

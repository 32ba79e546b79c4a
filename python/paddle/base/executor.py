"""Old place of the executor and the scopes."""


def __getattr__(name):
    if name in ("Executor", "global_scope", "scope_guard"):
        import paddle

        return getattr(paddle.static, name)
    raise AttributeError(f"module 'paddle.base.executor' has no attribute {name!r}")

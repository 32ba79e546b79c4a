"""Forward hooks: handles to take them away again, and the call that runs them."""

from __future__ import annotations

import itertools
import weakref

_ids = itertools.count()


class HookRemoveHelper:
    """Handle of one registered hook; `remove` takes it out of every table that it is in."""

    def __init__(self, hooks, *, extra_hook_dict=None):
        self._hook_id = next(_ids)
        self._tables = [weakref.ref(hooks)]
        for table in extra_hook_dict or ():
            self._tables.append(weakref.ref(table))

    def remove(self):
        """Unregisters the hook. Calling it again does nothing."""
        for ref in self._tables:
            table = ref()
            if table is not None:
                table.pop(self._hook_id, None)


def call_with_hooks(layer, inputs, kwargs):
    """Pre-hooks, `forward`, post-hooks. Post-hooks registered with `always_call` also run when one of them raises."""
    always = layer._forward_post_hooks_always_called
    if not always:
        return _run(layer, inputs, kwargs, None)
    ran = set()
    try:
        return _run(layer, inputs, kwargs, ran)
    except Exception:
        for key in list(always):
            hook = layer._forward_post_hooks.get(key)
            if hook is None or key in ran:
                continue
            try:
                _post(layer, key, hook, inputs, kwargs, None)
            except Exception as failure:  # the first error is the one to report
                import warnings

                warnings.warn(f"a post-hook of {layer.full_name()} raised while handling another error: {failure}")
        raise


def _run(layer, inputs, kwargs, ran):
    for key, hook in list(layer._forward_pre_hooks.items()):
        if key in layer._forward_pre_hooks_with_kwargs_flag:
            result = hook(layer, inputs, kwargs)
            if result is not None:
                if not (isinstance(result, tuple) and len(result) == 2):
                    raise RuntimeError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {result}."
                    )
                inputs, kwargs = result
        else:
            result = hook(layer, inputs)
            if result is not None:
                inputs = result if isinstance(result, tuple) else (result,)
    output = layer.forward(*inputs, **kwargs)
    for key, hook in list(layer._forward_post_hooks.items()):
        if ran is not None:
            ran.add(key)
        result = _post(layer, key, hook, inputs, kwargs, output)
        if result is not None:
            output = result
    return output


def _post(layer, key, hook, inputs, kwargs, output):
    if key in layer._forward_post_hooks_with_kwargs_flag:
        return hook(layer, inputs, kwargs, output)
    return hook(layer, inputs, output)

"""DistributedStrategy: how a job is to be parallel."""

from __future__ import annotations

import copy

from . import text_form
from .strategy_defaults import ACTING_SWITCHES, CONFIGS, HYBRID, HYBRID_NESTED, SWITCHES, TUNING

_ORDER = ["dp", "pp", "sharding", "sep", "cp", "mp"]


class _Options(dict):
    """Options by key, which read as attributes too."""

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(f"there is no option {name!r}; there are {', '.join(self)}")

    def __setattr__(self, name, value) -> None:
        self[name] = value

    def __deepcopy__(self, memo):
        return _Options((k, copy.deepcopy(v, memo)) for k, v in self.items())


def _checked(field, defaults, given) -> dict:
    unknown = [k for k in given if k not in defaults]
    if unknown:
        raise ValueError(f"[DistributedStrategy] {field} has no options {unknown}; it has {', '.join(defaults)}")
    return given


class DistributedStrategy:
    """Switches, such as ``amp``, and options of each, such as ``amp_configs``; ``hybrid_configs`` has the degrees of data
    (``dp_degree``; -1: what is left), tensor (``mp_degree``), pipeline (``pp_degree``), sharding, segment (``sep_degree``) and
    context parallelism, and ``order``, the axes from the slowest to the fastest.

    Raises:
        ValueError: an option that there is not. NotImplementedError, where a job is to begin with it: a switch is set
            that would be ignored.
    """

    def __init__(self) -> None:
        values = copy.deepcopy(SWITCHES)
        values.update({name: _Options(copy.deepcopy(options)) for name, options in CONFIGS.items()})
        hybrid = _Options(HYBRID)
        hybrid.update({name: _Options(options) for name, options in HYBRID_NESTED.items()})
        values.update(hybrid_configs=hybrid, hybrid_parallel_order=list(_ORDER))
        self.__dict__["_values"] = values

    def __getattr__(self, name):
        values = self.__dict__.get("_values", {})
        if name in values:
            return values[name]
        if name in ("build_strategy", "execution_strategy"):
            from ....static import BuildStrategy, ExecutionStrategy

            return values.setdefault(name, (BuildStrategy if name == "build_strategy" else ExecutionStrategy)())
        raise AttributeError(f"DistributedStrategy has no field {name!r}")

    def __setattr__(self, name, value) -> None:
        values = self._values
        if name == "hybrid_configs":
            self._set_hybrid(value)
        elif name in CONFIGS:
            values[name].update(_checked(name, CONFIGS[name], value))
        elif name in SWITCHES:
            values[name] = value
        elif name in ("build_strategy", "execution_strategy", "hybrid_parallel_order"):
            values[name] = value
        else:
            raise AttributeError(f"DistributedStrategy has no field {name!r}")

    def _set_hybrid(self, given) -> None:
        given = dict(given)
        order = given.pop("order", None)
        hybrid = self._values["hybrid_configs"]
        _checked("hybrid_configs", {**HYBRID, **HYBRID_NESTED}, given)
        for key, value in given.items():
            if key not in HYBRID_NESTED:
                hybrid[key] = value
            else:
                options = dict(value) if isinstance(value, dict) else dict(vars(value))
                if HYBRID_NESTED[key]:
                    _checked(f"hybrid_configs['{key}']", {**HYBRID_NESTED[key], "coll_nccl_config": 0, "p2p_nccl_config": 0},
                             options)  # fmt: skip
                hybrid[key].update(options)
        if order is not None:
            if sorted(set(order) - {"cp"}) != sorted(set(_ORDER) - {"cp"}):
                raise ValueError(f"[DistributedStrategy] expected an order of {_ORDER}, got {list(order)}")
            self._values["hybrid_parallel_order"] = [*order, *([] if "cp" in order else ["cp"])]

    def _refuse_ignored(self) -> None:
        """NotImplementedError if a switch is set that nothing would come of."""
        for name, default in SWITCHES.items():
            value = self._values[name]
            if name not in ACTING_SWITCHES and name not in TUNING and value != default:
                raise NotImplementedError(f"[DistributedStrategy] {name} has no effect in this version: "
                                          f"expected {default!r}, got {value!r}")  # fmt: skip

    def save_to_prototxt(self, output) -> None:
        """Writes all fields to a file, in protocol buffers' text form."""
        with open(output, "w") as file:
            file.write(text_form.written(self._values))

    def load_from_prototxt(self, pb_file) -> None:
        """Reads fields from a file that ``save_to_prototxt`` wrote; others stay.

        Raises:
            ValueError: the file is damaged, or has a field that there is not.
        """
        with open(pb_file) as file:
            for name, value in text_form.read(file.read(), self._values).items():
                if name in self._values and isinstance(self._values[name], dict):
                    self._values[name].update(value)
                else:
                    setattr(self, name, value)

    def __deepcopy__(self, memo):
        other = DistributedStrategy()
        other.__dict__["_values"] = copy.deepcopy(self._values, memo)
        return other

    def __dir__(self):
        return sorted({*super().__dir__(), *self._values})

    def to_dict(self) -> dict:
        """All options, as a dictionary of copies."""
        return copy.deepcopy(self._values)

    def __repr__(self) -> str:
        changed = {k: v for k, v in self._values.items() if v != {**SWITCHES, **CONFIGS}.get(k)}
        return f"DistributedStrategy({changed})"


for _name in (*SWITCHES, *CONFIGS, "hybrid_configs", "hybrid_parallel_order"):
    setattr(DistributedStrategy, _name, property(lambda self, n=_name: self._values[n],
                                                 lambda self, value, n=_name: DistributedStrategy.__setattr__(self, n, value),
                                                 doc=f"The field ``{_name}``."))  # fmt: skip

"""Pruning of a model's weights, and optimisers that keep what was pruned at zero."""

from __future__ import annotations

import weakref

import paddle

from .utils import CheckMethod, MaskAlgo, check_sparsity, create_mask

__all__ = []

_ALGORITHMS = {
    "mask_1d": MaskAlgo.MASK_1D, "mask_2d_greedy": MaskAlgo.MASK_2D_GREEDY, "mask_2d_best": MaskAlgo.MASK_2D_BEST,
}  # fmt: skip
_masks: dict = {}  # id of a parameter -> (weak reference to it, its mask)
_excluded: set = set()  # names of parameters that stay dense
_supported: dict = {"linear": None, "conv2d": None}  # kinds of layers (lower case) -> function that prunes, or None


def set_excluded_layers(param_names, main_program=None) -> None:
    """Parameters, or layers, with these names stay as they are."""
    _excluded.update(param_names)


def reset_excluded_layers(main_program=None) -> None:
    """No parameter is excluded any more."""
    _excluded.clear()


def add_supported_layer(layer, pruning_func=None) -> None:
    """Weights of this kind of layer are pruned too.

    Args:
        layer: a Layer's class, an instance of it, or the class's name.
        pruning_func (callable, optional): (weight array, m, n, function of the mask, parameter's name) -> (pruned array,
            mask array), instead of the usual one.

    Raises:
        AssertionError: ``layer`` is none of these.
    """
    if isinstance(layer, str):
        name = layer
    elif isinstance(layer, paddle.nn.Layer):
        name = type(layer).__name__
    elif isinstance(layer, type) and issubclass(layer, paddle.nn.Layer):
        name = layer.__name__
    else:
        raise AssertionError(f"The type of layer should be string or Layer, but got {type(layer)}!")
    _supported[name.lower()] = pruning_func


def _weights(model, m):
    for name, layer in model.named_sublayers(include_self=True):
        kind = type(layer).__name__.lower()
        weight = getattr(layer, "weight", None)
        if kind not in _supported or weight is None or len(weight.shape) < 2:
            continue
        if _excluded & {weight.name, name, layer.full_name(), weight.name.split(".")[0]}:
            continue
        rows = weight.shape[1] if len(weight.shape) == 4 else weight.shape[0]
        if rows < m or _supported[kind] is None and rows % m:
            continue
        yield weight, _supported[kind]


def _pruned(array, n, m, algorithm):
    """A linear layer's groups run over its inputs, which are rows: the transpose is masked."""
    turned = array.T if array.ndim == 2 else array
    mask = create_mask(turned, algorithm, n, m)
    if not check_sparsity(mask * turned, CheckMethod.get_checking_method(algorithm), n, m):
        raise AssertionError(f"Pruning {array.shape} weight matrix failure!!!")
    return mask.T if array.ndim == 2 else mask


def prune_model(model, n=2, m=4, mask_algo="mask_1d", with_mask=True):
    """Sets all but n of every m weights of linear and convolution layers (and those added) to zero.

    Args:
        model (Layer): what to prune.
        mask_algo (str): "mask_1d", "mask_2d_greedy" or "mask_2d_best".
        with_mask (bool): keep the masks, for optimisers that ``decorate`` gave.

    Returns:
        dict: masks (Tensor) by the parameters' names.

    Raises:
        AssertionError: there is no such algorithm. TypeError: `model` is no Layer.
    """
    if mask_algo not in _ALGORITHMS:
        raise AssertionError(f'The "mask_algo" should be one of {list(_ALGORITHMS)}')
    if not isinstance(model, paddle.nn.Layer):
        raise TypeError(f"model should be paddle.nn.Layer, but got {type(model)}.")
    algorithm, masks = _ALGORITHMS[mask_algo], {}
    for weight, function in _weights(model, m):
        array = weight.numpy()
        if function is None:
            mask = _pruned(array, n, m, algorithm)
            array = array * mask
        else:
            array, mask = function(array, m, n, algorithm, weight.name)
        weight.set_value(array.astype(weight.numpy().dtype))
        masks[weight.name] = paddle.to_tensor(mask.astype(array.dtype))
        if with_mask:
            _masks[id(weight)] = weakref.ref(weight, lambda _, i=id(weight): _masks.pop(i, None)), masks[weight.name]
    return masks


class OptimizerWithSparsityGuarantee:
    """An optimiser after whose steps pruned weights are zero again; all else is the optimiser's own."""

    def __init__(self, optimizer) -> None:
        self._optimizer = optimizer

    def __getattr__(self, name):
        return getattr(self._optimizer, name)

    def _apply_masks(self) -> None:
        with paddle.no_grad():
            for parameter in self._optimizer._parameter_list:
                if id(parameter) in _masks:
                    parameter.set_value(parameter * _masks[id(parameter)][1])

    def step(self) -> None:
        self._optimizer.step()
        self._apply_masks()

    def minimize(self, loss, startup_program=None, parameters=None, no_grad_set=None):
        result = self._optimizer.minimize(loss, startup_program, parameters, no_grad_set)
        self._apply_masks()
        return result


def decorate(optimizer):
    """The optimiser, made to keep what ``prune_model`` set to zero.

    Raises:
        NotImplementedError: in static mode.
    """
    if not paddle.in_dynamic_mode():
        raise NotImplementedError("[asp] programs are not pruned: use layers in dynamic mode")
    return OptimizerWithSparsityGuarantee(optimizer)

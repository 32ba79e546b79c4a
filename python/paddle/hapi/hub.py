"""Models of repositories: those with a ``hubconf.py``, whose functions make models and whose ``dependencies`` name packages."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import sys

from ..utils.download import _decompress, get_path_from_url

__all__ = []

HUB_DIR = os.path.expanduser(os.path.join("~", ".cache", "paddle", "hub"))
_CONF = "hubconf.py"
_ADDRESS = {
    "github": ("https://github.com/{owner}/{repo}/archive/{branch}.zip", "main"),
    "gitee": ("https://gitee.com/{owner}/{repo}/repository/archive/{branch}.zip", "master"),
}


def _local_folder(repo_dir, source, force_reload) -> str:
    """Where the repository is on this machine, fetched if it is not there."""
    if source not in ("github", "gitee", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "gitee" | "local".')
    if source == "local":
        return repo_dir
    address, branch = _ADDRESS[source]
    name, _, wanted = repo_dir.partition(":")
    branch = wanted or branch
    owner, slash, repo = name.partition("/")
    if not slash:
        raise ValueError(f"[hub] expected owner/repository or owner/repository:branch, got {repo_dir!r}")
    folder = os.path.join(HUB_DIR, re.sub(r"\W", "_", f"{owner}_{repo}_{branch}"))
    if force_reload or not os.path.exists(folder):
        os.makedirs(HUB_DIR, exist_ok=True)
        url = address.format(owner=owner, repo=repo, branch=branch)
        archive = get_path_from_url(url, HUB_DIR, check_exist=False, decompress=False)
        unpacked = _decompress(archive)
        os.remove(archive)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(unpacked, folder)
    return folder


def _configuration(repo_dir, source, force_reload):
    """The module ``hubconf`` of the repository, its dependencies checked."""
    folder = _local_folder(repo_dir, source, force_reload)
    path = os.path.join(folder, _CONF)
    if not os.path.exists(path):
        raise FileNotFoundError(f"[hub] {folder} has no {_CONF}")
    # A name of its own: two repositories' files don't meet in sys.modules.
    name = "hubconf_" + hashlib.sha256(os.path.abspath(path).encode()).hexdigest()[:16]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    missing = [d for d in getattr(module, "dependencies", None) or [] if importlib.util.find_spec(d) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return module


def _entry(module, model):
    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a str of function name")
    found = getattr(module, model, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return found


def list(repo_dir, source="github", force_reload=False):
    """The names that ``load`` takes.

    Args:
        repo_dir (str): "owner/repository" or "owner/repository:branch"; with `source` "local" a folder.
        source (str): "github", "gitee" or "local".
        force_reload (bool): True fetches the repository again.

    Returns:
        list of str.

    Raises:
        ValueError: an unknown `source`. RuntimeError: it can't be fetched, or packages that it needs are missing.
        FileNotFoundError: it has no ``hubconf.py``.
    """
    module = _configuration(repo_dir, source, force_reload)
    return [n for n in dir(module) if callable(getattr(module, n)) and not n.startswith("_")]


def help(repo_dir, model, source="github", force_reload=False):
    """The docstring of an entry; the arguments and errors are those of ``load``.

    Returns:
        str, or None where it has none.
    """
    return _entry(_configuration(repo_dir, source, force_reload), model).__doc__


def load(repo_dir, model, source="github", force_reload=False, **kwargs):
    """What an entry of the repository returns, a model as a rule. Its code is run.

    Args:
        repo_dir (str): "owner/repository" or "owner/repository:branch"; with `source` "local" a folder.
        model (str): the entry's name.
        source (str): "github", "gitee" or "local".
        force_reload (bool): True fetches the repository again.
        **kwargs: given to the entry.

    Raises:
        ValueError: an unknown `source`. RuntimeError: there is no such entry, the repository can't be fetched, or packages that
            it needs are missing. FileNotFoundError: it has no ``hubconf.py``.
    """
    return _entry(_configuration(repo_dir, source, force_reload), model)(**kwargs)


def load_state_dict_from_url(url, model_dir=None, check_hash=False, file_name=None, map_location=None):
    """What ``paddle.load`` reads from a file of the web, which is kept.

    Args:
        url (str): a file of ``paddle.save``, or a zip archive of one.
        model_dir (str, optional): where it is kept; ``~/.cache/paddle/hub/checkpoints`` by default.
        check_hash (bool): whether the file's name ends with ``-<first digits of its SHA-256>``, which is checked.
        file_name (str, optional): what it is called here.
        map_location (str, optional): "numpy" or "np" gives arrays, "cpu" tensors.

    Raises:
        ValueError: an unknown `map_location`, or another hash. RuntimeError: it can't be fetched.
    """
    from ..framework.io import load as load_file

    if map_location not in (None, "cpu", "gpu", "xpu", "npu", "numpy", "np"):
        raise ValueError(f"[hub] expected map_location cpu, gpu, xpu, npu, numpy or np, got {map_location!r}")
    folder = model_dir or os.path.join(HUB_DIR, "checkpoints")
    fetched = os.path.join(folder, os.path.basename(url))
    path = os.path.join(folder, file_name or os.path.basename(url))
    if not os.path.exists(path):
        get_path_from_url(url, folder, decompress=False)
        if check_hash:
            _check_hash(fetched)
        if fetched != path:
            os.replace(fetched, path)
    if path.endswith(".zip"):
        path = _decompress(path)
    return load_file(path, return_numpy=map_location in ("numpy", "np"))


def _check_hash(path) -> None:
    wanted = re.search(r"-([a-f0-9]{6,})\.", os.path.basename(path))
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    if wanted is None or not digest.startswith(wanted.group(1)):
        os.remove(path)
        raise ValueError(f"[hub] {os.path.basename(path)} has the SHA-256 {digest}, which is not the one in its name")

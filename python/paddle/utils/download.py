"""Files from the web, kept in ``~/.cache/paddle``."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import tarfile
import urllib.error
import urllib.request
import zipfile

__all__ = ["get_weights_path_from_url"]

logger = logging.getLogger(__name__)
WEIGHTS_HOME = os.path.expanduser("~/.cache/paddle/hapi/weights")
DOWNLOAD_RETRY_LIMIT = 3


def is_url(path: str) -> bool:
    """Whether ``path`` is an http(s) address."""
    return path.startswith(("http://", "https://"))


def get_weights_path_from_url(url: str, md5sum: str | None = None) -> str:
    """The local file of weights at ``url``, fetched if it is not there or has another MD5."""
    return get_path_from_url(url, WEIGHTS_HOME, md5sum)


def dataset_file(path, argument: str, url: str, md5sum: str, name: str, download: bool) -> str:
    """A data set's file: the user's `path`, or the one at ``url``, kept in ``~/.cache/paddle/dataset/<name>``.

    Raises:
        AssertionError: there is no path and `download` is False. RuntimeError: it can't be fetched.
    """
    if path is not None:
        return path
    if not download:
        raise AssertionError(f"{argument} is not set and downloading automatically is disabled")
    folder = os.path.join(os.path.expanduser("~/.cache/paddle/dataset"), name)
    return get_path_from_url(url, folder, md5sum, decompress=False)


def _map_path(url, root_dir) -> str:
    return os.path.join(root_dir, os.path.basename(url))


def get_path_from_url(
    url: str,
    root_dir: str,
    md5sum: str | None = None,
    check_exist: bool = True,
    decompress: bool = True,
    method="get",
) -> str:
    """The local path of ``url`` under ``root_dir``: the file, or what its archive holds.

    Raises:
        AssertionError: not an address. RuntimeError: it can't be fetched, or its MD5 stays wrong.
    """
    if not is_url(url):
        raise AssertionError(f"downloading from {url} not a url")
    path = _map_path(url, root_dir)
    if not (check_exist and os.path.exists(path) and _md5check(path, md5sum)):
        path = _download(url, root_dir, md5sum, method)
    if decompress and (tarfile.is_tarfile(path) or zipfile.is_zipfile(path)):
        path = _decompress(path)
    return path


def md5file(fname) -> str:
    """The MD5 of a file, as 32 hexadecimal digits.

    Args:
        fname (str): its path.
    """
    digest = hashlib.md5(usedforsecurity=False)
    with open(fname, "rb") as file:
        for chunk in iter(lambda: file.read(1 << 20), b""):
            digest.update(chunk)
    return digest.hexdigest()


def _md5check(fullname, md5sum=None) -> bool:
    if md5sum is None:
        return True
    found = md5file(fullname)
    if found != md5sum:
        logger.info("file %s md5 check failed: %s (calculated) != %s (wanted)", fullname, found, md5sum)
    return found == md5sum


def _download(url, path, md5sum=None, method="get") -> str:
    os.makedirs(path, exist_ok=True)
    target = _map_path(url, path)
    temporary = f"{target}.{os.getpid()}.part"
    last = "its MD5 is not what was expected"
    for _ in range(DOWNLOAD_RETRY_LIMIT):
        try:
            with urllib.request.urlopen(url, timeout=30) as response, open(temporary, "wb") as file:
                shutil.copyfileobj(response, file)
            if _md5check(temporary, md5sum):
                os.replace(temporary, target)
                return target
        except (urllib.error.URLError, OSError) as error:
            last = str(error)
        finally:
            if os.path.exists(temporary):
                os.unlink(temporary)
    raise RuntimeError(f"Downloading from {url} failed {DOWNLOAD_RETRY_LIMIT} times: {last}")


def _is_within_directory(directory, target) -> bool:
    directory = os.path.realpath(directory)
    return os.path.commonpath([directory, os.path.realpath(target)]) == directory


def _decompress(fname) -> str:
    """Unpacks an archive beside itself; nothing is written outside that folder. The path of what it holds."""
    folder = os.path.dirname(fname)
    if tarfile.is_tarfile(fname):
        with tarfile.open(fname) as archive:
            names = archive.getnames()
            for name in names:
                if not _is_within_directory(folder, os.path.join(folder, name)):
                    raise RuntimeError(f"[decompress] {fname}: member {name!r} points outside the folder")
            archive.extractall(folder, filter="data")
    elif zipfile.is_zipfile(fname):
        with zipfile.ZipFile(fname) as archive:
            names = archive.namelist()
            archive.extractall(folder)  # zipfile removes leading slashes and ".." itself
    else:
        raise TypeError(f"Unsupported compress file type {fname}")
    tops = {n.lstrip("./").split("/", 1)[0] for n in names if n.strip("./")}
    if len(tops) == 1:
        return os.path.join(folder, tops.pop())
    return folder


def _get_unique_endpoints(trainer_endpoints) -> set:
    """One endpoint per machine."""
    by_ip: dict = {}
    for endpoint in trainer_endpoints:
        by_ip.setdefault(endpoint.split(":")[0], endpoint)
    return set(by_ip.values())

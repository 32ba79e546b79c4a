"""Files of data sets: where they are kept, their digests, fetching them."""

from __future__ import annotations

import os

from ..utils.download import get_path_from_url, md5file

__all__ = []

DATA_HOME = os.path.expanduser(os.path.join("~", ".cache", "paddle", "dataset"))


def download(url, module_name, md5sum, save_name=None) -> str:
    """The local path of the file at ``url``, fetched if it is not there or has another MD5.

    Args:
        url (str): an http(s) address.
        module_name (str): the folder inside ``DATA_HOME``.
        md5sum (str): what the file's MD5 must be; None takes any.
        save_name (str, optional): what it is called here.

    Raises:
        RuntimeError: it can't be fetched, or its MD5 stays wrong.
    """
    folder = os.path.join(DATA_HOME, module_name)
    path = os.path.join(folder, url.split("/")[-1] if save_name is None else save_name)
    if os.path.exists(path) and (md5sum is None or md5file(path) == md5sum):
        return path
    fetched = get_path_from_url(url, folder, md5sum, decompress=False)
    os.replace(fetched, path)
    return path

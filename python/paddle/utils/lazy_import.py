"""Imports of packages that not everyone has."""

from __future__ import annotations

import importlib


def try_import(module_name: str, err_msg: str | None = None):
    """The module.

    Raises:
        ImportError: it is not there; the message (``err_msg``) says what to install.
    """
    names = {"cv2": "opencv-python"}
    try:
        return importlib.import_module(module_name)
    except ImportError:
        package = names.get(module_name, module_name)
        if err_msg is None:
            err_msg = (
                f"Failed importing {module_name}. This likely means that some paddle modules require additional "
                f"dependencies that have to be manually installed (usually with `pip install {package}`). "
            )
        raise ImportError(err_msg) from None

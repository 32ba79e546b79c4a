"""The machine's files behind the interface that checkpoints and launchers share with remote file systems."""

from __future__ import annotations

import os
import shutil

__all__ = ["LocalFS"]


class ExecuteError(Exception):
    """A file operation failed."""


class FSFileExistsError(Exception):
    """What should be made is there."""


class FSFileNotExistsError(Exception):
    """What should be read or moved isn't there."""


class FS:
    """What a file system can do: ``LocalFS`` is the one for this machine's files."""

    def need_upload_download(self) -> bool:
        """Whether files must be copied to this machine before they are read."""
        raise NotImplementedError(f"[{type(self).__name__}] need_upload_download")


class LocalFS(FS):
    """This machine's files."""

    def ls_dir(self, fs_path) -> tuple[list, list]:
        """(folders, files): the names in a folder; two empty lists if it isn't there."""
        if not self.is_exist(fs_path):
            return [], []
        names = os.listdir(fs_path)
        folders = [n for n in names if os.path.isdir(os.path.join(fs_path, n))]
        return folders, [n for n in names if n not in folders]

    def list_dirs(self, fs_path) -> list:
        """The names of the folders in a folder."""
        return self.ls_dir(fs_path)[0]

    def mkdirs(self, fs_path) -> None:
        """Makes a folder and those above it; one that is there is fine."""
        os.makedirs(fs_path, exist_ok=True)

    def is_file(self, fs_path) -> bool:
        """Whether this is a file."""
        return os.path.isfile(fs_path)

    def is_dir(self, fs_path) -> bool:
        """Whether this is a folder."""
        return os.path.isdir(fs_path)

    def is_exist(self, fs_path) -> bool:
        """Whether there is such a file or folder."""
        return os.path.exists(fs_path)

    def delete(self, fs_path) -> None:
        """Removes a file, or a folder with all in it; nothing happens if it isn't there."""
        if os.path.isdir(fs_path):
            shutil.rmtree(fs_path)
        elif os.path.lexists(fs_path):
            os.remove(fs_path)

    def rename(self, fs_src_path, fs_dst_path) -> None:
        """Gives a file or folder another name."""
        os.rename(fs_src_path, fs_dst_path)

    def mv(self, src_path, dst_path, overwrite: bool = False, test_exists: bool = False) -> None:
        """Moves a file or folder.

        Raises:
            FSFileNotExistsError: ``src_path`` isn't there.
            FSFileExistsError: ``dst_path`` is, and ``overwrite`` is not set.
        """
        if not self.is_exist(src_path):
            raise FSFileNotExistsError(f"{src_path} is not there")
        if overwrite:
            self.delete(dst_path)
        elif self.is_exist(dst_path):
            raise FSFileExistsError(f"{dst_path} is there already")
        self.rename(src_path, dst_path)

    def touch(self, fs_path, exist_ok: bool = True) -> None:
        """Makes an empty file.

        Raises:
            FSFileExistsError: it is there, and ``exist_ok`` is not set.
        """
        if self.is_exist(fs_path):
            if not exist_ok:
                raise FSFileExistsError(f"{fs_path} is there already")
            return
        with open(fs_path, "a"):
            pass

    def cat(self, fs_path=None) -> str:
        """The text of a file, without white space at its ends."""
        with open(fs_path) as f:
            return f.read().strip()

    def need_upload_download(self) -> bool:
        """False: files are read where they are."""
        return False

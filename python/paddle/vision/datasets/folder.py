"""Images in folders."""

from __future__ import annotations

import os

from ...io import Dataset
from ..image import get_image_backend, image_load

__all__ = []

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def default_loader(path):
    """The image in the file `path` as the backend in use gives it, a PIL image in three channels."""
    image = image_load(path)
    return image.convert("RGB") if get_image_backend() == "pil" else image


def has_valid_extension(filename, extensions):
    """Whether the file's name ends with one of `extensions`, whatever the case."""
    return filename.lower().endswith(tuple(e.lower() for e in extensions))


def _files(root):
    for folder, _, names in sorted(os.walk(root, followlinks=True)):
        for name in sorted(names):
            yield os.path.join(folder, name)


def _chooser(extensions, is_valid_file):
    if (extensions is None) == (is_valid_file is None):
        raise ValueError("Both extensions and is_valid_file cannot be None or not None at the same time")
    return is_valid_file or (lambda path: has_valid_extension(path, extensions))


def make_dataset(directory, class_to_idx, extensions, is_valid_file=None):
    """[(path, class number)] of the files below ``directory/<class>``."""
    wanted = _chooser(extensions, is_valid_file)
    return [
        (path, class_to_idx[name])
        for name in sorted(class_to_idx)
        if os.path.isdir(os.path.join(directory, name))
        for path in _files(os.path.join(directory, name))
        if wanted(path)
    ]


class DatasetFolder(Dataset):
    """Pairs (image, class number) of the files below ``root/<class>``.

    Args:
        root (str): a folder with one folder for each class.
        loader (callable, optional): reads a path; ``default_loader`` by default.
        extensions (sequence of str, optional): of file names; those of images by default.
        transform (callable, optional): applied to each image.
        is_valid_file (callable, optional): instead of `extensions`.

    Raises:
        RuntimeError: no file was found. ValueError: both `extensions` and `is_valid_file` are given.
    """

    def __init__(self, root, loader=None, extensions=None, transform=None, is_valid_file=None):
        self.root = root
        self.transform = transform
        if extensions is None and is_valid_file is None:
            extensions = IMG_EXTENSIONS
        classes, class_to_idx = self._find_classes(root)
        samples = make_dataset(root, class_to_idx, extensions, is_valid_file)
        if not samples:
            raise RuntimeError(f"Found 0 directories in subfolders of: {root}\nSupported extensions are: {extensions}")
        self.loader = default_loader if loader is None else loader
        self.extensions = extensions
        self.classes, self.class_to_idx = classes, class_to_idx
        self.samples, self.targets = samples, [s[1] for s in samples]
        self.dtype = "float32"

    @staticmethod
    def _find_classes(root):
        classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
        return classes, {name: i for i, name in enumerate(classes)}

    def __getitem__(self, index):
        path, target = self.samples[index]
        sample = self.loader(path)
        return (sample if self.transform is None else self.transform(sample)), target

    def __len__(self):
        return len(self.samples)


class ImageFolder(Dataset):
    """[image] of every file below `root`; the arguments are those of ``DatasetFolder``."""

    def __init__(self, root, loader=None, extensions=None, transform=None, is_valid_file=None):
        self.root = root
        if extensions is None and is_valid_file is None:
            extensions = IMG_EXTENSIONS
        wanted = _chooser(extensions, is_valid_file)
        self.samples = [path for path in _files(root) if wanted(path)]
        if not self.samples:
            raise RuntimeError(f"Found 0 files in subfolders of: {root}\nSupported extensions are: {extensions}")
        self.loader = default_loader if loader is None else loader
        self.extensions = extensions
        self.transform = transform

    def __getitem__(self, index):
        sample = self.loader(self.samples[index])
        return [sample if self.transform is None else self.transform(sample)]

    def __len__(self):
        return len(self.samples)

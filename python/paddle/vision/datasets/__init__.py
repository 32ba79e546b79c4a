"""Data sets of images: folders, and the files of well-known collections."""

from .cifar import Cifar10, Cifar100
from .folder import DatasetFolder, ImageFolder
from .mnist import MNIST, FashionMNIST

__all__ = ["Cifar10", "Cifar100", "DatasetFolder", "FashionMNIST", "ImageFolder", "MNIST"]

"""What the forms for PIL, arrays and tensors share: sizes, paddings and the matrices of affine and perspective maps."""

from __future__ import annotations

import math
import numbers

import numpy as np

__all__ = []


def target_size(size, height, width):
    """(height, width) after resizing: of an int the shorter side, and the other in proportion."""
    if isinstance(size, int):
        short = min(height, width)
        if short == size:
            return height, width
        if width < height:
            return int(size * height / width), size
        return size, int(size * width / height)
    if isinstance(size, (list, tuple)) and len(size) == 1:
        return target_size(int(size[0]), height, width)
    if not (isinstance(size, (list, tuple)) and len(size) == 2):
        raise TypeError(f"Got inappropriate size arg: {size}")
    return int(size[0]), int(size[1])


def four_paddings(padding):
    """(left, top, right, bottom).

    Raises:
        TypeError, ValueError: not a number, or a list of 1, 2 or 4.
    """
    if isinstance(padding, numbers.Number):
        return (int(padding),) * 4
    if not isinstance(padding, (list, tuple)):
        raise TypeError("Got inappropriate padding arg")
    if len(padding) not in (1, 2, 4):
        raise ValueError(f"Padding must be an int or a 2, or 4 element tuple, not a {len(padding)} element tuple")
    if len(padding) == 1:
        return (padding[0],) * 4
    if len(padding) == 2:
        return padding[0], padding[1], padding[0], padding[1]
    return tuple(padding)


def affine_inverse(centre, angle, translate, scale, shear):
    """The 2 x 3 matrix that takes pixels of the result to pixels of the source.

    The map is rotation, scaling and shearing (degrees) about `centre`, then translation.
    """
    rotation, shear_x, shear_y = (math.radians(v) for v in (angle, shear[0], shear[1]))
    a = math.cos(rotation - shear_y) / math.cos(shear_y)
    b = -math.cos(rotation - shear_y) * math.tan(shear_x) / math.cos(shear_y) - math.sin(rotation)
    c = math.sin(rotation - shear_y) / math.cos(shear_y)
    d = -math.sin(rotation - shear_y) * math.tan(shear_x) / math.cos(shear_y) + math.cos(rotation)
    # The determinant of the rotation and shear is 1.
    matrix = [d / scale, -b / scale, 0.0, -c / scale, a / scale, 0.0]
    matrix[2] += matrix[0] * (-centre[0] - translate[0]) + matrix[1] * (-centre[1] - translate[1]) + centre[0]
    matrix[5] += matrix[3] * (-centre[0] - translate[0]) + matrix[4] * (-centre[1] - translate[1]) + centre[1]
    return matrix


def rotated_size(width, height, angle):
    """The size of the smallest upright rectangle around an image rotated about its centre."""
    a = math.radians(angle)
    cos, sin = math.cos(a), math.sin(a)
    xs, ys = [], []
    for x, y in ((0, 0), (width, 0), (width, height), (0, height)):
        x, y = x - width / 2, y - height / 2
        xs.append(cos * x + sin * y)
        ys.append(-sin * x + cos * y)
    eps = 1e-9
    return (
        math.ceil(max(xs) - eps) - math.floor(min(xs) + eps),
        math.ceil(max(ys) - eps) - math.floor(min(ys) + eps),
    )


def perspective_coefficients(startpoints, endpoints):
    """a ... h of x' = (a x + b y + c) / (g x + h y + 1), y' = (d x + e y + f) / (...), which takes the end points to
    the start points."""
    rows, right = [], []
    for (sx, sy), (ex, ey) in zip(startpoints, endpoints):
        rows.append([ex, ey, 1, 0, 0, 0, -sx * ex, -sx * ey])
        rows.append([0, 0, 0, ex, ey, 1, -sy * ex, -sy * ey])
        right += [sx, sy]
    return np.linalg.lstsq(np.array(rows, np.float64), np.array(right, np.float64), rcond=None)[0].tolist()


def fill_values(fill, channels):
    """One number per channel."""
    if isinstance(fill, numbers.Number):
        return [fill] * channels
    if len(fill) == 1:
        return list(fill) * channels
    if len(fill) != channels:
        raise ValueError(f"The number of elements in 'fill' does not match the number of bands of the image "
                         f"({len(fill)} != {channels})")  # fmt: skip
    return list(fill)


def grid(height, width):
    """The x and the y of each pixel."""
    y, x = np.meshgrid(np.arange(height, dtype=np.float64), np.arange(width, dtype=np.float64), indexing="ij")
    return x, y

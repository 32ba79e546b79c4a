"""paddle.vision.transforms: arrays, tensors and PIL images agree; values by hand and from PIL."""

import numpy as np
import paddle
import pytest
from paddle.vision import transforms as T  # noqa: N812
from paddle.vision.transforms import functional as F  # noqa: N812

Image = pytest.importorskip("PIL.Image")
RNG = np.random.default_rng(0)
ARRAY = RNG.integers(0, 256, (12, 16, 3)).astype("uint8")


def three(array=ARRAY):
    """The same picture as PIL image, array and tensor [C, H, W]."""
    return Image.fromarray(array), array, paddle.to_tensor(array.transpose(2, 0, 1))


def as_array(image):
    if isinstance(image, paddle.Tensor):
        return image.numpy().transpose(1, 2, 0)
    return np.atleast_3d(np.asarray(image))


EXACT = [
    lambda i: F.hflip(i), lambda i: F.vflip(i), lambda i: F.crop(i, 2, 3, 5, 6), lambda i: F.center_crop(i, (4, 6)),
    lambda i: F.pad(i, 2), lambda i: F.pad(i, (1, 2), fill=7), lambda i: F.pad(i, (1, 2, 3, 0), padding_mode="edge"),
    lambda i: F.pad(i, 2, padding_mode="reflect"), lambda i: F.pad(i, 2, padding_mode="symmetric"),
]  # fmt: skip


@pytest.mark.parametrize("transform", EXACT)
def test_all_kinds_agree(transform):
    first, *others = (as_array(transform(i)) for i in three())
    for other in others:
        np.testing.assert_array_equal(other, first)


@pytest.mark.parametrize("factor", [0.0, 0.4, 1.0, 1.7])
@pytest.mark.parametrize("name", ["adjust_brightness", "adjust_contrast", "adjust_saturation"])
def test_colours(name, factor):
    first, array, tensor = (as_array(getattr(F, name)(i, factor)).astype(int) for i in three())
    if name == "adjust_contrast":  # official Paddle turns an array's levels about 74
        array = first + (array - np.clip(np.trunc((ARRAY.astype(int) - 74) * factor + 74), 0, 255).astype(int))
    for other in (array, tensor):
        assert np.abs(other - first).max() <= 2  # grey is rounded differently


def test_half_a_turn():
    pil, array, tensor = (as_array(F.rotate(i, 180)) for i in three())
    np.testing.assert_array_equal(pil, ARRAY[::-1, ::-1])
    np.testing.assert_array_equal(tensor, pil)
    # Official Paddle turns an array about the corner between its middle pixels, counted by their centres.
    np.testing.assert_array_equal(array[1:, 1:], ARRAY[:0:-1, :0:-1])
    assert not array[0].any() and not array[:, 0].any()


def test_hue():
    for image in three():
        np.testing.assert_allclose(
            as_array(F.adjust_hue(image, 0.0)).astype(int), ARRAY, atol=8
        )  # PIL has 8 bits of hue
        with pytest.raises(ValueError):
            F.adjust_hue(image, 0.7)
    red = np.zeros((2, 2, 3), "uint8")
    red[..., 0] = 200
    for image in three(red)[1:]:  # a third of the circle: green
        np.testing.assert_array_equal(as_array(F.adjust_hue(image, 1 / 3))[0, 0], [0, 200, 0])


def test_resize():
    smooth = np.linspace(0, 255, 16 * 16).reshape(16, 16, 1).repeat(3, 2).astype("uint8")
    for image in three(smooth):
        assert as_array(F.resize(image, (8, 4))).shape == (8, 4, 3)
        assert as_array(F.resize(image, 8)).shape == (8, 8, 3)
    enlarged = [as_array(F.resize(i, (32, 32))).astype(int) for i in three(smooth)]
    for other in enlarged[1:]:
        assert np.abs(other - enlarged[0]).max() <= 1
    assert as_array(F.resize(ARRAY, 6)).shape == (6, 8, 3)


@pytest.mark.parametrize("angle", [90, 30, -45])
def test_rotation_as_pil(angle):
    smooth = (np.add.outer(np.arange(21) * 5, np.arange(21) * 3)[..., None] + np.zeros(3)).astype("uint8")
    first, *others = (as_array(F.rotate(i, angle, "bilinear")).astype(int) for i in three(smooth))
    for other in others:
        assert np.abs(other - first)[6:-6, 6:-6].max() <= 3


def test_affine_and_perspective():
    pil, array, tensor = three()
    moved = F.affine(array, 0, [2, 1], 1.0, [0, 0])
    np.testing.assert_array_equal(moved[1:, 2:], ARRAY[:-1, :-2])
    np.testing.assert_array_equal(as_array(F.affine(tensor, 0, [2, 1], 1.0, [0, 0])), moved)
    np.testing.assert_array_equal(as_array(F.affine(pil, 0, [2, 1], 1.0, [0, 0])), moved)
    corners = [[0, 0], [15, 0], [15, 11], [0, 11]]
    for image in (array, tensor):
        np.testing.assert_array_equal(as_array(F.perspective(image, corners, corners)), ARRAY)
    for bad in ({"scale": 0.0}, {"translate": [1]}, {"shear": [1, 2, 3]}):
        with pytest.raises(ValueError):
            F.affine(array, **{"angle": 0, "translate": [0, 0], "scale": 1.0, "shear": [0, 0], **bad})


def test_to_tensor_and_normalize():
    for image in three()[:2]:
        t = F.to_tensor(image)
        assert t.shape == [3, 12, 16] and t.dtype == paddle.float32
        np.testing.assert_allclose(t.numpy(), ARRAY.transpose(2, 0, 1) / 255.0, rtol=1e-6)
    assert F.to_tensor(ARRAY.astype("float32")).max() > 1
    n = T.Normalize([1.0, 2.0, 3.0], [2.0, 4.0, 8.0])(paddle.ones([3, 2, 2]))
    np.testing.assert_allclose(n.numpy()[:, 0, 0], [0.0, -0.25, -0.25])
    h = T.Normalize(127.5, 127.5, data_format="HWC")(ARRAY)
    assert h.dtype == np.float32 and -1 <= h.min() and h.max() <= 1


def test_pipelines_and_keys():
    pipeline = T.Compose([
        T.RandomResizedCrop(8), T.RandomHorizontalFlip(), T.RandomVerticalFlip(), T.ColorJitter(0.4, 0.4, 0.4, 0.4),
        T.RandomRotation(10), T.RandomAffine(5, [0.1, 0.1], [0.9, 1.1], 5), T.RandomPerspective(1.0), T.RandomErasing(1.0),
        T.Grayscale(3), T.Pad(1), T.RandomCrop(6), T.CenterCrop(4), T.ToTensor(),
    ])  # fmt: skip
    for image in three():
        out = pipeline(image)
        assert out.shape == [3, 4, 4]
    image, label = T.Resize((4, 4), keys=("image",))((ARRAY, 7))
    assert image.shape == (4, 4, 3) and label == 7
    assert T.Transpose()(ARRAY).shape == (3, 12, 16)
    with pytest.raises(ValueError):
        T.RandomCrop(40)(ARRAY)


def test_tensor_gradient():
    x = paddle.to_tensor(RNG.random((3, 5, 5)).astype("float32"), stop_gradient=False)
    F.rotate(F.resize(F.adjust_brightness(x, 0.5), (4, 4)), 10, "bilinear").sum().backward()
    assert float(x.grad.abs().sum()) > 0


def test_folders(tmp_path):
    for kind in ("a", "b"):
        (tmp_path / kind).mkdir()
        Image.fromarray(ARRAY).save(tmp_path / kind / "0.png")
    data = paddle.vision.datasets.DatasetFolder(str(tmp_path), transform=T.ToTensor())
    assert len(data) == 2 and data.classes == ["a", "b"] and data[1][1] == 1 and data[0][0].shape == [3, 12, 16]
    assert len(paddle.vision.datasets.ImageFolder(str(tmp_path))) == 2
    with pytest.raises(RuntimeError):
        paddle.vision.datasets.DatasetFolder(str(tmp_path / "a"))

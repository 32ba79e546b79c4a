"""Sets of pictures read from small files of their own."""

import io
import tarfile

import numpy as np
import pytest
from paddle.vision import datasets

image = pytest.importorskip("PIL.Image")


def picture(color, kind="JPEG", mode="RGB"):
    data = io.BytesIO()
    image.new(mode, (6, 4), color).save(data, kind)
    return data.getvalue()


def pack(path, members):
    with tarfile.open(path, "w:gz") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return str(path)


def test_voc2012(tmp_path):
    root = "VOCdevkit/VOC2012/"
    members = {root + f"ImageSets/Segmentation/{n}.txt": t for n, t in (("trainval", b"a\nb\n"), ("train", b"a\n"), ("val", b"b\n"))}
    for name, color in (("a", 200), ("b", 90)):
        members[root + f"JPEGImages/{name}.jpg"] = picture((color, color, color))
        members[root + f"SegmentationClass/{name}.png"] = picture(color // 10, "PNG", "L")
    path = pack(tmp_path / "voc.tar", members)
    train, valid = datasets.VOC2012(path, backend="cv2"), datasets.VOC2012(path, mode="valid", transform=lambda i: i.size)
    pixels, labels = train[1]
    assert (len(train), len(valid), len(datasets.VOC2012(path, mode="test"))) == (2, 1, 1)
    assert pixels.shape == (4, 6, 3) and pixels.dtype == np.float32 and abs(pixels.mean() - 90) < 2
    np.testing.assert_array_equal(labels, np.full((4, 6), 9, "float32"))
    assert valid[0][0] == (6, 4)
    for options, error in (({"mode": "other"}, AssertionError), ({"backend": "other"}, ValueError)):
        with pytest.raises(error):
            datasets.VOC2012(path, **options)


def test_flowers(tmp_path):
    matlab = pytest.importorskip("scipy.io")
    pictures = {f"jpg/image_0000{i}.jpg": picture((40 * i, 0, 0)) for i in (1, 2, 3)}
    path = pack(tmp_path / "flowers.tgz", pictures)
    labels, sets = str(tmp_path / "labels.mat"), str(tmp_path / "sets.mat")
    matlab.savemat(labels, {"labels": np.array([[7, 8, 9]])})
    matlab.savemat(sets, {"trnid": np.array([[2]]), "valid": np.array([[1]]), "tstid": np.array([[3, 1]])})
    train = datasets.Flowers(path, labels, sets, backend="cv2")
    assert len(train) == 2 and len(datasets.Flowers(path, labels, sets, "test")) == 1
    pixels, label = train[0]
    assert label.tolist() == [9] and label.dtype == np.int64 and abs(pixels[..., 0].mean() - 120) < 3
    assert datasets.Flowers(path, labels, sets, "valid")[0][0].size == (6, 4)
    with pytest.raises(AssertionError, match="label_file"):
        datasets.Flowers(path, download=False)

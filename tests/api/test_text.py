"""paddle.text: sets of texts read from small files as official paddle 3.3.1 reads the same files; Viterbi against a search through all
sequences."""

import gzip
import io
import itertools
import tarfile
import zipfile

import numpy as np
import paddle
import pytest
from paddle import text


def archive(path, members):
    with tarfile.open(path, "w:gz") as tar:
        for name, data in members.items():
            data = data if isinstance(data, bytes) else data.encode()
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return str(path)


def samples(data):
    return [[np.asarray(part).tolist() for part in data[i]] for i in range(len(data))]


def test_uci_housing(tmp_path):
    path = str(tmp_path / "housing.data")
    np.savetxt(path, np.arange(140).reshape(10, 14) ** 1.5 % 17)
    train, test = text.UCIHousing(path), text.UCIHousing(path, mode="TEST")
    features, price = train[0]
    assert (len(train), len(test), features.shape, features.dtype, price.shape) == (8, 2, (13,), np.float32, (1,))
    np.testing.assert_allclose(features[:4], [-0.4402, -0.3455, -0.5563, -0.2841], atol=1e-4)
    np.testing.assert_allclose(test[1][0][-3:], [-0.1660, -0.1738, -0.3025], atol=1e-4)
    np.testing.assert_allclose([price[0], test[1][1][0]], [12.8722, 6.7858], atol=1e-4)


def test_imdb(tmp_path):
    path = archive(
        tmp_path / "imdb.tgz",
        {
            "aclImdb/train/pos/0.txt": "Good, good film!\n", "aclImdb/train/neg/0.txt": "bad film; BAD.",
            "aclImdb/test/pos/1.txt": "a good one", "aclImdb/test/neg/1.txt": "film: bad", "aclImdb/README": "no",
        },
    )  # fmt: skip
    train = text.Imdb(path, cutoff=1)
    assert train.word_idx == {b"bad": 0, b"film": 1, b"good": 2, "<unk>": 3}
    assert samples(train) == [[[2, 2, 1], [0]], [[0, 1, 0], [1]]]
    assert samples(text.Imdb(path, "test", 1)) == [[[3, 2, 3], [0]], [[1, 0], [1]]]


def test_imikolov(tmp_path):
    folder = "./simple-examples/data/ptb."
    path = archive(
        tmp_path / "ptb.tgz",
        {
            folder + "train.txt": " the cat sat <unk> the\n the dog sat\n", folder + "valid.txt": " the cat\n",
            folder + "test.txt": " the cat ran\n a\n",
        },
    )  # fmt: skip
    read = lambda *options: text.Imikolov(path, *options, min_word_freq=1)  # noqa: E731
    assert read("NGRAM", 2).word_idx == {b"the": 0, "<e>": 1, "<s>": 2, b"cat": 3, b"sat": 4, "<unk>": 5}
    assert samples(read("NGRAM", 2))[:3] == [[2, 0], [0, 3], [3, 4]] and len(read("NGRAM", 2)) == 10
    assert samples(read("NGRAM", 2, "test"))[2] == [3, 5]
    assert samples(read("SEQ")) == [[[2, 0, 3, 4, 5, 0], [0, 3, 4, 5, 0, 1]], [[2, 0, 5, 4], [0, 5, 4, 1]]]
    assert samples(read("SEQ", 3, "test")) == [[[2, 5], [5, 1]]]
    with pytest.raises(AssertionError, match="data type"):
        read("WORDS")
    with pytest.raises(AssertionError, match="gram"):
        read("NGRAM")


def test_movielens(tmp_path):
    path = str(tmp_path / "ml.zip")
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("ml-1m/movies.dat", "1::Toy Story (1995)::Animation|Comedy\n2::Heat (1995)::Action\n")
        file.writestr("ml-1m/users.dat", "1::F::1::10::48067\n2::M::56::16::70072\n")
        ratings = [(1, 1, 5), (1, 2, 3), (2, 1, 1), (2, 2, 4)] * 5
        file.writestr("ml-1m/ratings.dat", "".join(f"{u}::{m}::{r}::978300760\n" for u, m, r in ratings))
    train, test = text.Movielens(path), text.Movielens(path, "test", test_ratio=0.3)
    assert (len(train), len(test)) == (17, 3)
    assert samples(train)[0] == [[1], [1], [0], [10], [1], [1, 2], [2, 1], [5.0]]
    assert str(train.movie_info[1]) == "<MovieInfo id(1), title(Toy Story ), categories(['Animation', 'Comedy'])>"
    assert str(train.user_info[2]) == "<UserInfo id(2), gender(M), age(56), job(16)>"


def test_conll05(tmp_path):
    packed = lambda t: gzip.compress(t.encode())  # noqa: E731
    folder = "conll05st-release/test.wsj/"
    path = archive(
        tmp_path / "conll.tgz",
        {
            folder + "words/test.wsj.words.gz": packed("The\ncat\nsat\ndown\n\nDogs\nbark\n\n"),
            folder + "props/test.wsj.props.gz": packed(
                "-\t(A0*\n-\t*)\nsit\t(V*)\n-\t(AM*)\n\n-\t(A0*)\nbark\t(V*)\n\n"
            ),
        },
    )
    lists = {"word": "<unk> The cat sat bos eos Dogs bark", "verb": "<unk> sit bark", "target": "B-A0 I-A0 B-V I-V B-AM O", "emb": ""}
    for name, words in lists.items():
        (tmp_path / name).write_text(words.replace(" ", "\n") + "\n")
    data = text.Conll05st(path, *(str(tmp_path / n) for n in lists))
    first, second = samples(data)
    # Official gives roles numbers in an order that differs from process to process; ours is that of the file.
    assert first == [
        [1, 2, 3, 0], [1] * 4, [2] * 4, [3] * 4, [0] * 4, [5] * 4, [1] * 4, [1, 1, 1, 1], [0, 1, 2, 4],
    ]  # fmt: skip
    assert second == [[6, 7], [4, 4], [6, 6], [7, 7], [5, 5], [5, 5], [2, 2], [1, 1], [0, 2]]
    assert data.get_dict()[2] == {"B-A0": 0, "I-A0": 1, "B-V": 2, "I-V": 3, "B-AM": 4, "I-AM": 5, "O": 6}
    assert data.get_embedding() == str(tmp_path / "emb")


def test_translations(tmp_path):
    path = archive(
        tmp_path / "wmt14.tgz",
        {
            "wmt14/src.dict": "<s>\n<e>\n<unk>\nhello\nworld\n", "wmt14/trg.dict": "<s>\n<e>\n<unk>\nbonjour\nmonde\n",
            "wmt14/train/train": "hello world\tbonjour monde\nhello there\tbonjour\nno tab\n",
            "wmt14/test/test": "world\tmonde\n",
        },
    )  # fmt: skip
    train = text.WMT14(path, dict_size=5)
    assert samples(train) == [[[0, 3, 4, 1], [0, 3, 4], [3, 4, 1]], [[0, 3, 2, 1], [0, 3], [3, 1]]]
    assert train.get_dict(reverse=True)[1][4] == "monde" and train.get_dict()[0]["hello"] == 3
    assert samples(text.WMT14(path, "test", 4)) == [[[0, 2, 1], [0, 2], [2, 1]]]
    path = archive(
        tmp_path / "wmt16.tgz",
        {"wmt16/train": "a dog\tein hund\na cat\teine katze\n", "wmt16/val": "a bird\tein vogel\n"},
    )
    train = text.WMT16(path, "train", 6, 7)
    assert samples(train) == [[[0, 3, 4, 1], [0, 3, 4], [3, 4, 1]], [[0, 3, 5, 1], [0, 5, 6], [5, 6, 1]]]
    assert samples(text.WMT16(path, "val", 6, 7)) == [[[0, 3, 2, 1], [0, 3, 2], [3, 2, 1]]]
    assert samples(text.WMT16(path, "val", 6, 7, "de")) == [[[0, 3, 2, 1], [0, 3, 2], [3, 2, 1]]]
    assert train.get_dict("de")["hund"] == 4 and train.get_dict("en", reverse=True)[4] == "dog"


def test_files_that_are_missing():
    for make in (text.UCIHousing, text.Imdb, text.Imikolov, text.Movielens, text.Conll05st):
        with pytest.raises(AssertionError, match="data_file is not set"):
            make(download=False)
    for make in (text.UCIHousing, text.Imdb, text.WMT14, text.WMT16):
        with pytest.raises(AssertionError, match="mode"):
            make("nowhere", mode="other")


def best_by_search(potentials, transitions, length, ends):
    """(score, labels) of the best of all sequences."""
    labels, best = potentials.shape[1], None
    for path in itertools.product(range(labels), repeat=length):
        score = sum(potentials[i, k] for i, k in enumerate(path)) + sum(transitions[a, b] for a, b in zip(path, path[1:]))
        if ends:
            score += transitions[labels - 1, path[0]] + transitions[labels - 2, path[-1]]
        if best is None or score > best[0]:
            best = score, list(path)
    return best


@pytest.mark.parametrize("ends", [True, False])
def test_viterbi(ends):
    stream = np.random.RandomState(3)
    potentials, transitions = stream.randn(3, 4, 4), stream.randn(4, 4)
    lengths = [4, 1, 3]
    decoder = text.ViterbiDecoder(paddle.to_tensor(transitions), include_bos_eos_tag=ends)
    scores, paths = decoder(paddle.to_tensor(potentials), paddle.to_tensor(lengths))
    for i, n in enumerate(lengths):
        score, labels = best_by_search(potentials[i], transitions, n, ends)
        np.testing.assert_allclose(scores.numpy()[i], score, rtol=1e-12)
        assert paths.numpy()[i].tolist() == labels + [0] * (4 - n)
    short = text.viterbi_decode(paddle.to_tensor(potentials[1:2]), paddle.to_tensor(transitions), paddle.to_tensor([1]), ends)
    assert short[1].shape == [1, 1]
    with pytest.raises(ValueError, match="lengths"):
        decoder(paddle.to_tensor(potentials), paddle.to_tensor([4, 1, 9]))

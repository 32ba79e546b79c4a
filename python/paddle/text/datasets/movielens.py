"""Ratings of films by users (Harper & Konstan, "The MovieLens datasets", 2015)."""

from __future__ import annotations

import re
import zipfile

import numpy as np

from ...io import Dataset
from ...utils.download import dataset_file
from .vocabulary import checked_mode

__all__ = []

_AGES = [1, 18, 25, 35, 45, 50, 56]


class MovieInfo:
    """A film: its number, kinds and title."""

    def __init__(self, index, categories, title):
        self.index, self.categories, self.title = int(index), categories, title

    def value(self, categories_dict, movie_title_dict):
        """[[number], numbers of its kinds, numbers of its title's words]."""
        kinds = [categories_dict[c] for c in self.categories]
        return [[self.index], kinds, [movie_title_dict[w.lower()] for w in self.title.split()]]

    def __repr__(self):
        return f"<MovieInfo id({self.index}), title({self.title}), categories({self.categories})>"


class UserInfo:
    """A user: number, sex, age group, occupation."""

    def __init__(self, index, gender, age, job_id):
        self.index, self.is_male = int(index), gender == "M"
        self.age, self.job_id = _AGES.index(int(age)), int(job_id)

    def value(self):
        """[[number], [0 for men, 1 for women], [age group], [occupation]]."""
        return [[self.index], [0 if self.is_male else 1], [self.age], [self.job_id]]

    def __repr__(self):
        gender = "M" if self.is_male else "F"
        return f"<UserInfo id({self.index}), gender({gender}), age({_AGES[self.age]}), job({self.job_id})>"


class Movielens(Dataset):
    """Eight arrays for each rating: user, sex, age group, occupation, film, its kinds, words of its title, rating in [-3, 5].

    Args:
        data_file (str, optional): the archive ml-1m; without it it is fetched.
        mode (str): "train" or "test".
        test_ratio (float): the share of ratings that is for tests.
        rand_seed (int): of the choice.
        download (bool): False forbids to fetch.

    Raises:
        AssertionError: an unknown mode, or the file is missing and may not be fetched.
    """

    _SOURCE = "https://dataset.bj.bcebos.com/movielens%2Fml-1m.zip", "c4d9eecfca2ab87c1945afe126590906"

    def __init__(self, data_file=None, mode="train", test_ratio=0.1, rand_seed=0, download=True):
        self.mode = checked_mode(mode, ("train", "test"))
        self.data_file = dataset_file(data_file, "data_file", *self._SOURCE, "sentiment", download)
        self.test_ratio, self.rand_seed = test_ratio, rand_seed
        with zipfile.ZipFile(self.data_file) as archive:
            self.movie_info = {int(i): MovieInfo(i, c.split("|"), _title(t)) for i, t, c in _rows(archive, "movies")}
            self.user_info = {int(i): UserInfo(i, g, a, j) for i, g, a, j, _ in _rows(archive, "users")}
            words = {w.lower() for film in self.movie_info.values() for w in film.title.split()}
            kinds = {c for film in self.movie_info.values() for c in film.categories}
            # In the order of names, so that every process has the same numbers.
            self.movie_title_dict = {w: i for i, w in enumerate(sorted(words))}
            self.categories_dict = {c: i for i, c in enumerate(sorted(kinds))}
            self.data = self._samples(_rows(archive, "ratings"))

    def _samples(self, ratings) -> list:
        stream, for_test, samples = np.random.RandomState(self.rand_seed), self.mode == "test", []
        for user, film, rating, _ in ratings:
            if (stream.random_sample() < self.test_ratio) == for_test:
                described = self.movie_info[int(film)].value(self.categories_dict, self.movie_title_dict)
                samples.append(self.user_info[int(user)].value() + described + [[float(rating) * 2 - 5.0]])
        return samples

    def __getitem__(self, index):
        return tuple(np.array(part) for part in self.data[index])

    def __len__(self):
        return len(self.data)


def _rows(archive, name):
    with archive.open(f"ml-1m/{name}.dat") as file:
        for line in file:
            yield line.decode("latin").strip().split("::")


def _title(text: str) -> str:
    """Without the year."""
    return re.match(r"^(.*)\((\d+)\)$", text).group(1)

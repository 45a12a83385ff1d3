"""Real graphs by name, such as "gap:road": the table of them, datasets.toml, and where they are kept."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from .._core.arguments import quoted
from .._core.environment import WrongVariable, user_cache
from ..errors import InputError

COLLECTIONS = ("gap", "suitesparse", "snap", "dimacs10", "ldbc", "cugraph")
FOLDER = "RAPIDS_BFS_DATASETS"  # the environment variable with the folder of datasets
ANY = re.compile(r"[A-Za-z0-9][\w.+-]*/[A-Za-z0-9][\w.+-]*", re.ASCII)  # GROUP/NAME in SuiteSparse's collection


@dataclass(frozen=True)
class Dataset:
    """A graph that its publisher offers. None, or an empty string, is what the publisher does not state."""

    name: str  # "gap:road"
    url: str
    file: str  # that the download is kept as
    vertices: int | None = None
    edges: int | None = None  # as the publisher counts them
    directed: bool | None = None
    columns: tuple[str, str] | None = None  # of the edges, in a table with more
    sha256: str | None = None
    exact: bool = True  # ``edges`` is the number of edges in the file
    terms: str = ""
    citation: str = ""

    @property
    def folder(self) -> Path:
        """Where the download is kept, and the adjacency that was read from it."""
        collection, _, name = self.name.partition(":")
        return folder().joinpath(collection, *name.split("/"))

    @property
    def download(self) -> Path:
        return self.folder / self.file

    @property
    def unchecked(self) -> Path:
        """The file that marks a download that has not been compared with the publisher's figures."""
        return self.folder / ".unchecked"

    @property
    def adjacency(self) -> Path:
        """The folder of its arrays."""
        return self.folder / "adjacency"

    @property
    def kept(self) -> int:
        """Bytes of both on disk."""
        return sum(path.stat().st_size for path in (self.download, *self.adjacency.glob("*")) if path.is_file())


def folder() -> Path:
    """The folder of all datasets: that of the environment variable RAPIDS_BFS_DATASETS, else in the user's cache."""
    given = os.environ.get(FOLDER)
    if not given:
        return user_cache("datasets", f"{FOLDER} to a folder for them")
    try:
        return Path(given).expanduser().absolute()
    except RuntimeError:
        raise WrongVariable(f"the environment variable {FOLDER} is {given!r}, and that user has no home") from None


def is_dataset(name: str) -> bool:
    """Return True if ``name`` begins with a collection of datasets."""
    return name.partition(":")[0] in COLLECTIONS and ":" in name


def datasets() -> list[Dataset]:
    """All datasets of the table."""
    return [*_table().values()]


def dataset(name: str) -> Dataset:
    """The dataset of this name; of SuiteSparse any. Raises `InputError` if there is none."""
    if found := _table().get(name):
        return found
    collection, _, rest = name.partition(":")
    if collection == "suitesparse" and ANY.fullmatch(rest):
        return _made(collection, rest, {})
    known = [each for each in _table() if each.startswith(f"{collection}:")]
    alike = next((each for each in known if _plain(each) == _plain(name)), None)
    if alike is not None:
        return _table()[alike]
    near = get_close_matches(name, known, 3, 0.5)
    hint = f"; there is {', '.join(near)}" if near else ""
    if collection == "suitesparse":
        hint += ": give GROUP/NAME, as https://sparse.tamu.edu does"
    raise InputError(f"{quoted(name)} is not among the datasets{hint}; 'rapids-bfs datasets {collection}' lists them")


def meant_by(name: str, others: Iterable[str] = ()) -> str:
    """The end of a message that no dataset is called ``name``: a hint at one with a similar name, or at one of the
    ``others`` that is similar up to the colon; else nothing."""
    collection = name.lower()
    if collection in COLLECTIONS:
        first = next(each for each in _table() if each.startswith(f"{collection}:"))
        return f"; {collection} is a collection: name one of its graphs, as in {first}"
    known: dict[str, list[str]] = {}
    for each in _table():
        known.setdefault(_plain(re.split("[:/]", each)[-1]), []).append(each)
    last = _plain(re.split("[:/]", name)[-1])
    begin, colon, rest = name.partition(":")
    near = (
        [each for each in others if each == collection]
        or known.get(last)
        or [f"{each}{colon}{rest}" for each in get_close_matches(begin.lower(), others, 1, 0.75)]
        or [each for close in get_close_matches(last, known, 1, 0.8) for each in known[close]]
    )
    return f"; did you mean {' or '.join(near[:3])}?" if near else ""


def _plain(name: str) -> str:
    """``name`` as RAPIDS might spell it: email_Eu_core is email-Eu-core."""
    return name.lower().replace("_", "-")


@cache
def _collections() -> dict[str, Any]:
    return tomllib.loads((resources.files(__package__) / "datasets.toml").read_text("utf-8"))


@cache
def _table() -> dict[str, Dataset]:
    made = [_made(key, name, row) for key, each in _collections().items() for name, row in each["graphs"].items()]
    return {each.name: each for each in made}


def _made(collection: str, name: str, row: dict[str, Any]) -> Dataset:
    """The dataset of a row of the table, whose collection says what the row does not."""
    said = {key: value for key, value in _collections()[collection].items() if key != "graphs"} | row
    url = said.pop("url").format(name=name)
    file = said.pop("file", url.rpartition("/")[2]).format(name=name)
    columns = said.pop("columns", None)
    return Dataset(f"{collection}:{name}", url, file, columns=tuple(columns) if columns else None, **said)

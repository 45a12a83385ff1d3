"""A file to read, a file to write, and their errors."""

from __future__ import annotations

import gzip
import io
import os
import re
import secrets
import stat
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, cast

from .._core.arguments import file_path, flag
from .._core.csr.building import CHANGED
from .._core.environment import WrongVariable
from .._core.forks import lock_of_process
from .._core.formatting import printable
from ..errors import InputError
from ..graph import Graph
from ._bounded import BOM, BoundedText

HEAD = 1 << 16  # bytes at the start of a file that tell its format
State = tuple[int, int, int]  # of a file: inode, size, time of modification
PACKINGS = {  # the first bytes of packed files, by Arrow's names
    "gzip": re.compile(rb"\x1f\x8b"),
    "bz2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
}
TAR = "tar"  # the packing of a file in an archive, see `_archive`
IS_TAR = re.compile(rb"[\s\S]{257}ustar|\0{1024}")  # or empty
PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}  # by the last suffix

_turns: dict[int, threading.RLock] = {}


def turn() -> threading.RLock:
    """This process's lock for putting the files of one graph in place, and for opening them."""
    return lock_of_process(_turns)


def packing_of(head: bytes) -> str:
    """The packing of a file that begins with these bytes: one of `PACKINGS`, or empty."""
    return next((name for name, magic in PACKINGS.items() if magic.match(head)), "")


def without_packing(path: Path) -> Path:
    """``a.txt`` for ``a.txt.gz``."""
    return path.with_suffix("") if path.suffix.lower() in PACKED else path


@dataclass(frozen=True)
class File:
    """A file to read, packed by one of `PACKINGS` or not; as a string, its path in one line.

    ``state`` is that of the first look at it; None if there was no file.
    """

    path: Path
    packing: str = ""
    state: State | None = None
    descriptor: Path | None = None  # the path, in /proc, of a file that is `held`

    def __str__(self) -> str:
        return printable(str(self.path))

    def beside(self, suffix: str) -> File:
        """The file of this name with another suffix, which need not exist."""
        return File(self.path.with_suffix(suffix))

    @property
    def place(self) -> Path:
        """The path to open."""
        return self.descriptor or self.path

    @property
    def exists(self) -> bool:
        return self.place.is_file()

    @contextmanager
    def held(self) -> Iterator[File]:
        """The file, kept open: on Linux all reads are of this one, even if another process replaces it.

        Raises `InputError` if its content changes, or if it is replaced elsewhere than on Linux.
        """
        with ExitStack() as opened:
            file = self
            if self.exists:
                with file_errors(self, "a graph"):
                    number = opened.enter_context(self.path.open("rb")).fileno()
                again = Path(f"/proc/self/fd/{number}")
                file = replace(self, state=_state(os.fstat(number)), descriptor=again if again.exists() else None)
            with unchanged(file):
                yield file

    def open(self) -> IO[bytes]:
        """The content as a stream of bytes, unpacked; gzip without Arrow, whose import takes longer than most files."""
        if self.packing == "gzip":
            return cast("IO[bytes]", gzip.open(self.place))
        stream: IO[bytes] = self.open_for_arrow() if self.packing else self.place.open("rb")
        return stream

    def open_for_arrow(self) -> Any:
        """The content as a stream of Arrow's own, unpacked. It is not mapped: a file that shrinks would crash us."""
        import pyarrow as pa

        content = pa.OSFile(os.fsencode(self.place))
        return pa.CompressedInputStream(content, self.packing) if self.packing else content

    def text(self, comments: bytes = b"") -> BoundedText:
        """The content as lines of text, within the bounds of `BoundedText`."""
        return BoundedText(self.open(), comments)

    def numbered_lines(self, comments: bytes = b"") -> Iterator[tuple[int, str]]:
        """The lines of `text` in Latin-1, with their numbers from 1."""
        with self.text(comments) as raw:
            yield from enumerate(io.TextIOWrapper(io.BufferedReader(raw), encoding="latin-1"), 1)

    def numbered_fields(self, comments: bytes = b"") -> Iterator[tuple[int, list[str]]]:
        """The fields between blanks and tabs of each of the `numbered_lines` that has some."""
        for number, line in self.numbered_lines(comments):
            if fields := re.findall("[^ \t\r\n]+", line):
                yield number, fields

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self.place.stat().st_size

    @property
    def unpacked_size(self) -> int:
        """Roughly how many bytes of content there are."""
        return 5 * self.size if self.packing else self.size

    def require_unchanged(self) -> None:
        """Raise `InputError` if the file is no longer in its ``state``."""
        if self.state != (_state(self.place.stat()) if self.exists else None):
            raise InputError(f"{self}: {CHANGED}")

    def head(self) -> bytes:
        """The first bytes of the content, without a byte order mark."""
        with self.open() as stream:
            return stream.read(HEAD).removeprefix(BOM)

    def about_lines(self) -> int:
        """Roughly how many lines of text there are, judged by the first."""
        head = self.head()
        return self.unpacked_size * (head.count(b"\n") + 1) // max(len(head), 1)


def _state(found: os.stat_result) -> State:
    return found.st_ino, found.st_size, found.st_mtime_ns


@contextmanager
def unchanged(*files: File) -> Iterator[None]:
    """Raise `InputError` if one of the ``files`` changes, rather than an error that the change has caused."""
    try:
        yield
    except InputError:
        for file in files:
            file.require_unchanged()
        raise
    for file in files:
        file.require_unchanged()


def file_at(path: str | os.PathLike[str]) -> File:
    """The file at ``path``. Raises `InputError` unless it is a regular file with content: a pipe, a device or one of
    those in /proc, which have no size, may never end, or never begin."""
    file = File(Path(file_path(path)))
    try:
        found = os.stat(file.path)
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{file} does not exist") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{file!s:.200} cannot be opened: {getattr(error, 'strerror', None) or error}") from error
    if stat.S_ISDIR(found.st_mode):
        raise InputError(f"{file} is a directory, not a file")
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{file} is a pipe or a device: save what it gives to a file first")
    if not found.st_size:
        raise InputError(f"{file} is empty")
    return replace(file, state=_state(found))


@contextmanager
def file_errors(file: File, what: str) -> Iterator[None]:
    """Turn any exception that a library raises at a damaged file into an `InputError` that names the file."""
    try:
        yield
    except WrongVariable:
        raise
    except InputError as error:
        if str(file) in str(error):
            raise
        raise InputError(f"{file}: {error}") from None
    except Exception as error:
        said = error.strerror if isinstance(error, OSError) else None  # without its number and the file's name
        reason = (said or str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"{file} cannot be read as {what}: {reason:.200}") from error


def check_output(path: str | os.PathLike[str], force: bool = False) -> Path:
    """``path`` if a file can be written there. Raises `InputError` if not, or if there is one and not ``force``."""
    target = Path(file_path(path))
    if os.path.isdir(target):
        raise InputError(f"{target} is a directory, not a file")
    if is_written_in_place(target):
        return target
    if not flag(force, "force") and os.path.exists(target):
        raise InputError(f"{target} exists: choose another name, or replace it with force=True")
    folder = Path(os.path.realpath(target)).parent if os.path.islink(target) else target.parent
    if not os.path.isdir(folder):
        raise InputError(f"{target}: there is no directory {folder}")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{target}: the directory {folder} is not writable")
    return target


def is_written_in_place(path: Path) -> bool:
    """Return True for a pipe, a device, or the name of an open file, such as /dev/stdout."""
    if not os.path.exists(path):
        return False
    while True:
        folder = os.path.realpath(path.parent)
        if folder == "/dev/fd" or folder.startswith("/proc/"):
            return True
        if not path.is_symlink():
            return not path.is_file()
        path = Path(folder, os.readlink(path))


@contextmanager
def write_errors(path: str | Path) -> Iterator[None]:
    """Turn an error of the system, such as a full disk, into an `InputError` that names the file."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A new file that replaces the one at ``path``, or the target of a symbolic link there, once it is complete; the
    mode is kept. A path that `is_written_in_place` is opened itself."""
    if is_written_in_place(path):
        with write_errors(path), path.open("wb") as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with write_errors(path):
            with part.open("xb") as stream:
                if target.exists():
                    part.chmod(stat.S_IMODE(target.stat().st_mode))
                yield stream
            part.replace(target)
    finally:
        part.unlink(missing_ok=True)


KEEP = ".parquet, .arrow and .npz"  # vertices without edges, for ids of any type


def refuse_isolated(graph: Graph, vertices: Any, format: str) -> None:
    """Raise `InputError` if there are ``vertices`` without edges that ``format`` would lose."""
    if len(vertices):
        first = graph.ids_of(vertices[:1])[0]
        raise InputError(
            f"{format} would lose vertices without edges ({len(vertices):,}, the first is {first!s}); {KEEP} keep them"
        )

"""Graphs in tar archives, read where they are: nothing is unpacked to the disk, so a member's path names no file.

SuiteSparse publishes NAME.tar.gz with NAME/NAME.mtx in it, LDBC Graphalytics NAME.tar.zst with NAME.v and NAME.e.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from .._core.arguments import quoted
from .._core.formatting import printable
from .._core.memory import require_bytes
from ..errors import InputError
from ._file import TAR, File, without_packing
from ._formats import format_of_suffix

READ = 1 << 20  # bytes at a time
MOST_LISTED = 10  # names in a message
MOST_MEMBERS = 10_000
EXPANSION = 100  # times its size that an archive may unpack to before its graph, or after it; a bomb does 1000 times
SMALL = 1 << 26  # bytes to which it may in any case


@dataclass(frozen=True)
class Member(File):
    """A file in an archive; ``path`` is its name there. One that does not exist has the length -1."""

    packing: str = TAR
    archive: File = field(kw_only=True)
    length: int = field(kw_only=True)

    def __str__(self) -> str:
        return f"{self.archive}, {printable(str(self.path))}"

    def open(self) -> IO[bytes]:
        reader = _Reader(self.archive)
        try:
            return io.BufferedReader(reader.content_of(self.path), READ)
        except BaseException:
            reader.close()
            raise

    def open_for_arrow(self) -> Any:
        import pyarrow as pa

        require_bytes(self.length, f"{self}, unpacked,")
        with self.open() as stream:  # not the stream itself: what it raises, a thread of Arrow's would
            return pa.BufferReader(stream.read())

    @property
    def size(self) -> int:
        return self.length

    @property
    def unpacked_size(self) -> int:
        return self.length

    @contextmanager
    def held(self) -> Iterator[File]:
        yield self  # the archive is held

    def require_unchanged(self) -> None:
        self.archive.require_unchanged()

    @property
    def exists(self) -> bool:
        return self.length >= 0

    def beside(self, suffix: str) -> File:
        wanted = self.path.with_suffix(suffix)
        with closing(_Reader(self.archive)) as reader:
            length = next((each.size for each in reader.files() if Path(each.name) == wanted), -1)
        return Member(wanted, archive=self.archive, length=length)


def member_of(archive: File) -> Member:
    """The file in ``archive`` that holds its graph: the one with its name, else the only one that may be one.

    Raises `InputError` if there is none, or several may be.
    """
    name = archive.path
    while name.suffix.lower() in (".tar", ".tgz") or without_packing(name) != name:
        name = name.with_suffix("")
    found = []
    with closing(_Reader(archive)) as reader:
        for each in reader.files():
            path = Path(each.name)
            if format_of_suffix(path) is None:
                continue
            member = Member(path, archive=archive, length=each.size)
            if path.stem == name.name:
                return member
            found.append(member)
    if len(found) == 1:
        return found[0]
    listed = ", ".join(quoted(str(member.path)) for member in found[:MOST_LISTED])
    there = f"any of {listed} may be: unpack the one that is meant" if found else "none has a known suffix"
    raise InputError(f"{archive} has no graph called {name.name}, and {there}")


class _Reader(io.RawIOBase):
    """An archive, read once, from its start to the content of one of its files: then this is that content."""

    def __init__(self, archive: File) -> None:
        self._archive = archive
        self._stream = archive.open()
        self._bound = max(SMALL, EXPANSION * archive.size)
        self._left: float = self._bound  # bytes that may still be unpacked
        self._content: IO[bytes] | None = None
        self._path = Path()  # of the content
        unpacked: Any = _Unpacked(self)
        try:
            self._tar = tarfile.open(fileobj=unpacked, mode="r|", bufsize=READ)  # noqa: SIM115
        except BaseException:
            self._stream.close()
            raise

    def unpack(self, count: int) -> bytes:
        """The next bytes of the archive. Raises `InputError` if it unpacks to far more than it has."""
        data = self._stream.read(count)
        self._left -= len(data)
        self._require_bounded(0)
        return data

    def _require_bounded(self, count: int) -> None:
        """Raise `InputError` if the archive unpacks to far more than it has by ``count`` further bytes."""
        if count > self._left:
            raise InputError(f"{self._archive} unpacks to more than {EXPANSION} times its size beside its graph")

    def files(self) -> Iterator[tarfile.TarInfo]:
        """The regular files, in order."""
        for count, each in enumerate(self._tar):
            if count > MOST_MEMBERS:
                raise InputError(f"{self._archive} has more than {MOST_MEMBERS:,} members")
            self._tar.members = []  # type: ignore[attr-defined]  # which it would keep
            if each.size < 0:
                raise InputError(f"{self._archive} is damaged: {quoted(each.name)} has a size of {each.size}")
            if each.isreg():
                yield each
            self._require_bounded(self._tar.offset - self._tar.fileobj.tell())  # tarfile skips it even past the end

    def content_of(self, path: Path) -> _Reader:
        for each in self.files():
            if Path(each.name) == path:
                self._content, self._path = self._tar.extractfile(each), path
                self._left = float("inf")  # what reads the content has bounds of its own
                return self
        raise InputError(f"{self._archive} has no {path} any more")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        assert self._content is not None
        data = self._content.read(len(buffer))
        buffer[: len(data)] = data
        if not data:
            self._left = self._bound
            self._read_the_rest()
        return len(data)

    def _read_the_rest(self) -> None:
        """Read what follows the content, up to the checksum at the end. Raises `InputError` if another file may be the
        graph: one of the same name, or of the same stem in another format."""
        for each in self.files():
            path = Path(each.name)
            format = format_of_suffix(path) if path.stem == self._path.stem else None
            another = format and not {path.suffix, self._path.suffix} <= set(format.parts)
            if path.name == self._path.name or another:
                both = f"{quoted(str(self._path))} and {quoted(each.name)}"
                raise InputError(f"{self._archive} has {both}: unpack the one that is meant")
        while self.unpack(READ):
            pass

    def close(self) -> None:
        self._stream.close()
        super().close()


@dataclass(frozen=True)
class _Unpacked:
    """What `tarfile` reads from."""

    reader: _Reader

    def read(self, count: int) -> bytes:
        return self.reader.unpack(count)

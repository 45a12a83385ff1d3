"""Damaged files: some bytes of a valid file are changed, in the file itself or in what is packed in it."""

from __future__ import annotations

import gzip
import io
import zipfile
from dataclasses import replace
from random import Random

from valid import Case

BYTES = b"\0\1\x7f\x80\xff\xfe \t\n\r,;|#%\"'+-.0129eEx:{[]}\\"
NUMBERS = (0, 1, -1, 2**15, 2**31 - 1, -(2**31), 2**31, 2**32 - 1, 2**53, 2**62, 2**63 - 1, -(2**63))
CHANGES_AT_ONCE = (1, 1, 1, 2, 4)
LONGEST_PIECE = 40


def damaged(rng: Random, case: Case) -> Case:
    """``case`` with a few changes, mostly inside of the packing, whose checksum would reveal them."""
    inside = rng.random() < 0.8
    if inside and case.name.endswith(".gz"):
        return replace(case, data=gzip.compress(changed(rng, gzip.decompress(case.data)), 1, mtime=0))
    if inside and case.name.endswith(".npz"):
        return replace(case, data=_with_changed_member(rng, case.data))
    return replace(case, data=changed(rng, case.data))


def changed(rng: Random, data: bytes) -> bytes:
    content = bytearray(data)
    for _ in range(rng.choice(CHANGES_AT_ONCE)):
        rng.choice(CHANGES)(rng, content, rng.randrange(len(content) + 1))
    return bytes(content)


def _flip(rng: Random, content: bytearray, at: int) -> None:
    if at < len(content):
        content[at] ^= 1 << rng.randrange(8)


def _overwrite(rng: Random, content: bytearray, at: int) -> None:
    content[at : at + 1] = bytes([rng.choice(BYTES) if rng.random() < 0.7 else rng.randrange(256)])


def _insert(rng: Random, content: bytearray, at: int) -> None:
    content[at:at] = bytes(rng.choice(BYTES) for _ in range(rng.randint(1, 5)))


def _remove(rng: Random, content: bytearray, at: int) -> None:
    del content[at : at + rng.randint(1, LONGEST_PIECE)]


def _truncate(rng: Random, content: bytearray, at: int) -> None:
    del content[at:]


def _repeat(rng: Random, content: bytearray, at: int) -> None:
    content[at:at] = content[at : at + rng.randint(1, LONGEST_PIECE)] * rng.choice((1, 2, 50))


def _move(rng: Random, content: bytearray, at: int) -> None:
    piece = content[at : at + rng.randint(1, LONGEST_PIECE)]
    del content[at : at + len(piece)]
    to = rng.randrange(len(content) + 1)
    content[to:to] = piece


def _number(rng: Random, content: bytearray, at: int) -> None:
    """Overwrite with a number: binary, in 2, 4 or 8 bytes, or as digits."""
    number, size = rng.choice(NUMBERS), rng.choice((2, 4, 8, 0))
    if size:
        content[at : at + size] = (number % 256**size).to_bytes(size, rng.choice(("little", "little", "big")))
    else:
        content[at : at + 1] = str(number).encode()


CHANGES = (_flip, _flip, _flip, _overwrite, _overwrite, _insert, _remove, _truncate, _repeat, _move, _number)


def _with_changed_member(rng: Random, data: bytes) -> bytes:
    """The zip archive with one member changed and its checksum recomputed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {info.filename: (archive.read(info), info.compress_type) for info in archive.infolist()}
    victim = rng.choice(list(members))
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, (content, compression) in members.items():
            info = zipfile.ZipInfo(name)
            archive.writestr(info, changed(rng, content) if name == victim else content, compression)
    return sink.getvalue()

"""Nasty tar archives: members of any kind, with names that lead elsewhere and sizes that are not theirs."""

from __future__ import annotations

import bz2
import gzip
import io
import tarfile
from random import Random

import pyarrow as pa

ESCAPED = "fuzz-escaped.mtx"  # the name of what would be written if a member's path were followed
PATHS = ("{}", "{}", "{}", "x/{}", "./{}", "../" + ESCAPED, "/tmp/" + ESCAPED, "x/../../" + ESCAPED, "\n{}", "é{}", "")
KINDS = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE)
OTHERS = (tarfile.GNUTYPE_SPARSE, tarfile.CONTTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE, b"?")
SIZES = (0, 1, 511, 512, 513, 10**6, 2**33 - 1, 2**40, 2**62)
PACKINGS = {
    ".tar": bytes,
    ".tar.gz": lambda data: gzip.compress(data, 1, mtime=0),
    ".tgz": lambda data: gzip.compress(data, 1, mtime=0),
    ".tar.bz2": bz2.compress,
    ".tar.zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


def tarball(rng: Random, contents: dict[str, bytes]) -> tuple[str, bytes]:
    """The name and the bytes of an archive of these contents by name, in which anything may be wrong."""
    stream = io.BytesIO()
    for name, data in contents.items():
        if rng.random() < 0.2:
            stream.write(_member(rng, name, rng.choice(KINDS + OTHERS), b""))
        stream.write(_member(rng, rng.choice(PATHS).format(name), tarfile.REGTYPE, data))
    stream.write(bytes(rng.choice((1024, 1024, 1024, 512, 0, 10240))))
    data = stream.getvalue()
    if rng.random() < 0.1:
        data = data[: rng.randrange(len(data) + 1)]
    suffix = rng.choice(list(PACKINGS))
    data = PACKINGS[suffix](data)
    if rng.random() < 0.1:
        data = data[: rng.randrange(1, len(data) + 1)] + rng.choice((b"", b"junk", bytes(2048), data))
    return f"a{suffix}", data


def _member(rng: Random, name: str, kind: bytes, data: bytes) -> bytes:
    member = tarfile.TarInfo(name)
    member.type, member.size = kind, len(data)
    member.linkname = rng.choice((f"../{ESCAPED}", "/etc/passwd", "a.mtx", "/dev/zero", ""))
    if rng.random() < 0.1:
        member.size = rng.choice(SIZES)
    if rng.random() < 0.1:
        member.pax_headers = {rng.choice(("path", "size", "linkpath", "mtime")): rng.choice(("a.mtx", "1", "-1", "é"))}
    header = bytearray(member.tobuf(rng.choice((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)), errors="replace"))
    if rng.random() < 0.05:
        header[rng.randrange(len(header))] ^= 1 << rng.randrange(8)
    return bytes(header) + data + bytes(-len(data) % 512)

"""Graphs in tar archives: the right file is read, where it is, within bounds."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from graph_files import GENERAL, archive, arcs, check_message, read_apart, write

from rapids_bfs import InputError, load, read


def zipped(content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        made.writestr("a.txt", content)
    return stream.getvalue()


ROAD = GENERAL + "3 3 2\n1 2\n3 1\n"
PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


@pytest.mark.parametrize("packing", PACKINGS)
def test_as_suitesparse_packs_them(tmp_path: Path, packing: str) -> None:
    members = {"road/road_coord.mtx": "x", "road/README.txt": "0 1\n", "road/road.mtx": ROAD, "road/road_b.mtx": "y"}
    data = PACKINGS[packing](archive(members, DIRTYPE=b"", SYMTYPE=b"/etc/passwd"))
    graph = read(write(tmp_path / f"road.tar{packing}", data))
    assert sorted(arcs(graph)) == [(0, 1), (2, 0)]
    assert graph.name == "road"
    assert os.listdir(tmp_path) == [f"road.tar{packing}"]


@pytest.mark.parametrize("order", [(".properties", ".v", ".e"), (".e", ".properties", ".v")])
def test_as_ldbc_packs_them(tmp_path: Path, order: tuple[str, ...]) -> None:
    load("karate").save(tmp_path / "club.e")
    members = {f"./club{suffix}": (tmp_path / f"club{suffix}").read_bytes() for suffix in order}
    path = write(tmp_path / "club.tar.zst", PACKINGS[".zst"](archive(members | {"club-BFS": "0 0\n"})))
    assert arcs(read(path)) == arcs(load("karate"))
    assert not read(path).directed


def test_a_table_in_an_archive(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tar.gz", gzip.compress(archive({"b.csv": "u,v\na,b\nb,c\n"})))
    assert sorted(arcs(read(path))) == [("a", "b"), ("b", "c")]


@pytest.mark.parametrize("edge_data", [None, ["w"]])
def test_a_header_alone_in_an_archive(tmp_path: Path, edge_data: list[str] | None) -> None:
    path = write(tmp_path / "a.tar", archive({"b.csv": "source,target,w"}))
    assert read(path, edge_data=edge_data).num_vertices == 0


BAD = {
    "no graph": ({"README": "hi"}, "has no graph called a, and none has a known suffix"),
    "several": ({"b.mtx": ROAD, "c.txt": "0 1\n"}, r"and any of 'b\.mtx', 'c\.txt' may be: unpack the one"),
    "empty": ({}, "has no graph called a, and none has a known suffix"),
    "twice": ({"x/a.mtx": ROAD, "y/a.mtx": ROAD}, "a.tar has 'x/a.mtx' and 'y/a.mtx': unpack the one that is meant"),
    "two formats": ({"x/a.el": "0 1\n", "a.csv": "u,v\n0,1\n"}, "a.tar has 'x/a.el' and 'a.csv': unpack the one that"),
    "LDBC and another": ({"a.e": "0 1\n", "a.v": "0\n1\n", "a.csv": "u,v\n0,1\n"}, "a.tar has 'a.(e|v)' and 'a.csv'"),
    "nothing in it": ({"a.el": ""}, r"a\.tar, a\.el is empty"),
    "damaged": ({"a.mtx": GENERAL + "3 3 1\n1 9\n"}, "a.tar, a.mtx, line 4: '9' is not one of the rows"),
    "no vertices": ({"a.e": "0 1\n"}, "a.tar, a.v does not exist: LDBC's graphs"),
    "NumPy": ({"a.npz": b"PK\3\4"}, "is NumPy in an archive: unpack it first"),
    "Parquet": ({"a.txt": b"PAR1"}, "is Parquet in an archive: unpack it first"),
    "another": ({"a.mtx": archive({"b.mtx": ROAD})}, "is a tar archive: unpack it first"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_archives(tmp_path: Path, case: str) -> None:
    members, message = BAD[case]
    with pytest.raises(InputError, match=message) as error:
        read(write(tmp_path / "a.tar", archive(members)))
    check_message(error)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tar.gz", gzip.compress(b"0 1\n"), "is neither a tar archive, as its suffix says, nor a graph"),
        ("a.tar", b"0 1\n", "is neither a tar archive"),
        ("a.zip", zipped(b"0 1\n"), r"is a zip archive with 'a\.txt' in it: unpack it first"),
    ],
    ids=["gzip", "text", "zip"],
)
def test_archives_of_another_kind(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        read(write(tmp_path / name, content))
    check_message(error)


def test_a_member_that_claims_to_be_large(tmp_path: Path) -> None:
    member = tarfile.TarInfo("a.mtx")
    member.size = 1 << 40
    path = write(tmp_path / "a.tar", member.tobuf() + ROAD.encode())
    with pytest.raises(InputError, match=r"a\.tar, a\.mtx cannot be read as a graph: unexpected end of data"):
        read(path)


def test_a_member_of_negative_size(tmp_path: Path) -> None:
    for name in ("a.el", "b.txt"):
        member = tarfile.TarInfo(name)
        member.size = -1
        with pytest.raises(InputError, match=rf"a\.tar is damaged: '{name}' has a size of -1"):
            read(write(tmp_path / "a.tar", member.tobuf(tarfile.GNU_FORMAT) + archive({"a.el": "0 1\n"})))


@pytest.mark.parametrize("kind", [tarfile.REGTYPE, b"?"])
def test_a_member_beside_the_graph_that_claims_to_be_large(tmp_path: Path, kind: bytes) -> None:
    """Read apart: past the end of the archive tarfile goes on skipping what the header claims, a MiB at a time."""
    member = tarfile.TarInfo("b.txt")
    member.size, member.type = 1 << 62, kind
    path = write(tmp_path / "a.tar", member.tobuf(tarfile.GNU_FORMAT) + archive({"a.mtx": ROAD}))
    [told], _ = read_apart(path)
    assert "a.tar unpacks to more than 100 times its size beside its graph" in told


def test_an_archive_that_is_cut_short(tmp_path: Path) -> None:
    whole = gzip.compress(archive({"a.mtx": GENERAL + "3 3 9000\n" + "1 2\n" * 9000}))
    for length in (100, len(whole) - 30):
        with pytest.raises(InputError, match=r"a\.tar\.gz"):
            read(write(tmp_path / "a.tar.gz", whole[:length]))


def test_a_checksum_that_is_wrong(tmp_path: Path) -> None:
    """That of gzip stands behind everything in the archive."""
    whole = bytearray(gzip.compress(archive({"a.mtx": ROAD})))
    whole[-8] ^= 1
    with pytest.raises(InputError, match=r"a\.tar\.gz.*CRC"):
        read(write(tmp_path / "a.tar.gz", bytes(whole)))


def test_names_lead_to_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A member is read from the archive, whatever its name, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    outside = write(tmp_path / "outside.mtx", GENERAL + "9 9 0\n")
    os.mkdir(tmp_path / "in")
    for name in ("../outside.mtx", str(outside)):
        path = write(tmp_path / "in" / "outside.tar", archive({name: ROAD}))
        assert read(path).num_edges == 2
    assert os.listdir(tmp_path / "in") == ["outside.tar"]


def test_a_bomb_takes_little(tmp_path: Path) -> None:
    """Gigabytes of another file, or of a header, before the graph."""
    zeros = gzip.compress(bytes(1 << 24), 9) * 128  # 2 GiB
    paths = []
    for name, kind in (("file", tarfile.REGTYPE), ("header", tarfile.XHDTYPE), ("name", tarfile.GNUTYPE_LONGNAME)):
        member = tarfile.TarInfo("x")
        member.size, member.type = 1 << 31, kind
        content = gzip.compress(member.tobuf(tarfile.GNU_FORMAT)) + zeros + gzip.compress(archive({"a.mtx": ROAD}))
        paths.append(write(tmp_path / f"{name}.tar.gz", content))
    told, peak = read_apart(*paths)
    assert all("unpacks to more than 100 times its size" in line for line in told), told
    assert peak < 900, f"{peak} MiB"

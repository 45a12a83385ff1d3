"""Nasty files: a grammar of files that are partly valid, claim too much, or unpack to far too much."""

from __future__ import annotations

import gzip
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from tarballs import tarball
from valid import Case, case

IDS = (
    *("0", "1", "2", "7", "+1", "-1", "01", "1.0", "1.", ".5", "1e3", "1e400", "-0.0", "0x10", "0b1", "1_000", "1,000"),
    *("9007199254740993.0", "9223372036854775807", "9223372036854775808", "18446744073709551616", "1" * 400, "1e-400"),
    *("nan", "NaN", "inf", "-inf", "NA", "null", "None", "true", "", " ", "a", "é", "\u0661", "\uff11", "\ufeff1"),
    *('"1"', '"', "'1'", '"a""b"', "1\0", "\0", "1\x1f", "1junk", "#1", "%2", "\ud800", "\U0001f418", "2020-01-01"),
)
GAPS = (" ", "\t", "  ", " \t", ",", ", ", ";", "|", "\xa0", "\v", "\f", "\u2003", "\x1c", "")
ENDS = (*("\n",) * 9, "\r\n", "\r", "\n\r", "\n\n", "\x85", "\u2028", "\v", "")
ENCODINGS = (*("utf-8",) * 9, "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252")
COUNTS = (0, 1, 3, -1, 2**31 - 1, 2**31, 2**32, 2**53, 10**12, 2**62, 2**63 - 1, 2**63, 10**30)
COMMENTS = (
    "# rapids_bfs directed=false vertices=4",
    "# rapids_bfs directed=true vertices=1000000000000",
    "# Undirected graph",
    "# rapids_bfs directed=1 vertices=-1",
    "% sym unweighted",
    "% bip",
    "#",
    "%%MatrixMarket",
    "# " + "x" * 10000,
    "# rapids_bfs directed=true vertices=" + "9" * 5000,
)


def ids(rng: Random, most: int = 3) -> list[str]:
    """A few ids, 2 to ``most``; most are plain, so that some files are read to their end."""
    return [rng.choice(IDS) if rng.random() < 0.05 else str(rng.randrange(9)) for _ in range(rng.randint(2, most))]


def encoded(rng: Random, text: str) -> bytes:
    if rng.random() < 0.1:  # two encodings in one file
        half = len(text) // 2
        return encoded(rng, text[:half]) + encoded(rng, text[half:])
    encoding = rng.choice(ENCODINGS)
    return text.encode(encoding, "surrogatepass" if encoding.startswith("utf") else "replace")


def maybe_packed(rng: Random, name: str, data: bytes) -> Case:
    choice = rng.random()
    if choice < 0.75:
        return case(name, data)
    halves = [gzip.compress(part, 1, mtime=0) for part in (data[: len(data) // 2], data[len(data) // 2 :])]
    tail = rng.choice((b"", b"", b"\0" * 10, b"junk", halves[0][:-5]))
    return case(f"{name}.gz" if choice < 0.95 else name, b"".join(halves) + tail)


def edge_list(rng: Random) -> Case:
    gap, end = rng.choice(GAPS[:4] if rng.random() < 0.7 else GAPS), rng.choice(ENDS)
    lines = [gap.join(ids(rng)) for _ in range(rng.randint(0, 12))]
    for _ in range(rng.choice((0, 0, 1, 2))):
        lines.insert(rng.randint(0, len(lines)), rng.choice(COMMENTS))
    name = rng.choice(("a.txt", "a.txt", "a.el", "a.wel", "a.snap"))
    return _text(rng, name, end.join(lines) + rng.choice((end, "")))


def _text(rng: Random, name: str, text: str) -> Case:
    made = maybe_packed(rng, "a.txt", encoded(rng, text))
    return Case("text", made.name.replace("a.txt", name), made.data)


def table(rng: Random) -> Case:
    gap, end = rng.choice((",", ",", ";", "\t", "|", " ")), rng.choice(ENDS)
    columns = rng.choice((2, 2, 3))
    header = rng.choice((["u", "v", "w"], ["source", "target", "x"], ["u", "u", "v"], ["", "v", "w"], ["0", "1", "2"]))
    rows = [header[:columns]] + [ids(rng, columns) for _ in range(rng.randint(0, 10))]
    if rng.random() < 0.2:
        rows.append(['"never closed', "x" * rng.choice((10, 200_000, 2_000_000))])
    if rng.random() < 0.05:
        rows.insert(0, ["c"] * 50_000)
    text = end.join(gap.join(f'"{id}"' if rng.random() < 0.1 else id for id in row) for row in rows)
    return maybe_packed(rng, rng.choice(("a.csv", "a.csv", "a.tsv")), encoded(rng, text + rng.choice((end, ""))))


def matrix(rng: Random) -> Case:
    layout = rng.choice((*("coordinate",) * 8, "array", "array", "vector"))
    field, width = rng.choice((("pattern", 2), ("integer", 3), ("real", 3), ("complex", 4)))
    symmetry = rng.choice(("general", "general", "symmetric", "hermitian", "skew-symmetric"))
    entries = rng.randint(0, 6)
    size = [4, 4, entries] if layout == "coordinate" else [2, 2]
    if rng.random() < 0.1:
        size[rng.randrange(len(size))] = rng.choice(COUNTS)
    if rng.random() < 0.1:
        width = rng.choice((1, 2, 3, 5))
    lines = [f"%%MatrixMarket matrix {layout} {field} {symmetry}"]
    lines += [*rng.choices(("%", "% comment", ""), k=rng.randint(0, 2)), " ".join(map(str, size))]
    lines += [" ".join([rng.choice("34"), rng.choice("12"), *ids(rng, 3), "1"][:width]) for _ in range(entries)]
    text = rng.choice(ENDS).join(lines) + rng.choice(("\n", "\n", "\n", "", " ", "\n\n7 7\n"))
    return maybe_packed(rng, "a.mtx", encoded(rng, text))


def numbers(rng: Random, most: int) -> list[str]:
    """Up to ``most`` numbers 1..4, a few of which are any id."""
    return [rng.choice(IDS) if rng.random() < 0.03 else str(rng.randint(1, 4)) for _ in range(rng.randint(0, most))]


def count(rng: Random, plain: int) -> str:
    return str(rng.choice(COUNTS) if rng.random() < 0.08 else plain)


def dimacs(rng: Random) -> Case:
    kind, sign, width = rng.choice(("sp",) * 8 + ("edge", "max")), "a", 4
    edges = rng.randint(0, 6)
    lines = [f"p {kind} {count(rng, 4)} {count(rng, edges)}"]
    for _ in range(edges):
        fields = [
            sign if rng.random() < 0.97 else rng.choice("nabe"),
            *(str(rng.randint(1, 4)) for _ in range(width - 1)),
        ]
        if rng.random() < 0.05:
            fields[rng.randrange(width)] = rng.choice(IDS)
        lines.append(" ".join(fields[: rng.choice((*(width,) * 20, width - 1))]))
    for _ in range(rng.choice((0, 0, 1, 3))):
        lines.insert(rng.randint(0, len(lines)), rng.choice(("c", "c hello", "", "c p sp 3 3", "c" + "x" * 10000)))
    text = rng.choice(ENDS).join(lines) + rng.choice(("\n", ""))
    return maybe_packed(rng, "a.gr", encoded(rng, text))


def metis(rng: Random) -> Case:
    neighbors: list[set[int]] = [set() for _ in range(4)]
    for _ in range(rng.randint(0, 5)):
        u, v = rng.sample(range(4), 2)
        neighbors[u].add(v)
        neighbors[v].add(u)
    format = rng.choice(("", "", "1", "10", "011 2", "111 1", "100", "2", "11 30"))
    lines = [f"{count(rng, 4)} {count(rng, sum(map(len, neighbors)) // 2)} {format}"]
    before = {"10": 1, "011 2": 2, "111 1": 2, "100": 1}.get(format, 0)
    weight = [" 7"] if format in ("1", "011 2", "111 1") else [""]
    for row in neighbors:
        fields = ["3"] * before + [f"{v + 1}{weight[0]}" for v in sorted(row)]
        lines.append(" ".join(fields + (numbers(rng, 2) if rng.random() < 0.05 else [])))
    for _ in range(rng.choice((0, 0, 1, 3))):
        lines.insert(rng.randint(0, len(lines)), rng.choice(("%", "% 1 2", "", " ", "%" + "x" * 10000, "1" * 30)))
    text = rng.choice(ENDS).join(lines) + rng.choice(("\n", "\n", "", "\n\n", " "))
    return maybe_packed(rng, "a.graph", encoded(rng, text))


def ldbc(rng: Random) -> Case:
    if rng.random() < 0.5:
        lines = [" ".join(ids(rng, 3)) for _ in range(rng.randint(0, 6))]
        return case("a.e", encoded(rng, rng.choice(ENDS).join(lines) + "\n"))
    lines = [str(id) if rng.random() < 0.97 else rng.choice(IDS) for id in range(9)]
    return case("a.v", encoded(rng, rng.choice(ENDS).join(lines) + "\n"))


def xml(rng: Random) -> Case:
    """GraphML or GEXF whose attributes, elements and nesting may be anything."""
    graphml = rng.random() < 0.5
    nodes = [rng.choice(IDS) if rng.random() < 0.1 else str(rng.randrange(4)) for _ in range(rng.randint(0, 4))]
    ends = [(rng.choice(nodes or ["0"]), rng.choice(nodes or ["0"])) for _ in range(rng.randint(0, 4))]
    parts = [f'<node id="{id}"/>' for id in nodes] + [f'<edge source="{u}" target="{v}"/>' for u, v in ends]
    if not graphml:
        cut = len(nodes)
        parts = ["<nodes>", *parts[:cut], "</nodes><edges>", *parts[cut:], "</edges>"]
    extras = ("<a>" * 20000 + "</a>" * 20000, "<graph/>", "<data key='d0'>1</data>", "<hyperedge/>", "<port name='x'/>")
    extras += ("<!-- -->", "&lt;", "&x;", "<![CDATA[1]]>", "<", '<node id="0"><graph id="g"/></node>', "<node/>", "\0")
    for _ in range(rng.choice((0, 0, 1, 2))):
        parts.insert(rng.randint(0, len(parts)), rng.choice(extras))
    space = "http://graphml.graphdrawing.org/xmlns" if graphml else "http://www.gexf.net/1.2draft"
    space = rng.choice((space, space, space, "", "http://www.gexf.net/1.3"))
    direction = rng.choice(("directed", "undirected", "mixed", "mutual", ""))
    attribute = "edgedefault" if graphml else "defaultedgetype"
    root = "graphml" if graphml else "gexf"
    start = rng.choice(("", "", '<?xml version="1.0" encoding="UTF-8"?>', '<?xml version="1.0" encoding="utf-16"?>'))
    text = f'{start}<{root} xmlns="{space}"><graph {attribute}="{direction}">{"".join(parts)}</graph></{root}>'
    return case(f"a.{root}", encoded(rng, text))


def serialized(rng: Random) -> Case:
    header = [rng.choice((0, 1, 2, 255)), rng.choice(COUNTS), rng.choice(COUNTS)]
    if rng.random() < 0.6:
        header = [0, 2, 2]
    header = [count if -(2**63) <= count < 2**63 else -1 for count in header]
    offsets = rng.choice(([0, 1, 2], [0, 2, 1], [1, 1, 2], [0, -1, 2], [0, 2**62, 2], [0, 2, 2]))
    targets = [rng.choice((0, 1, 2, -1, 2**31 - 1, -(2**31))) if rng.random() < 0.3 else rng.randrange(2) for _ in "ab"]
    data = struct.pack("<Bqq3q2i", *header, *offsets, *targets)
    return case("a.sg", data + rng.choice((b"", b"", b"\0", data)))


TYPES = ("i4", "i8", "u8", ">i8", "f8", "b1", "U3", "S3", "M8[s]", "c16", "O", "V4", "i1", "f2")


def array(rng: Random, plain: Any) -> bytes:
    """Bytes of a ``.npy`` file, in which something may be wrong."""
    array = np.asarray(plain)
    if rng.random() < 0.15:
        try:
            array = array.astype(rng.choice(TYPES))
        except (TypeError, ValueError):
            array = array.astype(object)
    if rng.random() < 0.1:
        array = rng.choice(
            (array.reshape(1, -1), array[..., None], array.ravel()[:0], np.asfortranarray([[1, 2], [3, 4]]))
        )
    sink = io.BytesIO()
    np.lib.format.write_array(sink, array, rng.choice((None, (1, 0), (2, 0), (3, 0))))
    data = sink.getvalue()
    if rng.random() < 0.1:  # the header is a Python literal
        literal = rng.choice((f"({rng.choice(COUNTS)},)", "(" * 5000, "(1,)*9", "(-1,)", "(True,)", "(1.5,)", "('a',)"))
        header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {literal}, }}\n".encode()
        data = data[:6] + b"\1\0" + struct.pack("<H", len(header)) + header + data[-32:]
    return data


def archive(rng: Random) -> Case:
    ours = {"offsets": [0, 1, 3, 3], "targets": [1, 0, 2], "directed": True}
    ours |= rng.choice(
        ({}, {"labels": [2, 5, 9]}, {"labels": ["a", "b", "a"]}, {"labels": [5, 5, 9]}, {"columns": ["u", "v"]})
    )
    scipys = {"format": rng.choice((b"csr", b"csc", b"coo", b"dia", b"xyz", 7)), "shape": [3, 3], "data": [1, 1, 1]}
    scipys |= {"indptr": [0, 1, 3, 3], "indices": [1, 0, 2], "row": [0, 1, 1], "col": [1, 0, 2], "offsets": [0]}
    members = rng.choice((ours, ours, scipys))
    if rng.random() < 0.2:
        members.pop(rng.choice(list(members)))
    if rng.random() < 0.15:
        members[rng.choice(list(members))] = rng.choice(([0, 10**12], [-1, 3], [rng.choice(COUNTS)] * 2, "x", [], None))
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", rng.choice((0, 8, 12, 14))) as archive:
        for name, plain in members.items():
            archive.writestr(zipfile.ZipInfo(f"{name}{rng.choice(('.npy',) * 9 + ('',))}"), array(rng, plain))
    data = bytearray(sink.getvalue())
    if rng.random() < 0.2:  # encrypted, or packed in another way, in the first entry of the directory
        at = data.rfind(b"PK\1\2") + rng.choice((8, 10, 20, 24, 42))
        data[at : at + 2] = rng.choice((b"\1\0", b"\x63\0", b"\xff\xff", b"\0\0"))
    return case("a.npz", bytes(data))


def tar(rng: Random) -> Case:
    """A tar archive of other nasty files, mostly of one that has its name."""
    makers = (matrix, matrix, edge_list, table, dimacs, metis, ldbc, serialized)
    found = [rng.choice(makers)(rng) for _ in range(rng.choice((0, 1, 1, 1, 2, 3)))]
    contents = {f"b{each.name[1:]}" if rng.random() < 0.2 else each.name: each.data for each in found}
    return Case("tar", *tarball(rng, contents))


METADATA = (
    {},
    {"directed": 0},
    {"directed": None},
    {"directed": "no"},
    {"directed": False, "vertices": 3},
    {"vertices": 10**12},
    {"vertices": -1},
    {"vertices": 2.5},
    {"vertices": True},
    {"vertices": 1},
    {"isolated": [7, 8]},
    {"isolated": [-1]},
    {"isolated": [0, 0, 7]},
    {"isolated": [10**30]},
    {"isolated": {"0": 1}},
    {"isolated": "abc"},
    {"labels": ["a"]},
    {"labels": ["a", "a"]},
    {"labels": [None]},
    {"labels": [1]},
    {"labels": {"a": 1}},
    {"labels": ["\ud800"]},
    [],
    7,
    None,
)
RAW_METADATA = (b"", b"{", b"\xff", b"[" * 100_000, b'{"a":' * 50_000, b"NaN", b'{"vertices": 1e400}', b"1" * 100_000)

ROWS = 12345  # of a file of nulls, whose count in the file is then replaced by 10**12


def column(rng: Random, rows: int) -> pa.Array:
    """A column of ids of any type, many of which no library would use for ids."""
    plain = [rng.randrange(4) for _ in range(rows)]
    made: list[Callable[[], pa.Array]] = [
        lambda: pa.array(plain, rng.choice((pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.int64()))),
        lambda: pa.array([float(id) for id in plain]),
        lambda: pa.array(map(str, plain), rng.choice((pa.string(), pa.large_string(), pa.string_view(), pa.binary()))),
        lambda: pa.array([rng.choice((2**63, 5, 2**64 - 1)) for _ in plain], pa.uint64()),
        lambda: pa.array([rng.choice((1, None)) for _ in plain]),
        lambda: pa.array([rng.choice((0.5, float("nan"), 2.0**53, -1.0, float("inf"))) for _ in plain]),
        lambda: pa.array(map(str, range(rows))).dictionary_encode(),
        lambda: pa.nulls(rows, rng.choice((pa.null(), pa.int64(), pa.string()))),
        lambda: pa.array(plain, pa.int32()).cast(rng.choice((pa.date32(), pa.time32("s"), pa.decimal128(12, 2)))),
        lambda: pa.array([[id] for id in plain]),
        lambda: pa.array([{"a": id} for id in plain]),
        lambda: pa.array([True] * rows),
        lambda: pa.RunEndEncodedArray.from_arrays(pa.array([rows] if rows else [], pa.int32()), pa.array([1][:rows])),
    ]
    return rng.choice(made[:3] if rng.random() < 0.5 else made)()


def out_of_bounds(rng: Random, data: bytes, rows: int) -> bytes:
    """``data`` of a columnar file with string offsets, or dictionary indices, that are out of bounds."""
    for plain, type in ((np.arange(rows + 1), np.int32), (np.arange(rows + 1), np.int64), (np.arange(rows), np.int32)):
        wrong = plain * rng.choice((2**31 // (rows + 1), -5, 10**6)) + rng.choice((0, 1))
        data = data.replace(plain.astype(type).tobytes(), wrong.astype(type).tobytes())
    return data


def columnar(rng: Random) -> Case:
    rows = rng.choice((0, 1, 5))
    columns = [column(rng, rows) for _ in range(rng.choice((2, 2, 2, 3, 1)))]
    if rng.random() < 0.03:
        columns = [pa.nulls(ROWS), pa.nulls(ROWS)]
    names = rng.choice((["u", "v", "w"], ["source", "target", "x"], ["u", "u", "u"], ["", "v", "w"]))[: len(columns)]
    notes = rng.choice(RAW_METADATA) if rng.random() < 0.2 else json.dumps(rng.choice(METADATA)).encode()
    metadata = {b"rapids_bfs": notes} if rng.random() < 0.5 else None
    made = pa.Table.from_arrays(columns, names).replace_schema_metadata(metadata)
    sink, kind = io.BytesIO(), rng.choice(("a.parquet", "a.arrow", "a.arrows"))
    with suppress(pa.ArrowException, ValueError):
        if kind == "a.parquet":
            pq.write_table(made, sink)
        else:
            with (pa.ipc.new_file if kind == "a.arrow" else pa.ipc.new_stream)(sink, made.schema) as writer:
                writer.write_table(made)
    data = sink.getvalue().replace(ROWS.to_bytes(8, "little"), (10**12).to_bytes(8, "little"))
    return case(kind, out_of_bounds(rng, data, rows) if rng.random() < 0.2 else data)


FILLERS = (b"0", b" ", b"\n", b"# c\n", b"%\n", b"x,", b'"', b"1 1 ", b"\r", b"\0", b"1", b"#")


@cache
def filled(filler: bytes) -> bytes:
    """1 GB of repeated ``filler``, packed by gzip, in 64 equal members."""
    return gzip.compress(filler * ((1 << 24) // len(filler)), 9, mtime=0) * 64


def bomb(rng: Random) -> Case:
    """The beginning of a file followed by 1 GB of filler, packed in about 1 MB."""
    head, name = rng.choice(
        (
            (b"", "a.txt.gz"),
            (b"0 1\n", "a.txt.gz"),
            (b"a b\n", "a.el.gz"),
            (b"u,v\n0,1\n", "a.csv.gz"),
            (b"u,v\na,", "a.csv.gz"),
            (b"%%MatrixMarket matrix coordinate pattern general\n", "a.mtx.gz"),
            (b"%%MatrixMarket matrix coordinate pattern general\n3 3 1\n", "a.mtx.gz"),
        )
    )
    return case(name, gzip.compress(head, mtime=0) + filled(rng.choice(FILLERS)))


@cache
def zeros() -> tuple[bytes, int]:
    """1 GB of zeros as a raw deflate stream, and its CRC-32."""
    packer = zlib.compressobj(9, wbits=-15)
    part = bytes(1 << 24)
    packer.compress(part)
    packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(part) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = 0
    for _ in range(64):
        checksum = zlib.crc32(part, checksum)
    return block * 64 + packer.flush(), checksum


def zip_bomb(rng: Random) -> Case:
    """An archive whose member unpacks to 1 GB, whichever size the directory claims."""
    stream, checksum = zeros()
    size = 1 << 30
    said = rng.choice((size, size, 100, 2**32 - 2))
    name = rng.choice((b"offsets.npy", b"targets.npy", b"labels.npy", b"format.npy"))
    common = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, checksum, len(stream), said, len(name), 0)
    local = b"PK\3\4" + common + name + stream
    directory = b"PK\1\2" + b"\x14\0" + common + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(directory), len(local), 0)
    return case("a.npz", local + directory + end)


def result(rng: Random) -> Case:
    """A result as a CSV or a Parquet file, in which columns and values may be wrong."""
    header = rng.choice(
        (["vertex", "distance", "predecessor"], ["vertex", "distance"], ["vertex", "vertex", "distance"])
    )
    word = rng.choice(("result", "strings"))
    vertices = ("a", "b", "c") if word == "strings" else ("0", "1", "2", "5")
    rows = [[id, str(at), vertices[at - 1] if at else ""] for at, id in enumerate(vertices)]
    for row in rows:
        if rng.random() < 0.2:
            row[rng.randrange(3)] = rng.choice(IDS)
    if rng.random() < 0.25:
        lines = (rng.choice(GAPS[:4]).join(row[: rng.choice((2, 2, 2, 2, 3, 1))]) for row in rows)
        return case(f"{word}-{rng.choice(('BFS', 'WCC'))}", encoded(rng, rng.choice(ENDS).join(lines) + "\n"))
    text = "\n".join(",".join(row[: len(header)]) for row in [header, *rows])
    if rng.random() < 0.7:
        return case(f"{word}.csv", encoded(rng, text + "\n"))
    sink = io.BytesIO()
    with suppress(pa.ArrowException, ValueError):  # PyArrow refuses to write some of these
        pq.write_table(pa.table([column(rng, 4) for _ in header], header), sink)
    return case(f"{word}.parquet", sink.getvalue())


GRAMMAR = {
    "text": (edge_list,),
    "csv": (table,),
    "mtx": (matrix,),
    "sg": (serialized,),
    "dimacs": (dimacs,),
    "metis": (metis,),
    "ldbc": (ldbc,),
    "xml": (xml,),
    "tar": (tar,),
    "npz": (archive, archive, archive, zip_bomb),
    "parquet": (columnar,),
    "arrow": (columnar,),
    "result": (result,),
    "bomb": (bomb,),
}


def nasty(rng: Random, format: str) -> Case:
    return rng.choice(GRAMMAR[format])(rng)

"""Graphs to write to files, and facts of those that are read."""

from __future__ import annotations

import io
import json
import os
import struct
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from rapids_bfs import Graph, InputError, as_graph, read
from rapids_bfs.adapters.edges import labelled


def sorted_csr(graph: Graph) -> tuple[list[int], list[list[int]]]:
    bounds = graph.offsets.tolist()
    return bounds, [sorted(graph.targets[a:b].tolist()) for a, b in pairwise(bounds)]


def arcs(graph: Graph) -> Counter[tuple[Any, Any]]:
    """How often each id leads to each other."""
    names = ids(graph)
    sources = np.repeat(np.arange(graph.num_vertices), graph.degrees)
    return Counter((names[u], names[v]) for u, v in zip(sources, graph.targets, strict=True))


def ids(graph: Graph) -> list[Any]:
    return graph.ids_of(np.arange(graph.num_vertices)).tolist()


def assert_same(graph: Graph, other: Graph, *, direction: bool = True) -> None:
    assert sorted_csr(graph) == sorted_csr(other)
    assert ids(graph) == ids(other)
    assert getattr(graph.labels, "dtype", None) == getattr(other.labels, "dtype", None)
    assert graph.offsets.dtype == other.offsets.dtype
    assert graph.targets.dtype == other.targets.dtype
    if direction:
        assert graph.directed == other.directed


def saved_and_read(graph: Graph, suffix: str) -> Graph:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"graph{suffix}")
        graph.save(path)
        assert os.listdir(folder) == [path.name]
        return read(path)


@st.composite
def plain_graphs(draw: st.DrawFn) -> Graph:
    n = draw(st.integers(0, 9))
    vertex = st.integers(0, max(n - 1, 0))
    edges = draw(st.lists(st.tuples(vertex, vertex), max_size=20 if n else 0))
    pairs = np.array(edges, np.int64).reshape(-1, 2)
    return as_graph((pairs[:, 0], pairs[:, 1]), vertices=n, directed=draw(st.booleans()))


def with_labels(graph: Graph, labels: list[Any]) -> Graph:
    return labelled(graph, np.array(labels, np.int64) if labels and isinstance(labels[0], int) else labels)


@st.composite
def labelled_graphs(draw: st.DrawFn, text: st.SearchStrategy[str]) -> Graph:
    graph = draw(plain_graphs().filter(lambda graph: graph.num_vertices > 0))
    n = graph.num_vertices
    if draw(st.booleans()):
        gaps = st.integers(n, 50) | st.integers(n, 2**63 - 1)  # 0..n-1 would be no labels
        return with_labels(graph, sorted(draw(st.lists(gaps, min_size=n, max_size=n, unique=True))))
    return with_labels(graph, draw(st.lists(text, min_size=n, max_size=n, unique=True)))


any_text = st.text(st.characters(exclude_categories=("Cs",)), max_size=4)
word = st.text("aéc1-_.🐘", min_size=1, max_size=3)


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


MTX = "%%MatrixMarket matrix coordinate {} {}\n% a comment\n"
GENERAL = MTX.format("pattern", "general")


def serialized(*parts: tuple[list[int], list[int]]) -> bytes:
    """GAP's bytes of offsets and targets and, if the graph is directed, those of its reverse."""
    offsets, targets = parts[0]
    header = struct.pack("<?qq", len(parts) == 2, len(targets), len(offsets) - 1)
    return header + b"".join(np.array(o, "<i8").tobytes() + np.array(t, "<i4").tobytes() for o, t in parts)


def archive(files: dict[str, str | bytes], **others: bytes) -> bytes:
    """A tar archive of files, and of members of other types, each named by its type: DIRTYPE, SYMTYPE, ..."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as made:
        for kind, target in others.items():
            member = tarfile.TarInfo(kind)
            member.type, member.linkname = getattr(tarfile, kind), target.decode()
            made.addfile(member)
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(name)
            member.size = len(data)
            made.addfile(member, io.BytesIO(data))
    return stream.getvalue()


APART = """
import json, re, sys, warnings
from rapids_bfs import InputError, read

warnings.simplefilter("error")
for path in sys.stdin.read().split():
    try:
        told = repr(read(path))
    except InputError as error:
        told = f"InputError: {error}"
    print(json.dumps(told), flush=True)
status = open("/proc/self/status").read()  # getrusage would tell the peak of the process that started this one
print(int(re.search(r"VmHWM:\\s*(\\d+)", status)[1]) >> 10)
"""


def read_apart(*paths: Path, timeout: float = 300) -> tuple[list[str], int]:
    """What `read` tells of each file, in a process of its own, which may crash or hang, and its peak memory in MiB."""
    done = subprocess.run(
        [sys.executable, "-c", APART], input="\n".join(map(str, paths)), capture_output=True, text=True, timeout=timeout
    )
    *told, peak = done.stdout.splitlines() or [""]
    assert done.returncode == 0, f"{done.returncode} after {len(told)} of {len(paths)} files: {done.stderr[-2000:]}"
    return [json.loads(line) for line in told], int(peak)


def check_message(error: pytest.ExceptionInfo[InputError]) -> None:
    message = str(error.value)
    assert len(message.splitlines()) <= 2
    assert "Traceback" not in message


def check_refusal(path: Path, content: str | bytes, message: str) -> None:
    """To read a file of this content raises one `InputError` that matches ``message`` and names the file."""
    with pytest.raises(InputError, match=message) as error:
        read(write(path, content))
    assert path.name in str(error.value)
    check_message(error)

"""GraphML and GEXF, as NetworkX reads and writes them: for small graphs. Ids that are all written as integers are
integers here."""

from __future__ import annotations

import re
from typing import IO, Any

from .._core.memory import require_bytes
from ..errors import InputError
from ..graph import Graph
from ._file import File
from ._ids import are_written_integers, refuse_written_integers
from ._tables import require_strings
from .networkx import from_networkx, to_networkx

BYTES_A_BYTE = 40  # of memory that NetworkX takes for a byte of XML
BYTES_AN_EDGE = 2000  # of memory for its graph, and the XML
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML, escaped or not


def read_graphml(file: File, *, directed: bool | None = None) -> Graph:
    import networkx as nx

    return _read(file, nx.read_graphml, directed)


def read_gexf(file: File, *, directed: bool | None = None) -> Graph:
    import networkx as nx

    return _read(file, nx.read_gexf, directed)


def _read(file: File, reader: Any, directed: bool | None) -> Graph:
    require_bytes(BYTES_A_BYTE * file.size, f"{file}, which NetworkX reads,")
    with file.open() as stream:
        content = stream.read()
        if b"\0" in content or b"<!ENTITY" in content:  # an entity may stand for gigabytes
            raise InputError("there are NUL bytes or entity declarations in it: write it anew in UTF-8, without these")
        stream.seek(0)
        nx_graph = reader(stream)
    if are_written_integers(list(nx_graph)):
        import networkx as nx

        nx_graph = nx.relabel_nodes(nx_graph, int)
    return from_networkx(nx_graph, directed=directed, name=str(file))


def write_graphml(graph: Graph, stream: IO[bytes]) -> None:
    import networkx as nx

    nx.write_graphml_xml(_writable(graph), stream)


def write_gexf(graph: Graph, stream: IO[bytes]) -> None:
    import networkx as nx

    nx.write_gexf(_writable(graph), stream)


def _writable(graph: Graph) -> Any:
    """The graph as NetworkX's. Raises `InputError` if XML cannot hold it, or an id."""
    if graph.has_objects and graph.labels is not None:
        require_strings(graph.labels)
        refuse_written_integers(graph.labels.tolist())
        for label in graph.labels:
            if UNWRITABLE.search(label):
                raise InputError(f"the id {label!r} has a character that XML cannot hold: rename the vertex first")
    require_bytes(BYTES_AN_EDGE * (graph.num_vertices + graph.num_arcs), f"{graph.name} as a graph of NetworkX")
    return to_networkx(graph)

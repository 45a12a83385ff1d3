"""Quotes in a CSV: around fields of several lines, inside of words, and those that nothing closes."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import pytest
from graph_files import arcs, write
from hypothesis import given, settings
from hypothesis import strategies as st

from rapids_bfs import InputError, read

HEADER = "source,target,note\n"
OPEN = {
    "to the end": (f'{HEADER}1,2,x\n3,4,"d\n5,6,y\n7,8,z\n', 3, 5),
    "to the next quote": (f'{HEADER}1,2,x\n3,4,"d\n5,6,y\n7,8,"z\n9,10,r\n', 3, 5),
    "in the last line": (f'{HEADER}1,2,x\n3,4,"d', 3, 3),
    "in an id": ('source,target\na,b\nc,"d\ne,f\n', 3, 4),
    "in the header": ('u,"v\n1,2\n', 1, 2),
    "below inches": (f'{HEADER}1,2,5" disc\n3,4,"d\n5,6,y\n', 3, 4),
}


@pytest.mark.parametrize("case", OPEN)
def test_quotes_that_hide_rows_are_refused(case: str, tmp_path: Path) -> None:
    """The edges below were lost without a word."""
    text, first, last = OPEN[case]
    path = write(tmp_path / "a.csv", text)
    said = f"a.csv, line {first}: a quote does not close at the end of its field, and hides what follows up to line "
    for header in (True, False):
        with pytest.raises(InputError, match=f"{said}{last}: close it, or remove it"):
            read(path, header=header)


@pytest.mark.parametrize("note", ['"a\nb"', '"a ""b""\r\n"', '5" disc', '"a"b', 'a""', '"x"" y\n"'])
def test_quotes_that_close_hide_nothing(note: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", f"{HEADER}1,2,{note}\n3,4,x\n5,6,{note}\n")
    assert read(path).num_edges == 3


@settings(deadline=None)
@given(st.text('",\n\ra'))
def test_no_row_is_hidden_without_a_word(note: str) -> None:
    text = f"source,target,note\n1,2,{note}\n3,4,x\n"
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    with tempfile.TemporaryDirectory() as folder:
        try:
            graph = read(write(Path(folder, "a.csv"), text))
        except InputError:
            return
    assert graph.num_edges == len(rows) - 1
    assert all(len(row) == 3 for row in rows)
    assert (3, 4) in arcs(graph)

"""Matrix Market files, held against SciPy's reader where they are valid."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
import scipy.io
import scipy.sparse
from graph_files import GENERAL, MTX, check_message, read_apart, write
from hypothesis import given, settings
from hypothesis import strategies as st

from rapids_bfs import InputError, as_graph, read


def test_undirected_matrix_is_written_as_symmetric(tmp_path: Path) -> None:
    as_graph(([0, 1], [1, 1]), directed=False).save(tmp_path / "a.mtx")
    lines = (tmp_path / "a.mtx").read_text().splitlines()
    assert lines[0] == "%%MatrixMarket matrix coordinate pattern symmetric"
    assert lines[-3:] == ["2 2 2", "2 1", "2 2"]


FORMATS = [
    (form, field, symmetry)
    for form in ("coordinate", "array")
    for field in ("pattern", "integer", "unsigned-integer", "real", "double", "complex")
    for symmetry in ("general", "symmetric", "skew-symmetric", "hermitian")
    if (form, field) != ("array", "pattern") and (field, symmetry) != ("unsigned-integer", "skew-symmetric")
]


@st.composite
def matrices(draw: st.DrawFn, form: str, field: str, symmetry: str) -> str:
    """A Matrix Market file, written with all the freedom that there is."""
    n = draw(st.integers(1, 5))
    values = {"pattern": 0, "complex": 2}.get(field, 1)
    numbers = {"integer": st.integers(-3, 3), "unsigned-integer": st.sampled_from([0, 3, 2**64 - 1])}
    number = numbers.get(field, st.sampled_from(["0", "-0.0", "1", "2.5", "-1e-3", ".5", "3.", "1E4", "inf"]))
    if form == "array":
        heights = {"general": n * n, "skew-symmetric": n * (n - 1) // 2}
        count = heights.get(symmetry, n * (n + 1) // 2)
        index: list[st.SearchStrategy[int]] = []
    else:
        count = draw(st.integers(0, 8))
        index = [st.integers(1, n)] * 2
    entry = st.tuples(*index, *[number] * values)
    lines = [" ".join(map(str, draw(entry))) for _ in range(count)]
    sizes = f"{n} {n}" + (f" {count}" if form == "coordinate" else "")
    blank = st.sampled_from(["", "", "", "\n", " \t\n"])
    body = "".join(draw(blank) + draw(st.sampled_from(["", "  ", "\t"])) + line + "\n" for line in [sizes, *lines])
    case = draw(st.sampled_from([str.lower, str.upper, str.title]))
    text = f"%%MatrixMarket {case(f'matrix {form} {field} {symmetry}')}\n% caf\u00e9\n%\n" + body
    return draw(st.sampled_from([text, text.replace("\n", "\r\n"), text.replace(" ", "  "), text.rstrip()]))


@pytest.mark.filterwarnings("ignore:invalid value")  # of SciPy, at infinite complex numbers
@settings(deadline=None, max_examples=15)
@given(st.data())
@pytest.mark.parametrize(("form", "field", "symmetry"), FORMATS)
def test_a_matrix_is_what_scipy_reads(form: str, field: str, symmetry: str, data: st.DataObject) -> None:
    text = data.draw(matrices(form, field, symmetry))
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder, "a.mtx"), text.encode("latin-1"))
        graph = read(path)
        expected = as_graph(scipy.sparse.coo_array(scipy.io.mmread(path)))
    assert graph.offsets.tolist() == expected.offsets.tolist()
    assert graph.targets.tolist() == expected.targets.tolist()
    assert graph.directed == expected.directed


REAL = MTX.format("real", "general")
INTEGER = MTX.format("integer", "general")
ARRAY = "%%MatrixMarket matrix array real symmetric\n"

JUNK = ("2junk", "2 3", "", "-1", "1.0", "0x10", "true", "\u0661", "% c", "2\r1 2", "1-", "2\x0b")  # for an index
REFUSED = {
    **{f"{junk!r} after 1": (GENERAL + f"20 20 2\n2 1\n1 {junk}\n", "line 5: expected an entry of 2") for junk in JUNK},
    "a missing value": (REAL + "3 3 2\n1 2 3\n1 2\n", "line 5: expected an entry of 3 numbers, not '1 2'"),
    "a missing value first": (REAL + "3 3 2\n1 2\n1 2 3\n", "line 4: expected an entry of 3 numbers, not '1 2'"),
    "a sign in an index": (REAL + "3 3 1\n1 2-3 5\n", "line 4: expected an entry of 3 numbers, not '1 2-3 5'"),
    "more entries than declared": (GENERAL + "3 3 1\n\n1 2\n2 1\n", "Line 6: Too many lines"),
    "from 0": (GENERAL + "3 3 1\n0 1\n", "Line 4: Row index out of bounds"),
    "beyond int64": (GENERAL + f"3 3 1\n{2**64} 1\n", "Line 4: Integer out of range"),
    "no value": (REAL + "3 3 1\n1 2 NaN\n", "line 4: expected an entry of 3 numbers, not '1 2 NaN'"),
    "a real integer": (INTEGER + "3 3 1\n1 2 1.5\n", "line 4: expected an entry of 3 numbers"),
    "signs for a value": (REAL + "3 3 1\n1 2 -+\n", "Line 4: Invalid floating-point value"),
    "an array too short": (ARRAY + "2 2\n1\n2\n", "ends after 2 of 3 entries"),
    "an array too long": (ARRAY + "2 2\n1\n2\n3\n4\n", "Line 6: Too many values in array"),
    "an array too wide": (ARRAY + "2 2\n1 2\n3\n", "line 3: expected an entry of 1 numbers"),
    "an empty array with entries": (ARRAY + "0 0\n\n1\n", "line 4: expected an entry of 0 numbers"),
    **{
        f"sizes {sizes:.20}": (
            GENERAL + f"{sizes}\n1 2\n",
            "line 3: the numbers of rows, columns and entries belong here",
        )
        for sizes in ("3 3 1 1", "-3 -3 1", "3.0 3 1", "9" * 5000 + " 3 1")
    },
    "a vector": ("%%MatrixMarket vector coordinate real general\n2 2 1\n1 2\n", "Line 1: .*|Header dimension line"),
    "another field": (MTX.format("quaternion", "general") + "2 2 1\n1 2\n", "Line 1: Invalid .* quaternion"),
    "an array of nothing": ("%%MatrixMarket matrix array pattern general\n2 2\n", "may not be pattern"),
    "a size that no memory holds": (
        "%%MatrixMarket matrix array real general\n" + f"{10**12} {10**12}\n1\n",
        "[KMGTPE]iB of memory",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_matrix_names_the_line(tmp_path: Path, case: str) -> None:
    content, message = REFUSED[case]
    with pytest.raises(InputError, match=f"a.mtx.*{message}") as error:
        read(write(tmp_path / "a.mtx", content))
    check_message(error)


def test_nul_bytes_anywhere(tmp_path: Path) -> None:
    """SciPy's reader ends the process at some."""
    whole = (REAL + "30 30 3\n1 2 0.5\n20 3 17\n4 4 1e3\n").encode()
    paths = [
        write(tmp_path / f"{at}-{insert}.mtx", whole[:at] + b"\0" + whole[at + (not insert) :])
        for at in range(14, len(whole))
        for insert in (False, True)
    ]
    told, _ = read_apart(*paths)
    assert all(re.search("there is a NUL byte|Line 1:", line) for line in told)


def test_an_empty_matrix(tmp_path: Path) -> None:
    """SciPy's reader divides by its width, and ends the process."""
    coordinate = write(tmp_path / "a.mtx", GENERAL + "0 0 0\n")
    array = write(tmp_path / "b.mtx", "%%MatrixMarket matrix array real general\n0 0\n")
    told, _ = read_apart(coordinate, array)
    assert all("0 vertices, 0 undirected edges" in line for line in told)


def test_blanks_around_numbers(tmp_path: Path) -> None:
    """At a blank that ends the file SciPy's reader ends the process; and many of them take no square of time."""
    blanks = " " * (1 << 18)
    paths = [
        write(tmp_path / f"{place}.mtx", f"{INTEGER}3 3 1 {lines}")
        for place, lines in enumerate(("\n1 2 3 ", "\n1 2 3\t\r\n \t", f"\n{blanks}1{blanks}2 3\n"))
    ]
    told, _ = read_apart(*paths)
    assert all("3 vertices, 1 directed edge" in line for line in told), told

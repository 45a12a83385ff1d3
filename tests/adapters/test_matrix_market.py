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
from rapids_bfs.adapters import _matrix_market


@pytest.fixture(params=["NumPy", "pandas"], autouse=True)
def _reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few entries are read by the one, many by the other."""
    monkeypatch.setattr(_matrix_market, "FEW", {"NumPy": 1 << 20, "pandas": 0}[request.param])


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

REFUSED = {
    "junk after a number": (GENERAL + "3 3 1\n1 2junk\n", "line 4: '2junk' is not one of the rows and columns 1..3"),
    "a third column": (GENERAL + "3 3 1\n1 2 3\n", "line 4: an entry here has 2 numbers, not '1 2 3'"),
    "a third column further down": (GENERAL + "3 3 2\n1 2\n1 2 3\n", "line 5: an entry here has 2 numbers"),
    "a missing value": (REAL + "3 3 2\n1 2 3\n1 2\n", "line 5: an entry here has 3 numbers, not '1 2'"),
    "a missing value first": (REAL + "3 3 2\n1 2\n1 2 3\n", "line 4: an entry here has 3 numbers, not '1 2'"),
    "more entries than declared": (GENERAL + "3 3 1\n\n1 2\n2 1\n", "line 6: there are more than the 1 entries"),
    "from 0": (GENERAL + "3 3 1\n0 1\n", "line 4: '0' is not one of"),
    "negative": (GENERAL + "3 3 1\n-1 1\n", "line 4: '-1' is not one of"),
    "beyond int64": (GENERAL + f"3 3 1\n{2**64} 1\n", "line 4: .* is not one of"),
    "fractional": (GENERAL + "3 3 1\n1.0 2\n", "line 4: '1.0' is not one of"),
    "hexadecimal": (GENERAL + "20 20 1\n0x10 2\n", "line 4: '0x10' is not one of"),
    "true": (GENERAL + "3 3 1\ntrue 2\n", "line 4: 'true' is not one of"),
    "another script": (GENERAL + "3 3 1\n\u0661 2\n", "line 4: .* is not one of"),
    "no value": (REAL + "3 3 1\n1 2 NaN\n", "line 4: 'NaN' is not a number of type real"),
    "a real integer": (INTEGER + "3 3 1\n1 2 1.5\n", "line 4: '1.5' is not a number of type integer"),
    "a word": (REAL + "3 3 1\n1 2 x\n", "line 4: 'x' is not a number of type real"),
    "a comment among entries": (GENERAL + "3 3 1\n% c\n1 2\n", "line 4: '%' is not one of"),
    "an array too short": (ARRAY + "2 2\n1\n2\n", "ends after 2 of 3 entries"),
    "an array too long": (ARRAY + "2 2\n1\n2\n3\n4\n", "line 6: there are more than the 3 entries"),
    "an array too wide": (ARRAY + "2 2\n1 2\n3\n", "line 3: an entry here has 1 numbers"),
    "sizes too many": (GENERAL + "3 3 1 1\n1 2\n", "line 3: the numbers of rows, columns, entries belong here"),
    "sizes negative": (GENERAL + "-3 -3 1\n1 2\n", "line 3: the numbers of rows"),
    "sizes of another kind": (GENERAL + "3.0 3 1\n1 2\n", "line 3: the numbers of rows"),
    "sizes beyond measure": (GENERAL + "9" * 5000 + " 3 1\n1 2\n", "line 3: the numbers of rows"),
    "a vector": ("%%MatrixMarket vector coordinate real general\n2 1\n1 2\n", "line 1: expected 'matrix'"),
    "another field": (MTX.format("quaternion", "general") + "2 2 1\n1 2\n", "line 1: expected .*"),
    "an array of nothing": (
        "%%MatrixMarket matrix array pattern general\n2 2\n",
        "line 1: .*pattern only in coordinate format",
    ),
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
    assert all(re.search("there is a NUL byte|line 1: 'matrix' belongs", line) for line in told)


def test_an_empty_matrix(tmp_path: Path) -> None:
    """SciPy's reader divides by its width, and ends the process."""
    coordinate = write(tmp_path / "a.mtx", GENERAL + "0 0 0\n")
    array = write(tmp_path / "b.mtx", "%%MatrixMarket matrix array real general\n0 0\n")
    told, _ = read_apart(coordinate, array)
    assert all("0 vertices, 0 undirected edges" in line for line in told)

"""The notebooks run from top to bottom, and are what their sources say."""

import importlib.util
from pathlib import Path

import pytest
from programs import run

pytest.importorskip("nbclient", reason="nbclient is not installed: pip install 'rapids-bfs[notebooks]'")
nbformat = pytest.importorskip("nbformat")

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture(scope="module")
def make():
    spec = importlib.util.spec_from_file_location("make", FOLDER / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RUN = """
import nbformat
from nbclient import NotebookClient

notebook = nbformat.read(PATH, as_version=4)
NotebookClient(notebook, timeout=1800, resources={"metadata": {"path": FOLDER}}).execute()
"""


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path, tmp_path):
    """In a process of its own, which has no other test's threads."""
    run(
        RUN.replace("PATH", repr(str(path))).replace("FOLDER", repr(str(FOLDER))),
        seconds=1800,
        IPYTHONDIR=str(tmp_path),
    )


def test_each_is_made_from_its_source(make):
    assert [path.stem for path in NOTEBOOKS] == [path.stem for path in make.sources()]
    for path, source in zip(NOTEBOOKS, make.sources(), strict=True):
        wanted, found = make.notebook(source), nbformat.read(path, as_version=4)
        cells = [[(cell.cell_type, cell.source) for cell in each.cells] for each in (wanted, found)]
        assert cells[0] == cells[1], f"{path.name} is not what its source says: python notebooks/make.py"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_its_outputs_are_there_and_name_no_folder(path):
    text = path.read_text()
    assert "/site-packages/" not in text
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    assert sum("image/png" in output.get("data", {}) for cell in cells for output in cell.outputs) >= 1
    assert not any(output.output_type == "error" for cell in cells for output in cell.outputs)


def test_the_first_shows_the_kernels():
    cells = nbformat.read(NOTEBOOKS[0], as_version=4).cells
    outputs = [output for cell in cells if cell.cell_type == "code" for output in cell.outputs]
    shown = "\n".join(output.data.get("text/markdown", "") for output in outputs if "data" in output)
    for line in (
        "upcoming[neighbor] = true;",  # frontier-mask
        "tex1Dfetch<Vertex>",
        "def commit(n, level",  # two-kernel
        "spill(queue, tail, gathered, held, &filled);",  # block-queue
        "const bool bottom_up =",  # direction-optimizing
    ):
        assert line in shown

"""What README.md tells people to type works as it is written. Its first two commands are run by .ci/run."""

import ast
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from readme import README, blocks

from rapids_bfs import device, rapids

ROOT = README.parent
SHELL = [block for block in blocks("sh") if not block.lstrip().startswith(("python -m venv", "pip install"))]
EDGES = pd.DataFrame(np.random.default_rng(5).integers(0, 200, (1500, 2)), columns=["src", "dst"])


@pytest.fixture
def folder(tmp_path):
    """A folder with the files that the README speaks of."""
    EDGES.to_parquet(tmp_path / "edges.parquet")
    (tmp_path / "test_search.py").write_text(next(block for block in blocks("python") if "def test_" in block))
    return tmp_path


def test_the_blocks_are_found():
    assert len(blocks("sh")) >= 5
    assert len(SHELL) == len(blocks("sh")) - 2
    assert len(blocks("python")) >= 2


@pytest.mark.parametrize("block", SHELL, ids=lambda block: block.splitlines()[0][:40])
def test_shell(block, folder):
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    command = ["bash", "-euo", "pipefail", "-c", block]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def run(program, folder):
    """Run these lines of Python; a line's value is what the comment behind it says."""
    said = re.sub(
        r"^(.*)  # => (.*)$", lambda m: f"assert repr({m[1]}) == {m[2]!r}, {m[1]}", program, flags=re.MULTILINE
    )
    environment = os.environ | {"MPLBACKEND": "agg"}
    command = [sys.executable, "-c", said]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_python(folder):
    """The blocks run one after another."""
    run("".join(block for block in blocks("python") if "def test_" not in block), folder)


@pytest.mark.gpu
@pytest.mark.skipif(device.missing() is not None, reason=str(device.missing()))
def test_python_on_a_gpu(folder):
    run("".join(blocks("python gpu")), folder)


@pytest.mark.rapids
@pytest.mark.skipif(rapids.missing("cugraph") is not None, reason=str(rapids.missing("cugraph")))
def test_python_with_rapids(folder):
    run("".join(blocks("python rapids")), folder)


def test_what_python_on_a_gpu_takes_from_the_package_is_there():
    taken = set()
    for node in ast.walk(ast.parse("".join(blocks("python gpu") + blocks("python rapids")))):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "rapids_bfs":
            taken.add(("rapids_bfs", node.attr))
        elif isinstance(node, ast.ImportFrom):
            taken.update((node.module, alias.name) for alias in node.names)
    assert len(taken) >= 5
    assert [(module, name) for module, name in taken if not hasattr(importlib.import_module(module), name)] == []


@pytest.mark.parametrize("file", ["README.md", "CONTRIBUTING.md"])
def test_the_checkout_is_installed_in_place(file):
    """What Numba compiled for a copy outlives the copy, and its folder would hide a later installation in place."""
    installs = re.findall(r"pip install (?:-e )?'?\..*", (ROOT / file).read_text())
    assert installs
    assert [line for line in installs if not line.startswith("pip install -e ")] == []


def test_files_that_are_linked_are_there():
    links = re.findall(r"\]\((?!https?:)([^)#]+)", README.read_text())
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("file", ["README.md", "CONTRIBUTING.md"])
def test_files_that_are_named_are_there(file):
    named = re.findall(
        r"\b((?:kernels|rapids_bfs|tests|notebooks)/[a-z0-9_./-]*[a-z0-9])[` ]", (ROOT / file).read_text()
    )
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_measured_figures_are_in_the_results():
    """A table under "Measured" holds the medians of the JSON that is linked above it."""
    section = README.read_text().partition("## Measured")[2].partition("\n## ")[0]
    parts = re.split(r"\]\((tests/benchmarks/results/\w+\.json)\)", section)
    assert len(parts) >= 5
    for path, text in zip(parts[1::2], parts[2::2], strict=True):
        kept = json.loads((ROOT / path).read_text())
        if "rows" in kept:
            calls = [(f"{row['call']}({', '.join(map(str, row['arguments']))})", row) for row in reversed(kept["rows"])]
            measured = {name: 1e3 * row["seconds"]["auto"] for name, row in calls}  # of the first graph
        elif "engines" in kept:
            measured = {each["engine"]: each["median_ms"] for each in kept["engines"] if each["run_ms"]}
        elif "median_ms" in kept["graphs"][0]:
            measured = {each["graph"]: each["median_ms"]["drop-in"] for each in kept["graphs"]}
        else:
            measured = {each["graph"]: each["rows"][0]["tree"]["median"] for each in kept["graphs"]}
        rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.startswith("|")]
        column = next(place for place, name in enumerate(rows[0]) if name in ("median ms", "ms"))
        assert len(rows) > 3, path
        for row in rows[2:]:
            name, median = row[1].strip("`"), float(row[column].replace(",", ""))
            assert median == pytest.approx(measured[name], rel=0.01), (path, name)

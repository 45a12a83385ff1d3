"""What README.md tells people to type works as it is written. Its first two commands are run by .ci/run."""

import ast
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


def test_python(folder, monkeypatch):
    """The blocks run one after another; an expression's value is what the comment behind it says."""
    monkeypatch.chdir(folder)
    names = {}
    for block in blocks("python"):
        if "def test_" in block:
            continue
        lines = block.splitlines()
        for statement in ast.parse(block).body:
            code = ast.unparse(statement)
            said = re.search(r"  # => (.*)", lines[statement.end_lineno - 1])
            if said:
                assert repr(eval(code, names)) == said[1], code
            else:
                exec(code, names)


def test_files_that_are_linked_are_there():
    links = re.findall(r"\]\((?!https?:)([^)#]+)", README.read_text())
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_measured_figures_are_in_the_results():
    """A table under "Measured" holds the medians of the JSON that is linked above it."""
    section = README.read_text().partition("## Measured")[2].partition("\n## ")[0]
    parts = re.split(r"\]\((tests/benchmarks/results/\w+\.json)\)", section)
    assert len(parts) >= 5
    for path, text in zip(parts[1::2], parts[2::2], strict=True):
        kept = json.loads((ROOT / path).read_text())
        if "engines" in kept:
            measured = {each["engine"]: each["median_ms"] for each in kept["engines"] if each["run_ms"]}
        else:
            measured = {each["graph"]: each["rows"][0]["tree"]["median"] for each in kept["graphs"]}
        rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.startswith("|")]
        column = rows[0].index("median ms")
        assert len(rows) > 3, path
        for row in rows[2:]:
            name, median = row[1].strip("`"), float(row[column].replace(",", ""))
            assert median == pytest.approx(measured[name], rel=0.01), (path, name)

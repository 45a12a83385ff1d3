"""What README.md and the site tell people to type works as it is written. README's first two commands are run by
.ci/run."""

import ast
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from readme import PAGES, README, ROOT, SITE, blocks, program

from rapids_bfs import load
from rapids_bfs._core import rapids
from rapids_bfs._core.cuda import arrays as device

INSTALLS = ("python -m venv", "pip install")
SHELL = [
    pytest.param(block, page, id=f"{page.stem}: {block.splitlines()[0][:40]}")
    for page in PAGES
    for block in blocks("sh", page)
    if not block.lstrip().startswith(INSTALLS)
]
TESTING = SITE / "guide" / "testing.md"
MAKES = "rapids-bfs convert moby edges.parquet\n"
EDGES = pd.DataFrame(np.random.default_rng(5).integers(0, 200, (1500, 2)), columns=["src", "dst"])


def with_blocks(language):
    return [page for page in PAGES if program(language, page).strip()]


def name(page):
    return str(page.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path):
    """A folder with the files that the pages speak of."""
    EDGES.to_parquet(tmp_path / "edges.parquet")
    (tmp_path / "test_search.py").write_text(next(block for block in blocks("python", TESTING) if "def test_" in block))
    return tmp_path


def made(page, folder, *, missing=False):
    """If the page says how to make `edges.parquet`, let it be that file, or ``missing``."""
    if MAKES in blocks("sh", page):
        (folder / "edges.parquet").unlink()
        if not missing:
            load("moby").save(folder / "edges.parquet")


def test_the_blocks_are_found():
    assert len(blocks("sh")) >= 3
    assert [block.startswith(INSTALLS) for block in blocks("sh")] == [True, True] + [False] * (len(blocks("sh")) - 2)
    assert README in with_blocks("python")
    assert len(with_blocks("python")) >= 7
    assert len(SHELL) >= 5


@pytest.mark.parametrize(("block", "page"), SHELL)
def test_shell(block, page, folder):
    made(page, folder, missing=block == MAKES)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "CI": "true"}  # where Hypothesis gives a busy machine time
    command = ["bash", "-euo", "pipefail", "-c", block]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def run(language, page, folder):
    """Run a page's blocks one after another. A traceback names the page and its lines."""
    made(page, folder)
    loader = f"exec(compile(open(0).read(), {str(page)!r}, 'exec'), {{'__name__': '__main__'}})"
    done = subprocess.run(
        [sys.executable, "-c", loader],
        input=program(language, page),
        cwd=folder,
        env=os.environ | {"MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", with_blocks("python"), ids=name)
def test_python(page, folder):
    run("python", page, folder)


@pytest.mark.gpu
@pytest.mark.skipif(device.cupy_missing() is not None, reason=str(device.cupy_missing()))
@pytest.mark.parametrize("page", with_blocks("python gpu"), ids=name)
def test_python_on_a_gpu(page, folder):
    run("python gpu", page, folder)


@pytest.mark.rapids
@pytest.mark.skipif(rapids.package_missing("cugraph") is not None, reason=str(rapids.package_missing("cugraph")))
@pytest.mark.parametrize("page", with_blocks("python rapids"), ids=name)
def test_python_with_rapids(page, folder):
    run("python rapids", page, folder)


def test_what_python_on_a_gpu_takes_from_the_package_is_there():
    taken = set()
    for page in PAGES:
        for node in ast.walk(ast.parse(program("python gpu", page) + program("python rapids", page))):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "rapids_bfs":
                taken.add(("rapids_bfs", node.attr))
            elif isinstance(node, ast.ImportFrom) and node.module.startswith("rapids_bfs"):
                taken.update((node.module, alias.name) for alias in node.names)
    assert len(taken) >= 5
    assert [(module, name) for module, name in taken if not hasattr(importlib.import_module(module), name)] == []


def found_in_pages(pattern, pages):
    return [(page, found) for page in pages for found in re.findall(pattern, page.read_text())]


def test_the_checkout_is_installed_in_place():
    """What Numba compiled for a copy outlives the copy, and its folder would hide a later installation in place."""
    installs = found_in_pages(r"pip install (?:-e )?'?\..*", [*PAGES, ROOT / "CONTRIBUTING.md"])
    assert {README, SITE / "start.md"} <= {page for page, _ in installs}
    assert [line for line in installs if not line[1].startswith("pip install -e ")] == []


def test_files_that_are_linked_are_there():
    """README is read elsewhere too, so its links are absolute. Those within the site are checked where it is built."""
    repository = "https://[a-z.]*github[a-z]*.com/[^/]*/[^/]*/(?:blob/)?main/"
    site = "https://rapids-bfs.github.io/[^/]*/"
    files = [path for _, path in found_in_pages(rf"{repository}([^)#\s]+)", [README])]
    pages = [path for _, path in found_in_pages(rf"{site}([^)#\s]+).html", [README])]
    assert len(files) >= 3
    assert len(pages) >= 10
    assert [path for path in files if not (ROOT / path).exists()] == []
    assert [page for page in pages if not (SITE / f"{page}.md").exists() and not page.startswith("notebooks/")] == []
    assert found_in_pages(r"\]\((?!https:)", [README]) == []
    text = README.read_text()
    labels = re.findall(r"^(\[.+\]): https:", text, re.MULTILINE)
    assert [label for label in labels if text.count(label) < 2] == []


def test_files_that_are_named_are_there():
    pattern = r"(?<![\w/-])((?:kernels|rapids_bfs|tests|notebooks|docs)/[a-z0-9_./-]*[a-z0-9])[` ]"
    named = found_in_pages(pattern, [*PAGES, ROOT / "CONTRIBUTING.md"])
    assert len(named) > 20
    made = {"docs/_build"}  # by a command that stands there
    assert [each for each in named if not (ROOT / each[1]).exists() and each[1] not in made] == []


CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
LAYOUT = next(block for block in re.findall("```\n(.*?)```", CONTRIBUTING, re.S) if "rapids_bfs/\n" in block)


def test_paths_in_contributing_are_there():
    prose = re.sub("```.*?```", "", CONTRIBUTING, flags=re.S)
    words = {word for span in re.findall("`([^`]+)`", prose) for word in span.split()}
    paths = {word for word in words if re.fullmatch(r"[\w./*-]+(/|\.(py|md|cu|sh|json|toml|yaml))", word)}
    paths -= {path for path in paths if re.search("NAME|NUMBER|FOLDER", path)}
    assert len(paths) > 30
    folders = [ROOT, ROOT / "rapids_bfs", ROOT / "kernels/cuda/direction_optimizing"]
    assert [path for path in sorted(paths) if not any([*folder.glob(path)] for folder in folders)] == []


def test_the_layout_names_the_packages_modules():
    """A line begins with names; those in a folder are indented below it."""
    named, folder = {}, ""
    for indent, names in re.findall(r"^( {2})?((?:[\w.]+(?:/|\.py) ?)+)", LAYOUT, re.M):
        folder = folder if indent else names.strip()
        named.setdefault(folder, set()).update(names.split() if indent else [])
    assert [name for folder in named for name in ("", *named[folder]) if not (ROOT / folder / name).exists()] == []
    there = {path.name + "/" * path.is_dir() for path in (ROOT / "rapids_bfs").iterdir()}
    assert there - {"__init__.py", "__main__.py", "__pycache__/", "py.typed"} == named["rapids_bfs/"]

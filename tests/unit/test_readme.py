"""What README.md and the site tell people to type works as it is written. README's first two commands are run by
.ci/run."""

import ast
import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from readme import PAGES, README, ROOT, SITE, START, blocks, guide, steps

from rapids_bfs._core import rapids
from rapids_bfs._core.cuda import arrays as device

INSTALLS = ("git clone", "python -m venv", "pip install")
IN_ORDER = [START, *guide()]
# Runs steps in one process. A traceback names the page and its lines; a test becomes a file, as its page says.
RUNNER = """
import json, subprocess, sys
names = {"__name__": "__main__"}
page, steps = json.load(sys.stdin)
for language, line, code in steps:
    if language == "sh":
        subprocess.run(["bash", "-euo", "pipefail", "-c", code], check=True)
    elif "def test_" in code:
        open("test_search.py", "w").write(code)
    else:
        exec(compile("\\n" * (line - 1) + code, page, "exec"), names)
"""


def name(page):
    return str(page.relative_to(ROOT))


def with_steps(*languages, pages=PAGES):
    return [page for page in pages if any(steps(page, *languages))]


def run(page, folder, *languages):
    """Type what the page says, from its first block to its last."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    settings = {"PATH": path, "MPLBACKEND": "agg", "CI": "true"}  # the last for Hypothesis on a busy machine
    done = subprocess.run(
        [sys.executable, "-c", RUNNER],
        input=json.dumps([name(page), [step for step in steps(page, *languages) if not step[2].startswith(INSTALLS)]]),
        cwd=folder,
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """A folder in which somebody has read `start.md`; what the pages of the guide leave there stays."""
    folder = tmp_path_factory.mktemp("reader")
    run(START, folder, "sh", "python")
    return folder


def test_the_blocks_are_found():
    assert [block.startswith(INSTALLS) for block in blocks("sh")] == [True, True] + [False] * (len(blocks("sh")) - 2)
    assert {README, SITE / "index.md", *guide()} <= {SITE / "guide" / "cugraph.md", *with_steps("sh", "python")}


@pytest.mark.parametrize("page", [page for page in with_steps("sh", "python") if page not in IN_ORDER], ids=name)
def test_page(page, tmp_path):
    run(page, tmp_path, "sh", "python")


@pytest.mark.parametrize("page", with_steps("sh", "python", pages=guide()), ids=name)
def test_page_of_the_guide(page, started):
    """It follows from `start.md` and what its own code imports and makes, whatever the pages before it have left."""
    before = {path: path.stat().st_mtime_ns for path in started.iterdir() if path.name != "edges.parquet"}
    run(page, started, "sh", "python")
    code = "".join(step[2] for step in steps(page, "sh", "python"))
    unmade = [path.name for path, time in before.items() if path.name in code and path.stat().st_mtime_ns == time]
    assert unmade == []


@pytest.mark.gpu
@pytest.mark.skipif(device.cupy_missing() is not None, reason=str(device.cupy_missing()))
@pytest.mark.parametrize("page", with_steps("python gpu"), ids=name)
def test_python_on_a_gpu(page, started):
    run(page, started, "python gpu")


@pytest.mark.rapids
@pytest.mark.skipif(rapids.package_missing("cugraph") is not None, reason=str(rapids.package_missing("cugraph")))
@pytest.mark.parametrize("page", with_steps("python rapids"), ids=name)
def test_python_with_rapids(page, started):
    run(page, started, "python rapids")


def test_what_python_on_a_gpu_takes_from_the_package_is_there():
    taken = set()
    for page in PAGES:
        code = chain.from_iterable(ast.walk(ast.parse(step[2])) for step in steps(page, "python gpu", "python rapids"))
        for node in code:
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


def test_the_first_command_is_to_clone_the_repository():
    address = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Source"]
    for page in (README, SITE / "index.md", START):
        found = re.search(r"git clone (?:\\\n *)?(\S+)|pip install", page.read_text())
        assert found[1] == address, name(page)


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

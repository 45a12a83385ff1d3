"""The fixture ``bfs_engine`` in a project of somebody else's, which brings an engine of its own."""

import os
import subprocess
import sys

import pytest

TEST = """\
from hypothesis import HealthCheck, given, settings
from rapids_bfs import bfs
from rapids_bfs.testing import assert_same_distances, assert_valid_bfs, graphs


@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(graph=graphs(min_vertices=1))
def test_search(bfs_engine, graph):
    result = bfs(graph, 0, engine=bfs_engine)
    assert_valid_bfs(graph, result)
    assert_same_distances(result, bfs(graph, 0, engine="scipy"))
"""

OWN = """\
import pytest

@pytest.mark.parametrize("n, bfs_engine", [(1, "cpu"), (2, "cpu:sequential")], indirect=["bfs_engine"])
def test_named(bfs_engine, n):
    assert bfs_engine == ["cpu", "cpu:sequential"][n - 1]


@pytest.mark.parametrize(argnames=["bfs_engine"], argvalues=[["mine"]])
def test_a_value(bfs_engine):
    assert bfs_engine == "mine"


class TestTheirs:
    @pytest.fixture(params=["one", "two"])
    def bfs_engine(self, request):
        return "their " + request.param

    def test_a_fixture(self, bfs_engine):
        assert bfs_engine in ("their one", "their two")


def test_late(request):
    request.getfixturevalue("bfs_engine")
"""

ENGINES = """\
import numpy as np
from rapids_bfs.engines import Engine
from rapids_bfs.engines.cpu import CPU
from rapids_bfs.engines.cpu.search import Sequential


class Impatient(CPU):
    '''Stops before the last level.'''
    name = "impatient"
    algorithms = ("one",)

    def prepare(self, graph, algorithm):
        class Traversal(Sequential):
            def answer(self, found):
                distances, predecessors = super().answer(found)
                last = (distances > 0) & (distances == distances.max())
                return np.where(last, -1, distances), np.where(last, -1, predecessors)

        return Traversal(graph)


class Absent(Impatient):
    name = "absent"

    def unavailable(self):
        return "needs a flux capacitor: pip install flux"
"""


@pytest.fixture
def project(tmp_path):
    """Runs pytest in a folder with the files above; ``engines`` is installed there as a package would be."""
    (tmp_path / "test_search.py").write_text(TEST)
    (tmp_path / "test_own.py").write_text(OWN)
    (tmp_path / "test_other.py").write_text(
        "def test_other():\n    import sys\n    assert 'numba' not in sys.modules\n"
    )
    (tmp_path / "their_engines.py").write_text(ENGINES)
    metadata = tmp_path / "their_engines-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: their-engines\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[rapids_bfs.engines]\nimpatient = their_engines:Impatient\nabsent = their_engines:Absent\n"
        "broken = their_engines:Broken\n"
    )

    def run(*arguments):
        command = [sys.executable, "-m", "pytest", "-v", "-rs", "-p", "no:cacheprovider", *arguments]
        environment = os.environ | {"PYTHONPATH": str(tmp_path)}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=600
        )
        return done.returncode, done.stdout + done.stderr

    return run


def test_green_and_red(project):
    code, output = project("test_search.py", "--bfs-engines=cpu, cpu:sequential,impatient")
    assert code == 1, output
    assert "test_search[cpu] PASSED" in output
    assert "test_search[cpu:sequential] PASSED" in output
    assert "test_search[impatient] FAILED" in output
    assert "AssertionError: rule 'edge-reach' is broken" in output


def test_every_engine_by_default_and_what_cannot_run_is_skipped(project):
    code, output = project("test_search.py")
    assert code == 1, output
    for engine in ("cpu", "scipy", "networkx"):
        assert f"test_search[{engine}] PASSED" in output
    assert "engine 'absent' cannot run here: needs a flux capacitor: pip install flux" in output
    assert (
        "engine 'broken' cannot run here: the package their-engines declares it as their_engines:Broken, which"
        in output
    )


def test_an_engine_that_is_named_must_run(project):
    code, output = project("test_search.py", "--bfs-engines=absent")
    assert code == 1, output
    assert "engine 'absent' cannot run here: needs a flux capacitor" in output


def test_an_unknown_engine_is_named(project):
    code, output = project("test_search.py", "--bfs-engines=warp")
    assert code == 2, output
    assert "Traceback" not in output
    assert "--bfs-engines: unknown engine 'warp': choose from" in output


def test_each_engine_runs_once(project):
    code, output = project("test_search.py", "--bfs-engines=cpu,cpu:direction-optimizing,cpu", "-p", "xdist", "-n1")
    assert code == 0, output
    assert "1 passed" in output


def test_a_project_may_name_engines_in_a_mark_or_have_a_fixture_of_that_name(project):
    """A test that asks for an engine too late is told how to ask."""
    code, output = project("test_own.py", "--strict-markers")
    assert code == 1, output
    assert "1 failed, 5 passed" in output
    assert "Failed: bfs_engine runs a test once for each engine: make it an argument of the test" in output


def test_tests_that_do_not_ask_for_it_import_nothing(project):
    code, output = project("test_other.py")
    assert code == 0, output

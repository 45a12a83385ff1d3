"""The pytest fixture ``bfs_engine``: a test that uses it runs once for each engine::

    def test_search(bfs_engine):
        result = rapids_bfs.bfs("karate", 0, engine=bfs_engine)

``pytest --bfs-engines=cpu,cupy:block-queue`` names the engines; each of them must be able to run. Without it the test
runs on all registered engines, and skips those that cannot run, with the reason. A test can name its own engines::

    @pytest.mark.parametrize("bfs_engine", ["cpu", "cpu:sequential"], indirect=True)

pytest loads this module in every environment with the package, so it imports nothing before a test uses the fixture.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("rapids-bfs").addoption(
        "--bfs-engines",
        metavar="A,B:ALGORITHM",
        help="engines that tests with the fixture bfs_engine run on (default: all that can run here)",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "_bfs_engine_name" in metafunc.fixturenames and not _names_its_own(metafunc):
        metafunc.parametrize("_bfs_engine_name", _engines(metafunc.config), indirect=True, scope="session")


def _names_its_own(metafunc: pytest.Metafunc) -> bool:
    """Is the test marked with the engines that it is to run on?"""
    for mark in metafunc.definition.iter_markers("parametrize"):
        names = mark.kwargs["argnames"] if "argnames" in mark.kwargs else mark.args[0]
        if "bfs_engine" in (map(str.strip, names.split(",")) if isinstance(names, str) else names):
            return True
    return False


def _engines(config: pytest.Config) -> list[str]:
    """The names of the engines that tests run on, each once."""
    from .engines import registered, resolve
    from .errors import InputError

    named = config.getoption("--bfs-engines")
    if named is None:
        return list(registered())
    try:
        return list(dict.fromkeys(resolve(name.strip()).name for name in named.split(",")))
    except InputError as error:
        raise pytest.Collector.CollectError(f"--bfs-engines: {error}") from None


@pytest.fixture(scope="session")
def _bfs_engine_name(request: pytest.FixtureRequest) -> str | None:
    """One of `_engines`. It is apart from `bfs_engine` so that a project's own fixture of that name runs once."""
    return getattr(request, "param", None)


@pytest.fixture(scope="session")
def bfs_engine(request: pytest.FixtureRequest, _bfs_engine_name: str | None) -> str:
    """The name of a warmed-up engine, for ``rapids_bfs.bfs(..., engine=bfs_engine)``."""
    from . import as_graph, bfs, validate
    from .engines import resolve

    name: str | None = getattr(request, "param", _bfs_engine_name)
    if name is None:
        pytest.fail("bfs_engine runs a test once for each engine: make it an argument of the test or of a fixture")
    if reason := resolve(name).unavailable():
        skipped_or_failed = pytest.fail if request.config.getoption("--bfs-engines") else pytest.skip
        skipped_or_failed(f"engine {name!r} cannot run here: {reason}")
    for directed in (False, True):
        graph = as_graph(([0, 1], [1, 2]), directed=directed)
        validate(graph, bfs(graph, 0, engine=name))  # compiles the kernels before the test is timed
    return name

"""Settings that all tests share."""

import gc
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import validated
from hypothesis import HealthCheck, settings

from rapids_bfs._core import rapids
from rapids_bfs._core.cuda import arrays as device
from rapids_bfs._core.cuda.driver import no_device

# Beside other work GNU's OpenMP would hold up each parallel loop, however small, with threads that wait busily.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
if "PYTEST_XDIST_WORKER" in os.environ:  # one of several processes; Numba reads this when it is imported
    os.environ.setdefault("NUMBA_NUM_THREADS", "2")

FOLDER = Path(__file__).parent
APART = {"gpu", "test_host_cuda", "test_kernels_compile", "test_notebooks"}  # whose tests take long and share nothing
DASK = {"test_dask_launcher", "test_dask_frames", "test_on_dask"}  # which share `dask_cluster`
LONG = APART | DASK | {"test_interrupts", "test_networkx_suite"}
RAPIDS = ("cudf", "cugraph", "pylibcugraph", "nx_cugraph")

# Compilation makes the first example slow; the machine may be shared.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")


@pytest.fixture(autouse=True)
def engines_are_asked_again():
    """What an engine lacks here is asked once a process; tests change it."""
    yield
    if registry := sys.modules.get("rapids_bfs.engines.registry"):
        registry.resolve.cache_clear()


def not_collected() -> dict[str, str]:
    """The folders of tests that cannot run here, and why."""
    reasons = {"gpu": no_device(), "rapids": next(filter(None, map(rapids.package_missing, RAPIDS)), None)}
    return {folder: reason for folder, reason in reasons.items() if reason}


def pytest_addoption(parser):
    parser.addoption("--all-architectures", action="store_true", help="compile every kernel for every GPU generation")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """More than there are cores: many tests wait for a process, or for time to pass."""
    return None if os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS") else os.cpu_count() * 3 // 2


def pytest_ignore_collect(collection_path):
    return True if collection_path.parent == FOLDER and collection_path.name in not_collected() else None


def pytest_collection_modifyitems(config, items):
    """A name that holds an address differs from process to process, and pytest-xdist could not match them."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.path.stem not in LONG)  # so that no process has one left at the end
    if unstable := [item.nodeid for item in items if " at 0x" in item.nodeid]:
        raise pytest.UsageError("name these parameters by `ids`: " + ", ".join(unstable))


def pytest_collection_finish(session):
    """Python's garbage collector, which compiling starts again and again, need not look at what is imported by now."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """The tests of a module run in one process, which sets up once what they share; those of `DASK` in one, too."""
    from xdist.scheduler import LoadScopeScheduling

    class ByModule(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            module = nodeid.partition("::")[0]
            names = {*Path(module).with_suffix("").parts}
            return nodeid if names & APART else "dask" if names & DASK else module

    return ByModule(config, log)


def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(validated.Recorder(config))
        return
    if (devices := len([*Path("/dev").glob("nvidia[0-9]*")])) > 1:
        # The driver, which reads this but once, has not been asked for the devices yet.
        os.environ["CUDA_VISIBLE_DEVICES"] = str(int(config.workerinput["workerid"][2:]) % devices)
    if sys.platform != "win32":
        from compile_once import compile_once

        compile_once(Path(config.option.basetemp).with_name("compiling"))


def pytest_terminal_summary(terminalreporter):
    reasons = not_collected()
    for reason in dict.fromkeys(reasons.values()):
        folders = ", ".join(f"tests/{folder}" for folder in reasons if reasons[folder] == reason)
        terminalreporter.write_line(f"not collected: {folders}: {reason}")
    if line := validated.warning():
        terminalreporter.write_line(f"warning: {line}", yellow=True)


class OnDevice:
    """An array that stands for one on a device: it has a length and can be copied to the host, no more."""

    def __init__(self, array):
        self.__cuda_array_interface__ = {}
        self.get, self.nbytes = array.copy, array.nbytes
        self.length = len(array)

    def __len__(self):
        return self.length


@pytest.fixture
def put_on_device(monkeypatch):
    """A function that puts a result and its graph on a device, whether or not there is one."""
    monkeypatch.setattr(device, "to_device", lambda array: array)

    def put(result):
        graph = result.graph._with(offsets=OnDevice(result.graph.offsets), targets=OnDevice(result.graph.targets))
        arrays = {name: OnDevice(getattr(result, name)) for name in ("distances", "predecessors")}
        return replace(result, graph=graph, **arrays)

    return put


WORKERS = 3


@pytest.fixture(scope="session")
def dask_cluster():
    """A client of workers in processes of their own; one that is killed is replaced."""
    dask, distributed = (pytest.importorskip(name) for name in ("dask", "distributed"))
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "memory_limit": 0}

    with (
        # After 15 seconds, which a start takes on a busy machine, a cluster would do without the worker for good.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}),
        distributed.LocalCluster(n_workers=WORKERS, **options) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def dask_client(dask_cluster):
    """The client of `dask_cluster`, all of whose workers are there.

    A nanny that has not heard yet that its worker runs does not start another when that is killed.
    """
    dask_cluster.wait_for_workers(WORKERS, timeout=300)
    deadline = time.monotonic() + 300
    nannies = dask_cluster.cluster.workers.values()
    while any(nanny.process is None or nanny.process.status.name != "running" for nanny in nannies):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return dask_cluster

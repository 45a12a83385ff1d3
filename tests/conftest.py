"""Settings that all tests share."""

import gc
import os
import re
import signal
import sys
import threading
import time
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from functools import cache, partial
from importlib.util import cache_from_source
from itertools import count
from pathlib import Path

import pytest
import validated
from hypothesis import HealthCheck, settings
from platformdirs import user_cache_dir

from rapids_bfs._core import rapids
from rapids_bfs._core.cuda import arrays as device
from rapids_bfs._core.cuda.driver import no_device

# Beside other work GNU's OpenMP would hold up each parallel loop, however small, with threads that wait busily.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# Those of OpenBLAS, which nothing here needs, wait busily in each process that imports NumPy, and again with SciPy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
if "PYTEST_XDIST_WORKER" in os.environ:  # one of several processes; Numba reads this when it is imported
    os.environ.setdefault("NUMBA_NUM_THREADS", "2")

# What tests share with what ran before them: compiled kernels, and Matplotlib's list of fonts.
os.environ.setdefault("RAPIDS_BFS_QUIET", "1")  # whether a kernel is compiled depends on what ran before
os.environ.setdefault("NUMBA_CACHE_DIR", user_cache_dir("rapids_bfs", appauthor=False))
os.environ.setdefault("MPLCONFIGDIR", user_cache_dir("matplotlib", appauthor=False))
if threading.current_thread() is threading.main_thread():  # pytest-xdist's processes inherit it
    # One that was started in the background ignores Ctrl-C, and so would all that it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)

FOLDER = Path(__file__).parent
BYTECODE_OF_THE_LAST = Path(cache_from_source(str(FOLDER / "unit" / "conftest.py"))).parent  # that are collected
APART = {"gpu", "test_host_cuda", "test_kernels_compile", "test_notebooks"}  # whose tests take long and share nothing
DASK = {f"test_{name}" for name in ("dask_launcher", "dask_frames", "drop_in_on_dask", "joining_on_dask", "on_dask")}
OTHERS = "batch benchmarks cli_nonsense cli_streams hosts interrupts matrix_market networkx_suite processes"
LONG = APART | DASK | {f"test_{name}" for name in [*OTHERS.split(), "pytest_plugin", "readme", "text_files"]}
NO_CPU_KERNELS = {"test_kernels_compile", "test_oldest_nvrtc", "test_emulated_direction_optimizing", "test_docs"}
RAPIDS = ("cudf", "cugraph", "pylibcugraph", "nx_cugraph")

# With FAIL_ON_SKIPS set, as .ci/run does, a test that is skipped for another reason is a failure: nobody runs it.
MAY_BE_SKIPPED = (
    "there is no CUDA device|CuPy is not installed|cugraph is not installed",  # .ci/run has no GPU
    "No module named 'torch",  # gigabytes
    "a texture holds 32-bit vertices|from Python 3.12 on",  # not a case
    "everything is writable for root",  # as which CI runs, for the hosts made of namespaces
    "hosts made of namespaces (need Linux and root|cannot be made)",  # which some containers forbid
)

# Compilation makes the first example slow; the machine may be shared.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("few", settings.get_profile("default"), max_examples=30)
settings.load_profile("default")


ASKED_ONCE = {  # in a process; tests change the answers
    "rapids_bfs.engines.registry": "resolve",
    "rapids_bfs.engines.gpu.numba_cuda": "numba_cuda_missing",
    "rapids_bfs._core.cuda.arrays": "cupy_missing",
    "rapids_bfs._core.rapids": "package_missing",
}


@pytest.fixture(autouse=True)
def engines_are_asked_again():
    """Each test finds out anew what an engine lacks here."""
    yield
    for module, function in ASKED_ONCE.items():
        if module in sys.modules:
            getattr(sys.modules[module], function).cache_clear()


CACHES = count()


@pytest.fixture(autouse=True)
def a_cache_of_its_own(tmp_path_factory):
    """What the package keeps in the user's cache folder is there for one test alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "caches" / str(next(CACHES))))
        yield


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


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Where nothing is there as bytecode yet, one process compiles what the others would compile beside it. Imports
    leave little garbage, and looking for it takes a quarter of the time."""
    alone = nullcontext()
    if hasattr(session.config, "workerinput") and sys.platform != "win32" and not BYTECODE_OF_THE_LAST.exists():
        from compile_once import first_alone

        alone = first_alone(Path(session.config.option.basetemp).with_name("collecting"))
    gc.disable()
    try:
        with alone:
            return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(config, items):
    """A name that holds an address differs from process to process, and pytest-xdist could not match them."""
    items.sort(key=lambda item: item.path.stem not in DASK)
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.path.stem not in LONG)  # so that no process has one left at the end
        items.sort(key=lambda item: item.path.stem not in NO_CPU_KERNELS)
        items.sort(key=lambda item: item.path.stem != "test_warmup")  # which compiles, once, what the others need
    if unstable := [item.nodeid for item in items if " at 0x" in item.nodeid]:
        raise pytest.UsageError("name these parameters by `ids`: " + ", ".join(unstable))


def pytest_collection_finish(session):
    """Python's garbage collector, a tenth of all time if it may, looks at what is imported by now no more, and seldom
    at the rest."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20)


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

        START.append(partial(compile_once, Path(config.option.basetemp).with_name("compiling")))
        START[0]()


def unlisted_skips(terminalreporter) -> list[str]:
    """The reasons of skips that count as failures."""
    if not os.environ.get("FAIL_ON_SKIPS") or terminalreporter is None:  # as in pytest-xdist's processes
        return []
    reasons = dict.fromkeys(report.longrepr[2] for report in terminalreporter.stats.get("skipped", []))
    return [reason for reason in reasons if not re.search("|".join(MAY_BE_SKIPPED), reason)]


def pytest_sessionfinish(session):
    if unlisted_skips(session.config.pluginmanager.get_plugin("terminalreporter")):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    for reason in unlisted_skips(terminalreporter):
        terminalreporter.write_line(f"not in MAY_BE_SKIPPED of tests/conftest.py: {reason}", red=True)
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
DASK_SETTINGS = {
    # After 15 seconds, which a start takes on a busy machine, a cluster would do without the worker for good.
    "distributed.deploy.lost-worker-timeout": "1h",
    "distributed.worker.profile.interval": "1h",  # 10 ms by default, for which workers without work take time, too
}
if sys.platform != "win32":
    # A worker then starts as the fork of a process that has imported Dask, NumPy and pandas already. Workers on hosts
    # of their own, and those of README, start as by default.
    DASK_SETTINGS["distributed.worker.multiprocessing-method"] = "forkserver"


CLUSTER = ExitStack()  # which ends it
START = []  # what each process with pytest-xdist does at its start, Dask's workers too


@cache
def dask_cluster():
    """A client of workers in processes of their own; one that is killed is replaced."""
    dask, distributed = (pytest.importorskip(name) for name in ("dask", "distributed"))
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "memory_limit": 0}
    CLUSTER.callback(dask_cluster.cache_clear)
    CLUSTER.enter_context(dask.config.set(DASK_SETTINGS))
    cluster = CLUSTER.enter_context(distributed.LocalCluster(n_workers=WORKERS, **options))
    client = CLUSTER.enter_context(distributed.Client(cluster, set_as_default=False))
    for start in START:
        client.register_worker_callbacks(start)
    return client


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem):
    """End the cluster once no test of `DASK` is left: its processes would take time until the end."""
    if nextitem is None or nextitem.path.stem not in DASK:
        CLUSTER.close()


@pytest.fixture
def dask_client(monkeypatch):
    """The client of a cluster that all tests of `DASK` share, all of whose workers are there.

    A nanny that has not heard yet that its worker runs does not start another when that is killed.
    """
    client = dask_cluster()
    monkeypatch.setattr("rapids_bfs.distributed.dask.GRACE", 600)  # a busy worker may hear late that another failed
    client.wait_for_workers(WORKERS, timeout=300)
    deadline = time.monotonic() + 300
    nannies = list(client.cluster.workers.values())
    while any(nanny.process is None or nanny.process.status.name != "running" for nanny in nannies):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return client

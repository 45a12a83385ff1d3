"""Ranks on Dask workers that do not all connect: an error within the limit, and nobody waits for ever."""

import os
import sys
import time
from types import SimpleNamespace

import faults
import pytest

from rapids_bfs import InputError, TraversalError
from rapids_bfs._core.cuda import arrays, driver
from rapids_bfs.distributed import frames
from rapids_bfs.distributed.launchers import device_names, require_few_ranks
from rapids_bfs.kernels import cuda
from rapids_bfs.kernels.distributed import MAX_RANKS

distributed = pytest.importorskip("distributed")

from rapids_bfs.distributed import workers as remote  # noqa: E402
from rapids_bfs.distributed.dask import DaskLauncher  # noqa: E402
from rapids_bfs.distributed.peer_memory import at_work  # noqa: E402


def hang_and_wait(token, hanging, path):
    """Let a rank of this process not connect while a file exists, if it is the ``hanging`` one, and wait one second for
    it, if it is the one after that, which only waits for others to connect to it."""
    for (theirs, number), rank in list(remote._ranks.items()):
        if (theirs, number) == (token, hanging):

            def hang(*arguments, connect=rank.connect):
                deadline = time.monotonic() + 900
                while os.path.exists(path) and time.monotonic() < deadline:
                    time.sleep(0.02)
                connect(*arguments)

            rank.connect = hang
        elif (theirs, number) == (token, hanging + 1):
            rank.timeout = 1.0


def calls_at_work():
    return len(at_work()._calls)


def rank_of(communicator):
    communicator.barrier()
    return communicator.rank


def test_a_rank_that_does_not_connect(dask_client, tmp_path):
    """It is named, and the others leave: device memory can be freed in their processes."""
    launcher = DaskLauncher(dask_client, sorted(dask_client.nthreads()), timeout=300.0)
    path = tmp_path / "hanging"
    path.touch()
    dask_client.run(hang_and_wait, launcher.token, 1, str(path))
    says = r"^partition 1 of 3 \(worker .*\) does not answer: restart it"
    with faults.in_time(2), pytest.raises(TraversalError, match=says):
        launcher.collect(rank_of)
    others = [worker for rank, worker in enumerate(launcher.workers) if rank != 1]
    assert set(dask_client.run(calls_at_work, workers=others).values()) == {0}
    path.unlink()
    deadline = time.monotonic() + 600
    while any(dask_client.run(calls_at_work).values()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    dask_client.run(lambda: [setattr(rank, "timeout", 300.0) for rank in remote._ranks.values()])
    assert launcher.collect(rank_of) == [0, 1, 2]


def stand_for_a_gpu(nccl):
    """Let this process be one with a GPU and CuPy, with NCCL or without, or as it was if that is None."""
    missing = None if nccl is None else (lambda: None)
    remote.no_device, remote.cupy_missing = missing or driver.no_device, missing or arrays.cupy_missing
    for name in ("cupy", "cupy.cuda"):
        sys.modules.pop(name, None)
    if nccl is not None:
        cuda = SimpleNamespace(nccl=SimpleNamespace(available=nccl))
        sys.modules.update({"cupy": SimpleNamespace(cuda=cuda), "cupy.cuda": cuda})


def test_gpus_of_several_processes_without_nccl(dask_client):
    """One line names the worker and the wheel, before anything is computed. A rank alone needs none."""
    workers = sorted(dask_client.nthreads())
    dask_client.run(stand_for_a_gpu, True)
    dask_client.run(stand_for_a_gpu, False, workers=workers[1:2])
    try:
        says = (
            "cannot exchange data with the GPUs of other workers: NCCL is not installed: pip install nvidia-nccl-cu13"
        )
        with pytest.raises(InputError) as error:
            DaskLauncher(dask_client, workers, device="cuda")
        assert str(error.value) == f"worker {workers[1]} {says}"
        for alone in workers[:2]:
            assert DaskLauncher(dask_client, [alone], device="cuda").collect(rank_of) == [0]
    finally:
        dask_client.run(stand_for_a_gpu, None)


def test_more_ranks_than_kernels_count_for(monkeypatch):
    """They are refused before a frame is computed, in one line."""
    workers = {f"tcp://10.0.0.1:{port}": 1 for port in range(MAX_RANKS + 1)}
    answers = {"nthreads": lambda self: workers, "sync": lambda self, question, **_: question()}
    client = type("Client", (), answers | {"id": "a", "persist": None, "status": "running"})()
    monkeypatch.setattr(frames, "client_here", lambda: client)
    monkeypatch.setattr(frames, "edge_columns", lambda *_: (None, ("src", "dst")))
    with pytest.raises(InputError, match=r"^a graph is distributed over at most 256 GPUs, not 257: take fewer"):
        frames.from_dask_cudf(None)
    monkeypatch.setattr("rapids_bfs.distributed.launchers.driver", lambda: type("D", (), {"devices": ("H200",)})())
    with pytest.raises(InputError, match="at most 256 GPUs"):
        device_names([0] * (MAX_RANKS + 1))
    assert f"MAX_PARTITIONS = {MAX_RANKS};" in cuda.source("distributed_build")
    require_few_ranks(MAX_RANKS, "cuda")
    require_few_ranks(MAX_RANKS + 1, "cpu")

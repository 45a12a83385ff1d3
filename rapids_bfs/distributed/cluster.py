"""A Dask cluster as `rapids-bfs info` shows it: the hosts of its workers, and what they lack to be ranks."""

from __future__ import annotations

import asyncio
from collections import Counter
from importlib.util import find_spec
from typing import Any, NamedTuple

from .._core.cuda.arrays import CPU, CUDA
from .._core.formatting import counted
from ..errors import InputError
from .communicators import TIMEOUT
from .launchers import one_line

LIMIT = 10  # seconds that the scheduler has to answer
# The name by which NCCL knows the host of a worker; evaluated by workers that may lack our package.
HOST = "__import__('os').environ.get('NCCL_HOSTID') or __import__('platform').node()"


class Cluster(NamedTuple):
    """Facts about a cluster; ``on_cpus`` and ``on_gpus`` are None, or the first reason why its workers cannot be
    ranks there."""

    address: str
    hosts: dict[str, int]  # how many workers are on each
    on_cpus: str | None
    on_gpus: str | None

    @property
    def places(self) -> str:
        """The hosts, in words."""
        return f"{counted(len(self.hosts), 'host')} ({', '.join(sorted(self.hosts))})"

    @property
    def between_gpus(self) -> str:
        """How ranks on its GPUs communicate."""
        if len(self.hosts) > 1:
            return f"NCCL: ranks on {self.places}"
        return "NCCL, or one launch if all have peer access"


def scheduler() -> str | None:
    """The address of the scheduler that Dask's configuration names, as the variable DASK_SCHEDULER_ADDRESS does; None
    without one, or without Dask."""
    if find_spec("dask") is None or find_spec("distributed") is None:
        return None
    import dask

    address: str | None = dask.config.get("scheduler-address", None)
    return address


def cluster_at(address: str) -> Cluster:
    """The cluster of the scheduler at this address. Raises `InputError` if that does not answer."""
    from distributed import Client

    try:
        with Client(address, timeout=LIMIT, set_as_default=False) as client:
            return client.sync(_cluster_of, client, address, callback_timeout=TIMEOUT)  # type: ignore[no-any-return]
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"{address} does not answer: {one_line(error)}") from error


async def _cluster_of(client: Any, address: str) -> Cluster:
    from .dask import unfit

    hosts = await client.run(eval, HOST)
    found = [
        await asyncio.gather(*(unfit(client, worker, device, len(hosts)) for worker in sorted(hosts)))
        for device in (CPU, CUDA)
    ]
    return Cluster(address, dict(Counter(hosts.values())), *(next(filter(None, reasons), None) for reasons in found))

"""What `rapids-bfs info` says of a Dask cluster."""

import sys

import pytest
from readme import ROOT

from rapids_bfs._core.cuda.driver import no_device
from rapids_bfs.cli.info import info_tables
from rapids_bfs.distributed import cluster
from rapids_bfs.report.console import as_text

sys.path.append(str(ROOT))  # behind what is installed

from benchmarks.worker_variables import set_variables

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")


def told_of(address):
    """What `rapids-bfs info` prints where Dask's configuration names this scheduler."""
    with dask.config.set({"scheduler-address": address}):
        return as_text(info_tables())


class TestInfo:
    def test_the_hosts_of_the_workers(self, dask_client):
        workers = sorted(dask_client.nthreads())
        for worker, host in zip(workers, ("east", "west", "west"), strict=True):
            set_variables(dask_client, {"NCCL_HOSTID": host}, [worker])
        try:
            said = told_of(dask_client.scheduler.address)
        finally:
            set_variables(dask_client, {"NCCL_HOSTID": None})
        assert "3 on 2 hosts (east, west)" in said
        assert "Dask's connections" in said
        if no_device():
            assert f"no: worker {workers[0]} has no GPU" in " ".join(said.split())

    @pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://a"])
    def test_a_scheduler_that_does_not_answer(self, address, monkeypatch):
        monkeypatch.setattr(cluster, "LIMIT", 0.2)
        assert f"{address} does not answer" in told_of(address)


@pytest.mark.parametrize(
    ("hosts", "how"), [({"a": 1, "b": 3}, "NCCL: ranks on 2 hosts (a, b)"), ({"a": 4}, "NCCL, or one launch if")]
)
def test_how_gpus_of_a_cluster_communicate(hosts, how):
    assert cluster.Cluster("tcp://a:1", hosts, None, None).between_gpus.startswith(how)

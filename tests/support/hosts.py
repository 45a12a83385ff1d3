"""Two hosts made of namespaces on this machine, and a Dask cluster over both.

Each host has a network of its own, joined to the other's by a pair of virtual interfaces, and its own /dev/shm and
/tmp. Nothing leaves these namespaces. The client is in this process: the thread of its event loop, which opens its
connections, enters the network of the first host.
"""

import asyncio
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path

CLONE_NEWNET = 0x40000000
ADDRESSES = "10.77.30.1", "10.77.30.2"
PORT = 8786
INTERFACE = "rapids0"
LIFETIME = 7200  # seconds after which a host ends, whatever happens
PATIENCE = 600  # seconds
HOST = """
mount -t tmpfs tmpfs /dev/shm && mount -t tmpfs tmpfs /tmp && ip link set lo up && echo ready && exec sleep {}
"""


def missing():
    """One line: why there can be no such hosts here; None if there can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "hosts made of namespaces need Linux and root"
    tools = [tool for tool in ("ip", "unshare", "nsenter", "mount") if shutil.which(tool) is None]
    if tools:
        return f"hosts made of namespaces need {', '.join(tools)}"
    if any(Path(path).resolve().is_relative_to("/tmp") for path in (sys.prefix, __file__)):
        return "hosts with a /tmp of their own do not see this environment, which is there"
    try:
        made = _unshared("true")
        made.wait(PATIENCE)
    except OSError as error:
        return f"hosts made of namespaces cannot be made: {error}"
    return f"hosts made of namespaces cannot be made: {made.stderr.read().strip()}" if made.returncode else None


def _unshared(program):
    command = ["unshare", "--net", "--mount", "--propagation", "private", "sh", "-c", program]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Hosts:
    """Two hosts, by the ids of the processes that keep them alive."""

    def __init__(self, stack):
        self.stack = stack
        self.keepers = []
        for _ in ADDRESSES:
            keeper = _unshared(HOST.format(LIFETIME))
            stack.callback(_end, keeper)
            assert keeper.stdout.readline() == "ready\n", keeper.stderr.read()
            self.keepers.append(keeper.pid)
        first, second = map(str, self.keepers)
        peer = ["peer", "name", INTERFACE, "netns", second]
        subprocess.run(["ip", "link", "add", INTERFACE, "netns", first, "type", "veth", *peer], check=True)
        for host, address in enumerate(ADDRESSES):
            self.call(host, "ip", "address", "add", f"{address}/24", "dev", INTERFACE)
            self.link(host, "up")

    def command(self, host):
        return ["nsenter", "--target", str(self.keepers[host]), "--net", "--mount"]

    def call(self, host, *command):
        subprocess.run([*self.command(host), *command], check=True)

    def link(self, host, state):
        """Take the interface of a host "up" or "down"."""
        self.call(host, "ip", "link", "set", INTERFACE, state)

    def start(self, host, *arguments, **environment):
        """Start ``python arguments`` there, until the end of the stack."""
        process = subprocess.Popen(
            [*self.command(host), sys.executable, *arguments],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.stack.callback(_end, process)
        return process

    def event_loop(self):
        """An event loop of Tornado's in a thread that is in the network of the first host."""
        from tornado.ioloop import IOLoop

        found, stop = [], threading.Event()
        started = threading.Event()

        async def run():
            found.append(IOLoop.current())
            started.set()
            while not stop.is_set():
                await asyncio.sleep(0.05)

        def work():
            with open(f"/proc/{self.keepers[0]}/ns/net") as network:
                if ctypes.CDLL(None, use_errno=True).setns(network.fileno(), CLONE_NEWNET):
                    raise OSError(ctypes.get_errno(), "setns")
            asyncio.run(run())

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        assert started.wait(PATIENCE)
        self.stack.callback(thread.join, PATIENCE)
        self.stack.callback(stop.set)
        return found[0]


def _end(process):
    """End a process and those that it has started."""
    try:
        if process.pid == os.getpgid(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        pass
    process.wait(PATIENCE)


@contextmanager
def cluster(security=None):
    """The hosts, and a client of a cluster with its scheduler and a worker on the first and a worker on the second."""
    from distributed import Client

    protocol = "tcp" if security is None else "tls"
    address = f"{protocol}://{ADDRESSES[0]}:{PORT}"
    tls = [] if security is None else [
        *("--tls-ca-file", security.tls_ca_file),
        *("--tls-cert", security.tls_worker_cert, "--tls-key", security.tls_worker_key),
    ]  # fmt: skip
    with ExitStack() as stack:
        hosts = Hosts(stack)
        common = ["--protocol", protocol, "--no-dashboard", *tls]
        scheduler = ["-m", "distributed.cli.dask_scheduler", "--host", ADDRESSES[0], "--port", str(PORT)]
        hosts.start(0, *scheduler, *common)
        for host, here in enumerate(ADDRESSES):
            worker = ["-m", "distributed.cli.dask_worker", address, "--host", here, "--nthreads", "1"]
            hosts.start(host, *worker, "--memory-limit", "0", "--local-directory", "/tmp/dask", *common)
        loop = hosts.event_loop()
        options = {"loop": loop, "security": security, "timeout": PATIENCE, "set_as_default": False}
        client = stack.enter_context(Client(address, **options))
        client.wait_for_workers(2, timeout=PATIENCE)
        yield hosts, client

"""A fork server: each case is read by its own child process, within limits of memory and time.

The parent has imported everything and compiled the kernels, so that a child begins at once.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import select
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rapids_bfs.kernels.cpu import compiled

MEGABYTE = 1 << 20
POLL_SECONDS = 0.02
ADDRESS_SPACE = 1 << 32  # bytes that a child may allocate, used or not
PAGE = resource.getpagesize()
DETAIL = 4000  # characters of a traceback that are kept


def run_on_one_thread() -> None:
    """Have this process run its kernels as one that was forked does, so that its children find them compiled."""
    compiled._threads_lost = True


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case: ``kind`` is what the check returned, or how it failed, with more in ``detail``."""

    kind: str
    detail: str = ""

    @property
    def is_finding(self) -> bool:
        return bool(self.detail)


@dataclass(frozen=True)
class Server:
    """Runs ``check(path)``, which returns a word or raises, on one case after another."""

    check: Callable[[Path], str]
    cpu_seconds: int = 20
    wall_seconds: float = 300  # for what waits for ever: a busy machine may take its time
    megabytes: int = 512  # beyond what the parent has

    def run(self, name: str, data: bytes) -> Outcome:
        """The outcome for a file of this name and content."""
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            path = Path(folder, name)
            path.write_bytes(data)
            return self._run(path, Path(folder, "said"))

    def _run(self, path: Path, said: Path) -> Outcome:
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            self._be_child(path, said, writer)
        os.close(writer)
        with open(reader, "rb", buffering=0) as answer:
            reason = self._wait(child, answer)
            if reason:
                os.kill(child, signal.SIGKILL)
            told = b"" if reason else answer.read()
        _, status = os.waitpid(child, 0)
        if reason:
            return Outcome(reason, f"{reason}: killed")
        if os.WIFSIGNALED(status):
            name = signal.Signals(os.WTERMSIG(status)).name
            return Outcome(
                "time" if name == "SIGXCPU" else name, f"{name}\n{said.read_text(errors='replace')[:DETAIL]}"
            )
        if not told:
            return Outcome("exit", f"ended with status {os.waitstatus_to_exitcode(status)} and no answer")
        kind, _, detail = told.decode().partition("\n")
        return Outcome(kind, detail)

    def _wait(self, child: int, answer: Any) -> str:
        """Wait for an answer. Returns the limit that was exceeded: "memory", "time", or "" for none."""
        before, deadline = resident(os.getpid()), time.monotonic() + self.wall_seconds
        while not select.select([answer], [], [], POLL_SECONDS)[0]:
            if resident(child) > before + self.megabytes * MEGABYTE:
                return "memory"
            if time.monotonic() > deadline:
                return "time"
        return ""

    def _be_child(self, path: Path, said: Path, writer: int) -> None:
        """Check the file within the limits and exit, the outcome in ``writer``, standard error in ``said``."""
        try:
            os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT), 2)
            faulthandler.enable(2)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            limit_address_space(ADDRESS_SPACE)
            resource.setrlimit(resource.RLIMIT_CPU, (self.cpu_seconds, self.cpu_seconds + 5))
            before = peak()
            warnings.simplefilter("error", RuntimeWarning)  # NumPy's, of overflows and invalid values
            try:
                told = self.check(path)
            except BaseException as error:
                told = f"{type(error).__name__}\n{''.join(traceback.format_exception(error))[-DETAIL:]}"
            if (taken := peak() - before) > self.megabytes * MEGABYTE:
                told = f"memory\n{taken:,} bytes at most"
            os.write(writer, told.encode(errors="replace"))
        finally:
            os._exit(0)


def limit_address_space(more: int) -> None:
    """Let this process allocate ``more`` bytes at most from now on, so that it cannot exhaust the machine."""
    has = int(Path("/proc/self/statm").read_text().split()[0]) * PAGE
    resource.setrlimit(resource.RLIMIT_AS, (has + more, has + more))


def resident(process: int) -> int:
    """Bytes of memory that a process holds; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def peak() -> int:
    """The most bytes that this process held at a time."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

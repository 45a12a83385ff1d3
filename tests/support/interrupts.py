"""Interrupt searches at every line and at random moments; ask each time whether the library still answers.

    python tests/support/interrupts.py --times 10000

The same thread has to give the right answers after an interrupt, and another thread too, within `PATIENCE`.
"""

import argparse
import contextlib
import faulthandler
import linecache
import os
import queue
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import networkx as nx
import numpy as np
from answers import GRID, of_searches, same

import rapids_bfs
from rapids_bfs import as_graph, betweenness, bfs, bfs_batch, kernels, validate
from rapids_bfs.generators import generate

PATIENCE = 300  # seconds: what comes at all comes at once, unless the machine is busy
OURS = tuple(str(Path(module.__file__).parent) for module in (rapids_bfs, kernels))
TRACED = (*OURS, contextlib.__file__, threading.__file__)


class Operations:
    """The operations to interrupt, by name; each gives the same answer at every call."""

    def __init__(self) -> None:
        self.wide, self.deep = generate("urand:17:2"), as_graph((GRID[:, 0], GRID[:, 1]), directed=True)
        self.small = generate("rmat:7")
        self.distributed = as_graph(generate("rmat:10"), devices="cpu:3")
        self.nx_graph = nx.karate_club_graph()
        self.found = bfs(self.deep, 0, engine="cpu")
        self.by_name: dict[str, Callable[[], object]] = {
            "bfs on threads": lambda: bfs(self.wide, [5, 6], engine="cpu").distances,
            "bfs on one thread": lambda: bfs(self.deep, 3, depth_limit=20, engine="cpu").distances,
            "deterministic bfs": lambda: bfs(self.deep, 3, deterministic=True, engine="cpu").predecessors,
            "sequential bfs": lambda: bfs(self.deep, 3, engine="cpu:sequential").distances,
            "batch, bit-parallel": lambda: bfs_batch(self.small, range(90), engine="cpu").distances,
            "batch, side by side": lambda: bfs_batch(self.deep, range(5), engine="cpu").distances,
            "summary": lambda: bfs_batch(self.small, range(70), keep="summary", engine="cpu").total,
            "on_batch": self._handed_over,
            "betweenness": lambda: betweenness(self.small, range(20), engine="cpu").round(6),
            "preparing": lambda: bfs(self.deep.replace(), 3, engine="cpu").distances,
            "preparing a batch": lambda: bfs_batch(self.small.replace(), range(90), engine="cpu").distances,
            "bfs, distributed": lambda: self._distributed(5),
            "preparing partitions": lambda: bfs(as_graph(self.small, devices="cpu:2"), 3).to("cpu").distances,
            "as_graph": lambda: as_graph((GRID[:, 1] * 7, GRID[:, 0] * 7)).targets,
            "as_graph of a CSR": lambda: as_graph(offsets=self.deep.offsets, targets=self.deep.targets).reverse.targets,
            "generate": lambda: generate("rmat:7").targets,
            "validate": lambda: np.array([str(validate(self.deep, self.found))]),
            "nx.bfs_edges": lambda: np.array(list(nx.bfs_edges(self.nx_graph, 0, backend="rapids_bfs"))),
            "nx, converting": lambda: np.array(list(nx.bfs_edges(self.nx_graph.copy(), 0, backend="rapids_bfs"))),
            "nx.local_efficiency": lambda: np.array([nx.local_efficiency(self.nx_graph, backend="rapids_bfs")]),
        }
        self.expected = {name: operation() for name, operation in self.by_name.items()}
        self.expected_searches = self._searches()

    def _handed_over(self) -> np.ndarray:
        rows = []
        bfs_batch(self.small, range(90), engine="cpu", on_batch=lambda _, some: rows.append(some.copy()))
        return np.concatenate(rows)

    def _distributed(self, source: int) -> np.ndarray:
        return bfs(self.distributed, source).to("cpu").distances

    def _searches(self) -> dict[str, object]:
        one = {name: bfs(getattr(self, name), 9, engine="cpu").distances for name in ("wide", "deep")}
        return of_searches(self.small) | one | {"distributed": self._distributed(1)}

    def is_right(self, name: str) -> bool:
        """Does the operation, and every kind of search, still give the answer that it gave before any interrupt?"""
        return np.array_equal(self.by_name[name](), self.expected[name]) and same(
            self._searches(), self.expected_searches
        )


class OtherThread:
    """A thread that lives as long as this process and calls the functions it is given."""

    def __init__(self) -> None:
        self.calls: queue.SimpleQueue[Callable[[], bool]] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[bool] = queue.SimpleQueue()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            self.answers.put(self.calls.get()())

    def __call__(self, call: Callable[[], bool]) -> bool:
        self.calls.put(call)
        with contextlib.suppress(queue.Empty):
            return self.answers.get(timeout=PATIENCE)
        return False


def stop() -> None:
    raise KeyboardInterrupt


def at_line(number: int, operation: Callable[[], object], act: Callable[[], object] = stop) -> int:
    """Run the operation with an interrupt at its line of this number, 0 for none; return how many lines it ran.
    Instead of the interrupt another function may ``act`` there, as a signal handler or a finalizer does.

    Python comes back to the line of a ``with`` at its end, just before it leaves the context. A trace function that
    raises there, or at the line of a ``try`` in its body, keeps it from being left. No signal is handled there, so that
    such lines are not counted.
    """
    lines = 0

    def apart() -> Iterator[object]:
        """A generator has a handled exception of its own: one raised at the end of an ``except`` leaves that behind."""
        yield operation()

    def trace(frame: FrameType, event: str, argument: object) -> Callable[..., object] | None:
        if not frame.f_code.co_filename.startswith(TRACED):
            return None
        entered = set()

        def at_event(frame: FrameType, event: str, argument: object) -> Callable[..., object]:
            nonlocal lines
            text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip()
            if event == "line" and frame.f_lineno not in entered and not text.startswith("try:"):
                lines += 1
                if lines == number:
                    act()
                if text.startswith("with "):
                    entered.add(frame.f_lineno)
            return at_event

        return at_event

    sys.settrace(trace)
    try:
        next(apart())
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    return lines


def at_random(seconds: float, operation: Callable[[], object]) -> bool:
    """Run the operation with an interrupt after this many seconds; was it there in time?"""
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        operation()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return True
    return False


def interrupt(signum: int, frame: object) -> None:
    raise KeyboardInterrupt


def run(times: int, seed: int = 0) -> Counter[str]:
    """Interrupt this many times, half of them at lines unless there are fewer; how often each operation was."""
    draw, operations, other = random.Random(seed), Operations(), OtherThread()
    interrupted: Counter[str] = Counter()

    def look(name: str, where: str) -> None:
        for who, ask in ("another", other), ("the same", lambda call: call()):
            if not ask(lambda: operations.is_right(name)):
                faulthandler.dump_traceback()
                print(f"{name} interrupted at {where}: {who} thread gives no or a wrong answer", flush=True)
                os._exit(1)
        interrupted[name] += 1

    lines = [(name, line + 1) for name, each in operations.by_name.items() for line in range(at_line(0, each))]
    for name, line in sorted(draw.sample(lines, min(times // 2, len(lines)))):
        at_line(line, operations.by_name[name])
        look(name, f"line {line}")

    signal.signal(signal.SIGALRM, interrupt)
    taken = {}
    for name, operation in operations.by_name.items():
        began = time.perf_counter()
        operation()
        taken[name] = time.perf_counter() - began
    while interrupted.total() < times:
        name = draw.choice(list(taken))
        if at_random(max(1e-6, draw.random() * taken[name]), operations.by_name[name]):
            look(name, "a random moment")
    return interrupted


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for name, count in run(arguments.times, arguments.seed).most_common():
        print(f"{count:6} {name}")

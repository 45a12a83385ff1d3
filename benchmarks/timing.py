"""Timers: how long calls take, one after another or in turns."""

import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from math import inf
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Any

Call = Callable[[], Any]


def clock(call: Call, wait: Call | None = None) -> tuple[float, Any]:
    """Seconds until ``call()`` and then ``wait()`` have returned, and the result of the call."""
    begin = perf_counter()
    outcome = call()
    if wait:
        wait()
    return perf_counter() - begin, outcome


def device_wait() -> Call:
    """A function that waits for the current CUDA device."""
    import cupy

    return lambda: cupy.cuda.Device().synchronize()


def one_by_one(calls: Sequence[Call], *, warm_s: float = 0.0, wait: Call | None = None) -> list[float]:
    """Milliseconds of each call. The first is repeated for ``warm_s`` before, since the clock of an idle GPU is low."""
    warm = perf_counter() + warm_s
    while perf_counter() < warm:
        calls[0]()
    return [1e3 * clock(call, wait)[0] for call in calls]


class Seconds(list[float]):
    """The times of several runs, as another program measured them."""


def run_gapbs(program: Path | str, *options: str, spin: bool = False) -> tuple[Seconds, str]:
    """The times that a GAPBS program prints, and its whole output. Its threads sleep where they wait, or ``spin``,
    which is faster if each has a core to itself."""
    waiting = {} if spin else {"OMP_WAIT_POLICY": "passive"}
    said = subprocess.run(
        [program, *options], check=True, capture_output=True, text=True, env=waiting | os.environ
    ).stdout
    return Seconds(float(each) for each in re.findall(r"Trial Time: +([\d.]+)", said)), said


def in_fair_turns(
    calls: Mapping[str, Call], seconds: float, least: int, long: float, failed: Callable[[str, Exception], None]
) -> dict[str, list[float]]:
    """Milliseconds of each run of each call, for this many seconds in all. The next call is always the one whose runs
    have taken the least time so far. Each has ``least`` runs, unless they take ``long`` seconds. A call that raises is
    left out. A call that measures itself returns `Seconds`."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    spent = dict.fromkeys(calls, 0.0)
    end = perf_counter() + seconds
    while waiting := [
        name for name in times if perf_counter() < end or (len(times[name]) < least and spent[name] < long)
    ]:
        name = min(waiting, key=spent.__getitem__)
        try:
            took, found = clock(calls[name])
        except Exception as error:  # another library's
            failed(name, error)
            del times[name]
            continue
        times[name] += [1e3 * each for each in (found if isinstance(found, Seconds) else [took])]
        spent[name] += took
    return times


def repeated(
    call: Call, most: int, *, enough_s: float = inf, least: int = 0, least_s: float = inf
) -> tuple[list[float], Any]:
    """Seconds of each run of ``call``, and the last result. There are at most ``most`` runs. No run starts once they
    have taken ``enough_s`` or, if there are fewer than ``least``, ``least_s``."""
    times: list[float] = []
    outcome = None
    while len(times) < most and sum(times) < (enough_s if len(times) >= least else least_s):
        took, outcome = clock(call)
        times.append(took)
    return times, outcome


def summary(times: Sequence[float]) -> dict[str, float]:
    """The median, the quartiles and the range."""
    low, _, high = quantiles(times, n=4, method="inclusive") if len(times) > 1 else (times[0],) * 3
    return {"median": median(times), "low": low, "high": high, "min": min(times), "max": max(times)}

"""The CPU engine beside other libraries: on two cores and on all, quiet, and with a busy process on each.

    python benchmarks/bench_cpu.py --json benchmarks/results/cpu_states.json --gapbs FOLDER

Measures the states that this machine has, each number of cores in a process of its own, and merges them into the JSON:
what another machine has measured stays, and so does what this one is not asked again. On a busy machine, where every
core has a process that does nothing but count, only our engine is asked, by all threads and by one. All who answer a
question take turns, the next is who has had the least time so far: a disturbance from outside meets all alike. Each
row has the median, the quartiles and the best, in milliseconds. FOLDER has GAPBS's programs bfs, bc and cc.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np

STATES = ("quiet", "busy")
LEAST = 3  # runs of each, unless one takes LONG
LONG = 2.0  # seconds
COUNT = "import os\nwhile os.getppid() == {}: pass"  # ends with its parent, whatever ends that


@contextmanager
def busy_cores(cores: list[int]) -> Iterator[None]:
    """A process on each of these cores that would like it for itself."""
    program = COUNT.format(os.getpid())
    running: list[subprocess.Popen[bytes]] = []
    try:
        for core in cores:
            running.append(subprocess.Popen([sys.executable, "-c", program]))
            os.sched_setaffinity(running[-1].pid, {core})
        sleep(0.3 if running else 0)  # until they have begun
        yield
    finally:
        for process in running:
            process.kill()
        for process in running:
            process.wait()


def measured(runs: dict[str, Any], seconds: float) -> dict[str, list[float]]:
    """Milliseconds of each run, for so many seconds in all."""
    from cpu_questions import Seconds

    times: dict[str, list[float]] = {name: [] for name in runs}
    spent = dict.fromkeys(runs, 0.0)
    end = perf_counter() + seconds
    while waiting := [
        name for name in times if perf_counter() < end or (len(times[name]) < LEAST and spent[name] < LONG)
    ]:
        name = min(waiting, key=spent.__getitem__)
        began = perf_counter()
        try:
            found = runs[name]()
        except Exception as error:  # another library's: the others go on
            print(f"{name}: {error!r}", file=sys.stderr)
            del times[name]
            continue
        took = perf_counter() - began
        times[name] += [1e3 * each for each in (found if isinstance(found, Seconds) else [took])]
        spent[name] += took
    return times


def summarized(times: list[float]) -> dict[str, float]:
    low, median, high = np.quantile(times, (0.25, 0.5, 0.75)).tolist()
    return {"best_ms": min(times), "low_ms": low, "median_ms": median, "high_ms": high, "runs": len(times)}


def measure(arguments: argparse.Namespace) -> None:
    """Measure the states of the cores that this process has; keep each question's rows at once."""
    import record
    from cpu_questions import QUESTIONS, Communicator, graph_of

    cores = sorted(os.sched_getaffinity(0))
    about = record.about()
    for spec, questions in QUESTIONS:
        chosen = {what: ask for what, ask in questions.items() if re.search(arguments.only, f"{spec} {what}")}
        if not chosen:
            continue
        graph = graph_of(spec)
        with tempfile.TemporaryDirectory() as folder:
            peers = Communicator(graph, Path(folder), arguments.gapbs)
            for what, ask in chosen.items():
                runs = ask(graph, peers)
                for name, run in runs.items():
                    if name.startswith("cpu"):
                        run()  # compiles, prepares, and fills caches
                for state in arguments.states:
                    busy = state == "busy"
                    asked = {name: run for name, run in runs.items() if not busy or name.startswith("cpu")}
                    with busy_cores(cores if busy else []):
                        times = measured(asked, arguments.seconds / (2 if busy else 1))
                    rows = [
                        {"graph": spec, "question": what, "asked": name} | summarized(each)
                        for name, each in times.items()
                    ]
                    for row in rows:
                        print(line(len(cores), state, row), flush=True)
                    merge(arguments.json, about, len(cores), state, rows)
        graph = peers = runs = asked = None
        gc.collect()


HEAD = f"{'cores':>5} {'state':6}{'graph':10}{'question':22}{'asked':22}"
HEAD += "".join(f"{each:>10}" for each in ("median", "low", "high", "best")) + f"{'runs':>6}"


def line(cores: int, state: str, row: dict[str, Any]) -> str:
    times = "".join(f"{row[each]:10.3f}" for each in ("median_ms", "low_ms", "high_ms", "best_ms"))
    return f"{cores:5} {state:6}{row['graph']:10}{row['question']:22}{row['asked']:22}{times}{row['runs']:6}"


def merge(path: Path | None, about: dict[str, Any], cores: int, state: str, rows: list[dict[str, Any]]) -> None:
    """Put the rows in the file, in the place of those of the same machine and state that answer the same questions."""
    if path is None:
        return
    states = json.loads(path.read_text())["states"] if path.exists() else []
    place = {"processor": about["machine"]["processor"], "cores": cores, "state": state}
    kept = next((each for each in states if place.items() <= each.items()), None)
    if kept is None:
        kept = place | {"rows": []}
        states.append(kept)
    answered = {(row["graph"], row["question"]) for row in rows}
    kept |= about
    kept["rows"] = [row for row in kept["rows"] if (row["graph"], row["question"]) not in answered] + rows
    text = json.dumps({"states": states}, indent=1)
    path.with_suffix(".new").write_text(text + "\n")
    path.with_suffix(".new").replace(path)


def table(path: Path) -> None:
    """Print the medians of all states as a table in Markdown."""
    states = json.loads(path.read_text())["states"]
    by_row: dict[tuple[str, str, str], dict[int, str]] = {}
    for column, state in enumerate(states):
        for row in state["rows"]:
            key = row["graph"], row["question"], row["asked"]
            rounded = float(f"{row['median_ms']:.3g}")
            by_row.setdefault(key, {})[column] = f"{rounded:,g}"
    heads = [f"{state['cores']} cores, {state['state']}" for state in states]
    print("|", " | ".join(["graph", "question", "asked", *heads]), "|\n" + "|---" * (3 + len(heads)) + "|")
    for key, medians in sorted(by_row.items(), key=lambda each: each[0][:2]):
        print("|", " | ".join([*key, *(medians.get(column, "") for column in range(len(heads)))]), "|")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    cores = sorted(os.sched_getaffinity(0))
    parser.add_argument("--cores", type=lambda text: [int(each) for each in text.split(",")], help="default: 2 and all")
    parser.add_argument("--states", type=lambda text: text.split(","), default=list(STATES))
    parser.add_argument("--seconds", type=float, default=1.0, help="for each question; half of it on busy cores")
    parser.add_argument("--only", default="", help="a regular expression: graphs and questions, as in 'rmat.*search'")
    parser.add_argument("--gapbs", type=Path, help="the folder of GAPBS's programs")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--table", action="store_true", help="measure nothing: print what the JSON has, in Markdown")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)  # with the cores of this process
    arguments = parser.parse_args()
    if arguments.table:
        table(arguments.json)
        return
    if arguments.here:
        measure(arguments)
        return
    print(HEAD, flush=True)
    for number in arguments.cores or sorted({min(2, len(cores)), len(cores)}, reverse=True):
        if number > len(cores):
            parser.error(f"this machine has {len(cores)} cores")
        subprocess.run(
            [sys.executable, __file__, *sys.argv[1:], "--here"],
            check=True,
            preexec_fn=partial(os.sched_setaffinity, 0, cores[:number]),
        )


if __name__ == "__main__":
    main()

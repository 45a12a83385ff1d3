"""The CPU: our engine beside other libraries, on two cores and on all, quiet and busy."""

import gc
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from time import sleep

from rapids_bfs import InputError

from .cases import Case, say
from .many_sources import drawn
from .record import ROOT, Record, about
from .tables import Table
from .timing import in_fair_turns, summary

MIN_RUNS = 3  # runs of each call, unless they take LONG_S
LONG_S = 2.0
COUNT = "import os\nwhile os.getppid() == {}: pass"  # ends with its parent, whatever ends that


def cpu(*, cores=(), states=("quiet", "busy"), seconds=1.0, only="", gapbs="") -> Iterator[Record]:
    """Measure each number of cores in a process of its own. Busy cores each run a process that only counts; there only
    our engine is measured, on all threads and on one. All engines take turns, so that outside disturbances affect them
    alike. The JSON file keeps the rows of other machines, and those of this machine that are not measured again."""
    available = sorted(os.sched_getaffinity(0))
    numbers = cores or tuple(sorted({min(2, len(available)), len(available)}, reverse=True))
    if max(numbers) > len(available):
        raise InputError(f"this machine has {len(available)} cores")
    options = {"states": states, "seconds": seconds, "only": only, "gapbs": gapbs}
    for number in numbers:
        yield from on_cores("benchmarks.cpu", options, available[:number])


def on_cores(module: str, options: Record, cores: list[int]) -> Iterator[Record]:
    """The records that a module prints when it runs in a process of its own on these cores."""
    command, use = [sys.executable, "-m", module, json.dumps(options)], partial(os.sched_setaffinity, 0, cores)
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, preexec_fn=use) as child:
        yield from map(json.loads, child.stdout or ())
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command)


def measure_here(states: list[str], seconds: float, only: str, gapbs: str) -> Iterator[Record]:
    """Measure on the cores of this process: a record for each question and state."""
    from .libraries import QUESTIONS, Others  # imports other libraries, which takes seconds

    cores = sorted(os.sched_getaffinity(0))
    facts = about()
    for spec, questions in QUESTIONS:
        chosen = {what: ask for what, ask in questions.items() if re.search(only, f"{spec} {what}")}
        if not chosen:
            continue
        graph = drawn(spec, 4)
        with tempfile.TemporaryDirectory() as folder:
            others = Others(graph, Path(folder), gapbs)
            for what, ask in chosen.items():
                runs = ask(graph, others)
                ours = {name: run for name, run in runs.items() if name.startswith("cpu")}
                for run in ours.values():
                    run()  # compiles, prepares, and fills caches
                for state in states:
                    say(f"{len(cores)} cores, {state}: {spec}, {what}")
                    asked = (ours, cores, seconds / 2) if state == "busy" else (runs, [], seconds)
                    rows = [{"graph": spec, "question": what} | row for row in _answers(*asked)]
                    place = {"processor": facts["machine"]["processor"], "cores": len(cores), "state": state}
                    yield facts | place | {"rows": rows}
        graph = others = runs = ours = None
        gc.collect()


def _answers(runs, cores, seconds):
    """A row for each engine, without the columns that name the question."""
    with busy_cores(cores):
        times = in_fair_turns(runs, seconds, MIN_RUNS, LONG_S, failed=lambda name, error: say(f"{name}: {error!r}"))
    for name, ms in times.items():
        facts = summary(ms)
        named = {"best_ms": "min", "low_ms": "low", "median_ms": "median", "high_ms": "high"}
        yield {"asked": name} | {name: facts[fact] for name, fact in named.items()} | {"runs": len(ms)}


@contextmanager
def busy_cores(cores) -> Iterator[None]:
    """A context in which a process keeps each of these cores busy."""
    with ExitStack() as running:
        for core in cores:
            process = running.enter_context(subprocess.Popen([sys.executable, "-c", COUNT.format(os.getpid())]))
            running.callback(process.kill)
            os.sched_setaffinity(process.pid, {core})
        sleep(0.3 if cores else 0)  # until they have begun
        yield


def place(kept: Record, new: Record) -> Record:
    """Replace the rows of the same machine and state that answer the same questions."""
    key = {name: new[name] for name in ("processor", "cores", "state")}
    answered = {(row["graph"], row["question"]) for row in new["rows"]}
    states = list(kept.get("states", []))
    at = next((at for at, each in enumerate(states) if key.items() <= each.items()), len(states))
    old = states[at]["rows"] if at < len(states) else []
    rows = [row for row in old if (row["graph"], row["question"]) not in answered] + new["rows"]
    states[at : at + 1] = [key | new | {"rows": rows}]
    return {"states": states}


def maker(processor: str) -> str:
    """The first word of a processor's name, such as "Intel(R) Xeon(R) Processor"."""
    return processor.split()[0].removesuffix("(R)")


def cpu_table(record: Record) -> Table:
    """The medians in all states."""
    by_row: dict[tuple[str, str, str], dict[int, float]] = {}
    for column, state in enumerate(record["states"]):
        for row in state["rows"]:
            by_row.setdefault((row["graph"], row["question"], row["asked"]), {})[column] = row["median_ms"]
    columns = range(len(record["states"]))
    heads = [f"{maker(state['processor'])}, {state['cores']} cores, {state['state']}" for state in record["states"]]
    return " | ".join(["graph | question | engine", *heads]), (
        [*key, *map(medians.get, columns)] for key, medians in sorted(by_row.items(), key=lambda each: each[0][:2])
    )


CASES = [
    Case("cpu", "our engine beside other libraries, quiet and busy", cpu, cpu_table, file="states", place=place),
]


if __name__ == "__main__":
    for found in measure_here(**json.loads(sys.argv[1])):
        print(json.dumps(found), flush=True)

"""Fuzz the readers: damaged and nasty files of every format, each read in a process of its own.

    python tests/fuzz/run.py --minutes 10
    python tests/fuzz/run.py --cases 2000 --seed 7 --format parquet
    python tests/fuzz/run.py --seed 7 --case 1234

A file must be read as a right graph, or be refused with one `InputError`. Any other file is minimised and kept in
tests/fuzz/found, which the tests read again. A case depends on the seed, its number and --format alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from random import Random

import server

server.run_on_one_thread()

import reading  # noqa: E402
from mutate import damaged  # noqa: E402
from nasty import GRAMMAR, nasty  # noqa: E402
from valid import Case, valid_files  # noqa: E402

FOUND = Path(__file__).parent / "found"
FORMATS = sorted({case.format for case in valid_files()} | set(GRAMMAR))
NASTY = 0.35  # fraction of cases made by the grammar
BOMBS = 0.02  # fraction of those that are bombs, which are slow
MAX_TRIES = 200  # to minimise a finding
LARGEST_KEPT = 1 << 20  # bytes


def made(seed: int, number: int, format: str | None = None) -> Case:
    """The case of this number."""
    rng = Random(f"{seed}:{number}:{format}")
    if format is None:
        format = "bomb" if rng.random() < BOMBS * NASTY else rng.choice([each for each in FORMATS if each != "bomb"])
    valid = [case for case in valid_files() if case.format == format]
    if not valid or (format in GRAMMAR and rng.random() < NASTY):
        return nasty(rng, format)
    return damaged(rng, rng.choice(valid))


def signature(outcome: server.Outcome) -> str:
    """What tells one finding from another: how it failed, and in which line of ours."""
    places = re.findall(r'File ".*?(rapids_bfs/[\w/]+\.py|reading\.py)", line (\d+)', outcome.detail)
    place = places[0 if outcome.kind.startswith("SIG") else -1] if places else ("", "")
    return f"{outcome.kind} {':'.join(place)}"


def smaller(fuzzer: server.Server, case: Case, outcome: server.Outcome) -> Case:
    """``case`` cut down as far as it still fails with the signature of ``outcome``."""
    tries, size = 0, len(case.data) // 2
    while size and tries < MAX_TRIES:
        at = 0
        while at < len(case.data) and tries < MAX_TRIES:
            less = replace(case, data=case.data[:at] + case.data[at + size :])
            tries += 1
            if signature(fuzzer.run(less.name, less.data)) == signature(outcome):
                case = less
            else:
                at += size
        size //= 2
    return case


def work(numbers: Iterator[int], arguments: argparse.Namespace, tell: Callable[[dict[str, object]], None]) -> None:
    """Run the cases of these numbers until time is up; ``tell`` each finding, and at the end the counts of outcomes."""
    server.limit_address_space(2 * server.ADDRESS_SPACE)  # for making the cases, which happens in this process
    fuzzer = server.Server(reading.read)
    counts: Counter[str] = Counter()
    known: set[str] = set()
    end = time.monotonic() + 60 * arguments.minutes if arguments.minutes else None
    for number in numbers:
        if end and time.monotonic() > end:
            break
        case = made(arguments.seed, number, arguments.format)
        outcome = fuzzer.run(case.name, case.data)
        counts[f"{case.format} {outcome.kind}"] += 1
        if not outcome.is_finding or signature(outcome) in known:
            continue
        known.add(signature(outcome))
        quick = outcome.kind not in ("time", "memory")
        case = smaller(fuzzer, case, outcome) if quick and arguments.keep else case
        kept = keep(case, outcome) if arguments.keep else None
        tell({"case": number, "name": case.name, "what": signature(outcome), "detail": outcome.detail, "kept": kept})
    tell({"counts": counts})


def keep(case: Case, outcome: server.Outcome) -> str | None:
    """Write a finding to `FOUND`, unless it is large. Returns its path, or None."""
    if len(case.data) > LARGEST_KEPT:
        return None
    FOUND.mkdir(exist_ok=True)
    digest = hashlib.sha256(signature(outcome).encode()).hexdigest()[:8]
    path = FOUND / f"{case.name.partition('.')[0]}-{outcome.kind}-{digest}.{case.name.partition('.')[2]}"
    path.write_bytes(case.data)
    return str(path)


def in_parallel(jobs: int, arguments: argparse.Namespace) -> Iterator[dict[str, object]]:
    """What ``jobs`` forked workers tell, which share the numbers round-robin."""
    with ExitStack() as streams:
        workers = []
        for job in range(jobs):
            reader, writer = os.pipe()
            if not (worker := os.fork()):
                with open(writer, "w", buffering=1) as stream:
                    numbers = iter(range(job, arguments.cases or sys.maxsize, jobs))
                    work(numbers, arguments, lambda told, stream=stream: print(json.dumps(told), file=stream))
                os._exit(0)
            os.close(writer)
            workers.append((worker, streams.enter_context(open(reader))))
        for worker, stream in workers:
            yield from map(json.loads, stream)
            if status := os.waitpid(worker, 0)[1]:
                raise SystemExit(f"a worker ended with status {status}")


def read_valid_files() -> None:
    """Read them here, so that forked children find kernels compiled and modules imported."""
    with tempfile.TemporaryDirectory() as folder:
        for case in valid_files():
            path = Path(folder, case.name)
            path.write_bytes(case.data)
            if reading.read(path) == "refused":
                raise SystemExit(f"{case.name}, a valid file, is refused")


def show(arguments: argparse.Namespace) -> int:
    """Print the outcome of each file, or of the case, named on the command line."""
    cases = [Case("", path.name, path.read_bytes()) for path in arguments.files]
    if not cases:
        cases = [made(arguments.seed, arguments.case, arguments.format)]
        print(f"{cases[0].name}, {len(cases[0].data):,} bytes: {cases[0].data[:1000]!r}")
    fuzzer = server.Server(reading.read)
    outcomes = [fuzzer.run(case.name, case.data) for case in cases]
    for case, outcome in zip(cases, outcomes, strict=True):
        print(f"{case.name}: {outcome.kind} {outcome.detail}")
    return any(outcome.is_finding for outcome in outcomes)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--cases", type=int, help="as many at most")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--case", type=int, metavar="NUMBER", help="this one alone, shown")
    parser.add_argument("--format", choices=FORMATS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", action=argparse.BooleanOptionalAction, default=True, help="keep what is found")
    parser.add_argument("files", nargs="*", type=Path, help="read these instead")
    arguments = parser.parse_args()
    reading.prepare()
    read_valid_files()
    if arguments.case is not None or arguments.files:
        return show(arguments)
    print(f"seed {arguments.seed}", flush=True)
    began, counts, findings = time.monotonic(), Counter[str](), 0
    for told in in_parallel(arguments.jobs, arguments):
        if isinstance(more := told.get("counts"), dict):
            counts.update(more)
            continue
        findings += 1
        print(
            f"FOUND {told['what']}: case {told['case']}, {told['name']}, kept {told['kept']}\n{told['detail']}",
            flush=True,
        )
    print("\n".join(f"{count:8,} {kind}" for kind, count in sorted(counts.items())))
    print(f"{counts.total():,} cases, {findings} findings, {time.monotonic() - began:.0f} s, seed {arguments.seed}")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())

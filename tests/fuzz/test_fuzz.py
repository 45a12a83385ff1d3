"""Damaged and nasty files are read as right graphs or refused; and the fuzzer finds what it is made to find."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from questions import ASK
from reading import check_graph, check_message
from valid import valid_files

from rapids_bfs import as_graph

FOLDER = Path(__file__).parent
FOUND = sorted((FOLDER / "found").glob("*"))
FORMATS = {case.format for case in valid_files()}


def run(*arguments: object) -> str:
    """The output of a Python program that must end well."""
    command = [sys.executable, *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=FOLDER)
    assert ended.returncode == 0, f"{ended.stdout[-5000:]}\n{ended.stderr[-5000:]}"
    return ended.stdout


def test_damaged_and_nasty_files() -> None:
    """500 cases of all formats, of which some of each are still graphs and some are refused."""
    output = run("run.py", "--cases", 500, "--seed", 1, "--no-keep")
    assert "500 cases, 0 findings" in output
    for format in FORMATS:
        assert re.search(rf"\d {format} refused", output)
        assert re.search(rf"\d {format} (graph|result)", output)


def test_odd_questions() -> None:
    """400 questions, of which some of each kind are answered and some are refused."""
    output = run("questions.py", "--cases", 400)
    assert "400 cases, 0 findings" in output
    for name in ASK:
        assert re.search(rf"\d {name} answered", output)
        assert re.search(rf"\d {name} refused", output)


@pytest.mark.skipif(not FOUND, reason="nothing was found")
def test_what_was_found_before() -> None:
    run("run.py", *FOUND)


FAULTS = {
    "pass": "fine",
    "raise ValueError": "ValueError",
    "raise SystemExit": "SystemExit",
    "assert False": "AssertionError",
    "faulthandler._sigsegv()": "SIGSEGV",
    "os.abort()": "SIGABRT",
    "os._exit(0)": "exit",
    "time.sleep(100)": "time",
    "while True: pass": "time",
    "bytearray(b'1' * (200 << 20)); time.sleep(1000)": "memory",
    "len(b'1' * (200 << 20))": "memory",
    "np.array([1e10]).astype(np.int32)": "RuntimeWarning",
}

SERVE = """
import faulthandler, json, os, time
import numpy as np
from server import Server

def check(path):
    exec(path.read_text())
    return "fine"

found = {}
for fault in FAULTS:
    wall_seconds = 3 if fault.startswith("time.sleep") else 300
    cpu_seconds = 1 if fault.startswith("while") else 300
    server = Server(check, cpu_seconds=cpu_seconds, wall_seconds=wall_seconds, megabytes=100)
    outcomes = [server.run("a.txt", fault.encode()), Server(check, megabytes=100).run("a.txt", b"")]
    found[fault] = [(outcome.kind, outcome.is_finding) for outcome in outcomes]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list[list[object]]]:
    """Of each fault, and of the case after it."""
    return json.loads(run("-c", SERVE.replace("FAULTS", repr([*FAULTS]))))


@pytest.mark.parametrize("fault", FAULTS)
def test_the_server_sees_every_fault(fault: str, outcomes: dict[str, list[list[object]]]) -> None:
    """Each is seen, and the next case runs as if nothing had been."""
    expected = FAULTS[fault]
    assert outcomes[fault] == [[expected, expected != "fine"], ["fine", False]]


@pytest.mark.parametrize(
    "changes",
    [
        {"offsets": np.array([0, 2, 1, 3], np.int32)},
        {"offsets": np.array([0, 1, 2, 4], np.int32)},
        {"targets": np.array([1, 0, 3], np.int32)},
        {"targets": np.array([1, -1, 2], np.int32)},
        {"targets": np.array([1, 0, 2])},
        {"directed": False, "targets": np.array([1, 2, 2], np.int32)},
        {"directed": 1},
        {"labels": np.array([5, 5, 7])},
        {"labels": np.array([5, 4, 7])},
        {"labels": np.array([5, 7])},
        {"labels": np.array(["a", "b", "a"], object)},
        {"labels": np.array(["a", "b", None], object)},
        {"columns": ("u",)},
    ],
)
def test_a_wrong_graph_is_seen(changes: dict[str, object]) -> None:
    graph = as_graph(([0, 1, 2], [1, 0, 2]))
    check_graph(graph)
    vars(graph).update(changes)  # behind the back of the constructor, which would refuse them
    with pytest.raises(AssertionError):
        check_graph(graph)


@pytest.mark.parametrize("message", ["no name", "a.txt: one\ntwo\nthree", "a.txt: " + "x" * 1000])
def test_a_bad_message_is_seen(message: str) -> None:
    check_message("a.txt, line 1: short", Path("a.txt"))
    with pytest.raises(AssertionError):
        check_message(message, Path("a.txt"))

"""The program that measures, on tiny graphs, and the tables of README and docs that it renders."""

import json
import re
import sys

import networkx as nx
import pytest
from readme import README, ROOT, SITE

sys.path.append(str(ROOT))  # behind what is installed

from benchmarks import __main__ as program
from benchmarks import cases, cpu
from benchmarks.record import RESULTS, read
from benchmarks.tables import MEASURED, markdown, pages, rendered
from benchmarks.timing import Seconds, in_fair_turns, repeated, summary

PAGE = SITE / "benchmarks.md"
KEPT = sorted(RESULTS.glob("*.json"))
MEASURED_PAGES = [page for page in pages() if MEASURED.search(page.read_text())]


def test_list_names_every_case_and_what_it_needs(capsys):
    assert program.main(["--list"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines.keys() == program.CASES.keys()
    assert all(need in lines[name] for name, case in program.CASES.items() for need in case.needs)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "invalid choice: 'nonsense'"),
        ([], "name a case"),
        (["--all"], "--json-folder"),
        (["batch-cpu", "--json", "/no/folder/x.json"], "no folder /no/folder"),
        (["fast"], "fast cannot run here: it needs GPU: none"),
    ],
)
def test_what_cannot_be_done_is_said(arguments, said, monkeypatch, capsys):
    monkeypatch.setitem(cases.NEEDS, "GPU", lambda: "none")
    with pytest.raises(SystemExit, match="2"):
        program.main(arguments)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", program.CASES)
def test_help(name, capsys):
    with pytest.raises(SystemExit, match="0"):
        program.main([name, "--help"])
    assert "--json FILE" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["batch-cpu", "rmat:6"],
        ["filters-cpu", "rmat:8"],
        ["networkx", "--nodes", "40", "--small-nodes", "20"],
        ["cpu", "--only", "karate", "--seconds", "0.01", "--cores", "1"],
        ["suite", "--scales", "4", "--engines", "cpu,cpu:sequential,scipy", "--sources", "1"],
        ["engines", "rmat:6", "--engines", "cpu,scipy", "--sources", "2"],
        ["model", "--largest", "8", "--ranks", "16", "--sources", "1"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_case_writes_its_record_and_prints_its_table(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(nx.config, "warnings_to_ignore", set())
    path = tmp_path / "found.json"
    assert program.main([*arguments, "--json", str(path)]) == 0
    record = read(path)
    about = record["states"][0] if "states" in record else record
    assert {"date", "machine", "versions"} <= about.keys()
    assert markdown(program.CASES[arguments[0]].table(record)) in capsys.readouterr().out


def test_a_suite_with_other_threads_is_measured_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    arguments = ["suite", "--scales", "2", "--engines", "scipy", "--sources", "1"]
    for threads in ("1", "2"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        assert program.main([*arguments, "--json", str(tmp_path / "found.json")]) == 0
    assert len(list((tmp_path / "rapids_bfs" / "benchmarks").iterdir())) == 2


def test_bad_input_is_one_line(capsys):
    assert program.main(["batch-cpu", "nonsense"]) == 1
    assert capsys.readouterr().err.startswith("batch-cpu: ")


def test_all_skips_what_the_machine_lacks(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(cases.NEEDS, "GPU", lambda: "none")
    monkeypatch.setattr(program, "CASES", {name: case for name, case in program.CASES.items() if "GPU" in case.needs})
    assert program.main(["--all", "--json-folder", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(program.CASES)
    assert all("skipped, it needs" in line for line in lines)
    assert list(tmp_path.iterdir()) == []


def case_of(path):
    """The case that wrote a file."""
    machine, _, name = path.stem.partition("_")
    cases = [case for case in program.CASES.values() if bool(case.needs) == (machine != "cpu")]
    return {case.file or case.name.replace("-", "_"): case for case in cases}[name]


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_every_result_is_rendered(path):
    for view in case_of(path).tables().values():
        assert markdown(view(read(path))).count("\n") > 2


@pytest.mark.parametrize("page", MEASURED_PAGES, ids=lambda page: page.stem)
def test_measured_tables_are_those_of_their_json(page):
    text = page.read_text()
    assert rendered(text, program.VIEWS) == text, "python -m benchmarks --render"
    table = MEASURED.search(text)[0]
    changed = re.sub(r"\d+\.\d+", "0.125", table, count=1)
    assert changed != table
    assert rendered(text.replace(table, changed), program.VIEWS) == text


# A page, a sentence in it, and for each figure its table, file, first cells and column.
MEANS = "cugraph-means", "h200_cugraph.json"
ONE_LAUNCH = "several-gpus", "h200x2_distributed.json"
DASK = "dask", "h200x2_dask_rmat26.json"
GTEPS, FRAME, SEARCH = "harmonic mean, GTEPS", "frame to graph, s", "search, median ms"
OF_DASK = [(*DASK, [f"`{who}`"], what) for who in ("rapids_bfs", "cugraph.dask") for what in (FRAME, SEARCH)]
ON_TWO, ON_FOUR = (
    ("graph500-gpus", "h200x2_graph500_29.json", ["29"]),
    ("graph500-4-gpus", "h200x4_graph500_30.json", ["30"]),
)
BUILD_AND_MEAN = "construction, s", GTEPS
CPU, PARENTS = ("cpu", "cpu_states.json"), ("cpu", "GAPBS, parents")
PARENTS_SPINNING = ("cpu", "GAPBS, parents, spinning")
FASTEST = "fast", "h200_fast.json", ["`rmat:20`"], "median ms"
SENTENCES = [
    (README, "Four H200 search `rmat:30`, 17 billion edges, at {} GTEPS", [(*ON_FOUR, GTEPS)]),
    (
        README,
        "They search `rmat:28` at {} GTEPS, two at {}, one at {};",
        [
            ("several-gpus", "h200x4_distributed.json", ["`rmat:28`", "4, one launch"], GTEPS),
            *((*ONE_LAUNCH, ["`rmat:28`", way], GTEPS) for way in ("2, one launch", "one GPU")),
        ],
    ),
    (README, "becomes a graph in {} s, and a search takes {} ms; `cugraph.dask` takes {} s and {} ms", OF_DASK),
    (
        README,
        "as `cugraph.bfs`, {} times as fast (geometric mean over seven graphs), and {} times as fast as the faster of "
        "pylibcugraph's two modes ({} and {} with all ids 0..n-1)",
        [
            (*MEANS, [ids], f"drop-in over {peer}")
            for ids in ("ids with gaps", "ids 0..n-1")
            for peer in ("cugraph", "best pylibcugraph")
        ],
    ),
    (
        README,
        "`cpu` searches `urand:20` in {} ms (GAPBS {}, SciPy {}); on two cores of another machine in {} ({}, {}), "
        "and `rmat:20` in {} ({}, {}).",
        [
            *((*CPU, ["urand:20", "search", who], "Intel, 16 cores, quiet") for who in (*PARENTS_SPINNING, "scipy")),
            *((*CPU, ["urand:20", "search", who], "AMD, 2 cores, quiet") for who in (*PARENTS, "scipy")),
            *((*CPU, ["rmat:20", "search", who], "AMD, 2 cores, quiet") for who in (*PARENTS, "scipy")),
        ],
    ),
    (
        SITE / "index.md",
        "On one H200 it is **{} times as fast as `cugraph.bfs`**",
        [("engines-gpu", "h200_rapids_rmat20.json", ["`cupy`"], "speed-up over cugraph")],
    ),
    (SITE / "how-it-works.md", "(`rmat:20`) in {} ms on an H200", [FASTEST]),
    (
        SITE / "guide" / "several-devices.md",
        "of scale 29 at {} GTEPS, and four that of scale 30 at {}; they build it in {} and {} s",
        [(*ran, column) for column in (GTEPS, "construction, s") for ran in (ON_TWO, ON_FOUR)],
    ),
    (
        SITE / "guide" / "several-devices.md",
        "`grid:1024` takes {} ms instead of {} in one launch, and {} on one GPU",
        [
            (*ONE_LAUNCH, ["`grid:1024`", way], "median ms")
            for way in ("2, gathered on one", "2, one launch", "one GPU")
        ],
    ),
    (
        SITE / "guide" / "several-devices.md",
        "becomes a graph in {} s, and a search takes {} ms; `cugraph.dask` takes {} s and {} ms",
        OF_DASK,
    ),
    (
        PAGE,
        "Construction took {} s; the harmonic mean is {} GTEPS",
        [("graph500", "h200_graph500_26.json", ["26"], each) for each in BUILD_AND_MEAN],
    ),
    (
        PAGE,
        "Of the {} µs of a drop-in call on `rmat:20`, the search takes {}; `rapids_bfs.bfs` takes {}",
        [
            ("dropin", "h200_dropin.json", ["ways to search rmat:20", way], "µs")
            for way in ("drop-in", "prepared search", "bfs")
        ],
    ),
    (
        PAGE,
        "Two H200 build scale 29, 537 million vertices, in {} s; the harmonic mean is {} GTEPS.",
        [(*ON_TWO, each) for each in BUILD_AND_MEAN],
    ),
    (PAGE, "Four build scale 30 in {} s; the mean is {} GTEPS.", [(*ON_FOUR, each) for each in BUILD_AND_MEAN]),
    (
        PAGE,
        "10,000 ego graphs of 2 hops of `rmat:20` take `cupy` {} s, and a loop over `cugraph.ego_graph` {}",
        [
            ("ego-graphs", "h200_ego_graphs.json", ["`rmat:20`"], column)
            for column in ("`cupy`, s", "`cugraph.ego_graph` in a loop, s")
        ],
    ),
    (
        PAGE,
        "on `road:14`, where it is {} times as fast as SciPy",
        [("suite-speed-ups", "cpu_suite_synthetic.json", ["`road:14`"], "`scipy`")],
    ),
    (
        PAGE,
        "At scale 22, `cpu` is {} times as fast as SciPy",
        [("suite-speed-ups", "cpu_suite_22.json", ["geometric mean"], "`scipy`")],
    ),
]


def figure_of(view, file, row, column):
    head, rows = program.VIEWS[view](read(RESULTS / file))
    place = [name.strip() for name in head.split("|")].index(column)
    return next(each[place] for each in map(list, rows) if each[: len(row)] == row)


@pytest.mark.parametrize(("page", "sentence", "figures"), SENTENCES, ids=lambda each: getattr(each, "stem", None))
def test_figures_in_sentences_are_those_of_their_json(page, sentence, figures):
    """Rounded to as many digits as the sentence has."""
    pattern = re.escape(sentence).replace(r"\{\}", r"([\d.,]*\d)")
    written = re.search(pattern, " ".join(page.read_text().split())).groups()
    decimals = [len(each.partition(".")[2]) for each in written]
    right = [f"{figure_of(*each):,.{digits}f}" for each, digits in zip(figures, decimals, strict=True)]
    assert list(written) == right


@pytest.mark.parametrize(("page", "others"), [(README, 1), (PAGE, 0)], ids=["README", "benchmarks"])
def test_every_table_is_rendered(page, others):
    """But that of the engines in README."""
    text = page.read_text()
    assert page in MEASURED_PAGES
    assert len(re.findall(r"^\|---", text, re.MULTILINE)) == len(MEASURED.findall(text)) + others


def test_every_result_is_on_the_page_of_benchmarks_with_its_date():
    paragraphs = PAGE.read_text().split("\n\n")
    for path in KEPT:
        [text, *_] = [each for each in paragraphs if f"{{download}}`JSON <../benchmarks/results/{path.name}>`" in each]
        dates = re.findall(r'"(?:date|started)": "(\d{4}-\d\d-\d\d)', path.read_text())
        assert not dates or any(date in text for date in dates), path.name


def test_columns_of_figures_are_aligned_right():
    table = (
        "graph | ms | range | GPUs",
        [["`a`", 1.5, "1 to 2", 1], ["`b`", None, "2 to 3", "2, NCCL"], ["c", 2, "3", "one"]],
    )
    assert markdown(table).splitlines()[1] == "|---|---:|---:|---|"


def test_a_file_keeps_what_other_machines_have_measured():
    def found(cores, ms):
        row = {"graph": "karate", "question": "search", "asked": "cpu", "median_ms": ms}
        return {"processor": "P", "cores": cores, "state": "quiet", "date": "today", "rows": [row]}

    record = {}
    for each in (found(2, 1.0), found(16, 2.0), found(2, 3.0)):
        record = cpu.place(json.loads(json.dumps(record)), each)
    assert [(each["cores"], [row["median_ms"] for row in each["rows"]]) for each in record["states"]] == [
        (2, [3.0]),
        (16, [2.0]),
    ]


def test_turns_are_fair_and_leave_out_who_fails():
    failed = []
    calls = {"a": lambda: Seconds([0.001, 0.002]), "b": lambda: None, "c": lambda: 1 / 0}
    times = in_fair_turns(calls, 0, 3, 2.0, failed=lambda name, error: failed.append(name))
    assert times["a"][:2] == [1.0, 2.0]
    assert len(times["b"]) == 3
    assert failed == ["c"]


def test_repeated_and_summary():
    assert len(repeated(lambda: 7, 5)[0]) == 5
    assert repeated(lambda: 7, 5, enough_s=0.0, least=0)[1] is None
    assert summary([4.0, 1.0, 3.0, 2.0, 5.0]) == {"median": 3.0, "low": 2.0, "high": 4.0, "min": 1.0, "max": 5.0}
    assert summary([2.0])["low"] == 2.0

"""Measure one case, or all that this machine can measure; render the tables of README and docs from what was kept.

examples:
  python -m benchmarks --list
  python -m benchmarks cpu --only 'wordnet.*search' --json states.json
  python -m benchmarks fast rmat:20 grid:2048 --sources 8
  python -m benchmarks fast --help
  python -m benchmarks --all --json-folder benchmarks/results
  python -m benchmarks --render
"""

import argparse
import inspect
import subprocess
import sys
from pathlib import Path

from rapids_bfs import InputError

from . import (
    commands,
    cpu,
    distributed,
    filters,
    functions,
    gpu,
    many_sources,
    model,
    neighborhoods,
    nx_backend,
    rapids,
    suite,
    workers,
)
from .cases import Case, WrongAnswerError
from .record import RESULTS, ROOT, about, read, write
from .tables import markdown, pages, rendered

FAMILIES = (
    commands,
    filters,
    gpu,
    rapids,
    functions,
    many_sources,
    neighborhoods,
    nx_backend,
    cpu,
    distributed,
    model,
    suite,
    workers,
)
CASES = {case.name: case for family in FAMILIES for case in family.CASES}
VIEWS = {name: view for case in CASES.values() for name, view in case.tables().items()}
PICTURE = RESULTS / "h200_rapids_rmat20.png"  # of the JSON file beside it
HELP = {
    "cores": "how many, such as 2,16; default: two and all",
    "engines": "such as cupy,numba-cuda",
    "gaps": "each graph is a cuDF list of its edges in random order, whose ids have gaps",
    "gapbs": "the folder of GAPBS's programs bfs, bc and cc",
    "gpus": "how many, or their ordinals as in 0,0",
    "only": "a regular expression: graphs and questions, as in 'rmat.*search'",
    "pool": "RMM has a pool",
    "roots": "0: 64 on rmat, else 16",
    "scales": "of the graphs that are generated",
    "seconds": "for each question; half of it on busy cores",
    "too_large": "the graph is made on the host, and never put on the device",
}


def add_options(parser: argparse.ArgumentParser, case: Case) -> None:
    """Add an option for each argument of the function that measures, with its default; graphs are positional."""
    for name, parameter in inspect.signature(case.measure).parameters.items():
        default, option = parameter.default, f"--{name.replace('_', '-')}"
        shown = ",".join(default) if isinstance(default, tuple) else default
        text = HELP.get(name, "") + (f" (default: {shown})" if shown not in ("", False) else "")
        if name in ("graph", "graphs"):
            parser.add_argument(
                name, nargs="?" if name == "graph" else "*", default=default, metavar="GRAPH", help=text
            )
        elif isinstance(default, bool):
            parser.add_argument(option, action=argparse.BooleanOptionalAction, default=default, help=text)
        elif name == "cores":
            parser.add_argument(option, type=lambda text: tuple(map(int, text.split(","))), default=(), help=text)
        else:
            kind = (lambda text: tuple(text.split(","))) if isinstance(default, tuple) else type(default)
            parser.add_argument(option, type=kind, default=default, metavar="VALUE", help=text)


def run(case: Case, options: dict, path: Path | None) -> None:
    """Measure, write each record as soon as it is complete, and print the tables."""
    facts, content = about(), read(path) if path else {}
    for found in case.measure(**options):
        content = case.place(content, facts | found)
        if path:
            write(path, content)
    for view in case.tables().values():
        print(markdown(view(content)))


def run_all(folder: Path) -> int:
    """Measure each case that this machine can, in a process of its own; return 1 if one failed."""
    failed = 0
    for name, case in CASES.items():
        reason, path = case.lacks(), folder.resolve() / case.file_here()
        print(f"{name}: {f'skipped, {reason}' if reason else path}", flush=True)
        if not reason:
            command = [sys.executable, "-m", "benchmarks", name, "--json", str(path)]
            failed |= subprocess.run(command, cwd=ROOT).returncode
    return int(failed != 0)


def render() -> None:
    """Rewrite the measured tables of README and docs."""
    for page in pages():
        text = page.read_text()
        if (fresh := rendered(text, VIEWS)) != text:
            page.write_text(fresh)
            print(page)


def draw() -> None:
    """Redraw the picture of README."""
    from rapids_bfs.report.plots import plot_comparison

    plot_comparison(read(PICTURE.with_suffix(".json"))).savefig(PICTURE, dpi=120)


def parser() -> argparse.ArgumentParser:
    description, _, examples = (__doc__ or "").partition("\n\n")
    shape = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    parser = argparse.ArgumentParser("python -m benchmarks", description=description, epilog=examples, **shape)
    actions = parser.add_mutually_exclusive_group()
    actions.add_argument("--list", action="store_true", help="name the cases, and what each needs")
    actions.add_argument("--all", action="store_true", help="measure every case that this machine can")
    actions.add_argument("--render", action="store_true", help="write the measured tables of README and docs anew")
    actions.add_argument("--draw", action="store_true", help="draw the picture of README anew")
    parser.add_argument("--json-folder", type=Path, metavar="FOLDER", help="where --all writes")
    cases = parser.add_subparsers(dest="case", metavar="CASE", help="one of --list")
    for case in CASES.values():
        text = getattr(case.measure, "func", case.measure).__doc__
        one = cases.add_parser(case.name, description=f"{case.line[0].upper()}{case.line[1:]}. {text}")
        add_options(one, case)
        one.add_argument("--json", type=Path, metavar="FILE", help="where to keep what is measured")
    return parser


def main(arguments: list[str] | None = None) -> int:
    asked = parser()
    options = vars(asked.parse_args(arguments))
    names = ("list", "render", "draw", "all", "json_folder", "case")
    listing, rendering, drawing, everything, folder, name = map(options.pop, names)
    case = CASES.get(name)
    for each in CASES.values() if listing else ():
        print(f"{each.name:18}{each.line}" + (f" (needs {', '.join(each.needs)})" if each.needs else ""))
    if rendering:
        render()
    if drawing:
        draw()
    if listing or rendering or drawing:
        return 0
    if everything:
        if not (folder and folder.is_dir()):
            asked.error("--all needs --json-folder FOLDER, a folder that is there")
        return run_all(folder)
    if not case:
        asked.error("name a case: --list has them")
    path = options.pop("json")
    if reason := case.lacks():
        asked.error(f"{case.name} cannot run here: {reason}")
    if path and not path.resolve().parent.is_dir():
        asked.error(f"there is no folder {path.resolve().parent}")
    try:
        run(case, options, path)
    except (InputError, WrongAnswerError) as error:
        print(f"{case.name}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The program: its help, its version, and the classes of its commands."""

from __future__ import annotations

import re
from shutil import get_terminal_size
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from .. import __version__
from ..report.console import screen


class Command(TyperCommand):
    """A command whose help shows flags without ``<bool>``, and breaks paragraphs where the terminal ends alone."""

    def __init__(self, *args: Any, help: str | None = None, **options: Any) -> None:
        super().__init__(*args, help=re.sub(r"(?<!\n)\n(?=\S)", " ", help or ""), **options)

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain_flags(super().get_params(ctx))


class Group(TyperGroup):
    """As `Command`, for the program itself."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain_flags(super().get_params(ctx))


def _plain_flags(params: list[Any]) -> list[Any]:
    for each in params:
        if getattr(each, "is_flag", False):
            each.metavar = ""
    return params


app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="rich" if get_terminal_size().columns >= 80 else None,  # in fewer columns its panels cut words
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        screen.print(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Breadth-first search: compare every engine on your graph, or run one.

    Exit codes: 0 success, 1 wrong answer, 2 bad input, 71 device or driver
    failed, 130 interrupted by Ctrl-C, 70 bug in this program (please report
    the traceback).
    """

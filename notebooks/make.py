"""Make the notebooks from their sources, and run them: python notebooks/make.py [--no-run] [NUMBER ...]

A source is a Python file whose cells begin with ``# %%``; text is in comments after ``# %% [markdown]``. The outputs
are those of the machine that runs this.
"""

import argparse
import re
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
TIMEOUT = 600  # seconds for a cell
START = 120  # seconds for the kernel to start


def sources(numbers=()):
    """The source files, or those whose names begin with one of the numbers."""
    found = sorted((FOLDER / "sources").glob("*.py"))
    return [path for path in found if not numbers or path.name.partition("-")[0] in numbers]


def cells(source):
    """The cells of a source as pairs of "markdown" or "code" and text."""
    for marker, text in re.findall(r"^# %%( \[markdown\])?\n(.*?)(?=^# %%|\Z)", source, re.MULTILINE | re.DOTALL):
        lines = text.strip().splitlines()
        if marker:
            yield "markdown", "\n".join(re.sub(r"^# ?", "", line) for line in lines)
        else:
            yield "code", "\n".join(lines)


def notebook(path):
    """A source as a notebook that has not run."""
    make = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    made = nbformat.v4.new_notebook(
        cells=[make[kind](text, id=f"cell-{place}") for place, (kind, text) in enumerate(cells(path.read_text()))]
    )
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--no-run", action="store_true", help="leave the outputs empty")
    parser.add_argument("numbers", nargs="*", help="default: all of them")
    asked = parser.parse_args()
    for path in sources(asked.numbers):
        made = notebook(path)
        if not asked.no_run:
            options = {"timeout": TIMEOUT, "startup_timeout": START}
            NotebookClient(made, **options, resources={"metadata": {"path": FOLDER}}).execute()
        for cell in made.cells:
            cell.metadata.pop("execution", None)  # when each cell ran
            if "outputs" in cell:  # but for warnings, which name folders of the machine
                cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        made.metadata.pop("language_info", None)
        nbformat.write(made, FOLDER / f"{path.stem}.ipynb")
        print(f"{path.stem}.ipynb")


if __name__ == "__main__":
    main()

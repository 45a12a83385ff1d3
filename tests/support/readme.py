"""The code blocks of README.md and of the site. As a program it prints one of README's:

python tests/support/readme.py sh 0"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
SITE = ROOT / "docs"
MADE = {SITE / "_build", SITE / "notebooks"}  # when the site is built
PAGES = [README, *sorted(page for page in SITE.rglob("*.md") if not MADE & {*page.parents})]
START = SITE / "start.md"
BLOCK = re.compile(r"^```([a-z ]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def guide():
    """The pages of the user guide, in the order in which the site shows them."""
    index = SITE / "guide" / "index.md"
    names = re.search(r"^```\{toctree\}\n:hidden:\n\n(.*?)^```$", index.read_text(), re.MULTILINE | re.DOTALL)[1]
    return [index.with_name(f"{name}.md") for name in names.split()]


def blocks(language, page=README):
    """The blocks of a language, in their order."""
    return [block[2] for block in BLOCK.finditer(page.read_text()) if block[1] == language]


def steps(page, *languages):
    """The blocks of these languages in their order, each with its language and its first line's number.

    What the comment behind a line of Python says, ``x  # => 1``, is asserted.
    """
    says = re.compile(r"^( *)(.*)  # => (.*)$", re.MULTILINE)
    text = page.read_text()
    for block in BLOCK.finditer(text):
        if block[1] in languages:
            code = says.sub(lambda m: f"{m[1]}assert repr(({m[2]})) == {m[3]!r}, ({m[2]})", block[2])
            yield block[1], text.count("\n", 0, block.start(2)) + 1, code


if __name__ == "__main__":
    print(blocks(sys.argv[1])[int(sys.argv[2])], end="")

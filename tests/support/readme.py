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


def _pattern(language):
    return re.compile(rf"^```{language}\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language, page=README):
    """The blocks of a language, in their order."""
    return _pattern(language).findall(page.read_text())


def program(language, page):
    """The blocks of a language as one program, in which each line has the number that it has in the page.

    What the comment behind a line says, ``x  # => 1``, is asserted.
    """
    text = page.read_text()
    lines = [""] * (text.count("\n") + 1)
    for block in _pattern(language).finditer(text):
        first = text.count("\n", 0, block.start(1))
        code = block[1].splitlines()
        if "def test_" not in block[1]:
            lines[first : first + len(code)] = code
    says = re.compile(r"^( *)(.*)  # => (.*)$", re.MULTILINE)
    return says.sub(lambda m: f"{m[1]}assert repr(({m[2]})) == {m[3]!r}, ({m[2]})", "\n".join(lines))


if __name__ == "__main__":
    print(blocks(sys.argv[1])[int(sys.argv[2])], end="")

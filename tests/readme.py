"""The code blocks of README.md. As a program it prints one: python tests/readme.py sh 0"""

import re
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def blocks(language):
    """The blocks of a language, in their order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)


if __name__ == "__main__":
    print(blocks(sys.argv[1])[int(sys.argv[2])], end="")

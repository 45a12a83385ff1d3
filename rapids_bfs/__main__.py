"""``python -m rapids_bfs`` is the program ``rapids-bfs``."""

from .cli import main

if __name__ == "__main__":
    main()

"""Engines whose answers are wrong, or that the user interrupts."""

from contextlib import contextmanager

from rapids_bfs.comparison.runner import WARM_SEARCHES
from rapids_bfs.engines import register, registered, resolve
from rapids_bfs.engines.cpu import CPU
from rapids_bfs.engines.cpu.search import Sequential


@contextmanager
def registered_too(*engines):
    """A context in which these engines are registered besides the others."""
    for engine in engines:
        register(engine)
    try:
        yield
    finally:
        for engine in engines:
            del registered()[engine.name]
        resolve.cache_clear()


class Lying(CPU):
    """Says that every vertex is one step further than it is."""

    name = "lying"

    def prepare(self, graph, algorithm):
        class Liar(Sequential):
            def answer(self, found):
                distances, predecessors = super().answer(found)
                return distances + (distances > 0), predecessors

        return Liar(graph)


class Interrupting(CPU):
    """Ctrl-C during a search on the real graph: the third timed one, after those that warm up."""

    name = "interrupting"
    search_number = WARM_SEARCHES + 3

    def is_to_be_interrupted(self, graph):
        return True

    def prepare(self, graph, algorithm):
        number = self.search_number if self.is_to_be_interrupted(graph) else None

        class Interrupted(Sequential):
            searches = 0

            def search(self, sources, options):
                self.searches += 1
                if self.searches == number:
                    raise KeyboardInterrupt
                return super().search(sources, options)

        return Interrupted(graph)

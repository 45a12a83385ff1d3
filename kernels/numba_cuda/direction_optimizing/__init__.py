"""Direction-optimizing: the whole search in one cooperative launch.

The version to learn from: the same algorithm as in CUDA C++, phase by phase, to be read beside it. The header of
``kernels/cuda/direction_optimizing`` says what the algorithm is, what each array holds, what a level costs, and why no
race does harm. Here are the files in the order in which one reads them, then what differs.

=================  ===================================================================================================
``search``         which way each level goes; the beginning and the end
``top_down``       a level from a queue: equal runs of edges, one for each warp
``bottom_up``      a level over bitmaps: unvisited vertices probe their hub, the next four, their row
``level_bitmaps``  distances of levels without a queue, and the way back to one
``small_levels``   levels by one block or one cluster, with queues of ``chunks`` in shared memory
``prepare``        the hub and the next four of each vertex, once a graph
``parameters``     what the host gives, and what the blocks share; ``phase``, ``queue``: how they share it
=================  ===================================================================================================

What differs from the C++, because of Numba:

- Arrays come as raw pointers, and everything that a search needs as one named tuple, whose fields are the kernel's
  arguments one by one: the host keeps them in the same structure as for the C++.
- Integers are 64 bits wide, whatever goes into an operation; a variable that needs no more than 32 is cast wherever it
  is set. Counters are signed, since a signed and an unsigned integer of 64 bits would meet in a float.
- There are no arrays of structures: a frontier is ``vertices`` and ``edges``, an entry of the queue two elements, a
  chunk four, `state` elements of 64 bits. An array of a few registers is a `local_array`; the group of number k begins
  at its element ``4 * k``.
- Templates are functions that return functions. A device function cannot change a number of its caller: it returns it.

And by choice, since nobody waits for this one:

- There is no kernel for graphs of small rows (`search_small_rows`), and a chunk holds no neighbours.
- A dense level expands its edges in one pass: `passes` is ignored.
- A row is probed by one warp in a bottom-up level, however long it is.
- `alpha` counts the same whether the frontier has hubs or not.
- A top-down level probes the bitmap before the atomic if a warp's run takes more than one round of its lanes: 128
  edges, 256 in a dense level. The C++ never does.
- The in-neighbours for `hub` and `heavy` are found in five passes, one for each, in C++ in one.
- Deep levels are expanded by a cluster, not by all blocks. Its blocks meet at each level and write bits and
  predecessors there: `meet` is ignored.

Sources: S. Beamer, K. Asanovic, D. Patterson, Direction-optimizing breadth-first search, SC 2012, sections 3-5;
D. Merrill, M. Garland, A. Grimshaw, Scalable GPU graph traversal, PPoPP 2012, for the edge-balanced expansion.
"""

from .parameters import signatures
from .prepare import prepare
from .search import search

__all__ = ["prepare", "search", "signatures"]

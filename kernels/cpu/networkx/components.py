"""Components and two-colourings, in the order in which NetworkX finds them. One thread, O(n + m) each."""

import numpy as np

from ..atomics import prefetch
from ..bits import WORD, bit_of, word_of
from ..compiled import serial
from ..sequential import LATER, SOON


@serial
def components(offsets, targets, queue, starts):
    """Connected components: fill ``queue[n]`` component by component, each in the order of a search from its first
    vertex, and ``starts[n + 1]`` with where each begins; return how many there are. The graph must be symmetric."""
    n = len(queue)
    seen = np.zeros(n // WORD + 1, np.uint64)
    tail = count = 0
    for root in range(n):
        if seen[word_of(root)] & bit_of(root):
            continue
        starts[count] = head = tail
        count += 1
        seen[word_of(root)] |= bit_of(root)
        queue[tail] = root
        tail += 1
        while head < tail:
            vertex = queue[head]
            head += 1
            if head + LATER < tail:
                prefetch(offsets, queue[head + LATER])
                prefetch(targets, offsets[queue[head + SOON]])
            for edge in range(offsets[vertex], offsets[vertex + 1]):
                neighbor = targets[edge]
                word, bit = word_of(neighbor), bit_of(neighbor)
                if not seen[word] & bit:
                    seen[word] |= bit
                    queue[tail] = neighbor
                    tail += 1
    starts[count] = tail
    return count


@serial
def strong_components(offsets, targets, members, starts, at_once):
    """Strongly connected components in the order in which a depth-first search completes them; return how many.

    ``members[n]`` and ``starts[n + 1]`` are filled as by `components`, each component with its root first and the
    others in the reverse order of completion. With ``at_once`` the search ends when it has met all vertices and sees
    that those without a component make up the last one; they come in the order of completion then, and those that
    are not completed after them.
    Source: R. Tarjan, Depth-first search and linear graph algorithms, SIAM Journal on Computing 1(2), 1972;
    E. Nuutila, E. Soisalon-Soininen, On finding the strongly connected components in a directed graph, 1994.
    """
    n = len(members)
    found = np.zeros(n, np.int64)  # the time of discovery, from 1
    low = np.zeros(n, np.int64)
    done = np.zeros(n, np.bool_)
    edges = offsets[:-1].copy()  # the next edge of each vertex to look at
    path = np.empty(n, np.int64)
    open_vertices = np.empty(n, np.int64)  # completed, but their component is not
    time = depth = held = count = tail = 0
    for root in range(n):
        if found[root]:
            continue
        path[0] = root
        depth = 1
        time += 1
        found[root] = low[root] = time
        while depth:
            vertex = path[depth - 1]
            if edges[vertex] < offsets[vertex + 1]:
                neighbor = targets[edges[vertex]]
                edges[vertex] += 1
                if not found[neighbor]:
                    time += 1
                    found[neighbor] = low[neighbor] = time
                    path[depth] = neighbor
                    depth += 1
                elif not done[neighbor] and low[neighbor] < low[vertex]:
                    low[vertex] = low[neighbor]
                    if at_once and time == n and low[vertex] == found[root]:
                        starts[count] = tail
                        for i in range(held):
                            members[tail + i] = open_vertices[i]
                        for i in range(depth):
                            members[tail + held + i] = path[i]
                        starts[count + 1] = n
                        return count + 1
                continue
            depth -= 1
            if depth:
                low[path[depth - 1]] = min(low[path[depth - 1]], low[vertex])
            if low[vertex] < found[vertex]:
                open_vertices[held] = vertex
                held += 1
                continue
            starts[count] = tail
            count += 1
            done[vertex] = True
            members[tail] = vertex
            tail += 1
            while held and found[open_vertices[held - 1]] > found[vertex]:
                held -= 1
                done[open_vertices[held]] = True
                members[tail] = open_vertices[held]
                tail += 1
    starts[count] = tail
    return count


@serial
def two_colors(offsets, targets, expandable, order, colors):
    """Colour the neighbours of each vertex with the other of 0 and 1, depth first; the first of a component gets 1.

    Only vertices that are ``expandable[n]`` begin a component. Fills ``order[n]`` with the coloured vertices and
    ``colors[n]`` (-1: none); returns their number, or -1 if two neighbours got one colour.
    """
    colors[:] = -1
    stack = np.empty(len(colors), np.int64)
    tail = 0
    for root in range(len(colors)):
        if colors[root] >= 0 or not expandable[root]:
            continue
        colors[root] = 1
        order[tail] = root
        tail += 1
        stack[0] = root
        held = 1
        while held:
            held -= 1
            vertex = stack[held]
            for edge in range(offsets[vertex], offsets[vertex + 1]):
                neighbor = targets[edge]
                if colors[neighbor] == colors[vertex]:
                    return -1
                if colors[neighbor] < 0:
                    colors[neighbor] = 1 - colors[vertex]
                    order[tail] = neighbor
                    tail += 1
                    stack[held] = neighbor
                    held += 1
    return tail

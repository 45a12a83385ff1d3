"""The graph that every engine runs on, and the ids of its vertices."""

from .graph import Graph as Graph
from .graph import Vertices as Vertices

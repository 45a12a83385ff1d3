"""Engines: our searches and those of other libraries, behind one interface.

An engine is a class with the attributes and methods of `Engine`, named by an entry point of the group
``rapids_bfs.engines``. It is written ``name`` or ``name:algorithm``.
"""

from .base import DEFAULT as DEFAULT
from .base import OPTIONAL as OPTIONAL
from .base import BatchTraversal as BatchTraversal
from .base import Betweenness as Betweenness
from .base import Engine as Engine
from .base import NeighborhoodSearch as NeighborhoodSearch
from .base import Options as Options
from .base import Summary as Summary
from .base import Traversal as Traversal
from .base import kernel_limit as kernel_limit
from .base import marked as marked
from .entry_points import GROUP as GROUP
from .operations import batch_traversal as batch_traversal
from .operations import betweenness as betweenness
from .operations import bound_neighbors as bound_neighbors
from .operations import compile_for as compile_for
from .operations import components as components
from .operations import default_engines as default_engines
from .operations import path_between as path_between
from .operations import path_by_search as path_by_search
from .operations import paths_between as paths_between
from .operations import paths_one_by_one as paths_one_by_one
from .operations import prepare as prepare
from .operations import search as search
from .operations import unsupported as unsupported
from .registry import PREFERENCE as PREFERENCE
from .registry import EngineSpec as EngineSpec
from .registry import gpus as gpus
from .registry import register as register
from .registry import registered as registered
from .registry import require as require
from .registry import resolve as resolve

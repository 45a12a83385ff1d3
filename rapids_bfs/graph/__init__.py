"""The graph that every engine runs on, the ids of its vertices, and what its edges carry."""

from .edge_data import NO_EDGE_DATA as NO_EDGE_DATA
from .edge_data import Categories as Categories
from .edge_data import Dates as Dates
from .edge_data import EdgeData as EdgeData
from .graph import Graph as Graph
from .graph import Vertices as Vertices
from .masks import Mask as Mask
from .masks import checked_mask as checked_mask
from .masks import kept_mask as kept_mask
from .masks import require_unmasked as require_unmasked

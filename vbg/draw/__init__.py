"""Pictures of models, graphs and results; nothing here asks or decides."""

from vbg.draw.dot import to_pydot
from vbg.draw.networks import to_networkx

__all__ = ["to_networkx", "to_pydot"]

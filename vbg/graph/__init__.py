"""The bond graph of a model: vertices, vector bonds, and how parts write it."""

from vbg.graph.bondgraph import Bond, BondGraph, Vertex
from vbg.graph.expand import expand

__all__ = ["Bond", "BondGraph", "Vertex", "expand"]

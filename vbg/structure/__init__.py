"""Structural analysis: mobility, structural groups, redundancy, in polynomial time."""

from vbg.structure.analysis import analyse
from vbg.structure.count.report import Structure, analyse_topology
from vbg.structure.topology.findings import Finding
from vbg.structure.topology.textfile import parse_topology, read_topology, write_topology
from vbg.structure.topology.topology import Topology, from_adjacency, from_pairs

__all__ = [
    "Finding",
    "Structure",
    "Topology",
    "analyse",
    "analyse_topology",
    "from_adjacency",
    "from_pairs",
    "parse_topology",
    "read_topology",
    "write_topology",
]

"""Causal strokes on vector bonds, and the reasons for each."""

from vbg.causality.assign import assign, find_causal_conflicts, relieve
from vbg.causality.causal import CausalGraph, Conflict
from vbg.causality.loops import Loop

__all__ = ["CausalGraph", "Conflict", "Loop", "assign", "find_causal_conflicts", "relieve"]

"""From the causal graph to a system that can be evaluated."""

from __future__ import annotations

from typing import Any

from vbg.assemble.derive.derive import derive
from vbg.assemble.system import System
from vbg.causality import CausalGraph, assign
from vbg.graph import BondGraph, expand
from vbg.plumbing.callable_module import answers_calls
from vbg.plumbing.paused_collection import paused_collection

__all__ = ["System", "assemble"]


def assemble(source: Any) -> System:
    """The system of a CausalGraph, a BondGraph or a Model.

    Raises CausalityError or AssemblyError with the parts and remedies.
    """
    with paused_collection():
        if not isinstance(source, CausalGraph | BondGraph):
            source = expand(source)
        if isinstance(source, BondGraph):
            source = assign(source)
        return System(source, derive(source))


answers_calls(__name__, assemble)

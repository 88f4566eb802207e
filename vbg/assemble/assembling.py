"""From a model, its bond graph or its causal graph to a system."""

from __future__ import annotations

from vbg.assemble.derive.derive import derive
from vbg.assemble.derive.jumping import relieve_impulsive
from vbg.assemble.system import System
from vbg.causality import CausalGraph, assign
from vbg.errors import AssemblyError, UsageError
from vbg.graph import BondGraph, expand
from vbg.model import Model, Placed
from vbg.model.check import floating, led
from vbg.model.located import told_in
from vbg.plumbing.paused_collection import paused_collection


def assemble(source: CausalGraph | BondGraph | Placed | Model) -> System:
    """The system of a CausalGraph, a BondGraph, a Placed or a Model.

    Raises CausalityError or AssemblyError with the parts and remedies, UsageError for anything
    else than these.
    """
    if not isinstance(source, CausalGraph | BondGraph | Placed | Model):
        raise UsageError(
            f"a machine is asked for, a Model or what is made of it; got {type(source).__name__}. "
            "vbg.read(PATH) reads a model file."
        )
    with paused_collection():
        graph = expand(source) if isinstance(source, Model | Placed) else source
        causal = assign(graph) if isinstance(graph, BondGraph) else graph
        with told_in(causal.graph.placed.model):
            return _system(causal)


def _system(causal: CausalGraph) -> System:
    """With its equations; what has none for want of a reference node, or of a way to it but for
    given currents, is told so: its voltages follow from one another, an algebraic loop that no
    resistance in it solves."""
    try:
        causal = relieve_impulsive(causal)
        return System(causal, derive(causal))
    except AssemblyError as error:
        model, told = causal.graph.placed.model, {problem.where for problem in error.problems}
        loose = [
            problem
            for problem, parts in (*floating(model), *led(model))
            if problem.severity == "error" and told & parts
        ]
        if not loose:
            raise
        raise AssemblyError.of(loose) from error

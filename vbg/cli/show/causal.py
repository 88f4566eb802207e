"""`vbg show causal`: strokes, states, constraints, loops, conflicts; why a bond got its stroke."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_checked
from vbg.cli.parser import add, add_json, add_model
from vbg.cli.text import count, table

if TYPE_CHECKING:
    from vbg.causality import CausalGraph

PLACE = 20
CAUSALITIES = ("integral", "derivative")


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "causal",
        act=act,
        summary="causal strokes, states, constraint sources, loops, conflicts",
        detail="'|' stands at the end that receives the effort.\n"
        "Exit code 1 if the causality has a conflict.",
        examples="""vbg show causal crank.toml
            vbg show causal crank.toml --why A.force
            vbg show causal motor.toml --causality derivative
            vbg show causal crank.toml --json""",
    )
    add_model(parser)
    parser.add_argument(
        "--why", metavar="NAME", help="the reasons for a stroke: of a bond, a vertex or a signal"
    )
    parser.add_argument(
        "--causality",
        choices=CAUSALITIES,
        help="of stores that depend on others; default: what the file asks",
    )
    add_json(parser)


def act(arguments: argparse.Namespace) -> int:
    import vbg
    from vbg.assemble.derive.jumping import as_assembled

    graph = vbg.expand(read_checked(arguments))
    asked = arguments.causality or graph.causality
    causal = as_assembled(vbg.assign(graph, asked))
    if arguments.why is not None:
        reasons = causal.why(arguments.why)
        print(json.dumps(reasons) if arguments.json else "\n".join(reasons))
        return 0
    findings = assembled(causal)
    if arguments.json:
        print(json.dumps(as_plain(causal) | findings))
    else:
        told = [as_text(causal), *derivative_without_stores(causal, asked), *_as_blocks(findings)]
        print("\n\n".join(told))
    return 1 if causal.conflicts else 0


def assembled(causal: CausalGraph) -> dict[str, Any]:
    """What only the equations show: algebraic loops and how they are solved, conserved
    quantities, redundant directions; the reason where they cannot be assembled."""
    from vbg.assemble import assemble, assemble_start
    from vbg.assemble.matrices.conserved import find_conserved, is_searched
    from vbg.assemble.matrices.noether import keeping_of
    from vbg.errors import AssemblyError

    try:
        system = assemble(causal)
        conserved = [str(quantity) for quantity in find_conserved(system)]
        # momenta stand there already, component by component
        keeping = keeping_of(system)
        kept = [str(one) for one in keeping.kept if one.kind != "momentum"]
        redundant = list(assemble_start(system).redundant)
    except AssemblyError as error:
        return {"not_assembled": str(error)}
    solved = [
        {"order": s.order, "linear": s.linear, "torn": s.torn, "variables": s.variables}
        for s in system.equations.loops
    ]
    variables = [s.state.name for s in system.slices if s.state.kind != "quadrature"]
    return {
        "variables": variables,
        "solved_loops": solved,
        "conserved": conserved + kept,
        "searched": is_searched(system),
        "energy": list(keeping.energy),
        "redundant": redundant,
    }


def _as_blocks(findings: dict[str, Any]) -> list[str]:
    if "not_assembled" in findings:
        return [f"not assembled\n  {findings['not_assembled']}"]
    variables = findings["variables"]
    blocks = [f"state variables ({len(variables)})\n  " + "\n  ".join(variables)]
    for s in findings["solved_loops"]:
        how = "eliminated (linear)" if s["linear"] else "Newton at every evaluation"
        blocks.append(
            f"loop of order {s['order']}, {how}\n  torn at {', '.join(s['torn'])}\n"
            f"  through {', '.join(s['variables'])}"
        )
    kept, redundant = findings["conserved"], findings["redundant"]
    told = [*kept]
    if not kept:
        looked = (
            "none: every momentum, displacement and sum of them changes, but for what joints alone "
            "keep at zero"
        )
        told = [looked if findings["searched"] else "not looked for: the machine is too large"]
    if findings["energy"]:
        told.append(f"not the energy, which is {' and '.join(findings['energy'])}")
    blocks.append("\n".join([f"conserved quantities ({len(kept)})", *(f"  {t}" for t in told)]))
    if redundant:
        title = f"redundant constraint directions ({len(redundant)})"
        blocks.append("\n".join([title, *(f"  {r}" for r in redundant)]))
    return blocks


def derivative_without_stores(causal: CausalGraph, asked: str) -> list[str]:
    """That derivative causality was asked for and changes nothing, where it is so."""
    if asked != "derivative" or causal.differential:
        return []
    if causal.dependent_stores:
        return [
            "derivative causality changes nothing here: each store that depends on others follows "
            "what may jump, and its effort or flow would be an impulse there; so it has a "
            "constraint source"
        ]
    return [
        "derivative causality changes nothing here: no store depends on others, as joints have "
        "their constraint sources in it, too"
    ]


def as_plain(causal: CausalGraph) -> dict[str, Any]:
    return {
        "strokes": dict(causal.strokes),
        "states": causal.states,
        "dependent_stores": causal.dependent_stores,
        "differential": causal.differential,
        "constraints": causal.constraints,
        "arbitrary": causal.arbitrary,
        "loops": [
            {"vertices": o.vertices, "order": o.order, "linear": o.linear, "torn": o.torn}
            for o in causal.loops
        ],
        "conflicts": [
            {"bond": c.bond, "vertex": c.vertex, "sentence": c.sentence} for c in causal.conflicts
        ],
    }


def as_text(causal: CausalGraph) -> str:
    rows = [("bond", "from", "stroke", "to", "dim")]
    for bond in causal.graph.bonds.values():
        arrow = "---|>|" if causal.strokes[bond.name] == "head" else "|---> "
        rows.append((bond.name, bond.tail, arrow, bond.head, str(bond.size)))
    blocks = [table(rows, "<><<>")]
    blocks += [
        f"{title} ({len(names)})\n" + "\n".join(f"  {name}" for name in names)
        for title, names in (
            ("stores with a state of their own", causal.states),
            ("dependent stores", causal.dependent_stores),
            ("dependent stores in derivative causality", causal.differential),
            ("constraint sources, whose efforts are the joint forces", causal.constraints),
            ("strokes chosen freely", causal.arbitrary),
        )
        if names
    ]
    if causal.loops:
        lines = [
            f"  order {loop.order}, {'linear' if loop.linear else 'nonlinear'}: "
            f"{', '.join(loop.vertices)}"
            for loop in causal.loops
        ]
        blocks.append("\n".join([count(len(causal.loops), "algebraic loop"), *lines]))
    conflicts = [f"  {conflict.bond}: {conflict.sentence}" for conflict in causal.conflicts]
    blocks.append("\n".join([count(len(conflicts), "conflict"), *conflicts]))
    return "\n\n".join(blocks)

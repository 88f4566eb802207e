"""Names of leaves that stand for what only causality can give: variables of bonds,
outputs and signals read by other parts."""

from __future__ import annotations

from vbg.blocks import Block, dependencies

FLOW, EFFORT, BOND_FLOW, RATE = "flow of ", "effort of ", "bond flow of ", "rate of "
LEVEL, OUTPUT, SIGNAL = "effort at ", "output of ", "signal of "
PLACEHOLDERS = (FLOW, EFFORT, BOND_FLOW, LEVEL, OUTPUT)


def reads_bonds(block: Block) -> bool:
    """Whether `block` has placeholders for variables of bonds, outputs or signals."""
    return not block.is_const and any(
        node.op == "leaf" and node.data.startswith((*PLACEHOLDERS, SIGNAL))
        for node in dependencies([block])
    )


def reading(name: str) -> str:
    """The signal that parts read in place of `name` where that is tapped."""
    return f"reading of {name}"


def indexed(name: str) -> str:
    """ "A.force.z" as "A.force[2]"; any other name as it is."""
    base, _, letter = name.rpartition(".")
    return f"{base}[{'xyz'.index(letter)}]" if base and letter in ("x", "y", "z") else name

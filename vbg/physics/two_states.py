"""A resistor that is one of two: closed or open, as a mode says."""

from __future__ import annotations

from vbg.blocks import Block, call, const, times
from vbg.builder import Builder
from vbg.physics.ports import Branch, declare_element


def two_state_resistor(
    name: str, builder: Builder, table: str, here: Branch, on: Block, closed: float, opened: float
) -> str:
    """Resistance `closed` [ohm] where the mode `on` is 1, 1 / `opened` (a conductance, [S]) where
    it is 0; its bond.

    Chosen, not the sum of one and the other's difference: 1e-5 ohm is lost beside 1e12.
    """
    conductance = call("select", on, const(1.0 / closed), const(opened))
    resistance = call("select", on, const(closed), const(1.0 / opened))

    def flow(voltage: Block) -> Block:
        return times(conductance, voltage)

    bond = builder.resistor(
        name,
        here.node,
        effort=lambda current: times(resistance, current),
        flow=flow,
        preferred="flow",
    )
    declare_element(name, builder, table, bond, flow=flow)
    return bond

"""Volume of compressible oil."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vbg.blocks import const
from vbg.builder import Builder
from vbg.fields import declare, quantity
from vbg.physics.hydraulics import Oil
from vbg.physics.ports import branch, declare_element


@dataclass(frozen=True, slots=True)
class Volume:
    """content' = flow into it; pressure p of an oil of bulk modulus `bulk`, see
    `vbg.physics.hydraulics.Oil`: p = bulk content / volume, or with a modulus that grows with the
    pressure.  Below half an atmosphere air comes out of the oil: a cavity, whose absolute pressure
    stays above zero.
    """

    table: ClassVar[str] = "hydraulic"
    kind: ClassVar[str] = "volume"

    nodes: tuple[str, ...] = declare("nodes", "its port", size=1)
    volume: float = quantity("m^3", "volume", above=0.0)
    bulk: float = quantity("Pa", "bulk modulus", above=0.0, default=1.4e9, elastic=True)
    growth: float = quantity("1", "d bulk / d pressure", minimum=0.0, default=0.0)
    air: float = quantity(
        "1",
        "air that oil gives off below half an atmosphere, of its volume; 0: oil can be pulled",
        minimum=0.0,
        below=1.0,
        default=0.005,
    )
    pressure: float | None = quantity(
        "Pa",
        'pressure at the start, or "equilibrium"; default: that of what it is tied to',
        default=None,
        balanced=True,
    )

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """A port on the tank, whose pressure nothing changes; a start that oil cannot have."""
        if self.nodes == ("tank",):
            yield "nodes", "the tank keeps its pressure: it fills nothing.", "Name another node."
        yield from self._oil.start_faults("pressure", self.pressure)

    @property
    def _oil(self) -> Oil:
        return Oil(self.bulk, self.growth, self.air)

    def expand(self, name: str, builder: Builder) -> None:
        oil = self._oil
        here = branch(name, builder, self.table, (self.nodes[0], "tank"))
        builder.compliance(
            name,
            here.node,
            effort=lambda content: oil.pressure((1.0 / self.volume) * content),
            energy=lambda content: self.volume * oil.energy((1.0 / self.volume) * content),
            initial=const(self.volume * oil.strain(self.pressure or 0.0)),
            written=self.pressure is not None,
            state="content",
        )
        declare_element(name, builder, self.table, f"{here.node.name} -> {name}.content.C")

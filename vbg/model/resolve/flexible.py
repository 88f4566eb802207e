"""The points of flexible bodies as bodies that they carry."""

from __future__ import annotations

from collections.abc import Mapping

from vbg.elements.body import Body
from vbg.elements.flexible import FlexiblePoint
from vbg.fields import Attachment
from vbg.model.values.reading import Reading, Scope


def carried_points(
    reading: Reading, scope: Scope, bodies: Mapping[str, Body]
) -> dict[str, FlexiblePoint]:
    """BODY_POINT of every flexible body, which parts hold as BODY.POINT."""
    made: dict[str, FlexiblePoint] = {}
    for name, body in bodies.items():
        if getattr(body, "flexible", None) is None:
            continue
        modes, nodes = body.flexible.modes, {}  # type: ignore[union-attr]
        for point in modes.interfaces:
            part = f"{name}_{point}"
            if part in scope.objects:
                what = f"makes a body called {part!r}, and {scope.objects[part]} has one."
                reading.fail_key(("bodies", name), what, "Choose another name.")
            scope.objects[part] = "bodies"  # type: ignore[index]
            scope.points[part] = {}
            made[part] = FlexiblePoint(on=Attachment(name), modes=modes, name=point)
            nodes[point] = Attachment(part)
        scope.beams[name] = nodes
        del scope.points[name]
    return made

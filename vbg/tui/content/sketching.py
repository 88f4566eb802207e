"""A tiny drawing of a model: its machine, or the bond graph of one that has no bodies."""

from __future__ import annotations

from dataclasses import replace

from vbg.draw.text.marks import Marks
from vbg.draw.text.rows import Rows, wrap
from vbg.errors import VbgError
from vbg.model import Model

_VIEW = (-1.05, 0.43)  # azimuth and elevation of the viewer [rad]


def sketch(text: str, file: str, width: int, height: int, marks: Marks) -> Rows:
    """The model that `text` of `file` writes, in `width` x `height` cells; words if it
    cannot be drawn."""
    from vbg.io import toml

    try:
        model = toml.parse(text, file)
        return _machine(model, width, height, marks) or _graph(model, width, height, marks)
    except VbgError as error:
        words = wrap(f"no drawing: {str(error).splitlines()[0]}", width)
        return tuple(((line, "dim"),) for line in words[:height])


def _machine(model: Model, width: int, height: int, marks: Marks) -> Rows:
    """Bodies as they are written, without names; nothing if there are none."""
    from vbg.draw.text.wire import view
    from vbg.tui.state import motion

    still = motion.motion_of(model, None)
    if not still.bodies:
        return ()
    camera = motion.camera_of(still, *_VIEW, 1.0, width, height)
    scene = motion.scene_of(still, 0.0, selected="", forces=False, trace="")
    return view(replace(scene, names=()), camera, width, height, marks)


def _graph(model: Model, width: int, height: int, marks: Marks) -> Rows:
    """The parts and the bonds between them."""
    from vbg.draw.text import bonds
    from vbg.tui.state import graphing

    state = graphing.zoomed(graphing.made(model, "", None), -1)
    if state.drawing is None:
        return ()
    look = bonds.centred(state.drawing, 0, width, height)
    return bonds.draw(state.drawing, width, height, look, marks)

"""The axes in which the components of a force or torque on a body count: the world's, the body's,
or those of the frame it is on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vbg.blocks import Block, const, mul
from vbg.builder import BodyNode
from vbg.fields import Attachment
from vbg.spatial import axes_of_frame


def axes_in_body(on: Attachment) -> Block:
    """R_BF : (3, 3) of the frame that a part is on; the body's own axes without one."""
    return const(np.eye(3) if on.rotation is None else axes_of_frame(on.rotation))


def axes_on(axes: str, on: Attachment, body: BodyNode) -> Block:
    """(3, 3) from the axes of the components, "body" or "frame", to the world's."""
    return mul(body.R_WB, axes_in_body(on)) if axes == "frame" else body.R_WB


def faulty_axes(axes: str, on: Attachment | str) -> Iterator[tuple[str, str, str]]:
    """Axes of a frame where the part is on none."""
    if axes == "frame" and (isinstance(on, str) or on.rotation is None):
        remedy = 'Write the name of a frame as `on`, or axes = "body".'
        yield "axes", "the part is not on a frame, whose axes these could be.", remedy

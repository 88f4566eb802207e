"""The start that a run is asked to begin from."""

from __future__ import annotations

from vbg.assemble.start.start import Start, assemble_start
from vbg.assemble.system import System
from vbg.errors import UsageError
from vbg.fields import WRITTEN
from vbg.model import Model


def start_of(source: Start | System | Model, start: Start | None) -> Start:
    """`start`, or the assembled one of the source.

    Raises UsageError where the model asks for another start: `vbg.simulate` makes those."""
    if start is None:
        begin = source if isinstance(source, Start) else assemble_start(source)
        asked = begin.system.model.simulate.start
        if not isinstance(source, Start) and asked != WRITTEN:
            raise UsageError(
                f"the model starts from {asked}: hand its Start over, vbg.start(model)."
            )
        return begin
    if isinstance(source, System) and start.system is not source:
        raise UsageError(
            "the start belongs to another system than the one to be simulated: make it of the "
            "same value, system = vbg.assemble(model); start = vbg.start(system)."
        )
    return start

"""3D: the machine in a wireframe, and the time shown."""

from __future__ import annotations

import math
from dataclasses import replace

from vbg.draw.text.axes import number
from vbg.draw.text.rows import Row, Rows
from vbg.draw.text.shaded import in_colour, in_dots
from vbg.draw.text.wire import view
from vbg.tui.panes.pane import Pane
from vbg.tui.state import motion
from vbg.tui.state.results import shown_motion, shown_run

TURN = math.radians(10.0)
DEFAULT = (-1.05, 0.43)
VIEWS = (
    ("oblique", DEFAULT),
    ("front", (-math.pi / 2, 0.0)),
    ("side", (0.0, 0.0)),
    ("top", (-math.pi / 2, math.pi / 2)),
)


class Space(Pane):
    """The wireframe; arrows and the mouse turn it, the wheel brings it nearer."""

    JUMP = "a"
    DRAGGED = True

    def title(self) -> str:
        state = self.work.space
        moving = shown_motion(self.work)
        name = next((n for n, at in VIEWS if at == (state.azimuth, state.elevation)), "")
        text = f"3D  {name}".rstrip()
        part = self.work.part_name
        if moving is not None and part:
            force = motion.force_at(moving, part, state.time)
            if math.isfinite(force):
                text += f"   {part} force {number(force)} N"
        return text

    def hint(self) -> str:
        state = self.work.space
        playing = f"{state.speed:g}x" if state.playing else "space plays"
        moving = shown_motion(self.work)
        if moving is not None and state.forces and moving.strongest > 0:
            return f"longest arrow of the run {number(moving.strongest)} N   {playing}"
        return playing

    def body(self, width: int, height: int) -> Rows:
        work = self.work
        moving = shown_motion(work)
        if moving is None:
            model = work.checked.model
            text = "drawing ..." if model is not None else "drawn when the model has no errors"
            return (((text, "dim"),),)
        if not moving.bodies:
            return ((("there are no bodies to draw", "dim"),),)
        state = work.space
        camera = motion.camera_of(moving, state.azimuth, state.elevation, state.zoom, width, height)
        scene = motion.scene_of(
            moving, state.time, selected=work.part_name, forces=state.forces, trace=state.trace
        )
        if state.ghosts:
            scene = motion.with_ghosts(scene, moving, camera.axes()[2])
        if state.look == "lines":
            return view(scene, camera, width, height, work.marks)
        at = motion.middle_of(moving, work.part_name, state.time) if state.cut else None
        shade = in_colour if state.look == "colour" else in_dots
        return shade(scene, camera, width, height, work.marks, at)

    def move(self, direction: str) -> None:
        state = self.work.space
        turn = {"left": (-TURN, 0.0), "right": (TURN, 0.0), "up": (0.0, TURN), "down": (0.0, -TURN)}
        azimuth, elevation = turn.get(direction, (0.0, 0.0))
        elevation = max(-math.pi / 2, min(state.elevation + elevation, math.pi / 2))
        self.work.space = replace(state, azimuth=state.azimuth + azimuth, elevation=elevation)
        if direction in ("first", "last", "page_up", "page_down"):
            self.home.panes["slider"].move(direction)

    def dragged(self, columns: int, rows: int) -> None:
        """Turn with the mouse: a cell is 2 degrees, twice as much upward, where cells are high."""
        state = self.work.space
        elevation = state.elevation + math.radians(4.0) * rows
        self.work.space = replace(
            state,
            azimuth=state.azimuth - math.radians(2.0) * columns,
            elevation=max(-math.pi / 2, min(elevation, math.pi / 2)),
        )

    def wheel(self, direction: str, column: int) -> None:
        self.home.main.act_id("space.in" if direction == "up" else "space.out")

    def double_clicked(self) -> None:
        self.home.main.act_id("space.fit")


class Slider(Pane):
    """The time shown, on a line."""

    JUMP = "s"

    def title(self) -> str:
        work = self.work
        moving = shown_motion(work)
        if moving is None or len(moving.time) < 2:
            return "as written; r runs it"
        run = work.run(shown_run(work))
        name = f"{run.title}   " if run is not None else ""
        return f"{name}t = {work.space.time:.4g} of {moving.time[-1]:.4g} s"

    def hint(self) -> str:
        return ", . step"

    def body(self, width: int, height: int) -> Rows:
        marks = self.work.marks
        moving = shown_motion(self.work)
        if moving is None or len(moving.time) < 2:
            return ()
        end = max(float(moving.time[-1]), 1e-12)
        room = width - 4
        at = round(min(max(self.work.space.time / end, 0.0), 1.0) * (room - 1))
        line = marks.line
        row: Row = (
            (f" {marks.tick_right}{line * at}", "dim"),
            (marks.knob, "focus"),
            (f"{line * (room - 1 - at)}{marks.tick_left}", "dim"),
        )
        return (row,)

    def move(self, direction: str) -> None:
        moving = shown_motion(self.work)
        if moving is None:
            return
        count = len(moving.time)
        step = {
            "left": -1,
            "right": 1,
            "page_up": -max(count // 20, 1),
            "page_down": max(count // 20, 1),
            "first": -count,
            "last": count,
        }.get(direction, 0)
        self.step(step)

    def step(self, samples: int) -> None:
        """Go on by samples of the result."""
        moving = shown_motion(self.work)
        if moving is not None:
            at = max(0, min(moving.index(self.work.space.time) + samples, len(moving.time) - 1))
            self.work.space = replace(self.work.space, time=float(moving.time[at]))

    def clicked(self, column: int, row: int) -> None:
        moving = shown_motion(self.work)
        if moving is not None:
            part = min(max((column - 2) / max(self.inner[0] - 5, 1), 0.0), 1.0)
            self.work.space = replace(self.work.space, time=part * float(moving.time[-1]))


def panes() -> list[Pane]:
    return [Space("space"), Slider("slider")]

"""3D: play, step, look from elsewhere; the powers in the graph move with it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from vbg.tui.actions import Handler, Refusal
from vbg.tui.panes.space import DEFAULT, VIEWS, Slider
from vbg.tui.state.motion import motion_of, traceable
from vbg.tui.state.powers import run_of_bonds
from vbg.tui.state.results import load, shown_motion
from vbg.tui.state.workspace import Look
from vbg.tui.tasks import bonding

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk


def _play(app: Desk) -> None:
    """Play from here, or from the start again; stop if it plays."""
    work = app.work
    moving = shown_motion(work)
    assert moving is not None
    state = work.space
    start = 0.0 if state.time >= float(moving.time[-1]) else state.time
    work.space = replace(state, playing=not state.playing, time=start)
    app.animate_space()


def _step(samples: int, app: Desk) -> None:
    pane = app.main.panes["slider"]
    assert isinstance(pane, Slider)
    app.work.space = replace(app.work.space, playing=False)
    moving = shown_motion(app.work)
    assert moving is not None
    pane.step(samples * max(len(moving.time) // 100, 1))


async def _powers(change: Handler, app: Desk) -> None:
    """Play or step with the powers of the run that Plot shows in the bonds."""
    work = app.work
    run = run_of_bonds(work)
    assert run is not None
    begin = work.space.time if work.plot.cursor is None else work.plot.cursor
    work.space = replace(work.space, run=run.number, time=begin)
    if run.number not in work.motions:
        solution, model = await load(work, run), work.checked.model
        if model is None:
            return
        work.motions[run.number] = await asyncio.to_thread(motion_of, model, solution)
    change(app)
    work.plot = replace(work.plot, cursor=work.space.time)
    app.prepare_view("graph")
    app.beside(partial(bonding.bring, app, asked=True), "bonds")


def _zoom(factor: float, app: Desk) -> None:
    state = app.work.space
    app.work.space = replace(state, zoom=min(max(state.zoom * factor, 0.1), 50.0))


def _fit(app: Desk) -> None:
    azimuth, elevation = DEFAULT
    app.work.space = replace(app.work.space, zoom=1.0, azimuth=azimuth, elevation=elevation)


def _next_view(app: Desk) -> None:
    """Oblique, front, side, top, and again."""
    state = app.work.space
    names = [at for _, at in VIEWS]
    here = (state.azimuth, state.elevation)
    index = names.index(here) + 1 if here in names else 0
    azimuth, elevation = names[index % len(names)]
    app.work.space = replace(state, azimuth=azimuth, elevation=elevation)


def _forces(app: Desk) -> None:
    app.work.space = replace(app.work.space, forces=not app.work.space.forces)


def _trace(app: Desk) -> None:
    """The path of the selected body, then of its points and frames, one each time, then none."""
    work = app.work
    moving = shown_motion(work)
    assert moving is not None
    names = ("", *traceable(moving, work.part_name))
    now = names.index(work.space.trace) if work.space.trace in names else 0
    work.space = replace(work.space, trace=names[(now + 1) % len(names)])


def _look(app: Desk) -> None:
    """Lines, shaded dots, and shaded colours where the terminal has them."""
    work = app.work
    coloured = work.options.marks.dots != "ascii" and not work.options.no_color
    looks: tuple[Look, ...] = ("lines", "dots", "colour") if coloured else ("lines", "dots")
    look = looks[(looks.index(work.space.look) + 1) % len(looks)]
    work.space = replace(work.space, look=look, cut=work.space.cut and look != "lines")


def _cut(app: Desk) -> None:
    """Cut the solids open; lines become shaded for it."""
    state = app.work.space
    app.work.space = replace(state, cut=not state.cut)
    if state.look == "lines" and not state.cut:
        _look(app)


def _ghosts(app: Desk) -> None:
    app.work.space = replace(app.work.space, ghosts=not app.work.space.ghosts)


def _speed(factor: float, app: Desk) -> None:
    state = app.work.space
    app.work.space = replace(state, speed=min(max(state.speed * factor, 1 / 64), 64.0))
    app.work.say(f"speed {app.work.space.speed:g}x", "dim")


def _still(app: Desk) -> str:
    moving = shown_motion(app.work)
    if moving is None or len(moving.time) < 2:
        return "there is no run to play; r runs it"
    return ""


def _no_bonds(app: Desk) -> str:
    """Why the graph has no powers to show."""
    run = run_of_bonds(app.work)
    return "" if run is not None else "there is no run of this model by the bond graph; r runs it"


def _nothing(app: Desk) -> str:
    moving = shown_motion(app.work)
    return "" if moving is not None and moving.bodies else "there is nothing to draw"


HANDLERS: dict[str, Handler] = {
    "powers.play": partial(_powers, _play),
    "powers.back": partial(_powers, partial(_step, -1)),
    "powers.step": partial(_powers, partial(_step, 1)),
    "space.play": _play,
    "space.back": partial(_step, -1),
    "space.step": partial(_step, 1),
    "space.in": partial(_zoom, 1.25),
    "space.out": partial(_zoom, 0.8),
    "space.fit": _fit,
    "space.forces": _forces,
    "space.trace": _trace,
    "space.look": _look,
    "space.cut": _cut,
    "space.ghosts": _ghosts,
    "space.iso": _next_view,
    "space.slower": partial(_speed, 0.5),
    "space.faster": partial(_speed, 2.0),
}
REFUSALS: dict[str, Refusal] = {
    **{f"space.{name}": _still for name in ("play", "back", "step", "ghosts")},
    **{f"powers.{name}": _no_bonds for name in ("play", "back", "step")},
    **{f"space.{name}": _nothing for name in ("trace", "look", "cut")},
}

"""What to do about something that switches over and over at one instant, by what it is."""

from __future__ import annotations

from vbg.model import Model

_BY_KIND = {
    "clutch": "`engaged` reads a motion that the clutch itself changes: each turn takes the other"
    " back. Let it grow over a small slip, as (a.speed - b.speed)/0.01, or read it through a"
    " transfer_function.",
    "switch": "`closed` reads a voltage or current that the switch itself changes. Let it open at"
    " another value than it closes at, or read it through a transfer_function.",
    "friction": "What it holds and what moves it turn each other over. Add a little inertia or"
    " viscous friction to what it rubs on.",
    "diode": "The circuit around it has no state that it settles in. Add a little resistance or"
    " capacitance beside it.",
}
_JOINT = (
    "`engage` and `release` are both true at one instant. Leave a gap between the two, or a time:"
    " release = 't > 0.5'."
)
_ELSE = (
    "Two laws contradict each other where it switches. Add a little resistance, inertia or"
    " hysteresis there."
)


def remedy_for(model: Model, name: str) -> str:
    """For the part at the path `name`."""
    table, _, part = name.partition(".")
    if table == "joints":
        opens = getattr(model.joints.get(part), "engage", None) is not None
        return _JOINT if opens else _BY_KIND["friction"]
    kind = getattr(getattr(model, table, {}).get(part), "kind", "")
    return _BY_KIND.get(kind, _ELSE)

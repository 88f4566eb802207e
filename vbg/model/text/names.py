"""Names: what is one, and which was probably meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

NAME = re.compile(r"[^\W\d][\w-]*\Z")


# what engineers call a kind or a table that has another name here
EVERYDAY = {
    "hinge": "revolute",
    "pin": "revolute",
    "rotation": "revolute",
    "slider": "prismatic",
    "slide": "prismatic",
    "translation": "prismatic",
    "ball": "spherical",
    "weld": "fixed",
    "rigid": "fixed",
    "cardan": "universal",
    "hooke": "universal",
    "screw": "helical",
    "rod": "distance",
    "rope": "distance",
    "link": "distance",
    "wheel": "rolling",
    "rack": "rack_pinion",
    "pulley": "belt",
    "bumper": "stop",
    "contact": "stop",
    "rubber": "bushing",
    "battery": "voltage_source",
    "voltage": "voltage_source",
    "current": "current_source",
    "coil": "inductor",
    "motor": "dc_motor",
    "opamp": "op_amp",
    "throttle": "orifice",
    "valve": "proportional_valve",
    "jack": "cylinder",
    "ram": "cylinder",
    "hose": "pipe",
    "flywheel": "inertia",
    "brake": "friction",
    "leadscrew": "ball_screw",
    "sin": "sine",
    "controller": "pid",
    "lookup": "table",
    "joint": "joints",
    "body": "bodies",
    "force": "forces",
    "signal": "signals",
    "mechanical": "bodies",
    "electrical": "electric",
    "hydraulics": "hydraulic",
    "l0": "length",
    "rest_length": "length",
    "free_length": "length",
    "stiffness": "k",
    "damping": "c",
    "xz": "zx",
    "yx": "xy",
    "zy": "yz",
    "output": "outputs",
    "simulation": "simulate",
}


def is_name(text: str) -> bool:
    """Whether `text` can name a part or a point: a letter, then letters, digits, _ or -."""
    return NAME.match(text) is not None and len(text) <= 100


def nearest(name: str, candidates: Iterable[str]) -> str:
    """The candidate most like `name`, or "" where none is like it."""
    folded = {candidate.lower(): candidate for candidate in candidates}
    name = name.lower()
    close = difflib.get_close_matches(name, folded, n=5, cutoff=0.6)
    return folded[max(close, key=lambda other: _likeness(name, other))] if close else ""


def _likeness(a: str, b: str) -> float:
    """Share of letters in common, and a little for each that agrees at the start:
    a slip is rarer there."""
    agreeing = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return difflib.SequenceMatcher(None, b, a).ratio() + 0.1 * min(agreeing, 4)


def suggestion(name: str, candidates: Iterable[str], what: str) -> str:
    """The remedy for the unknown `name`: the nearest candidate, or what there is.

    `what` is the plural of what the candidates are ("bodies").
    """
    candidates = list(candidates)
    if EVERYDAY.get(name.lower()) in candidates:
        return f"Did you mean {EVERYDAY[name.lower()]!r}?"
    likely = nearest(name[:100], candidates[:5000])
    if likely:
        return f"Did you mean {likely!r}?"
    if not candidates:
        return f"There are no {what}."
    shown = ", ".join(candidates[:12]) + (", ..." if len(candidates) > 12 else "")
    return f"There are these {what}: {shown}."

"""Whose the indicators of a network are, and what a joint that opens takes along."""

from __future__ import annotations

from collections.abc import Iterator

from vbg.tmm_bridge.mechanism.mechanism import Mechanism
from vbg.tmm_bridge.onedim.laws.friction import DryFriction
from vbg.tmm_bridge.onedim.laws.latch import Latch


def of_modes(mechanism: Mechanism, count: int) -> Iterator[tuple[int, DryFriction]]:
    """Which of `count` indicators are positive as long as a dry friction keeps its mode."""
    for place, owner in owners(mechanism, count):
        if isinstance(owner, DryFriction):
            yield place, owner


def is_kept(mechanism: Mechanism, place: int, count: int) -> bool:
    """Whether that one of `count` indicators is of a part that keeps its mode until it crosses."""
    owner = next((one for at, one in [*owners(mechanism, count)][::-1] if at <= place), None)
    return isinstance(owner, (DryFriction, Latch))


def owners(mechanism: Mechanism, count: int) -> Iterator[tuple[int, object]]:
    """Where in `count` indicators those of each part of the network begin, and whose they are."""
    changes = mechanism.network.changes if mechanism.network is not None else ()
    at = count - sum(n for _, n, _ in changes)
    for _, n, change in changes:
        yield at, getattr(change, "__self__", None)
        at += n


def effects(mechanism: Mechanism) -> dict[str, list[int]]:
    """Rows of the laws of friction and stops of each joint that opens."""
    if mechanism.network is None:
        return {}
    return {
        latch.name: [
            mechanism.parts[f"{latch.name}.{effect}"][1]
            for effect in ("friction", "stop")
            if f"{latch.name}.{effect}" in mechanism.parts
        ]
        for latch in mechanism.network.latches
    }

"""Mechanisms with geometry for the tests and benchmarks of structural analysis.

Pairs are placed where the bodies stand, so each closes at its first posture.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from vbg.structure.topology.linkage import Linkage, PairAt, linkage_at

CASES = json.loads((Path(__file__).parent.parent / "data" / "structural_groups.json").read_text())


def nine_bar() -> Linkage:
    """The nine-bar of Fig. 1 and 4: eight moving bodies, four driven revolutes."""
    at = {
        (0, 1): (0.0, 0.0),
        (1, 2): (0.1, 0.3),
        (2, 3): (0.45, 0.5),
        (3, 4): (0.9, 0.5),
        (4, 5): (1.1, 0.15),
        (5, 0): (0.8, -0.1),
        (4, 6): (1.25, 0.5),
        (6, 7): (1.6, 0.8),
        (7, 8): (1.9, 0.35),
        (0, 8): (1.7, 0.0),
    }
    driven = {(0, 1), (1, 2), (2, 3), (0, 8)}
    pairs = [
        PairAt("R", *ends, (*point, 0.0), drives=("angle",) if ends in driven else ())
        for ends, point in at.items()
    ]
    means = [[point for ends, point in at.items() if body in ends] for body in range(1, 9)]
    return linkage_at(3, [(*np.mean(points, axis=0), 0.0) for points in means], pairs)


def placed(name: str, drives: dict[tuple[int, int], tuple[str, ...]], number: int) -> Linkage:
    """A spatial case of the paper with random bodies and axes, the same for one `number`.

    `drives` by the paper's body numbers.
    """
    case, rng = CASES[name], np.random.default_rng(number)
    positions = rng.uniform(-1.0, 1.0, (case["bodies"], 3))
    positions[0] = 0.0
    pairs = []
    for joint in case["joints"]:
        first, second = joint["between"]
        middle = 0.5 * (positions[first - 1] + positions[second - 1])
        axis = rng.normal(size=3)
        pairs.append(
            PairAt(
                joint["type"],
                first - 1,
                second - 1,
                middle + rng.normal(scale=0.2, size=3),
                axis,
                np.cross(axis, rng.normal(size=3)) if joint["type"] in ("U", "ER") else None,
                drives=drives.get((first, second), ()),
            )
        )
    return linkage_at(6, positions[1:], pairs)


def rotor() -> Linkage:
    """The rotor control of a helicopter with the drives of Fig. 12, geometry of our own."""
    drives = {(13, 9): ("angle",), (13, 15): ("angle",), (11, 14): ("angle",)}
    return placed("helicopter_rotor", drives, 32)


def stewart_inverse() -> Linkage:
    """A Stewart platform whose terminal (last body) is moved; six legs S-P-U follow."""
    pairs, positions = [], []
    turn = np.radians(60.0)
    platform = np.array([0.05, -0.02, 1.0])
    for leg in range(6):
        around = turn * (leg // 2) * 2.0
        base_at = around + (0.25 if leg % 2 else -0.25)
        top_at = around + (0.75 if leg % 2 else -0.75)
        base = np.array([np.cos(base_at), np.sin(base_at), 0.0])
        top = platform + 0.5 * np.array([np.cos(top_at), np.sin(top_at), 0.02 * leg])
        along = top - base
        lower, upper = 1 + 2 * leg, 2 + 2 * leg
        positions += [base + 0.25 * along, base + 0.75 * along]
        across = np.cross(along, [0.3, 0.1, 1.0])
        pairs += [
            PairAt("S", 0, lower, base),
            PairAt("P", lower, upper, base + 0.5 * along, along),
            PairAt("U", upper, 13, top, across, np.cross(across, along)),
        ]
    pairs.append(
        PairAt(
            "F",
            0,
            13,
            platform,
            drives=("x", "y", "z", "rotation x", "rotation y", "rotation z"),
        )
    )
    return linkage_at(6, [*positions, platform], pairs)


def swings(count: int, size: float):
    """Smooth drives that begin at rest at zero: values, rates, second rates."""
    speeds, sizes = 0.7 + 0.3 * np.arange(count), size / (1.0 + 0.3 * np.arange(count))

    def drives(t):
        return (
            sizes * (1.0 - np.cos(speeds * t)),
            sizes * speeds * np.sin(speeds * t),
            sizes * speeds**2 * np.cos(speeds * t),
        )

    return drives


def platform_path(t):
    """Drives of a free body that moves and turns about a fixed axis."""
    axis, c, s = np.array([0.2, -0.1, 0.15]), np.cos(t), np.sin(t)
    shift = np.array([0.1, 0.05, -0.08])
    return tuple(np.concatenate([factor * shift, factor * axis]) for factor in (1.0 - c, s, c))

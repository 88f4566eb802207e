"""`vbg show vibration`: natural frequencies by transfer matrices, beside the bond graph's."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vbg.cli.models import read_checked
from vbg.cli.parser import add, add_json, add_model
from vbg.cli.point import beyond_at
from vbg.cli.text import figure, table
from vbg.errors import VbgError
from vbg.plumbing.components import place_of, split_component, vector_of

if TYPE_CHECKING:
    from vbg.analysis import Linearisation
    from vbg.analysis.rest.idle import Place
    from vbg.tmm_bridge.modes.modal import Orthogonality, Vibration

PLACE = 52
SHOWN = 1e-3  # of the largest displacement of a shape: smaller ones are left out
AGREES = 1e-6  # relative difference of poles, shapes and responses; else the exit code is 1
ZERO = 1e-6  # of the largest pole: a smaller one is a free motion
ROUNDING = 1e-13  # of the largest amplitude: a smaller one is not excited
LOST = 1e-8  # of the peak: smaller amplitudes are known to the peak's rounding only
RESONANT = 0.01  # relative distance from a pole within which a response is not compared
MOST_SIDES = 4  # linear forms at kinks
COORDINATES = (".angle", ".angle2", ".slide")
POINTS = 9  # frequencies of the response
WIDEST = 8  # modes whose products with one another fit a terminal; --json has all


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "vibration",
        act=act,
        summary="vibration about rest by transfer matrices, compared with the bond graph",
        detail="For bodies, springs, dampers, motors, oil, control and loops.  Poles and shapes\n"
        "by the transfer matrix method stand beside those of the linearised bond graph; with\n"
        "--excite the responses of all joint coordinates to a harmonic input, too; with\n"
        "--orthogonality the undamped modes' masses, stiffnesses and products with one another.\n"
        "Exit code 1 if they differ by more than 1e-6, or one has a pole that the other lacks.",
        examples="""vbg show vibration pendulum.toml
            vbg show vibration robot.toml --excite motor --json
            vbg show vibration mount.toml --orthogonality""",
    )
    add_model(parser)
    parser.add_argument(
        "--excite",
        metavar="INPUT",
        help="the harmonic input: of [forces] (motor, push[2], push.z), a source, a signal or"
        " a quantity that a part reads (demand, rail.slide)",
    )
    parser.add_argument(
        "--orthogonality", action="store_true", help="modal masses, products of the modes"
    )
    add_json(parser)


@dataclass(frozen=True)
class Row:
    """One pole by both methods, each `known` to so much [1/s], the transfer matrices' first;
    `shape` of these, `apart` what the shapes differ by, relative to their norm (NaN for a pole that
    is not simple)."""

    pole: complex
    other: complex
    shape: Mapping[str, complex]
    apart: float
    scale: float
    known: tuple[float, float] = (0.0, 0.0)

    @property
    def both(self) -> bool:
        """Whether both methods have it."""
        return self.pole == self.pole and self.other == self.other

    @property
    def error(self) -> float:
        """Relative difference of the poles, of a free motion relative to the largest pole;
        infinite for a pole that only one of both has."""
        if not self.both:
            return float("inf")
        apart = abs(self.pole - self.other)
        free = self.pole == 0.0 or self.other == 0.0
        return apart / (self.scale if free else abs(self.other)) if apart else 0.0

    @property
    def disagreement(self) -> float:
        """The same beyond what poles that are not zero are known to; of what is zero by one method
        only whole."""
        if not self.both:
            return self.error
        known = sum(e for e, p in zip(self.known, (self.pole, self.other), strict=True) if p)
        if abs(self.pole - self.other) <= known:
            return 0.0
        return 1.0 if self.pole == 0.0 or self.other == 0.0 else self.error

    @property
    def untold(self) -> bool:
        """Whether no method tells the pole from zero, and one does not call it so."""
        sizes = (abs(self.pole), abs(self.other))
        return (
            self.both
            and max(sizes) > 0.0
            and all(size <= known for size, known in zip(sizes, self.known, strict=True))
        )

    @property
    def free_on_one_side(self) -> bool:
        """A zero that counts what nothing reads, as far as a shaft has turned."""
        alone = self.pole if self.other != self.other else self.other
        return not self.both and alone == 0.0


@dataclass(frozen=True)
class Amplitude:
    """Response of one coordinate at one frequency [rad/s] by both methods."""

    name: str
    frequency: float
    value: complex
    other: complex
    error: float


def _products(name: str, found: Vibration) -> Orthogonality:
    """Raises VbgError for what has no mode."""
    from vbg.tmm_bridge.modes.modal import orthogonality

    if not found.modes:
        raise VbgError(f"{name} has no mode, whose products --orthogonality would show.")
    return orthogonality(found)


def act(arguments: argparse.Namespace) -> int:
    from vbg.analysis.linear.linear import linearise_sides
    from vbg.analysis.rest.idle import sought_rest
    from vbg.assemble import assemble
    from vbg.tmm_bridge.modes.modal import vibration
    from vbg.tmm_bridge.modes.network.exciting import input_of

    model = read_checked(arguments)
    place = sought_rest(assemble(model))
    if place.point.kind != "equilibrium":
        what = f"{model.name} has no rest next to its start; vibration is about rest."
        raise VbgError(f"{what} {place.point.sentence}")
    wanted = (arguments.excite or "").removeprefix("forces.").removeprefix("signals.")
    found = vibration(
        model,
        poses=poses_at(place),
        off=place.off,
        told=told_at(place),
        excited=[wanted] if wanted else [],
    )
    mechanism = found.network or found.small.mechanism
    excited = input_of(mechanism, wanted) if wanted else ""
    inputs = [excited] if excited else []
    sides = linearise_sides(place.system, place.point, inputs=inputs, most=MOST_SIDES + 1)
    linear, rows = on_its_side(found, sides)
    amplitudes = responses(found, linear, excited) if excited else []
    products = _products(model.name, found) if arguments.orthogonality else None
    if arguments.json:
        more = {} if products is None else {"orthogonality": plain_products(products)}
        plain = {"sentence": place.point.sentence, "warnings": beyond_at(place)}
        plain |= as_plain(place.off, rows, amplitudes)
        print(json.dumps(plain | more))
    else:
        more_text = "" if products is None else f"\n\n{text_of_products(products)}"
        head = "\n".join([*beyond_at(place), place.point.sentence])
        print(f"{head}\n{as_text(place.off, rows, amplitudes)}{more_text}")
    worst = max(worst_of(rows), max((a.error for a in amplitudes), default=0.0))
    return 0 if worst <= AGREES else 1


def poses_at(place: Place) -> dict[str, Any]:
    """Poses of all bodies at the point, at rest."""
    import numpy as np

    from vbg.analysis.probe.probe import Probe
    from vbg.validate.poses import StartPose, matrix_of

    probe = Probe(place.system)
    values = probe.values(place.point.t, place.point.x)
    zero = np.zeros(3)
    return {
        body: StartPose(
            values[probe.spans[f"signal {body}.position"]],
            matrix_of(values[probe.spans[f"signal {body}.rotation"]]),
            zero,
            zero,
        )
        for body in place.system.model.bodies
    }


def told_at(place: Place) -> dict[str, float]:
    """Every scalar of every signal at the point, by the names that results have."""
    from vbg.analysis.probe.probe import Probe
    from vbg.plumbing.components import component_names

    probe = Probe(place.system)
    values = probe.values(place.point.t, place.point.x)
    told: dict[str, float] = {}
    for name, span in probe.spans.items():
        if name.startswith("signal "):
            numbers = values[span].ravel()
            names = component_names(name.removeprefix("signal "), len(numbers))
            told |= dict(zip(names, map(float, numbers), strict=True))
    return told


def on_its_side(
    found: Vibration, sides: Sequence[Linearisation]
) -> tuple[Linearisation, list[Row]]:
    """The linear form of the bond graph with which the transfer matrices agree best, and its
    rows: where the point lies at the kink of a law each side has its own, and rounding chose one
    for the transfer matrices."""
    tried = [(side, compared(found, side)) for side in sides]
    return min(tried, key=lambda one: worst_of(one[1]))


def worst_of(rows: list[Row]) -> float:
    """The largest difference of poles and shapes, infinite for a pole that one of both lacks, or
    that neither tells from zero."""
    if any(row.untold for row in rows):
        return float("inf")
    told = [e for r in rows for e in (r.disagreement, r.apart) if e == e]
    return max(told, default=0.0)


def compared(found: Vibration, linear: Linearisation) -> list[Row]:
    """Each pole of the transfer matrices beside the nearest of the bond graph not yet taken."""
    import numpy as np

    left = list(linear.modes)
    scale = max(map(abs, [*found.poles, *(mode.eigenvalue for mode in left)]), default=0.0)
    rows = []
    for k, pole in enumerate(found.poles):
        if not left:
            rows.append(Row(complex(pole), complex("nan"), {}, float("nan"), scale))
            continue
        mode = min(left, key=lambda m: abs(m.eigenvalue - pole))
        left.remove(mode)
        others = np.abs(np.delete(found.poles, k) - pole)
        simple = abs(pole) > ZERO * scale and others.min(initial=scale) > ZERO * scale
        shape = found.shape(complex(pole)) if simple else {}
        apart = _apart(shape, mode.shape) if shape else float("nan")
        known = (float(found.known[k]), mode.error)
        rows.append(Row(complex(pole), mode.eigenvalue, shape, apart, scale, known))
    rows += [Row(complex("nan"), m.eigenvalue, {}, float("nan"), scale) for m in left]
    return [row for row in rows if not row.free_on_one_side]


def _apart(shape: Mapping[str, complex], other: Mapping[str, complex]) -> float:
    """Distance of two shapes of free size and phase, relative."""
    import numpy as np

    a = np.array(list(shape.values()))
    b = np.array([other[name] for name in shape])
    if not np.any(a) or not np.any(b):
        return float("nan")
    factor = np.vdot(b, a) / np.vdot(b, b)
    return float(np.linalg.norm(a - factor * b) / np.linalg.norm(a))


def responses(found: Vibration, linear: Linearisation, part: str) -> list[Amplitude]:
    """Amplitudes of all coordinates of joints and shafts per unit of the input, of what circuits
    and oil tell where there are none, from a tenth of the lowest natural frequency to ten times
    the highest, none of them at a pole without damping."""
    import numpy as np

    from vbg.analysis import frequency_response

    largest_pole = max((abs(p) for p in found.poles), default=0.0)
    sizes = [abs(p) for p in found.poles if abs(p) > ZERO * largest_pole] or [1.0]
    w = np.logspace(np.log10(0.1 * min(sizes)), np.log10(10.0 * max(sizes)), POINTS)
    w = np.array([_beside(float(each), found.poles.tolist()) for each in w])
    name, which = split_component(part)
    amplitudes = found.response(name, w, max(place_of(which, 3), 0))
    # what a source tells is what is written, without the input that is added to it
    both = [n for n in linear.output_names if n in amplitudes and not n.startswith(f"{part}.")]
    names = [n for n in both if n.endswith(COORDINATES)] or both
    rows = []
    for name in names:
        other = frequency_response(linear, part, name, w).value
        alike = [n for n in names if _kind_of(n) == _kind_of(name)]
        largest = np.array([max(abs(amplitudes[n][k]) for n in alike) for k in range(len(w))])
        for k, at in enumerate(w):
            one = complex(amplitudes[name][k])
            if abs(one) <= ROUNDING * largest[k]:
                one = 0j
            size = max(largest[k], LOST * largest.max())
            error = abs(one - other[k]) / size if size else 0.0
            rows.append(Amplitude(name, float(at), one, complex(other[k]), float(error)))
    return rows


def _kind_of(name: str) -> str:
    """What is measured alike: coordinates, or the last word."""
    word = vector_of(name).rpartition(".")[2]
    return "" if f".{word}" in COORDINATES else word


def _beside(w: float, poles: Sequence[complex]) -> float:
    """A frequency near w where no amplitude is that of an undamped resonance: rounding alone."""
    while any(abs(1j * w - pole) < RESONANT * abs(pole) for pole in poles):
        w *= 1.0 + 3.0 * RESONANT
    return w


def as_plain(off: tuple[str, ...], rows: list[Row], amplitudes: list[Amplitude]) -> dict[str, Any]:
    """Plain data of both tables."""
    return {
        "switched_off": off,
        "poles": [
            {
                "transfer": _pair(row.pole),
                "bond_graph": _pair(row.other),
                "difference": row.error if row.both else None,
                "known": row.known if row.both else None,
                "told": not row.untold,
                "shape": {name: [v.real, v.imag] for name, v in row.shape.items()},
                "shape_difference": row.apart if row.apart == row.apart else None,
            }
            for row in rows
        ],
        "responses": [
            {
                "coordinate": one.name,
                "frequency": one.frequency,
                "transfer": [one.value.real, one.value.imag],
                "bond_graph": [one.other.real, one.other.imag],
                "difference": one.error,
            }
            for one in amplitudes
        ],
    }


def _pair(pole: complex) -> list[float] | None:
    """Real and imaginary part; None for a pole that this method lacks."""
    return None if pole != pole else [pole.real, pole.imag]


def as_text(off: tuple[str, ...], rows: list[Row], amplitudes: list[Amplitude]) -> str:
    """Both tables for a terminal."""
    import numpy as np

    lines = [f"Switched off, for there is no rest with them: {', '.join(off)}."] if off else []
    if not rows:
        return "\n".join([*lines, "There is no freedom: every motion is prescribed."])
    cells = [("pole [1/s]", "[Hz]", "difference", "of shapes", "shape")]
    for row in rows:
        shown = [f"{n} {_polar(v)}" for n, v in row.shape.items() if abs(v) > SHOWN]
        apart = f"{row.apart:.1e}" if row.apart == row.apart else ""
        pole = row.pole if row.pole == row.pole else row.other
        hertz = figure(pole.imag / (2.0 * np.pi)) if pole.imag else ""
        lacks = "bond graph lacks it" if row.other != row.other else "transfer matrices lack it"
        error = f"{row.error:.1e}" if row.both else lacks
        cells.append((_complex(pole), hertz, error, apart, (shown or [""])[0]))
        cells += [("", "", "", "", line) for line in shown[1:]]
    lines += [table(cells, "<>>><"), *_untold(rows)]
    if amplitudes:
        cells4 = [("coordinate", "[rad/s]", "amplitude per unit", "difference")]
        cells4 += [
            (a.name, figure(a.frequency), _polar(a.value), f"{a.error:.1e}") for a in amplitudes
        ]
        lines += ["", table(cells4, "<>>>")]
    return "\n".join(lines)


def _untold(rows: Sequence[Row]) -> list[str]:
    """Of poles that no method tells from zero."""
    which = [
        f"{_complex(row.pole)} (known to {figure(max(row.known), 2)})" for row in rows if row.untold
    ]
    why = "much stiffer or lighter parts beside leave no digit of them"
    return [f"Neither solver can tell from zero: {', '.join(which)}; {why}."] if which else []


def plain_products(found: Orthogonality) -> dict[str, Any]:
    """Plain data of the orthogonality of modes."""
    return {
        "mass": found.mass.tolist(),
        "stiffness": found.stiffness.tolist(),
        "inertia_products": found.M.tolist(),
        "stiffness_products": found.K.tolist(),
        "worst": found.worst,
    }


def text_of_products(found: Orthogonality) -> str:
    """Modal masses and stiffnesses, and the products x_i.M x_j beside the diagonal."""
    n = len(found.mass)
    head = "Undamped modes, the largest hinge displacement 1: products beside the diagonal"
    lines = [f"{head} up to {found.worst:.1e}.", *_told_of_signs(found), ""]
    cells = [("mode", "[Hz]", "mass", "stiffness")]
    for k in range(n):
        square = found.stiffness[k] / found.mass[k]
        hertz = "falls" if square < 0.0 else figure(square**0.5 / 6.283185307179586)
        cells.append((str(k + 1), hertz, figure(found.mass[k], 5), figure(found.stiffness[k], 5)))
    lines.append(table(cells, ">>>>"))
    for name, products in (("M", found.M), ("K", found.K)) if n <= WIDEST else ():
        head_of = ("", *(f"{name} {k + 1}" for k in range(n)))
        rows = [(f"{name} {i + 1}", *map(_product, products[i])) for i in range(n)]
        lines += ["", table([head_of, *rows], ">" * (n + 1))]
    return "\n".join(lines)


def _product(value: float) -> str:
    return f"{value:.0e}" if 0.0 < abs(value) < 0.1 else f"{value:.3g}"


def _told_of_signs(found: Orthogonality) -> list[str]:
    """What motions without restoring force, and those that fall, are."""
    free, falling = int((found.stiffness == 0.0).sum()), int((found.stiffness < 0.0).sum())
    lines = []
    if free:
        what = "mode has" if free == 1 else "modes have"
        lines.append(f"{free} {what} frequency and K of 0: motions that nothing holds.")
    if falling:
        what = "mode falls" if falling == 1 else "modes fall"
        lines.append(f"{falling} {what} away from this rest: K is negative.")
    return lines


def _complex(value: complex) -> str:
    real = figure(value.real)
    return f"{real} +- {figure(value.imag, 9)} i" if value.imag else real


def _polar(value: complex) -> str:
    """Size and phase in degrees; plain numbers for what is in or against phase."""
    import numpy as np

    if abs(value.imag) <= 1e-6 * abs(value):
        return figure(value.real, 4)
    return f"{figure(abs(value), 4)} at {np.degrees(np.angle(value)):.1f} deg"

"""Pictures of effects: what counts most, main effects, the strongest interaction.

One row for each measure: all effects as bars, the largest first; the measure over each
parameter from low to high, the others in the middle; over the two parameters that
interact most, one from low to high while the other is low, and high.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vbg.draw.chart import COLOURS, FORMATS
from vbg.errors import UsageError, not_installed
from vbg.platform.files import replacing

if TYPE_CHECKING:
    from vbg.analysis.studies.effects import Effects

BARS = 12  # effects shown


def draw_effects(found: Sequence[Effects], parameters: Sequence[str], path: str | Path) -> None:
    """Write the picture to `path`, .png, .svg or .pdf.

    Raises UsageError for another ending, or without matplotlib.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise UsageError(f"{path}: a plot's name must end in {', '.join(FORMATS)}.")
    try:
        import matplotlib
    except ImportError as error:
        raise not_installed("a plot in a file", "matplotlib", "draw") from error
    from matplotlib.figure import Figure

    with matplotlib.rc_context({"svg.hashsalt": "vbg", "font.size": 9}):
        figure = Figure(figsize=(11.0, 0.6 + 3.2 * len(found)), layout="constrained")
        axes = figure.subplots(len(found), 3, squeeze=False)
        for row, effects in zip(axes, found, strict=True):
            _bars(row[0], effects)
            _main(row[1], effects, parameters)
            _interaction(row[2], effects, parameters)
        without_date = {"Date": None} if path.suffix == ".svg" else {}
        with replacing(path) as temporary:
            figure.savefig(temporary, dpi=150, metadata=without_date)


def _bars(axis: Any, effects: Effects) -> None:
    ranked = sorted(effects.effects, key=lambda effect: -abs(effect.value))[:BARS]
    colours = [COLOURS[0] if effect.value >= 0 else COLOURS[1] for effect in ranked]
    names = [effect.name for effect in ranked]
    axis.barh(names, [abs(effect.value) for effect in ranked], color=colours)
    axis.invert_yaxis()
    axis.set_xlabel(f"|effect| on {effects.title}")
    axis.set_title("blue: the measure rises; orange: it falls", fontsize=8)
    axis.grid(visible=True, axis="x", linewidth=0.4, alpha=0.5)


def _fit(effects: Effects, parameters: Sequence[str], at: dict[str, Any]) -> Any:
    """The fitted measure where parameters are at coded values, the others in the middle."""
    y = effects.mean + 0.0 * sum(at.values())
    for i, first in enumerate(parameters):
        x = at.get(first, 0.0)
        y = y + effects.coefficient(first) * x + effects.coefficient(first, first) * x**2
        for second in parameters[i + 1 :]:
            y = y + effects.coefficient(first, second) * x * at.get(second, 0.0)
    return y


def _main(axis: Any, effects: Effects, parameters: Sequence[str]) -> None:
    x = np.linspace(-1.0, 1.0, 41)
    for n, name in enumerate(parameters):
        colour = COLOURS[n % len(COLOURS)]
        axis.plot(x, _fit(effects, parameters, {name: x}), color=colour, label=name)
    _scale(axis, "each parameter, the others in the middle", effects)


def _interaction(axis: Any, effects: Effects, parameters: Sequence[str]) -> None:
    pairs = [effect for effect in effects.effects if len(set(effect.parameters)) == 2]
    if not pairs:
        axis.set_axis_off()
        return
    first, second = max(pairs, key=lambda effect: abs(effect.value)).parameters
    x = np.linspace(-1.0, 1.0, 41)
    for n, (level, word) in enumerate(((-1.0, "low"), (1.0, "high"))):
        y = _fit(effects, parameters, {first: x, second: np.full(len(x), level)})
        axis.plot(x, y, color=COLOURS[n], label=f"{second} {word}")
    _scale(axis, first, effects)


def _scale(axis: Any, label: str, effects: Effects) -> None:
    axis.set_xticks([-1.0, 0.0, 1.0], ["low", "middle", "high"])
    axis.set_xlabel(label)
    axis.set_ylabel(effects.title)
    axis.legend(fontsize=7)
    axis.grid(visible=True, linewidth=0.4, alpha=0.5)

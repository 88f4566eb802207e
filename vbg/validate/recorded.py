"""An effort that one solver recorded, as a smooth function of time for the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Recorded:
    """Samples of an effort; between them a cubic spline."""

    time: Array
    effort: Array

    @property
    def rates(self) -> Any:
        """Function of time that gives the effort and two derivatives."""
        from scipy.interpolate import CubicSpline

        spline = CubicSpline(self.time, self.effort)
        slope, curvature = spline.derivative(), spline.derivative(2)
        return lambda t: (float(spline(t)), float(slope(t)), float(curvature(t)))

"""Pictures of studies: laid out without complaint whether runs failed or not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from vbg.draw.study import StudyPicture, draw_study

X, Y = np.array([0.5, 0.75, 1.0]), np.array([1.0, 2.0, 4.0])


@pytest.mark.parametrize("parameters", [{"L": X}, {"L": X, "d": Y}, {"L": X, "d": Y, "k": X}])
@pytest.mark.parametrize("failed", [0, 1])
def test_panels_fill_the_picture(parameters, failed, tmp_path):
    pytest.importorskip("matplotlib")
    values = np.array([5.3, 6.3, 7.5])
    values[:failed] = np.nan
    measures = {"max(norm(hinge.force))": values, "final(hinge.angle)": values**2}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw_study(StudyPicture(parameters, measures, 2, {}), tmp_path / "s.svg", title="study")
    assert (tmp_path / "s.svg").stat().st_size > 5000

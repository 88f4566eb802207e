"""Frequencies in Hz and rad/s: no factor of 2 pi is lost without a word."""

from __future__ import annotations

from math import pi

import pytest

import vbg
from vbg.errors import ModelError

HEAD = """vbg = 1
[parameters]
f = "3 Hz"
g = "6 Hz"
w = "60 rpm"
n = 2.0
[translational.m]
kind = "mass"
nodes = ["x"]
m = 1.0
[translational.shake]
kind = "force"
nodes = ["x"]
force = "s"
[signals.s]
kind = "sine"
"""


def frequency(written: str, tmp_path) -> float:
    file = tmp_path / "shaker.toml"
    file.write_text(HEAD + f'frequency = "{written}"\n')
    return vbg.read(file).signals["s"].frequency


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("f", 6 * pi),
        ("f Hz", 6 * pi),
        ("2*pi*f", 6 * pi),
        ("n*f Hz", 12 * pi),
        ("2*f rad/s", 6.0),
        ("2*w", 4 * pi),
        ("w*g/f", 4 * pi),
    ],
)
def test_what_is_clear_is_taken(written: str, value: float, tmp_path) -> None:
    """f = 3 Hz is 6 pi rad/s; a ratio of frequencies is a plain number."""
    assert frequency(written, tmp_path) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("written", ["2*f", "n*f", "f + g", "sqrt(f*g)"])
def test_turns_in_a_field_of_radians_are_refused(written: str, tmp_path) -> None:
    """ "f" alone is converted; "1*f" beside it would be 6.28 times slower."""
    with pytest.raises(ModelError, match=r"Hz.*2 pi"):
        frequency(written, tmp_path)

"""An expression has no value where a part of it has none, whatever is left of that part: neither
solver goes on without a word."""

from __future__ import annotations

import pytest

import vbg
from tests.tail import tail
from vbg import tmm_bridge
from vbg.io import toml

SOLVERS = {"vbg": vbg.simulate, "tmm_bridge": tmm_bridge.simulate}
RUN = """vbg = 1
[translational.m]
kind = "mass"
nodes = ["a"]
m = 1
[translational.f]
kind = "force"
nodes = ["a"]
force = "1 + {law}"
[simulate]
t_end = 1.0
output_step = 0.25
"""
SPEED = "translational.a.speed"  # t
LAWS = [
    "0*sqrt({v})",
    "sqrt({v}) - sqrt({v})",
    "0/({v})",
    "0*sin(3*log({v}))",
    "(2*asin(1 - {v}) - asin(1 - {v})) - asin(1 - {v})",
    "0*({v})**0.5",
    "acos({v} + 1)*(3 - 3)",
]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("law", tail(LAWS, 3))
def test_what_has_no_value_is_told_and_what_has_one_counts_as_nothing(law, solver):
    lost = RUN.format(law=law.format(v=f"({SPEED} - 0.6)" if law != LAWS[2] else f"(0*{SPEED})"))
    kept = RUN.format(law=law.format(v=f"(0.5 + 0.1*{SPEED})"))
    if law == LAWS[6]:
        kept = kept.replace("+ 1)", "- 1)")
    try:
        found = SOLVERS[solver](toml.parse(lost))
    except vbg.VbgError:
        pass
    else:
        assert found.status.code == "failed", found.status
    found = SOLVERS[solver](toml.parse(kept))
    assert found.status.code == "finished", found.status
    assert found["f.force"] == pytest.approx(1.0, abs=1e-14)

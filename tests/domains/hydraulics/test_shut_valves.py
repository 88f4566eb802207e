"""A check valve before a relief valve that is shut: over it stands a rounding of two pressures."""

import math

import pytest

import vbg
from tests.tail import tail
from vbg.io import toml

LINE = """
vbg = 1
[hydraulic.source]
kind = "flow_source"
nodes = ["tank", "p"]
flow = "{flow!r}*sin(20*t)"
[hydraulic.vessel]
kind = "volume"
nodes = ["p"]
volume = "{volume!r} L"
bulk = 1.4e9
[hydraulic.check]
kind = "check_valve"
nodes = ["p", "q"]
conductance = "{factor!r} L/min/bar"
leakage = {of_check!r}
[hydraulic.relief]
kind = "relief_valve"
nodes = ["q", "tank"]
setting = "80 bar"
slope = "{slope!r} bar*min/L"
leakage = {of_relief!r}
[simulate]
t_end = {end}
"""


def line(of_check, of_relief, size=1.0, end=0.6):
    text = LINE.format(
        flow=1e-4 * size,
        volume=size,
        factor=2.0 * size,
        slope=2.0 / size,
        of_check=of_check * size,
        of_relief=of_relief * size,
        end=end,
    )
    return toml.parse(text, "")


# bulk (V flow / volume) = 80 bar, V = 1 L
OPENS = math.acos(1.0 - 20.0 * 80e5 * 1e-3 / 1.4e9 / 1e-4) / 20.0


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize(("of_check", "of_relief"), [(0.0, 1e-18), (0.0, 1e-22), (1e-15, 0.0)])
def test_no_valve_turns_over_with_the_sign_of_a_rounding(of_check, of_relief, size):
    found = vbg.simulate(line(of_check, of_relief, size))
    assert found.status.code == "finished"
    events = found.audit.events
    assert len(events) < 20
    opened = next(e.time for e in events if e.where == "relief.open")
    assert opened == pytest.approx(OPENS, rel=1e-7)
    above = found["vessel.pressure"] > 1e4
    behind = found["hydraulic.q.pressure"][above]
    before = found["vessel.pressure"][above]
    leaks = found["relief.flow"][above] < 1e-9 * size
    assert behind[leaks] == pytest.approx(before[leaks], rel=1e-7)


@pytest.mark.parametrize("size", tail([1e-3, 1.0], 1))
@pytest.mark.parametrize("of_relief", [1e-13, 1e-22])
def test_the_second_solver_agrees_where_the_relief_valve_leaks(of_relief, size):
    """Also where what the shut check valve leaves behind it drains by next to nothing: the slopes
    of the open valve say that it is drained already."""
    model = line(0.0, of_relief, size)
    # at 1e-10 the second solver's flow is 8e-9 or 1.6e-6 off, as rounding has it
    first, second = vbg.simulate(model, rtol=1e-10), vbg.tmm_bridge.simulate(model, rtol=1e-12)
    assert second.status.code == "finished"
    assert len(second.audit.events) < 20
    for name in ("vessel.pressure", "hydraulic.q.pressure", "relief.flow"):
        peak = abs(first[name]).max()
        assert second[name] == pytest.approx(first[name], abs=1e-6 * peak), name

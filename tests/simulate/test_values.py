"""A finished run has values: any signal without one fails it, by name and time."""

import numpy as np
import pytest

import vbg
from vbg import tmm_bridge
from vbg.solution import Solution, Status, with_values

FALLING = {
    "vbg": 1,
    "bodies": {"b": {"mass": 2.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}},
    "joints": {"s": {"kind": "prismatic", "between": ["ground", "b"], "axis": [0, 0, -1]}},
}


@pytest.mark.parametrize("method", ["auto", "rk4", "discrete-time"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_signal_that_loses_its_value_fails_the_run(method: str, scale: float) -> None:
    """It falls 9.81/2 t^2: the root of 0.5 - s ends at t = 0.3193 s, its rows stay."""
    signals = {"root": {"kind": "expression", "expression": f"{scale} * sqrt(0.5 - s.slide)"}}
    model = vbg.Model(**FALLING, signals=signals)
    solution = vbg.simulate(vbg.assemble(model), t_end=0.4, output_step=0.01, method=method)
    assert solution.status.code == "failed"
    assert solution.status.sentence.startswith("root has no value from t = 0.32 s.")
    assert len(solution.time) == 41
    assert np.isfinite(solution["root"][:32]).all() and np.isnan(solution["root"][32:]).all()
    assert np.isfinite(solution["s.slide"]).all()


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_the_first_signal_and_time_are_named(wrong: float) -> None:
    t = np.arange(4.0)
    vector = np.ones((4, 3))
    vector[2:, 1] = wrong
    late = np.array([0.0, 0.0, 0.0, wrong])
    whole = Solution(t, {"a": t})
    assert with_values(whole) is whole
    found = with_values(Solution(t, {"late": late, "v": vector}))
    assert found.status.sentence.startswith("v.y has no value from t = 2 s. 1 more")
    cancelled = Solution(t, {"late": late}, status=Status("cancelled", "Cancelled."))
    assert with_values(cancelled) is cancelled


def chamber_without_stops() -> vbg.Model:
    return vbg.Model(
        name="press",
        bodies={"ram": {"mass": 5.0, "inertia": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}},
        joints={"slide": {"kind": "prismatic", "between": ["ground", "ram"], "axis": [1, 0, 0]}},
        hydraulic={
            "pump": {"kind": "pressure_source", "nodes": ["p", "tank"], "pressure": 5e6},
            "inlet": {"kind": "orifice", "nodes": ["p", "a"], "area": 1e-5},
            "outlet": {"kind": "orifice", "nodes": ["b", "tank"], "area": 1e-5},
            "cyl": {
                "kind": "cylinder",
                "nodes": ["a", "b"],
                "on": "joints.slide",
                "area_a": 1e-3,
                "stroke": 0.1,
                "k": 0.0,
            },
        },
    )


@pytest.mark.parametrize("method", ["auto", "radau"])
@pytest.mark.parametrize("rtol", [1e-8, 1e-6, 1e-4])
def test_no_step_leaps_to_a_volume_below_zero(rtol, method):
    """Content over volume would be that of a full chamber there; 1e-5 m^3 of dead volume on
    1e-3 m^2 end at a stroke of 0.11 m."""
    found = vbg.simulate(
        chamber_without_stops(), t_end=3.0, output_step=1e-2, rtol=rtol, method=method
    )
    assert found.status.code == "failed"
    assert "oil of cyl on the node 'b' has no volume left" in found.status.sentence
    assert found["cyl.stroke"].max() < 0.11


@pytest.mark.parametrize("rtol", [1e-8, 1e-6, 1e-4])
def test_nor_in_the_second_solver(rtol):
    found = tmm_bridge.simulate(chamber_without_stops(), t_end=3.0, output_step=1e-2, rtol=rtol)
    assert found.status.code == "failed"
    assert found["cyl.stroke"].max() < 0.11


def test_the_state_whose_rate_ends_is_named():
    model = vbg.Model(
        name="ends",
        bodies={"b": {"mass": 1.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}},
        joints={"j": {"kind": "prismatic", "between": ["ground", "b"], "axis": [0, 0, 1]}},
        forces={"f": {"kind": "force", "on": "b", "force": [0, 0, "sqrt(0.5 - t)"]}},
    )
    found = vbg.simulate(model, t_end=1.0, output_step=0.01)
    assert found.status.code == "failed"
    assert "the rate of b.momentum" in found.status.sentence

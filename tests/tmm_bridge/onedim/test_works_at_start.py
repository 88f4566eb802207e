"""What stores take from sources before the first row belongs to the start, in both solvers.

A source has what it read at its stroke at t = 0, or what it holds until a later one, before the
first row: the stores that it ties are charged there, and no work is counted.  From there on

    stored + dissipated - supplied = stored at the start.

Nor do integrals and filters read the impulse: they begin as they are written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import Generator
from numpy.testing import assert_allclose

import vbg
from tests.tail import tail
from vbg.tmm_bridge import simulate
from vbg.validate import validate

Tables = dict[str, Any]
AUDIT = 1e-9  # of the largest energy


def on(kind: str, nodes: str, **fields: Any) -> Tables:
    return {"kind": kind, "nodes": nodes.split(), **fields}


def written(draw: Generator, **start: float) -> dict[str, float]:
    """Start values, of which some are left out."""
    return {name: value for name, value in start.items() if draw.uniform() < 0.6}


def capacitors(draw: Generator, effort: float, second: float) -> Tables:
    """One across the source, two that divide its voltage, a resistor."""
    C1, C2, C3 = draw.uniform(0.3, 3.0, 3).tolist()
    v1, v2, v3 = (effort * draw.uniform(-2.0, 2.0, 3)).tolist()
    return {
        "electric": {
            "source": on("voltage_source", "a gnd", voltage="u"),
            "across": on("capacitor", "a gnd", C=C1, **written(draw, voltage=v1)),
            "upper": on("capacitor", "a b", C=C2, **written(draw, voltage=v2)),
            "lower": on("capacitor", "b gnd", C=C3, **written(draw, voltage=v3)),
            "loss": on("resistor", "b gnd", R=second),
        }
    }


def coils(draw: Generator, effort: float, second: float) -> Tables:
    """One in the way of the current, two that share it, a resistor."""
    L1, L2, L3 = draw.uniform(0.3, 3.0, 3).tolist()
    i1, i2, i3 = (effort * draw.uniform(-2.0, 2.0, 3)).tolist()
    return {
        "electric": {
            "source": on("current_source", "gnd a", current="u"),
            "behind": on("inductor", "a b", L=L1, **written(draw, current=i1)),
            "one": on("inductor", "b c", L=L2, **written(draw, current=i2)),
            "loss": on("resistor", "c gnd", R=1.0 / second),
            "two": on("inductor", "b gnd", L=L3, **written(draw, current=i3)),
        }
    }


def springs(draw: Generator, effort: float, second: float) -> Tables:
    """Raw stores of an effort, one of them stiffening, a resistance."""
    q1, q2 = (effort * draw.uniform(-2.0, 2.0, 2)).tolist()
    return {
        "bonds": ["S -> all", "all -> one", "all -> way", "way -> two", "way -> loss"],
        "bondgraph": {
            "S": {"kind": "Se", "effort": ["u"]},
            "all": {"kind": "0"},
            "way": {"kind": "1"},
            "one": {"kind": "C", "energy": f"q^2 + q^4/{effort**2!r}", "initial": [q1]},
            "two": {"kind": "C", "value": float(draw.uniform(0.3, 3.0)), "initial": [q2]},
            "loss": {"kind": "R", "value": second},
        },
    }


def masses(draw: Generator, effort: float, second: float) -> Tables:
    """Raw stores of a flow, a resistance between them."""
    p1, p2 = (effort * draw.uniform(-2.0, 2.0, 2)).tolist()
    return {
        "bonds": ["S -> all", "all -> one", "all -> node", "node -> two", "node -> loss"],
        "bondgraph": {
            "S": {"kind": "Sf", "flow": ["u"]},
            "all": {"kind": "1"},
            "node": {"kind": "0"},
            "one": {"kind": "I", "value": float(draw.uniform(0.3, 3.0)), "initial": [p1]},
            "two": {"kind": "I", "value": float(draw.uniform(0.3, 3.0)), "initial": [p2]},
            "loss": {"kind": "R", "value": 1.0 / second},
        },
    }


def turned(draw: Generator, effort: float, second: float) -> Tables:
    """The same behind a gyrator, whose effort is the source's flow."""
    tables = masses(draw, effort, second)
    tables["bonds"][0] = "turn -> all"
    tables["bonds"].append("S -> turn")
    ratio = float(draw.uniform(0.3, 3.0))
    tables["bondgraph"] |= {
        "S": {"kind": "Se", "effort": ["u"]},
        "turn": {"kind": "GY", "ratio": ratio},
    }
    return tables


STORES: dict[str, Callable[[Generator, float, float], Tables]] = {
    "capacitors": capacitors,
    "coils": coils,
    "springs": springs,
    "masses": masses,
    "turned": turned,
}


def machine(stores: str, first: str, seed: int) -> vbg.Model:
    """Stores on a source that a sampler gives, from its stroke at t = 0 or a later one on."""
    draw = np.random.default_rng([seed, *map(ord, stores + first)])
    effort, second = (10.0 ** draw.uniform(-2.0, 2.0, 2)).tolist()
    begins, swing, held = (effort * draw.uniform((2.0, 0.3, 1.0), (4.0, 0.9, 3.0))).tolist()
    clock = {"period": 0.3 * second} | ({} if first == "read" else {"start": 0.2 * second})
    given = {"kind": "sample_and_hold", "input": f"{begins!r} + {swing!r}*sin(4*t/{second!r})"}
    return vbg.Model(
        name=f"{stores} {first}",
        outputs={"energy": True},
        signals={"u": given | clock | {"initial": held}},
        simulate={"t_end": second, "output_step": 0.04 * second},
        **STORES[stores](draw, effort, second),
    )


@pytest.mark.parametrize("seed", tail(range(6), 1))
@pytest.mark.parametrize("first", ["read", "held"])
@pytest.mark.parametrize("stores", STORES)
def test_no_work_is_counted_before_the_first_row(stores: str, first: str, seed: int) -> None:
    model = machine(stores, first, seed)
    for run in (solve(model, rtol=1e-11, atol=1e-13) for solve in (vbg.simulate, simulate)):
        assert run.status.code == "finished"
        assert run["energy.supplied"][0] == run["energy.dissipated"][0] == 0.0
        kept = run["energy.stored"] + run["energy.dissipated"] - run["energy.supplied"]
        largest = float(np.abs(run["energy.stored"]).max())
        assert_allclose(kept, kept[0], rtol=0, atol=AUDIT * largest)
    report = validate(model, in_children=False)
    assert report.result == "PASS", report.verdict.sentence


def read(store: str, seed: int) -> tuple[vbg.Model, tuple[float, ...]]:
    """A store on a source that a sampler gives, of any size and pace; an integral of what ties
    both, which begins at a share of what the source has, and a circuit that follows it."""
    draw = np.random.default_rng([seed, *map(ord, store)])
    size, period = (10.0 ** draw.uniform((-6.0, -3.0), 3.0)).tolist()
    begins = float(10.0 ** draw.uniform(-3.0, 3.0))
    held, value, grows = (begins * draw.uniform((-2.0, -2.0, 0.3), 2.0)).tolist()
    share = float(draw.uniform(-1.0, 1.0))
    kind, given, told, nodes, S, start = {
        "capacitor": ("voltage_source", "voltage", "current", "a gnd", "C", "voltage"),
        "inductor": ("current_source", "current", "voltage", "gnd a", "L", "current"),
    }[store]
    electric = {
        "source": on(kind, nodes, **{given: "u"}),
        "store": on(store, "a gnd", **{S: size}, **written(draw, **{start: value})),
        "follows": on("voltage_source", "b gnd", voltage=f"taken/{size!r}"),
        "R": on("resistor", "b c", R=2.0),
        "C": on("capacitor", "c gnd", C=0.3 * period, voltage=0.0),
    }
    integral = {"inputs": [f"store.{told}"], "initial": [share * begins * size]}
    expression = f"{begins!r} + {grows!r}*t/{period!r}"
    signals = {
        "u": {"kind": "sample_and_hold", "input": expression, "period": period, "initial": held},
        "taken": {"kind": "state_space", "A": [[0.0]], "B": [[1.0]], "C": [1.0], **integral},
    }
    settings = {"t_end": 3.5 * period, "output_step": 0.1 * period, "rtol": 1e-9}
    outputs = {"energy": True}
    model = vbg.Model(
        name=store, electric=electric, signals=signals, outputs=outputs, simulate=settings
    )
    return model, (size, period, share * begins, grows)


@pytest.mark.parametrize("seed", tail(range(12), 1))
@pytest.mark.parametrize("store", ["capacitor", "inductor"])
def test_what_reads_the_impulse_of_the_start_begins_as_written(store: str, seed: int) -> None:
    """It takes S (u - u(0)), S the store's size, of all later strokes: u(0) was there before the
    first row, whatever the sampler held or the store was written with."""
    model, (size, period, begins, grows) = read(store, seed)
    runs = [solve(model) for solve in (vbg.simulate, simulate)]
    for run in runs:
        assert run.status.code == "finished" and not run.audit.failures
        strokes = np.floor(run.time / period + 1e-6)
        expected = begins + grows * strokes
        largest = np.abs(expected).max()
        assert_allclose(run["taken"] / size, expected, rtol=0, atol=1e-7 * largest)
    followed = [run["C.voltage"] for run in runs]
    assert_allclose(followed[1], followed[0], rtol=0, atol=1e-6 * np.abs(followed[0]).max())
    report = validate(model, in_children=False)
    assert report.result == "PASS", report.verdict.sentence


def test_stores_that_begin_apart_come_together_unread() -> None:
    """Two capacitors side by side, written with different voltages: what they exchange there is of
    the start for a linear law and for any other."""
    draw = np.random.default_rng(5)
    for law in ("one.current", "one.current^2", "abs(one.current)"):
        C, v = draw.uniform(0.3, 3.0, 2).tolist(), draw.uniform(-3.0, 3.0, 2).tolist()
        names = "one", "two"
        electric = {
            name: on("capacitor", "a gnd", C=size, voltage=start)
            for name, size, start in zip(names, C, v, strict=True)
        }
        electric["R"] = on("resistor", "a gnd", R=2.0)
        signals = {
            "sum": {
                "kind": "transfer_function",
                "input": law,
                "numerator": [1.0],
                "denominator": [1.0, 0.0],
            }
        }
        settings = {"t_end": 1.0, "output_step": 0.1, "rtol": 1e-9}
        model = vbg.Model(name=law, electric=electric, signals=signals, simulate=settings)
        first, second = vbg.simulate(model), simulate(model)
        assert first["sum"][0] == second["sum"][0] == 0.0
        largest = np.abs(first["sum"]).max()
        assert_allclose(second["sum"], first["sum"], rtol=0, atol=1e-6 * largest)

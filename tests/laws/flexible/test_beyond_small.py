"""Flexible bodies have no geometric stiffness: a run that needs it says so, others do not."""

import json

import numpy as np
import pytest

import vbg
from tests.laws.flexible.test_flexible_bodies import flexible
from tests.tail import tail
from vbg.analysis.rest.operating import operating_point
from vbg.cli.main import main
from vbg.validate import validate

N = 8  # elements of the strip


def strip(length, EI, mu):
    """M, K, nodes of a strip along x, lumped masses."""
    one, size = length / N, 6 * (N + 1)
    K, M = np.zeros((size, size)), np.zeros((size, size))
    EA, GJ = 4e3 * EI / length**2, 0.8 * EI
    for e in range(N):
        at = 6 * e
        for i, k in ((0, EA / one), (3, GJ / one)):
            K[np.ix_([at + i, at + i + 6], [at + i, at + i + 6])] += k * np.array(
                [[1, -1], [-1, 1]]
            )
        for y, turn, s in ((1, 5, one), (2, 4, -one)):
            ends, d = [at + y, at + turn, at + y + 6, at + turn + 6], np.diag([1, s, 1, s])
            bend = np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]])
            K[np.ix_(ends, ends)] += EI / one**3 * d @ bend @ d
        for node in (at, at + 6):
            small = 1e-4 * length**2
            M[range(node, node + 6), range(node, node + 6)] += (
                mu * one / 2 * np.array([1, 1, 1, small, small, small])
            )
    return M, K, np.column_stack([np.linspace(0, length, N + 1), np.zeros((N + 1, 2))])


def machine(length, EI, mu, joint, forces=None, gravity=(0, 0, 0), **more):
    body = {
        "flexible": flexible(strip(length, EI, mu), {"hub": 0, "tip": N}, modes=3, damping=0.02)
    }
    return vbg.Model(
        name="strip",
        gravity=list(gravity),
        bodies={"arm": body | more},
        joints={"hinge": {"between": ["ground", "arm.hub"], **joint}},
        forces=forces or {},
    )


def told(solution):
    return [note.what for note in solution.notes if note.where == "bodies.arm"]


def draws(count):
    """Length [m], EI [N m^2], mass per length [kg/m] of strips of any scale."""
    for seed in range(count):
        random = np.random.default_rng(seed)
        yield [*10.0 ** random.uniform((-2, -3, -3), (1.5, 5, 2))]


def driven(length, EI, mu, share, axis=(0, 0, 1)):
    """One that turns at `share` of its lowest frequency, 3.516 sqrt(EI / mu) / length^2."""
    speed = float(share * 3.516 * np.sqrt(EI / mu) / length**2)
    joint = {"kind": "revolute", "axis": list(axis), "drive": f"{speed!r}*t"}
    return machine(length, EI, mu, joint), speed


@pytest.mark.parametrize("size", tail(list(draws(4)), 2))
def test_blades_that_turn_fast_are_told(size):
    """Southwell's share W^2 / c^2 of the stiffness, from a hundredth on; a shaft that turns about
    its own line has none at any speed."""
    length, EI, mu = map(float, size)
    for share in (0.09, 0.11, 0.5):
        model, speed = driven(length, EI, mu, float(share))
        run = vbg.simulate(model, t_end=0.01 / speed, output_step=0.005 / speed, method="radau")
        found = [what for what in told(run) if "turns" in what]
        assert len(found) == (share > 0.1) and not any("by its own" in what for what in told(run))
        if found:
            percent = float(found[0].split("about ")[1].split(" %")[0])
            assert percent == pytest.approx(100 * share**2, rel=0.06)
    model, speed = driven(length, EI, mu, 5.0, axis=(1, 0, 0))
    run = vbg.simulate(model, t_end=0.01 / speed, output_step=0.005 / speed, method="radau")
    assert not told(run)


@pytest.mark.parametrize("size", tail(list(draws(4)), 2))
def test_columns_near_their_buckling_are_told(size):
    """Clamped, pressed or pulled at the other end: a tenth of 3 EI / l^2."""
    length, EI, mu = map(float, size)
    period = length**2 * np.sqrt(mu / EI)
    for share in (0.09, 0.11, -0.09, -0.11):
        force = [-float(share) * 3.0 * EI / length**2, 0.0, 0.0]
        push = {"push": {"kind": "force", "on": "arm.tip", "force": force}}
        model = machine(length, EI, mu, {"kind": "fixed"}, push)
        run = vbg.simulate(model, t_end=0.01 * period, output_step=0.005 * period, method="radau")
        found = told(run)
        assert len(found) == (abs(share) > 0.1), found
        assert all(("pulled" if share < 0.0 else "pressed") in what for what in found)


@pytest.mark.parametrize("size", tail(list(draws(4)), 2))
def test_columns_near_buckling_by_their_own_mass_are_told(size):
    """Clamped, standing or hanging in any posture: m g beside a tenth of 10 EI / l^2, 1/k being the
    mean deflection l^3 / (20 EI) under a load that is spread as the mass is."""
    length, EI, mu = map(float, size)
    angle = float(np.random.default_rng(int(1e3 * length)).uniform(0.0, 3.0))
    joint = {"kind": "revolute", "axis": [0, 0, 1], "drive": f"{angle!r}"}
    for share in (0.095, 0.105, -0.095, -0.105):
        g = float(share) * 10.0 * EI / (mu * length**3)
        gravity = [-g * float(np.cos(angle)), -g * float(np.sin(angle)), 0.0]
        period = length**2 * np.sqrt(mu / EI)
        spans = {"t_end": 0.01 * period, "output_step": 0.005 * period}
        model = machine(length, EI, mu, joint, gravity=gravity)
        found = told(vbg.simulate(model, start="equilibrium", method="radau", **spans))
        assert len(found) == (abs(share) > 0.1), (share, found)
        assert all("by its own mass" in what for what in found)


@pytest.mark.parametrize("size", tail(list(draws(4)), 2))
def test_blades_on_fast_actuators_are_told(size):
    """Of an acceleration that sets in at once the body feels up to twice as much, as it rings."""
    length, EI, mu = map(float, size)
    period = length**2 * np.sqrt(mu / EI)
    spans = {"t_end": float(0.03 * period), "output_step": float(0.003 * period)}
    for share, word in ((0.04, ""), (0.3, "pressed"), (-0.3, "pulled")):
        model = thrown(length, EI, mu, float(share))
        found = told(vbg.simulate(model, method="radau", **spans))
        assert len(found) == bool(word) and all(f"is {word} by its own" in one for one in found)


def thrown(length, EI, mu, share):
    """One on a slider along its line, at this share of 10 EI / l^2."""
    a = share * 10.0 * EI / (mu * length**3)
    return machine(
        length, EI, mu, {"kind": "prismatic", "axis": [1, 0, 0], "drive": f"{a / 2!r}*t^2"}
    )


@pytest.mark.parametrize("size", tail(list(draws(4)), 2))
def test_large_deflections_are_told(size):
    """P l^3 / (3 EI) of a tip at rest under its load, beside a tenth of the length."""
    length, EI, mu = map(float, size)
    period = length**2 * np.sqrt(mu / EI)
    for share in (0.09, 0.11):
        force = [0.0, 0.0, float(share) * 3.0 * EI / length**2]
        push = {"push": {"kind": "force", "on": "arm.tip", "force": force}}
        model = machine(length, EI, mu, {"kind": "fixed"}, push)
        run = vbg.simulate(
            model,
            start="equilibrium",
            t_end=0.01 * period,
            output_step=0.005 * period,
            method="radau",
        )
        found = [what for what in told(run) if "bends" in what]
        assert len(found) == (share > 0.1)


@pytest.mark.parametrize("seed", tail(list(range(12)), 2))
def test_rests_of_loaded_beams_are_found_at_any_pace(seed):
    """From 0.1 us to 1000 s, pushed any way, whatever the last digits are."""
    random = np.random.default_rng(seed)
    length, period = 10.0 ** random.uniform((-1.5, -7.0), (2.0, 3.0))
    mu = length**2 * 10.0 ** random.uniform(-2.0, 2.0)
    way = random.standard_normal(3) * [0.0, 1.0, 1.0]
    for _ in range(1 + 9 * (seed > 1)):
        digits = 1.0 + 1e-13 * random.standard_normal(3)
        size = digits * np.array([length, length**4 * mu / period**2, mu])
        reach, EI, m = map(float, size)
        force = (0.09 * 3.0 * EI / reach**2 * way / np.linalg.norm(way)).tolist()
        push = {"push": {"kind": "force", "on": "arm.tip", "force": force}}
        system = vbg.assemble(machine(reach, EI, m, {"kind": "fixed"}, push))
        point = operating_point(system)
        assert point.kind == "equilibrium", point.sentence


@pytest.mark.slow
def test_verdicts_and_poles_say_it_too(tmp_path, capsys):
    """Both solvers have the same matrices: no second solution tells what they lack."""
    model, speed = driven(1.0, 1e3, 1.2, 0.5)
    report = validate(model, t_end=0.01 / speed, output_step=0.005 / speed)
    assert any("arm: turns" in note for note in report.verdict.notes)
    vbg.write(model, tmp_path / "blade.toml")
    main(["show", "modes", str(tmp_path / "blade.toml"), "--about", "start"])
    assert "arm turns" in capsys.readouterr().out
    main(["show", "modes", str(tmp_path / "blade.toml"), "--about", "start", "--json"])
    assert json.loads(capsys.readouterr().out)["warnings"]


@pytest.mark.parametrize("solver", ["vbg", "mstmm"])
def test_a_run_of_either_solver_tells_it(solver, tmp_path, capsys):
    turning, speed = driven(1.0, 1e3, 1.2, 0.5)
    fast = thrown(1.0, 1e3, 1.2, 20.0)
    for model, t_end, word in ((turning, 0.01 / speed, "turns"), (fast, 1e-5, "is pressed")):
        vbg.write(model, tmp_path / "blade.toml")
        span = ["--t-end", repr(t_end), "--output-step", repr(t_end / 2)]
        main(["run", str(tmp_path / "blade.toml"), "--solver", solver, *span])
        assert f"warning: bodies.arm: {word}" in capsys.readouterr().out


def test_vibration_of_a_pressed_column_tells_it(tmp_path, capsys):
    """In words and for programs."""
    length, EI, mu = 1.0, 1e3, 1.2
    push = {"push": {"kind": "force", "on": "arm.tip", "force": [-0.9 * EI / length**2, 0, 0]}}
    file = tmp_path / "column.toml"
    vbg.write(machine(length, EI, mu, {"kind": "fixed"}, push), file)
    main(["show", "vibration", str(file)])
    assert "is pressed" in capsys.readouterr().out
    main(["show", "vibration", str(file), "--json"])
    assert "is pressed" in json.loads(capsys.readouterr().out)["warnings"][0]


def test_what_is_held_in_its_middle_has_two_sides():
    """Half the mass and half the length each, 40 EI / l^2: one is pressed, the other pulled, and a
    hub whose mass is at the point itself adds nothing."""
    length, EI, mu = 2.0, 30.0, 0.7
    M, K, nodes = strip(length, EI, mu)
    for hub in (0.0, 50.0):
        heavy = M.copy()
        middle = range(6 * (N // 2), 6 * (N // 2) + 3)
        heavy[middle, middle] += hub
        own = flexible((heavy, K, nodes), {"hub": N // 2, "tip": N}, modes=6, damping=0.02)
        for share in (0.09, 0.11):
            g = share * 40.0 * EI / (mu * length / 2 * length**2)
            model = vbg.Model(
                gravity=[g, 0, 0],
                bodies={"arm": {"flexible": own}},
                joints={"hinge": {"kind": "fixed", "between": ["ground", "arm.hub"]}},
            )
            spans = {"t_end": 1e-3, "output_step": 5e-4}
            found = told(vbg.simulate(model, start="equilibrium", method="radau", **spans))
            assert len(found) == (share > 0.1), (hub, share, found)


def column(size, holder, tip, own):
    """One at rest, held in this way at its hub, with these shares of 3 EI / l^2 at its tip and of
    10 EI / l^2 of its own weight."""
    length, EI, mu = map(float, size)
    stiff = [1e7 * EI / length**3] * 3 + [1e6 * EI / length] * 3
    ends = {"between": ["ground", "arm.hub"]}
    rigid = dict(zip(("EA", "GJ", "EI_y", "EI_z"), np.array([1, 1, 1, 1]) * 1e6 * EI, strict=True))
    rigid = {key: float(value) for key, value in rigid.items()}
    rigid["EA"] /= length**2
    holders = {
        "fixed": {"kind": "fixed"},
        "bushing": {"kind": "bushing", "stiffness": stiff},
        "beam_element": {"kind": "beam_element", "length": 0.1 * length, **rigid},
    }
    part = {"holder": ends | holders[holder]}
    force = [-float(tip) * 3.0 * EI / length**2, 0.0, 0.0]
    push = {"push": {"kind": "force", "on": "arm.tip", "force": force}}
    own_mesh = flexible(strip(length, EI, mu), {"hub": 0, "tip": N}, modes=3, damping=0.02)
    return vbg.Model(
        gravity=[-float(own) * 10.0 * EI / (mu * length**3), 0.0, 0.0],
        bodies={"arm": {"flexible": own_mesh, "position": [length / 2, 0.0, 0.0]}},
        joints=part if holder == "fixed" else {},
        forces=push if holder == "fixed" else push | part,
    )


@pytest.mark.parametrize("holder", ["fixed", "bushing", "beam_element"])
@pytest.mark.parametrize("size", tail(list(draws(3)), 1))
def test_loads_of_a_column_add_up_whatever_holds_it(size, holder):
    """N / (3 EI / l^2) + m g / (10 EI / l^2) beside a tenth, in any mixture and with either sign;
    loads that are each below it are told where they are above it together."""
    length, EI, mu = map(float, size)
    period = length**2 * np.sqrt(mu / EI)
    spans = {"t_end": float(0.01 * period), "output_step": float(0.005 * period)}
    for mixture in (0.0, 1.0, float(np.random.default_rng(int(1e4 * length)).uniform(0.2, 0.8))):
        for total in (0.095, 0.105, -0.095, -0.105):
            model = column(size, holder, mixture * total, (1.0 - mixture) * total)
            found = told(vbg.simulate(model, start="equilibrium", method="radau", **spans))
            assert len(found) == (abs(total) > 0.1), (mixture, total, found)
            assert all(("pulled" if total < 0.0 else "pressed") in what for what in found)
            if 0.0 < mixture < 1.0 and found:
                assert "between its points hub and tip" in found[0] and "own mass" in found[0]


def test_a_load_that_cancels_another_elsewhere_hides_nothing():
    """A column that is pressed at its hub and pulled at its tip is neither in sum."""
    found = told(
        vbg.simulate(
            column((1.3, 40.0, 0.6), "bushing", -0.6, 0.6),
            start="equilibrium",
            method="radau",
            t_end=1e-3,
            output_step=5e-4,
        )
    )
    assert len(found) == 1 and "its matrices do not know" in found[0]


def test_what_springs_hold_is_told():
    """A strip that hangs on springs by its tip and stands on none is pulled by its own weight."""
    length, EI, mu = 1.3, 40.0, 0.6
    for share in (0.09, 0.11):
        own_mesh = flexible(strip(length, EI, mu), {"hub": 0, "tip": N}, modes=3, damping=0.02)
        g = share * 10.0 * EI / (mu * length**3)
        spring = {"kind": "spring", "k": 1e7 * EI / length**3, "length": 0.2 * length}
        spring["between"] = [{"body": "ground", "at": [1.7 * length, 0, 0]}, "arm.tip"]
        model = vbg.Model(
            gravity=[-g, 0.0, 0.0],
            bodies={"arm": {"flexible": own_mesh, "position": [length, 0.0, 0.0]}},
            forces={"hook": spring},
        )
        run = vbg.simulate(model, start="equilibrium", method="radau", t_end=1e-3, output_step=5e-4)
        assert len(told(run)) == (share > 0.1), (share, told(run))

"""Joints that open and close: momentum at the impact, free flight behind the release."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vbg
from tests.anywhere import shaken
from tests.tail import only
from vbg.analysis.begin import instant_of
from vbg.errors import AssemblyError, ModelError, UsageError
from vbg.io import toml
from vbg.spatial import rotation_matrix
from vbg.tmm_bridge import simulate as second
from vbg.validate import validate

WAGONS = """
vbg = 1
gravity = [0, 0, 0]
[bodies.A]
mass = 2
inertia = {{ xx = {J}, yy = {J}, zz = {J} }}
points = {{ front = [{h}, 0, 0] }}
[bodies.B]
mass = 3
inertia = {{ xx = {J}, yy = {J}, zz = {J} }}
position = [{far}, 0, 0]
points = {{ rear = [-{h}, 0, 0] }}
[joints.a]
kind = "prismatic"
between = ["ground", "A"]
axis = [1, 0, 0]
initial = {{ speed = {v} }}
[joints.b]
kind = "prismatic"
between = [{{ body = "ground", at = [{far}, 0, 0] }}, "B"]
axis = [1, 0, 0]
[joints.hook]
kind = "{kind}"
between = ["A.front", "B.rear"]
engage = "{far} + b.slide - a.slide < {gap}"
{more}
[simulate]
t_end = 1.0
output_step = 0.05
"""

DOCK = """
vbg = 1
gravity = [0, 0, 0]
[bodies.A]
mass = 2
inertia = {{ xx = 0.3, yy = 0.4, zz = 0.5 }}
points = {{ front = [0.5, 0.1, 0.05] }}
position = [0, 0, 0]
[bodies.B]
mass = 3
inertia = {{ xx = 0.6, yy = 0.7, zz = 0.9 }}
position = [2, 0.4, 0.2]
points = {{ rear = [-0.5, -0.3, -0.15] }}
[joints.rail]
kind = "prismatic"
between = ["ground", "A"]
axis = [1, 0, 0]
initial = {{ speed = 3 }}
release = "t > 0.2"
[joints.hook]
kind = "{kind}"
between = ["A.front", "B.rear"]
engage = "rail.slide > 1"
[simulate]
t_end = 0.6
output_step = "1/60"
rtol = 1e-9
"""

DROP = """
vbg = 1
[bodies.arm]
mass = 2
inertia = {{ xx = 0.02, yy = 0.05, zz = 0.06 }}
points = {{ root = [-0.3, 0, 0], tip = [0.3, 0, 0] }}
[bodies.load]
mass = 0.7
inertia = {{ xx = 0.004, yy = 0.005, zz = 0.003 }}
points = {{ eye = [0, 0, 0.1] }}
position = [0.6, 0, {z}]
[joints.hinge]
kind = "revolute"
between = ["ground", "arm.root"]
axis = [0, 1, 0.2]
initial = {{ angle = 0, speed = 1.5 }}
[joints.hold]
kind = "{kind}"
between = ["arm.tip", "load.eye"]
release = "t > 0.3"
{more}
[simulate]
t_end = 0.5
output_step = 0.02
rtol = 1e-9
"""

# a stop that is pressed and a friction that turns as the joint opens
KINDS = {
    "fixed": "",
    "revolute": """axis = [1, 0.3, 0]
initial = { speed = 2 }
friction = { viscous = 0.05 }
stop = { upper = 0.2, k = 50, c = 0.1 }""",
    "prismatic": """axis = [1, 0.3, 0]
initial = { speed = 0.7 }
friction = { viscous = 0.5 }
stop = { upper = 0.05, k = 1e3 }""",
    "cylindrical": "axis = [1, 0.3, 0]\ninitial = { speed = 0.7, slide_speed = 0.3 }",
    "spherical": "",
    "planar": "axis = [0, 0.2, 1]",
    "point_on_line": "axis = [0, 0.2, 1]",
    "point_on_plane": "axis = [0, 0.2, 1]",
    "distance": "length = 0.15",
}


def read(text: str, **words) -> vbg.Model:
    return toml.parse(text.format(**words))


def drop(kind: str) -> vbg.Model:
    return read(DROP, kind=kind, more=KINDS[kind], z=-0.25 if kind == "distance" else -0.1)


def wagons(kind: str = "fixed", size: float = 1.0, more: str = "") -> vbg.Model:
    numbers = {"J": size**2, "h": 0.5 * size, "far": 2 * size, "v": 4 * size, "gap": size}
    return read(WAGONS, kind=kind, more=more, **numbers)


def differences(one: vbg.Solution, other: vbg.Solution, event: float) -> dict[str, float]:
    """By signal, of its peak or of 1e-3, rows at the event left out."""
    kept = np.abs(one.time - event) > 1e-6
    found = {}
    for name, values in one.signals.items():
        if name in other.signals and "residual" not in name:
            x, y = values[kept], other[name][kept]
            if name.endswith("rotation"):
                y = y * np.sign(np.sum(x * y, axis=1, keepdims=True))
            found[name] = float(np.abs(x - y).max() / (np.abs(x).max() + 1e-3))
    return found


@pytest.mark.parametrize("size", [1.0, *only([], [1e-6, 1e6])])
@pytest.mark.parametrize("solve", [vbg.simulate, second])
def test_wagons_that_couple_go_on_with_their_common_momentum(solve, size):
    """v = m1 v1 / (m1 + m2), impulse m2 v, lost mu v1^2 / 2 with mu the reduced mass."""
    solution = solve(wagons(size=size))
    assert solution.status.code == "finished"
    assert solution["b.speed"][-1] == pytest.approx(1.6 * size, rel=1e-9)
    assert solution["a.speed"][-1] == pytest.approx(1.6 * size, rel=1e-9)
    assert solution["hook.impulse"][-1] == pytest.approx([4.8 * size, 0, 0], rel=1e-9)
    assert solution["hook.lost"][-1] == pytest.approx(9.6 * size**2, rel=1e-9)
    assert solution["energy.dissipated"][-1] == pytest.approx(9.6 * size**2, rel=1e-9)
    there = solution.time != 0.25
    np.testing.assert_array_equal(solution["hook.open"][there], (solution.time < 0.25)[there])
    assert not solution.audit.failures


def test_a_coupling_holds_at_any_rounding():
    for start in shaken(vbg.start(wagons("point_on_plane", more="axis = [1, 0, 0]"))):
        solution = vbg.simulate(start)
        assert solution["hook.lost"][-1] == pytest.approx(9.6, rel=1e-9)
        assert solution["hook.open"][-1] == 0.0


@pytest.mark.parametrize("solve", [vbg.simulate, second])
def test_what_is_let_go_with_the_other_speed_stays_open(solve):
    """Behind the release both wagons run side by side, where rounding alone says who is ahead."""
    solution = solve(wagons(more='release = "t > 0.7"\nopen = true'))
    assert solution["hook.open"][-1] == 1.0 and solution["hook.lost"][-1] == pytest.approx(9.6)


@pytest.mark.parametrize("solve", [vbg.simulate, second])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_release_that_is_true_already_lets_go_behind_the_impact(solve, size):
    """Closed and open in one instant: the impulse L has passed, and L^2 / (2 mu) is lost.  The
    wagons, alike in speed there, part as one of them is braked."""
    text = WAGONS.replace("initial = {{", "friction = {{ viscous = 0.2 }}\ninitial = {{")
    text = text.replace('engage = "', 'open = true\nengage = "')
    numbers = {"J": size**2, "h": 0.5 * size, "far": 2 * size, "v": 4 * size, "gap": size}
    solution = solve(read(text, kind="fixed", more='release = "b.slide > -1"', **numbers))
    assert solution.status.code == "finished" and not solution.audit.failures
    impulse = solution["hook.impulse"][-1, 0]
    arrives = 4.0 - 0.2 / 2 * 1.0  # m v' = -c v over one length
    assert impulse == pytest.approx(1.2 * arrives * size, rel=1e-7)
    assert solution["hook.lost"][-1] == pytest.approx(impulse**2 / 2.4, rel=1e-7)
    assert solution["hook.open"][-1] == 1.0
    largest = solution["energy.stored"][0]
    assert np.abs(solution["energy.residual"]).max() < 1e-8 * largest


@pytest.mark.parametrize("solve", [vbg.simulate, second])
@pytest.mark.parametrize("release", ["t > 0.7", "b.slide > 0.4"])
def test_what_lets_go_while_its_engage_holds_on_stays_open(solve, release):
    """Be the condition plainly true behind the opening, or zero but for rounding."""
    for text in (WAGONS, WAGONS.replace('"{far} + b.slide - a.slide < {gap}"', '"t > 0.25"')):
        more = f'release = "{release}"\nopen = true'
        free = solve(read(text, kind="fixed", J=1, h=0.5, far=2, v=4, gap=1, more=more))
        assert free.status.code == "finished" and not free.audit.failures
        assert free["hook.open"][-1] == 1.0
        assert free["hook.lost"][-1] == pytest.approx(9.6, rel=1e-9)


@pytest.mark.parametrize("solve", [vbg.simulate, second])
def test_a_train_that_a_buffer_brakes_is_caught_once_behind_its_release(solve):
    """At every instant the wagon behind would be, as long as it pushes the other."""
    damaged = Path(__file__).parents[3] / "benchmarks" / "robustness" / "damaged" / "latches.toml"
    solution = solve(vbg.read(damaged))
    assert solution.status.code == "finished" and not solution.audit.failures
    assert solution["coupling.lost"][-1] == pytest.approx(380.1151556, rel=1e-8)
    assert solution["track1.slide"][-1] == pytest.approx(0.08166441, rel=1e-6)
    assert solution["coupling.open"][-1] == 1.0


@pytest.mark.parametrize("solve", [vbg.simulate, second])
def test_a_condition_that_has_been_false_closes_once_more(solve):
    """The second wagon, let go, runs ahead of the first, which is braked more, to its stop: with u
    what they come together with there mu u^2 / 2 is lost."""
    text = WAGONS.replace("initial = {{", "friction = {{ viscous = 0.5 }}\ninitial = {{")
    text = text.replace("[joints.hook]", "stop = {{ upper = 0.8, k = 1e4 }}\n[joints.hook]")
    more = 'release = "t > 0.6"\nopen = true'
    model = read(text, kind="fixed", J=1, h=0.5, far=2, v=4, gap=1, more=more)
    again = solve(model, output_step=1e-4)
    assert again.status.code == "finished" and not again.audit.failures
    lost = np.unique(again["hook.lost"])
    apart = 0.5 * 1.2 * (again["a.speed"] - again["b.speed"]) ** 2
    meeting = np.flatnonzero(np.diff(again["hook.lost"]) > 0.0)[1]
    assert len(lost) == 3 and again["hook.open"][-1] == 1.0
    assert lost[2] - lost[1] == pytest.approx(apart[meeting], rel=0.05)  # braked since that row


@pytest.mark.parametrize("step", [0.1, 1e-4, 0.05 / 3, 7e3])
@pytest.mark.parametrize("k", [20, 7])
def test_the_row_on_a_release_is_behind_it(step, k):
    """At a time that is written, wherever steps end: beside dry friction they end on the rows."""
    more = """
    [joints.c]
    kind = "prismatic"
    between = ["ground", "C"]
    axis = [1, 0, 0]
    initial = {{ speed = 1 }}
    friction = {{ coulomb = {force} }}
    [bodies.C]
    mass = 1
    inertia = {{ xx = 1, yy = 1, zz = 1 }}
    [simulate]
    t_end = {end}
    output_step = {step}
    """
    text = DOCK[: DOCK.index("[joints.hook]")].replace("t > 0.2", "t > {at!r}") + more
    at, end = k * step, 25 * step
    for force in (0.01 / end, 0.0):
        model = read(text, force=force, end=end, step=step, at=at)
        for solve in (vbg.simulate, second):
            opened = solve(model)["rail.open"]
            np.testing.assert_array_equal(opened, np.arange(len(opened)) >= k, err_msg=str(solve))


def momenta(solution: vbg.Solution, row: int) -> np.ndarray:
    """Linear and angular momentum about the origin, W, of A and B."""
    total = np.zeros(6)
    for body, mass, moments in (("A", 2, [0.3, 0.4, 0.5]), ("B", 3, [0.6, 0.7, 0.9])):
        p = mass * solution[f"{body}.velocity"][row]
        R = rotation_matrix(solution[f"{body}.rotation"][row])
        spin = R @ (np.array(moments) * solution[f"{body}.angular_velocity"][row])
        total += [*p, *(np.cross(solution[f"{body}.position"][row], p) + spin)]
    return total


@pytest.mark.parametrize("formulation", ["constraint", *only([], ["minimal"])])
@pytest.mark.parametrize("kind", ["fixed", "spherical"])
def test_docking_keeps_momentum_and_both_solvers_agree_on_its_impulse(kind, formulation):
    model = read(DOCK, kind=kind)
    first, other = vbg.simulate(model, formulation=formulation), second(model)
    for solution in (first, other):
        was, now = momenta(solution, 19), momenta(solution, 21)
        np.testing.assert_allclose(now, was, atol=1e-8)
        T = solution["energy.kinetic"]
        assert solution["hook.lost"][-1] == pytest.approx(T[19] - T[21], rel=1e-8)
    impulse = first["hook.impulse"][-1]  # a row on the event has the values behind it
    np.testing.assert_allclose(3 * first["B.velocity"][20], impulse, atol=1e-9)
    w = np.array([0.6, 0.7, 0.9]) * first["B.angular_velocity"][20]
    moment = first["hook.moment"][-1] + np.cross([-0.5, -0.3, -0.15], impulse)
    np.testing.assert_allclose(w, moment, atol=1e-9)
    for name, apart in differences(first, other, 1.0 / 3.0).items():
        assert apart < 1e-6, name
    assert [e.where for e in first.audit.events] == ["rail", "hook"]


@pytest.mark.parametrize("kind", only(["revolute", "prismatic", "distance"], KINDS))
def test_both_solvers_agree_behind_a_release(kind):
    model = drop(kind)
    first, other = vbg.simulate(model), second(model)
    assert not first.audit.failures and not other.audit.failures
    for name, apart in differences(first, other, 0.3).items():
        assert apart < 1e-6, name
    flying = first.time > 0.3
    fall = np.broadcast_to([0, 0, -9.81], (flying.sum(), 3))
    np.testing.assert_allclose(first["load.acceleration"][flying], fall, atol=1e-9)
    assert not first["hold.force"][flying].any()


def test_a_pin_shears_at_its_force_for_good():
    """A pendulum that falls from level carries 3 m g cos at its lowest."""
    text = """
vbg = 1
[bodies.bob]
mass = 1
inertia = { xx = 1e-4, yy = 1e-4, zz = 1e-4 }
points = { A = [-1, 0, 0] }
[joints.pin]
kind = "revolute"
between = ["ground", "bob.A"]
axis = [0, 1, 0]
release = "sqrt(pin.force[0]^2 + pin.force[2]^2) > 20 N"
[simulate]
t_end = 1.0
output_step = 0.01
"""
    solution = vbg.simulate(toml.parse(text))
    load = np.linalg.norm(solution["pin.force"], axis=1)
    assert 19.0 < load.max() < 20.0 and solution["pin.open"][-1] == 1.0
    with pytest.raises(UsageError, match=r"pin\.force"):
        second(toml.parse(text))


def test_a_joint_that_has_not_met_does_not_close():
    model = wagons(more='release = "t > 2"\nopen = true')
    text = WAGONS.replace("[-{h}, 0, 0]", "[-{h}, 0.01, 0]")
    apart = read(text, kind="fixed", more="", J=1, h=0.5, far=2, v=4, gap=1)
    assert vbg.simulate(model).status.code == "finished"
    first, other = vbg.simulate(apart), second(apart)
    assert first.status.code == other.status.code == "failed"
    assert "hook by 0.01 m (most along force.y)" in first.status.sentence
    assert "joints.hook is to close" in other.status.sentence


def test_a_start_from_a_result_has_its_joints_as_they_were():
    model = read(DOCK, kind="fixed")
    whole = vbg.simulate(model)
    for row, opened in ((17, (1, 1)), (25, (1, 0))):
        at = whole.time[row]
        start = vbg.start(vbg.assemble(model), instant_of(whole, at))
        values = start.outputs(0.0, start.state)
        assert (values["rail.open"][0], values["hook.open"][0]) == opened
        np.testing.assert_allclose(values["B.velocity"], whole["B.velocity"][row], atol=1e-12)


HELD = """
vbg = 1
gravity = [0, 0, 0]
[bodies.a]
mass = 2
inertia = { xx = 0.01, yy = 0.05, zz = 0.05 }
points = { L = [-0.5, 0, 0], R = [0.5, 0, 0] }
velocity = [0, 0, -1]
[joints.g]
kind = "planar"
between = ["ground", "a"]
axis = [0, 1, 0]
[joints.l]
kind = "spherical"
between = [{ body = "ground", at = [-0.5, 0, -0.3] }, "a.L"]
engage = "a.position.z < -0.3"
[joints.r]
kind = "spherical"
between = [{ body = "ground", at = [0.5, 0, -0.3] }, "a.R"]
engage = "a.position.z < -0.3"
open = true
release = "t > 0.3"
[simulate]
t_end = 0.5
output_step = 0.1
"""


def test_what_joints_hold_that_let_go_is_not_locked():
    """Two pins in one bar, which no way is left to: a run held it, a start from it was refused."""
    text = HELD.replace("-0.3]", "-0.1]").replace("< -0.3", "< -0.1")
    model = toml.parse(text)
    start_of = instant_of(vbg.simulate(model), 0.2)
    start = vbg.start(model, start_of)
    assert start.freedoms == 0
    run = vbg.simulate(start)
    assert run["l.open"].ravel().tolist() == [0.0] * 6
    assert run["r.open"].ravel()[[0, -1]].tolist() == [0.0, 1.0]
    assert not run["l.impulse"].any()  # counted anew
    verdict = validate(model, start=start_of, in_children=False).verdict
    assert verdict.word == "PASS", verdict.sentence
    with pytest.raises(AssemblyError, match="locked"):
        locked = text.replace('"planar"', '"fixed"').replace("axis = [0, 1, 0]", "")
        vbg.start(toml.parse(locked))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('release = "1 < t < 2"', "one comparison"),
        ('release = "t > gone.slide"', "gone"),
        ('release = "2 > 1"', "never changes"),
        ('release = "t > 3 kg +"', "expected"),
        ('release = "t > 3 kg"', "kg"),
        ('release = "hold.slide > 3 deg"', "deg"),
        ("open = true", "release or engage"),
        ('release = "t > 1"\nopen = true', "never closes"),
        ('release = "t > 1"\ndrive = "0.1*t"', "a driven joint does not open"),
        ('release = "t > 1"\nfriction = { coulomb = 1 }', "viscous"),
        ('realease = "t > 1"', "release"),
    ],
)
def test_wrong_words_are_told(lines, said):
    text = DROP.replace('release = "t > 0.3"\n', "")
    with pytest.raises(ModelError, match=said):
        read(text, kind="prismatic", z=-0.1, more=f"axis = [1, 0, 0]\n{lines}")


def test_what_cannot_have_such_joints_says_so():
    from vbg.engines.running import simulate as by_engine
    from vbg.io.mstmmsim import to_xml
    from vbg.io.urdf import to_urdf

    model = drop("revolute")
    part = '[forces.spring]\nkind = "torsion_spring"\non = "joints.hold"\nk = 1\n'
    sprung = read(DROP + part, kind="revolute", z=-0.1, more="axis = [1, 0.3, 0]")
    assert any("hold opens" in p.what for p in vbg.check(sprung) if p.severity == "error")
    with pytest.raises(UsageError, match="opens"):
        vbg.simulate(model, method="discrete-time")
    for write in (to_urdf, to_xml):
        with pytest.raises(UsageError, match=r"hold\.release"):
            write(model)
    with pytest.raises(UsageError, match=r"no joint that closes, as joints\.hook"):
        by_engine(wagons(), {}, engine="mujoco")


@pytest.mark.parametrize("kind", only(["revolute"], KINDS))
def test_an_engine_agrees_behind_a_release(kind):
    pytest.importorskip("mujoco")
    from vbg.engines.running import simulate as by_engine

    model = drop(kind)
    first = vbg.simulate(model, rtol=1e-10)
    begin = {name: values[0] for name, values in first.signals.items()}
    found = by_engine(model, begin, engine="mujoco")
    assert [e.where for e in found.audit.events] == ["hold"]
    for name, apart in differences(found, first, 0.3).items():
        assert apart < 1e-6, name


@pytest.mark.parametrize("solve", [vbg.simulate, second])
@pytest.mark.parametrize(
    "form", ["t**3 >= {0!r}**3", "t^3 - {0!r}^3 > 0", "sqrt(t) >= sqrt({0!r})"]
)
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_a_power_of_the_time_closes_at_its_root(solve, form, scale):
    """Wagons that meet there lose mu v^2 / 2, whatever the function looks like beside its root."""
    at = 0.7310585786 * scale
    text = WAGONS.replace('"{far} + b.slide - a.slide < {gap}"', f'"{form.format(at)}"')
    text = text.replace("t_end = 1.0", f"t_end = {scale!r}")
    text = text.replace("output_step = 0.05", f"output_step = {0.05 * scale!r}")
    model = read(text, kind="fixed", J=1, h=0.5, far=2, v=1.0 / at, gap=1, more="")
    solution = solve(model)
    assert solution.status.code == "finished", solution.status.sentence
    assert not solution.audit.failures
    assert solution["hook.lost"][-1] == pytest.approx(0.6 / at**2, rel=1e-9)
    np.testing.assert_array_equal(solution["hook.open"] > 0.5, solution.time < at)

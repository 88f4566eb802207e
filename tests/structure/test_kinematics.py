"""Group by group against the whole system, closed forms against Newton, rates against motion."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.structure.mechanisms import nine_bar, platform_path, rotor, stewart_inverse, swings
from vbg.errors import UsageError
from vbg.model import Model
from vbg.structure import analyse_topology
from vbg.structure.kinematics.dyads import DRIVEN, NEWTON, PRP, RPP, RPR, RRP, RRR
from vbg.structure.kinematics.kinematics import group_program, run, solve_by_groups, solve_whole
from vbg.structure.kinematics.measured import makespan, measured_sharing, sharing_text
from vbg.structure.kinematics.spans import SPAN, Spent
from vbg.structure.motion import drives_of, kinematics
from vbg.structure.topology.linkage import PairAt, linkage_at

TIMES = np.linspace(0.0, 2.0, 81)


def assert_equal_motions(found, expected):
    assert found.status == expected.status == "solved"
    for name in ("p_WB", "R_WB", "V_WB_W", "A_WB_W"):
        a, b = getattr(found, name), getattr(expected, name)
        assert np.abs(a - b).max() <= 1e-12 * max(1.0, np.abs(b).max())


@pytest.mark.parametrize(
    ("linkage", "drives"),
    [
        (nine_bar(), swings(4, 0.05)),
        (rotor(), swings(3, 0.1)),
        (stewart_inverse(), platform_path),
    ],
    ids=["nine-bar", "rotor", "Stewart inverse"],
)
def test_groups_equal_the_whole(linkage, drives):
    found = solve_by_groups(linkage, TIMES, drives)
    assert_equal_motions(found, solve_whole(linkage, TIMES, drives))
    assert np.abs(found.p_WB[-1] - found.p_WB[0]).max() > 0.01


@pytest.mark.parametrize(
    ("linkage", "drives"),
    [(nine_bar(), swings(4, 0.05)), (rotor(), swings(3, 0.1)), (stewart_inverse(), platform_path)],
    ids=["nine-bar", "rotor", "Stewart inverse"],
)
def test_rates_are_the_derivatives_of_the_motion(linkage, drives):
    """Central differences of fourth order: their error is (h^4 / 30) of the fifth derivative."""
    h, t = 5e-3, 0.9
    near = solve_by_groups(linkage, np.linspace(0.0, t, 31), drives)
    start = replace(linkage, p_WB=near.p_WB[-1], R_WB=near.R_WB[-1])
    # the reference posture of planar closed forms and the angles' zero stay the linkage's own
    program = group_program(linkage, analyse_topology(linkage.topology))
    motion = run(program, start, t + h * np.array([-2.0, -1.0, 0.0, 1.0, 2.0]), drives)
    weights = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / (12.0 * h)
    p_dot = np.tensordot(weights, motion.p_WB, 1)
    assert np.abs(p_dot - motion.V_WB_W[2, :, 3:]).max() < 1e-6
    spin = np.tensordot(weights, motion.R_WB, 1) @ np.swapaxes(motion.R_WB[2], 1, 2)
    w = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1)
    assert np.abs(w - motion.V_WB_W[2, :, :3]).max() < 1e-6
    V_dot = np.tensordot(weights, motion.V_WB_W, 1)
    assert np.abs(V_dot - motion.A_WB_W[2]).max() < 1e-5


def dyad(codes, drives=("angle", "angle")):
    """Two driven cranks and a dyad between them, pairs `codes` from the first to the second."""
    points = [(0.1, 0.4, 0.0), (0.6, 0.9, 0.0), (1.0, 0.3, 0.0)]
    slides = [(0.6, 1.0, 0.0), (1.0, -0.4, 0.0), (0.2, 1.0, 0.0)]
    ends = [(1, 3), (3, 4), (4, 2)]
    pairs = [
        PairAt("R", 0, 1, (0.0, 0.0, 0.0), drives=(drives[0],)),
        PairAt("R", 0, 2, (0.9, 0.0, 0.0), drives=(drives[1],)),
    ]
    for code, point, slide, pair in zip(codes, points, slides, ends, strict=True):
        pairs.append(PairAt(code, *pair, point, slide if code == "P" else (0.0, 0.0, 1.0)))
    positions = [(0.05, 0.2, 0.0), (0.95, 0.15, 0.0), (0.3, 0.7, 0.0), (0.8, 0.6, 0.0)]
    return linkage_at(3, positions, pairs)


@pytest.mark.parametrize(
    ("codes", "kind"),
    [
        ("RRR", RRR),
        ("RRP", RRP),
        ("PRR", RRP),
        ("RPR", RPR),
        ("PRP", PRP),
        ("RPP", RPP),
        ("PPR", RPP),
    ],
)
def test_closed_forms_of_the_dyads(codes, kind):
    linkage = dyad(codes)
    structure = analyse_topology(linkage.topology)
    program = group_program(linkage, structure)
    assert program.tables.dyads.kind.tolist() == [DRIVEN, DRIVEN, kind]
    found = solve_by_groups(linkage, TIMES, swings(2, 0.15))
    assert_equal_motions(found, solve_whole(linkage, TIMES, swings(2, 0.15)))


def test_one_body_groups_of_space():
    """A screwed arm, a cylindrical pair, a slide, a free body: posed by their drives."""
    every = ("x", "y", "z", "rotation x", "rotation y", "rotation z")
    pairs = [
        PairAt("R", 0, 1, (0.1, 0.2, 0.3), (1.0, 2.0, 0.5), drives=("angle",)),
        PairAt("C", 1, 2, (0.4, 0.1, 0.9), (0.3, -1.0, 0.5), drives=("angle", "slide")),
        PairAt("P", 2, 3, (0.7, 0.8, 0.3), (0.1, 0.2, -1.0), drives=("slide",)),
        PairAt("F", 3, 4, (1.0, 0.0, 0.2), (1.0, 1.0, 0.0), drives=every),
        PairAt("H", 4, 5, (1.0, 0.6, 0.2), (0.0, 1.0, 0.4), drives=("angle",), lead=0.05),
    ]
    linkage = linkage_at(6, np.random.default_rng(8).normal(size=(5, 3)), pairs)
    program = group_program(linkage, analyse_topology(linkage.topology))
    assert program.tables.dyads.kind.tolist() == [DRIVEN] * 4 + [NEWTON]

    def drives(t):
        head, tail = swings(4, 0.4)(t), swings(1, 9.0)(t)
        free = platform_path(t)
        return tuple(np.concatenate(part) for part in zip(head, free, tail, strict=True))

    found = solve_by_groups(linkage, TIMES, drives)
    assert_equal_motions(found, solve_whole(linkage, TIMES, drives))
    turns = drives(2.0)[0][-1]
    assert turns > 2.0 * np.pi  # the screw advances with every turn
    screwed = found.R_WB[-1, 4].T @ (found.p_WB[-1, 5] - found.p_WB[-1, 4])
    assert np.isfinite(screwed).all()


def test_an_end_of_travel_is_told():
    def apart(t):
        return np.array([t, -t]), np.array([1.0, -1.0]), np.zeros(2)

    motion = solve_by_groups(dyad("RRR"), np.linspace(0.0, 4.0, 200), apart)
    assert motion.status == "not assembled"
    assert motion.where == ("4", "5")
    assert 0.0 < motion.stopped < 4.0
    assert len(motion.time) == len(motion.p_WB) > 3


def closed_four_bar(drive):
    """A four-bar in the xz plane as a Model, its crank driven."""
    body = {"mass": 1.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}
    A, B, C, D = (0.0, 0.0), (0.1, 0.3), (0.7, 0.5), (0.8, -0.1)
    middle = {"crank": (A, B), "rod": (B, C), "rocker": (C, D)}
    centres = {n: ((p[0] + q[0]) / 2, 0.0, (p[1] + q[1]) / 2) for n, (p, q) in middle.items()}

    def at(name, point):
        place = np.array([point[0], 0.0, point[1]])
        return {"body": name, "at": (place - centres.get(name, np.zeros(3))).tolist()}

    ends = {
        "A": ("ground", "crank", A),
        "B": ("crank", "rod", B),
        "C": ("rod", "rocker", C),
        "D": ("rocker", "ground", D),
    }
    joints = {
        name: {"kind": "revolute", "between": [at(a, p), at(b, p)], "axis": [0, 1, 0]}
        for name, (a, b, p) in ends.items()
    }
    joints["A"]["drive"] = drive
    bodies = {name: {**body, "position": list(centre)} for name, centre in centres.items()}
    return Model(name="four-bar", bodies=bodies, joints=joints)


def test_kinematics_of_a_model():
    """By groups, as a whole, and the crank's pin against its circle; whole turns are kept."""
    model = closed_four_bar("6*t + 0.3*t**2")
    times = np.linspace(0.0, 2.0, 401)
    found = kinematics(model, times)
    assert_equal_motions(found, kinematics(model, times, by_groups=False))
    angle, rate = 6.0 * times + 0.3 * times**2, 6.0 + 0.6 * times
    arm = np.array([0.05, 0.0, 0.15])
    c, s = np.cos(angle), np.sin(angle)
    path = np.stack([c * arm[0] + s * arm[2], 0.0 * c, -s * arm[0] + c * arm[2]], axis=1)
    assert np.abs(found.p_WB[:, 1] - path).max() < 1e-12
    assert np.abs(found.V_WB_W[:, 1, 1] - rate).max() < 1e-11
    assert np.abs(found.A_WB_W[:, 1, 1] - 0.6).max() < 1e-11


def test_a_model_driven_by_a_signal_is_refused():
    """A part stands in for a joint whose drive names a signal."""
    model = SimpleNamespace(joints={"A": SimpleNamespace(drive="2*command + t")})
    with pytest.raises(UsageError, match="names command"):
        drives_of(model)


def test_misuse():
    linkage = dyad("RRR")
    topology = linkage.topology
    undriven = tuple(replace(pair, driven=0) for pair in topology.pairs)
    free = replace(
        linkage, topology=replace(topology, pairs=undriven), drives=((),) * len(topology.pairs)
    )
    with pytest.raises(UsageError, match="drive 2 more"):
        solve_by_groups(free, TIMES, swings(2, 0.1))
    with pytest.raises(UsageError, match="no coordinate 'slide'"):
        solve_by_groups(dyad("RRR", ("slide", "angle")), TIMES, swings(2, 0.1))


LONG = np.linspace(0.0, 2.0, 2 * SPAN + 33)  # two spans and a half


@pytest.mark.parametrize("workers", [2, 5])
@pytest.mark.parametrize(
    ("linkage", "drives"),
    [(nine_bar(), swings(4, 0.05)), (rotor(), swings(3, 0.1)), (stewart_inverse(), platform_path)],
    ids=["nine-bar", "rotor", "Stewart inverse"],
)
def test_threads_change_no_bit(linkage, drives, workers):
    alone = solve_by_groups(linkage, LONG, drives)
    together = solve_by_groups(linkage, LONG, drives, workers=workers)
    for name in ("p_WB", "R_WB", "V_WB_W", "A_WB_W"):
        assert np.array_equal(getattr(together, name), getattr(alone, name))


@pytest.mark.parametrize("early", [0.0, 0.37, 1.3])
def test_where_a_group_cannot_be_solved_is_the_same_for_all_threads(early):
    """Drives that pull the nine-bar apart after `early`: all end at the same instant and group,
    and at the one at which single instants end, too."""
    calm, wild = swings(4, 0.05), swings(4, 3.0)

    def drives(t):
        return tuple(a + (t > early) * b for a, b in zip(calm(t), wild(t - early), strict=True))

    alone = solve_by_groups(nine_bar(), LONG, drives)
    assert alone.status != "solved"
    assert LONG[len(alone.time)] == alone.stopped > early
    for workers in (2, 4):
        found = solve_by_groups(nine_bar(), LONG, drives, workers=workers)
        assert (found.status, found.stopped, found.where) == (
            alone.status,
            alone.stopped,
            alone.where,
        )
        assert np.array_equal(found.A_WB_W, alone.A_WB_W)
    fits = solve_by_groups(nine_bar(), LONG[: len(alone.time)], drives, workers=2)
    assert fits.status == "solved"
    assert np.array_equal(fits.p_WB, alone.p_WB)


@pytest.mark.parametrize("spans", [1, 2, 7])
def test_how_long_threads_take(spans):
    """Tasks of one second: a chain of two groups runs a span apart, three alike share cores."""

    def spent(groups):
        return [Spent(g, SPAN * i, 1.0) for i in range(spans) for g in range(groups)]

    chain, alike = (frozenset(), frozenset({0})), (frozenset(),) * 3
    assert makespan(chain, spent(2), 1) == 2 * spans
    assert makespan(chain, spent(2), 2) == makespan(chain, spent(2), 9) == spans + 1
    assert makespan(alike, spent(3), 3) == spans
    assert makespan(alike, spent(3), 2) == (3 * spans + 1) // 2
    assert makespan((), (), 2) == 0.0
    assert makespan(alike[:2], spent(2), 2, handover=0.25) == spans + 0.25
    assert makespan(chain, spent(2)[:2], 2, handover=0.25) == 2.0  # one thread goes on


def test_what_threads_save_is_said():
    few, many = np.linspace(0.0, 0.1, 5).tolist(), LONG.tolist()
    shared = measured_sharing(stewart_inverse(), platform_path, many, 2)
    assert (shared.instants, shared.groups) == (len(LONG), 7)
    assert shared.together > 0.0
    assert str(len(LONG)) in sharing_text(shared)
    one = measured_sharing(stewart_inverse(), platform_path, few, 1)
    assert "do not pay" in sharing_text(replace(one, together=one.alone))
    for changed, why in (
        ({"workers": 2, "groups": 1}, "one group"),
        ({"workers": 2}, "one span"),
        ({"workers": 2, "instants": 900}, "one group's"),
    ):
        assert why in sharing_text(replace(one, together=one.alone, **changed))
    assert "threads pay: 2.00" in sharing_text(replace(shared, alone=2.0, together=1.0))

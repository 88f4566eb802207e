"""The parameter file of MSTMMSim, as the paper prints it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from vbg.errors import ModelError, UsageError
from vbg.io import mstmmsim
from vbg.model import Model
from vbg.model.placing.placed import place
from vbg.spatial import quaternion_from_matrix
from vbg.tmm_bridge import simulate

DATA = Path(__file__).parents[1] / "mstmmsim"
PRINTED = DATA / "two_pendulum_as_printed.xml"


def printed() -> Model:
    # The paper leaves the length out ("...").
    return mstmmsim.read(PRINTED, {"L": 1.0})


def copied(model: Model) -> Model:
    """The model, written and read again."""
    text, _ = mstmmsim.to_xml(model)
    found = mstmmsim.imported(text, "again.xml", {})
    assert found.notes == ()
    return Model.from_document(found.document)


def test_the_printed_file_is_understood():
    model = printed()
    assert model.name == "2-pendumul"
    assert list(model.bodies) == ["Body_Link1", "Body_Link2"]
    assert model.gravity == (0.0, 0.0, -9.81)
    assert model.simulate.t_end == 5.0
    assert model.simulate.output_step == 1e-3
    link = model.bodies["Body_Link1"]
    assert link.mass == 1.0
    np.testing.assert_allclose(link.inertia[:3], [1e-6 / 12, 1 / 12, 1 / 12])
    assert model.joints["JoRevp_Link1"].axis == (0.0, 1.0, 0.0)


def test_the_printed_file_runs_as_the_double_pendulum_it_means():
    model = printed()
    solution = simulate(model, t_end=1.0, output_step=0.05, rtol=1e-10, atol=1e-12)
    assert solution.status.code == "finished"
    np.testing.assert_allclose(solution["Body_Link2.position"][0], [1.5, 0, 0], atol=1e-12)
    # Energy of two rods falling from the horizontal stays what it was.
    total = solution["energy.kinetic"] + solution["energy.potential"]
    np.testing.assert_allclose(total, total[0], atol=1e-8)
    assert np.abs(solution["JoRevp_Link1.force"][:, 1]).max() < 1e-9


def test_tags_in_one_word_are_those_that_are_printed():
    """`finaltime` for `final time`, the length given: nothing of the times is lost."""
    model = mstmmsim.read(DATA / "two_pendulum_in_one_word.xml")
    assert (model.simulate.t_end, model.simulate.output_step) == (5.0, 1e-3)
    for name in ("bodies", "joints", "gravity", "parameters"):
        assert getattr(model, name) == getattr(printed(), name)


def test_the_length_is_missing_and_named():
    with pytest.raises(ModelError, match="L"):
        mstmmsim.read(PRINTED)


def test_round_trip():
    model = printed()
    again = copied(model)
    assert list(again.joints) == list(model.joints)
    for name, body in model.bodies.items():
        np.testing.assert_allclose(again.bodies[name].inertia, body.inertia, rtol=1e-14)
    first = simulate(model, t_end=0.2, output_step=0.1, rtol=1e-10, atol=1e-12)
    second = simulate(again, t_end=0.2, output_step=0.1, rtol=1e-10, atol=1e-12)
    for name in ("Body_Link2.position", "JoRevh_Link1_Link2.force"):
        np.testing.assert_allclose(second[name], first[name], atol=1e-9)


BOMB = """<?xml version="1.0"?>
<!DOCTYPE model [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>
<model><model_name><name>&c;</name></model_name></model>"""
EXTERNAL = """<?xml version="1.0"?>
<!DOCTYPE model [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<model><model_name><name>&x;</name></model_name></model>"""


@pytest.mark.parametrize("text", [BOMB, EXTERNAL])
def test_entities_are_refused(text, tmp_path):
    file = tmp_path / "evil.xml"
    file.write_text(text)
    with pytest.raises(ModelError, match="refused"):
        mstmmsim.read(file)


def test_unknown_joint_is_named(tmp_path):
    file = tmp_path / "odd.xml"
    file.write_text(PRINTED.read_text().replace("revolutehinge", "magichinge"))
    with pytest.raises(ModelError, match="magichinge"):
        mstmmsim.read(file, {"L": 1.0})


def test_what_the_format_cannot_hold_is_refused():
    model = printed().edited(
        ("forces",), {"s": {"kind": "damper", "on": "joints.JoRevp_Link1", "c": 1.0}}
    )
    with pytest.raises(UsageError, match=r"forces\.s"):
        mstmmsim.to_xml(model)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("friction", {"viscous": 0.1}),
        ("stop", {"lower": -1.0, "k": 1e3}),
        ("drive", "sin(t)"),
    ],
)
def test_what_acts_in_a_joint_is_not_dropped(key, value):
    model = printed().edited(("joints", "JoRevp_Link1", key), value)
    with pytest.raises(UsageError, match=rf"joints.JoRevp_Link1.{key}"):
        mstmmsim.to_xml(model)


def test_a_pin_of_a_turned_node_is_where_the_node_says(tmp_path):
    """The rod stands 30 degrees below the horizontal, its end at the origin."""
    model = mstmmsim.read(DATA / "turned_rod.xml")
    first, second = model.joints["J1"].between
    np.testing.assert_allclose(first.at, [0.0, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(second.at, [-0.5, 0.0, 0.0])
    pose = place(model).poses["B1"]
    np.testing.assert_allclose(pose.p_WB, [0.4330127018922193, 0.0, -0.25], atol=1e-15)
    # the pin goes with the length: nothing of the file has become a number
    longer = place(model.with_parameters(L=2.0)).poses["B1"]
    np.testing.assert_allclose(longer.p_WB, pose.p_WB, atol=1e-15)


def test_the_slider_crank_of_hinges_at_speed_and_lines():
    model, notes = mstmmsim.read_with_notes(DATA / "slider_crank.xml")
    kinds = {name: joint.kind for name, joint in model.joints.items()}
    assert kinds == {
        "JoAxrot_Ground_Crank": "revolute",
        "JoRevh_Crank_Conrod": "revolute",
        "JoInlin_Conrod_Slider": "point_on_line",
        "JoPrism_Ground_Slider": "prismatic",
    }
    assert model.joints["JoAxrot_Ground_Crank"].drive == "6.283*t"
    told = "\n".join(map(str, notes))
    for what in ("JoClamp_Ground", "JoInlin_Ground_Slider", "announces 4"):
        assert what in told
    solution = simulate(model, t_end=0.2, output_step=0.1, rtol=1e-10, atol=1e-12)
    phi = 6.283 * 0.2  # about y: the crank's end moves to -z
    r, l = 0.5, 2.0
    expected = r * np.cos(phi) + np.sqrt(l**2 - (r * np.sin(phi)) ** 2)
    np.testing.assert_allclose(solution["Body_Slider.position"][-1], [expected, 0, 0], atol=1e-8)


def test_a_well_formed_file_keeps_its_names_and_times():
    text = PRINTED.read_text()
    for spaced in ("model name", "initial value", "initial time", "final time", "time step"):
        text = text.replace(spaced, spaced.replace(" ", ""))
    model = Model.from_document(mstmmsim.imported(text, "p.xml", {"L": 1.0}).document)
    assert model.name == "2-pendumul"
    assert model.simulate.t_end == 5.0
    assert model.description.endswith("penduml2.step")


ODD = {
    "an element that is not known": ("<mass>M</mass>", "<mass>M</mass><color>red</color>", "color"),
    "friction": (
        "</node2>\n</revolutehinge>",
        "</node2><friction>0.1</friction></revolutehinge>",
        "friction",
    ),
    "a speed that a hinge does not have": (
        "</node2>\n</revolutehinge>",
        "</node2><angularvelocity>6.</angularvelocity></revolutehinge>",
        "angularvelocity",
    ),
    "an attribute": ("<mass>", '<mass unit="g">', "attributes"),
    "two masses": ("<mass>M</mass>", "<mass>M</mass><mass>2</mass>", "2 times"),
    "no mass": ("<mass>M</mass>", "", "needs <mass>"),
    "a second node": ("<name>Node_Link2</name>\n<type>", "<name>Node_Link1</name><type>", "second"),
    "a node that is not there": ("<node>Node_Link1</node>", "<node>Node_Lank</node>", "Node_Lank"),
    "axes that are not square": ("3, 0., 1., 0.", "3, 0.5, 1., 0.", "perpendicular"),
    "an orientation of two numbers": ("1,1,1", "1,1", "orientation"),
    "a left-handed frame": ("1,1,1", "matr, 1,0,0, 0,1,0, 0,0,-1", "right-handed"),
    "a moving ground": ("<type>dynamic</type>", "<type>modal</type>", "modal"),
    "an inertia that is not symmetric": (
        "diag, 0., M*L^2./12., M*L^2./12.",
        "matr, 1,0,0, 0.5,1,0, 0,0,1",
        "symmetric",
    ),
    "hinges that do not fit": ("3, 0., 1., 0.</relativeaxis", "3, 0., 0., 1.</relativeaxis", "fit"),
    "text where elements are": ("<nodes>", "<nodes>twenty", "twenty"),
    "a name with a dot": ("<name>Body_Link1", "<name>Body.1", "Body.1"),
    "a run that ends before it begins": ("5.</final", "-5.</final", "no run"),
}


@pytest.mark.parametrize("what", ODD)
def test_what_is_not_understood_is_named_with_its_line(what):
    old, new, said = ODD[what]
    text = PRINTED.read_text()
    assert old in text
    with pytest.raises(ModelError, match=said) as error:
        mstmmsim.imported(text.replace(old, new, 1), "odd.xml", {"L": 1.0})
    assert error.value.problems[0].line > 0


# --- random trees: what is written and read again is the same machine


KINDS = ("revolute", "spherical", "prismatic", "fixed", "universal", "point_on_line")


MOMENTS = (("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("xy", 0, 1), ("yz", 1, 2), ("zx", 2, 0))


def random_tree(rng: np.random.Generator, *, scale: float = 1.0) -> Model:
    """A tree of bodies in general postures, every number written."""
    bodies, joints = {}, {}
    names = [f"b{i}" for i in range(int(rng.integers(1, 6)))]
    poses = {"ground": (np.zeros(3), np.eye(3))}
    for i, name in enumerate(names):
        p, R = scale * rng.normal(size=3), Rotation.random(random_state=rng).as_matrix()
        poses[name] = p, R
        Q = Rotation.random(random_state=rng).as_matrix()
        J = scale**2 * Q @ np.diag([1.0, 1.2, 1.5]) @ Q.T
        bodies[name] = {
            "mass": float(rng.uniform(0.5, 2.0)),
            "inertia": {key: float(J[a, b]) for key, a, b in MOMENTS},
            "position": p.tolist(),
            "rotation": {"quaternion": quaternion_from_matrix(R).tolist()},
        }
        other = ["ground", *names[:i]][int(rng.integers(0, i + 1))]
        joints[f"j{i}"] = random_joint(rng, poses, other, name, scale)
    gravity = rng.normal(size=3).tolist()
    return Model(name="tree", gravity=gravity, bodies=bodies, joints=joints)


def random_joint(rng, poses, a, b, scale):
    """A joint of any kind that is closed at the poses of its two bodies, either way round."""
    if rng.random() < 0.5:
        a, b = b, a
    kind = str(rng.choice(KINDS))
    (p_A, R_A), (p_B, R_B) = poses[a], poses[b]
    axis = Rotation.random(random_state=rng).as_matrix()[:, 0]  # in W
    point = scale * rng.normal(size=3)
    other = point + axis * rng.normal() if kind in ("prismatic", "point_on_line") else point
    ends = [
        {"body": a, "at": (R_A.T @ (point - p_A)).tolist()},
        {"body": b, "at": (R_B.T @ (other - p_B)).tolist()},
    ]
    joint = {"kind": kind, "between": ends}
    if kind not in ("spherical", "fixed"):
        joint["axis"] = (R_A.T @ axis).tolist()
    if kind == "universal":
        across = np.cross(axis, rng.normal(size=3))
        joint["axis2"] = (R_B.T @ (across / np.linalg.norm(across))).tolist()
        joint["initial"] = {"angle": float(rng.uniform(-1, 1))}
    if kind == "revolute":
        joint["initial"] = {"angle": float(rng.uniform(-3, 3))}
        if rng.random() < 0.3:
            joint["drive"] = f"{joint['initial']['angle']!r} + {float(rng.normal())!r}*t"
    return joint


@pytest.mark.parametrize("seed", range(40))
def test_random_trees_come_back_as_they_were(seed):
    rng = np.random.default_rng(seed)
    scale = 10.0 ** float(rng.integers(-6, 7))
    model = random_tree(rng, scale=scale)
    again = copied(model)
    close = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(again.gravity, model.gravity, **close)
    poses, posed = place(model).poses, place(again).poses
    for name, body in model.bodies.items():
        np.testing.assert_allclose(again.bodies[name].mass, body.mass, rtol=1e-15)
        J, K = np.array(body.inertia), np.array(again.bodies[name].inertia)
        np.testing.assert_allclose(K, J, atol=1e-12 * np.abs(J).max())
        np.testing.assert_allclose(posed[name].R_WB, poses[name].R_WB, atol=1e-12)
        for key in ("p_WB", "v_WB", "w_WB_B"):
            old, new = getattr(poses[name], key), getattr(posed[name], key)
            np.testing.assert_allclose(new, old, atol=1e-12 * max(1.0, scale), err_msg=key)
    frames, framed = place(model).frames, place(again).frames
    assert list(framed) == list(frames)
    for name, frame in frames.items():
        new = framed[name]
        assert (new.first, new.second) == (frame.first, frame.second)
        assert again.joints[name].kind == model.joints[name].kind
        for key in ("p_AF_A", "p_BM_B", "coordinates"):
            old = np.array(getattr(frame, key))
            np.testing.assert_allclose(getattr(new, key), old, atol=1e-12 * max(scale, 1.0))
        if model.joints[name].kind not in ("spherical", "fixed"):
            np.testing.assert_allclose(new.R_AF[:, 2], frame.R_AF[:, 2], atol=1e-12)
            np.testing.assert_allclose(new.R_BM[:, 2], frame.R_BM[:, 2], atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_random_trees_accelerate_alike(seed):
    model = random_tree(np.random.default_rng(100 + seed))
    again = copied(model)
    first, second = (simulate(m, t_end=1e-6, output_step=1e-6) for m in (model, again))
    for name in model.bodies:
        for what in ("acceleration", "angular_velocity"):
            old, new = first[f"{name}.{what}"], second[f"{name}.{what}"]
            np.testing.assert_allclose(new, old, rtol=1e-11, atol=1e-12 * np.abs(old).max())


def test_a_closed_loop_that_is_written_where_it_stands_comes_back():
    model = mstmmsim.read(DATA / "slider_crank.xml")
    again = copied(model)
    first, second = (simulate(m, t_end=0.1, output_step=0.05) for m in (model, again))
    for name in ("Body_Conrod.acceleration", "JoPrism_Ground_Slider.force"):
        np.testing.assert_allclose(second[name], first[name], rtol=1e-9, atol=1e-9)


def test_positions_that_do_not_close_are_not_written():
    model = mstmmsim.read(DATA / "slider_crank.xml").edited(
        ("bodies", "Body_Conrod", "position"), [2.0, 0.0, 0.0]
    )
    with pytest.raises(UsageError, match="not closed"):
        mstmmsim.to_xml(model)


# --- files of strangers


@pytest.mark.parametrize("text", ["<!--" * 20_000, "<" * 80_000, "<a" * 40_000, "<model>" * 20_000])
def test_no_text_takes_more_than_one_pass(text):
    """Each took time with the square of its length, 4.5 s at 80 kB, where it was searched anew
    from every place.  Work is counted, not time: a text of twice the length has twice the work."""

    class Counting(str):
        looked = 0

        def find(self, sub, start=0, end=None):
            found = super().find(sub, start, len(self) if end is None else end)
            Counting.looked += (len(self) if found < 0 else found) - start
            return found

    with pytest.raises(ModelError):
        mstmmsim.imported(Counting(text), "hostile.xml", {})
    assert Counting.looked <= 4 * len(text)


@pytest.mark.parametrize("number", ["nan", "-inf", "1e999", "Infinity"])
@pytest.mark.parametrize("seed", range(3))
def test_numbers_that_are_none_are_refused_with_their_line(number, seed):
    """Each third of the numbers of a file, one after the other."""
    text = PRINTED.read_text(encoding="utf-8")
    found = list(re.finditer(r"(?<=[>,=\" ])-?\d+\.\d*(?=[<,\" ])", text))
    assert len(found) > 20
    for at in found[seed::3]:
        if text[: at.start()].rstrip().endswith("version="):
            continue
        damaged = text[: at.start()] + number + text[at.end() :]
        with pytest.raises(ModelError) as told:
            mstmmsim.imported(damaged, "odd.xml", {"L": 1.0})
        assert re.match(r"odd\.xml:\d+:1: ", str(told.value)), at

"""The Model as a value: the same in Python and in a file, never changed, one hash per machine."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbg.elements.body import Body
from vbg.errors import ModelError, UsageError
from vbg.fields import Attachment
from vbg.io import toml
from vbg.junctions.revolute import Revolute
from vbg.junctions.start import AngleStart
from vbg.model import Model, catalogue
from vbg.model.model import problems_of

DOCUMENT = {
    "name": "pendulum",
    "parameters": {"l": "50 cm", "m": {"value": 2.0, "unit": "kg", "note": "steel"}},
    "bodies": {
        "rod": {
            "mass": "m",
            "inertia": {"xx": 1e-3, "yy": "m*l**2/12", "zz": "m*l**2/12"},
            "points": {"A": ["-l/2", 0, 0], "B": ["l/2", 0, 0]},
        }
    },
    "joints": {
        "hinge": {"kind": "revolute", "between": ["ground", "rod.A"], "axis": [0, 1, 0]},
    },
    "forces": {
        "hold": {"kind": "spring", "on": "joints.hinge", "k": "3 N*m/rad"},
        "drag": {"kind": "damper", "between": ["ground", "rod.B"], "c": 0.1},
    },
    "simulate": {"t_end": 2},
}


def model(**changes):
    return Model(**{**DOCUMENT, **changes})


def test_plain_data_and_instances_mean_the_same():
    parts = Model(
        bodies={
            "rod": Body(
                mass=2.0,
                inertia=(1e-3, 2 * 0.5**2 / 12, 2 * 0.5**2 / 12, 0.0, 0.0, 0.0),
                points={"A": np.array([-0.25, 0, 0]), "B": (0.25, 0.0, 0.0)},
            )
        },
        joints={
            "hinge": Revolute(
                between=(Attachment("ground"), Attachment("rod", point="A")),
                axis=(0.0, 1.0, 0.0),
                initial=AngleStart(),
            )
        },
        forces=DOCUMENT["forces"],
    )
    assert parts.hash == model().hash
    assert parts.bodies == model().bodies


def test_every_problem_is_listed_at_once():
    with pytest.raises(ModelError) as refused:
        Model(bodies={"rod": {"mass": -1, "points": 3}}, joints={"j": {}}, gravity=9.81)
    assert {p.where for p in refused.value.problems} == {
        "bodies.rod.mass",
        "bodies.rod.points",
        "bodies.rod",
        "joints.j",
        "gravity",
    }
    assert all(p.line == 0 for p in refused.value.problems)


def test_problems_without_raising():
    assert problems_of(DOCUMENT) == ()
    assert [p.where for p in problems_of({"gravity": "down"})] == ["gravity"]


def test_a_model_never_changes():
    pendulum = model()
    with pytest.raises(AttributeError, match="edited"):
        pendulum.name = "other"
    with pytest.raises(TypeError):
        pendulum.bodies["rod"] = None
    with pytest.raises(TypeError):
        pendulum.document["bodies"]["rod"]["mass"] = 3
    with pytest.raises(TypeError):
        pendulum.bodies["rod"].points["A"] = (0, 0, 0)
    source = copy.deepcopy(DOCUMENT)
    built = Model(**source)
    source["bodies"]["rod"]["mass"] = 99
    assert built.bodies["rod"].mass == 2.0


def test_other_parameters():
    longer = model().with_parameters(l=0.8, m="3 kg")
    assert longer.bodies["rod"].points["B"] == (0.4, 0.0, 0.0)
    assert longer.bodies["rod"].mass == 3.0
    assert longer.document["parameters"]["m"] == {"value": "3 kg", "note": "steel"}
    assert model().with_parameters(l=0.5).hash == model().hash
    with pytest.raises(UsageError, match=r"no parameter 'L'\. Did you mean 'l'"):
        model().with_parameters(L=1.0)
    with pytest.raises(ModelError, match=r"bodies\.rod\.mass: must be greater than 0"):
        model().with_parameters(m=-1.0)


def test_edits():
    pendulum = model()
    heavy = pendulum.edited(("bodies", "rod", "mass"), "7 kg")
    assert (heavy.bodies["rod"].mass, pendulum.bodies["rod"].mass) == (7.0, 2.0)
    tipped = pendulum.edited(("joints", "hinge", "axis", 2), 1.0)
    assert tipped.joints["hinge"].axis == pytest.approx((0, 0.5**0.5, 0.5**0.5))
    assert "hold" not in pendulum.edited(("forces", "hold"), None).forces
    with pytest.raises(ModelError, match="no point 'A'"):
        pendulum.edited(("bodies", "rod", "points", "A"), None)
    for path in ((), ("name", "x", "y"), ("joints", "hinge", "axis", 7)):
        with pytest.raises(UsageError):
            pendulum.edited(path, 1)


def test_a_model_travels_to_another_process():
    pendulum = toml.parse('[bodies.b]\nmass = 1\ninertia = { xx = 1, yy = 1, zz = "1 kg*m^2" }\n')
    arrived = pickle.loads(pickle.dumps(pendulum))
    assert arrived.hash == pendulum.hash
    assert arrived.document == pendulum.document
    assert arrived.places == pendulum.places


def reordered(value, order):
    """`value` with the entries of every table in another order."""
    if not isinstance(value, dict):
        return value
    keys = sorted(value, key=lambda key: hash((key, order)))
    return {key: reordered(value[key], order) for key in keys}


@pytest.mark.parametrize("order", range(5))
def test_hash_does_not_see_order_names_of_files_or_spelling(order):
    assert Model(**reordered(DOCUMENT, order)).hash == model().hash
    assert Model.from_document(DOCUMENT, "other.toml").hash == model().hash
    assert model(name="other", description="text", simulate={"rtol": 1e-3}).hash == model().hash
    spelt = (
        model().edited(("forces", "hold", "k"), 3).edited(("joints", "hinge", "axis"), [0, 9, 0])
    )
    assert spelt.hash == model().hash


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("gravity",), [0, 0, -1.62]),
        (("bodies", "rod", "mass"), 2.0000001),
        (("bodies", "rod", "points", "A"), ["-l/2", 0, 1e-9]),
        (("forces", "hold", "k"), 4),
        (("forces", "hold"), None),
        (("joints", "hinge", "axis"), [0, 1, 1e-9]),
        (("joints", "hinge", "initial"), {"angle": 0.1}),
        (("bodies", "rod", "velocity"), [0, 0, 0]),
    ],
)
def test_hash_sees_every_change_of_the_machine(path, value):
    assert model().edited(path, value).hash != model().hash


def test_defaults():
    empty = Model()
    assert empty.gravity == (0.0, 0.0, -9.81)
    assert (empty.name, empty.bonds, dict(empty.bodies)) == ("model", (), {})
    assert (empty.simulate.t_end, empty.simulate.method) == (1.0, "auto")
    assert empty.outputs.keep == ()


def test_parameters_in_any_order_and_unit():
    values = Model(
        parameters={
            "c": "a*b",
            "a": "b + 1",
            "b": {"value": "2*f/f", "unit": "mm"},
            "f": "50 Hz",
            "warm": "20 degC",
            "turn": {"value": 90, "unit": "deg"},
        }
    ).parameters
    assert values["b"] == pytest.approx(2e-3)
    assert values["c"] == pytest.approx((2e-3 + 1) * 2e-3)
    assert values["f"] == 50.0
    assert values["warm"] == 293.15
    assert values["turn"] == pytest.approx(np.pi / 2)


def test_a_frequency_alone_becomes_an_angular_velocity():
    """f = 50 Hz is 50 in an expression, and 2 pi 50 rad/s where it stands alone."""
    joint = {"kind": "revolute", "between": ["ground", "rod.A"], "axis": [0, 1, 0]}
    joints = {"hinge": {**joint, "initial": {"speed": "f", "angle": "f/f"}}}
    built = model(parameters={**DOCUMENT["parameters"], "f": "50 Hz"}, joints=joints)
    assert built.joints["hinge"].initial.speed == pytest.approx(100 * np.pi)
    assert built.joints["hinge"].initial.angle == 1.0


def test_catalogue_has_every_part_once():
    kinds = catalogue()
    assert list(kinds)[:4] == ["bodies", "frames", "beams", "joints"]
    assert kinds["bodies"]["body"] is Body
    assert kinds["joints"]["revolute"] is Revolute
    assert {"spring", "damper", "bushing", "force", "torque", "stop"} <= kinds["forces"].keys()
    for table, parts in kinds.items():
        for kind, part in parts.items():
            assert (part.table, part.kind) == (table, kind)
            assert part.__doc__


NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)


@settings(max_examples=100, derandomize=True, deadline=None)
@given(
    st.lists(st.tuples(st.floats(1e-3, 1e3), NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=4),
    st.randoms(use_true_random=False),
)
def test_any_chain_survives_file_and_instances(links, random):
    """Model -> TOML -> Model and Model -> parts -> Model give the same machine."""
    bodies, joints = {}, {}
    for i, (mass, x, y, angle) in enumerate(links):
        bodies[f"b{i}"] = {
            "mass": mass,
            "inertia": {"xx": mass, "yy": mass, "zz": mass, "xy": mass / 7},
            "points": {"P": [x, y, 0]},
        }
        axis = [1.0, random.uniform(-1, 1), random.uniform(-1, 1)]
        joints[f"j{i}"] = {
            "kind": random.choice(["revolute", "helical"]),
            "between": [f"b{i - 1}.P" if i else "ground", f"b{i}"],
            "axis": axis,
            "initial": {"angle": angle},
        }
        if joints[f"j{i}"]["kind"] == "helical":
            joints[f"j{i}"]["lead"] = x
    built = Model(bodies=bodies, joints=joints)
    again = toml.parse(toml.updated("", built.document))
    assert again.hash == built.hash
    assert Model(bodies=built.bodies, joints=built.joints).hash == built.hash

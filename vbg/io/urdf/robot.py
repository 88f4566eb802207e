"""A URDF file as values: links and joints of a tree, numbers read and checked.

Frames as the format has them: a joint's `X_PJ` is its frame J in the parent link's frame,
and the child link's frame is J moved by the joint's coordinate; `axis` is in J's axes.
Angles `rpy` turn about the fixed axes x, y, z in this order: R = Rz(y) Ry(p) Rx(r).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, ParseError

import numpy as np
from numpy.typing import NDArray

from vbg.errors import ModelError
from vbg.model.values.reading import LARGEST
from vbg.plumbing.xml import TooDeep, root_of
from vbg.spatial import rotation_about

Array = NDArray[np.float64]

MOVING = ("revolute", "continuous", "prismatic", "planar", "floating")
KINDS = (*MOVING, "fixed")
IGNORED = ("gazebo", "material", "transmission", "sensor", "plugin", "contact", "loop_joint")
_X, _Y, _Z = np.eye(3)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A frame in another: R (3, 3) and p (3,) [m]."""

    R: Array = field(default_factory=lambda: np.eye(3))
    p: Array = field(default_factory=lambda: np.zeros(3))

    def __matmul__(self, other: Place) -> Place:
        return Place(self.R @ other.R, self.p + self.R @ other.p)


@dataclass(frozen=True, slots=True, eq=False)
class Mass:
    """mass [kg], which may be 0 beside moments of inertia; centre (3,) [m] and J (3, 3) about it
    [kg m^2], in the link's axes."""

    mass: float
    centre: Array
    J: Array


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """One visual: box, cylinder, sphere with its sizes [m], or a mesh with its file and its
    scale, 0 where that differs between the axes."""

    kind: str
    sizes: dict[str, float]
    place: Place
    file: str = ""
    scale: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class UrdfLink:
    """A link; `mass` is None where it has none."""

    name: str
    mass: Mass | None
    solids: tuple[Solid, ...]


@dataclass(frozen=True, slots=True, eq=False)
class UrdfJoint:
    """A joint from `parent` to `child`.  `limits` are lower, upper [rad or m], `effort` the
    largest force of its drive [N or N m]; `mimic` is (joint, multiplier, offset)."""

    name: str
    kind: str
    parent: str
    child: str
    X_PJ: Place
    axis: Array
    limits: tuple[float, float] | None
    effort: float
    damping: float
    friction: float
    mimic: tuple[str, float, float] | None


@dataclass(frozen=True, slots=True)
class Transmission:
    """A motor on `joint`: turns of its rotor per turn of the joint, and the rotor's moment of
    inertia [kg m^2]."""

    joint: str
    reduction: float
    rotor: float


@dataclass(frozen=True, slots=True, eq=False)
class Robot:
    """A tree of links, the root first, joints in the order of the file."""

    name: str
    root: str
    links: dict[str, UrdfLink]
    joints: tuple[UrdfJoint, ...]
    transmissions: tuple[Transmission, ...]
    notes: tuple[str, ...]

    def below(self) -> dict[str, list[UrdfJoint]]:
        """The joints that each link is the parent of."""
        return _below(self.joints)


def read_robot(text: str, where: str) -> Robot:
    """The robot in the text of a URDF file.

    Raises ModelError for what is no XML, no URDF, or no tree, with the element's name.
    """
    root = _parsed(text, where)
    links = {_name(e, where): _link(e, where) for e in root.findall("link")}
    joints = tuple(_joint(e, where) for e in root.findall("joint"))
    if not links:
        raise ModelError(f"{where}: the robot has no <link>.")
    for joint in joints:
        for end in (joint.parent, joint.child):
            if end not in links:
                raise ModelError(f"{where}: joint {joint.name} names link {end!r}, which is none.")
    _require_leaders(joints, where)
    unknown = {e.tag for e in root} - {"link", "joint", *IGNORED}
    notes = [f"<{tag}> is not known and was left out." for tag in sorted(unknown)]
    notes += _missing(root)
    found = [_transmission(e, where) for e in root.findall("transmission")]
    motors = tuple(t for t in found if t is not None)
    if len(motors) < len(found):
        notes.append(
            f"{len(found) - len(motors)} transmissions were left out: they say ratios, but no "
            "inertia of a rotor."
        )
    name = root.get("name") or "robot"
    return Robot(name, _root(links, joints, where), links, joints, motors, tuple(notes))


ROTOR = ("rotorinertia", "motorinertia")  # no part of the format, but written by many
RATIO = ("mechanicalreduction", "gearratio")


def _transmission(element: Element, where: str) -> Transmission | None:
    """What a <transmission> says of the rotor behind its one joint; None where it says nothing."""
    joints = element.findall("joint")
    said: dict[str, float] = {}
    for inner in element.iter():
        tag = inner.tag.rpartition("}")[2].lower().replace("_", "")
        if tag in (*ROTOR, *RATIO):
            place = f"{where}: transmission {element.get('name')}"
            text = inner.get("value") or (inner.text or "").strip()
            said[tag] = _finite(text, inner, "value", place)
    rotor = next((said[tag] for tag in ROTOR if tag in said), 0.0)
    if rotor <= 0.0 or len(joints) != 1:
        return None
    ratio = next((said[tag] for tag in RATIO if said.get(tag)), 1.0)
    return Transmission(_name(joints[0], where), ratio, rotor)


def _parsed(text: str, where: str) -> Element:
    from defusedxml.common import DefusedXmlException

    try:
        root = root_of(text)
    except DefusedXmlException as error:
        raise ModelError(
            f"{where}: refused, the file declares entities ({type(error).__name__}). "
            "A URDF file needs none; remove them."
        ) from error
    except (ParseError, TooDeep) as error:
        raise ModelError(f"{where}: not readable as XML: {error}.") from error
    if root.tag != "robot":
        raise ModelError(f"{where}: the outermost element is <{root.tag}>, not <robot>.")
    if any("xacro" in e.tag or "${" in "".join(e.attrib.values()) for e in root.iter()):
        raise ModelError(
            f"{where}: it has macros (xacro). Expand them first: xacro FILE.xacro > robot.urdf"
        )
    return root


def _root(links: dict[str, UrdfLink], joints: tuple[UrdfJoint, ...], where: str) -> str:
    """The one link that is nobody's child; every link must hang on it, by one joint."""
    children = [joint.child for joint in joints]
    counts = Counter(children)
    for child, parents in counts.items():
        if parents > 1:
            raise ModelError(
                f"{where}: link {child} has {parents} parents. URDF holds trees; "
                "import the tree and write the closing joint in the model file."
            )
    roots = [name for name in links if name not in counts]
    if len(roots) != 1:
        told = ", ".join(roots[:6]) or "none"
        raise ModelError(f"{where}: a robot has one root link, found {len(roots)}: {told}.")
    below = _below(joints)
    reached, waiting = {roots[0]}, [roots[0]]
    while waiting:
        found = [joint.child for joint in below[waiting.pop()]]
        reached.update(found)
        waiting.extend(found)
    if lost := sorted(links.keys() - reached):
        raise ModelError(f"{where}: links {', '.join(lost[:6])} hang in a circle.")
    return roots[0]


def _below(joints: tuple[UrdfJoint, ...]) -> dict[str, list[UrdfJoint]]:
    found: dict[str, list[UrdfJoint]] = defaultdict(list)
    for joint in joints:
        found[joint.parent].append(joint)
    return found


def _require_leaders(joints: tuple[UrdfJoint, ...], where: str) -> None:
    """Raises ModelError where joints follow each other in a circle: none of them leads."""
    followed = {joint.name: joint.mimic[0] for joint in joints if joint.mimic is not None}
    leads: set[str] = set()  # those that come to a joint which follows none
    for name in followed:
        chain: dict[str, None] = {}
        while name in followed and name not in leads:
            if name in chain:
                circle = list(chain)[list(chain).index(name) :]
                told = " follows ".join([*circle[:5], *([] if len(circle) < 6 else ["..."]), name])
                raise ModelError(f"{where}: joint {told}: in a circle none leads. Take one out.")
            chain[name] = None
            name = followed[name]
        leads.update(chain)


def _link(element: Element, where: str) -> UrdfLink:
    name = _name(element, where)
    solids = [_solid(e, f"{where}: link {name}") for e in element.findall("visual")]
    return UrdfLink(
        name, _mass(element, f"{where}: link {name}"), tuple(s for s in solids if s is not None)
    )


def _missing(root: Element) -> Iterator[str]:
    """What inertials that are written leave out: what is not there counts as zero."""
    found: dict[str, list[str]] = {}
    for link in root.findall("link"):
        inertial = link.find("inertial")
        if inertial is None:
            continue
        moments = inertial.find("inertia")
        lacks = [] if inertial.find("mass") is not None else ["<mass>"]
        lacks += ["<inertia>"] if moments is None else []
        if moments is not None:
            lacks += [key for key in ("ixx", "iyy", "izz") if moments.get(key) is None]
        if lacks:
            found.setdefault(", ".join(lacks), []).append(link.get("name") or "")
    for what, links in found.items():
        yield f"No {what} in <inertial> of {', '.join(links)}: taken as 0."


def _mass(link: Element, where: str) -> Mass | None:
    inertial = link.find("inertial")
    mass = inertial.find("mass") if inertial is not None else None
    if inertial is None or mass is None:
        return None
    amount = _number(mass, "value", where)
    if amount < 0.0:
        raise ModelError(f"{where}: mass {amount:g} kg is negative.")
    place, J = _place(inertial, where), np.zeros((3, 3))
    moments = inertial.find("inertia")
    if moments is not None:
        for i, j, key in ((0, 0, "ixx"), (1, 1, "iyy"), (2, 2, "izz")):
            J[i, j] = _number(moments, key, where, 0.0)
        for i, j, key in ((0, 1, "ixy"), (0, 2, "ixz"), (1, 2, "iyz")):
            J[i, j] = J[j, i] = _number(moments, key, where, 0.0)
    if amount == 0.0 and not J.any():
        return None
    return Mass(amount, place.p, place.R @ J @ place.R.T)


def _solid(visual: Element, where: str) -> Solid | None:
    geometry = visual.find("geometry")
    form = next(iter(geometry), None) if geometry is not None else None
    if form is None:
        return None
    place = _place(visual, where)
    if form.tag == "box":
        sizes = dict(zip("xyz", map(float, _vector(form, "size", where)), strict=True))
        return Solid("box", sizes, place)
    if form.tag in ("cylinder", "capsule"):
        sizes = {key: _number(form, key, where) for key in ("radius", "length")}
        return Solid("cylinder", sizes, place)
    if form.tag == "sphere":
        return Solid("sphere", {"radius": _number(form, "radius", where)}, place)
    scale = _vector(form, "scale", where, "1 1 1")
    one = float(scale[0]) if np.ptp(scale) == 0.0 else 0.0
    return Solid("mesh", {}, place, form.get("filename") or "", one)


def _joint(element: Element, where: str) -> UrdfJoint:
    name = _name(element, where)
    where = f"{where}: joint {name}"
    kind = element.get("type") or ""
    if kind not in KINDS:
        raise ModelError(f"{where}: type {kind!r} is none of {', '.join(KINDS)}.")
    ends = []
    for end in ("parent", "child"):
        named = element.find(end)
        if named is None or not named.get("link"):
            raise ModelError(f"{where}: no <{end} link=...>.")
        ends.append(str(named.get("link")))
    axis = _axis(element, where)
    limit, dynamics = element.find("limit"), element.find("dynamics")
    limits = None
    if limit is not None and kind in ("revolute", "prismatic"):
        limits = (_number(limit, "lower", where, 0.0), _number(limit, "upper", where, 0.0))
        if limits[0] > limits[1]:
            raise ModelError(f"{where}: lower limit {limits[0]:g} above upper {limits[1]:g}.")
    return UrdfJoint(
        name,
        kind,
        ends[0],
        ends[1],
        _place(element, where),
        axis,
        limits,
        0.0 if limit is None else _number(limit, "effort", where, 0.0),
        0.0 if dynamics is None else _number(dynamics, "damping", where, 0.0),
        0.0 if dynamics is None else _number(dynamics, "friction", where, 0.0),
        _mimic(element, where),
    )


def _axis(joint: Element, where: str) -> Array:
    element = joint.find("axis")
    axis = _X if element is None else _vector(element, "xyz", where)
    length = float(np.linalg.norm(axis))
    if length == 0.0:
        if joint.get("type") in ("fixed", "floating"):
            return _X
        raise ModelError(f"{where}: the axis is zero.")
    return axis / length


def _mimic(joint: Element, where: str) -> tuple[str, float, float] | None:
    mimic = joint.find("mimic")
    if mimic is None:
        return None
    offset = _number(mimic, "offset", where, 0.0)
    return mimic.get("joint") or "", _number(mimic, "multiplier", where, 1.0), offset


def _place(element: Element, where: str) -> Place:
    """Of the <origin> in `element`; the identity without one."""
    origin = element.find("origin")
    if origin is None:
        return Place()
    r, p, y = _vector(origin, "rpy", where, "0 0 0")
    R = rotation_about(_Z, y) @ rotation_about(_Y, p) @ rotation_about(_X, r)
    return Place(R, _vector(origin, "xyz", where, "0 0 0"))


def _name(element: Element, where: str) -> str:
    name = element.get("name")
    if not name:
        raise ModelError(f"{where}: a <{element.tag}> has no name.")
    return name


def _vector(element: Element, key: str, where: str, otherwise: str | None = None) -> Array:
    text = element.get(key) or otherwise
    words = (text or "").split()
    if len(words) != 3:
        raise ModelError(f"{where}: <{element.tag} {key}={text!r}> has no three numbers.")
    return np.array([_finite(word, element, key, where) for word in words])


def _number(element: Element, key: str, where: str, otherwise: float | None = None) -> float:
    text = element.get(key)
    if text is None:
        if otherwise is None:
            raise ModelError(f"{where}: <{element.tag}> lacks {key}.")
        return otherwise
    return _finite(text, element, key, where)


def _finite(text: str, element: Element, key: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ModelError(f"{where}: <{element.tag} {key}> has {text!r}, which is no number.")
    if abs(value) > LARGEST:
        what = f"{where}: <{element.tag} {key}> has {text}; numbers are {LARGEST:g} at most."
        raise ModelError(f"{what} Is its unit right? URDF is in m, kg, s and rad.")
    return value

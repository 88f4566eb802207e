"""MSTMMSim's parameter file: the XML that the paper prints, read and written.

The printed file is not well-formed: names with spaces (``<model name>``), a
misspelt pair (``<rigidodies>2</rigidbodies>``), a closing tag without its slash,
a container that is never closed, and ``...`` for what was left out.  `repaired`
mends such tags; then defusedxml parses, so that entity bombs and external
entities are refused.  Meaning follows MBDyn, from which the format borrows:
orientation ``1,1,1`` is the identity, ``hinge, 1, x, 3, z`` gives axes 1 and 3 of
the joint's frame in the node's, a revolute joint turns about axis 3.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from vbg.errors import ModelError, UsageError
from vbg.expressions import evaluate, parse
from vbg.model import Model

_TAG = re.compile(r"<[^>]*>")
# A container opens: these, still open, end before it.
_ENDS_BEFORE = {
    "elements": ("nodes", "parameters"),
    "nodes": ("parameters",),
    "joints": ("bodies",),
}
_KINDS = {
    "revolutepin": "revolute",
    "revolutehinge": "revolute",
    "axialrotation": "revolute",
    "sphericalpin": "spherical",
    "sphericalhinge": "spherical",
    "ballandsocket": "spherical",
    "prismatic": "prismatic",
    "prismaticpin": "prismatic",
    "inline": "point_on_line",
    "inplane": "point_on_plane",
    "clamp": "fixed",
    "universalhinge": "universal",
}
_WRITTEN = {
    "revolute": "revolutehinge",
    "spherical": "sphericalhinge",
    "prismatic": "prismatic",
    "point_on_line": "inline",
    "point_on_plane": "inplane",
    "fixed": "clamp",
}
_VELOCITIES = (
    ("velocity", "absolutevelocity"),
    ("angular_velocity", "absoluteangularvelocity"),
)
THIN = 1e-6  # of the largest moment: what a rod's zero moment of inertia becomes


def read(path: str | Path, parameters: Mapping[str, float] | None = None) -> Model:
    """The model in an XML file of MSTMMSim.

    `parameters` add to or replace those of the file: the printed one leaves some
    out.  Raises ModelError for what cannot be read, with the element's name.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ModelError(f"{path}: byte {error.start + 1} is not UTF-8 text.") from None
    document = to_document(text, str(path), parameters or {})
    return Model.from_document(document, str(path))


def to_document(text: str, where: str, parameters: Mapping[str, float]) -> dict[str, Any]:
    """Plain data of a model file from the text of an XML file."""
    root = _parsed(text, where)
    values = _parameters(root) | dict(parameters)
    nodes = {_text(node, "name"): node for node in root.iter("structural")}
    bodies = {_text(body, "name"): _body(body, nodes, where) for body in root.iter("body")}
    by_node = {_text(body, "node"): _text(body, "name") for body in root.iter("body")}
    if not bodies:
        raise ModelError(f"{where}: no <body> in it; not a parameter file of MSTMMSim?")
    joints = dict(_joints(root, by_node, nodes, where))
    _place_by_joints(bodies, joints, values)
    return {
        "vbg": 1,
        "name": _text(root, "model_name/name") or "model",
        "gravity": _gravity(root),
        "parameters": values,
        "bodies": bodies,
        "joints": joints,
        "simulate": _simulate(root),
    }


def _parsed(text: str, where: str) -> Element:
    """The tree; a document type or an entity is refused, whatever else is wrong."""
    import defusedxml.ElementTree as safe
    from defusedxml.common import DefusedXmlException

    sound = text if "<!" in re.sub(r"<!--.*?-->", "", text, flags=re.S) else repaired(text)
    try:
        root: Element = safe.fromstring(sound, forbid_dtd=True)
    except DefusedXmlException as error:
        raise ModelError(
            f"{where}: refused, the file declares a document type or entities"
            f" ({type(error).__name__}). A parameter file needs neither; remove them."
        ) from error
    except safe.ParseError as error:
        raise ModelError(f"{where}: not readable as XML: {error}.") from error
    return root


def repaired(text: str) -> str:
    """The text with every element closed once, in order, and names without spaces."""
    out: list[str] = []
    stack: list[str] = []
    at = 0
    for tag in _TAG.finditer(text):
        out.append(_escaped(text[at : tag.start()]))
        at = tag.end()
        name = tag.group()[1:-1].strip()
        if name.startswith(("?", "!")):
            continue
        if name.startswith("/"):
            _close(_joined(name[1:]), stack, out)
        elif name.endswith("/"):
            out.append(f"<{_joined(name[:-1])}/>")
        else:
            _open(_joined(name), stack, out)
    out.append(_escaped(text[at:]))
    out += [f"</{name}>" for name in reversed(stack)]
    return "".join(out)


def _joined(name: str) -> str:
    return re.sub(r"\s+", "_", name.strip())


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("...", "")


def _open(name: str, stack: list[str], out: list[str]) -> None:
    """Open an element; a container's name again, right inside it, is its lost closing tag."""
    if stack and stack[-1] == name:
        out.append(f"</{stack.pop()}>")
        return
    while stack and stack[-1] in _ENDS_BEFORE.get(name, ()):
        out.append(f"</{stack.pop()}>")
    stack.append(name)
    out.append(f"<{name}>")


def _close(name: str, stack: list[str], out: list[str]) -> None:
    """Close the element that is meant: the open one of that name or of nearly that name."""
    if name not in stack:
        near = difflib.get_close_matches(name, stack[-1:], n=1, cutoff=0.7)
        if not near:
            return
        name = near[0]
    while stack:
        last = stack.pop()
        out.append(f"</{last}>")
        if last == name:
            return


def _text(element: Element | None, path: str) -> str:
    """Text at a path; empty for a missing element and for "null"."""
    found = None if element is None else element.find(path)
    text = "" if found is None or found.text is None else found.text.strip()
    return "" if text == "null" else text


def _list(text: str) -> list[str]:
    return [entry.strip() for entry in text.split(",") if entry.strip()]


def _vector(text: str, where: str) -> list[Any]:
    """Three entries, each a number or an expression kept as written."""
    entries = _list(text)
    if len(entries) != 3:
        raise ModelError(f"{where}: three components are needed, found {text!r}.")
    return [_entry(entry) for entry in entries]


def _entry(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _parameters(root: Element) -> dict[str, Any]:
    return {_text(p, "name"): _entry(_text(p, "value")) for p in root.iter("parameter")}


def _gravity(root: Element) -> list[float]:
    """ "x, y, z, const, size": the size along a direction."""
    entries = _list(_text(root, "controldata/gravity"))
    if not entries:
        return [0.0, 0.0, 0.0]
    direction = np.array([float(v) for v in entries[:3]])
    size = float(entries[4]) if len(entries) > 4 else float(np.linalg.norm(direction))
    unit = direction / max(float(np.linalg.norm(direction)), 1e-300)
    return [float(v) for v in size * unit]


def _simulate(root: Element) -> dict[str, float]:
    begin = float(_text(root, "initial_value/initial_time") or 0.0)
    end = float(_text(root, "initial_value/final_time") or begin + 1.0)
    step = float(_text(root, "initial_value/time_step") or 1e-3)
    return {"t_end": end - begin, "output_step": step}


def _body(body: Element, nodes: Mapping[str, Element], where: str) -> dict[str, Any]:
    name, node = _text(body, "name"), nodes.get(_text(body, "node"))
    place = f"{where}: body {name}"
    if node is None:
        raise ModelError(f"{place}: its node {_text(body, 'node')!r} is not among the nodes.")
    content: dict[str, Any] = {
        "mass": _entry(_text(body, "mass")),
        "inertia": _inertia(_text(body, "inertiamatrix"), place),
        "position": _vector(_text(node, "absoluteposition") or "0,0,0", place),
    }
    rotation = _rotation(_text(node, "absoluteorientation"), place)
    if rotation is not None:
        content["rotation"] = {"quaternion": rotation}
    for key, tag in (
        ("velocity", "absolutevelocity"),
        ("angular_velocity", "absoluteangularvelocity"),
    ):
        if _text(node, tag):
            content[key] = _vector(_text(node, tag), place)
    if _text(body, "relativecentermass"):
        content["com"] = _vector(_text(body, "relativecentermass"), place)
    return content


def _inertia(text: str, where: str) -> dict[str, Any]:
    """ "diag, xx, yy, zz"; a rod's zero becomes a millionth of the largest."""
    entries = _list(text)
    if len(entries) != 4 or entries[0] != "diag":
        raise ModelError(f"{where}: inertiamatrix must be 'diag, xx, yy, zz', found {text!r}.")
    moments = [_entry(entry) for entry in entries[1:]]
    others = [str(m) for m in moments if m != 0.0]
    filled = [m if m != 0.0 else f"{THIN}*({others[0]})" for m in moments] if others else moments
    return dict(zip(("xx", "yy", "zz"), filled, strict=True))


def _rotation(text: str, where: str) -> list[float] | None:
    """ "1,1,1" or "eye" is the identity (None); "matr, r11, r12, ..." a matrix."""
    entries = _list(text)
    if not entries or entries in (["eye"], ["1", "1", "1"], ["1.", "1.", "1."]):
        return None
    if entries[0] == "quat" and len(entries) == 5:
        return [float(v) for v in entries[1:]]
    raise ModelError(
        f"{where}: absoluteorientation {text!r} is not known; write 1,1,1 or quat, w, x, y, z."
    )


def _axis(text: str) -> list[float] | None:
    """Axis 3 of "hinge, 1, x, y, z, 3, x, y, z"."""
    entries = _list(text)
    if not entries or entries[0] != "hinge":
        return None
    numbers = [float(v) for v in entries[1:]]
    for k in range(0, len(numbers) - 3, 4):
        if numbers[k] == 3.0:
            return numbers[k + 1 : k + 4]
    return None


def _joints(
    root: Element, by_node: Mapping[str, str], nodes: Mapping[str, Element], where: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    for element in [joint for joints in root.iter("joints") for joint in joints]:
        name = _text(element, "name")
        kind = _KINDS.get(element.tag)
        if kind is None:
            raise ModelError(
                f"{where}: joint {name!r} is a {element.tag}; known are {', '.join(_KINDS)}."
            )
        yield name, _joint(element, kind, by_node, nodes, f"{where}: joint {name}")


def _joint(
    element: Element,
    kind: str,
    by_node: Mapping[str, str],
    nodes: Mapping[str, Element],
    where: str,
) -> dict[str, Any]:
    """A joint between two nodes, or of one node with the ground where it stands."""
    first, second = element.find("node1"), element.find("node2")
    if first is not None and second is not None:
        ends = [_end(first, by_node, where), _end(second, by_node, where)]
        axis = _axis(_text(first, "relativeaxisorientation"))
    else:
        body = by_node[_text(element, "node")]
        offset = _vector(_text(element, "relativeoffset") or "0,0,0", where)
        node = nodes[_text(element, "node")]
        origin = _vector(_text(node, "absoluteposition") or "0,0,0", where)
        at = (
            _vector(_text(element, "absoluteoffset"), where)
            if _text(element, "absoluteoffset")
            else [_sum(a, b) for a, b in zip(origin, offset, strict=True)]
        )
        ends = [{"body": "ground", "at": at}, {"body": body, "at": offset}]
        axis = _axis(_text(element, "relativeaxisorientation"))
    content: dict[str, Any] = {"kind": kind, "between": ends}
    if kind not in ("spherical", "fixed"):
        if axis is None:
            raise ModelError(f"{where}: relativeaxisorientation gives no axis 3.")
        content["axis"] = axis
    return content


def _sum(a: Any, b: Any) -> Any:
    if isinstance(a, float) and isinstance(b, float):
        return a + b
    return f"({a}) + ({b})"


def _end(element: Element, by_node: Mapping[str, str], where: str) -> dict[str, Any]:
    node = _text(element, "name")
    if node not in by_node:
        raise ModelError(f"{where}: node {node!r} carries no body.")
    return {
        "body": by_node[node],
        "at": _vector(_text(element, "relativeoffset") or "0,0,0", where),
    }


def _place_by_joints(
    bodies: dict[str, dict[str, Any]],
    joints: Mapping[str, dict[str, Any]],
    values: Mapping[str, Any],
) -> None:
    """Leave the position of a body to its joint where the two contradict each other.

    The printed file puts both links at the same place.
    """

    def number(entry: Any) -> float:
        return entry if isinstance(entry, float) else evaluate(parse(entry), numbers)

    numbers: dict[str, float] = {}
    for name, value in values.items():
        numbers[name] = value if isinstance(value, float) else evaluate(parse(value), numbers)
    for joint in joints.values():
        first, second = joint["between"]
        if first["body"] == "ground" or "rotation" in bodies[second["body"]]:
            continue
        here = bodies[first["body"]].get("position")
        there = bodies[second["body"]].get("position")
        if here is not None and there is not None:
            gap = [
                number(p) + number(a) - number(q) - number(b)
                for p, a, q, b in zip(here, first["at"], there, second["at"], strict=True)
            ]
            if max(map(abs, gap)) <= 1e-9:
                continue
        bodies[second["body"]].pop("position", None)


def write(model: Model, path: str | Path) -> None:
    """Write a model of bodies and joints as a parameter file of MSTMMSim.

    Raises UsageError for parts that the format does not know.
    """
    Path(path).write_text(to_xml(model), encoding="utf-8")


def to_xml(model: Model) -> str:
    """The model as well-formed XML of the same elements."""
    from vbg.model.placing.frames import placement

    if model.forces or model.electric or model.hydraulic:
        raise UsageError("MSTMMSim's parameter file holds bodies, joints and gravity only.")
    poses = placement(model)
    size = float(np.linalg.norm(model.gravity))
    direction = np.array(model.gravity) / (size or 1.0)
    lines = ["<model>", f"<model_name><name>{model.name}</name></model_name>"]
    lines += [
        "<initial_value><initial_time>0</initial_time>"
        f"<final_time>{model.simulate.t_end!r}</final_time>"
        f"<time_step>{model.simulate.output_step!r}</time_step></initial_value>",
        f"<controldata><structuralnodes>{len(poses)}</structuralnodes>"
        f"<rigidbodies>{len(poses)}</rigidbodies><joints>{len(model.joints)}</joints>"
        f"<gravity>{_numbers(direction)}, const, {size!r}</gravity></controldata>",
        "<nodes>",
    ]
    for name, pose in poses.items():
        lines += [
            f"<structural><name>node_{name}</name>",
            *_node(model, name, pose),
            "</structural>",
        ]
    lines += ["</nodes>", "<elements>", "<bodies>"]
    for name, body in model.bodies.items():
        lines.append(_body_xml(name, body))
    lines += ["</bodies>", "<joints>"]
    lines += [_joint_xml(name, joint) for name, joint in model.joints.items()]
    return "\n".join([*lines, "</joints>", "</elements>", "</model>", ""])


def _numbers(values: Any) -> str:
    return ", ".join(repr(float(v)) for v in values)


def _node(model: Model, name: str, pose: Any) -> list[str]:
    rotation = model.bodies[name].rotation
    orientation = "1,1,1" if rotation is None else f"quat, {_numbers(rotation)}"
    return [
        f"<absoluteposition>{_numbers(pose.p_WB)}</absoluteposition>",
        f"<absoluteorientation>{orientation}</absoluteorientation>",
        f"<absolutevelocity>{_numbers(pose.v_WB)}</absolutevelocity>",
        f"<absoluteangularvelocity>{_numbers(pose.w_WB_B)}</absoluteangularvelocity>",
    ]


def _body_xml(name: str, body: Any) -> str:
    if any(abs(v) > 0.0 for v in body.inertia[3:]):
        raise UsageError(f"bodies.{name}: the format holds principal moments only, not xy, yz, zx.")
    return (
        f"<body><name>{name}</name><node>node_{name}</node><mass>{body.mass!r}</mass>"
        f"<relativecentermass>null</relativecentermass>"
        f"<inertiamatrix>diag, {_numbers(body.inertia[:3])}</inertiamatrix></body>"
    )


def _joint_xml(name: str, joint: Any) -> str:
    tag = _WRITTEN.get(joint.kind)
    if tag is None or getattr(joint, "drive", None) is not None:
        raise UsageError(f"joints.{name}: the format does not know a (driven) {joint.kind} joint.")
    hinge = ""
    if hasattr(joint, "axis"):
        z = np.array(joint.axis)
        x = np.linalg.svd(z[None, :])[2][1]
        hinge = f"hinge, 1, {_numbers(x)}, 3, {_numbers(z)}"
    orientation = f"<relativeaxisorientation>{hinge}</relativeaxisorientation>" if hinge else ""
    first, second = joint.between
    if first.body == "ground":
        return (
            f"<{tag}><name>{name}</name><node>node_{second.body}</node>"
            f"<relativeoffset>{_numbers(second.at)}</relativeoffset>{orientation}"
            f"<absoluteoffset>{_numbers(first.at)}</absoluteoffset></{tag}>"
        )
    ends = "".join(
        f"<node{k}><name>node_{end.body}</name><relativeoffset>{_numbers(end.at)}</relativeoffset>"
        f"{orientation}</node{k}>"
        for k, end in ((1, first), (2, second))
    )
    return f"<{tag}><name>{name}</name>{ends}</{tag}>"

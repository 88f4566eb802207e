"""Values that name other things: bodies and points, joints, nodes, signals, outputs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from vbg import expressions
from vbg.errors import ModelError
from vbg.fields import Attachment, Field
from vbg.model.catalogue import JOINT_COORDINATE, JOINT_NODE, REFERENCE_NODES
from vbg.model.forms.motions import motion_of, wrong_motion
from vbg.model.text.comparison import comparison
from vbg.model.text.names import is_name
from vbg.model.text.places import Path
from vbg.model.values.quantities import quantity
from vbg.model.values.reading import Reading, Scope, described
from vbg.model.values.values import read_list, read_quantity, read_vector, unknown_keys
from vbg.spatial import rotation_matrix

GROUND, FREE = "ground", "free"


def read_end(reading: Reading, scope: Scope, path: Path, raw: Any) -> Attachment | None:
    """An attachment: BODY, BODY.POINT, FRAME, ground, or { body = ..., at = [...] }."""
    if isinstance(raw, str):
        return _named_end(reading, scope, path, raw)
    if not isinstance(raw, Mapping):
        reading.fail(
            path,
            f'expected "BODY", "BODY.POINT", "ground" or {{ body, at }}, found {described(raw)}.',
        )
        return None
    unknown_keys(reading, path, raw, ("body", "at"), "an attachment")
    if "body" not in raw:
        reading.fail_key(path, "the attachment names no body.", "Write { body = ..., at = [...] }.")
        return None
    body = reading.text((*path, "body"), raw["body"])
    at = read_vector(reading, (*path, "at"), raw.get("at", (0.0, 0.0, 0.0)), "m")
    if body is None or at is None:
        return None
    if body in scope.frames:
        return _point_in_frame(scope.frames[body], at)
    if body in scope.beams:
        told = f"{body} bends: a place on it must be one of its points."
        reading.fail((*path, "body"), told, f'Write "{body}.{next(iter(scope.beams[body]))}".')
        return None
    if not _body_known(reading, scope, (*path, "body"), body):
        return None
    if "at" in raw and body in scope.origins:
        at = tuple(a - o for a, o in zip(at, scope.origins[body], strict=True))
    return Attachment(body, at)  # type: ignore[arg-type]


def _named_end(reading: Reading, scope: Scope, path: Path, text: str) -> Attachment | None:
    body, dot, point = text.partition(".")
    if body in scope.frames:
        if dot:
            what = f"{body} is a frame, which has no points, found {expressions.shown(text)}."
            reading.fail(path, what, f'Write "{body}", or {{ body = "{body}", at = [x, y, z] }}.')
            return None
        return scope.frames[body]
    if body in scope.beams:
        return _node_of_beam(reading, scope, path, body, point)
    if not _body_known(reading, scope, path, body):
        return None
    if not dot:
        return Attachment(body)
    points = scope.points.get(body, {})
    if body == GROUND:
        reading.fail(
            path,
            f"ground has no points, found {expressions.shown(text)}.",
            'Write { body = "ground", at = [x, y, z] }.',
        )
        return None
    if point not in points:
        what = f"the body {body} has no point"
        reading.unknown(path, what, point, points, f"points of {body}")
        return None
    return Attachment(body, points[point], point)  # type: ignore[arg-type]


def _point_in_frame(frame: Attachment | None, at: tuple[float, ...]) -> Attachment | None:
    """A point written in the axes of a frame, as one of its body."""
    if frame is None:
        return None
    arm = rotation_matrix(frame.rotation or (1.0, 0.0, 0.0, 0.0)) @ at
    x, y, z = (a + b for a, b in zip(frame.at, arm, strict=True))
    return Attachment(frame.body, (float(x), float(y), float(z)))


def _node_of_beam(
    reading: Reading, scope: Scope, path: Path, beam: str, node: str
) -> Attachment | None:
    nodes = scope.beams[beam]
    if node not in nodes:
        none = f"{beam} has no point {expressions.shown(node)}."
        what = none if node else f"{beam} bends: say where on it."
        ends = f"{beam}.A, {beam}.B, or a node, {beam}.0 to {beam}.{len(nodes) - 3}"
        if "0" not in nodes:  # a flexible body
            ends = ", ".join(f"{beam}.{name}" for name in nodes)
        reading.fail(path, what, f"Write {ends}.")
        return None
    return nodes[node]


def _body_known(reading: Reading, scope: Scope, path: Path, body: str) -> bool:
    if body == GROUND or body in scope.points:
        return True
    known = [*scope.points, *scope.frames, GROUND]
    reading.unknown(
        path, "unknown body", body, known, "bodies and frames" if scope.frames else "bodies"
    )
    return False


def _end(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    return read_end(reading, scope, path, raw)


def _ends(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    entries = read_list(reading, path, raw, 2, "bodies")
    if entries is None:
        return None
    first, second = (read_end(reading, scope, (*path, i), e) for i, e in enumerate(entries))
    if first is None or second is None:
        return None
    if first.body == second.body:
        reading.fail(
            path,
            f"both ends are on {first.body}: a part connected to itself.",
            "Two different bodies are needed, one of them may be ground.",
        )
        return None
    return first, second


def _span(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    entries = read_list(reading, path, raw, 2, 'ends, of which one may be "free"')
    if entries is None:
        return None
    before = len(reading.problems)
    found = [
        None if entry in (None, FREE) else read_end(reading, scope, (*path, i), entry)
        for i, entry in enumerate(entries)
    ]
    return tuple(found) if len(reading.problems) == before else None


def _end_or_coordinate(
    reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field
) -> Any:
    if isinstance(raw, str) and raw.startswith("joints."):
        return read_coordinate(reading, scope, path, raw)
    return read_end(reading, scope, path, raw)


def _coordinate(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    text = read_coordinate(reading, scope, path, raw)
    wanted = declared.moves or JOINT_COORDINATE.get(str(path[0]), "")
    if text is None or not wanted or motion_of(scope, text) in ("", wanted):
        return text
    wrong_motion(reading, path, text, wanted)
    return None


def read_coordinate(reading: Reading, scope: Scope, path: Path, raw: Any) -> str | None:
    """``joints.NAME`` with one free coordinate, or ``rotational.NODE``, ``translational.NODE``."""
    text = reading.text(path, raw)
    if text is None:
        return None
    table, _, name = text.partition(".")
    if table in scope.nodes:
        if name in scope.nodes[table]:
            return text
        reading.unknown(path, f"unknown {table} node", name, scope.nodes[table], "nodes")
        return None
    if table != "joints":
        close = [f"joints.{joint}" for joint in scope.joints]
        reading.fail(
            path,
            f'expected "joints.NAME", "rotational.NODE" or "translational.NODE", '
            f"found {expressions.shown(text)}.",
            reading.hint(f"joints.{text}", close, "coordinates"),
        )
        return None
    if name not in scope.joints:
        reading.unknown(path, "unknown joint", name, scope.joints, "joints")
        return None
    return text if _has_one_coordinate(reading, scope, path, name) else None


def _has_one_coordinate(reading: Reading, scope: Scope, path: Path, joint: str) -> bool:
    coordinates = scope.joints[joint]
    if len(coordinates) == 1:
        return True
    found = f"{len(coordinates)}: {', '.join(coordinates)}" if coordinates else "none"
    reading.fail(
        path,
        f"needs a joint with one free coordinate; {joint} has {found}.",
        "Use a revolute, prismatic or helical joint.",
    )
    return False


def _coordinates(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    entries = read_list(reading, path, raw, declared.size, 'coordinates "joints.NAME"')
    if entries is None:
        return None
    found = [read_coordinate(reading, scope, (*path, i), e) for i, e in enumerate(entries)]
    if None in found:
        return None
    if len(set(found)) < len(found):
        reading.fail(path, f"{found[0]} is coupled to itself.", "Name different joints.")
        return None
    return tuple(found)


def _nodes(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    entries = read_list(reading, path, raw, declared.size, "node names")
    if entries is None:
        return None
    found = [_node(reading, scope, (*path, i), entry) for i, entry in enumerate(entries)]
    if None in found:
        return None
    if len(found) > 1 and len(set(found)) == 1:
        what = f"all ends are on the node {found[0]}: a part connected to itself."
        reading.fail(path, what, "Give its ends different nodes.")
        return None
    return tuple(found)


def _node(reading: Reading, scope: Scope, path: Path, raw: Any) -> str | None:
    name = reading.text(path, raw)
    if name is None:
        return None
    if name.startswith(JOINT_NODE):
        return name if _is_joint_node(reading, scope, path, name) else None
    table, _, joint = name.partition(".")
    if table == "joints":
        what = f"{expressions.shown(name)} is no node: a joint as one is written {JOINT_NODE}NAME."
        close = [f"{JOINT_NODE}{known}" for known in scope.joints]
        reading.fail(path, what, reading.hint(f"{JOINT_NODE}{joint}", close, "joints"))
        return None
    reference = REFERENCE_NODES.get(str(path[0]), "")
    if name.lower() in (reference, "ground", "earth") and name != reference:
        what = f"{expressions.shown(name)} is no node of [{path[0]}]: what is fixed there is called"
        reading.fail(path, f"{what} {reference!r}.", f"Write {reference!r}.")
        return None
    if is_name(name):
        return name
    reading.fail(
        path, f"{expressions.shown(name)} cannot name a node.", "Use letters, digits, _ and -."
    )
    return None


def _is_joint_node(reading: Reading, scope: Scope, path: Path, text: str) -> bool:
    """Whether joint:NAME is a shaft or slider of the table in which it is written."""
    table, joint = str(path[0]), text.removeprefix(JOINT_NODE)
    wanted = JOINT_COORDINATE.get(table)
    if wanted is None:
        what = f"{expressions.shown(text)} is the coordinate of a joint, which is no {table} node."
        remedy = 'Parts of [rotational] and [translational] take it, and `on = "joints.NAME"`.'
        reading.fail(path, what, remedy)
    elif joint not in scope.joints:
        reading.unknown(path, "unknown joint", joint, scope.joints, "joints")
    elif _has_one_coordinate(reading, scope, path, joint):
        if scope.joints[joint] == (wanted,):
            return True
        wrong_motion(reading, path, f"the joint {joint}", wanted)
    return False


def _signal(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    """A number, or the text of a signal's name or of an expression in t, signals
    and outputs, in which parameters and the unit have become numbers."""
    if not isinstance(raw, str) or raw in scope.signals:
        return raw if isinstance(raw, str) else read_quantity(reading, path, raw, declared)
    try:
        node, _ = quantity(raw, declared.unit, reading.defined)
    except ModelError as error:
        if comparison(raw) is not None:
            reading.fail(path, f"the comparison {raw!r} is no number.", "Write if(a > b, 1, 0).")
            return None
        name = raw.isidentifier()
        remedy = reading.hint(raw, scope.signals, "signals") if name else reading.unit_hint(raw)
        reading.fail(path, f"{error}.", remedy)
        return None
    if expressions.names(node) <= reading.parameters.keys():
        return read_quantity(reading, path, raw, declared)
    if not _varying_names_known(reading, scope, path, raw, node, ("t",)):
        return None
    node = expressions.substitute(node, reading.parameters)
    if expressions.names(node) == {"t"} and not _has_start(reading, path, node):
        return None
    return _in_numbers(reading, path, node)


def _in_numbers(reading: Reading, path: Path, node: expressions.Expression) -> str | None:
    """What the solvers read: the expression with numbers for parameters and without functions
    of the file.  None, and a problem noted, where that is longer than they read."""
    text = expressions.to_text(node)
    if len(text) <= expressions.MAX_LENGTH:
        return text
    what = f"with its parameters and functions written out it has {len(text)} characters"
    remedy = 'Make signals of parts of it: kind = "expression" in [signals].'
    reading.fail(path, f"{what}, at most {expressions.MAX_LENGTH} are read.", remedy)
    return None


# units of what conditions compare most, by the last word of its name
_COMPARED = {"t": "s", "slide": "m", "angle": "rad", "angle2": "rad", "position": "m"}


def _unit_of(side: str) -> str:
    """Of the lone name that a side of a comparison is; "" (any) where that is not known."""
    word = _COMPONENT.sub("", side.strip()).rpartition(".")[2]
    return _COMPARED.get(word, "")


def _condition(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    """A comparison, `a > b` or `a < b`, as the text of what is positive where it is true; or a
    signal that is."""
    sides = comparison(raw) if isinstance(raw, str) else None
    if sides is None:
        return _signal(reading, scope, path, raw, declared)
    left, sign, right = sides
    if comparison(right) is not None:
        what = f"one comparison is a condition, found several in {raw!r}."
        reading.fail(path, what, "Compare once, as in a > b.")
        return None
    try:
        less, more = (
            quantity(side, _unit_of(other))[0] for side, other in ((left, right), (right, left))
        )
    except ModelError as error:
        reading.fail(path, f"{error}.", reading.unit_hint(raw))
        return None
    if sign.startswith(">"):
        less, more = more, less
    node: expressions.Expression = expressions.Binary("-", more, less)
    if not _varying_names_known(reading, scope, path, raw, node, ("t",)):
        return None
    node = expressions.substitute(node, reading.parameters)
    if not expressions.names(node):
        reading.fail(path, f"{raw!r} never changes.", "Compare t, or a signal as NAME.angle.")
        return None
    return expressions.to_text(node)


def _has_start(reading: Reading, path: Path, node: expressions.Expression) -> bool:
    """Whether a function of time has a value at t = 0, where every run begins."""
    try:
        expressions.evaluate(node, {"t": 0.0})
    except ModelError as error:
        reading.fail(path, f"has no value at t = 0: {error}.")
        return False
    return True


def _varying_names_known(
    reading: Reading,
    scope: Scope,
    path: Path,
    text: str,
    node: expressions.Expression,
    variables: tuple[str, ...],
) -> bool:
    """Whether every name is a parameter, one of `variables`, a signal, or an
    output of something that exists (``hinge.angle``)."""
    known = dict.fromkeys((*variables, *scope.signals))
    for name in expressions.names(node):
        owner, dot, _ = name.partition(".")
        if dot and owner in scope.objects:
            known[name] = None
            if not _is_number(reading, scope, path, name):
                return False
    return reading.names_known(path, text, node, known)


_VECTORS = ("force", "torque")  # of joints; all that bodies tell are vectors
_COMPONENT = re.compile(r"\[[0-9]+\]\Z|\.[wxyz]\Z")


def _is_number(reading: Reading, scope: Scope, path: Path, name: str) -> bool:
    """False, and a problem noted, where `name` is a vector: motion of a body, effort of a joint."""
    owner, _, quantity = name.partition(".")
    of_joint = owner in scope.joints and quantity in _VECTORS
    if not of_joint and (owner not in scope.points or _COMPONENT.search(name)):
        return True
    what = f"{name} is a vector; a number is needed here."
    reading.fail(path, what, f"Write {name}[0], or {name}.x, for its first component.")
    return False


def _signals(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    """Components of a force or torque; one alone may stand without brackets."""
    if not isinstance(raw, (list, tuple)):
        raw = (raw,)
    entries = read_list(reading, path, raw, declared.size, "numbers or signals")
    if entries is None:
        return None
    found = [_signal(reading, scope, (*path, i), e, declared) for i, e in enumerate(entries)]
    return None if None in found else tuple(found)


def _names(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    """Names of outputs, ``BODY.POINT.velocity``: what they belong to must exist."""
    if not isinstance(raw, (list, tuple)):
        reading.fail(path, f"expected a list of signal names, found {described(raw)}.")
        return None
    found = [_output_name(reading, scope, (*path, i), entry) for i, entry in enumerate(raw)]
    return None if None in found else tuple(found)


def _output_name(reading: Reading, scope: Scope, path: Path, raw: Any) -> str | None:
    name = reading.text(path, raw)
    if name is None or name in scope.signals:
        return name
    owner, dot, _ = name.partition(".")
    if dot and owner in scope.objects:
        return name
    if owner in scope.objects:
        reading.fail(
            path,
            f"{expressions.shown(name)} names a part, not one of its signals.",
            f"For example {name}.position or {name}.force.",
        )
    else:
        reading.unknown(path, "nothing has the signal", name, scope.objects, "parts")
    return None


def _expression(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    """The text of an expression in the field's variables, parameters replaced."""
    if type(raw) in (int, float):
        value = reading.number(path, raw, declared.unit)
        return None if value is None else repr(value)
    text = reading.text(path, raw)
    if text is None:
        return None
    try:
        node = expressions.expanded(expressions.parse(text, reading.defined), reading.defined)
    except ModelError as error:
        reading.fail(path, f"{error}.")
        return None
    if not _varying_names_known(reading, scope, path, text, node, declared.variables):
        return None
    values = {n: v for n, v in reading.parameters.items() if n not in declared.variables}
    return _in_numbers(reading, path, expressions.substitute(node, values))


def _expressions(reading: Reading, scope: Scope, path: Path, raw: Any, declared: Field) -> Any:
    """Components of a vector law; one alone may stand without brackets."""
    if not isinstance(raw, (list, tuple)):
        found = [_expression(reading, scope, path, raw, declared)]
    else:
        found = [_expression(reading, scope, (*path, i), e, declared) for i, e in enumerate(raw)]
    return None if None in found else tuple(found)


REFERENCES: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "ends": _ends,
        "span": _span,
        "end": _end,
        "end or coordinate": _end_or_coordinate,
        "coordinate": _coordinate,
        "coordinates": _coordinates,
        "nodes": _nodes,
        "signal": _signal,
        "signals": _signals,
        "condition": _condition,
        "outputs": _names,
        "expression": _expression,
        "expressions": _expressions,
    }
)

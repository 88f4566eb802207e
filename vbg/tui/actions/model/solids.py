"""New bodies by their dimensions: a link between two points, or one solid of a body's shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vbg import expressions
from vbg.edit.commands import AddTable, Command, SetValue
from vbg.edit.proposals import Fix
from vbg.errors import ModelError, UsageError
from vbg.fields import Field
from vbg.tui.actions.model.editing import judge_name, value_of
from vbg.tui.content.model import references
from vbg.tui.content.model.values import shown
from vbg.tui.state.items import Item
from vbg.tui.tasks import checking

if TYPE_CHECKING:
    from vbg.tui.state.desk import Desk

LINK = "link"
_LENGTH = Field("quantity", "", unit="m")
_ALONG_X = [1, 0, 0]
_SOLIDS = {
    LINK: "a round rod along x, with the points A and B at its ends",
    "box": "a block about the mass centre",
    "cylinder": "round, along z",
    "sphere": "a ball",
    "tube": "a hollow cylinder, along z",
    "cone": "its base in the plane z = 0 of the shape",
}
_OFFERED = {"length": 0.5, "height": 0.1, "radius": 0.02, "inner_radius": 0.01}
_PARAMETER = "; its length becomes a parameter"
_SIDE = 0.1
_BEFORE = {"y": "x", "z": "y"}  # a cube is offered
_SLENDER = 0.04  # radius of a link by its length


async def add(app: Desk) -> None:
    """Ask for a solid, its dimensions and what it weighs; one undo step.

    The length of a link, which its shape and both its points hang on, becomes a parameter, unless
    it is one.
    """
    items = tuple(Item(kind, kind, what) for kind, what in _SOLIDS.items())
    kind = await app.choose("Add a body by its dimensions", items)
    if kind is None:
        return
    sizes = await _sizes(app, kind)
    body = None if sizes is None else await _weighed(app, kind, sizes)
    if sizes is None or body is None:
        return
    taken = references.names(app.work.data)
    name = await app.ask(
        f"Name of the new {kind}",
        references.free_name(app.work.data, kind),
        lambda text: judge_name(text, taken),
        about=_SOLIDS[kind] + _PARAMETER * (kind == LINK),
    )
    if name:
        app.do(_added(app, kind, name, sizes, body))
        app.select(("bodies", name))
        app.main.activate("inspector")


def _added(
    app: Desk, kind: str, name: str, sizes: Mapping[str, Any], body: dict[str, Any]
) -> Command:
    """The edit that adds the body, and the parameter of its length."""
    label = f"add bodies.{name}"
    length = sizes.get("length")
    if kind != LINK or (isinstance(length, str) and length.isidentifier()):
        return AddTable(("bodies", name), body, label)
    stem, taken = f"{name.replace('-', '_')}_length", references.names(app.work.data)
    own = references.free_name(app.work.data, stem) if stem in taken else stem
    by_it = body_of(kind, {**sizes, "length": own})
    # the density, where that was typed, stands in the shape
    body = {**body, **by_it, "shape": {**body["shape"], **by_it["shape"]}}
    edits = SetValue(("parameters", own), length, label), AddTable(("bodies", name), body, label)
    return Fix(label, "", edits).as_one(app.work.document.now.text)


def body_of(kind: str, sizes: Mapping[str, Any]) -> dict[str, Any]:
    """The table of a body of these dimensions: a link has its ends as points A and B."""
    if kind != LINK:
        return {"shape": {kind: dict(sizes)}}
    ends = {
        name: [part_of(sizes["length"], side), 0, 0] for name, side in (("A", -0.5), ("B", 0.5))
    }
    return {"shape": {"cylinder": {**sizes, "axis": _ALONG_X}}, "points": ends}


def part_of(length: Any, share: float) -> Any:
    """`share` of a length as it is written: a number, or a sum whose terms may have units."""
    if not isinstance(length, str):
        return length * share
    terms = expressions.parse_terms(length)
    return " + ".join(f"{_shared(expressions.to_text(t), share)} {u}".strip() for t, u in terms)


def _shared(term: str, share: float) -> str:
    """The product: worked out where the term is a number, in brackets unless it is a name."""
    try:
        return f"{float(term) * share:.12g}"
    except ValueError:
        return f"{share:g}*{term}" if term.isidentifier() else f"{share:g}*({term})"


async def _sizes(app: Desk, kind: str) -> dict[str, Any] | None:
    """The dimensions of the solid, in turn."""
    from vbg.model.forms.shapes import SOLIDS

    names = ("length", "radius") if kind == LINK else SOLIDS[kind].sizes
    sizes: dict[str, Any] = {name: _OFFERED.get(name, _SIDE) for name in names}
    for name in names:

        def judge(text: str, name: str = name) -> tuple[str, bool]:
            value, said = _read(text)
            if value is None:
                return said, False
            part = body_of(kind, {**sizes, name: value}) | {"mass": 1.0}
            return checking.judge_new(app.work, "bodies", part, "shape", part["shape"])

        if kind == LINK and name == "radius":
            sizes[name] = part_of(sizes["length"], _SLENDER)
        elif name in ("y", "z"):
            sizes[name] = sizes[_BEFORE[name]]
        about = f"{name.replace('_', ' ')} [m]; 300 mm, or an expression in parameters: 2*L"
        text = await app.ask(f"{kind}: {name}", shown(sizes[name]), judge, about=about)
        if text is None:
            return None
        sizes[name] = value_of(_LENGTH, text)
    return sizes


async def _weighed(app: Desk, kind: str, sizes: Mapping[str, Any]) -> dict[str, Any] | None:
    """The body with its mass, or with its density where that is what was typed."""

    def judge(text: str) -> tuple[str, bool]:
        value, said = _read(text)
        if value is None:
            return said, False
        field, body = _with_weight(body_of(kind, sizes), value)
        return checking.judge_new(app.work, "bodies", body, field, body[field])

    about = "mass [kg], spread evenly; or a density with its unit: 7850 kg/m^3"
    text = await app.ask(f"{kind}: mass", "1", judge, about=about)
    return None if text is None else _with_weight(body_of(kind, sizes), value_of(_LENGTH, text))[1]


def _with_weight(body: dict[str, Any], value: Any) -> tuple[str, dict[str, Any]]:
    """The body with this mass or density, and the field that holds it."""
    if isinstance(value, str) and "/" in expressions.parse_terms(value)[-1][1]:
        return "shape", body | {"shape": body["shape"] | {"density": value}}
    return "mass", {"mass": value, **body}


def _read(text: str) -> tuple[Any, str]:
    """The value that is typed, or None and why it is none."""
    try:
        value = value_of(_LENGTH, text)
        if isinstance(value, str):
            expressions.parse_terms(value)
    except (UsageError, ModelError) as error:
        return None, str(error)
    return value, "" if value is not None else "a value is required"

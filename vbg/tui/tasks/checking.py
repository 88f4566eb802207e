"""Checks of the text that is open: the whole in the background, a field while it is typed."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from vbg.errors import ModelError, Problem, UsageError, VbgError
from vbg.model.text.places import spelled

if TYPE_CHECKING:
    from vbg.model import Model
    from vbg.tui.state.workspace import Checked, Workspace

Path = tuple[str | int, ...]
_LARGE = 600  # parts; above, a field is checked when it is accepted, not while it is typed


def check_text(text: str, file: str, text_hash: str) -> Checked:
    """All problems of a model's text, and the model if it can be resolved."""
    from vbg.io import toml
    from vbg.model.check import check
    from vbg.tui.state.workspace import Checked

    try:
        model = toml.parse(text, file)
    except (ModelError, UsageError) as error:
        problems = error.problems or (Problem("error", "model", str(error)),)
        return Checked(text_hash, _ordered(problems))
    problems = (*check(model), *_causal_problems(model))
    return Checked(text_hash, _ordered(problems), model)


def _causal_problems(model: Model) -> tuple[Problem, ...]:
    """What the bond graph of the model says against it; large models are asked when run."""
    import vbg

    if len(model.bodies) + len(model.joints) > _LARGE:
        return ()
    try:
        vbg.assign(vbg.expand(model))
    except VbgError as error:
        return error.problems or (Problem("error", "model", str(error)),)
    return ()


def _ordered(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Errors first, in the order of the file."""
    ranks = {"error": 0, "warning": 1, "note": 2}
    return tuple(sorted(problems, key=lambda p: (ranks[p.severity], p.line, p.column)))


def judge(work: Workspace, path: Path, value: Any) -> tuple[str, bool]:
    """What is wrong with `value` at `path`: the message, and whether it may stay.

    Whatever the whole model would say of this field and did not say before.
    """
    from vbg.model.model import problems_of

    if sum(len(t) for t in work.data.values() if isinstance(t, Mapping)) > _LARGE:
        return "", True
    file = str(work.file or "")
    before = {(p.where, p.what) for p in problems_of(work.data, file)}
    found = [
        p
        for p in problems_of(_with(work.data, path, value), file)
        if p.severity == "error" and (p.where, p.what) not in before
    ]
    here = spelled(path)
    for problem in found:
        if problem.where == here or problem.where.startswith((here + ".", here + "[")):
            return f"{problem.what} {problem.remedy}".strip(), False
    if found:
        first = found[0]
        return f"then {first.where}: {first.what} {first.remedy}".strip(), True
    return "", True


def judge_new(
    work: Workspace, table: str, values: Mapping[str, Any], name: str, value: Any
) -> tuple[str, bool]:
    """What is wrong with the field `name` of a part of `table` that is being made."""
    from vbg.model.model import problems_of

    new = "new-part"
    part = _with(work.data, (table, new), {**values, name: value})
    here = spelled((table, new, name))
    for problem in problems_of(part, str(work.file or "")):
        inside = problem.where == here or problem.where.startswith((here + ".", here + "["))
        if inside and problem.severity == "error":
            return f"{problem.what} {problem.remedy}".strip(), False
    return "", True


def apart(work: Workspace, ends: Any) -> float | None:
    """How far the two ends of a part that is being made are from each other in the written
    posture [m]; None where that is not known, and in large models."""
    from vbg.model import Model, place

    if sum(len(t) for t in work.data.values() if isinstance(t, Mapping)) > _LARGE:
        return None
    part = {"kind": "damper", "between": ends, "c": 1.0}
    try:
        model = Model.from_document(_with(work.data, ("forces", "new-part"), part))
        poses = place(model).poses
    except VbgError:
        return None
    where = [
        np.asarray(end.at)
        if end.body == "ground"
        else poses[end.body].p_WB + poses[end.body].R_WB @ np.asarray(end.at)
        for end in model.forces["new-part"].between
    ]
    return float(np.linalg.norm(where[1] - where[0]))


def _with(data: Mapping[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """A copy of `data` with one value changed."""
    out = copy.deepcopy(dict(data))
    holder: Any = out
    for key in path[:-1]:
        holder = holder.setdefault(key, {}) if isinstance(holder, dict) else holder[key]
    holder[path[-1]] = value
    return out


def resolved(work: Workspace) -> bool:
    """Whether the model of the text that is open is known and without errors."""
    return work.checked.model is not None and work.checked.text_hash == work.document.now.hash

"""docs/validate.md lists what both solvers share: no less, and no more."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.test_house import MODULES, imported, tree_of

PAGE = Path(__file__).parents[2] / "docs/validate.md"


@cache
def listed() -> set[str]:
    """Modules and packages of vbg that the page names where it says what is shared."""
    section = PAGE.read_text(encoding="utf-8").split("## What both share")[1].split("\n## ")[0]
    return set(re.findall(r"`(vbg(?:\.\w+)+)`", section)) & set(MODULES)


@cache
def taken() -> set[str]:
    """Modules beside its own that the second solver imports."""
    own = [path for name, path in MODULES.items() if f"{name}.".startswith("vbg.tmm_bridge.")]
    found = {name for path in own for name in imported(tree_of(path))}
    return {name for name in found if not f"{name}.".startswith("vbg.tmm_bridge.")}


def lies_in(module: str, place: str) -> bool:
    return f"{module}.".startswith(f"{place}.")


@pytest.mark.parametrize("module", sorted(taken()))
def test_what_the_second_solver_imports_is_listed(module):
    assert any(lies_in(module, place) for place in listed())


@pytest.mark.parametrize("place", sorted(listed()))
def test_what_is_listed_is_imported(place):
    assert any(lies_in(module, place) for module in taken())


def test_plumbing_is_listed_module_by_module():
    """A kernel or table that is moved there is no plumbing."""
    assert not {"vbg.plumbing", "vbg.physics", "vbg.blocks", "vbg.spatial"} & listed()

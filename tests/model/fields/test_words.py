"""Kinds of parts in sentences: the article that is spoken before them."""

from __future__ import annotations

import pytest

from vbg.model import catalogue
from vbg.plumbing.words import with_article

AN = {
    *("accumulator", "expression", "fmu", "inductor", "inertia", "input", "op_amp", "orifice"),
    *("I", "R", "Se", "Sf"),
}


def test_every_kind_of_part_has_its_article():
    kinds = {kind for table in catalogue().values() for kind in table}
    assert {kind for kind in kinds if with_article(kind).startswith("an ")} == AN


@pytest.mark.parametrize(
    "noun", ["an s-curve", "a trapezoid", "an ellipsoid", "a sphere", "an int"]
)
def test_so_have_laws_and_shapes(noun):
    assert with_article(noun.split()[1]) == noun

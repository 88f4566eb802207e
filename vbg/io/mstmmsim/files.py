"""Parameter files on disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vbg.errors import Problem
from vbg.io.mstmmsim.reading import imported
from vbg.io.mstmmsim.writing import to_xml
from vbg.model import Model
from vbg.model.text.files import text_of
from vbg.platform.files import write_text


def read(path: str | Path, parameters: Mapping[str, float] | None = None) -> Model:
    """The model in an XML file of MSTMMSim.

    `parameters` add to or replace those of the file: the printed one leaves some
    out.  Raises ModelError for what cannot be read, with the element's line.
    """
    return read_with_notes(path, parameters)[0]


def read_with_notes(
    path: str | Path, parameters: Mapping[str, float] | None = None
) -> tuple[Model, tuple[Problem, ...]]:
    """The model, and notes of what was repaired, filled in or read otherwise than written."""
    found = imported(text_of(str(path)), str(path), parameters or {})
    return Model.from_document(found.document, str(path)), found.notes


def write(model: Model, path: str | Path) -> tuple[str, ...]:
    """Write a model of bodies and joints as a parameter file of MSTMMSim; what of it is no
    part of the machine and stays behind.

    Raises UsageError for parts that the format does not know.
    """
    text, left_out = to_xml(model)
    write_text(path, text)
    return left_out

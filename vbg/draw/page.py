"""A film as one HTML file that needs nothing else: orbit with the mouse, slide through time."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from vbg.draw.film import Film
from vbg.platform.files import write_text

DIGITS = 6  # significant digits of coordinates in the file


def write_page(film: Film, path: str | Path) -> None:
    """Write the film to `path`: a template with the data inside, no network, no library."""
    template = files("vbg.draw").joinpath("page.html").read_text(encoding="utf-8")
    data = json.dumps(as_plain(film), separators=(",", ":")).replace("</", "<\\/")
    title = film.title.replace("&", "&amp;").replace("<", "&lt;")
    page = template.replace("/*FILM*/null", data).replace("<!--TITLE-->", title)
    write_text(path, page)


def as_plain(film: Film) -> dict[str, object]:
    return {
        "time": _list(film.time),
        "centre": _list(film.centre),
        "size": film.size,
        "newton": film.newton,
        "bodies": [
            {
                "name": body.name,
                "colour": body.colour,
                "tints": list(body.tints),
                "faces": [_list(face) for face in body.faces],
                "sticks": _list(body.sticks),
                "pose": _list(body.pose),
            }
            for body in film.bodies
        ],
        "joints": [
            {
                "name": joint.name,
                "body": joint.body,
                "at": _list(joint.at),
                "axis": None if joint.axis is None else _list(joint.axis),
                "force": _list(joint.force),
            }
            for joint in film.joints
        ],
        "frames": [
            {
                "name": frame.name,
                "body": frame.body,
                "at": _list(frame.at),
                "axes": _list(frame.axes.T),
            }
            for frame in film.frames
        ],
        "links": [
            {
                "name": link.name,
                "kind": link.kind,
                "ends": [{"body": number, "at": _list(at)} for number, at in link.ends],
            }
            for link in film.links
        ],
        "traces": [{"name": name, "path": _list(path)} for name, path in film.traces],
        "traced": film.traced.tolist(),
    }


def _list(values: np.ndarray) -> Any:
    """Nested lists, rounded to what a picture can show."""
    flat = [float(f"{v:.{DIGITS}g}") for v in np.asarray(values, dtype=float).ravel()]
    return np.array(flat).reshape(np.shape(values)).tolist()

"""Machines from MuJoCo's files (MJCF): `files` says which they are and what they may name,
`document` writes the document of a model file from MuJoCo's own reading."""

from vbg.io.mjcf.document import read
from vbg.io.mjcf.files import is_mjcf

__all__ = ["is_mjcf", "read"]

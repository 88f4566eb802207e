"""Which file is one of MuJoCo's, and which files it may name."""

from __future__ import annotations

import os
import re
from pathlib import Path
from xml.etree.ElementTree import ParseError

from vbg.errors import UsageError
from vbg.io.mjcf.counting import multiplied, require_few
from vbg.io.runs.trust import require_file
from vbg.model.text.allowed import ALLOWED, refusal
from vbg.plumbing.xml import root_of

FOLDERS = ("meshdir", "texturedir", "assetdir")


def is_mjcf(path: str | Path) -> bool:
    """Whether an XML file begins as one of MuJoCo's."""
    with open(path, "rb") as file:
        return re.search(rb"<mujoco[\s>/]", file.read(4096)) is not None


def require_own_files(path: str, root: str, seen: set[str], times: float = 1.0) -> float:
    """MuJoCo reads whatever a file names: that must lie below the folder of the one which is
    opened (`vbg.model.text.allowed`), and there are no document types.

    The number of elements that MuJoCo would make of a file which is there `times` times.

    Raises UsageError for what does not, and for too many elements.  (Files that include each
    other MuJoCo refuses.)
    """
    from defusedxml.common import DefusedXmlException

    if os.path.realpath(path) in seen:
        return 0.0
    seen.add(os.path.realpath(path))
    require_file(path, growth=20.0)
    try:
        top = root_of(Path(path).read_bytes(), forbid_dtd=True)
    except DefusedXmlException:
        raise UsageError(f"{path}: document types and entities are not read.") from None
    except (ParseError, OSError, ValueError, LookupError) as error:  # or an odd encoding
        raise UsageError(f"{path}: no XML: {error}.") from None
    # MuJoCo looks from the folder of the first file; what lies beside this one is held to it, too
    here = {os.path.dirname(path), os.path.dirname(root)}
    folders = {one.get(key) or "" for one in top.iter() for key in FOLDERS} | {""}
    elements = list(multiplied(top, times))
    count = sum(copies for _, copies in elements)
    for one, copies in elements:
        for named in (value for key, value in one.items() if key.startswith("file")):
            for file in {os.path.join(base, folder, named) for base in here for folder in folders}:
                if not os.path.exists(file):
                    continue
                if why := refusal(named, file, root):
                    raise UsageError(f"{path}: {why} Put it there, or allow its folder: {ALLOWED}.")
                if one.tag in ("include", "model"):
                    count += require_own_files(file, root, seen, copies)
    require_few(path, count)
    return count

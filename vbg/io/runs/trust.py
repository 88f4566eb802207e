"""What is asked of a result before anything of it is believed.

A result may come from a stranger.  Nothing of it is run, and here it is refused, in one
sentence and before memory is taken, where it is not what vbg writes: data outside the file
(external storage, links, virtual datasets), filters that load code, shapes that the file
cannot hold, texts where numbers belong.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from vbg.errors import UsageError
from vbg.platform.files import is_other_than_file
from vbg.platform.text import escaped

if TYPE_CHECKING:
    import h5py

FILTERS = {1: "deflate", 2: "shuffle", 3: "fletcher32"}  # that HDF5 brings along
EXPANSION = 1100  # deflate makes at most 1032 bytes of one
SIGNALS = 200_000  # names in one result; a machine of 10 000 bodies has as many
LONGEST = 1 << 26  # bytes of one text in a result


def require_file(path: str | Path, growth: float = 1.0) -> None:
    """Raises UsageError where `path` is no regular file, or where reading it, which takes
    `growth` times its size, would need more memory than there is."""
    found = is_other_than_file(path)
    if found:
        raise UsageError(f"{path}: it is {found}; a result is a file.")
    try:
        size = os.stat(path).st_size
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise UsageError(f"{escaped(str(path))}: no name of a file: {error}.") from None
    require_memory(growth * size)


def require_memory(size: float) -> None:
    """Raises ValueError where `size` bytes are more than the machine has left."""
    import psutil  # results that are written need it not

    left = psutil.virtual_memory().available
    if size > left:
        raise ValueError(f"it needs {size / 1e9:.2g} GB of memory; {left / 1e9:.2g} GB are left")


def require_time(path: str | Path, time: np.ndarray) -> None:
    """Raises UsageError where the time (n,) [s] of a result is no finite number, falls, or stands
    in more than two rows: the rows before and after an event, as other programs write them."""

    def row(k: int) -> str:
        return f"{float(time[k])!r} s in row {k + 1}"

    odd = np.flatnonzero(~np.isfinite(time))
    if len(odd):
        raise UsageError(
            f"{path}: no result: its time must be finite, found {row(odd[0])} of {len(time)}."
            " Write the file again, or remove the row."
        )
    falls = np.flatnonzero(time[1:] < time[:-1])
    if len(falls):
        k = int(falls[0])
        raise UsageError(
            f"{path}: no result: its time must not fall, found {row(k)} and {row(k + 1)}."
            " Are these rows of two runs, or out of order? Keep one run, sorted by time."
        )
    stands = np.flatnonzero(time[2:] == time[:-2])
    if len(stands):
        k = int(stands[0])
        raise UsageError(
            f"{path}: no result: its time must grow, but for two rows at an event; found"
            f" {row(k)} and in the two after it. Write the time with more digits, or remove rows."
        )


def dataset(file: h5py.File, name: str) -> Any:
    """The dataset of that name, in this file and of a size that it can have.

    Raises KeyError where there is none and ValueError where it is not to be read.
    """
    import h5py

    link = file.get(name, getlink=True)
    if link is None:
        raise KeyError(name)
    if not isinstance(link, h5py.HardLink):
        raise ValueError(f"'{name}' is a link to somewhere else")
    found = file[name]
    if not isinstance(found, h5py.Dataset):
        raise ValueError(f"'{name}' is no dataset")
    if found.external or found.is_virtual:
        raise ValueError(f"the data of '{name}' lie outside the file")
    plist = found.id.get_create_plist()
    strange = {plist.get_filter(i)[0] for i in range(plist.get_nfilters())} - set(FILTERS)
    if strange:
        raise ValueError(f"'{name}' needs the filter {min(strange)}, which vbg does not use")
    size = float(found.dtype.itemsize) * math.prod(map(float, found.shape or (1.0,)))
    held = found.id.get_storage_size() * (EXPANSION if plist.get_nfilters() else 1)
    if size > held:
        raise ValueError(f"'{name}' says it has {size:.3g} bytes; the file holds {held:.3g}")
    require_memory(size)
    return found


def text(file: h5py.File, name: str) -> str:
    """The one text in the dataset of that name."""
    found = dataset(file, name)
    if found.shape != () or found.dtype.kind not in "OS":
        raise ValueError(f"'{name}' is no text")
    content = found[()]
    if not isinstance(content, bytes) or len(content) > LONGEST:
        raise ValueError(f"'{name}' is no text")
    return content.decode()


def layout(plain: Any, width: int) -> list[tuple[str, int, str]]:
    """Signals as (name, components or 0 for a scalar, unit), for rows of `width` numbers.

    Raises ValueError where they do not fit the rows, or stand twice.
    """
    if not isinstance(plain, list) or len(plain) > SIGNALS:
        raise ValueError("the list of signals is none")
    if len(plain) >= width:
        raise ValueError(f"{len(plain)} signals do not go into rows of {width} numbers")
    found: list[tuple[str, int, str]] = []
    for entry in plain:
        if not isinstance(entry, list) or [type(e) for e in entry] != [str, int, str]:
            raise ValueError("the list of signals is none")
        found.append((escaped(entry[0]), entry[1], escaped(entry[2])))
    if len({name for name, _, _ in found}) < len(found):
        raise ValueError("a signal stands twice")
    if min((k for _, k, _ in found), default=0) < 0:
        raise ValueError("a signal has less than no components")
    columns = 1 + sum(max(k, 1) for _, k, _ in found)
    if columns != width:
        raise ValueError(f"the signals have {columns} columns, the rows {width}")
    return found


def restored(kind: Any, plain: Any) -> Any:
    """`plain` JSON data as an instance of `kind`: dataclass, str, int, float (null is NaN),
    tuples, mappings by name, choices.

    Texts are escaped.  Raises ValueError where a value is of another kind.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind) and isinstance(kind, type):
        return _instance(kind, plain)
    if origin is tuple and isinstance(plain, list):
        kinds = arguments[:1] * len(plain) if arguments[-1] is ... else arguments
        if len(kinds) == len(plain):
            return tuple(restored(one, entry) for one, entry in zip(kinds, plain, strict=True))
    if origin is not None and isinstance(plain, Mapping) and issubclass(_class(origin), Mapping):
        entries = {escaped(str(k)): restored(arguments[1], v) for k, v in plain.items()}
        return MappingProxyType(entries)
    if origin is Literal and plain in arguments:
        return plain
    if kind is str and isinstance(plain, str):
        return escaped(plain)
    if kind is float and plain is None:
        return math.nan
    if kind in (int, float) and isinstance(plain, (int, float)) and not isinstance(plain, bool):
        return kind(plain)
    raise ValueError(f"{escaped(repr(plain)[:60])} is no {getattr(kind, '__name__', kind)}")


def _class(origin: Any) -> type:
    return origin if isinstance(origin, type) else object


@cache
def _types(kind: type) -> Mapping[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _instance(kind: type, plain: Any) -> Any:
    if not isinstance(plain, Mapping) or not plain.keys() <= _types(kind).keys():
        raise ValueError(f"{escaped(repr(plain)[:60])} is no {kind.__name__}")
    values = {name: restored(_types(kind)[name], value) for name, value in plain.items()}
    try:
        return kind(**values)
    except TypeError as error:
        raise ValueError(f"{kind.__name__}: {error}") from None

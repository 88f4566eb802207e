"""What a functional mock-up unit says of itself: variables, kinds, steps and units.

An FMU is an archive with modelDescription.xml and native code.  Only the description is read
here, FMI 2.0 or 3.0, without document types and entities; nothing of the archive is run.
"""

from __future__ import annotations

import hashlib
import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from vbg import units
from vbg.errors import ModelError, UsageError
from vbg.platform.files import is_other_than_file
from vbg.platform.text import escaped

DESCRIPTION = "modelDescription.xml"
LARGEST = 1 << 26  # bytes of a description
MOST = 200_000  # variables
_DAMAGED = (  # also a cipher, and a name that is no text
    *(zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError),
)
_FMI2 = ("Real", "Integer", "Boolean", "String", "Enumeration")
_FMI3 = (
    *("Float64", "Float32", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32"),
    *("Int64", "UInt64", "Boolean", "String", "Enumeration"),
)
REALS = ("Real", "Float64", "Float32")
_EXPONENTS = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")


@dataclass(frozen=True, slots=True)
class Scale:
    """value in SI = factor * value of the FMU + offset, and the SI unit."""

    factor: float = 1.0
    offset: float = 0.0
    unit: str = "1"


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable: its `type` is the FMI's word (Real, Float64, Boolean, ...), `size` the number
    of its elements (0: none, or not known before the FMU runs), `start` as the file writes it."""

    name: str
    reference: int
    type: str
    causality: str
    variability: str
    size: int = 1
    start: tuple[str, ...] = ()
    scale: Scale = Scale()
    low: float = -math.inf
    high: float = math.inf

    @property
    def is_number(self) -> bool:
        """Whether a signal can carry it."""
        return self.type != "String" and self.size > 0

    @property
    def settable(self) -> bool:
        """Whether a parameter of a machine may set it before the FMU begins."""
        if self.causality in ("parameter", "structuralParameter"):
            return self.causality == "parameter"
        return bool(self.start) and self.causality in ("local", "output")


@dataclass(frozen=True, slots=True)
class Description:
    """The FMU at `path`.

    digest : SHA-256 of the whole archive.  identifiers : the name of its library for each kind it
    has.  step : between communications, as it asks for [s].  interpolates : whether inputs may
    have derivatives.  binaries : folders of its libraries.  states, indicators : numbers of, for
    Model Exchange.  direct : the outputs that may follow inputs of the same instant.
    """

    path: str = field(compare=False)
    digest: str
    version: int
    name: str
    token: str
    identifiers: Mapping[str, str]
    variables: Mapping[str, Variable]
    step: float | None = None
    interpolates: bool = False
    binaries: tuple[str, ...] = ()
    states: int = 0
    indicators: int = 0
    direct: frozenset[str] = frozenset()

    def of(self, *causalities: str) -> Iterator[Variable]:
        """The variables of these causalities."""
        return (v for v in self.variables.values() if v.causality in causalities)


def read_description(path: str) -> Description:
    """The description in the archive at `path`.

    Raises UsageError where there is no such file, ModelError where it is no FMU that vbg reads.
    """
    found = is_other_than_file(path)
    if found:
        raise UsageError(f"{path} is {found}, no file")
    try:
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            packed = archive.getinfo(DESCRIPTION)
            if packed.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ModelError(f"its {DESCRIPTION} is packed in a way that FMUs are not")
            size = packed.file_size
            if size > LARGEST:
                raise ModelError(f"its {DESCRIPTION} has {size} bytes, at most {LARGEST} are read")
            with archive.open(DESCRIPTION) as file:
                text = file.read(LARGEST)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except KeyError:
        raise ModelError(f"it has no {DESCRIPTION}, so it is no FMU") from None
    except _DAMAGED as error:
        raise ModelError(f"it is no archive as an FMU is one: {error}") from None
    folders = {n.split("/")[1] for n in names if n.startswith("binaries/") and n.count("/") > 1}
    return _described(path, digest, text, tuple(sorted(filter(None, folders))))


def _described(path: str, digest: str, text: bytes, binaries: tuple[str, ...]) -> Description:
    root = _root(text)
    written = root.get("fmiVersion", "")
    version = {"2": 2, "3": 3}.get(written.split(".")[0])
    if version is None:
        raise ModelError(f"it has FMI version {escaped(written)[:20]!r}; vbg reads 2.0 and 3.0")
    identifiers = {
        kind: entry.get("modelIdentifier", "")
        for kind, entry in ((k, root.find(k)) for k in ("CoSimulation", "ModelExchange"))
        if entry is not None
    }
    together = root.find("CoSimulation")
    experiment = root.find("DefaultExperiment")
    step = None if experiment is None else experiment.get("stepSize")
    if together is not None:
        step = together.get("fixedInternalStepSize", step)
    try:
        scales = {unit.get("name", ""): _scale(unit) for unit in root.findall(".//Unit")}
        read = _variables2 if version == 2 else _variables3
        variables = {v.name: v for v in read(root, scales)}
        return Description(
            path,
            digest,
            version,
            escaped(root.get("modelName", "")),
            root.get("guid" if version == 2 else "instantiationToken", ""),
            identifiers,
            variables,
            float(step) if step and float(step) > 0.0 else None,
            together is not None and together.get("canInterpolateInputs") in ("true", "1"),
            binaries,
            *_counts(root, version, variables),
            _direct(root, version, variables),
        )
    except ValueError as error:
        raise ModelError(f"its {DESCRIPTION} is not as the standard says: {error}") from None


def _counts(root: Any, version: int, variables: Mapping[str, Variable]) -> tuple[int, int]:
    """Numbers of continuous states and of event indicators."""
    if version == 2:
        states = root.findall("ModelStructure/Derivatives/Unknown")
        return len(states), int(root.get("numberOfEventIndicators", "0"))
    sizes = {v.reference: v.size for v in variables.values()}
    found = [
        sum(sizes.get(int(entry.get("valueReference", "0")), 1) for entry in root.findall(path))
        for path in ("ModelStructure/ContinuousStateDerivative", "ModelStructure/EventIndicator")
    ]
    return found[0], found[1]


def _direct(root: Any, version: int, variables: Mapping[str, Variable]) -> frozenset[str]:
    """Outputs but for those of which the file says that no input is among their dependencies."""
    listed = list(variables.values())
    if version == 2:  # variables by number
        at = dict(enumerate(listed, 1))
        path, key = "ModelStructure/Outputs/Unknown", "index"
    else:
        at = {v.reference: v for v in listed}
        path, key = "ModelStructure/Output", "valueReference"
    inputs = {k for k, v in at.items() if v.causality == "input"}
    late = {
        at[int(entry.get(key, ""))].name
        for entry in root.findall(path)
        if entry.get("dependencies") is not None and int(entry.get(key, "")) in at
        if not inputs & set(map(int, entry.get("dependencies").split()))
    }
    return frozenset(v.name for v in listed if v.name not in late)


def _root(text: bytes) -> Any:
    from xml.etree.ElementTree import ParseError

    from defusedxml.common import DefusedXmlException

    from vbg.plumbing.xml import root_of

    try:
        root = root_of(text, forbid_dtd=True)
    except DefusedXmlException:
        raise ModelError(f"its {DESCRIPTION} has a document type, which is not read") from None
    except (ParseError, ValueError, LookupError) as error:  # or an encoding that nobody reads
        raise ModelError(f"its {DESCRIPTION} is no XML: {error}") from None
    if root.tag != "fmiModelDescription":
        raise ModelError(f"its {DESCRIPTION} describes no FMU")
    return root


def _scale(unit: Any) -> Scale:
    """Of a unit that the file defines by powers of SI units: SI = factor value + offset."""
    base, name = unit.find("BaseUnit"), unit.get("name", "")
    if base is None:
        return _known(name)
    factor, offset = float(base.get("factor", "1")), float(base.get("offset", "0"))
    if factor == 0.0 or not (math.isfinite(factor) and math.isfinite(offset)):
        raise ValueError(f"the unit {escaped(name)[:20]!r} has factor {factor} and offset {offset}")
    powers = {symbol: int(base.get(symbol, "0")) for symbol in _EXPONENTS}
    return Scale(factor, offset, _si(name, factor, offset, powers))


def _si(name: str, factor: float, offset: float, powers: Mapping[str, int]) -> str:
    """The SI unit of these powers: the file's own word where it is one."""
    word = name.replace(".", "*").replace("Ohm", "ohm")
    try:
        known = units.parse(word)
    except ModelError:
        known = None
    own = tuple(powers[symbol] for symbol in ("kg", "m", "s", "A", "K", "rad"))
    coherent = known is not None and factor == known.factor == 1.0 and not (offset or known.offset)
    if known is not None and coherent and known.dimension[:5] == own[:5]:
        return word or "1"
    upper = "*".join(f"{s}^{p}" if p > 1 else s for s, p in powers.items() if p > 0)
    lower = "".join(f"/{s}^{-p}" if p < -1 else f"/{s}" for s, p in powers.items() if p < 0)
    return (upper or "1") + lower


def _known(name: str) -> Scale:
    """A unit that the file names and does not define, as vbg knows it; else a bare number."""
    word = name.replace(".", "*")
    try:
        found = units.parse(word)
        factor, offset = units.conversion(word, "")
    except ModelError:
        return Scale()
    if factor == 1.0 and not offset:
        return Scale(unit=word or "1")
    powers = dict(zip(("kg", "m", "s", "A", "K", "rad"), found.dimension, strict=True))
    return Scale(factor, offset, _si("", factor, offset, powers))


def _scale_of(entry: Any, types: Mapping[str, Any], scales: Mapping[str, Scale]) -> Scale:
    """Of a variable: its own unit or that of its type; a difference knows no offset."""
    declared = types.get(entry.get("declaredType", ""))
    unit = entry.get("unit") or ("" if declared is None else declared.get("unit", ""))
    scale = scales.get(unit) or _known(unit)
    difference = entry.get("relativeQuantity")
    if difference is None and declared is not None:
        difference = declared.get("relativeQuantity")
    return replace(scale, offset=0.0) if difference in ("true", "1") else scale


def _bounds(entry: Any, types: Mapping[str, Any]) -> dict[str, float]:
    declared = types.get(entry.get("declaredType", ""))
    found = {}
    for key, word in (("low", "min"), ("high", "max")):
        written = entry.get(word) or (None if declared is None else declared.get(word))
        if written is not None:
            found[key] = float(written)
    return found


def _variables2(root: Any, scales: Mapping[str, Scale]) -> Iterator[Variable]:
    types = {t.get("name"): t[0] for t in root.findall("TypeDefinitions/SimpleType") if len(t)}
    entries = root.findall("ModelVariables/ScalarVariable")
    _require_count(entries)
    for entry in entries:
        inside = next((child for child in entry if child.tag in _FMI2), None)
        if inside is None:
            continue
        start = inside.get("start")
        yield Variable(
            entry.get("name", ""),
            int(entry.get("valueReference", "")),
            inside.tag,
            entry.get("causality", "local"),
            entry.get("variability", "continuous"),
            1,
            () if start is None else (start,),
            _scale_of(inside, types, scales) if inside.tag == "Real" else Scale(),
            **(_bounds(inside, types) if inside.tag in ("Real", "Integer") else {}),
        )


def _variables3(root: Any, scales: Mapping[str, Scale]) -> Iterator[Variable]:
    types = {t.get("name"): t for t in root.findall("TypeDefinitions/*")}
    entries = root.findall("ModelVariables/*")
    _require_count(entries)
    sizes = {
        entry.get("valueReference", ""): entry.get("start", "0")
        for entry in entries
        if entry.get("causality") == "structuralParameter"
    }
    for entry in entries:
        if entry.tag not in _FMI3:
            continue
        real = entry.tag in REALS
        text = [s.get("value", "") for s in entry.findall("Start")]
        start = tuple(text) if entry.tag == "String" else tuple(entry.get("start", "").split())
        yield Variable(
            entry.get("name", ""),
            int(entry.get("valueReference", "")),
            entry.tag,
            entry.get("causality", "local"),
            entry.get("variability", "continuous" if real else "discrete"),
            _size(entry, sizes),
            start,
            _scale_of(entry, types, scales) if real else Scale(),
            **(_bounds(entry, types) if entry.tag not in ("Boolean", "String") else {}),
        )


def _size(entry: Any, sizes: Mapping[str, str]) -> int:
    """Number of elements; a dimension is a number, or a structural parameter at its start, for
    nobody sets these here; 0 where it is another variable, known when the FMU runs."""
    size = 1
    for dimension in entry.findall("Dimension"):
        known = sizes.get(dimension.get("valueReference", ""), "0")
        size *= int(dimension.get("start", known))
    return size


def _require_count(entries: list[Any]) -> None:
    if len(entries) > MOST:
        raise ModelError(f"it has {len(entries)} variables, at most {MOST} are read")

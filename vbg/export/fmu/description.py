"""modelDescription.xml of FMI 2.0 and FMI 3.0."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from vbg.errors import ModelError
from vbg.export.fmu.variables import TIME, Variable, Variables
from vbg.export.tables import number
from vbg.units import parse

BASE = ("kg", "m", "s", "A", "K", "rad")
ABLE = {
    "canHandleVariableCommunicationStepSize": "true",
    "canBeInstantiatedOnlyOncePerProcess": "false",
}
IN_STEPS = {"canHandleVariableCommunicationStepSize": "false"}  # of fixed length
LOOKED_AT = {"needsCompletedIntegratorStep": "true"}  # what a step has led to
TOGETHER_3 = {
    "hasEventMode": "true",
    "mightReturnEarlyFromDoStep": "true",
    "providesIntermediateUpdate": "true",
    "canReturnEarlyAfterIntermediateUpdate": "true",
}


def written(root: Element) -> bytes:
    """The document as octets."""
    indent(root, "  ")
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, "utf-8") + b"\n"


def describe_3(variables: Variables, name: str, token: str, tool: str) -> bytes:
    """The description for FMI 3.0."""
    root = _root(variables, "3.0", tool, instantiationToken=token)
    able = {
        "modelIdentifier": name,
        "canGetAndSetFMUState": "true",
        "canSerializeFMUState": "true",
        "providesDirectionalDerivatives": "true",
    }
    if step := variables.machine.step:
        fixed = {"fixedInternalStepSize": number(step)}
        SubElement(root, "CoSimulation", able | ABLE | IN_STEPS | fixed)
    else:
        SubElement(root, "ModelExchange", able | LOOKED_AT)
        SubElement(root, "CoSimulation", able | ABLE | TOGETHER_3)
    _units(root, variables.all)
    _experiment(root, variables)
    listed = SubElement(root, "ModelVariables")
    in_steps = variables.machine.step > 0.0
    time = Variable("time", TIME, "independent", "continuous", "s")
    for v in (time, *variables.all):
        _variable_3(listed, v, in_steps=in_steps)
    structure = SubElement(root, "ModelStructure")
    for v in variables.of("output"):
        _unknown_3(structure, "Output", v)
    for v in variables.rates:
        _unknown_3(structure, "ContinuousStateDerivative", v)
    for v in (*variables.of("output"), *_begun(variables), *variables.rates):
        SubElement(structure, "InitialUnknown", {"valueReference": str(v.reference)})
    for v in () if in_steps else variables.indicators:
        SubElement(structure, "EventIndicator", {"valueReference": str(v.reference)})
    return written(root)


def describe_2(
    variables: Variables, name: str, token: str, tool: str, sources: Iterable[str]
) -> bytes:
    """The description for FMI 2.0."""
    root = _root(
        variables, "2.0", tool, guid=token, numberOfEventIndicators=str(len(variables.indicators))
    )
    able = {
        "modelIdentifier": name,
        "canGetAndSetFMUstate": "true",
        "canSerializeFMUstate": "true",
        "providesDirectionalDerivative": "true",
    }
    names = list(sources)
    together = {**ABLE, "canInterpolateInputs": "true"}
    kinds: dict[str, dict[str, str]] = {"ModelExchange": {}, "CoSimulation": together}
    if variables.machine.step:
        kinds = {"CoSimulation": ABLE | IN_STEPS}
    for kind, more in kinds.items():
        files = SubElement(SubElement(root, kind, able | more), "SourceFiles")
        for file in names:
            SubElement(files, "File", {"name": file})
    _units(root, variables.all)
    _experiment(root, variables)
    listed = SubElement(root, "ModelVariables")
    index = {v.reference: i for i, v in enumerate(variables.all, start=1)}
    for v in variables.all:
        _variable_2(listed, v, index)
    structure = SubElement(root, "ModelStructure")
    unknown = [("Outputs", variables.of("output")), ("Derivatives", variables.rates)]
    begun = (*variables.of("output"), *_begun(variables), *variables.rates)
    unknown.append(("InitialUnknowns", begun))
    for group, members in unknown:
        if not members:
            continue
        place = SubElement(structure, group)
        for i, v in sorted((index[v.reference], v) for v in members):
            known = None if group == "InitialUnknowns" else v.known
            given = {} if known is None else {"dependencies": _joined(index[r] for r in known)}
            SubElement(place, "Unknown", {"index": str(i), **given})
    return written(root)


def _begun(variables: Variables) -> tuple[Variable, ...]:
    """Continuous states that the unit itself begins."""
    return tuple(v for v in variables.states if v.start is None)


def _joined(values: Iterable[int]) -> str:
    return " ".join(str(v) for v in sorted(values))


def _root(variables: Variables, version: str, tool: str, **more: str) -> Element:
    model = variables.machine.system.model
    given = {
        "fmiVersion": version,
        "modelName": variables.machine.name,
        "description": model.description or variables.machine.name,
        "generationTool": tool,
        "variableNamingConvention": "flat",
    }
    return Element("fmiModelDescription", given | more)


def _units(root: Element, variables: Iterable[Variable]) -> None:
    names = sorted({v.unit for v in variables if v.unit not in ("1", "")} | {"s"})
    place = SubElement(root, "UnitDefinitions")
    for name in names:
        unit = SubElement(place, "Unit", {"name": name})
        try:
            parsed = parse(name)
        except ModelError:
            continue  # a unit of words, "m or rad"
        base = {b: str(p) for b, p in zip(BASE, parsed.dimension, strict=True) if p}
        if parsed.factor != 1.0:
            base["factor"] = number(parsed.factor)
        SubElement(unit, "BaseUnit", base)


def _experiment(root: Element, variables: Variables) -> None:
    s = variables.machine.system.model.simulate
    given = {"startTime": "0", "stopTime": number(s.t_end), "tolerance": number(s.rtol)}
    step = variables.machine.step or s.output_step
    SubElement(root, "DefaultExperiment", given | {"stepSize": number(step)})


def _attributes(v: Variable) -> dict[str, str]:
    given = {
        "name": v.name,
        "valueReference": str(v.reference),
        "causality": v.causality,
        "variability": v.variability,
    }
    if v.words:
        given["description"] = v.words
    if v.causality in ("local", "output"):
        given["initial"] = "calculated" if v.start is None else "exact"
    return given


def _range(v: Variable) -> dict[str, str]:
    bounds = (("min", v.low), ("max", v.high), ("nominal", v.nominal))
    return {word: number(value) for word, value in bounds if value is not None}


def _variable_3(place: Element, v: Variable, *, in_steps: bool) -> None:
    given = _attributes(v)
    if v.unit not in ("1", ""):
        given["unit"] = v.unit
    if v.derivative_of is not None:
        given["derivative"] = str(v.derivative_of)
    if v.causality in ("input", "output") and not in_steps:
        given["intermediateUpdate"] = "true"
    if v.start is not None:
        given["start"] = number(v.start)
    SubElement(place, "Float64", given | _range(v))


def _variable_2(place: Element, v: Variable, index: dict[int, int]) -> None:
    given = {}
    if v.unit not in ("1", ""):
        given["unit"] = v.unit
    if v.derivative_of is not None:
        given["derivative"] = str(index[v.derivative_of])
    if v.start is not None:
        given["start"] = number(v.start)
    SubElement(SubElement(place, "ScalarVariable", _attributes(v)), "Real", given | _range(v))


def _unknown_3(place: Element, kind: str, v: Variable) -> None:
    given = {"valueReference": str(v.reference)}
    if v.known is not None:
        given["dependencies"] = _joined(v.known)
    SubElement(place, kind, given)


def build_description(name: str, sources: Iterable[str]) -> bytes:
    """sources/buildDescription.xml of FMI 3.0."""
    root = Element("fmiBuildDescription", {"fmiVersion": "3.0"})
    build = SubElement(root, "BuildConfiguration", {"modelIdentifier": name})
    files = SubElement(build, "SourceFileSet", {"language": "C99"})
    for file in sources:
        SubElement(files, "SourceFile", {"name": file})
    SubElement(build, "Library", {"name": "m"})
    return written(root)

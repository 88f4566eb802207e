"""What a model file may say besides parts, in words and with a sample, for help on the terminal.

A topic is what an engineer looks for by name: ``ground``, ``gnd``, an
attachment, a rotation, a table such as [simulate].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from vbg.display import QUANTITIES
from vbg.measures import FUNCTIONS
from vbg.model.forms.shapes import SOLIDS
from vbg.model.resolve.settings import Outputs, Simulate


@dataclass(frozen=True, slots=True)
class Topic:
    """`title` in a line, `text`, and a `sample` of a model file; `settings` is the class
    that declares the keys, where there is one."""

    title: str
    text: str
    sample: str = ""
    settings: type | None = None


_GROUND = Topic(
    "The world: always there, never written.",
    "Its origin and axes are those of positions and gravity.  It is an end of joints and\n"
    'forces like a body: "ground" is its origin, { body = "ground", at = [x, y, z] } a point\n'
    "[m].  It does not move, has no mass and no named points, and the force and torque of a\n"
    "joint between it and a body act on the body.  Circuits, oil and shafts have a ground of\n"
    "their own: gnd, tank and frame.",
    '[joints.hinge]\nkind = "revolute"\n'
    'between = [{ body = "ground", at = [0, 0, 1.2] }, "rod"]\naxis = [0, 1, 0]',
)
_GND = Topic(
    "The electric node of 0 V.",
    "Voltages of nodes count from it.  Every circuit needs a path of parts to it.",
    '[electric.battery]\nkind = "voltage_source"\nnodes = ["plus", "gnd"]\nvoltage = "12 V"',
)
_TANK = Topic(
    "The hydraulic node of pressure 0 [Pa], the atmosphere.",
    "Pressures count from it.  Every circuit needs a path of parts to it.  A tank under\n"
    'pressure is a part: kind = "tank", see `vbg parts hydraulic.tank`.',
    '[hydraulic.pump]\nkind = "flow_source"\nnodes = ["tank", "p"]\nflow = "10 L/min"',
)
_FRAME = Topic(
    "The node of rotational and translational parts that stands still.",
    'A part with one node acts between it and the frame: nodes = ["shaft"] is the same as\n'
    'nodes = ["frame", "shaft"].  It is the housing or the floor, not a body; parts that act\n'
    'on bodies take on = "joints.NAME" instead of nodes.',
    '[rotational.brake]\nkind = "damper"\nnodes = ["frame", "shaft"]\nc = "0.2 N*m*s/rad"',
)
_NODES = Topic(
    "Nodes: names that join one-dimensional parts.",
    "Any name; parts that write the same one are connected there.  Electric parts share a\n"
    "voltage, hydraulic parts a pressure, shafts and sliders a speed, and the currents, flows,\n"
    "torques or forces at a node add up to zero.  The order of `nodes` is the direction:\n"
    "positive current, flow and torque run from the first to the second.  Always there are\n"
    "gnd, tank and frame.  A joint with one coordinate is a node, too: joint:NAME is a shaft of\n"
    "[rotational] if it turns, a slider of [translational] if it slides; a flexible gear is a\n"
    "spring and a damper between the gear's shaft and joint:NAME.",
    '[electric.R1]\nkind = "resistor"\nnodes = ["plus", "out"]\nR = "4.7 kohm"',
)
_ATTACHMENT = Topic(
    "Attachment: where a joint or a force is on a body.",
    '"BODY" is its mass centre, "BODY.POINT" a point named in its `points`, "ground" the\n'
    'origin of the world, { body = "BODY", at = [x, y, z] } a point [m] in the axes in which\n'
    "the body is written, the name of a frame its origin.  `between` takes two: forces and\n"
    "torques are what the first exerts on the second.",
    '[forces.strut]\nkind = "spring"\n'
    'between = [{ body = "ground", at = [0, 0, 0.5] }, "wheel.hub"]\nk = "20 N/mm"\nlength = 0.3',
)
_SIGNAL = Topic(
    "Signal: what drives, sources and controllers take.",
    'A number with or without a unit ("12 V"), an expression of the time t ("2*sin(3*t)"),\n'
    "the name of a part of [signals], or an expression of outputs of other parts\n"
    '("10 - motor.speed"); bare numbers and expressions are SI.  `vbg parts signals` lists\n'
    "controllers and shapes over time.",
    '[forces.push]\nkind = "force"\non = "rod.tip"\nforce = [0, 0, "20*sin(2*pi*t)"]',
)
_NUMBERS = Topic(
    "Numbers: bare ones are SI; texts are expressions, numbers with a unit, or both.",
    'm, kg, s, N, N*m, rad, V, A, Pa, m^3/s.  "45 deg", "3 N/mm", "2*L + 0.1", "2*L mm".\n'
    "Functions: sin cos tan asin acos atan atan2 sqrt exp log abs min max sign, pi.\n"
    "The dimension is checked; Hz in a field of rad/s is multiplied by 2 pi.  Functions of\n"
    "your own: `vbg parts functions`.",
    '[parameters]\nL = "50 cm"\nk = "3 N/mm"\nhalf = "L/2"',
)
_PARAMETERS = Topic(
    "[parameters]: named numbers for expressions in the whole file.",
    "NAME = number, text with a unit, or expression of other parameters, in any order; or a\n"
    "table with the keys\n"
    "  value   number, or expression of other parameters\n"
    "  unit    unit of the value\n"
    "  note    what it is, for readers\n"
    "`vbg run FILE --set NAME=VALUE`, sweep and optimise replace them.",
    '[parameters]\nL = "50 cm"\nm = { value = 2.0, unit = "kg", note = "steel" }\nJ = "m*L**2/12"',
)
_FUNCTIONS = Topic(
    "[functions]: formulas with arguments, for expressions in the whole file.",
    "Keys of [functions.NAME]\n"
    '  arguments   names, ["v", "T"], handed over in SI; or with the unit in which the value\n'
    '              counts them, { v = "km/h" }\n'
    "  value       expression of arguments, parameters and other functions\n"
    "  unit        of the value; without it SI\n"
    "  note        what it is, for readers\n"
    "They are put in place of their calls while the file is read, so that every value, signal\n"
    "and law takes them, in both solvers.  None may call itself, nor use signals or the time\n"
    'that are not handed over: "-drag(road.speed)".',
    '[parameters]\nrho = "1.2 kg/m^3"\n\n[functions.drag]\narguments = ["v"]\n'
    'value = "0.5*rho*0.6*v*abs(v)"\nunit = "N"\n\n[forces.air]\nkind = "force"\non = "car"\n'
    'force = ["-drag(car.velocity.x)", 0, 0]',
)
_ROTATION = Topic(
    "rotation: the orientation of a body's axes in the world, or of a solid's in the body.",
    "One of the tables\n"
    "  { axis, angle }       turn by `angle` about `axis`, right-handed\n"
    "  { quaternion }        [w, x, y, z] of length 1\n"
    "  { euler, sequence }   three angles about the letters of `sequence`: small letters about\n"
    '                        fixed axes in that order (default "xyz": roll, pitch, yaw),\n'
    '                        capitals about the axes that turn with the body ("ZXZ")',
    "[bodies.rod]\nmass = 1.0\ninertia = { xx = 1e-3, yy = 0.1, zz = 0.1 }\n"
    'rotation = { axis = [0, 1, 0], angle = "30 deg" }',
)
_INERTIA = Topic(
    "inertia: the inertia matrix about the mass centre, in body axes [kg*m^2].",
    "Keys xx, yy, zz (needed) and xy, yz, zx (default 0), products with the sign of the\n"
    "matrix entry.  With a shape of known density it follows by itself.",
    "[bodies.rod]\nmass = 1.0\ninertia = { xx = 1e-3, yy = 0.1, zz = 0.1, xy = 0.002 }",
)
_POINTS = Topic(
    "points: named places on a body.",
    "NAME = [x, y, z] [m] in the axes in which the body is written.  Joints and forces are\n"
    "attached at BODY.NAME; BODY.NAME.position and .velocity are signals.",
    "[bodies.rod]\nmass = 1.0\ninertia = { xx = 1e-3, yy = 0.1, zz = 0.1 }\n"
    "points = { A = [-0.5, 0, 0], tip = [0.5, 0, 0] }",
)
_BONDS = Topic(
    "bonds: the raw bonds of [bondgraph], at the head of the file.",
    'A list of "a -> b" with the names of vertices of [bondgraph], or NAME.PORT of other\n'
    "parts; power is positive along the arrow.",
    'bonds = ["source -> line", "line -> mass"]\n\n[bondgraph.source]\nkind = "Se"\n'
    'effort = ["10"]\n\n[bondgraph.line]\nkind = "1"\n\n[bondgraph.mass]\nkind = "I"\nvalue = 0.5',
)
_GRAVITY = Topic(
    "gravity: at the head of the file, in world axes [m/s^2].",
    "Default [0, 0, -9.81]: z points up.  Parameters may stand in it.",
    'gravity = [0, 0, "-g"]\n\n[parameters]\ng = { value = 1.62, unit = "m/s^2" }',
)
_HEAD = Topic(
    "The head of a file: keys above the first table.",
    "  vbg           format of the file: 1\n"
    "  name          of the machine, in reports and pictures\n"
    "  description   a line of what it is\n"
    "  gravity       see `vbg parts gravity`\n"
    "  bonds         see `vbg parts bonds`",
    'vbg = 1\nname = "pendulum"\ndescription = "A rod on a hinge"',
)
_INCLUDE = Topic(
    "[include.NAME]: another file's machine as a part of this one.",
    "Keys\n"
    "  file         the other file; the path counts from this file's folder\n"
    '  parameters   values in place of the other file\'s: { l = "1.1*l0" }\n'
    "  position     where the other file's world origin stands [m]\n"
    "Its parts are called NAME_PART here; what its [ports] offer is written NAME.PORT.",
    '[include.left]\nfile = "leg.toml"\nparameters = { l = "30 cm" }\nposition = [0, 0.2, 0]',
)
_PORTS = Topic(
    "[ports]: what a file offers to a file that includes it.",
    "NAME = what one would write in this file: a body or a point of it, a joint, a node, a\n"
    "signal or an output.  The including file writes INCLUDE.NAME in its place.",
    '[ports]\nhip = "thigh.top"\nknee = "joints.knee"\nsupply = "electric.a"',
)
_SIMULATE = Topic(
    "[simulate]: how to run the model where the command does not say otherwise.",
    "`vbg run` has options of the same names.",
    '[simulate]\nt_end = "2 s"\noutput_step = "1 ms"\nrtol = 1e-9',
    Simulate,
)
_OUTPUTS = Topic(
    "[outputs]: signals to keep besides those that every part gives.",
    "",
    '[outputs]\nkeep = ["rod.tip.velocity"]',
    Outputs,
)


def _quantities() -> str:
    lines, line = [], ""
    for name, unit in QUANTITIES.items():
        word = f"{name} [{unit}]"
        if len(line) + len(word) > 84:
            lines.append(line.rstrip())
            line = ""
        line += f"{word}, "
    return "\n".join(f"  {one}" for one in (*lines, line.rstrip(", ")))


_DISPLAY = Topic(
    "[display]: units in which results are shown; everything is computed and kept in SI.",
    'QUANTITY = "UNIT" for every signal of a quantity, "SIGNAL" = "UNIT" for one, or for those\n'
    "that a pattern names.  Tables, curves, the terminal interface and the columns of .csv show\n"
    "them, .h5 and .json stay in SI; `--units bar,deg,A.force=kN` goes before.  Quantities:\n"
    f"{_quantities()}",
    '[display]\npressure = "bar"\nangle = "deg"\nangular_speed = "rpm"\n"*.stroke" = "mm"',
)


_SPELLED = 34  # columns of a function's arguments


def _measures() -> str:
    lines = ["A text, or { expression, unit } for a value told in another unit than SI.  Names are"]
    lines += [
        "signals and parameters; numbers may carry a unit.  Functions of a course x over time:"
    ]
    for name, f in FUNCTIONS.items():
        spelled = f.spelled(name)
        if len(spelled) > _SPELLED - 2:
            lines.append(f"  {spelled}")
            spelled = ""
        lines.append(f"  {spelled:{_SPELLED}}{f.meaning}")
    return "\n".join(lines)


_MEASURES = Topic(
    "[measures]: what a run is to answer, each one number, printed behind the run.",
    _measures(),
    '[measures]\npeak = "max(norm(A.force))"\n'
    'settled = { expression = "settle(A.angle, 2 %)", unit = "ms" }',
)


def _solids() -> str:
    lines = []
    for name, solid in SOLIDS.items():
        axis = "" if name in ("box", "sphere") else ", axis"
        lines.append(f"  {name:10}{{ {', '.join(solid.sizes)}{axis} }}")
    lines.append('  step      "FILE.step", a file below the model\'s folder (extra cad);')
    lines.append("            part = NAME beside it chooses one of its solids")
    lines.append('  stl       "FILE.stl", triangles; unit = "mm" beside it, default m')
    lines.append("  extrude   { profile = [[x, y], ...], height, axis }, from -height/2 on along z")
    lines.append("  revolve   { profile = [[r, z], ...], axis }, turned once about z")
    lines.append("  union, cut, common   [shape, shape, ...]: all together, the first less the")
    lines.append("            others, what all share (extra cad); the density stands beside")
    return "\n".join(lines)


_SHAPE = Topic(
    "shape: the solid, or the list of solids, that a body is made of: drawn and weighed.",
    "One of the keys, lengths in m; `axis` (default z) turns the solid:\n"
    f"{_solids()}\n"
    "and beside it\n"
    "  density   [kg/m^3]; gives the body mass, mass centre and inertia\n"
    "  position  of its middle, of a cone the middle of its base, of a file its origin, in the\n"
    "            body's axes [m]\n"
    "  rotation  see `vbg parts rotation`\n"
    "With a mass of the body and no density the mass is spread evenly; with mass and inertia\n"
    "the shape is only drawn.",
    "[bodies.dumbbell]\nshape = [\n"
    '    { sphere = { radius = "4 cm" }, density = 7850, position = [-0.2, 0, 0] },\n'
    '    { sphere = { radius = "4 cm" }, density = 7850, position = [0.2, 0, 0] },\n'
    '    { cylinder = { radius = "1 cm", length = 0.4, axis = [1, 0, 0] }, density = 2700 },\n]',
)

TOPICS: Mapping[str, Topic] = MappingProxyType(
    {
        "ground": _GROUND,
        "gnd": _GND,
        "tank": _TANK,
        "frame": _FRAME,
        "nodes": _NODES,
        "attachment": _ATTACHMENT,
        "signal": _SIGNAL,
        "numbers": _NUMBERS,
        "shape": _SHAPE,
        "rotation": _ROTATION,
        "inertia": _INERTIA,
        "points": _POINTS,
        "head": _HEAD,
        "gravity": _GRAVITY,
        "bonds": _BONDS,
        "parameters": _PARAMETERS,
        "functions": _FUNCTIONS,
        "include": _INCLUDE,
        "ports": _PORTS,
        "simulate": _SIMULATE,
        "outputs": _OUTPUTS,
        "measures": _MEASURES,
        "display": _DISPLAY,
    }
)
# other words for the same
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "world": "ground",
        "units": "numbers",
        "unit": "numbers",
        "expressions": "numbers",
        "between": "attachment",
        "name": "head",
        "description": "head",
        "vbg": "head",
        **dict.fromkeys(SOLIDS, "shape"),
        "density": "shape",
    }
)

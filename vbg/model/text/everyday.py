"""What engineers call a kind, a table or a key that has another name here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# name here: what else it is called.  Of several that a word may mean, the first one here counts
# that the place knows, a part's keys or a table's kinds.
_CALLED = """
revolute: hinge pin rotation
prismatic: slider slide translation
spherical: ball
fixed: weld rigid
universal: cardan hooke
helical: screw
distance: rod rope link cable wire
rolling: wheel
rack_pinion: rack
belt: pulley chain timing_belt
gear: gearbox reducer
stop: bumper contact limits limit stroke
bushing: rubber
voltage_source: battery voltage
current_source: current
inductor: coil
dc_motor: motor linear_motor
solenoid: electromagnet
op_amp: opamp
orifice: throttle throttle_valve nozzle
proportional_valve: valve servo_valve spool_valve directional_valve
relief_valve: safety_valve
check_valve: non_return_valve
tank: reservoir
cylinder: jack ram
pipe: hose
inertia: flywheel
friction: brake
ball_screw: leadscrew
sine: sin
pid: controller
table: lookup
curve: characteristic
limiter: saturation clamp
transfer_function: filter lowpass integrator
joints: joint constraints connections
bodies: body mechanical links
forces: force loads
signals: signal controllers blocks
electric: electrical circuit circuits
hydraulic: hydraulics
rotational: drivetrain driveline shafts
parameters: constants variables params
outputs: output
simulate: simulation sim settings

mass: m weight
shape: material density geometry length
com: cog cm center_of_mass centre_of_mass centroid
rotation: orientation rpy quaternion
points: markers
angular_velocity: omega
zx: xz
xy: yx
yz: zy
between: bodies joints parent child at origin body from
axis: direction
drive: motor actuator drives
initial: position speed angle slide start
lead: pitch ratio
ratio: i n reduction teeth z1 radius radius1 r1 r
lower: min minimum
upper: max maximum
output_step: dt time_step timestep
t_end: tend t_stop stop_time duration end_time tmax
method: solver
rtol: tol tolerance
interpolation: method

bore: piston_diameter piston d diameter area
rod: rod_diameter
diameter: d
radius: r diameter
bulk: bulk_modulus modulus e
displacement: d volume
volume: v v0 size capacity
precharge: p0 gas_pressure
n: polytropic kappa gamma
setting: pressure set_pressure opening_pressure cracking p_set
cracking: opening_pressure pressure
slope: flow
qn: flow nominal_flow rated_flow
pn: dp nominal_pressure
overlap: deadband dead_zone
area: opening
density: rho
radius1: r1 d1 diameter1
radius2: r2 d2 diameter2
Ron: r
Is: saturation saturation_current i0
Vt: thermal_voltage emission n
on: body at point node between shaft joint axle
viscosity: eta mu
segments: elements n
conductance: r resistance g kv area
length: l l0 free_length rest_length rest free preload position angle
rest: length angle rest_angle preload free
gap: distance length
shaft: nodes

R: resistance r value
L: inductance l value
C: capacitance c value
K: kt ke km torque_constant motor_constant constant
J: inertia rotor_inertia j i value
inertia: j i
B: friction b viscous damping
m: mass value
k: stiffness gain factor value
friction: damping
c: damping d b viscous coefficient
stiffness: k
damping: c
coulomb: torque force mu kinetic tc fc
static: static_friction stiction breakaway
capacity: torque max_torque
engaged: signal control
closed: signal control on state
opening: signal control input command u
voltage: value v u initial
current: value i initial
pressure: value p
flow: value q
torque: value signal t moment axis
force: value signal f vector magnitude
speed: value omega w n rpm v velocity v_max vmax initial
velocity: speed initial
position: x x0 pos

height: value amplitude final
offset: mean bias initial
start: time t0 delay t_start begin
duration: time end
frequency: freq f omega period
amplitude: amp
duty: duty_cycle
period: t
demand: setpoint reference target ref input
measured: feedback actual measurement
time: delay tau t
input: signal x
rows: values data points samples xy file times value
stops: points positions targets from to
law: profile
acceleration: a_max amax acc
numerator: num
denominator: den
expression: value formula expr f equation
weights: signs gains
inputs: signals
first: f0 start
last: f1 end
"""


def _by_word() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in filter(None, _CALLED.splitlines()):
        name, _, words = line.partition(":")
        for word in words.split():
            found[word] = (*found.get(word, ()), name)
    return found


EVERYDAY: Mapping[str, tuple[str, ...]] = MappingProxyType(_by_word())

# what is no part here, and how a machine says it
UNSPOKEN: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(
        ("backlash", "play", "lash"),
        "Play is a torque or force between the two that follows a `curve` of [signals] with a flat "
        'middle: input = "rotational.b.angle - rotational.a.angle"; on a joint it is a `stop`.',
    )
    | dict.fromkeys(
        ("planetary", "planetary_gear", "epicyclic", "differential"),
        "Build it from bodies: sun, ring and planets turn on the carrier by revolute joints, which "
        "count their angles against it; `gear` of [joints] couples these.",
    )
    | dict.fromkeys(
        ("counterbalance_valve", "counterbalance", "pilot_check_valve", "reducing_valve"),
        "A valve that another pressure opens is a flow_source whose flow reads both: "
        'flow = "max(0, lift.pressure_a + 3*lift.pressure_b - 110e5)/1.2e10".',
    )
    | dict.fromkeys(
        ("cam", "cam_follower", "geneva"),
        "A cam is a `force` that reads its profile, a `curve` of [signals] of the angle: "
        'force = [0, 0, "max(0, 1e7*(profile - guide.slide))"]; one that never lifts off, a '
        "`drive` of the follower.",
    )
)

# what is no key of a part, and how a machine says it
UNSPOKEN_KEYS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(
        ("damping", "damper", "c", "d"),
        'What damps is a part of its own: kind = "damper", between the same.',
    )
)

"""A source that reads the motion acts on what it is joined to, and on nothing that it reads.

What is read goes its own way, in closed form: v = U (1 - exp(-t / R C)) of a capacitor behind a
resistor, w = T t / J of a shaft under a torque.  The source gives a + b v, and from an instant, a
choice or a sample on more.  Its stores follow at once, from the start on, and hold what it has
supplied.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import vbg
from tests.tail import tail
from vbg.io import toml

Array = NDArray[np.float64]
WAYS = ("smooth", "time", "choice", "factor", "sampled")
SERIES = {  # stores of the source: one behind the other, charged alike; shafts that a gear joins
    "electric": """U = {{ kind = "voltage_source", nodes = ["up", "gnd"], voltage = {rise!r} }}
R = {{ kind = "resistor", nodes = ["up", "a"], R = {R!r} }}
read = {{ kind = "capacitor", nodes = ["a", "gnd"], C = {size!r} }}
S = {{ kind = "voltage_source", nodes = ["b", "gnd"], voltage = "{source}" }}
K1 = {{ kind = "capacitor", nodes = ["b", "c"], C = {first!r} }}
K2 = {{ kind = "capacitor", nodes = ["c", "gnd"], C = {second!r} }}
""",
    "rotational": """T = {{ kind = "torque", nodes = ["frame", "a"], torque = {rise!r} }}
read = {{ kind = "inertia", nodes = ["a"], J = {size!r} }}
S = {{ kind = "speed", nodes = ["frame", "b"], speed = "{source}" }}
K1 = {{ kind = "inertia", nodes = ["b"], J = {first!r} }}
K2 = {{ kind = "inertia", nodes = ["c"], J = {second!r} }}
gear = {{ kind = "gear", nodes = ["b", "c"], ratio = 2.5 }}
""",
}
WRITTEN = {  # a store with a start that is written, beside: a start is assembled otherwise
    "electric": """K3 = {{ kind = "capacitor", nodes = ["d", "gnd"], C = {R!r}, voltage = {a!r} }}
load = {{ kind = "resistor", nodes = ["d", "gnd"], R = {R!r} }}
""",
    "rotational": """K3 = {{ kind = "inertia", nodes = ["d"], J = {size!r}, speed = {level!r} }}
""",
}
OUTPUT = {"electric": "voltage", "rotational": "speed"}


def machine(table: str, way: str, seed: int) -> tuple[str, dict[str, float]]:
    draw = np.random.default_rng([seed, *map(ord, table + way)])
    n = {"R": 1.0, "size": 1.0, "rise": 1.0, "first": 1.0, "second": 1.0}
    n = {name: float(10.0 ** draw.uniform(-4.0, 4.0)) for name in n}
    n["rise"] = float(10.0 ** draw.uniform(0.0, 4.0))  # energies of millivolts are not resolved
    n["first"], n["second"] = (n["size"] * 10.0 ** draw.uniform(-2.0, 2.0, 2)).tolist()
    n["level"] = level = float(n["rise"] * draw.uniform(0.2, 0.6))
    n["at"] = -n["R"] * n["size"] * float(np.log1p(-level / n["rise"]))
    if table == "rotational":
        n["at"] = level * n["size"] / n["rise"]
    a, more = (level * draw.uniform(-3.0, 3.0, 2)).tolist()
    b, read = float(draw.uniform(-2.0, 2.0)), f"read.{OUTPUT[table]}"
    n |= {"a": a, "b": b, "more": more}
    source = {
        "smooth": f"{a!r} + {b!r}*{read}",
        "time": f"{a!r} + {b!r}*{read} + if(t > {n['at']!r}, {more!r}, 0)",
        "choice": f"if({read} > {level!r}, {a + more!r}, {a!r}) + {b!r}*{read}",
        "factor": f"{a!r} + {b!r}*{read}*if(t > {n['at']!r}, {1.0 + more / (b * level)!r}, 1)",
        "sampled": f"{a!r} + {b!r}*{read} + held",
    }[way]
    parts = SERIES[table] + (WRITTEN[table] if seed % 2 else "")
    growing = f'input = "{more / n["at"]!r}*t", period = {n["at"]!r}'
    held = f'held = {{ kind = "sample_and_hold", {growing} }}'
    return (
        f"vbg = 1\noutputs = {{ energy = true }}\n[{table}]\n{parts.format(source=source, **n)}"
        f"[signals]\n{held if way == 'sampled' else ''}\n"
        f"[simulate]\nt_end = {1.8 * n['at']!r}\noutput_step = {0.3 * n['at']!r}\n"
    ), n


def expected(table: str, way: str, n: dict[str, float], t: Array) -> tuple[Array, Array]:
    """What is read, and what the source gives, at the times t."""
    read = n["rise"] * t / n["size"]
    if table == "electric":
        read = -n["rise"] * np.expm1(-t / (n["R"] * n["size"]))
    late, steady = t >= n["at"] * (1.0 - 1e-9), n["a"] + n["b"] * read
    if way == "factor":
        return read, steady + np.where(late, n["more"] * read / n["level"], 0.0)
    return read, steady + np.where(late, n["more"] if way != "smooth" else 0.0, 0.0)


@pytest.mark.parametrize("seed", tail(range(8), 2))
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("table", SERIES)
def test_who_reads_does_not_push(table: str, way: str, seed: int) -> None:
    text, n = machine(table, way, seed)
    run = vbg.simulate(toml.parse(text))
    assert run.status.code == "finished" and not run.audit.failures
    read, source = expected(table, way, n, run.time)
    size, output = np.abs(source).max(), OUTPUT[table]
    assert_allclose(run[f"read.{output}"], read, rtol=0, atol=1e-7 * size)
    first, second = run[f"K1.{output}"], run[f"K2.{output}"]
    together = first + second if table == "electric" else first
    assert_allclose(together, source, rtol=0, atol=1e-7 * size)
    if table == "electric":
        assert_allclose(
            n["first"] * first, n["second"] * second, rtol=0, atol=1e-7 * n["first"] * size
        )
    supplied, held = run["S.energy"], run["K1.energy"] + run["K2.energy"]
    largest = np.ptp(run["energy.supplied"])  # by which a run keeps its energies
    assert_allclose(
        supplied[0] - supplied, held - held[0], rtol=0, atol=1e-7 * max(largest, held.max())
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_source_may_read_what_it_acts_on(seed: int) -> None:
    """Of two capacitors in series, charged alike by q, the source reads one:
    q / C1 + q / C2 = a + b q / C1."""
    draw = np.random.default_rng(seed)
    C1, C2 = (10.0 ** draw.uniform(-4.0, 0.0, 2)).tolist()
    a, more, b = *draw.uniform(-5.0, 5.0, 2).tolist(), float(draw.uniform(-3.0, 0.8))
    source = f"{a} + {b}*K1.voltage + if(t > 0.5, {more}, 0)"
    run = vbg.simulate(
        toml.parse(f"""vbg = 1
outputs = {{ energy = true }}
[electric]
S = {{ kind = "voltage_source", nodes = ["b", "gnd"], voltage = "{source}" }}
K1 = {{ kind = "capacitor", nodes = ["b", "c"], C = {C1!r} }}
K2 = {{ kind = "capacitor", nodes = ["c", "gnd"], C = {C2!r} }}
[simulate]
t_end = 1.0
output_step = 0.3
""")
    )
    assert run.status.code == "finished" and not run.audit.failures
    q = np.where(run.time > 0.5, a + more, a) / ((1.0 - b) / C1 + 1.0 / C2)
    size = np.abs(q).max()
    assert_allclose(C1 * run["K1.voltage"], q, rtol=0, atol=1e-9 * size)
    assert_allclose(C2 * run["K2.voltage"], q, rtol=0, atol=1e-9 * size)

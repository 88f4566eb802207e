"""What is written in the place of a number: an expression of what other parts, or the part
itself, do, in every key that takes one.

An expression in its place means what it means as a part of `[signals]`: the same motion.  A place
that cannot have it, as the drive of a joint, refuses it with a line and a remedy.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
import tomlkit

import vbg
from benchmarks.robustness.mutants import unclear
from tests.tail import tail
from vbg.fields import declared
from vbg.model import catalogue
from vbg.model.samples import machine

PLACES = [
    (table, kind, key, field.form)
    for table, parts in catalogue().items()
    for kind, part in parts.items()
    for key, field in declared(part).items()
    if field.form in ("signal", "signals", "condition") and table != "signals"
]
READ = 2  # signals of the part itself, and as many of others


def outcome(document, path):
    """The signals of a run of two steps that reached its end; the sentence that refused it."""
    path.write_text(tomlkit.dumps(document))
    try:
        solution = vbg.simulate(vbg.assemble(vbg.read(path)), t_end=2e-3, output_step=1e-3)
    except vbg.errors.VbgError as refused:
        assert not unclear(refused.problems), refused
        return str(refused)
    assert solution.status.sentence, solution.status
    ended = solution.status.code == "finished"
    return dict(solution.signals) if ended else solution.status.sentence


def same(a, b):
    """Whether two runs are one, where both reached their end."""
    if isinstance(a, str) or isinstance(b, str):
        return True
    kept = [n for n in a if n in b and not n.startswith(("energy.", "residual."))]
    return all(np.allclose(a[n], b[n], rtol=1e-5, atol=1e-6, equal_nan=True) for n in kept)


def written(document, table, name, key, expression):
    """The part with its key replaced, a list by one of as many."""
    changed = tomlkit.parse(tomlkit.dumps(document))
    old = document[table][name].get(key)
    changed[table][name][key] = [expression] * len(old) if isinstance(old, list) else expression
    return changed


def by_signal(document, table, name, key, expression):
    changed = written(document, table, name, key, "inline")
    changed.setdefault("signals", tomlkit.table())
    changed["signals"]["inline"] = {"kind": "expression", "expression": expression}
    return changed


def readable(signals, name, seed):
    """Numbers that an expression may read: of the part, of others, and the time."""
    numbers = [
        n if v.ndim == 1 else f"{n}.x" if v.shape[1] == 3 else f"{n}[0]"
        for n, v in signals.items()
        if "." in n and not n.startswith(("energy.", "residual."))
    ]
    own = [n for n in numbers if n.startswith(f"{name}.")]
    chosen = random.Random(seed).sample(numbers, min(READ, len(numbers)))
    return dict.fromkeys([*own[:READ], *chosen, "t"])


@pytest.mark.parametrize("place", tail(random.Random(4).sample(range(len(PLACES)), len(PLACES)), 3))
def test_an_expression_in_its_place_is_what_it_is_as_a_signal(place, tmp_path):
    table, kind, key, form = PLACES[place]
    document = tomlkit.parse(machine(table, kind))
    name = next(n for n, e in document[table].items() if e.get("kind", kind) == kind)
    signals = outcome(document, tmp_path / "plain.toml")
    old = document[table][name].get(key)
    base = old[0] if isinstance(old, list) else old
    base = base if isinstance(base, int | float) else 0.7
    for read in readable(signals, name, place):
        expression = f"{read} - 1" if form == "condition" else f"{base} + 0.001*{read}"
        pair = [
            outcome(write(document, table, name, key, expression), tmp_path / "read.toml")
            for write in (written, by_signal)
        ]
        assert same(*pair), (table, kind, key, expression, pair)


@pytest.mark.parametrize("kind", ["TF", "GY"])
@pytest.mark.parametrize("load", ["R", "C", "I"])
def test_a_ratio_may_read_what_it_passes_on(kind, load, tmp_path):
    """Also where it ties an inertia to the joint whose speed it reads: the row that holds them
    together is not linear in the speeds then."""
    document = tomlkit.parse(
        'vbg = 1\nbonds = ["h.angle -> tf", "tf -> load"]\n'
        "[bodies.rod]\nmass = 2\ninertia = { xx = 0.1, yy = 0.2, zz = 0.2 }\n"
        "points = { A = [-0.5, 0, 0] }\n"
        '[joints.h]\nkind = "revolute"\nbetween = ["ground", "rod.A"]\naxis = [0, 1, 0]\n'
        f'[bondgraph.tf]\nkind = "{kind}"\nratio = 1\n'
        f'[bondgraph.load]\nkind = "{load}"\nvalue = 0.5\n'
    )
    for read in ("h.speed", "h.angle", "t"):
        pair = [
            outcome(
                write(document, "bondgraph", "tf", "ratio", f"0.9 + 0.1*{read}"),
                tmp_path / "m.toml",
            )
            for write in (written, by_signal)
        ]
        assert not isinstance(pair[0], str) and same(*pair), (read, pair)
        assert np.ptp(pair[0]["h.speed"]) > 0.0

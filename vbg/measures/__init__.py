"""Measures: one number from the signals of a run, written as an expression.

    max(norm(A.force))     mean(over(motor.current, 1 s, 2 s))     settle(arm.angle, 2 %)
    bearing_life(norm(A.force), A.speed, 19.5 kN, 3)               damage(A.force.z, 2 kN, 1e6, 5)

In: a text and a Solution.  Out: a number in SI, or the reason why there is none.
`language` reads the text, `series` holds courses over time and windows of them, `course`
and `loads` are the functions, `functions` lists them with a line of meaning each; `dimensions`
says of which quantity a measure is, `remarks` what it may not have meant; `named` are those of a
model file, in the unit that the engineer wants.
"""

from vbg.measures.dimensions import unit_told
from vbg.measures.functions import FUNCTIONS
from vbg.measures.language import evaluate, parse
from vbg.measures.loads import Bin, spectrum
from vbg.measures.named import Measure, Measured, faults, in_unit, measured
from vbg.measures.remarks import remarks
from vbg.measures.series import Series

__all__ = [
    "FUNCTIONS",
    "Bin",
    "Measure",
    "Measured",
    "Series",
    "evaluate",
    "faults",
    "in_unit",
    "measured",
    "parse",
    "remarks",
    "spectrum",
    "unit_told",
]

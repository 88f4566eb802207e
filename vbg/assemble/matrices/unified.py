"""The elimination of vector-bond-graph.txt, eq. 5-15, on matrices of any kind.

    P = (1 - J_LL R)^-1          A1 = (1 - J_EE R_E - J_EL R P J_LE R_E)^-1
    A_c = J_Ec + J_EL R P J_Lc   B_c = P (J_Lc + J_LE R_E A1 A_c)
    T_ic = J_ic + J_iL R B_c + J_iE R_E A1 A_c

for the columns c = 1, 2 (times F_c), D, u1, u2 and the rows i = 1, 2, D and C, so that

    X_i' = T_i1 X1 + T_i2 X2 + T_iu1 U1 + T_iu2 U2 + T_iD X_D'
    0    = T_C1 X1 + T_C2 X2 + T_Cu1 U1 + T_LE U2 + T_CD X_D'

Where T_LE vanishes (case 15) the last row is differentiated once:

    H1 = J_C1' F1 + J_C1 F1 T_11 + J_C2 F2 T_21        H4 = J_C1 F1 T_1u2 + J_C2 F2 T_2u2
    H2 = J_C2' F2 + J_C1 F1 T_12 + J_C2 F2 T_22        H3 = J_Cu1' + J_C1 F1 T_1u1 + J_C2 F2 T_2u1
    H1 X1 + H2 X2 + H3 U1 + J_Cu1 U1' + H4 U2 + H_D X_D' = 0

The paper puts constraint sources in the place of all stores in derivative causality.  Where these
are kept, D, they receive their co-energy and give their rate,

    F_D X_D = J_D1 Z1 + J_D2 Z2 + J_Du1 U1

and the same differentiation gives what determines X_D' together with U2:

    F_D X_D' = K1 X1 + K2 X2 + K3 U1 + J_Du1 U1' + K4 U2 + K_D X_D'

K as H with J_D1 in the place of J_C1.  In the mixed case (T_LE singular but not zero,
docs/derivations/mixed-case.md) the rows are split by the columns of Q1 and Q2, the range of T_LE
and what is orthogonal to it: Q1^T (T_C1 X1 + ... + T_LE U2) = 0, and H is of the rows Q2^T.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

COLUMNS = ("1", "2", "D", "u1", "u2")
ROWS = ("1", "2", "D", "C")
NUMBERED = {"1": "1", "2": "2", "u1": "3", "u2": "4", "D": "_D"}  # H1 ... H4, H_D by column


def transfer_matrices(
    given: Mapping[str, Any],
    identity: Callable[[Any], Any],
    inverse: Callable[[Any], Any],
) -> dict[str, Any]:
    """P, A1 and all T from the blocks "J11", "J1L", ... and the laws "F1", "F2", "R", "R_E".
    `identity` makes that of the size that `shape[0]` of a matrix says."""
    R, R_E = given["R"], given["R_E"]
    P = inverse(identity(R.shape[0]) - given["JLL"] @ R)
    through = given["JEL"] @ R @ P
    A1 = inverse(identity(R_E.shape[0]) - given["JEE"] @ R_E - through @ given["JLE"] @ R_E)
    found = {"P": P, "A1": A1}
    for c in COLUMNS:
        A = given[f"JE{c}"] + through @ given[f"JL{c}"]
        B = P @ (given[f"JL{c}"] + given["JLE"] @ R_E @ A1 @ A)
        for i in ROWS:
            T = given[f"J{i}{c}"] + given[f"J{i}L"] @ R @ B + given[f"J{i}E"] @ R_E @ A1 @ A
            name = "T_LE" if f"{i}{c}" == "Cu2" else f"T{i}{c}"
            found[name] = T @ given[f"F{c}"] if c in ("1", "2") else T
    return found


def constraint_matrices(given: Mapping[str, Any], rates: Mapping[str, Any]) -> dict[str, Any]:
    """H1 to H4 and H_D of case (15) from all that `transfer_matrices` takes and gives, and the
    rates of the rows "JC1", "JC2" and "JCu1"."""
    return _differentiated("H", "C", given, rates)


def reaction_matrices(given: Mapping[str, Any], rates: Mapping[str, Any]) -> dict[str, Any]:
    """K1 to K4 and K_D of the stores in derivative causality, with the rates of the rows "JD1",
    "JD2" and "JDu1"."""
    return _differentiated("K", "D", given, rates)


def _differentiated(
    letter: str, row: str, given: Mapping[str, Any], rates: Mapping[str, Any]
) -> dict[str, Any]:
    first, second = given[f"J{row}1"] @ given["F1"], given[f"J{row}2"] @ given["F2"]
    own = {
        "1": rates[f"J{row}1"] @ given["F1"],
        "2": rates[f"J{row}2"] @ given["F2"],
        "u1": rates[f"J{row}u1"],
    }
    found = {}
    for c, number in NUMBERED.items():
        through = first @ given[f"T1{c}"] + second @ given[f"T2{c}"]
        found[f"{letter}{number}"] = own[c] + through if c in own else through
    return found

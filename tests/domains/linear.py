"""Linearisation by complex steps: eigenvalues of the motion on the constraints."""

from __future__ import annotations

import numpy as np

import vbg
from vbg.assemble import System
from vbg.assemble.program.evaluator import Evaluator


def eigenvalues(system: System, x: np.ndarray | None = None) -> np.ndarray:
    """Eigenvalues of d rate / d x on the tangent space of the constraints, without the
    two energy quadratures, sorted by real part."""
    x = vbg.start(system).state if x is None else x
    kept = [
        i for s in system.slices if s.state.kind != "quadrature" for i in range(s.first, s.last)
    ]
    rate = Evaluator(vbg.start(system).rate_program, complex_valued=True)
    A = _columns(lambda z: rate(0.0, z)[: system.size], x)[np.ix_(kept, kept)]
    residual = Evaluator(system.programs.residual, complex_valued=True)
    rows = (
        _columns(lambda z: residual(0.0, z), x)[:, kept] if system.equations.constraints else None
    )
    if rows is None:
        return np.sort_complex(np.linalg.eigvals(A))
    _, values, Vt = np.linalg.svd(rows)
    rank = int(np.count_nonzero(values > 1e-9 * values[0]))
    tangent = Vt[rank:].T
    return np.sort_complex(np.linalg.eigvals(tangent.T @ A @ tangent))


def _columns(function, x: np.ndarray) -> np.ndarray:
    step = 1e-40
    columns = []
    for i in range(len(x)):
        z = x.astype(complex)
        z[i] += 1j * step
        columns.append(function(z).imag.copy() / step)
    return np.array(columns).T

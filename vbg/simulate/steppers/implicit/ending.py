"""How Newton's iteration of an implicit step ends.

With changes of the sizes d_0, d_1, ... over the tolerance, theta_k = d_k / d_k-1 foretells what is
left, theta_k / (1 - theta_k) d_k.  The iteration has converged where that is below `newton_tol`, is
stuck where it would not be after MOST iterations, and takes two at least: integrals of what has
converged follow one later, where the state is far below its tolerance, too.

Numbers that compiled code and numpy share.
"""

from __future__ import annotations

MOST = 10  # iterations of a step
STEP = 1e-40  # of complex steps: any below rounding is exact, for nothing is subtracted
GROWTH = 1e6  # of factors beyond which pivots are chosen anew: a millionth of the digits is left
DENSE = 250  # states up to which compiled code factors a dense Jacobian: LAPACK's blocks win beyond
CONVERGED, STUCK, SINGULAR = 0, 1, 2

"""The transfer-matrix solver: the transfer matrix method for multibody systems (MSTMM).

It starts from the Model's bodies and joints and shares nothing with the
bond-graph pipeline, so that agreement of the two means something.
State vector at a connection point, world axes: z = [a, alpha, m, q, 1]:
acceleration of the point, angular acceleration, internal moment, internal force.
"""

from vbg.plumbing.lazily import names_of

__all__ = ["simulate"]

__getattr__ = names_of(__name__, {"simulate": "vbg.tmm_bridge.solver"})

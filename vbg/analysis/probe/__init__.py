"""What linear analysis differentiates: one program with its exact Jacobian, tangents,
symmetries, kinks.

In: a System and a state.  Out: Jacobians and directions there.
"""

"""The implicit method: collocation at Radau's points, its linear systems, and the Jacobian of the
rates with its structure.

In: rates and Jacobian of a System.  Out: steps with dense output.
"""

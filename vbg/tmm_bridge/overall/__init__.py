"""The paper's overall transfer equation: its matrices, and its deduction as text.

In: a Model or a Mechanism at a posture.  Out: transfer matrices and the overall equation.
"""

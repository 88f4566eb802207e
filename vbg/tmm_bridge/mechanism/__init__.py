"""From the Model to the flat tables of the solver, and to the state it starts from.

In: a Model, its tree and its network.  Out: a Mechanism and the start.
"""

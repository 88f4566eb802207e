"""One-dimensional parts of the transfer-matrix solver, in its own equations.

Nodal analysis: levels (voltages, pressures) at nodes and speeds of shafts, one balance
each, solved by Newton's method where no store holds them.  The fields of the parts are
read from the model; their laws are written here again, from the literature the parts
cite, and share nothing with the bond-graph side.
"""

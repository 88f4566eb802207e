"""What a run keeps: signals on the output grid, and the audit of energy and constraints.

In: states while the run goes on.  Out: rows and the audit.
"""

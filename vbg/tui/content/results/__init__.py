"""Results as rows: runs, curves, tables, studies, the comparison of the solvers."""

"""Block LDL^T of the constraint matrix: factors, solutions, the smallest efforts."""

"""The operations of block expressions; nothing else exists."""

OPERATIONS = (
    "const",  # data: read-only array
    "leaf",  # data: name; a state, input, unknown or placeholder
    "sum",  # data: coefficients; sum of coefficient * argument
    "mul",  # matrix product of two arguments, the second a column
    "product",  # matrix product of any number of matrices
    "times",  # scalar (1 x 1) times a matrix
    "transpose",
    "stack",  # arguments below one another
    "rows",  # data: (first, last); some rows of the argument
    "whole",  # data: (0,); the argument, which no sum that it is a term of takes apart
    "rotation",  # R_WB of a quaternion (w, x, y, z)
    "skew",  # skew(a) @ b == cross(a, b)
    "quaternion_rate",  # 1/2 quat o (0, w)
    "call",  # data: name of a scalar function of scalars
    "lookup",  # a row of a constant table, as a column, chosen by a scalar
    "factor",  # LDL^T factor of a block matrix; data: its layout, see `symmetric_factor`
    "solve",  # solution for a factor and a right-hand side
    "smallest",  # for a factor and a solution, the smallest one that differs by no force
    "linear_solve",  # A^-1 B for a small square matrix A of any kind
    "implicit",  # y with residual(y, arguments) = 0; data: an `Implicit`
)

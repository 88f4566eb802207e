"""What the interpreter's operations do: blocks, rotations, scalar functions, algebraic loops."""

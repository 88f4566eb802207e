"""Laws of one-dimensional parts: what they pass between nodes and shafts, and what they keep."""

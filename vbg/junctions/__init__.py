"""Joints and couplings: junction structures with constraint sources."""

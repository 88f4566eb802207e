"""Synthesis: all structures of a mobility, none twice, and machines made of them."""

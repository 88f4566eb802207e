"""Impulses: prescribed speeds that jump, joints that close, and what both do besides."""

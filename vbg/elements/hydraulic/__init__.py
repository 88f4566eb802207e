"""Hydraulic parts, wired by node names; "tank" is the reference. Pressures are against it."""

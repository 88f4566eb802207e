"""Solids of CAD files: STEP parts, their mass properties, surfaces, triangles (extra `cad`)."""

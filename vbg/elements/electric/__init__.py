"""Electric parts, wired by node names; "gnd" is the reference."""

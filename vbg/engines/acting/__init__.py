"""What acts on the bodies of a machine that an engine solves."""

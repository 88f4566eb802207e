"""`python -m vbg`: the command `vbg`, where its folder is not on the path."""

from vbg.cli.entry import run

run()

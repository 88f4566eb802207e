"""``python -m vbg.cli``: the command `vbg` without its script."""

from vbg.cli.entry import run

run()

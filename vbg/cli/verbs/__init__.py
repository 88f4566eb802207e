"""The verbs, one module each: `PLACE` (order in the help) and `register(subparsers)`.

`register` adds a parser made by `vbg.cli.parser.add` and sets its default
`act` to a function of the parsed arguments that returns the exit code.
"""

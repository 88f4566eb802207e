"""The command line: asks and shows; what it shows is computed elsewhere.

One module per verb in `vbg.cli.verbs`, one per thing to show in
`vbg.cli.show`; a new file there is a new verb.  Nothing heavy is imported
before a verb runs, so that ``vbg --help`` answers at once.
"""

"""What differs between operating systems: files, locks, folders, processes, streams,
terminals, text.

In: names of files, numbers of processes, text.  Out: files that are whole or not there,
locks that say who holds them, folders that are the user's own, processes that end with
their parent, output that a broken reader cannot break.  No other module of vbg calls what
only one family of systems has (fcntl, killpg, fork, getuid, termios, XDG by hand): a test
looks for it.
"""

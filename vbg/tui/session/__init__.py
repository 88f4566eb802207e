"""What the terminal interface works on, with no terminal: document, journal, jobs, runs."""

"""What is open and how it is looked at: values that all panes read; no terminal is known here."""

"""What the panes show, as pure functions from values to rows of text."""

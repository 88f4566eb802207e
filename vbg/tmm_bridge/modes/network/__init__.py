"""One-dimensional parts, circuits and control in the linear transfer equation."""

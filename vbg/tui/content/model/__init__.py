"""The model as rows: its parts, their fields, what may be written where."""

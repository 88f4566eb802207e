"""What changes the model: parts, fields, text, numbers, solids, topologies."""

"""Pictures of models, graphs and results; nothing here asks or decides."""

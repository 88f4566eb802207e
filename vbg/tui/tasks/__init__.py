"""What is done beside the keys: checks, results, verdicts, graphs brought to the workspace."""

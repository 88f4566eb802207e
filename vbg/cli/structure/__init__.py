"""The verbs below `vbg structure`, one module each."""

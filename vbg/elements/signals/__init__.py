"""Signals: functions of time, and feedback that reads the outputs of any part."""

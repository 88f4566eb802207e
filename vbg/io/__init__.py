"""Files in and out: model files, results, exports."""

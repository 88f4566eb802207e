"""What makes results and looks at them: runs, sweeps, studies, plots, verdicts."""

"""One-dimensional rotation: parts between speed nodes, on joints or between points;
"frame" is the reference."""

"""What the figures of `python -m benchmarks engines` mean for a table that is too large to measure."""

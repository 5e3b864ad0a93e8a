"""Benchmarks: streamsift against the peers a user would pick, as ratios measured side by side in one run."""

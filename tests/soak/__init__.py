"""Streams of a thousand million rows: memory, counters and scores after hours of learning (`python -m tests.soak`)."""

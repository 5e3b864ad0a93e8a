"""Mergeable state over a stream of rows: class moments and weighted quantile summaries, dense and sparse."""

"""Judging one method on one stream: prequential evaluation, folds, baselines."""

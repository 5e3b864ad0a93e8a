"""Learners: what is trained on the selected features."""

"""Comparing methods: the plan, its repeats and workers, the store of finished runs, statistics, a recommendation."""

"""Ungar et al. (2005), Streaming Feature Selection using Information-investing."""

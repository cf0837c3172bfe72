"""A twin of the API server's pipeline for one body: structure, pruning, nulls, defaults, checks of single values."""

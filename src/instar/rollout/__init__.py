"""Decides where a version's life stands and which step comes next, from what was seen. Values only."""

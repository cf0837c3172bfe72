"""Edges that keep a cluster the way the pure core decides: migrations, and the inventory of what there is."""

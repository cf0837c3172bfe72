"""Talks HTTP to clusters, and to etcd's JSON gateway: the only package that does."""

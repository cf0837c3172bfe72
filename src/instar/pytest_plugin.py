"""Fixtures for tests against a real control plane: ``control_plane``, ``cluster``, ``etcd``."""

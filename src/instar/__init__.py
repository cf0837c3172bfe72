"""Instar takes a Kubernetes API from one version to the next without losing a byte."""

__version__ = "0.1.0"

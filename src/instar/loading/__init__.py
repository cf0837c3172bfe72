"""Conversions from files, as ``--conversion`` names them: ``loading.conversion("conversion.yaml")``."""

from instar.loading.conversions import conversion

__all__ = ["conversion"]

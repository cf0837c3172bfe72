"""Conversions from files, as ``--conversion`` names them, and the digest by which two of them are known to be one."""

from instar.loading.conversions import conversion
from instar.loading.digesting import digest

__all__ = ["conversion", "digest"]

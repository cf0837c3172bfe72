"""The names of what a conversion carries: ``carried.<domain>/<version>.<16 hex>`` for a leaf, ``….view`` for all.

The version is the one that a leaf belongs to. How the values are written: ``conversion/entries.py``.
"""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["path_of", "prefix", "version_of"]

_NAME = re.compile(r"carried\.[^/]+/([^/]+)\.(?:[0-9a-f]{16}|view)")


def prefix(domain: str) -> str:
    """What every annotation of a conversion's own begins with."""
    return f"carried.{domain}/"


def version_of(name: str) -> str | None:
    """The version that an annotation carries something for; None if it is none of these."""
    found = _NAME.fullmatch(name)
    return found[1] if found else None


def path_of(text: str) -> str:
    """The path of the leaf that an annotation's value carries; empty for a view, and for what is not an entry."""
    try:
        fields: Any = json.loads(text)
    except ValueError:
        return ""
    fields = fields[1:] if isinstance(fields, list) and fields and isinstance(fields[0], int) else fields
    return fields[1] if isinstance(fields, list) and len(fields) > 1 and isinstance(fields[1], str) else ""

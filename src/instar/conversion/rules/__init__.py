"""Conversions as rules: each states both directions of one change, and is checked against both schemas."""

from instar.conversion.rules.model import Pair, Rule
from instar.conversion.rules.move import Move

__all__ = ["Move", "Pair", "Rule"]

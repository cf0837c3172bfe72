"""Conversions as rules: each states both directions of one change, and is checked against both schemas."""

from instar.conversion.rules.each import Each
from instar.conversion.rules.model import Pair, Rule
from instar.conversion.rules.move import Move
from instar.conversion.rules.only import Only

__all__ = ["KINDS", "Each", "Move", "Only", "Pair", "Rule"]

KINDS: tuple[type[Rule], ...] = (Move, Only, Each)
"""Every kind of rule; a new one is a file and a line here."""

"""Conversions as rules: each states both directions of one change, and is checked against both schemas."""

from instar.conversion.rules.cel import Cel
from instar.conversion.rules.duration import Duration
from instar.conversion.rules.each import Each
from instar.conversion.rules.keyed import Keyed
from instar.conversion.rules.mapping import Map
from instar.conversion.rules.model import Pair, Rule
from instar.conversion.rules.move import Move
from instar.conversion.rules.only import Only
from instar.conversion.rules.python import Python
from instar.conversion.rules.quantity import Quantity
from instar.conversion.rules.scale import Scale
from instar.conversion.rules.single import Single
from instar.conversion.rules.template import Template
from instar.conversion.rules.typed import Type

__all__ = [
    "KINDS",
    "Cel",
    "Duration",
    "Each",
    "Keyed",
    "Map",
    "Move",
    "Only",
    "Pair",
    "Python",
    "Quantity",
    "Rule",
    "Scale",
    "Single",
    "Template",
    "Type",
]

KINDS: tuple[type[Rule], ...] = (
    Move,
    Map,
    Only,
    Single,
    Keyed,
    Each,
    Template,
    Type,
    Quantity,
    Duration,
    Scale,
    Cel,
    Python,
)
"""Every kind of rule; a new one is a file and a line here."""

"""Many versions, one object: conversions as values, and what a version cannot say carried beside it.

A conversion file defines ``conversion = Conversion(...)``; ``bind`` ties it to its CRD; ``Bound.convert`` takes one
object to another version; ``review`` answers a whole webhook call. A converter that meets a value it cannot convert
raises ``Unconvertible``.
"""

from instar.conversion.binding import Bound, bind
from instar.conversion.definition import Conversion, Converter, Droppable, Group, Normalised, Sensitive, Spoke
from instar.conversion.hop import Drop, Outcome
from instar.conversion.reviewing import review
from instar.errors import ConversionError, DefinitionError, Unconvertible

__all__ = [
    "Bound",
    "Conversion",
    "ConversionError",
    "Converter",
    "DefinitionError",
    "Drop",
    "Droppable",
    "Group",
    "Normalised",
    "Outcome",
    "Sensitive",
    "Spoke",
    "Unconvertible",
    "bind",
    "review",
]

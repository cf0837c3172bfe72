"""The laws of conversion, each one file and one line here."""

from instar.testing.lawbook import (
    batches,
    budgets,
    commuting,
    editing,
    framing,
    partial,
    purity,
    reading,
    subresources,
    totality,
    validity,
)
from instar.testing.lawbook.law import Law

__all__ = ["LAWS", "Law"]

LAWS: tuple[Law, ...] = (
    reading.READ_YOUR_WRITE,
    reading.NO_OP,
    editing.EDITS,
    totality.TOTALITY,
    purity.PURITY,
    commuting.COMMUTATION,
    framing.FRAME,
    validity.VALIDITY,
    partial.PARTS,
    batches.BATCHES,
    subresources.SUBRESOURCES,
    budgets.BUDGETS,
)
"""In their order; L13 to L15 look at a whole run (concluding.py)."""

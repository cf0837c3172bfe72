"""Storage migration, decided in pure code: what to do next about a CRD and about each of its objects."""

from instar.migration.evidence import Evidence, Result, Verdict, document, exit_code
from instar.migration.gate import GATES, Gate, Observed
from instar.migration.settings import Settings

__all__ = ["GATES", "Evidence", "Gate", "Observed", "Result", "Settings", "Verdict", "document", "exit_code"]

"""For operator authors' own tests: the laws of conversion, and objects and edits that a schema allows.

``laws`` needs nothing but Instar. The strategies (``objects``, ``edits``) need ``instar[testing]``, and know nothing of
the conversion framework: what they draw may judge it.
"""

from instar.testing.checks import Check, laws

__all__ = ["Check", "laws"]

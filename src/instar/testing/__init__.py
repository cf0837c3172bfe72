"""For operator authors' own tests: objects that a schema allows, and edits as people and controllers make them.

Install it with ``instar[testing]``. Nothing here knows the conversion framework: what it draws may judge it.
"""

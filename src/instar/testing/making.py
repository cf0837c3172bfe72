"""Bodies that a schema allows, drawn from one ``random.Random``: the same ones for the same seed, and fast.

Bounds, enums, patterns, formats, required fields, nullable, keys of lists and free maps are kept; junctors and rules in
CEL are not looked at here: the caller asks ``validation.problem`` and draws again. Values that real objects have at a
place are drawn again at that place. No Hypothesis: a thousand objects are to take a second.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from instar.model import gojson, path
from instar.schema import listing_keys, structural
from instar.testing import edges, places, texts

__all__ = ["Maker", "numbers_of"]

"""Prints the JSON Schema of a file of rules: ``python -m instar.conversion.rules > conversion.schema.json``."""

import json
import sys

from instar.conversion.rules import describing

sys.stdout.write(json.dumps(describing.schema(), indent=2) + "\n")

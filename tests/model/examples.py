"""Every example that the model knows; a new one is a file beside this and a line here."""

from tests.model import machinequota, tenant, widget

ALL = {one.EXAMPLE.name: one.EXAMPLE for one in (machinequota, tenant, widget)}

"""The conversion webhook as a server: the API is no more available than this is.

``server`` runs it, ``asgi`` embeds it, ``local`` starts it as a process of a test or a demo.
"""

from instar.serving.asgi import App, app
from instar.serving.service import Limits

__all__ = ["App", "Limits", "app"]

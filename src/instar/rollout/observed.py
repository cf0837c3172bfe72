"""What was seen of one CRD and its objects, before anything is concluded from it."""

from __future__ import annotations

import dataclasses

from instar.model import crd as crd_model

__all__ = ["Observed", "Reading", "Unreadable"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Unreadable:
    """An object that a GET at one served version does not give, and the API server's reason."""

    version: str
    namespace: str
    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """Every object read by name at every served version; ``incomplete`` says why not every one was found."""

    objects: int
    versions: tuple[str, ...]
    unreadable: tuple[Unreadable, ...]
    incomplete: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Observed:
    """A CRD, how many objects it has (None: not known), and the reading if there was one.

    ``unlisted`` says at which versions the API server could not list them, and why; ``forbidden`` that the account may
    not.
    """

    crd: crd_model.Crd
    objects: int | None
    unlisted: tuple[tuple[str, str], ...] = ()
    forbidden: bool = False
    reading: Reading | None = None

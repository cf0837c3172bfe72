"""The laws as tests of pytest: one callable for each, that fails with what ``instar prove`` would print.

    @pytest.mark.parametrize("law", testing.laws("conversion.yaml", "crd.yaml", golden="golden"))
    def test_conversion(law):
        law()

The run is made once, when the first of them is called. Nothing here needs pytest.
"""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import instar.conversion as conversion_module
from instar import loading
from instar.model import crd as crd_model
from instar.testing import allowing, files, gathering, intent, lawbook, proving, snapshot, wording

__all__ = ["Check", "laws"]

_LATER = (allowing, intent, snapshot)


class Check:
    """One law of one conversion; called, it raises AssertionError with the smallest objects that break it."""

    def __init__(self, name: str, title: str, report: Callable[[], proving.Report]) -> None:
        self.law = name
        self.__name__ = f"{name}_{re.sub('[^a-z0-9]+', '_', title.lower())}"
        self._report = report

    def __repr__(self) -> str:
        return self.__name__

    def __call__(self) -> None:
        verdict = next(verdict for verdict in self._report().verdicts if verdict.name == self.law)
        if verdict.findings:
            raise AssertionError(
                "\n".join(line for found in verdict.findings for line in wording.finding(verdict, found))
            )


def laws(
    conversion: conversion_module.Conversion | str | Path,
    crd: crd_model.Crd | Mapping[str, Any] | str | Path,
    *,
    corpus: str | Path | Sequence[str | Path] = (),
    golden: str | Path | None = None,
    carried: str | Path | None = None,
    losses: Sequence[allowing.Allowance] = (),
    examples: int = 500,
    seed: int = 0,
) -> list[Check]:
    """A check for each law, to parametrise a test with; paths are files and folders as ``instar.yaml`` names them.

    A conversion is named as there too: ``conversion.yaml``, ``conversion.py``, ``package.module:name``.
    Without ``golden`` and ``carried`` there are no checks of L14 and L15. Raises DefinitionError and UsageError.
    """
    if not isinstance(conversion, conversion_module.Conversion):
        conversion = loading.conversion(conversion)
    bound = conversion_module.bind(conversion, _crd(crd))
    paths = [corpus] if isinstance(corpus, (str, Path)) else list(corpus)
    settings = proving.Settings(
        sources=gathering.Sources(real=files.corpus(paths, conversion), examples=examples, seed=seed),
        golden=files.goldens(golden, conversion) if golden else (),
        snapshot=files.read_snapshot(carried) if carried else None,
        allowances=tuple(losses),
        today=datetime.datetime.now(datetime.UTC).date(),
    )
    report = functools.cache(lambda: proving.prove(bound, settings))
    asked = {intent.NAME: golden, snapshot.NAME: carried}
    named = [(law.name, law.title) for law in lawbook.LAWS]
    named += [(law.NAME, law.TITLE) for law in _LATER if asked.get(law.NAME, True)]
    return [Check(name, title, report) for name, title in named]


def _crd(crd: crd_model.Crd | Mapping[str, Any] | str | Path) -> crd_model.Crd:
    if isinstance(crd, crd_model.Crd):
        return crd
    return crd_model.parse(crd) if isinstance(crd, Mapping) else files.crd(crd)

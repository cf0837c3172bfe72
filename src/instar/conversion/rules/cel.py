"""``cel``: a pair of expressions, in the language that CRDs have their validation rules in.

An expression sees the value as ``self``, typed by the schema; of named paths it sees each by its name, null where it is
absent, and gives a map of the names at the other side. Null makes nothing. Strings have the extensions that Kubernetes
has (``split``, ``replace``, ...). The library is Google's own evaluator and an optional extra, ``instar[cel]``; it is
imported only where a conversion has such a rule.
Source: https://kubernetes.io/docs/reference/using-api/cel/
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from instar import errors
from instar.conversion.rules import model, python, shapes

__all__ = ["Cel"]

_TYPES = {"string": "STRING", "integer": "INT", "number": "DOUBLE", "boolean": "BOOL"}
_GIVES = {"string": {"STRING"}, "integer": {"INT"}, "number": {"INT", "DOUBLE"}, "boolean": {"BOOL"}}
_PLAIN = (str, bool, int, float, type(None))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Cel(model.Rule):
    """Two expressions: ``self == 'small' ? 1 : 5``, and ``self < 5 ? 'small' : 'large'`` back."""

    kind: ClassVar[str] = "cel"
    many: ClassVar[bool] = True
    spoke: str | Mapping[str, str]
    hub: str | Mapping[str, str]
    to_hub: str
    from_hub: str

    def pair(self, ground: model.Ground) -> model.Functions | None:
        """Both expressions, checked against the types of the two schemas."""
        try:
            library = importlib.import_module("cel_expr_python.cel")
            strings = importlib.import_module("cel_expr_python.ext.ext_strings")
        except ImportError:
            ground.complain("rules of kind cel need the library: pip install 'instar[cel]'")
            return None
        maker = _Maker(library, strings.ExtStrings(), ground)
        to_hub = maker.function("toHub", self.to_hub, ground.spoke, ground.hub)
        from_hub = maker.function("fromHub", self.from_hub, ground.hub, ground.spoke)
        return model.Functions(to_hub, from_hub) if to_hub and from_hub else None


@dataclasses.dataclass(frozen=True, slots=True)
class _Maker:
    library: Any
    strings: Any
    ground: model.Ground

    def function(
        self, name: str, text: str, sources: Sequence[model.End], targets: Sequence[model.End]
    ) -> model.Function | None:
        """The function of one expression; None where it cannot be one, which is said."""
        single = len(sources) == 1 and not sources[0].name
        names = {"self": self._type(sources[0])} if single else {end.name: self.library.Type.DYN for end in sources}
        try:
            compiled = self.library.NewEnv(variables=names, extensions=[self.strings]).compile(text)
        except Exception as error:
            self.ground.complain(f"{name}: {text!r}: {_first_line(error)}")
            return None
        self._check(name, text, compiled.return_type().name(), targets)
        floats = single and shapes.of(sources[0].node) == "number"
        run = _evaluated(compiled, tuple(names), single, floats, sources[0].path)
        return python.named(run, sources, targets)

    def _type(self, end: model.End) -> Any:
        return getattr(self.library.Type, _TYPES.get(shapes.of(end.node), "DYN"))

    def _check(self, name: str, text: str, given: str, targets: Sequence[model.End]) -> None:
        """That the expression gives what may stand at the target, as far as its type says."""
        if given in ("DYN", "NULL"):
            return
        if len(targets) != 1 or targets[0].name:
            if not given.startswith("MAP"):
                self.ground.complain(f"{name}: {text!r} gives {given}, not a map of the names at the other side")
            return
        shape = shapes.of(targets[0].node)
        if shape in _GIVES and given not in _GIVES[shape]:
            self.ground.complain(f"{name}: {text!r} gives {given}, and {targets[0].path} is {shapes.article(shape)}")


def _evaluated(compiled: Any, names: Sequence[str], single: bool, floats: bool, where: str) -> model.Function:
    def evaluate(given: Any) -> Any:
        if floats and type(given) is int:
            data: Mapping[str, Any] = {"self": float(given)}
        else:
            data = {"self": given} if single else {name: given.get(name) for name in names}
        found = compiled.eval(data=data)
        value = found.plain_value()
        if found.type().name() == "ERROR":
            raise errors.Unconvertible(where, given, f"{value}")
        if not _is_json(value):
            raise errors.Unconvertible(where, given, f"became {value!r:.80}, which JSON cannot say")
        return value

    return evaluate


def _is_json(value: Any) -> bool:
    if type(value) is list:
        return all(map(_is_json, value))
    if type(value) is dict:
        return all(type(name) is str and _is_json(item) for name, item in value.items())
    return type(value) in _PLAIN


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].removeprefix("INVALID_ARGUMENT: ").removeprefix("ERROR: ") if lines else type(error).__name__

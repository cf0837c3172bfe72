"""Mutants of a converter written in Python: its source with one thing changed, as somebody would get it wrong.

=======================  ===============================================================================================
what is changed          how
=======================  ===============================================================================================
a text                   one letter more
a number, a truth        one more; the other truth
two names of fields      the one in the place of the other, within one function
a comparison, and/or     the edge belongs to the other side; the other word; ``not`` left out
a statement              left out, with all that is in it
an entry of a table      left out
=======================  ===============================================================================================

Words of errors are let be (nothing but their text would change), and so are docstrings, annotations and the statement
that makes the Conversion itself: it is checked when it is bound. The tree is changed in place and changed back.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from types import CodeType
from typing import Any

__all__ = ["Mutant", "mutants"]

_PAIRS: tuple[tuple[type[ast.AST], type[ast.AST]], ...] = (
    *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot)),
    *((ast.Add, ast.Sub), (ast.Mult, ast.FloorDiv), (ast.And, ast.Or)),
)
_OTHER: dict[type[ast.AST], type[ast.AST]] = {
    **dict(_PAIRS),
    **{other: one for one, other in _PAIRS},
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
}
_BUILDERS = ("Conversion", "Spoke")
Swap = Callable[[], Any]
_Change = tuple[ast.AST, Swap, Swap]
"""The node that shows the change, how it is made, and how it is taken back."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Mutant:
    """One changed program. ``name`` is how the project file names it: no line numbers, for they move."""

    name: str
    file: str
    line: int
    code: CodeType


def mutants(source: str, file: str, fields: Collection[str]) -> Iterator[Mutant]:
    """Every mutant of a module; ``fields`` are the names that the schemas know."""
    tree = ast.parse(source, file)
    names: Counter[str] = Counter()
    for scope, nodes in _scopes(tree):
        for shown, make, unmake in _changes(nodes, fields):
            before = _text(shown)
            make()
            with contextlib.suppress(SyntaxError, ValueError):  # what is no Python is no mutant
                name = f"{scope}: {before} -> {_text(shown)}"
                names[name] += 1
                name += f" #{names[name]}" if names[name] > 1 else ""
                line = getattr(shown, "lineno", 1)
                yield Mutant(
                    name=name, file=file, line=line, code=compile(ast.fix_missing_locations(tree), file, "exec")
                )
            unmake()


def _scopes(tree: ast.Module) -> Iterator[tuple[str, list[ast.AST]]]:
    """Each function with its statements, and each table of the module."""
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            for function in ast.walk(statement):
                if isinstance(function, ast.FunctionDef):
                    yield function.name, [function]
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)) and not _builds(statement):
            yield _targets(statement), [statement]


def _targets(statement: ast.Assign | ast.AnnAssign) -> str:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return ", ".join(ast.unparse(target) for target in targets)


def _builds(statement: ast.stmt) -> bool:
    calls = (node.func for node in ast.walk(statement) if isinstance(node, ast.Call))
    return any(getattr(function, "id", getattr(function, "attr", "")) in _BUILDERS for function in calls)


def _changes(scope: Sequence[ast.AST], fields: Collection[str]) -> Iterator[_Change]:
    (root,) = scope
    found = list(_nodes(root, root))
    for shown, node in found:
        yield from _of_node(shown, node)
    for shown, node in found:
        if isinstance(node, ast.Dict) and len(node.keys) > 1:
            yield from _entries(shown, node)
    if isinstance(root, ast.FunctionDef):
        yield from _statements(root)
    yield from _swaps(root, found, fields)


def _nodes(node: ast.AST, shown: ast.AST) -> Iterator[tuple[ast.AST, Any]]:
    """Each node that may be changed, with the statement or the condition that shows it."""
    if isinstance(node, ast.Raise):
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or (isinstance(child, ast.Expr) and _is_text(child.value)):
                continue
            if isinstance(child, ast.FunctionDef):
                continue  # a scope of its own
            below = child if isinstance(child, ast.stmt) or name in ("test", "iter") else shown
            yield below, child
            yield from _nodes(child, below)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _of_node(shown: ast.AST, node: Any) -> Iterator[_Change]:
    if isinstance(node, ast.Constant):
        changed = _constant(node.value)
        if changed is not None:
            yield _set(shown, node, "value", changed)
    elif isinstance(node, ast.Compare):
        for index, operator in enumerate(node.ops):
            if type(operator) in _OTHER:
                yield _set(shown, node, "ops", [*node.ops[:index], _OTHER[type(operator)](), *node.ops[index + 1 :]])
    elif isinstance(node, (ast.BoolOp, ast.BinOp, ast.AugAssign)) and type(node.op) in _OTHER:
        yield _set(shown, node, "op", _OTHER[type(node.op)]())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield _set(shown, node, "operand", ast.UnaryOp(op=ast.Not(), operand=node.operand))


def _constant(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return value + "x" if isinstance(value, str) else None


def _set(shown: ast.AST, node: Any, name: str, new: Any) -> _Change:
    old = getattr(node, name)
    return shown, lambda: setattr(node, name, new), lambda: setattr(node, name, old)


def _entries(shown: ast.AST, table: ast.Dict) -> Iterator[_Change]:
    for index in range(len(table.keys)):
        keys, values = list(table.keys), list(table.values)
        fewer = keys[:index] + keys[index + 1 :], values[:index] + values[index + 1 :]

        def make(fewer: tuple[Any, Any] = fewer) -> None:
            table.keys, table.values = fewer

        def unmake(keys: Any = keys, values: Any = values) -> None:
            table.keys, table.values = keys, values

        yield shown, make, unmake


def _statements(function: ast.FunctionDef) -> Iterator[_Change]:
    for holder in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(holder, name, None)
            if not isinstance(block, list) or (holder is not function and isinstance(holder, ast.FunctionDef)):
                continue
            for index, statement in enumerate(block):
                if not isinstance(statement, (ast.Pass, ast.FunctionDef)) and not _is_docstring(statement):
                    yield _without(block, index, statement)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and _is_text(statement.value)


def _without(block: list[ast.stmt], index: int, statement: ast.stmt) -> _Change:
    gone = ast.Pass(lineno=statement.lineno, col_offset=statement.col_offset)
    shown = _Left(statement, lambda: block[index] is gone)
    return shown, lambda: block.__setitem__(index, gone), lambda: block.__setitem__(index, statement)


class _Left(ast.Pass):
    """What shows a statement that may have been left out."""

    _fields = ()

    def __init__(self, statement: ast.stmt, gone: Callable[[], bool]) -> None:
        self.lineno = statement.lineno
        self.col_offset = statement.col_offset
        self.statement = statement
        self.gone = gone


def _swaps(root: ast.AST, found: Sequence[tuple[ast.AST, Any]], fields: Collection[str]) -> Iterator[_Change]:
    """Two names of fields, or two texts of a table, each in the place of the other."""
    texts = [node for _, node in found if _is_text(node)]
    if isinstance(root, ast.FunctionDef):
        texts = [node for node in texts if node.value in fields]
    for one, other in itertools.combinations(texts, 2):
        if one.value == other.value:
            continue

        def swap(one: Any = one, other: Any = other) -> None:
            one.value, other.value = other.value, one.value

        yield _Swapped(one, other), swap, swap


class _Swapped(ast.Pass):
    """What shows two texts."""

    _fields = ()

    def __init__(self, one: ast.Constant, other: ast.Constant) -> None:
        self.lineno = one.lineno
        self.col_offset = one.col_offset
        self.texts = (one, other)


def _text(shown: ast.AST) -> str:
    """One line that shows a place as it is now."""
    if isinstance(shown, _Left):
        return "nothing" if shown.gone() else _first_line(shown.statement)
    if isinstance(shown, _Swapped):
        return ", ".join(repr(text.value) for text in shown.texts)
    return _first_line(shown)


def _first_line(node: ast.AST) -> str:
    text = ast.unparse(node).strip()
    first, _, rest = text.partition("\n")
    return f"{first} ..." if rest else first

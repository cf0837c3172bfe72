"""The guard as documents for ``kubectl apply``: policies and their bindings.

One policy mutates (where the cluster can) and one validates; both look at every version as it was requested, so they
convert nothing and go on when the conversion webhook is down. Status and scale are written through subresources, whose
writes cannot change annotations: they are not looked at.

Source: https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
"""

from __future__ import annotations

from typing import Any

from instar.rollout.guard import expressions
from instar.rollout.guard.plan import Guard

__all__ = ["documents"]

API_VERSION = "admissionregistration.k8s.io/v1"
Document = dict[str, Any]


def documents(guard: Guard) -> tuple[Document, ...]:
    """The policies, each followed by its binding."""
    return (*(_mutating(guard) if guard.mutating else ()), *_validating(guard))


def _mutating(guard: Guard) -> tuple[Document, ...]:
    mutation = {"patchType": "JSONPatch", "jsonPatch": {"expression": expressions.operations()}}
    spec = {**_matching(guard, "restored", "removed"), "reinvocationPolicy": "Never", "mutations": [mutation]}
    return (
        _document(guard, "MutatingAdmissionPolicy", spec),
        _document(guard, "MutatingAdmissionPolicyBinding", {"policyName": guard.name}),
    )


def _validating(guard: Guard) -> tuple[Document, ...]:
    rules, named = [expressions.nothing_altered(guard)], ["altered"]
    if not guard.mutating:
        rules.append(expressions.nothing_lost(guard))
        named.append("back")
    validations = [{"expression": rule, "messageExpression": message, "reason": "Forbidden"} for rule, message in rules]
    return (
        _document(guard, "ValidatingAdmissionPolicy", {**_matching(guard, *named), "validations": validations}),
        _document(
            guard,
            "ValidatingAdmissionPolicyBinding",
            {"policyName": guard.name, "validationActions": ["Deny"]},
        ),
    )


def _matching(guard: Guard, *names: str) -> Document:
    rule = {
        "apiGroups": [guard.group],
        "apiVersions": ["*"],
        "operations": ["CREATE", "UPDATE"],
        "resources": [guard.plural],
    }
    conditions = [{"name": "changes-what-is-carried", "expression": expressions.changes_ours(guard)}]
    if guard.exempt:
        conditions.insert(0, {"name": "is-not-exempt", "expression": expressions.is_not_exempt(guard)})
    named = expressions.variables(guard, *names)
    return {
        "failurePolicy": "Fail",
        "matchConstraints": {"matchPolicy": "Exact", "resourceRules": [rule]},
        "matchConditions": conditions,
        "variables": [{"name": name, "expression": expression} for name, expression in named.items()],
    }


def _document(guard: Guard, kind: str, spec: Document) -> Document:
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {"name": guard.name, "labels": {"app.kubernetes.io/managed-by": "instar"}},
        "spec": spec,
    }

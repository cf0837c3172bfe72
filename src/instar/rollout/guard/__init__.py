"""Admission policies that keep carried annotations what conversion made of them.

``plan`` says for which kind and which Kubernetes; ``documents`` is what ``kubectl apply`` takes.
"""

from instar.rollout.guard.plan import NEWEST, Guard, plan
from instar.rollout.guard.policies import documents

__all__ = ["NEWEST", "Guard", "documents", "plan"]

"""The main job on one machine: a real control plane, real objects, clients that go on writing, and the proof.

What was written is kept by a model of its own (``ledger``, ``tenant``) that shares nothing with the conversion
framework, so that the comparison at the end can disagree with it.
"""

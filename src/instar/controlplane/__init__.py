"""A disposable control plane: a real etcd and real kube-apiservers on loopback, built and started by this project.

What a version change does to stored bytes only shows on the real programs, so nothing here is a fake. ``plane`` starts
them, ``supervisor`` owns them so that none outlives its parent, ``runs`` knows which are alive, ``build`` makes the
binaries from pinned Go modules.
"""

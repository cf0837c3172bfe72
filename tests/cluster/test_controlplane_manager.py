"""kube-controller-manager beside the API server: for what only a controller does."""

import subprocess

import pytest

pytestmark = pytest.mark.cluster


def test_controllers_run(make_control_plane):
    """With the controller manager a namespace that is deleted goes by itself."""
    started = make_control_plane(with_controller_manager=True)
    kubectl = [str(started.kubectl), "--kubeconfig", str(started.kubeconfig)]
    for words in (["create", "namespace", "short"], ["delete", "namespace", "short", "--timeout=30s"]):
        ran = subprocess.run([*kubectl, *words], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr

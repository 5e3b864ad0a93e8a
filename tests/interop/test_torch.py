"""A torch module as a base model of FIRES, and what happens without torch."""

from __future__ import annotations

import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamsift.core.exceptions import InputError
from streamsift.rows.fires import ANN, FIRES

ROOT = Path(__file__).resolve().parents[2]

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")


def net(n_features: int, hidden: int, n_classes: int) -> Any:
    """The net of ANN with two hidden layers, as a module."""
    import torch

    class Net(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = torch.nn.Linear(n_features, hidden), torch.nn.Linear(hidden, hidden)
            self.c = torch.nn.Linear(hidden, n_classes)

        def forward(self, x: Any) -> Any:
            x = torch.relu(self.a(x)) * hidden**-0.5
            return self.c(torch.relu(self.b(x)) * hidden**-0.5)

    torch.manual_seed(0)
    return Net().double()


def as_ann(named: dict[str, Any]) -> Any:
    blocks = [np.concatenate([named[f"{k}.weight"].T, named[f"{k}.bias"][None]]).ravel() for k in "abc"]
    return np.concatenate(blocks)


@needs_torch
def test_gradients_equal_those_of_our_own_net() -> None:
    from streamsift.interop.torch import TorchModel

    model = TorchModel(net(5, 7, 3), aggregate=lambda named: named["a.weight"].mean(axis=0)).bind(5, 3, 4)
    random = np.random.default_rng(0)
    X, y, weight = random.random((9, 5)), np.arange(9) % 3, random.random(9)
    mu = model.start(random)
    theirs, _ = model.gradients(mu, np.zeros_like(mu), X, y, random, sample_weight=weight)
    ours = as_ann(model._named(mu))
    wanted, _ = ANN(2, 7).bind(5, 3, 4).gradients(ours, np.zeros_like(ours), X, y, random, sample_weight=weight)
    np.testing.assert_allclose(as_ann(model._named(theirs)), wanted, atol=1e-14)
    np.testing.assert_allclose(model.aggregate(mu, mu)[0], model._named(mu)["a.weight"].mean(axis=0))


@needs_torch
def test_gates_find_the_feature_that_matters() -> None:
    import torch

    from streamsift.interop.torch import TorchModel

    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    before = [value.clone() for value in module.parameters()]

    def learnt() -> FIRES:
        settings: dict[str, Any] = {"initial_sigma": 0.1, "learning_rate_mu": 0.1, "random_state": 0}
        selector = FIRES(model=TorchModel(module), n_features_to_select=1, **settings)
        random = np.random.default_rng(0)
        for _ in range(30):
            y = random.integers(0, 3, 50)
            X = random.normal(size=(50, 5))
            X[:, 2] += 2 * y
            selector.partial_fit(X, y)
        return selector

    selector = learnt()
    assert selector.get_support(indices=True).tolist() == [2]
    assert selector.scores_.tolist() == learnt().scores_.tolist()
    assert all(torch.equal(a, b) for a, b in zip(before, module.parameters(), strict=True))
    twin = FIRES(**selector.get_params()).load_state_arrays(selector.state_arrays())
    X, y = np.random.default_rng(1).normal(size=(20, 5)), np.arange(20) % 3
    assert twin.partial_fit(X, y).scores_.tolist() == selector.partial_fit(X, y).scores_.tolist()


@needs_torch
def test_images_and_float32() -> None:
    import torch

    from streamsift.interop.torch import TorchModel

    module = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8, 2))
    X = np.random.default_rng(0).random((10, 16)).astype(np.float32)
    selector = FIRES(model=TorchModel(module, input_shape=(1, 4, 4)), random_state=0)
    assert np.isfinite(selector.partial_fit(X, np.arange(10) % 2).scores_).all()


@needs_torch
def test_wrong_shapes_are_refused_in_words() -> None:
    import torch

    from streamsift.interop.torch import TorchModel

    X = np.random.default_rng(0).random((10, 4))
    with pytest.raises(InputError, match="one output per class"):
        FIRES(model=TorchModel(torch.nn.Linear(4, 2)), random_state=0).partial_fit(X, np.arange(10) % 3)
    wrong = TorchModel(torch.nn.Linear(4, 2), aggregate=lambda named: named["bias"])
    with pytest.raises(InputError, match="one number for each of the 4 features"):
        FIRES(model=wrong, random_state=0).partial_fit(X, np.arange(10) % 2).scores_


def test_without_torch_everything_else_works() -> None:
    program = """
import sys
class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, NoTorch())
import numpy as np
from streamsift.rows.fires import FIRES
from streamsift.interop.torch import TorchModel
from streamsift.core.exceptions import MissingExtraError
X, y = np.random.default_rng(0).random((10, 4)), np.arange(10) % 2
for model in ("glm", "ann", "sdt"):
    FIRES(model=model).partial_fit(X, y).scores_
class Module:
    def named_parameters(self): return []
try:
    TorchModel(Module())
except MissingExtraError as error:
    assert "streamsift[torch]" in str(error)
else:
    raise AssertionError("no error")
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@needs_torch
def test_the_example_with_images(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    y = random.choice([3, 8, 9], 300)
    X = random.random((300, 28, 28)).astype(np.float32)
    X[y == 3, 10:18, 10:18] += 2.0
    np.savez(tmp_path / "digits.npz", X=X.reshape(300, 784), y=y)
    example = runpy.run_path(str(ROOT / "docs" / "examples" / "fires_cnn_mnist.py"))
    shown = example["show"](example["main"](str(tmp_path / "digits.npz")))
    assert [len(line) for line in shown.splitlines()] == [28] * 28
    assert shown.count("#") == 115
    without = subprocess.run(
        [sys.executable, ROOT / "docs" / "examples" / "fires_cnn_mnist.py"], capture_output=True, text=True, check=False
    )
    assert without.returncode == 1
    assert without.stderr.startswith("Give the file with the digits")

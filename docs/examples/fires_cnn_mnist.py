"""Select pixels of handwritten digits with FIRES and a small convolutional net.

    python docs/examples/fires_cnn_mnist.py PATH/TO/mnist.npz

The file holds X (n, 784) and y (n,). The task is 3 against 8 and 9; what is printed is a map of the 115 best pixels.
Needs `pip install 'streamsift[torch]'`.
"""

from __future__ import annotations

import sys

import numpy as np
import torch

from streamsift.interop.torch import TorchModel
from streamsift.rows.fires import FIRES


def net() -> torch.nn.Module:
    """Two convolutions and a linear layer, for images of 28 x 28."""
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 5, stride=2),
        torch.nn.ReLU(),
        torch.nn.Conv2d(8, 16, 5, stride=2),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(16 * 4 * 4, 2),
    )


def main(path: str, n_rows: int = 3000) -> FIRES:
    data = np.load(path)
    chosen = np.flatnonzero(np.isin(data["y"].astype(int), (3, 8, 9)))[:n_rows]
    X, y = data["X"][chosen].astype(np.float32), data["y"][chosen].astype(int) == 3
    selector = FIRES(
        model=TorchModel(net(), input_shape=(1, 28, 28)),
        n_features_to_select=115,
        scale="minmax",
        initial_sigma=0.05,
        learning_rate_mu=0.1,
        random_state=0,
    )
    for start in range(0, len(X), 100):
        selector.partial_fit(X[start : start + 100], y[start : start + 100])
    return selector


def show(selector: FIRES) -> str:
    """The selected pixels as 28 lines of text."""
    rows = selector.get_support().reshape(28, 28)
    return "\n".join("".join("#" if pixel else "." for pixel in row) for row in rows)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Give the file with the digits: python docs/examples/fires_cnn_mnist.py PATH/TO/mnist.npz")
    sys.stdout.write(show(main(sys.argv[1])) + "\n")

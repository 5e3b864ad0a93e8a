"""What the neural net and the tree share: parameters drawn for all Monte-Carlo samples, and the marginal likelihood.

P(y|x) is the mean over L samples of f_l(x)_y (2.1.2), so its log has the gradient

    sum_l share_l  grad log f_l(x)_y,      share_l = f_l(x)_y / sum of f_k(x)_y over all samples k,

and log f is a log-softmax. Shares and softmax are computed from logs, so nothing underflows. Where y is a number, the
model has one output o_l(x), f_l(x) is the density of y about it with normal noise of variance 1, and
grad log f_l = (y - o_l(x)) grad o_l(x).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.fires_networks import number_gradient, output_gradient
from streamsift.kernels.fires_normals import perturb, redraw, row_size
from streamsift.rows.fires.scratch import ScratchArrays

Floats = NDArray[Any]
Net = TypeVar("Net")

SMALL = 1e-5  # deviation of the initial mu: breaks the symmetry between nodes, and is soon small beside what is learnt


def bound_to(model: Net, n_features: int, n_classes: int, n_samples: int) -> Net:
    """A net or tree for a number of features, classes and samples."""
    sizes = {"n_features": n_features, "n_classes": n_classes, "n_samples": n_samples}
    return cast(Net, replace(cast(Any, model), **sizes, scratch=ScratchArrays()))


def small_start(model: Any, rng: np.random.Generator) -> Floats:
    """Small random numbers, because equal nodes would stay equal."""
    n_parameters: int = model.n_parameters(model.n_features, model.n_classes)
    return rng.normal(0.0, SMALL, n_parameters)


def draw(
    scratch: ScratchArrays,
    name: str,
    key: int,
    first: int,
    mu: Floats,
    sigma: Floats,
    n_samples: int,
    dtype: Any,
    room: int | None = None,
) -> tuple[Floats, Floats]:
    """Parameters (inputs, samples, outputs) of one layer, and their noise, from number `first` of stream `key` on.

    They lie in `scratch` until the layer of this name is drawn again; `room` is for how many inputs there is space.
    """
    theta, noise = space(scratch, name, room or len(mu), n_samples, mu.shape[1], dtype)
    perturb(np.uint64(key), np.uint64(first), mu, sigma, noise[: len(mu)], theta[: len(mu)])
    return theta[: len(mu)], noise[: len(mu)]


def space(
    scratch: ScratchArrays, name: str, inputs: int, n_samples: int, outputs: int, dtype: Any
) -> tuple[Floats, Floats]:
    """Where parameters and noise of a layer lie."""
    theta = scratch.take(f"{name}, parameters", (inputs, n_samples, outputs), dtype)
    return theta, scratch.take(f"{name}, noise", (inputs, row_size(n_samples, outputs)), np.float32)


def draw_again(key: int, first: int, noise: Floats) -> None:
    """The noise that `draw` gave the inputs from number `first` on."""
    redraw(np.uint64(key), np.uint64(first), noise)


def row_weights(y: NDArray[Any], sample_weight: Floats | None, dtype: np.dtype[Any]) -> Floats:
    """Weights that sum to one."""
    if sample_weight is None:
        return np.full(len(y), 1.0 / len(y), dtype)
    weights: Floats = sample_weight / sample_weight.sum()
    return weights.astype(dtype)


def gradient_by_outputs(outputs: Floats, y: NDArray[Any], weight: Floats) -> Floats:
    """Gradient of the weighted mean log marginal likelihood by outputs of shape (samples, rows, outputs).

    They are logits where y holds the numbers of classes, and a single one is a mean where y holds floats.
    """
    gradient = np.empty_like(outputs)
    by = number_gradient if y.dtype.kind == "f" else output_gradient
    by(outputs, y, weight, 1e8 * float(np.finfo(outputs.dtype).tiny), gradient)
    return gradient

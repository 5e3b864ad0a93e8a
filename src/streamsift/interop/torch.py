"""Any torch module as a base model of FIRES (the extra `streamsift[torch]`).

The parameters of the module are sampled with the reparameterisation trick (2.1.2), and all samples are evaluated at
once with `torch.func.functional_call` under `torch.vmap`. The module gives one logit per class.

FIRES needs one parameter per feature. In a module like a convolutional net no weight belongs to a single input, so a
gate is put in front: feature j enters as gate_j * x_j, and mu and sigma of the gate are its importance and uncertainty.
Where the weights do belong to features, `aggregate` says how, and there is no gate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamsift.core.exceptions import InputError, MissingExtraError
from streamsift.rows.fires.model import Model, ModelTraits

Floats = NDArray[np.float64]
Aggregate = Callable[[Mapping[str, Floats]], Any]


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("TorchModel", "torch", "torch") from error
    return torch


class TorchModel:
    """A torch module as a model of FIRES.

    Parameters
    ----------
    module : torch.nn.Module
        Takes rows of shape (n_rows, *input_shape) and returns one logit per class; it must have as many outputs as
        there will be classes. Only parameters are learnt; they start at the module's own values plus `initial_mu` of
        FIRES. The module itself is not changed. Random layers such as dropout, and layers that keep running statistics,
        must be in evaluation mode.
    input_shape : tuple of int, optional
        Shape of one row for the module, such as (1, 28, 28); default: the features in one dimension.
    aggregate : callable, optional
        Takes a mapping of parameter names to arrays (once the means, once the deviations) and returns one number per
        feature. Without it, gates are learnt; they start at FIRES's `initial_mu` and `initial_sigma`.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> from streamsift import FIRES  # doctest: +SKIP
    >>> from streamsift.interop.torch import TorchModel  # doctest: +SKIP
    >>> net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))  # doctest: +SKIP
    >>> selector = FIRES(model=TorchModel(net), random_state=0)  # doctest: +SKIP
    """

    traits: ClassVar[ModelTraits] = ModelTraits()

    def __init__(
        self, module: Any, *, input_shape: Sequence[int] | None = None, aggregate: Aggregate | None = None
    ) -> None:
        _torch()  # an error now is better than one at the first batch
        self.module = module
        self.input_shape = None if input_shape is None else tuple(input_shape)
        self.aggregate_by = aggregate
        self._shapes = {name: tuple(value.shape) for name, value in module.named_parameters()}
        self._sizes = [int(np.prod(shape)) for shape in self._shapes.values()]
        self._buffers = dict(module.named_buffers())
        self._dtype = next(iter(module.parameters())).dtype
        self.n_samples = 5
        self.n_features = 0

    def bind(self, n_features: int, n_classes: int, n_samples: int) -> Model:
        """This model for a number of features and samples; the module fixes the number of classes."""
        bound = TorchModel(self.module, input_shape=self.input_shape, aggregate=self.aggregate_by)
        bound.n_features, bound.n_samples = n_features, n_samples
        return bound

    def n_parameters(self, n_features: int, n_classes: int) -> int:
        """The module's parameters, and one gate per feature unless `aggregate` is given."""
        return self._n_gates(n_features) + sum(self._sizes)

    def start(self, rng: np.random.Generator) -> Floats:
        """The module's own values; gates start at the initial mu."""
        torch = _torch()
        values = torch.nn.utils.parameters_to_vector(self.module.parameters()).detach().cpu().numpy()
        return np.concatenate([np.zeros(self._n_gates(self.n_features)), values.astype(np.float64)])

    def gradients(
        self,
        mu: Floats,
        sigma: Floats,
        X: NDArray[Any],
        y: NDArray[np.int64],
        rng: np.random.Generator,
        sample_weight: Floats | None = None,
    ) -> tuple[Floats, Floats]:
        """Gradients of the log marginal likelihood, estimated with n_samples draws."""
        torch = _torch()
        mean = torch.tensor(mu, dtype=self._dtype, requires_grad=True)
        deviation = torch.tensor(sigma, dtype=self._dtype, requires_grad=True)
        noise = torch.tensor(rng.standard_normal((self.n_samples, len(mu))), dtype=self._dtype)
        rows, labels = torch.tensor(X, dtype=self._dtype), torch.tensor(y)
        logits = torch.vmap(lambda theta: self._logits(theta, rows))(mean + deviation * noise)
        if logits.ndim != 3 or logits.shape[2] <= int(y.max()):
            raise InputError(
                f"The module returns logits of shape {tuple(logits.shape[1:])} for {len(y)} rows and at least "
                f"{int(y.max()) + 1} classes: give it one output per class."
            )
        of_label = torch.log_softmax(logits, dim=2)[:, torch.arange(len(y)), labels]
        log_marginal = torch.logsumexp(of_label, dim=0)  # log of the mean over samples, up to a constant
        weight = np.full(len(y), 1.0 / len(y)) if sample_weight is None else sample_weight / sample_weight.sum()
        objective = (log_marginal * torch.tensor(weight, dtype=self._dtype)).sum()
        of_mean, of_deviation = torch.autograd.grad(objective, (mean, deviation))
        return of_mean.numpy().astype(np.float64), of_deviation.numpy().astype(np.float64)

    def aggregate(self, mu: Floats, sigma: Floats) -> tuple[Floats, Floats]:
        """The gates, or what the function `aggregate` makes of the parameters."""
        if self.aggregate_by is None:
            return mu[: self.n_features], sigma[: self.n_features]
        importance, uncertainty = (np.asarray(self.aggregate_by(self._named(part))) for part in (mu, sigma))
        if importance.shape != (self.n_features,) or uncertainty.shape != (self.n_features,):
            raise InputError(
                f"`aggregate` returned an array of shape {importance.shape}: it must return one number for each of the "
                f"{self.n_features} features."
            )
        return importance, uncertainty

    def _n_gates(self, n_features: int) -> int:
        return n_features if self.aggregate_by is None else 0

    def _named(self, parameters: Any) -> dict[str, Any]:
        """The module's parameters by name, each in its shape."""
        named, end = {}, len(parameters) - sum(self._sizes)
        for (name, shape), size in zip(self._shapes.items(), self._sizes, strict=True):
            named[name] = parameters[end : end + size].reshape(shape)
            end += size
        return named

    def _logits(self, theta: Any, rows: Any) -> Any:
        if self.aggregate_by is None:
            rows = rows * theta[: rows.shape[1]]
        if self.input_shape is not None:
            rows = rows.reshape(len(rows), *self.input_shape)
        return _torch().func.functional_call(self.module, {**self._named(theta), **self._buffers}, (rows,))

"""LogisticFit: logistic regression (multinomial for more than two classes) on the accepted columns.

A candidate is first judged by the score test, which needs no fitting: with the current probabilities p, it compares the
slope of the log-likelihood along the candidate with its variance given the accepted columns. For a block of columns
that is one matrix product. A candidate that passes is fitted by Newton's method from the current coefficients, and the
likelihood ratio decides.

With K classes a column has K - 1 coefficients, the last class being the reference, and as many degrees of freedom. The
accepted columns are kept as an orthonormal basis, so that Newton's equations are well conditioned. Separable classes
have no finite best coefficients: the fit stops where the likelihood has nothing left to gain.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri, logsumexp

from streamsift.columns.linear_fit import (
    SMALLEST,
    WELL_POSED,
    ExaminedColumn,
    NObservations,
    Threshold,
    Weight,
    basis_problem,
    room_for,
)
from streamsift.core.column_data import Floats, Target
from streamsift.core.limits import LARGEST
from streamsift.core.state import Finite, Shape, Sizes, Within
from streamsift.kernels.columns import orthonormal, padded

MOST_STEPS, MOST_HALVINGS = 50, 30
SETTLED = 1e-10  # Newton stops with the step that promises less than this share of the likelihood
EXPLAINED = 1e-8  # a deviance below this share of the null deviance leaves nothing to explain
BLIND = 1e-12  # directions with less than this share of the information (separated classes) are left alone


@dataclass
class LogisticFit:
    """State: the basis (rows), one coefficient a basis vector and class but the last, and the log-likelihood."""

    codes: Annotated[NDArray[np.int64], Shape("n_rows"), Within(0, "n_classes - 1")]
    n_classes: Annotated[int, Within(1)]
    weight: Weight
    basis: Annotated[Floats, Shape("n_basis", "n_rows"), Finite(LARGEST)]
    coefficients: Annotated[Floats, Shape("n_logits", "n_basis"), Finite(1e100)]
    intercept: bool
    n_columns: Annotated[int, Within(0)]
    likelihood: Annotated[float, Within(None, 0.0), Finite()]
    null_likelihood: Annotated[float, Within(None, 0.0), Finite()]
    n_observations: NObservations
    room: Annotated[int, Within(0)]
    probes: Floats = field(init=False)
    square_weights: Floats | None = field(init=False)

    def problem(self, sizes: Sizes) -> str | None:
        if self.n_classes != sizes["n_classes"]:
            return f"n_classes is {self.n_classes}, but there are {sizes['n_classes']} labels"
        if len(self.basis) != self.n_columns + 1:
            return f"basis holds {len(self.basis)} vectors for {self.n_columns} columns"
        return basis_problem(self.basis, self.weight, self.n_observations)

    def __post_init__(self) -> None:
        self._slopes, information = self._derivatives()
        self._information = information
        n_logits, n_basis, n_rows = self.df, len(self.basis), len(self.codes)
        whitening = _inverse_root(_whole_information(self.basis, information))
        # Row (l, a): the covariance of a candidate's coefficient l with the a-th whitened coefficient of the fit.
        whitened = np.empty((n_logits, n_logits * n_basis, n_rows))
        for column in range(n_logits):
            mixed = (information[:, column, None, :] * self.basis[None]).reshape(n_logits * n_basis, n_rows)
            whitened[column] = whitening @ mixed
        self.probes = padded(np.vstack([self._slopes, whitened.reshape(-1, n_rows)]))
        pairs = [information[k, column] for k in range(n_logits) for column in range(k + 1)]
        self.square_weights = padded(np.stack(pairs))

    @property
    def df(self) -> int:
        return max(self.n_classes - 1, 1)

    @classmethod
    def begin(cls, target: Target, weight: Floats, intercept: bool) -> Self:
        assert target.labels is not None
        codes = target.values.astype(np.int64)
        n_rows, n_classes = len(codes), len(target.labels)
        counted = float(weight.sum()) if len(weight) else float(n_rows)
        # Without a constant one row of zeros stands in its place; it adds nothing.
        first = np.full((1, n_rows), 1.0 / np.sqrt(counted)) if intercept else np.zeros((1, n_rows))
        coefficients = np.zeros((max(n_classes - 1, 1), 1))
        fit = cls(codes, n_classes, weight, first, coefficients, intercept, 0, 0.0, 0.0, counted, room_for(counted))
        if n_classes < 2:
            return fit
        coefficients, likelihood = fit._maximise(first, coefficients)
        return replace(fit, coefficients=coefficients, likelihood=likelihood, null_likelihood=likelihood)

    @property
    def finished(self) -> bool:
        return self.n_classes < 2 or self.likelihood >= EXPLAINED * self.null_likelihood or self.room == 0

    def screen(self, products: Floats, squares: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        n_logits, width = self.df, products.shape[1]
        if self.finished:
            return np.zeros(width), np.zeros(width, bool)
        used = n_logits + n_logits * n_logits * len(self.basis)
        slopes, mixed = products[:n_logits], products[n_logits:used].reshape(n_logits, -1, width)
        if n_logits == 1:
            left = squares[0] - np.einsum("ij,ij->j", mixed[0], mixed[0])
            doubtful = ~((left > WELL_POSED * squares[0]) & (squares[0] > SMALLEST))
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                return slopes[0] ** 2 / left, doubtful
        return _quadratic_forms(slopes, squares, mixed)

    def examine(self, columns: Floats, threshold: Threshold) -> ExaminedColumn:
        if self.finished:
            return ExaminedColumn.useless()
        units = orthonormal(columns, self.basis, self.weight, centre=self.intercept)
        if len(units) == 0 or len(units) > self.room:
            return ExaminedColumn.useless()
        df = len(units) * self.df
        score = self._score(units)
        if score < threshold(df):
            return ExaminedColumn(score, df)
        basis = np.vstack([self.basis, units])
        start = np.hstack([self.coefficients, np.zeros((self.df, len(units)))])
        coefficients, likelihood = self._maximise(basis, start)
        gain = max(2.0 * (likelihood - self.likelihood), 0.0)
        return ExaminedColumn(gain, df, lambda: self._grown(basis, coefficients, likelihood))

    def _grown(self, basis: Floats, coefficients: Floats, likelihood: float) -> Self:
        n_new = len(basis) - len(self.basis)
        return replace(
            self,
            basis=basis,
            coefficients=coefficients,
            n_columns=self.n_columns + n_new,
            likelihood=likelihood,
            room=self.room - n_new,
        )

    def tail_threshold(self, probability: Any, df: int) -> Any:
        return chdtri(df, probability)

    def tail_probability(self, gain: Any, df: int) -> Any:
        return chdtrc(df, gain)

    # -- one candidate ------------------------------------------------------------------------------------------

    def _score(self, units: Floats) -> float:
        """The score statistic of a group of columns that are orthonormal to the basis."""
        n_logits, n_new = self.df, len(units)
        both = np.vstack([self.basis, units])
        whole = _whole_information(both, self._information)
        # Order of the unknowns: class by class, and within a class the basis before the newcomers.
        new = np.tile(np.arange(len(both)) >= len(self.basis), n_logits)
        given = _solved(whole[~new][:, ~new], whole[~new][:, new])
        variance = whole[new][:, new] - whole[new][:, ~new] @ given
        slope = (self._slopes @ units.T).reshape(n_logits * n_new)
        return max(float(slope @ _solved(variance, slope)), 0.0)

    # -- the fit ------------------------------------------------------------------------------------------------

    def _derivatives(self) -> tuple[Floats, Floats]:
        """Slopes w (1[y=k] - p_k) and information w (p_k 1[k=l] - p_k p_l) of each row; the last class is left out."""
        return _row_derivatives(self.codes, self.weight, self.coefficients @ self.basis)

    def _maximise(self, basis: Floats, coefficients: Floats) -> tuple[Floats, float]:
        """Newton's method with halved steps."""
        likelihood = _log_likelihood(self.codes, self.weight, coefficients @ basis)
        for _ in range(MOST_STEPS):
            slopes, information = _row_derivatives(self.codes, self.weight, coefficients @ basis)
            gradient = (slopes @ basis.T).reshape(-1)
            step = _solved(_whole_information(basis, information), gradient)
            # The last step is still taken: it squares what error is left.
            settled = float(gradient @ step) <= SETTLED * (1.0 + abs(likelihood))
            length = 1.0
            for _ in range(MOST_HALVINGS):
                tried = coefficients + length * step.reshape(coefficients.shape)
                reached = _log_likelihood(self.codes, self.weight, tried @ basis)
                if reached >= likelihood:
                    break
                length /= 2
            else:
                break
            coefficients, likelihood = tried, reached
            if settled or (likelihood >= EXPLAINED * self.null_likelihood and self.null_likelihood < 0):
                break
        return coefficients, likelihood


def _log_likelihood(codes: NDArray[np.int64], weight: Floats, logits: Floats) -> float:
    full = np.vstack([logits, np.zeros(len(codes))])
    rows = full[codes, np.arange(len(codes))] - logsumexp(full, axis=0)
    return float(rows.sum() if len(weight) == 0 else rows @ weight)


def _row_derivatives(codes: NDArray[np.int64], weight: Floats, logits: Floats) -> tuple[Floats, Floats]:
    n_logits, n_rows = logits.shape
    full = np.vstack([logits, np.zeros(n_rows)])
    p = np.exp(full - logsumexp(full, axis=0))[:n_logits]
    slopes = (codes == np.arange(n_logits)[:, None]) - p
    information = -p[:, None] * p[None]
    information[np.arange(n_logits), np.arange(n_logits)] += p
    if len(weight):
        slopes, information = slopes * weight, information * weight
    return slopes, information


def _whole_information(basis: Floats, information: Floats) -> Floats:
    """The information matrix of all coefficients, class by class."""
    n_logits, size = len(information), len(basis)
    whole = np.empty((n_logits, size, n_logits, size))
    for k in range(n_logits):
        for column in range(k + 1):
            part = (basis * information[k, column]) @ basis.T
            whole[k, :, column], whole[column, :, k] = part, part
    return whole.reshape(n_logits * size, n_logits * size)


def _inverse_root(information: Floats) -> Floats:
    """R with R' R the inverse of the information, where there is any."""
    values, vectors = np.linalg.eigh(information)
    seen = values > BLIND * max(values[-1], 0.0)
    roots = np.zeros(len(values))
    roots[seen] = 1.0 / np.sqrt(values[seen])
    return np.asarray(roots[:, None] * vectors.T)


def _solved(information: Floats, right: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(information, right, rcond=BLIND)[0])


def _quadratic_forms(slopes: Floats, squares: Floats, mixed: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """slope' variance^-1 slope for each column of a block, and where the variance is close to singular."""
    n_logits, width = slopes.shape
    variance = np.empty((width, n_logits, n_logits))
    pairs = [(k, column) for k in range(n_logits) for column in range(k + 1)]
    for (k, column), size in zip(pairs, squares, strict=False):
        left = size - np.einsum("ij,ij->j", mixed[k], mixed[column])
        variance[:, k, column] = variance[:, column, k] = left
    own = squares[[k * (k + 3) // 2 for k in range(n_logits)]].T  # the sums of squares of each class
    left = variance[:, np.arange(n_logits), np.arange(n_logits)]
    fine: NDArray[np.bool_] = np.all((left > WELL_POSED * own) & (own > SMALLEST), axis=1)
    gains = np.zeros(width)
    if fine.any():
        scale = np.sqrt(left[fine])
        correlation = variance[fine] / (scale[:, :, None] * scale[:, None, :])
        values, vectors = np.linalg.eigh(correlation)
        # Class by class, so that the order of the sums is the same for every width of the block.
        along = sum(vectors[:, k] * (slopes[k, fine] / scale[:, k])[:, None] for k in range(n_logits))
        with np.errstate(divide="ignore", invalid="ignore"):
            gains[fine] = sum((along**2 / values).T)
        places = np.flatnonzero(fine)
        fine[places] = values[:, 0] > np.sqrt(WELL_POSED)
    return gains, ~fine

"""Standard normal numbers from a counter: number i of stream `key` is the same whoever asks, in whatever order.

Bits come from a mix of key and counter (the finaliser of SplitMix64), normals from the ziggurat of 128 layers in
Doornik's arrangement (J. A. Doornik, An Improved Ziggurat Method to Generate Normal Random Samples, 2005): 98.8 % of
them cost one mix, one comparison and one product.

`perturb` draws the parameters of all Monte-Carlo samples of a layer, `fold` brings their gradients back to mu and
sigma. Layers are (inputs, samples, outputs), so that inputs times all samples is one matrix product. `fold` draws the
same numbers again: that is cheaper than to keep them, as memory touched for the first time costs more than a draw.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import kernel

Word = Any  # an unsigned 64-bit number

_LAYERS = 128
_TAIL = 3.442619855899  # where the tail begins
_AREA = 9.91256303526217e-3  # of each layer

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(11)
_LAYER_BITS = np.uint64(_LAYERS - 1)
_RETRY = np.uint64(1 << 40)  # counters of second and later attempts; no layer has so many parameters
_ONE = np.uint64(1)
_TO_UNIT = 2.0**-53


def _edges() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Right edges of the layers, and the share of each that lies under the layer above."""
    edges = np.zeros(_LAYERS + 1)
    edges[0], edges[1] = _AREA / math.exp(-0.5 * _TAIL**2), _TAIL
    for layer in range(2, _LAYERS):
        below = edges[layer - 1]
        edges[layer] = math.sqrt(-2.0 * math.log(_AREA / below + math.exp(-0.5 * below**2)))
    return edges, edges[1:] / edges[:-1]


_EDGES, _SHARES = _edges()


@kernel
def _mix(key: Word, counter: Word) -> Word:
    z = np.uint64(key) + np.uint64(counter) * _GOLDEN
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@kernel
def _unit(bits: Word) -> float:
    """A number in (0, 1]."""
    return (float(bits >> _S11) + 1.0) * _TO_UNIT


@kernel
def _outside(key: Word, counter: Word, layer: Word, u: Any) -> Any:
    """The rare rest of the ziggurat: a layer's edge, or the tail."""
    at = np.uint64(counter)
    while True:
        at += _RETRY
        if layer == 0:
            x: Any = -math.log(_unit(_mix(key, at))) / _TAIL
            at += _RETRY
            if -2.0 * math.log(_unit(_mix(key, at))) >= x * x:
                return _TAIL + x if u > 0.0 else -_TAIL - x
            continue
        x = u * _EDGES[layer]
        outer = math.exp(-0.5 * (_EDGES[layer] ** 2 - x * x))
        inner = math.exp(-0.5 * (_EDGES[layer + 1] ** 2 - x * x))
        if inner + _unit(_mix(key, at)) * (outer - inner) < 1.0:
            return x
        at += _RETRY
        bits = _mix(key, at)
        layer, u = np.int64(bits & _LAYER_BITS), 2.0 * _unit(bits) - 1.0
        if abs(u) < _SHARES[layer]:
            return u * _EDGES[layer]


@kernel
def normal(key: Word, counter: Word) -> Any:
    """Normal number `counter` of stream `key`."""
    bits = _mix(key, counter)
    layer = np.int64(bits & _LAYER_BITS)  # the bits that _unit leaves out
    u = 2.0 * _unit(bits) - 1.0
    if abs(u) < _SHARES[layer]:
        return u * _EDGES[layer]
    return _outside(key, counter, layer, u)


@kernel
def perturb(key: Word, first: Word, mu: NDArray[Any], sigma: NDArray[Any], theta: NDArray[Any]) -> None:
    """theta[i, l, o] = mu[i, o] + sigma[i, o] * noise[i, l, o]; noise is drawn from counter `first` on."""
    counter = np.uint64(first)
    for i in range(theta.shape[0]):
        m, s = mu[i], sigma[i]
        for sample in range(theta.shape[1]):
            t = theta[i, sample]
            for o in range(t.size):
                t[o] = m[o] + s[o] * normal(key, counter)
                counter += _ONE


@kernel
def fold(key: Word, first: Word, gradient: NDArray[Any], of_mu: NDArray[Any], of_sigma: NDArray[Any]) -> None:
    """Sum over samples: the gradient of theta is that of mu, and times the same noise, drawn again, that of sigma."""
    counter = np.uint64(first)
    for i in range(gradient.shape[0]):
        m, s = of_mu[i], of_sigma[i]
        for o in range(m.size):
            m[o] = 0.0
            s[o] = 0.0
        for sample in range(gradient.shape[1]):
            g = gradient[i, sample]
            for o in range(m.size):
                m[o] += g[o]
                s[o] += g[o] * normal(key, counter)
                counter += _ONE

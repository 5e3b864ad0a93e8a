"""Standard normal numbers from a counter: the numbers of a row are the same whoever asks, in whatever order.

Two words of 32 bits come from a mix of key and counter (shifts and products, the constants of C. Wellons' search for
hash functions of low bias), two normals from these by the transform of Box and Muller. Logarithm, sine and cosine are
written out as series, so that the whole loop is vectorised; they are good to about 1e-6, which no Monte-Carlo estimate
sees, and numbers beyond 6.55 do not occur.

`perturb` draws the parameters of all Monte-Carlo samples of a layer, `fold` brings their gradients back to mu and
sigma. Layers are (inputs, samples, outputs), so that inputs times all samples is one matrix product. The noise of an
input is a row of `row_size` numbers; `redraw` gives rows that have not been kept once more.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsift.kernels.compile import fused_kernel

Word = Any  # an unsigned number of 32 or 64 bits
Noise = NDArray[np.float32]

_u, _i, _f = np.uint32, np.int32, np.float32

_MIX_1, _MIX_2, _OTHER = _u(0x7FEB352D), _u(0x846CA68B), _u(0x9E3779B9)
_S1, _S15, _S16 = _u(1), _u(15), _u(16)
_LOW, _S32 = np.uint64(0xFFFFFFFF), np.uint64(32)

_ZERO, _ONE, _TWO, _TO_UNIT = _f(0.0), _f(1.0), _f(2.0), _f(2.0**-31)
_FRACTION, _EXPONENT, _BIAS, _HALF_BITS = _i(0x007FFFFF), _i(23), _i(126), _i(0x3F000000)
_ROOT_HALF, _LOG_4 = _f(math.sqrt(0.5)), _f(math.log(4.0))
_L1, _L3, _L5, _L7 = (_f(4.0 / k) for k in (1, 3, 5, 7))  # 2 log m = 4 (t + t^3 / 3 + ...), t = (m - 1) / (m + 1)
_QUARTER_TURN = 0.5 * math.pi
_S = tuple(_f((-1) ** k * _QUARTER_TURN ** (2 * k + 1) / math.factorial(2 * k + 1)) for k in range(6))
_C = tuple(_f((-1) ** k * _QUARTER_TURN ** (2 * k) / math.factorial(2 * k)) for k in range(6))
_S_0, _S_1, _S_2, _S_3, _S_4, _S_5 = _S
_C_0, _C_1, _C_2, _C_3, _C_4, _C_5 = _C


@fused_kernel
def _fill(key: Word, first: Word, noise: Noise, words: NDArray[np.uint32]) -> None:
    """What `normals` does, with scratch space for half as many words."""
    low, high = np.uint32(np.uint64(key) & _LOW), np.uint32(np.uint64(key) >> _S32)
    start, half = np.uint32(np.uint64(first) & _LOW), noise.size // 2
    cosines, sines = noise[:half], noise[half:]
    # Counters go through memory, where they have 32 bits; otherwise all mixing is done in the 64 bits of i.
    for i in range(half):
        words[i] = np.uint32(low + np.uint32(start + np.uint32(i)))
    for i in range(half):
        a = words[i]
        a = np.uint32(a ^ np.uint32(a >> _S16))
        a = np.uint32(a * _MIX_1)
        a = np.uint32(np.uint32(a ^ np.uint32(a >> _S15)) + high)
        b = np.uint32(np.uint32(a ^ _OTHER) * _MIX_1)  # the two words part here
        a = np.uint32(a * _MIX_2)
        a = np.uint32(a ^ np.uint32(a >> _S16))
        b = np.uint32(b ^ np.uint32(b >> _S15))
        b = np.uint32(b * _MIX_2)
        b = np.uint32(b ^ np.uint32(b >> _S16))
        # -2 log of a number in (0, 1], by its exponent and the series of its fraction in [0.71, 1.41)
        unit = (np.float32(np.int32(a >> _S1)) + _ONE) * _TO_UNIT
        bits = np.float32(unit).view(np.int32)
        exponent = np.float32(np.int32(np.int32(bits >> _EXPONENT) - _BIAS))
        m = np.int32(np.int32(bits & _FRACTION) | _HALF_BITS).view(np.float32)
        small = m < _ROOT_HALF
        exponent = exponent - (_ONE if small else _ZERO)
        m = m + m if small else m
        t = (m - _ONE) / (m + _ONE)
        tt = t * t
        square = -(t * (_L1 + tt * (_L3 + tt * (_L5 + tt * _L7))) + exponent * _LOG_4)
        radius = np.float32(math.sqrt(square if square > _ZERO else _ZERO))
        # sine and cosine of half the angle, which is within a quarter turn, give those of the angle
        v = np.float32(np.int32(b)) * _TO_UNIT
        vv = v * v
        s = v * (_S_0 + vv * (_S_1 + vv * (_S_2 + vv * (_S_3 + vv * (_S_4 + vv * _S_5)))))
        c = _C_0 + vv * (_C_1 + vv * (_C_2 + vv * (_C_3 + vv * (_C_4 + vv * _C_5))))
        cosines[i] = radius * (_ONE - _TWO * s * s)
        sines[i] = radius * (_TWO * s * c)


@fused_kernel
def normals(key: Word, first: Word, noise: Noise) -> None:
    """Fill `noise`, of even size, from counter `first` of stream `key`: first all cosines, then all sines."""
    _fill(key, first, noise, np.empty(noise.size // 2, np.uint32))


def row_size(n_samples: int, n_outputs: int) -> int:
    """Numbers drawn for an input: one per sample and output, and one more if that is odd.

    >>> row_size(5, 7)
    36
    """
    return (n_samples * n_outputs + 1) // 2 * 2


@fused_kernel
def redraw(key: Word, first: Word, noise: Noise) -> None:
    """Row i of the noise comes from counter first + i * its size on."""
    words = np.empty(noise.shape[1] // 2, np.uint32)
    for i in range(noise.shape[0]):
        _fill(key, np.uint64(first) + np.uint64(i * noise.shape[1]), noise[i], words)


@fused_kernel
def perturb(key: Word, first: Word, mu: NDArray[Any], sigma: NDArray[Any], noise: Noise, theta: NDArray[Any]) -> None:
    """theta[i, l, o] = mu[i, o] + sigma[i, o] * noise[i, l, o], with the noise that `redraw` gives, which is kept."""
    words = np.empty(noise.shape[1] // 2, np.uint32)
    for i in range(theta.shape[0]):
        _fill(key, np.uint64(first) + np.uint64(i * noise.shape[1]), noise[i], words)
        m, s = mu[i], sigma[i]
        for sample in range(theta.shape[1]):
            t, e = theta[i, sample], noise[i, sample * m.size : (sample + 1) * m.size]
            for o in range(m.size):
                t[o] = m[o] + s[o] * e[o]


@fused_kernel
def fold(noise: Noise, gradient: NDArray[Any], of_mu: NDArray[Any], of_sigma: NDArray[Any]) -> None:
    """Sum over samples: the gradient of theta is that of mu, and times its noise that of sigma."""
    for i in range(gradient.shape[0]):
        m, s = of_mu[i], of_sigma[i]
        for o in range(m.size):
            m[o] = 0.0
            s[o] = 0.0
        for sample in range(gradient.shape[1]):
            g, e = gradient[i, sample], noise[i, sample * m.size : (sample + 1) * m.size]
            for o in range(m.size):
                m[o] += g[o]
                s[o] += g[o] * e[o]

"""Checks of half-lives: fading by rows and by event time, of methods that promise `fades`."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamsift.checks.samples import Make, expect, refused, same_scores, same_state, sample
from streamsift.core.exceptions import InputError, ParameterError

_PARTS = (slice(0, 50), slice(50, 70), slice(70, None))


def _fading(make: Make, **settings: Any) -> Any:
    return make().set_params(**({"fading": 1.0} | settings))


def check_half_life_is_fading_in_other_words(make: Make) -> None:
    X, y = sample()
    X[60:] = X[60:, ::-1]  # what tells something changes half way
    wanted, by_rows, by_time = (
        _fading(make, **settings) for settings in ({"fading": 0.5 ** (1 / 30)}, {"half_life": 30}, {"half_life": "1h"})
    )
    plain = _fading(make)
    for part in _PARTS:
        for selector in (wanted, by_rows, plain):
            selector.partial_fit(X[part], y[part])
        by_time.partial_fit(X[part], y[part], time=np.arange(len(y))[part] * 120.0)  # 30 rows to the hour
    expect(not np.allclose(wanted.scores_, plain.scores_, rtol=1e-3), "fading does not change the scores")
    same_scores(by_rows.scores_, wanted.scores_, "half_life=30 is not fading=0.5 ** (1 / 30)")
    same_scores(by_time.scores_, wanted.scores_, "a half-life in time is not one in rows where rows come regularly")


def check_event_time_is_weights(make: Make) -> None:
    X, y = sample()
    X[60:] = X[60:, ::-1]
    random = np.random.default_rng(6)
    times = np.cumsum(random.exponential(20.0, len(y))) - np.where(random.random(len(y)) < 0.1, 100.0, 0.0)
    weight = 0.5 ** ((times.max() - times) / 300.0)
    wanted = _fading(make).partial_fit(X, y, sample_weight=weight)
    found = _fading(make, half_life="5m")
    for part in _PARTS:  # restored after each part: the clock must be in the state
        found.partial_fit(X[part], y[part], time=times[part])
        found = _fading(make, half_life="5m").load_state_arrays(found.state_arrays())
    plain = _fading(make).partial_fit(X, y)
    expect(not np.allclose(found.scores_, plain.scores_, rtol=1e-3), "times do not change the scores")
    same_scores(found.scores_, wanted.scores_, "rows do not weigh what their times say")


def check_half_lives_that_do_not_fit_are_refused(make: Make) -> None:
    X, y = sample(40)
    times = np.arange(40.0)
    learnt = _fading(make, half_life="1m").partial_fit(X, y, time=times)
    before = learnt.state_arrays()
    for what, more in {
        "a half-life in time without times": {},
        "a time too few": {"time": times[1:]},
        "a time that is NaN": {"time": np.where(times == 7.0, np.nan, times)},
    }.items():
        with refused(what, (InputError, ParameterError)):
            learnt.partial_fit(X, y, **more)
        same_state(learnt.state_arrays(), before, f"{what} changed the state")
    for what, settings, more in (
        ("half_life and fading together", {"fading": 0.9, "half_life": 10}, {}),
        ("times beside a half-life in rows", {"half_life": 10}, {"time": times}),
    ):
        with refused(what, ParameterError) as words:
            _fading(make, **settings).partial_fit(X, y, **more)
        expect("half_life" in words[0], f"the refusal does not name half_life: {words[0]!r}")

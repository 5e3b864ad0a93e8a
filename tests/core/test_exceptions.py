"""Errors: one family, each also of the built-in kind people catch."""

from __future__ import annotations

import pytest

from streamsift.core import exceptions
from streamsift.core.exceptions import (
    MissingExtraError,
    StreamsiftError,
    StreamsiftWarning,
    UnknownNameError,
    near_misses,
)

KINDS = [
    kind for kind in vars(exceptions).values() if isinstance(kind, type) and kind.__module__ == exceptions.__name__
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_and_warning_belongs_to_the_family_and_is_in_the_drawing(kind: type) -> None:
    assert issubclass(kind, StreamsiftError | StreamsiftWarning)
    assert kind.__name__ in str(exceptions.__doc__)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fihser", "Did you mean 'fisher'?"),
        ("FISHER", "Did you mean 'fisher'?"),
        ("zzz", "Known: 'fisher', 'gini'."),
    ],
)
def test_near_misses(name: str, words: str) -> None:
    assert near_misses(name, ["fisher", "gini"]) == words


def test_only_the_closest_names_are_given() -> None:
    names = ["screen:chi2", "screen:gini", "screen:fisher", "screen:t_score"]
    assert near_misses("screen:chi", names) == "Did you mean 'screen:chi2'?"
    assert near_misses("screen", ["screen1", "screen2"]) == "Did you mean 'screen2' or 'screen1'?"


def test_a_long_list_is_cut() -> None:
    assert near_misses("zzz", [f"a{number}" for number in range(15)]).endswith("'a11' and 3 more.")


def test_unknown_names_say_what_exists() -> None:
    error = UnknownNameError("method", "fihser", ["fisher"])
    assert str(error) == "There is no method 'fihser'. Did you mean 'fisher'?"
    assert isinstance(error, ValueError)


def test_a_missing_extra_says_how_to_install_it() -> None:
    error = MissingExtraError("Reading frames", "polars", "polars")
    assert str(error) == "Reading frames needs polars; install it with: pip install 'streamsift[polars]'."
    assert isinstance(error, ImportError)

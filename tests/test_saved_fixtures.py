"""Files saved by this version of the format stay readable: each knows what it knew when it was written."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from streamsift import catalog, persist
from tests.fixtures.make import EXPECTED, FOLDER, PIPELINE, knowledge, names, path_of, rows_for, table

KNOWN: dict[str, dict[str, Any]] = json.loads(EXPECTED.read_text(encoding="utf-8"))


def test_every_method_has_a_file_and_no_file_is_without_its_method() -> None:
    assert sorted(KNOWN) == sorted(names())
    assert set(FOLDER.glob("*.streamsift")) == {path_of(name) for name in KNOWN}


@pytest.mark.parametrize("name", KNOWN)
def test_a_saved_method_answers_as_it_did(name: str) -> None:
    method = persist.load(path_of(name))
    found, wanted = knowledge(name, method), KNOWN[name]
    assert found.keys() == wanted.keys()
    for what, value in wanted.items():
        if isinstance(value, list) and value and isinstance(value[0], float | list):
            np.testing.assert_allclose(found[what], value, rtol=1e-9, atol=1e-12, err_msg=what)
        else:
            assert found[what] == value, what


@pytest.mark.parametrize("name", [name for name in names() if name not in (*catalog.names("columns"), PIPELINE)])
def test_a_saved_method_goes_on(name: str) -> None:
    method = persist.load(path_of(name))
    before = method.n_rows_seen_
    X, y = rows_for(name, first_row=before)
    assert method.partial_fit(X, y).n_rows_seen_ == 2 * before


def test_a_saved_pipeline_goes_on() -> None:
    pipeline = persist.load(path_of(PIPELINE))
    before = pipeline.n_rows_seen_
    assert pipeline.partial_fit(*table(before)).n_rows_seen_ == 2 * before


def test_the_files_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 2_000_000

"""Data too wide for the memory there is: refused in a sentence before anything is taken, and nothing has changed."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from streamsift import NotEnoughMemoryError, catalog
from streamsift.core import memory

ROW_METHODS = catalog.names("rows")
SPARSE = [name for name in ROW_METHODS if catalog.make(name).stream_tags().sparse]

WORDS = r"needs about .* GB for 3,000 features( and 2 classes)?, and 0\.0 GB"


def wide(n_features, n_classes=2):
    """A few rows of two entries each; the last feature occurs."""
    rows = np.repeat(np.arange(n_classes), 2)
    places = np.tile([0, n_features - 1], n_classes)
    X = sparse.csr_matrix((np.ones(2 * n_classes), (rows, places)), shape=(n_classes, n_features))
    return X, np.arange(n_classes)


@pytest.mark.parametrize("name", ROW_METHODS)
def test_a_method_that_would_need_more_than_there_is_takes_nothing(name, monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 0)
    monkeypatch.setattr(memory, "WORTH_ASKING", 1000)
    selector, rng = catalog.make(name), np.random.default_rng(0)
    with pytest.raises(NotEnoughMemoryError, match=WORDS):
        selector.partial_fit(rng.normal(size=(4, 3000)), [0, 1, 0, 1])
    assert not hasattr(selector, "n_rows_seen_")
    monkeypatch.undo()
    selector.partial_fit(rng.normal(size=(40, 5)), np.arange(40) % 2)
    assert selector.n_rows_seen_ == 40


@pytest.mark.compiled
@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("n_classes", [2, 6])
def test_the_estimate_is_near_what_is_really_taken(name, n_classes):
    small, large = wide(50, n_classes), wide(200_000, n_classes)
    assert catalog.make(name).partial_fit(*small).scores_.shape == (50,)  # kernels are compiled
    selector = catalog.make(name)
    tracemalloc.start()
    try:
        selector.partial_fit(*large).scores_
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    estimate = selector._bytes_needed(200_000, n_classes)
    assert 0.5 * peak < estimate < 4.0 * peak, (peak, estimate)


def test_new_features_and_new_classes_are_asked_about_too(monkeypatch):
    selector = catalog.make("screen:t_score", new_features="add").partial_fit(*wide(10))
    before = selector.state_arrays()
    monkeypatch.setattr(memory, "available_bytes", lambda: 0)
    monkeypatch.setattr(memory, "WORTH_ASKING", 10_000)
    for X, y in (wide(5000), (wide(10)[0], ["third", "fourth"])):
        if X.shape[1] == 10:
            monkeypatch.setattr(memory, "WORTH_ASKING", 1000)
        with pytest.raises(NotEnoughMemoryError):
            selector.partial_fit(X, y)
    after = selector.state_arrays()
    assert all(np.array_equal(before[key], after[key]) for key in before)


def test_memory_that_runs_out_all_the_same_is_told_in_a_sentence(monkeypatch):
    selector = catalog.make("ofs")

    def empty(*_):
        raise MemoryError

    monkeypatch.setattr(selector, "_learn", empty)
    with pytest.raises(NotEnoughMemoryError, match="not enough memory for OFS with 10 features"):
        selector.partial_fit(*wide(10))


def test_what_may_still_be_taken_is_the_least_of_all_limits(monkeypatch):
    for machine, container, process, least in ((9, 5, 7, 5), (9, None, 7, 7), (None, None, None, None), (9, -4, 7, 0)):
        monkeypatch.setattr(memory, "_of_machine", lambda machine=machine: machine)
        monkeypatch.setattr(memory, "_of_container", lambda container=container: container)
        monkeypatch.setattr(memory, "_of_process", lambda process=process: process)
        assert memory.available_bytes() == least


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_AS")
@pytest.mark.parametrize("method", ["fires", "screen:mutual_info"])
def test_a_wide_libsvm_file_ends_in_one_sentence(tmp_path, method):
    (tmp_path / "wide.libsvm").write_text("0 1:1\n1 100000000:1\n")
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))\n"
        "from streamsift.__main__ import main\n"
        f"sys.argv = ['streamsift', 'select', 'wide.libsvm', '--method', {method!r}, '--quiet']\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("Error: "), done.stderr
    assert "GB for 100,000,000 features" in last, done.stderr

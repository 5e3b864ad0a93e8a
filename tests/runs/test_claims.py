"""A folder that several processes write checkpoints to: who may, what counts, and what they know together."""

from __future__ import annotations

import os

import numpy as np
import pytest

from streamsift import ParameterError, SavedStateError, Screener, load, persist
from streamsift.runs import claims
from streamsift.runs.claims import Claim, agree_on_columns, agree_on_run, load_shared, newest, run_of
from streamsift.runs.run import Run


def learnt(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    return Screener("fisher").partial_fit(rng.normal(size=(n_rows, 2)) + y[:, None], y)


def write(claim, n_rows):
    return claim.write(persist.parts_of(learnt(n_rows)), {})


def rows(folder):
    return {number: load(path).n_rows_seen_ for number, path in newest(folder).items()}


def test_a_claim_goes_on_from_what_was_there(tmp_path):
    first = Claim(tmp_path, 3)
    assert newest(tmp_path) == {}
    assert write(first, 10)
    second = Claim(tmp_path, 3)
    assert second.path.name == "partition-3.claim-2.ckpt"
    assert load(second.path).n_rows_seen_ == 10
    assert newest(tmp_path) == {3: second.path}
    assert not first.path.exists()


def test_who_does_not_know_that_its_partition_was_taken_changes_nothing(tmp_path, monkeypatch):
    late = Claim(tmp_path, 0)
    write(late, 10)
    now = Claim(tmp_path, 0)
    assert late.is_lost()
    assert not write(late, 20)
    assert rows(tmp_path) == {0: 10}
    write(now, 15)
    monkeypatch.setattr(late, "is_lost", lambda: False)  # it was asked before the other one came, and writes after it
    write(late, 20)
    assert late.path.exists()
    assert rows(tmp_path) == {0: 15}
    assert load(Claim(tmp_path, 0).path).n_rows_seen_ == 15
    assert [path.name for path in tmp_path.iterdir()] == ["partition-0.claim-3.ckpt"]


def test_a_file_that_is_replaced_while_it_is_claimed_leaves_the_claim_as_it_is(tmp_path, monkeypatch):
    late = Claim(tmp_path, 0)
    write(late, 10)
    now = Claim(tmp_path, 0)
    monkeypatch.setattr(late, "is_lost", lambda: False)
    write(late, 20)
    assert (rows(tmp_path), load(now.path).n_rows_seen_) == ({0: 10}, 10)


def test_a_claim_that_was_begun_from_nothing_counts_only_when_something_is_in_it(tmp_path, monkeypatch):
    late, now = Claim(tmp_path, 0), Claim(tmp_path, 0)
    monkeypatch.setattr(late, "is_lost", lambda: False)
    write(late, 20)
    assert rows(tmp_path) == {0: 20}
    write(now, 5)
    assert rows(tmp_path) == {0: 5}


def test_of_two_that_claim_at_the_same_time_each_has_a_number(tmp_path, monkeypatch):
    write(Claim(tmp_path, 0), 10)
    link, faster = claims.create_link, []

    def slow(path, existing):
        if not faster:
            faster.append(None)
            faster.append(Claim(tmp_path, 0))  # which also removes what this one was about to link
        return link(path, existing)

    monkeypatch.setattr(claims, "create_link", slow)
    mine = Claim(tmp_path, 0)
    assert [claim.path.name for claim in (faster[1], mine)] == ["partition-0.claim-2.ckpt", "partition-0.claim-3.ckpt"]
    assert load(mine.path).n_rows_seen_ == 10


def test_what_was_half_written_is_removed_by_the_next_one(tmp_path, monkeypatch):
    late = Claim(tmp_path, 0)
    write(late, 10)
    (tmp_path / f"{late.path.name}.0123abcd.partial").touch()
    replace = os.replace

    def slow(draft, path):
        monkeypatch.setattr(os, "replace", replace)
        Claim(tmp_path, 0)
        replace(draft, path)

    monkeypatch.setattr(os, "replace", slow)
    assert not write(late, 20)
    assert [path.name for path in tmp_path.iterdir()] == ["partition-0.claim-2.ckpt"]
    assert rows(tmp_path) == {0: 10}


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    claim = Claim(tmp_path, 0)

    def full(path, *parts):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(persist, "write", full)
    with pytest.raises(OSError, match="No space left"):
        write(claim, 10)


def test_all_partitions_together_are_one_pass(tmp_path):
    with pytest.raises(ParameterError, match=r"No partition has a checkpoint in .* yet"):
        load_shared(tmp_path)
    with pytest.raises(ParameterError, match="There is no folder "):
        load_shared(tmp_path / "nowhere")
    whole = Screener("fisher")
    for number in (0, 1, 11):
        part = learnt(20 + number, seed=number)
        Claim(tmp_path, number).write(persist.parts_of(part), {})
        whole.merge(part)
    Claim(tmp_path, 5)  # which has learnt nothing so far
    shared = load_shared(tmp_path)
    assert shared.rows == {0: 20, 1: 21, 11: 31}
    assert np.array_equal(shared.selector.scores_, whole.scores_)


def test_an_answer_while_the_partition_changes_hands(tmp_path, monkeypatch):
    write(Claim(tmp_path, 0), 10)
    loads, load_one = [], persist.load

    def slow(path):
        if not loads:
            loads.append(Claim(tmp_path, 0))  # removes what was about to be read
        return load_one(path)

    monkeypatch.setattr(persist, "load", slow)
    assert load_shared(tmp_path).rows == {0: 10}


def test_one_run_in_a_folder(tmp_path):
    run = Run("screen:fisher", data="rows", target="y", settings={"batch_size": 10, "topic": "rows"})
    agree_on_run(tmp_path, run)
    agree_on_run(tmp_path, run)
    assert run_of(tmp_path) == run
    with pytest.raises(
        ParameterError, match=r"run\.json was written by a run with topic='rows', and now it is 'other'"
    ):
        agree_on_run(tmp_path, Run("screen:fisher", target="y", settings={"batch_size": 10, "topic": "other"}))
    for text, words in (("{", "not JSON"), ("[]", "no JSON object"), ("{}", "does not say what is run")):
        (tmp_path / "run.json").write_text(text)
        with pytest.raises(SavedStateError, match=words):
            run_of(tmp_path)


def test_the_first_rows_of_any_partition_decide_what_the_columns_are(tmp_path):
    first = {"names": ["a", "b"], "kinds": ["number", None], "label": "number"}
    other = {"names": ["b", "a"], "kinds": ["category", "number"], "label": None}
    assert agree_on_columns(tmp_path, first) == first
    assert agree_on_columns(tmp_path, other) == first

"""Instances: fitted on some rows, judged on the others, block by block and always with the same outcome."""

from __future__ import annotations

import numpy as np
import pytest

from streamsift.core.exceptions import InputError
from streamsift.instances.etana import ETANA
from streamsift.runs.instances import Examination, InstanceTraceWriter, try_out
from streamsift.runs.run import Run
from streamsift.runs.trace import Trace

RANDOM = np.random.default_rng(8)
Y = RANDOM.integers(0, 3, 240)
X = RANDOM.normal(size=(240, 6))
X[:, :3] += 3.0 * np.eye(3)[Y]


def test_a_trial_judges_on_rows_not_seen() -> None:
    trial = try_out(ETANA(0.02), X, Y, held_out=0.25, seed=3)
    told = trial.as_dict()
    assert told["rows_held_out"] == len(trial.n_evaluated) == 60
    assert told["rows_trained"] == 180
    assert trial.accuracy > 0.8
    assert told["features_used"]["mean"] == trial.n_evaluated.mean()
    assert sum(told["features_used"]["histogram"]) == 60
    assert sum(share for _, share in trial.bought) * 60 == pytest.approx(trial.n_evaluated.sum())
    assert trial.cost == pytest.approx(1 - trial.accuracy + 0.02 * trial.n_evaluated.mean())
    again = try_out(ETANA(0.02), X, Y, held_out=0.25, seed=3)
    assert again.as_dict() == told


def test_a_trial_needs_rows_to_hold_out() -> None:
    with pytest.raises(InputError, match="No row can be held out"):
        try_out(ETANA(), X[:3], [0, 1, 2])
    with pytest.raises(InputError, match="labels"):
        try_out(ETANA(), X, Y[:5])


def test_the_steps_are_blocks_of_held_out_rows(tmp_path) -> None:
    whole = try_out(ETANA(0.02), X, Y)
    examination, path = Examination(ETANA(0.02), X, Y), tmp_path / "trace.parquet"
    with InstanceTraceWriter(path, Run("etana", "instances")) as writer:
        for step in examination.steps(block=17):
            writer.append(step)
            told = step.leaders()
            assert (told is None) == (step.position == 0)
        assert (step.position, step.progress) == (72, 1.0)
        assert told.names == [name for name, _ in whole.bought]
        writer.result = examination.trial().as_dict()
    assert examination.trial().as_dict() == whole.as_dict()
    trace = Trace.read(path)
    assert (trace.run.kind, trace.n_features) == ("instances", 6)
    assert trace.result == whole.as_dict()
    table = trace.table.to_pydict()
    assert table["n_evaluated"] == whole.n_evaluated.tolist()
    assert sorted(set(table["row"])) == table["row"]
    assert np.mean(table["correct"]) == whole.accuracy
    assert np.mean(table["loss"]) + np.mean(table["price"]) == pytest.approx(whole.cost)


def test_before_any_row_is_judged_there_is_no_trial() -> None:
    assert Examination(ETANA(), X, Y).trial() is None

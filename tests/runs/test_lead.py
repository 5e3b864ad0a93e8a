"""lead: runs of every kind end alike, complete, interrupted or failed."""

from __future__ import annotations

import numpy as np
import pytest

from streamsift import catalog
from streamsift.core.exceptions import InputError
from streamsift.runs.lead import LOOPS, lead, loop_for
from streamsift.runs.run import Run
from streamsift.runs.trace import Trace

METHODS = {"rows": "screen:t_score", "columns": "osfs", "instances": "etana"}
KINDS = pytest.mark.parametrize("kind", METHODS)


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 4)) + 3.0 * y[:, None] * [0, 1, 0, 0]
    path = tmp_path / "table.csv"
    rows = [",".join([*(f"{v:.4f}" for v in x), "ab"[c]]) for x, c in zip(X, y, strict=True)]
    path.write_text("\n".join(["p,q,r,s,y", *rows]) + "\n")
    return path


def led(kind, table, **options):
    method = METHODS[kind]
    run = Run(method, kind, table.name, "y", settings={"batch_size": 100})
    return lead(catalog.make(method), run, table, **options)


def test_there_is_a_loop_for_every_kind_of_the_catalog():
    assert set(LOOPS) == {catalog.entry(name).kind for name in catalog.names()}
    for name in catalog.names():
        assert callable(loop_for(name).open)


@KINDS
def test_a_run_of_any_kind(kind, table, tmp_path):
    steps = []
    ended = led(kind, table, trace_path=tmp_path / "trace.parquet", show=steps.append)
    trace = Trace.read(tmp_path / "trace.parquet")
    assert ended.run.complete
    assert ended.run.seconds == steps[-1].seconds > 0
    assert steps[-1].progress in (1.0, None)
    assert trace.run == ended.run
    assert (trace.run.kind, trace.n_features) == (kind, 4)
    assert trace.result | ended.result.as_dict() == trace.result  # and, of rows, why
    document = ended.as_dict()
    assert (document["kind"], document["data"], document["target"]) == (kind, "table.csv", "y")
    assert document["parameters"] == catalog.make(METHODS[kind]).get_params()
    assert (document.get("selected") or document["bought"])[0]["name"] == "q"
    assert any("q" in row for part in ended.result.tables() for row in part.rows)
    assert trace.summary()["seconds"] > 0


@KINDS
def test_without_a_trace_the_result_is_the_same(kind, table, tmp_path):
    kept = led(kind, table, trace_path=tmp_path / "trace.parquet").result.as_dict()
    assert led(kind, table).result.as_dict() == kept


@KINDS
def test_an_interrupted_run_keeps_what_it_has(kind, table, tmp_path):
    def interrupt(step):
        if step.position:
            raise KeyboardInterrupt

    ended = led(kind, table, trace_path=tmp_path / "trace.parquet", show=interrupt)
    assert not ended.run.complete
    assert ended.result is not None
    assert ended.as_dict()["complete"] is False
    words = {"rows": "100 rows", "columns": "1 column", "instances": "90 held-out rows"}
    assert ended.result.reach() == words[kind]


@KINDS
def test_a_run_interrupted_too_early_finds_nothing_and_leaves_no_file(kind, table, tmp_path, monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(loop_for(METHODS[kind]), "steps", interrupted)
    ended = led(kind, table, trace_path=tmp_path / "trace.parquet")
    assert (ended.run.complete, ended.result) == (False, None)
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


@KINDS
def test_a_failed_run_leaves_no_file(kind, table, tmp_path):
    def fail(step):
        raise RuntimeError

    with pytest.raises(RuntimeError):
        led(kind, table, trace_path=tmp_path / "trace.parquet", show=fail)
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


@pytest.mark.parametrize("kind", ["rows", "instances"])
def test_a_stream_without_rows_is_refused(kind, tmp_path, monkeypatch):
    class Nothing:
        def batches(self, size):
            return iter(())

    monkeypatch.setattr(f"streamsift.runs.{kind}.open_stream", lambda *_, **__: Nothing())
    with pytest.raises(InputError, match=r"no rows in 'table.csv'"):
        led(kind, tmp_path / "table.csv")

"""Structured Streaming on a real Spark: the answer of one pass, also when the driver was killed at the worst moment."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamsift import FIRES, ParameterError, SavedStateError, Screener, load
from streamsift.engines.spark import stream, stream_by_key
from tests.kills import spark_driver

errors = pytest.importorskip("pyspark.errors", reason="skipped: no pyspark (pip install 'streamsift[spark]')")
pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="skipped: no Java runtime (default-jre-headless)"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.xdist_group("spark"),
]
N_FILES, N_ROWS = 3, 30


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    session = spark_driver.session()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spark") / "rows"
    spark_driver.write_source(folder, N_FILES, N_ROWS)
    return folder


def follow(spark: Any, source: Path, checkpoint: Path, selector: Any) -> Any:
    spark_driver.followed(spark, source, checkpoint, selector)
    return load(checkpoint / "state.streamsift")


def one_pass(source: Path, selector: Any) -> Any:
    for path in sorted(source.iterdir()):
        table = pq.read_table(path)
        selector.partial_fit(table.drop_columns(["y"]), table["y"].to_numpy(zero_copy_only=False))
    return selector


def assert_same_bits(found: Any, expected: Any) -> None:
    ours, theirs = found.state_arrays(), expected.state_arrays()
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name], name)


def test_on_the_executors_and_on_the_driver(spark: Any, source: Path, tmp_path: Path) -> None:
    found = follow(spark, source, tmp_path / "merged", Screener("fisher"))
    alone = one_pass(source, Screener("fisher"))
    assert found.n_rows_seen_ == N_FILES * N_ROWS
    np.testing.assert_allclose(found.scores_, alone.scores_, rtol=1e-9)
    assert_same_bits(follow(spark, source, tmp_path / "learnt", FIRES()), one_pass(source, FIRES()))


def test_a_driver_killed_between_the_state_and_the_note_of_spark(spark: Any, source: Path, tmp_path: Path) -> None:
    checkpoint = tmp_path / "killed"
    driver = spark_driver.started(source, checkpoint, "screen:fisher", "after", "1")
    assert driver.wait(timeout=1800) == -signal.SIGKILL
    noted = {int(path.name) for path in (checkpoint / "spark" / "commits").glob("[0-9]*")}
    assert max(noted) == 0
    assert load(checkpoint / "state.streamsift").n_rows_seen_ == 2 * N_ROWS
    found = follow(spark, source, checkpoint, Screener("fisher"))
    assert_same_bits(found, follow(spark, source, tmp_path / "calm", Screener("fisher")))


def test_what_does_not_belong_together(spark: Any, source: Path, tmp_path: Path) -> None:
    checkpoint = tmp_path / "run"
    follow(spark, source, checkpoint, Screener("fisher"))
    with pytest.raises(ParameterError, match="was written for Screener with"):
        follow(spark, source, checkpoint, Screener("t_score"))
    (checkpoint / "spark").rename(tmp_path / "away")
    with pytest.raises(errors.StreamingQueryException, match="by another query of Spark"):
        follow(spark, source, checkpoint, Screener("fisher"))
    shutil.rmtree(checkpoint / "spark")
    (tmp_path / "away").rename(checkpoint / "spark")
    (checkpoint / "state.streamsift").unlink()
    (checkpoint / "spark" / "commits" / "2").unlink()
    (checkpoint / "spark" / "commits" / ".2.crc").unlink()
    with pytest.raises(errors.StreamingQueryException, match="lacks micro-batch 0 to 1: restore the state"):
        follow(spark, source, checkpoint, Screener("fisher"))
    (checkpoint / "waiting.json").write_text("{}")
    with pytest.raises(SavedStateError, match=r"waiting\.json is damaged"):
        follow(spark, source, checkpoint, Screener("fisher"))


def test_micro_batches_without_rows(spark: Any, source: Path, tmp_path: Path) -> None:
    rows = spark.readStream.schema(spark_driver.SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(source))
    late = rows.filter("y = 'late'")  # the first two files have none
    checkpoint = tmp_path / "run"
    query = stream(late, Screener("fisher"), checkpoint, target="y", ignore=["colour"], trigger={"availableNow": True})
    query.awaitTermination()
    found = load(checkpoint / "state.streamsift")
    assert 0 < found.n_rows_seen_ < 2 * N_ROWS
    assert found.feature_names_in_.tolist() == ["x0", "x1", "x2"]
    assert sorted(path.name for path in checkpoint.iterdir()) == ["spark", "state.streamsift"]


def test_one_selector_for_each_key(spark: Any, tmp_path: Path) -> None:
    source, out = tmp_path / "rows", tmp_path / "found"
    spark_driver.write_source(source, 3, N_ROWS)
    last = source / "part002.parquet"
    last.rename(tmp_path / "later")
    for name in ("later", None):  # the second query goes on from the states of the first
        rows = spark.readStream.schema(spark_driver.SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(source))
        chosen = stream_by_key(rows, Screener("fisher", n_features_to_select=1), "colour", target="y")
        writer = chosen.writeStream.outputMode("update").option("checkpointLocation", str(tmp_path / "notes"))
        query = writer.foreachBatch(lambda frame, number: pq.write_table(frame.toArrow(), f"{out}.{number}"))
        query.trigger(availableNow=True).start().awaitTermination()
        if name:
            (tmp_path / name).rename(last)
    latest = {row["key"]: row for number in range(3) for row in pq.read_table(f"{out}.{number}").to_pylist()}
    table = pa.concat_tables(pq.read_table(path) for path in sorted(source.iterdir())).to_pandas()
    assert latest.keys() == set(table["colour"])
    for key, mine in table.groupby("colour"):
        expected = Screener("fisher", n_features_to_select=1).fit(mine[["x0", "x1", "x2"]], mine["y"])
        assert latest[key]["rows"] == len(mine)
        assert latest[key]["feature"] == expected.selection().names[0]
        assert latest[key]["score"] == pytest.approx(expected.scores_.max(), rel=1e-9)


def test_what_is_no_stream(spark: Any, source: Path, tmp_path: Path) -> None:
    table = spark.read.parquet(str(source))
    with pytest.raises(ParameterError, match=r"that spark\.readStream gives"):
        stream(table, Screener("fisher"), tmp_path, target="y")
    rows = spark.readStream.schema(spark_driver.SCHEMA).parquet(str(source))
    with pytest.raises(ParameterError, match="has learnt already"):
        stream(rows, Screener("fisher").fit([[0.0], [1.0]], [0, 1]), tmp_path, target="y")
    with pytest.raises(ParameterError, match="'y' is the target"):
        stream_by_key(rows, Screener("fisher"), "y", target="y")

"""A real Dask cluster on this machine: the answer of one pass, also after a worker was killed."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamsift import Screener
from streamsift.cli.errors import run
from streamsift.cli.main import cli
from streamsift.core.exceptions import ParameterError, ReaderError, StreamsiftError
from streamsift.engines import select, select_by_key
from tests.engines.slow_part import Slow
from tests.engines.tables import assert_same, frame, one_pass, write_parts

distributed = pytest.importorskip("distributed", reason="skipped: no dask.distributed (pip install 'streamsift[dask]')")
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:distributed"),
    pytest.mark.xdist_group("dask"),
]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize("criterion", ["fisher", "mutual_info"])
def test_files(tmp_path: Path, client: Any, criterion: str) -> None:
    table = write_parts(tmp_path, ".csv", 10)  # more than one level of the tree
    heard: list[float] = []
    found = select(tmp_path, Screener(criterion), "y", engine=client, progress=heard.append)
    assert_same(found, one_pass(Screener(criterion), table), criterion)
    assert heard[-1] == 1.0


def test_a_dask_frame_and_arrays(client: Any) -> None:
    dd = pytest.importorskip("dask.dataframe", reason="skipped: no dask.dataframe")
    da = pytest.importorskip("dask.array", reason="skipped: no dask.array")
    table = frame(0, 900)
    alone = one_pass(Screener("fisher"), table)
    assert_same(select(dd.from_pandas(table, npartitions=5), Screener("fisher"), "y", engine=client), alone, "fisher")
    X, y = table[["n0", "n1", "n4"]].to_numpy(), table["y"].to_numpy().astype(str)
    pair = (da.from_array(X, chunks=(200, 2)), da.from_array(y, chunks=300))
    found = select(pair, Screener("fisher"), engine=client)
    np.testing.assert_allclose(found.scores_, Screener("fisher").fit(X, y).scores_, rtol=1e-9)


def test_one_selector_per_key(tmp_path: Path, client: Any) -> None:
    table = write_parts(tmp_path, ".csv", 2)
    found = select_by_key(tmp_path, Screener("fisher", n_features_to_select=1), "shop", "y", engine=client, jobs=2)
    assert set(found["key"].to_pylist()) == set(table["shop"])


def test_a_part_that_cannot_be_read_is_named(tmp_path: Path, client: Any) -> None:
    write_parts(tmp_path, ".csv", 3)
    (tmp_path / "part2.csv").write_text("n0,y\n")
    with pytest.raises(ReaderError, match=r"part2\.csv cannot be used"):
        select(tmp_path, Screener(), "y", engine=client)


def test_another_version_is_refused(tmp_path: Path, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    write_parts(tmp_path, ".csv", 2)
    monkeypatch.setattr("streamsift.engines.dask.__version__", "9.9.9")
    with pytest.raises(StreamsiftError, match=r"and here is 9\.9\.9: install the same there"):
        select(tmp_path, Screener(), "y", engine=client)


def test_an_address_without_a_scheduler(tmp_path: Path) -> None:
    write_parts(tmp_path, ".csv", 2)
    with pytest.raises(ParameterError, match="no Dask scheduler at 'tcp://127"):
        select(tmp_path, Screener(), "y", engine="tcp://127.0.0.1:1")


def test_a_killed_worker_changes_nothing(tmp_path: Path, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from streamsift.engines import select as _  # noqa: F401 - the module, for the line below
    from streamsift.engines.dask import DaskEngine
    from streamsift.engines.parts import find_parts
    from streamsift.engines.work import Job, unpacked

    (tmp_path / "data").mkdir()
    table = write_parts(tmp_path / "data", ".csv", 6)
    mark = tmp_path / "mark"
    parts = [Slow(part, str(mark)) for part in find_parts(tmp_path / "data", 1)]
    killed: list[int] = []

    def kill() -> None:
        while not killed:
            time.sleep(0.05)
            if mark.exists() and (begun := mark.read_text().split()):
                killed.append(int(begun[0]))
                os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    state = DaskEngine(client, 2).fold(Job.of(Screener("fisher"), "y", {}, 1000), parts, lambda fraction: None)
    thread.join()
    assert killed
    assert_same(unpacked(state), one_pass(Screener("fisher"), table), "fisher")


def test_a_worker_without_streamsift_is_refused(tmp_path: Path, client: Any) -> None:
    def hide() -> None:  # on the workers, as if it had never been installed there
        import importlib.metadata as installed

        found = installed.version

        def version(name: str) -> str:
            if name == "streamsift":
                raise installed.PackageNotFoundError(name)
            return found(name)

        installed.version, installed.hidden = version, found  # type: ignore[attr-defined]

    def show() -> None:
        import importlib.metadata as installed

        installed.version = installed.hidden  # type: ignore[attr-defined]

    write_parts(tmp_path, ".csv", 2)
    client.run(hide)
    try:
        with pytest.raises(StreamsiftError, match=r"The Dask worker tcp://\S+ has no streamsift: install streamsift=="):
            select(tmp_path, Screener(), "y", engine=client)
    finally:
        client.run(show)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As docs/scale.md has it: a cluster of its own is started and ended."""
    table = write_parts(tmp_path, ".csv", 3)
    asked = ["select", str(tmp_path), "--target", "y", "--engine", "dask", "--jobs", "2"]
    code = run(cli, [*asked, "--method", "screen:fisher", "-k", "2", "--json"])
    told = capsys.readouterr()
    assert code == 0, told.err
    alone = one_pass(Screener("fisher", n_features_to_select=2), table).selection()
    found = json.loads(told.out)
    assert found["n_rows_seen"] == len(table)
    assert [row["name"] for row in found["selected"]] == list(alone.names)
    np.testing.assert_allclose([row["score"] for row in found["selected"]], alone.scores, rtol=1e-9)

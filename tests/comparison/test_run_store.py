"""Finished runs are found again by their values; what is damaged was not finished."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from streamsift.comparison import run_store
from streamsift.comparison.run_store import SETTINGS, RunStore


@dataclass(frozen=True)
class Setting:
    method: str
    rate: float | None


@dataclass(frozen=True)
class Task:
    setting: Setting
    folder: str
    seed: int = 0


TASK = Task(Setting("screen:fisher", 0.1), "/data/ä b")


def test_a_run_is_found_by_its_values_and_by_all_of_them(tmp_path):
    RunStore(tmp_path / "runs").add(TASK, {"accuracy": 0.1 + 0.2, "selection": [float("inf"), None]})
    store = RunStore(tmp_path / "runs")
    assert store.find(Task(Setting("screen:fisher", 0.1), "/data/ä b")) == {
        "accuracy": 0.1 + 0.2,
        "selection": [float("inf"), None],
    }
    for other in (
        Task(Setting("screen:fisher", 0.2), "/data/ä b"),
        Task(Setting("screen:fisher", None), "/data/ä b"),
        Task(Setting("screen:fisher", 0.1), "/data/ä_b"),
        Task(Setting("screen:fisher", 0.1), "/data/ä b", 1),
    ):
        assert store.find(other) is None
        assert store.path(other) != store.path(TASK)


def test_the_file_of_a_run_has_a_name_people_can_read(tmp_path):
    path = RunStore(tmp_path).path(TASK)
    assert path.name.startswith("screen_fisher_0.1_") or path.name.startswith("screen_fisher-0.1-")
    assert path.parent == tmp_path
    assert RunStore(tmp_path).path(TASK, ".parquet").name == f"{path.stem}.parquet"
    long = Task(Setting("m" * 500, None), "")
    assert len(RunStore(tmp_path).path(long).name) < 100


@pytest.mark.parametrize("content", [b"", b'{"run": ', b"[]", b"5", b"\xff\xfe", b'{"run": {}, "found": {"a": 1}}'])
def test_a_damaged_record_is_a_run_that_was_not_finished(tmp_path, content):
    store = RunStore(tmp_path)
    store.add(TASK, {"accuracy": 0.5})
    store.path(TASK).write_bytes(content)
    assert store.find(TASK) is None
    store.add(TASK, {"accuracy": 0.7})
    assert store.find(TASK) == {"accuracy": 0.7}


CURVE = {"rows": [1, 2], "accuracy": [0.1, 0.2]}
FOUND = {"accuracy": 0.5, "memory": 9, "names": ["a"], "curve": CURVE, "late": float("inf")}


def places(found, above=()):
    """Where something could be changed."""
    inner = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    return [above, *(place for key, value in inner for place in places(value, (*above, key)))]


@pytest.mark.parametrize("value", ["text", None, [], {}, -1, float("-inf"), [[1]]], ids=repr)
@pytest.mark.parametrize("place", [place for place in places(FOUND) if place], ids=repr)
def test_a_record_in_which_any_value_was_changed_is_a_run_that_was_not_finished(tmp_path, place, value):
    """Whatever reads it would fail, or report a wrong figure."""
    store = RunStore(tmp_path)
    store.add(TASK, FOUND)
    assert store.find(TASK) == FOUND
    record = json.loads(store.path(TASK).read_text("utf-8"))
    *above, last = place
    changed = record["found"]
    for key in above:
        changed = changed[key]
    changed[last] = value
    store.path(TASK).write_text(json.dumps(record))
    assert store.find(TASK) is None


def test_a_record_without_a_digest_is_taken_as_it_is(tmp_path):
    """As written before there were digests: hours of runs may be in such a folder."""
    store = RunStore(tmp_path)
    store.add(TASK, {1: 0.5})
    assert store.find(TASK) == {"1": 0.5}
    record = json.loads(store.path(TASK).read_text("utf-8"))
    del record["digest"]
    store.path(TASK).write_text(json.dumps(record))
    assert store.find(TASK) == {"1": 0.5}


def test_a_record_without_what_was_found_is_not_finished(tmp_path):
    store = RunStore(tmp_path)
    store.add(TASK, {"accuracy": 0.5})
    record = json.loads(store.path(TASK).read_text("utf-8"))
    store.path(TASK).write_text(json.dumps(record | {"found": None}))
    assert store.find(TASK) is None


def test_another_version_of_the_package_finds_nothing(tmp_path, monkeypatch):
    RunStore(tmp_path).add(TASK, {"accuracy": 0.5})
    monkeypatch.setattr(run_store, "__version__", "99.0")
    assert RunStore(tmp_path).find(TASK) is None


def test_without_a_folder_nothing_is_kept():
    store = RunStore(None)
    store.add(TASK, {"accuracy": 0.5})
    assert store.find(TASK) is None
    assert store.path(TASK) is None
    assert store.difference({"seed": 1}) is None


def test_settings_are_noted_once_and_compared_later(tmp_path):
    store = RunStore(tmp_path / "runs")
    assert store.difference({"seed": 1, "rows": 5}) is None
    assert store.difference({"seed": 1, "rows": 5}) is None
    assert store.difference({"seed": 1, "rows": 6}) == ("rows", 5, 6)
    assert store.difference({"seed": 1}) == ("rows", 5, None)
    (tmp_path / "runs" / SETTINGS).write_text("{")
    assert store.difference({"seed": 2}) is None

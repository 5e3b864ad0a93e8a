"""Checkpoints: a run that is interrupted anywhere and resumed ends as one that nobody disturbed."""

from __future__ import annotations

import json
import shutil
import zipfile

import numpy as np
import pytest

from streamsift import catalog, persist
from streamsift.checks.samples import same_state
from streamsift.core.exceptions import (
    InputError,
    ParameterError,
    ReaderError,
    SavedStateError,
)
from streamsift.runs import instances
from streamsift.runs.checkpoint import Checkpoint, Checkpointing, Every, saved_run
from streamsift.runs.lead import lead
from streamsift.runs.run import Run
from streamsift.runs.trace import Trace

METHODS = {"rows": "fires", "columns": "osfs", "instances": "etana"}
KINDS = pytest.mark.parametrize("kind", METHODS)
EACH = Every(None, 1)  # a checkpoint after each step

pytestmark = pytest.mark.filterwarnings("ignore:Going on:streamsift.core.exceptions.ReadingNotice")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Judge a few held-out rows at a time, so that there are steps."""
    monkeypatch.setattr(instances, "BLOCK", 8)
    monkeypatch.setattr(instances.Examination.steps, "__defaults__", (8,))


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 240)
    X = rng.normal(size=(240, 6)) + 2.0 * y[:, None] * [0, 1, 0, 0, 0.5, 0]
    colour = [f"c{k}" for k in rng.integers(0, 2 + np.arange(240) // 40)]
    path = tmp_path / "table.csv"
    rows = [",".join([*(f"{v:.3f}" for v in x), c, "ab"[k]]) for x, c, k in zip(X, colour, y, strict=True)]
    path.write_text("\n".join(["p,q,r,s,t,u,colour,y", *rows]) + "\n")
    return path


def make(method):
    selector = catalog.make(method)
    return selector.set_params(random_state=0) if "random_state" in selector.get_params() else selector


def about(method, table, selector, **settings):
    kind = catalog.entry(method).kind
    ignored = [] if kind != "columns" and takes_categories(method) else ["colour"]
    split = table.name in ("left.csv", "right.csv")  # which have no such column
    chosen = {"batch_size": 30, "ignore": [] if split else ignored} | settings
    return Run(method, kind, table.name, "y", selector.get_params(), chosen)


def takes_categories(method):
    return getattr(catalog.make(method).stream_tags(), "categorical", "codes") != "refuses"


class Kill(Exception):
    """As sudden as a signal that nobody can catch."""


def killed_after(n_steps, error):
    left = [n_steps]

    def show(step):
        left[0] -= 1
        if left[0] < 0:
            raise error

    return show


def led(method, table, where, *, checkpoint=None, selector=None, show=lambda step: None, **settings):
    selector = make(method) if selector is None else selector
    ended = lead(selector, about(method, table, selector, **settings), table, trace_path=where,
                 checkpoint=checkpoint, show=show)  # fmt: skip
    return ended, selector


def resumed(method, table, where, path, **options):
    begin = Checkpoint.read(path)
    begin.refuse_other_run(about(method, table, make(method)))
    return led(method, table, where, checkpoint=Checkpointing(path, EACH, begin), selector=begin.selector, **options)


def same(ended, where, selector, calm):
    """The same result, trace and state as those of the calm run."""
    expected, trace, state = calm
    found, wanted = ended.as_dict(), expected.as_dict()
    for document in (found, wanted):
        document.pop("seconds")
        document["parameters"] = json.loads(json.dumps(document["parameters"]))
    assert repr(found) == repr(wanted)
    now, then = Trace.read(where), Trace.read(trace)
    columns = [name for name in now.table.schema.names if name != "seconds"]
    assert repr(now.table.select(columns).to_pylist()) == repr(then.table.select(columns).to_pylist())
    assert (now.names, now.n_features) == (then.names, then.n_features)
    same_state(selector.state_arrays(), state, "resuming")


def calm_run(method, table, tmp_path):
    ended, selector = led(method, table, tmp_path / "calm.parquet")
    return ended, tmp_path / "calm.parquet", selector.state_arrays()


@pytest.mark.parametrize("method", catalog.names())
def test_every_method_goes_on_after_every_third_step(method, table, tmp_path):
    calm = calm_run(method, table, tmp_path)
    path, where = tmp_path / "run.ckpt", tmp_path / "trace.parquet"
    for _ in range(30):
        begin = Checkpoint.read(path) if path.exists() else None
        selector = make(method) if begin is None else begin.selector
        try:
            ended, selector = led(
                method, table, where, selector=selector, checkpoint=Checkpointing(path, EACH, begin),
                show=killed_after(3, Kill()),
            )  # fmt: skip
            break
        except Kill:
            pass
    same(ended, where, selector, calm)
    again, selector = resumed(method, table, where, path)  # of a run that is complete nothing is left to do
    same(again, where, selector, calm)


@KINDS
def test_an_interrupt_writes_what_was_done_up_to_the_step_before(kind, table, tmp_path):
    method, path, where = METHODS[kind], tmp_path / "run.ckpt", tmp_path / "trace.parquet"
    calm = calm_run(method, table, tmp_path)
    never = Checkpointing(path, Every(1e9))
    ended, _ = led(method, table, where, checkpoint=never, show=killed_after(2, KeyboardInterrupt()))
    assert (ended.run.complete, ended.kept) == (False, True)
    where.unlink()
    ended, selector = resumed(method, table, where, path)
    same(ended, where, selector, calm)


@KINDS
def test_nothing_is_kept_of_a_run_that_is_interrupted_at_once(kind, table, tmp_path):
    keeping = Checkpointing(tmp_path / "run.ckpt")
    ended, _ = led(METHODS[kind], table, None, checkpoint=keeping, show=killed_after(0, KeyboardInterrupt()))
    assert (ended.run.complete, ended.kept, keeping.path.exists()) == (False, False, False)


def test_how_often_it_is_written(table, tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(persist, "write", lambda path, selector, sections: written.append(sections))
    led("screen:t_score", table, None, checkpoint=Checkpointing(tmp_path / "c", Every(None, 90)))
    assert [parts["position"].facts["course"]["rows"] for parts in written] == [90, 180, 240]
    written.clear()
    led("screen:t_score", table, None, checkpoint=Checkpointing(tmp_path / "c", Every(0.0)))
    assert [parts["position"].facts["course"]["rows"] for parts in written] == [*range(30, 241, 30), 240]


@pytest.mark.parametrize("text", ["", "60", "-1s", "rows", "0rows", "1.5rows", "5 days", "nan s", "1e9s"])
def test_distances_that_are_none(text):
    with pytest.raises(ParameterError, match="write 60s, 5m, 2h or 10000rows"):
        Every.parse(text)


# -- sources that changed ---------------------------------------------------------------------------------------------


def interrupted(method, table, tmp_path):
    path = tmp_path / "run.ckpt"
    led(method, table, None, checkpoint=Checkpointing(path, EACH), show=killed_after(2, KeyboardInterrupt()))
    return path


@KINDS
def test_a_source_that_changed_is_refused(kind, table, tmp_path):
    path = interrupted(METHODS[kind], table, tmp_path)
    text = table.read_text()
    changes = {
        "has grown since .* --load": text + text.splitlines()[-1] + "\n",
        "its size differ": text[: text.rindex("\n", 0, -1) + 1],
        "its first bytes differ": text.replace("p,q", "p,z", 1),
        "its last bytes differ": text[:-2] + ("a" if text[-2] == "b" else "b") + "\n",
    }
    for words, changed in changes.items():
        table.write_text(changed)
        with pytest.raises(ReaderError, match=words):
            resumed(METHODS[kind], table, None, path)
    table.write_text(text)
    shutil.move(table, tmp_path / "other.csv")
    assert resumed(METHODS[kind], tmp_path / "other.csv", None, path)[0].run.complete  # a file may be moved


def test_other_options_are_refused(table, tmp_path):
    path = interrupted("screen:t_score", table, tmp_path)
    begin, selector = Checkpoint.read(path), catalog.make("screen:t_score", n_features_to_select=3)
    with pytest.raises(ParameterError, match="n_features_to_select=10, and now it is 3: give the same options"):
        begin.refuse_other_run(about("screen:t_score", table, selector))
    with pytest.raises(ParameterError, match="batch_size=30, and now it is 31"):
        begin.refuse_other_run(about("screen:t_score", table, make("screen:t_score"), batch_size=31))


# -- going on with other data -----------------------------------------------------------------------------------------


def test_rows_go_on_with_a_second_file(table, tmp_path):
    lines = table.read_text().splitlines(keepends=True)
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text("".join(lines[:121]))
    second.write_text("".join([lines[0], *lines[121:]]))
    whole, _ = led("screen:mutual_info", table, None)
    _, selector = led("screen:mutual_info", first, None, checkpoint=Checkpointing(tmp_path / "run.ckpt"))
    loaded = persist.load(tmp_path / "run.ckpt")
    same_state(loaded.state_arrays(), selector.state_arrays(), "loading a checkpoint")
    run = about("screen:mutual_info", second, loaded)
    ended = lead(loaded, run, second, goes_on=True, before=saved_run(tmp_path / "run.ckpt"))
    assert ended.as_dict()["selected"] == whole.as_dict()["selected"]
    assert ended.as_dict()["n_rows_seen"] == 240


def split_by_columns(table, tmp_path):
    cells = [line.split(",") for line in table.read_text().splitlines()]
    paths = tmp_path / "left.csv", tmp_path / "right.csv"
    for path, chosen in zip(paths, (range(3), range(3, 6)), strict=True):
        path.write_text("".join(",".join([*(row[k] for k in chosen), row[-1]]) + "\n" for row in cells))
    return paths


def test_columns_go_on_with_further_columns_of_the_same_rows(table, tmp_path):
    left, right = split_by_columns(table, tmp_path)
    whole, calm = led("osfs", table, None)
    led("osfs", left, None, checkpoint=Checkpointing(tmp_path / "run.ckpt"))
    loaded, before = persist.load(tmp_path / "run.ckpt"), saved_run(tmp_path / "run.ckpt")
    where = tmp_path / "trace.parquet"
    ended = lead(loaded, about("osfs", right, loaded), right, goes_on=True, before=before, trace_path=where)
    assert ended.as_dict()["selected"] == whole.as_dict()["selected"]
    assert (ended.result.n_features, ended.result.n_offered) == (6, 6)
    table_of_trace = Trace.read(where).table
    assert table_of_trace["offered"].to_pylist() == [4, 5, 6]
    assert table_of_trace["n_selected"].to_pylist()[-1] == len(calm.selected_)
    right.write_text(right.read_text().replace(",a\n", ",b\n", 1))
    loaded = persist.load(tmp_path / "run.ckpt")
    with pytest.raises(InputError, match="compares columns of the same rows"):
        lead(loaded, about("osfs", right, loaded), right, goes_on=True, before=before)
    with pytest.raises(InputError, match="compares columns of the same rows"):
        lead(loaded, about("osfs", left, loaded), left, goes_on=True)  # nobody knows of which rows it was


def test_a_method_that_needs_all_columns_at_once_does_not_go_on(table, tmp_path):
    _, selector = led("stepwise", table, None)
    with pytest.raises(InputError, match="Stepwise looks at all columns at once"):
        lead(selector, about("stepwise", table, selector), table, goes_on=True)


def test_instances_go_on_with_further_rows(table):
    _, model = led("etana", table, None)
    n_rows = model.n_rows_seen_
    ended = lead(model, about("etana", table, model), table, goes_on=True)
    assert model.n_rows_seen_ == 2 * n_rows
    assert ended.run.complete


# -- damaged and forged -----------------------------------------------------------------------------------------------


def rewritten(path, member, change):
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    found = change(members[member])
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (members | {member: found}).items():
            if content is not None:
                archive.writestr(name, content)


def read_or_refused(path):
    try:
        return Checkpoint.read(path)
    except SavedStateError:
        return None


@KINDS
def test_a_flipped_byte_anywhere_is_refused_or_harmless(kind, table, tmp_path):
    path = interrupted(METHODS[kind], table, tmp_path)
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    n_refused = 0
    for place in rng.integers(0, len(whole), 60):
        broken = bytearray(whole)
        broken[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(broken)
        found = read_or_refused(path)
        if found is None:
            n_refused += 1
            continue
        path.write_bytes(whole)  # it was a date or a flag of the zip file, which nobody looks at
        same_state(found.selector.state_arrays(), Checkpoint.read(path).selector.state_arrays(), "a flipped byte")
    assert n_refused > 40
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SavedStateError):
        Checkpoint.read(path)


def in_json(*keys, value):
    def change(content):
        document = json.loads(content)
        inner = document
        for key in keys[:-1]:
            inner = inner[key]
        if value is None:
            inner.pop(keys[-1])
        else:
            inner[keys[-1]] = value
        return json.dumps(document).encode()

    return change


FORGED = [
    ("rows", "run", ("run",), []), ("rows", "run", ("run", "kind"), 3), ("rows", "run", ("run", "settings"), "x"),
    ("rows", "run", ("run", "seconds"), "x"), ("rows", "run", ("run", "more"), 1), ("rows", "run", ("source",), [1]),
    ("rows", "position", ("course",), None), ("rows", "position", ("course", "rows"), -1),
    ("rows", "position", ("course", "rows"), 10**9), ("rows", "position", ("course", "seconds"), -1.0),
    ("rows", "position", ("course", "schedule"), {}), ("rows", "position", ("course", "schedule", "distance"), 0),
    ("rows", "position", ("position",), None), ("rows", "position", ("position", "stream"), 7),
    ("rows", "position", ("position", "stream", "rows"), "9"), ("rows", "position", ("position", "watch", "last"), [1]),
    ("rows", "position", ("position", "stream", "categories", "colour"), [1, 2]),
    ("rows", "trace", ("n_features",), -1), ("rows", "trace", ("n_features",), 2), ("rows", "trace", ("names",), []),
    ("rows", "trace", ("names",), {"-1": "p"}), ("rows", "trace", ("names",), {"99": "p"}),
    ("rows", "trace", ("seconds",), "long"), ("rows", "trace", ("arrays",), ["row"]), ("rows", "trace", ("arrays",), 3),
    ("columns", "position", ("block",), -1), ("columns", "position", ("n_offered",), 77),
    ("columns", "position", ("column",), "x"), ("columns", "trace", ("stride",), 0),
    ("columns", "trace", ("unchanged",), [99]), ("columns", "trace", ("n_accepted",), None),
    ("columns", "trace", ("n_offered",), 0), ("instances", "position", ("seconds",), None),
    ("instances", "position", ("arrays",), []), ("instances", "trace", ("n_features",), "x"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "section", "keys", "value"), FORGED)
def test_a_forged_checkpoint_is_refused(kind, section, keys, value, table, tmp_path):
    path = interrupted(METHODS[kind], table, tmp_path)
    rewritten(path, f"{section}/manifest.json", in_json(*keys, value=value))
    with pytest.raises(SavedStateError) as caught:
        resumed(METHODS[kind], table, None, path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("section", ["run", "position", "trace"])
def test_a_checkpoint_without_a_section_is_refused(section, table, tmp_path):
    path = interrupted("screen:t_score", table, tmp_path)
    rewritten(path, f"{section}/manifest.json", lambda content: None)
    with pytest.raises(SavedStateError, match=f"is damaged: {section}/manifest.json is missing"):
        Checkpoint.read(path)


def test_a_saved_selector_is_no_checkpoint(tmp_path):
    persist.save(catalog.make("screen:t_score").fit([[0.0], [1.0]], [0, 1]), tmp_path / "s")
    with pytest.raises(SavedStateError, match="is a saved selector but no checkpoint"):
        Checkpoint.read(tmp_path / "s")

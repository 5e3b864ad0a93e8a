"""The live views and the tables, drawn on a recording console instead of a terminal."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from rich.console import Console

from streamsift.cli.demo import RUNS, Race
from streamsift.cli.display import RunView
from streamsift.cli.table import print_table
from streamsift.core.selection import Selection
from streamsift.runs.columns import ColumnStep
from streamsift.runs.instances import InstanceStep, Judged
from streamsift.runs.rows import RowStep, Snapshot


def drawn(view):
    console = Console(width=100, force_terminal=False)
    with console.capture() as capture:
        console.print(view.render())
    return capture.get()


def step(names, scores, *, rows=1000, progress=0.25, relevant=None):
    indices = np.array([int(name.rpartition("_")[2]) for name in names])
    values = None if scores is None else np.array(scores)
    snapshot = Snapshot(Selection(indices, tuple(names), values, 9, rows), None, None, relevant, False)
    return RowStep(rows, 2.0, progress, snapshot)


def test_before_the_first_batch_it_says_that_it_reads():
    assert "reading" in drawn(RunView())


def test_rows_speed_progress_and_the_leaders():
    view = RunView()
    view.update(step(["f_1", "f_2"], [4.0, 2.0]))
    lines = drawn(view).splitlines()
    assert all(words in lines[0] for words in ("25%", "1,000 rows", "500 rows/s"))
    assert "f_1" in lines[1]
    assert lines[1].count("━") == 2 * lines[2].count("━") > 0


def test_movements_are_marked():
    view = RunView()
    view.update(step(["f_1", "f_2", "f_3"], [4.0, 2.0, 1.0]))
    view.update(RowStep(1500, 2.5, None, None))
    view.update(step(["f_2", "f_1", "f_4"], [4.0, 2.0, 1.0], rows=2000, progress=None))
    _, up, down, new = drawn(view).splitlines()
    assert "▲1" in up
    assert "▼1" in down
    assert "new" in new


@pytest.mark.parametrize("scores", [None, [np.inf, 1.0], [0.0, 0.0]])
def test_scores_that_have_no_bar(scores):
    view = RunView()
    view.update(step(["f_1", "f_2"], scores))
    assert "━" not in drawn(view).partition("\n")[2]


def test_columns_show_the_latest_and_no_ranks():
    view = RunView()
    view.update(ColumnStep(10, 2.0, 0.5, None, (("f_2", 4.0), ("f_1", 8.0))))
    view.update(ColumnStep(20, 4.0, 1.0, None, (("f_7", 2.0), ("f_2", 4.0), ("f_1", 8.0))))
    head, newest, middle, oldest = drawn(view).splitlines()
    assert all(words in head for words in ("100%", "20 columns", "5 columns/s"))
    assert "new" in newest
    assert "▼" not in middle + oldest
    assert oldest.count("━") == 2 * middle.count("━") == 4 * newest.count("━") > 0


def test_instances_show_what_is_bought():
    view = RunView()
    view.update(InstanceStep(0, 1.0, 0.0, None, ()))
    assert "0 held-out rows" in drawn(view)
    nothing = np.empty(0)
    judged = Judged(nothing, nothing, nothing, nothing, nothing, nothing)
    view.update(InstanceStep(90, 2.0, 1.0, judged, (("f_1", 1.0), ("f_2", 0.5))))
    head, first, second = drawn(view).splitlines()
    assert "45 held-out rows/s" in head
    assert first.count("━") == 2 * second.count("━") > 0


def test_a_hostile_name_cannot_steer_the_terminal():
    view = RunView()
    view.update(step(["\x1b[2J_1"], [1.0]))
    assert "\x1b[2J" not in drawn(view)


def test_the_race_marks_found_missed_and_wrong_features():
    view = RunView(Race())
    for _ in RUNS:
        view.update(step(["f_1", "f_5"], [2.0, 1.0], relevant=np.array([1, 2])))
    head, *lines = drawn(view).splitlines()
    assert "1,000 rows" in head
    for name, line in zip(RUNS, lines, strict=True):
        assert line.startswith(name)
        assert "·█▁··█···" in line
        assert "50% found" in line


def test_a_table_on_a_terminal_is_drawn(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_table(["feature", "score"], [["[bold]height[/bold]", "1.5"]], numeric=["score"])
    out = capsys.readouterr().out
    assert "─" in out
    assert "[bold]height[/bold]" in out  # names are not markup

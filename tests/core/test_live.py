"""Live progress: a notebook sees a bar that moves in place, anybody else nothing."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from streamsift import Screener, compare, prequential
from streamsift.core import live
from streamsift.core.live import LiveLine, Look, in_notebook, live_line
from streamsift.engines import select
from streamsift.streams import generate


class Screen:
    """What IPython's `display` and its handles do: remember what was shown, and how often in a new place."""

    def __init__(self):
        self.shown, self.places = [], 0

    def __call__(self, look, *, display_id):
        assert display_id is True
        self.places += 1
        self.update(look)
        return self

    def update(self, look):
        self.shown.append(look)


@pytest.fixture
def notebook(monkeypatch):
    """A notebook whose clock goes on by a second whenever it is asked."""
    screen, ticks = Screen(), iter(range(10**9))
    module, display = ModuleType("IPython"), ModuleType("IPython.display")
    module.get_ipython = lambda: SimpleNamespace(kernel=object())
    display.display = screen
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    line = LiveLine
    monkeypatch.setattr(live, "LiveLine", lambda what, shown: line(what, shown, lambda: float(next(ticks))))
    return screen


def test_a_line_waits_before_the_first_look_and_between_two():
    screen, now = Screen(), [0.0]
    line = LiveLine("reading", screen, lambda: now[0])
    for tenth in range(11):
        now[0] = tenth / 10
        line.tell(tenth / 10, f"{tenth}")
    assert [look.words for look in screen.shown] == ["5", "8"]
    line.end(done=True)
    assert screen.places == 1  # all in one place
    assert screen.shown[-1] == Look("reading", 1.0, "10", 1.0, ended=True)


def test_a_short_run_shows_nothing_at_all():
    screen = Screen()
    line = LiveLine("reading", screen, lambda: 0.0)
    line.tell(0.5, "half")
    line.end(done=True)
    assert screen.shown == []


@pytest.mark.parametrize("shell", [None, SimpleNamespace()])
def test_neither_a_script_nor_a_terminal_is_a_notebook(monkeypatch, shell):
    module = ModuleType("IPython")
    module.get_ipython = lambda: shell
    monkeypatch.setitem(sys.modules, "IPython", module)
    assert not in_notebook()
    monkeypatch.delitem(sys.modules, "IPython")
    assert not in_notebook()
    with live_line("reading") as tell:
        assert tell(0.5, "half") is None


def test_what_was_interrupted_says_so(notebook):
    def read():
        with live_line("reading") as tell:
            tell(0.25, "3 rows")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read()
    assert repr(notebook.shown[-1]) == "reading: 25% stopped: 3 rows"


def test_a_look_is_a_bar_and_names_are_no_markup():
    half = Look("<b>", 0.5, "9 <i>", 61.0)._repr_html_()
    assert "width: 50.0%" in half
    assert "9 &lt;i&gt;, 1 min 1 s" in half
    assert "<b>" not in half
    assert "%" not in Look("reading", None, "9 rows", 1.0)._repr_html_().partition("9 rows")[2]
    assert "width: 180px" not in Look("reading", 1.0, "9 rows", 1.0, ended=True)._repr_html_()


def test_prequential_is_followed_in_a_notebook(notebook):
    stream = generate("linear_drift", n_rows=500, seed=0, n_features=10, n_relevant=2, shift_every=1000)
    prequential(stream, Screener(n_features_to_select=2), "naive_bayes")
    assert notebook.places == 1
    assert [look.fraction for look in notebook.shown] == [0.2, 0.4, 0.6, 0.8, 1.0, 1.0]
    assert notebook.shown[2].words == "300 rows, 2 features selected"
    notebook.shown.clear()
    heard = []
    prequential(stream, Screener(), "naive_bayes", progress=lambda *told: heard.append(told))
    assert len(heard) == 5
    assert notebook.shown == []  # somebody else follows it


def test_compare_is_followed_in_a_notebook(notebook):
    compare("generate:sea", methods=["screen:fisher"], baselines=["random"], models=["nb"], repeats=2, n_rows=600)
    assert notebook.places == 1  # the runs inside have no line of their own
    words = [look.words for look in notebook.shown]
    assert any(text.startswith("1 of 4 runs, now ") for text in words)
    assert words[-1].startswith("4 of 4 runs; best so far: ")
    fractions = [look.fraction for look in notebook.shown]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


def test_a_table_in_parts_is_followed_in_a_notebook(notebook, tmp_path):
    for part in range(3):
        rows = "".join(f"{row % 5},{row % 2}\n" for row in range(40))
        (tmp_path / f"{part}.csv").write_text("a,y\n" + rows)
    select(tmp_path, Screener("fisher"), "y", jobs=1)
    assert notebook.places == 1
    assert notebook.shown[-1].what == "select"
    fractions = [look.fraction for look in notebook.shown]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    notebook.shown.clear()
    heard = []
    select(tmp_path, Screener("fisher"), "y", jobs=1, progress=heard.append)
    assert heard
    assert notebook.shown == []  # somebody else follows it

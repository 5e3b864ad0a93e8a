"""Repeats of an exhibit: kept, combined with standard errors, resumed within their hours; and claims and orders."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from streamsift.cli import reproduce_all
from streamsift.cli.errors import run
from streamsift.cli.main import cli
from streamsift.core.exceptions import InputError
from streamsift.reproduce import everything, figure_verdict
from streamsift.reproduce.claims import CLAIMS, judged_claims
from streamsift.reproduce.everything import ExhibitTask, plan
from streamsift.reproduce.order import method_order, rank_correlation
from streamsift.reproduce.papers import published_table
from streamsift.reproduce.printed import MOST_REPEATS, TABLES, PrintedTable
from streamsift.reproduce.record import (
    combined,
    fingerprint,
    mean_series,
    pooled,
    read_kept,
    record,
    rests_on,
    settings,
    with_repeat,
)
from streamsift.reproduce.result import Options, Pair, Result, Series


def result(*values, n_left=0):
    cells = [Pair("table1", f"cell {k}", ours, there) for k, (ours, there) in enumerate(values)]
    return Result("A table", "", "", ["a"], [["x"]], "", "", [], cells, [], n_left)


def repeat(seed, *values, n_left=0, seconds=1.0):
    return {"seed": seed, "seconds": seconds, "result": result(*values, n_left=n_left).as_dict()}


# -- records ----------------------------------------------------------------------------------------------------------


def test_repeats_become_means_with_standard_errors():
    values = np.random.default_rng(0).normal(size=7)
    (cell,) = combined([[Pair("t", "a", float(value), 1.0)] for value in values])
    assert cell.ours == pytest.approx(np.mean(values))
    assert cell.error == pytest.approx(np.std(values, ddof=1) / math.sqrt(7))
    assert cell.repeats == 7
    (alone,) = combined([[Pair("t", "a", 2.0, 1.0)]])
    assert (alone.ours, alone.error, alone.repeats) == (2.0, None, 1)  # one says nothing of its error
    assert combined([[Pair("t", "a", "mc", "mc")]] * 2)[0].ours == "mc"
    assert combined([[Pair("t", "a", 0.07, 1.0)]] * 10)[0].error == 0.0  # equal values, not what rounding leaves


def one_record(seeds):
    """A record of an exhibit that depends on the seed alone."""
    repeats = []
    for seed in seeds:
        values = np.random.default_rng(seed).normal(5.0, size=3)
        line = Series("panel", "line", [1.0, 2.0], values[:2].tolist())
        named = Series("panel", "named", ["a"], [float(seed)])
        found = result((float(values[0]), 4.0), (float(values[2]), 1.0), ("a", "a"))
        found = replace(found, series=[line, named], note="Of 3 cells 2 are near.")
        repeats.append({"seed": seed, "seconds": 1.0, "result": found.as_dict()})
    kept = {"settings": {"rows": None, "brief": False}, "commits": ["c"], "repeats": repeats}
    command = f"streamsift reproduce abfs --table 3 --repeats {len(seeds)} --data DIR -o out/"
    return record("abfs", "table 3", kept, command=command, paper_repeats=30)


@pytest.mark.parametrize(("first", "second"), [([1], [2]), ([1, 2, 3], [4]), ([1], [2, 3, 4, 5]), ([1, 2], [3, 4, 5])])
def test_repeats_of_two_folders_add_up_to_those_of_one(first, second):
    together, both = one_record([*first, *second]), pooled(one_record(first), one_record(second))
    assert {**both, "cells": 0, "series": 0} == {**together, "cells": 0, "series": 0}
    for cell, other in zip(both["cells"], together["cells"], strict=True):
        assert cell["repeats"] == other["repeats"]
        if isinstance(cell["ours"], str):
            assert cell == other
        else:
            assert cell["ours"] == pytest.approx(other["ours"], rel=1e-5)
            assert cell["error"] == pytest.approx(other["error"], rel=1e-3)
    for line, other in zip(both["series"], together["series"], strict=True):
        assert line["x"] == other["x"]
        assert line["y"] == pytest.approx(other["y"], rel=1e-5)
        assert line["error"] == pytest.approx(other["error"], rel=1e-3)


def test_errors_of_lines_are_those_of_single_values():
    values = np.random.default_rng(1).normal(size=(4, 2))
    repeats = [[Series("panel", "line", ["a", "b", "c"], [*row.tolist(), 0.07])] for row in values]
    (line,) = mean_series(repeats)
    assert line.error == pytest.approx([*(values.std(axis=0, ddof=1) / 2.0), 0.0], rel=1e-5)
    (alone,) = mean_series(repeats[:1])
    assert alone.error is None  # one says nothing of its error
    assert "error" not in one_record([1])["series"][0]


def test_lines_kept_without_errors_get_none_by_adding_up():
    old = one_record([1, 2])
    old = {**old, "series": [{name: line[name] for name in line if name != "error"} for line in old["series"]]}
    for line, other in zip(pooled(old, one_record([3]))["series"], one_record([1, 2, 3])["series"], strict=True):
        assert line["y"] == pytest.approx(other["y"], rel=1e-5)
        assert "error" not in line


def test_only_repeats_of_each_other_add_up():
    with pytest.raises(InputError, match=r"The seeds \[1\] do not follow \[1\]: measure with --seed 2"):
        pooled(one_record([1]), one_record([1]))
    with pytest.raises(InputError, match="differ in rows"):
        pooled(one_record([1]), {**one_record([2]), "rows": 500})
    with pytest.raises(InputError, match="only whole repeats"):
        pooled(one_record([1]), {**one_record([2]), "n_left": 3})


def test_a_kept_file_counts_only_whole_and_of_the_same_settings():
    options = Options(seed=2, jobs=2)
    text = json.dumps(with_repeat(None, repeat(2, (1.0, 1.0)), options, "abc"))
    assert read_kept(text, options)["commits"] == ["abc"]
    assert read_kept(text, replace(options, jobs=1, repeats=3, keep="x", until=0.0)) is not None
    assert read_kept(text, replace(options, rows=500)) is None
    assert read_kept(text[:-5], options) is None
    assert read_kept("[]", options) is None


def test_a_data_folder_counts_by_its_files_wherever_it_is(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.npz").write_bytes(b"1234")
    assert fingerprint(str(tmp_path / "one")) == fingerprint(str(tmp_path / "two"))
    (tmp_path / "two" / "a.npz").write_bytes(b"12345")
    assert fingerprint(str(tmp_path / "one")) != fingerprint(str(tmp_path / "two"))
    assert settings(Options())["data"] is None


def test_an_unfinished_repeat_is_replaced_by_what_it_becomes():
    options = Options()
    half = with_repeat(None, repeat(1, (1.0, 1.0), n_left=3, seconds=5.0), options, "abc")
    found = record("fires", "table 3", half, command="c", paper_repeats=0)
    assert (found["repeats"], found["n_left"], rests_on(found)) == (0, 3, "full size, part of the runs")
    whole = with_repeat(half, repeat(1, (1.0, 1.0), (2.0, 2.0), seconds=2.0), options, "def")
    found = record("fires", "table 3", whole, command="c", paper_repeats=30)
    assert (found["repeats"], found["n_left"], found["seconds"]) == (1, 0, 7.0)
    assert found["commits"] == ["abc", "def"]
    assert len(found["cells"]) == 2
    assert rests_on(found) == "full size"
    assert rests_on({**found, "rows": 500}) == "quick"


def test_a_further_repeat_that_is_unfinished_counts_nowhere():
    kept = with_repeat(None, repeat(1, (1.0, 1.0), (2.0, 2.0)), Options(), "abc")
    kept = with_repeat(kept, repeat(2, (9.0, 1.0), n_left=1, seconds=5.0), Options(), "def")
    found = record("abfs", "table 3", kept, command="c", paper_repeats=30)
    assert [(cell["ours"], cell["repeats"]) for cell in found["cells"]] == [(1.0, 1), (2.0, 1)]
    assert (found["seeds"], found["repeats"], found["seconds"]) == ([1], 1, 1.0)
    assert pooled(found, {**found, "seeds": [2]})["repeats"] == 2  # the seed is measured again, elsewhere or here


def test_a_note_with_figures_of_its_own_says_whose_they_are():
    assert one_record([1])["note"] == "Of 3 cells 2 are near."
    assert one_record([1, 2])["note"] == "Of 3 cells 2 are near. (The figures of this note are of seed 1.)"


# -- as often as the time allows --------------------------------------------------------------------------------------


@pytest.fixture
def timed(monkeypatch):
    """Two exhibits that may be repeated ten times; a clock that their measuring moves on by a minute and by an hour."""
    now, called = [0.0], []

    def exhibit(name, cost, options, progress):
        called.append((name, options.seed))
        progress(1, 1)
        if options.until is not None and now[0] + cost > options.until:
            now[0] = options.until
            return result(n_left=1)
        now[0] += cost
        return result((float(options.seed), 1.0))

    named = {
        "cheap": lambda options, progress: exhibit("cheap", 60.0, options, progress),
        "dear": lambda options, progress: exhibit("dear", 3600.0, options, progress),
    }
    tables = tuple(PrintedTable("etana", f"table{name}", "a table", (name,)) for name in ("dear", "cheap"))
    monkeypatch.setattr(everything, "TABLES", tables)
    for module in (everything, figure_verdict):
        monkeypatch.setattr(module, "FIGURES", ())
    monkeypatch.setattr(everything, "exhibits", lambda paper: named)
    monkeypatch.setattr(everything, "MOST_REPEATS", {("etana", name): (10, 30) for name in named})
    monkeypatch.setattr(everything, "SECONDS", {("etana", "dear"): 3600.0})
    monkeypatch.setattr(reproduce_all, "perf_counter", lambda: now[0])
    monkeypatch.setattr(reproduce_all, "monotonic", lambda: now[0])
    return called


def kept_record(folder, name):
    return json.loads((folder / "results" / f"etana-{name}.json").read_text("utf-8"))


def test_cheap_ones_come_first_and_each_is_repeated_within_its_hours(timed, tmp_path, capsys):
    assert run(cli, ["reproduce", "all", "--hours", "2.5", "-o", str(tmp_path)]) == 0
    assert timed == [*(("cheap", seed) for seed in range(1, 11)), ("dear", 1), ("dear", 2)]  # a third: three hours
    cheap, dear = (kept_record(tmp_path, name) for name in ("cheap", "dear"))
    assert (cheap["repeats"], dear["repeats"], dear["paper_repeats"]) == (10, 2, 30)
    assert cheap["cells"][0]["ours"] == 5.5
    assert cheap["cells"][0]["error"] == pytest.approx(np.std(range(1, 11), ddof=1) / math.sqrt(10), rel=1e-5)
    assert "Means over 10 repeats (30 in the paper)" in (tmp_path / "etana-cheap.html").read_text("utf-8")
    timed.clear()
    assert run(cli, ["reproduce", "all", "--hours", "2.5", "-o", str(tmp_path)]) == 0
    assert timed == []  # nothing would end in its time
    assert run(cli, ["reproduce", "all", "--hours", "3.5", "-o", str(tmp_path)]) == 0
    assert timed == [("dear", 3)]


def test_an_exhibit_without_time_for_one_repeat_goes_on_in_the_next_call(timed, tmp_path):
    run(cli, ["reproduce", "all", "--hours", "0.5", "-o", str(tmp_path)])
    assert timed.count(("dear", 1)) == 1
    assert kept_record(tmp_path, "dear")["n_left"] == 1
    assert "full size, part of the runs" in (tmp_path / "verdicts.json").read_text("utf-8")
    assert "No cell of it is finished." in (tmp_path / "verdicts.json").read_text("utf-8")
    run(cli, ["reproduce", "all", "--hours", "2", "-o", str(tmp_path)])
    assert kept_record(tmp_path, "dear")["n_left"] == 0
    assert kept_record(tmp_path, "dear")["repeats"] >= 1


def test_without_hours_everything_is_measured_once(timed, tmp_path):
    run(cli, ["reproduce", "all", "-o", str(tmp_path)])
    assert timed == [("cheap", 1), ("dear", 1)]


def test_only_what_is_named_is_measured(timed, tmp_path, capsys):
    assert run(cli, ["reproduce", "all", "--only", "etana-dear", "-o", str(tmp_path)]) == 0
    assert timed == [("dear", 1)]
    assert run(cli, ["reproduce", "all", "--only", "etana", "-o", str(tmp_path)]) == 0
    assert timed == [("dear", 1), ("cheap", 1)]
    assert kept_record(tmp_path, "dear")["repeats"] == 1  # what the folder holds stays on the page
    capsys.readouterr()
    assert run(cli, ["reproduce", "all", "--only", "etana-deer", "-o", str(tmp_path)]) == 1
    assert "There is no paper or exhibit 'etana-deer'. Did you mean 'etana-dear'?" in capsys.readouterr().err
    assert run(cli, ["reproduce", "all", "--only", ",", "-o", str(tmp_path)]) == 2
    assert run(cli, ["reproduce", "etana", "--table", "2", "--only", "etana", "-o", str(tmp_path)]) == 2


def test_the_plan_repeats_only_what_is_random():
    often = {(task.paper, task.exhibit): task for task in plan(Options(), quick=False, as_often_as_possible=True)}
    assert often["abfs", "table 3"].repeats == 30
    assert often["screening", "table 4"].repeats == 1
    assert all(task.repeats == 1 for name, task in often.items() if name not in MOST_REPEATS)
    assert often["abfs", "table 3"].command == "streamsift reproduce abfs --table 3 --repeats 30 --data DIR -o out/"
    assert ExhibitTask("etana", "rivals", Options()).command == "streamsift reproduce etana --rivals --data DIR -o out/"


def test_the_commit_is_that_of_the_checkout():
    assert reproduce_all.commit()


# -- orders and claims ------------------------------------------------------------------------------------------------


def test_the_order_of_methods():
    cells = [
        Pair("t", f"{data}, {method}", ours, there)
        for data, row in {
            "a": {"x": (3, 5), "y": (2, 4), "z": (1, 9)},
            "b": {"x": (3, 5), "y": (2, 1), "z": (9, 2)},
        }.items()
        for method, (ours, there) in row.items()
    ]
    order = method_order(cells, "higher")
    assert (order.first, order.paper_first, order.n_same, order.n_sets) == ("z", "z", 0, 2)
    assert order.correlation == 1.0
    assert method_order(cells, "lower").first == "y"
    few = [*cells, Pair("t", "a, w", 0.0, 0.0)]  # on half of the sets only
    assert method_order(few, "higher") == order
    assert method_order(cells[:1], "higher") is None
    assert "in print z" in method_order([replace(cell, ours=-cell.ours) for cell in cells], "higher").words()


def test_the_order_on_whole_sets_stands_beside_that_on_all():
    cells = [
        Pair("t", f"{data}, {method}", ours, there, "part" if data == "c" else "whole")
        for data, row in {
            "a": {"x": (3, 4), "y": (2, 3)},
            "b": {"x": (5, 6), "y": (4, 5)},
            "c": {"x": (0, 9), "y": (9, 0)},  # another draw, the other way round
        }.items()
        for method, (ours, there) in row.items()
    ]
    order = method_order(cells, "higher")
    assert (order.first, order.paper_first, order.correlation) == ("y", "x", -1.0)
    assert (order.whole.first, order.whole.mean, order.whole.correlation, order.whole.n_sets) == ("x", (4, 5), 1.0, 2)
    said = "On the 2 sets that are whole here x is first (mean 4, in print 5), rank correlation 1.00."
    assert order.words().endswith(said)
    assert method_order(cells[:4], "higher").whole is None  # all are whole
    assert method_order([*cells[:2], *cells[4:]], "higher").whole is None  # one set alone is no mean


def test_the_rank_correlation_is_spearmans():
    from scipy.stats import spearmanr

    x, y = np.random.default_rng(1).integers(0, 5, (2, 30))
    assert rank_correlation(x, y) == pytest.approx(spearmanr(x, y).statistic)
    assert rank_correlation([1.0, 1.0], [1.0, 2.0]) == 0.0


def printed_record(paper):
    """A record in which ours are the printed values."""
    cells = []
    for table in TABLES:
        if table.paper != paper or table.closed or table.name in ("table1", "table2") * (paper == "abfs"):
            continue
        try:
            printed = published_table(paper, table.name)
        except StopIteration:
            continue
        for row, columns in printed.items():
            if row in ("Mean", "Rank"):
                continue
            for column, value in columns.items():
                if isinstance(value, int | float):
                    name = f"{row}, {column}"
                    cells.append({"table": table.name, "cell": name, "ours": value, "published": value, "error": None})
    return {"paper": paper, "rows": None, "brief": False, "n_left": 0, "cells": cells}


def test_claims_are_checked_on_the_printed_cells_as_on_ours():
    fires = {
        (row["claim"]): row for row in judged_claims({"fires": printed_record("fires")}) if row["paper"] == "fires"
    }
    assert [row["holds"] for row in fires.values()] == [True, True, True, True]
    assert all(row["here"] == row["in_print"] for row in fires.values())
    etana = [row for row in judged_claims({"etana": printed_record("etana")}) if row["paper"] == "etana"]
    # The paper's own cells contradict two of its sentences: F-ETANA loses accuracy, and is slower to train on Madelon.
    assert [row["holds"] for row in etana] == [True, True, False, False]
    assert "0.101 (News20)" in etana[2]["here"]
    abfs = [row for row in judged_claims({"abfs": printed_record("abfs")}) if row["paper"] == "abfs"]
    assert [row["holds"] for row in abfs] == [True, True, True, True, True, True]


def test_a_claim_about_data_that_is_not_here_is_not_judged():
    cells = [
        {"table": "table9", "cell": f"URL, SGD: {name}", "ours": ours, "published": published, "error": None}
        for name, ours, published in (
            *(("no screening", 0.2, 0.3), ("T-score adaptive", 0.3, 0.1), ("Fisher adaptive", 0.3, 0.2)),
        )
    ]
    claim = judged_claims({"screening": {**printed_record("screening"), "cells": cells}})[-1]
    assert claim["holds"] is None  # a part of one day says nothing about drift over a hundred
    assert claim["holds_in_print"] is True
    assert claim["here"] == (
        "error with no screening 0.2000, T-score adaptive 0.3000, Fisher adaptive 0.3000; "
        "not judged: ours is a part of its first day"
    )


def test_claims_are_told_with_standard_errors_where_there_are_repeats():
    several = printed_record("fires")
    for cell in several["cells"]:
        cell["error"] = 0.02
    first, *_ = judged_claims({"fires": several})
    # Ten sets: the mean of the ten has a standard error of 0.02 / sqrt(10).
    assert first["here"] == "FIRES-GLM 0.780 ± 0.0063, the best other (FIRES-SDT) 0.760 ± 0.0063; 10 sets"
    assert first["in_print"] == "FIRES-GLM 0.780, the best other (FIRES-SDT) 0.760; 10 sets"
    several = printed_record("abfs")
    for cell in several["cells"]:
        cell["error"] = 0.02
    gains = next(row for row in judged_claims({"abfs": several}) if row["where"] == "sec. 6.2, Table 3")
    assert "NB +7.68 ± 0.011 points" in gains["here"]  # seven streams, each a difference of two
    several["cells"][0]["error"] = None  # one stream was measured only once
    gains = next(row for row in judged_claims({"abfs": several}) if row["where"] == "sec. 6.2, Table 3")
    assert "NB +7.68 points" in gains["here"]


def test_a_claim_that_fails_here_is_told():
    worse = printed_record("fires")
    for cell in worse["cells"]:
        if cell["cell"].endswith("FIRES-GLM"):
            cell["ours"] = 0.0
    rows = [row for row in judged_claims({"fires": worse}) if row["paper"] == "fires"]
    assert rows[0]["holds"] is False
    assert rows[0]["holds_in_print"] is True
    assert {row["holds"] for row in judged_claims({})} == {None}
    few = [cell for cell in printed_record("fires")["cells"] if cell["cell"].startswith("HAR")]  # where OFS wins
    some = {**worse, "cells": few}
    assert judged_claims({"fires": some})[0]["holds"] is False
    part = judged_claims({"fires": {**some, "n_left": 9}})[0]
    assert (part["holds"], part["here"]) == (None, "not enough is measured")
    assert len(judged_claims({})) == len(CLAIMS)

"""Every table of the papers: the list is complete, verdicts follow the rule, and a whole run can be broken off."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest

from streamsift.cli.errors import run
from streamsift.cli.main import cli
from streamsift.cli.reproduce import reproduce
from streamsift.core.exceptions import ReaderError
from streamsift.reproduce import everything, figure_verdict
from streamsift.reproduce.everything import plan, summary, verdict
from streamsift.reproduce.papers import PAPERS, exhibits
from streamsift.reproduce.printed import KINDS, MOST_REPEATS, QUICK, SECONDS, TABLES, PrintedTable
from streamsift.reproduce.printed_figures import FigureClaim, PrintedFigure
from streamsift.reproduce.record import record, with_repeat
from streamsift.reproduce.result import Options, Pair, Result, Series
from streamsift.reproduce.verdict import WORDS, agrees, judge


def quiet(done, total):
    assert 0 < done <= total


def pairs(*values, basis="whole"):
    return [Pair("table1", f"cell {k}", ours, published, basis) for k, (ours, published) in enumerate(values)]


def a_result(table="table1", values=((1.0, 1.0),), missing=(), n_left=0):
    cells = [Pair(table, f"cell {k}", ours, there) for k, (ours, there) in enumerate(values)]
    lists = (["a", "b", "c"], [["x", "y", "1"]])
    series = [Series("panel", "line", ["here"], [1.0])]
    return Result("A table", "lead", "note", *lists, "", "", [], cells, list(missing), n_left, series)


def a_record(*results, options=Options(), paper_repeats=0):  # noqa: B008 - it is frozen
    kept = None
    for seed, result in enumerate(results, start=1):
        kept = with_repeat(kept, {"seed": seed, "seconds": 1.0, "result": result.as_dict()}, options, "abc")
    return record("etana", "table 2", kept, command="streamsift", paper_repeats=paper_repeats)


# -- the list ---------------------------------------------------------------------------------------------------------


def test_the_46_tables_are_those_printed_and_six_that_were_not_read():
    stored = {
        (paper, table["id"])
        for paper in PAPERS
        for table in json.loads((files("streamsift.reproduce") / "published" / f"{paper}.json").read_text("utf-8"))[
            "tables"
        ]
    }
    listed = {(table.paper, table.name) for table in TABLES}
    assert len(TABLES) == len(listed) == 46
    assert stored <= listed
    assert listed - stored == {
        ("fires", "table1"),
        ("screening", "table3"),
        ("screening", "table7"),
        *(("screening", f"table5.{score}") for score in ("chi-square", "gini", "mutual-information")),
    }


def test_every_exhibit_of_the_list_exists():
    for table in TABLES:
        assert set(table.exhibits) <= set(exhibits(table.paper)), table
    names = {(task.paper, task.exhibit) for task in plan(Options(), quick=True)}
    assert set(QUICK) | set(MOST_REPEATS) | set(SECONDS) <= names
    assert {table.kind for table in TABLES} == set(KINDS)


@pytest.mark.parametrize("name", ["abfs", "etana", "fires", "screening"])
def test_the_published_figures_are_those_beside_the_repository(shared, name):
    ours = (files("streamsift.reproduce") / "published" / f"{name}.json").read_bytes()
    assert ours == (shared / "published" / f"{name}.json").read_bytes()


def test_the_investing_figures_are_those_beside_the_repository(shared):
    ours = (files("streamsift.reproduce") / "published" / "investing.json").read_bytes()
    assert ours == (shared / "published" / "information-investing.json").read_bytes()


def test_a_quick_plan_has_fewer_rows_and_the_same_exhibits():
    quick, full = plan(Options(seed=3), quick=True), plan(Options(seed=3), quick=False)
    assert [task.stem for task in quick] == [task.stem for task in full]
    assert len({task.stem for task in full}) == len(full)
    assert {task.options for task in full} == {Options(seed=3, repeats=1)}
    assert next(task for task in quick if task.stem == "abfs-table-3").options.rows == 1_000


# -- settings and sizes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("paper", "exhibit"),
    [
        ("abfs", "parameters"),
        ("abfs", "folds"),
        ("fires", "parameters"),
        ("fires", "benchmarks"),
        ("screening", "stream"),
    ],
)
def test_the_settings_of_the_papers_are_our_defaults(paper, exhibit):
    result = exhibits(paper)[exhibit](Options(), quiet)
    assert [(pair.cell, pair.ours) for pair in result.pairs] == [(pair.cell, pair.published) for pair in result.pairs]


def test_the_streams_are_made_up_as_printed_but_for_two():
    """AGR and AN: the printed numbers of true features fit their functions only the other way round."""
    result = exhibits("abfs")["table 1"](Options(), quiet)
    off = [pair.cell for pair in result.pairs if not agrees(pair.ours, pair.published)]
    assert off == ["AGR, mean relevant features", "AN, mean relevant features"]


@pytest.mark.parametrize(("paper", "table"), [("abfs", 2), ("etana", 1), ("fires", 2), ("screening", 1)])
def test_sizes_are_read_from_the_files(shared, paper, table):
    result = exhibits(paper)[f"table {table}"](Options(data=str(shared / "data")), quiet)
    assert result.pairs
    assert bool(result.missing) == (paper != "fires")  # of which every set is here, if not whole
    if paper != "abfs":
        assert ("Madelon, features", 500.0, 500.0) in {(p.cell, p.ours, p.published) for p in result.pairs}


# -- verdicts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "published", "agreed"),
    [(1.09, 1.0, True), (1.11, 1.0, False), (0.9, 1.0, True), (-1.05, -1.0, True), (0.0049, 0, True),
     (0.006, 0, False), ("mc", "mc", True), ("nb", "mc", False), (1.0, "1", False)],
)  # fmt: skip
def test_when_a_cell_agrees(ours, published, agreed):
    assert agrees(ours, published) is agreed


def test_nine_in_ten_cells_make_a_table():
    good = [(1.0, 1.0)] * 9
    assert judge(pairs(*good, (3.0, 2.0))).word == "reproduced"
    worse = judge(pairs(*good[:8], (3.0, 2.0), (1.5, 0.0)))
    assert worse.word == "differs"
    assert (worse.n_agreeing, worse.n_judged) == (8, 10)
    assert "8 of 10 cells" in worse.sentence
    assert "50 % at most (cell 8: 3 for 2)" in worse.sentence
    assert "cell 9: 1.5 for 0" in worse.sentence


def test_times_are_judged_by_their_order_whatever_the_machine():
    faster = judge(pairs((0.1, 10.0), (0.2, 30.0), (0.9, 100.0)), by_order=True)
    assert faster.word == "reproduced"
    assert "0.009 times" in faster.sentence
    assert judge(pairs((0.9, 10.0), (0.2, 30.0), (0.1, 100.0)), by_order=True).word == "differs"
    near = judge(pairs((2.0, 10.0), (1.0, 15.0)), by_order=True)  # less than twofold apart: no order to keep
    assert near.word == "nothing printed"


def test_data_held_in_part_is_told_and_not_judged():
    part = pairs((9.0, 1.0), (1.0, 1.0), basis="part")
    alone = judge(part, missing=["Gisette"])
    assert (alone.word, alone.n_judged, alone.n_part) == ("data in part", 0, 2)
    assert "1 of 2 cells" in alone.sentence
    both = judge([*pairs((1.0, 1.0)), *part])
    assert (both.word, both.n_judged, both.n_part) == ("reproduced", 1, 2)
    assert "On data held only in part, not judged: 1 of 2" in both.sentence


def test_what_was_chosen_to_meet_the_table_is_fitted():
    fitted = pairs((1.0, 1.0), basis="fitted")
    assert judge([*pairs((1.0, 1.0)), *fitted]).word == "fitted"
    assert judge([*pairs((3.0, 1.0)), *fitted]).word == "differs"
    assert "Fitted are 1 of these cells, of which 1 agree" in judge(fitted).sentence


def test_no_cell_is_missing_data_or_nothing_printed():
    assert judge([], missing=["kdd12"]).word == "data missing"
    assert judge([]).word == "nothing printed"
    assert judge(pairs((1.0, 1.0)), missing=["kdd12"]).missing == ["kdd12"]


def test_a_table_of_two_exhibits_needs_both():
    table = PrintedTable("etana", "table2", "accuracy", ("table 2", "rivals"))
    first = a_record(a_result("table2", [(1.0, 1.0)], ["Car"]))
    second = a_record(a_result("table2", [(5.0, 1.0)], ["Car", "News20"]))
    assert verdict(table, {"etana-table-2": first}, {}).word == "not run"
    assert verdict(table, {"etana-table-2": first}, {"etana-rivals": "No memory."}) == verdict(
        table, {}, {"etana-table-2": "No memory."}
    )
    both = verdict(table, {"etana-table-2": first, "etana-rivals": second}, {})
    assert (both.word, both.n_judged, both.missing) == ("differs", 2, ["Car", "News20"])
    other = PrintedTable("etana", "table3", "features", ("table 2",))
    assert verdict(other, {"etana-table-2": first}, {}).n_judged == 0  # those cells are of another table


def test_the_summary_has_a_verdict_for_every_table_before_anything_is_run():
    rows = summary({}, {})
    words = {(row["paper"], row["table"]): row["verdict"]["word"] for row in rows}
    assert len(words) == 46
    assert set(words.values()) <= set(WORDS)
    assert words["investing", "table4"] == "data missing"
    assert words["fires", "table1"] == "nothing printed"
    assert list(words.values()).count("not run") == 44
    assert {row["rests_on"] for row in rows} == {"nothing"}


# -- the whole run ----------------------------------------------------------------------------------------------------


def found_one(drawn):
    values = drawn.y("panel", "line")
    return (values == [1.0], f"it is {values}") if values else None


@pytest.fixture
def small(monkeypatch):
    """Three tables and three figures, whose exhibits note that they were called; two of them fail."""
    called = []

    def good(options, progress):
        called.append(("good", options.rows))
        progress(1, 1)
        return a_result()

    def bad(options, progress):
        called.append(("bad", options.rows))
        raise ReaderError("There is no file.")

    def worst(options, progress):
        called.append(("worst", options.rows))
        raise ZeroDivisionError("by zero")

    tables = tuple(
        PrintedTable(paper, "table1", "a table", (name,))
        for paper, name in (("fires", "bad one"), ("etana", "good one"), ("abfs", "worst one"))
    )
    named = {"bad one": bad, "good one": good, "worst one": worst}
    drawn = (
        PrintedFigure("etana", "figure1", "a figure", ("good one",), (FigureClaim("it is", check=found_one),)),
        PrintedFigure("abfs", "figure1", "a figure", ("worst one",), (FigureClaim("it is", check=found_one),)),
        PrintedFigure("abfs", "figure2", "a picture", schematic="a diagram"),
    )
    monkeypatch.setattr(everything, "TABLES", tables)
    for module in (everything, figure_verdict):
        monkeypatch.setattr(module, "FIGURES", drawn)
    monkeypatch.setattr(everything, "exhibits", lambda paper: named)
    return called, named


def test_a_failing_exhibit_is_told_and_the_others_go_on(small, tmp_path, capsys):
    assert run(cli, ["reproduce", "all", "-o", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert [line.split("\t")[:3] for line in out.splitlines()[1:]] == [
        ["fires", "table1", "failed"],
        ["etana", "table1", "reproduced"],
        ["abfs", "table1", "failed"],
        ["etana", "figure1", "holds"],
        ["abfs", "figure1", "failed"],
        ["abfs", "figure2", "nothing measured"],
    ]
    assert json.loads((tmp_path / "results" / "etana-good-one.json").read_text())["repeats"] == 1
    page = (tmp_path / "verdicts.html").read_text("utf-8")
    assert 'href="etana-good-one.html">Table 1: a table</a>' in page
    assert "There is no file." in page
    assert "Unexpected ZeroDivisionError: by zero" in page
    assert "within 10 % of the printed value" in page
    assert 'style="--length: 1.0000"' in page
    assert "1 of 1" in page
    assert "Ours beside the published" in (tmp_path / "etana-good-one.html").read_text("utf-8")
    assert "A quick look" not in page
    assert (tmp_path / "etana-good-one.html").is_file()
    assert not (tmp_path / "fires-bad-one.json").exists()
    assert json.loads((tmp_path / "verdicts.json").read_text())[1]["verdict"]["word"] == "reproduced"
    assert 'href="etana-good-one.html">Figure 1: a figure</a>' in page
    assert ">✓ it is: <i>it is [1]</i></div>" in page
    assert json.loads((tmp_path / "figures.json").read_text())[0]["verdict"]["sentence"] == "1 of 1 claims hold."


def test_what_is_done_is_not_run_again_unless_settings_differ(small, tmp_path):
    called, _ = small
    for arguments in ([], [], ["--jobs", "2"]):  # how many processes is no matter
        run(cli, ["reproduce", "all", "-o", str(tmp_path), *arguments])
    assert called.count(("good", None)) == 1
    assert called.count(("bad", None)) == 3  # a failure is tried again
    run(cli, ["reproduce", "all", "-o", str(tmp_path), "--rows", "5000"])
    assert called.count(("good", 5000)) == 1
    assert "At most 5,000 rows" in (tmp_path / "verdicts.html").read_text("utf-8")


def test_ctrl_c_leaves_the_page_of_what_is_done(small, tmp_path):
    def interrupted(options, progress):
        raise KeyboardInterrupt

    small[1]["worst one"] = interrupted
    assert run(cli, ["reproduce", "all", "--quick", "-o", str(tmp_path)]) == 130
    page = (tmp_path / "verdicts.html").read_text("utf-8")
    assert "Not finished: 1 exhibits were not run." in page
    assert "A quick look" in page
    assert "✓ reproduced" in page
    assert "… not run" in page


def test_wrong_usage_is_told(tmp_path, capsys):
    assert run(cli, ["reproduce", "all", "--table", "3", "-o", str(tmp_path)]) == 2
    assert run(cli, ["reproduce", "fires", "--quick", "--table", "3", "-o", str(tmp_path)]) == 2
    assert run(cli, ["reproduce", "fires", "--hours", "2", "--table", "3", "-o", str(tmp_path)]) == 2
    assert "--quick, --hours and --only are for all papers" in capsys.readouterr().err


def test_the_help_names_every_check():
    checks = {name.removeprefix("check ") for paper in PAPERS for name in exhibits(paper) if name.startswith("check ")}
    said = next(option.help for option in reproduce.params if option.name == "check")
    assert checks == set(re.findall(r"\w+", said.partition(":")[2])) - {*PAPERS, "or"}

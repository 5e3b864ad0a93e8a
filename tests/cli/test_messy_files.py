"""The command line on files as people have them: options, notices, refusals, and progress for pipes."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from streamsift.cli import display, parameters
from streamsift.streams import open as opening

pytestmark = pytest.mark.filterwarnings("default")  # as a user has it


@pytest.fixture
def messy(tmp_path):
    """Semicolons, decimal commas, percent signs; `income` tells the label."""
    path = tmp_path / "messy.csv"
    rows = [
        f"{k % 2 * 3 + 1}.{k % 7}34,5{k % 9};{k % 5},{k % 10} %;{'Oslo' if k % 3 else 'Rome'};{'yn'[k % 2]}"
        for k in range(60)
    ]
    path.write_text("\n".join(["income;share;town;label", *rows]) + "\n")
    return path


def test_what_was_understood_is_said_on_the_standard_error(sift, messy):
    code, out, err = sift("select", messy, "--target", "label", "-k", 1)
    assert code == 0
    assert out.splitlines()[1].split("\t")[1] == "income"
    assert err.splitlines()[:-1] == ["income: 1.034,50 read as numbers", "share: 0,0 % read as numbers"]
    assert sift("select", messy, "--target", "label", "-k", 1, "--quiet") == (0, out, "")
    options = ["--decimal", ",", "--thousands", ".", "--sep", ";", "--encoding", "utf-8", "--na", "x"]
    code, again, err = sift("select", messy, "--target", "label", "-k", 1, *options)
    assert (code, again, err.count("\n")) == (0, out, 1)


def test_the_options_reach_every_kind_of_method_and_compare(sift, messy):
    options = [messy, "--target", "label", "--decimal", ",", "--thousands", ".", "--ignore", "town"]
    code, _, err = sift("select", *options, "--method", "investing", "--json")
    assert (code, err) == (0, "")
    code, _, err = sift("select", *options, "--method", "etana", "--json")
    assert (code, err) == (0, "")
    code, out, err = sift(
        "compare", *options, "--methods", "screen:t_score,all", "-k", 1, "--batch-size", 10, "--repeats", 1, "--json"
    )
    assert (code, err) == (0, "")
    assert json.loads(out)["entries"]


def test_an_ambiguous_column_names_the_option(sift, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("price;label\n" + "1,234;a\n2,345;b\n" * 20)
    code, _, err = sift("select", path, "--target", "label")
    assert code == 1
    assert "Column 'price'" in err
    assert "--thousands ,) or decimal=',' (--decimal ,)" in err
    assert sift("select", path, "--target", "label", "--thousands", ",")[0] == 0
    assert sift("inspect", path, "--target", "label", "--decimal", ",")[1].splitlines()[1].endswith("1.234, 2.345")


def test_tabs_and_spaces_can_be_spelt_out(sift, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x\ty,z,w\n" + "1 234\ta\n2\tb\n" * 20)
    code, out, err = sift("inspect", path, "--target", "y,z,w", "--sep", "tab", "--thousands", "space", "--quiet")
    assert (code, err) == (0, "")
    assert out.splitlines()[1].split("\t") == ["x", "number", "0.0%", "2", "1234, 2"]


def test_rows_without_a_label_are_skipped_and_counted(sift, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,label\n" + "1.5,a\n2.5,b\n3,\n" * 20)
    code, _, err = sift("compare", path, "--target", "label")
    assert code == 1
    assert "Line 4 of" in err
    code, _, err = sift("select", path, "--target", "label", "--skip-unlabelled", "-k", 1)
    assert (code, err.splitlines()[:-1]) == (0, ["label: 20 rows without a label were skipped"])


def test_missing_values_name_the_option_and_the_line(sift, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,label\n1.5,a\n2.5,b\n\n,a\n3,b\n")
    code, _, err = sift("select", path, "--target", "label")
    assert code == 1
    assert err.startswith("Error: Line 5 of the file, column 'x' is NaN")
    assert "--missing skip" in err
    code, _, err = sift("compare", path, "--target", "label", "--batch-size", 1)
    assert code == 1
    assert "Line 5 has no finite number in column 'x'" in err


@pytest.mark.parametrize("verb", ["select", "compare"])
def test_a_column_that_names_the_rows_is_warned_of(sift, tmp_path, verb):
    path = tmp_path / "a.csv"
    path.write_text("id,name,x,label\n" + "".join(f"{k + 7},n{k},{k % 5}.5,{'ab'[k % 2]}\n" for k in range(60)))
    options = ["--methods", "screen:fisher,all", "--batch-size", 10, "--repeats", 1] if verb == "compare" else []
    code, _, err = sift(verb, path, "--target", "label", "-k", 1, *options)
    assert code == 0
    assert err.count("has another value in every row") == 2
    assert "(--ignore id)" in err
    assert "(--ignore name)" in err
    assert "'x'" not in err
    code, _, err = sift(verb, path, "--target", "label", "-k", 1, "--ignore", "id", "--ignore", "name", *options)
    assert code == 0
    assert "Warning" not in err


def test_columns_that_name_the_rows_are_warned_of_for_column_methods_too(sift, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,x,y\n" + "".join(f"{k},{k % 5}.5,{k % 3}.25\n" for k in range(60)))
    _, _, err = sift("select", path, "--target", "y", "--method", "investing")
    assert "Column 'id' has another value in every row" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--method", "investing", "-k", "5"], ["'investing' decides by itself how many", "so -k 5 does not apply"]),
        (["--method", "osfs", "--fading", "0.9"], ["'osfs' has no use for --fading 0.9"]),
        (["--method", "fires", "--bins", "4"], ["'fires' has no use for --bins 4"]),
    ],
)
def test_an_option_that_a_method_has_no_use_for_is_told_in_the_users_words(sift, people, arguments, words):
    code, out, err = sift("select", people, "--target", "sex", *arguments)
    assert (code, out) == (1, "")
    for word in words:
        assert word in err
    assert "n_features_to_select" not in err


@pytest.mark.parametrize("verb", ["select", "compare", "inspect"])
def test_a_missing_file_is_told_before_anything_heavy_is_loaded(tmp_path, verb):
    code = (
        "import sys; sys.argv = ['streamsift', sys.argv[1], 'no-file.csv', '--target', 'y']\n"
        "from streamsift.__main__ import exit_code_of_run\n"
        "code = exit_code_of_run()\n"
        "assert code == 1, code\n"
        "heavy = {'numba', 'sklearn', 'scipy', 'pyarrow', 'numpy', 'pandas', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code, verb], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "Error: There is no file no-file.csv: check the path.\n"


def test_a_pipe_gets_a_line_of_progress_now_and_then(sift, people, monkeypatch):
    monkeypatch.setattr(display, "SECONDS_BETWEEN_LINES", 0.001)
    _, _, err = sift("select", people, "--target", "sex", "-k", 2, "--batch-size", 50)
    assert any(" rows, " in line and line.endswith(" s") for line in err.splitlines())
    options = ["--methods", "screen:t_score,all", "--repeats", 1]
    _, _, err = sift("compare", people, "--target", "sex", "-k", 2, *options)
    assert any(re.match(r"\d of 4 runs", line) for line in err.splitlines())
    assert sift("select", people, "--target", "sex", "-k", 2, "--quiet")[2] == ""


def test_both_lists_of_reading_options_agree():
    assert set(parameters.READING) == set(opening.READING)


def test_json_lines_from_end_to_end(sift, tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [{"x": k % 2 + 0.5, "noise": k % 3, "town": "Oslo" if k % 5 else "Rome", "label": k % 2} for k in range(60)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    code, out, err = sift("select", path, "--target", "label", "-k", 1, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["selected"][0]["name"] == "x"

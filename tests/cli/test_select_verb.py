"""`streamsift select` as a user runs it: a file in, the right features out, and files on disk."""

from __future__ import annotations

import contextlib
import gzip
import json
import os

import numpy as np
import pytest

from streamsift.runs.trace import Trace


def names(document):
    return [row["name"] for row in document["selected"]]


def test_the_right_features_are_printed_tab_separated_when_piped(sift, people):
    code, out, err = sift("select", people, "--target", "sex", "-k", 2, "--quiet")
    assert (code, err) == (0, "")
    lines = [line.split("\t") for line in out.splitlines()]
    assert lines[0] == ["rank", "feature", "score"]
    assert [line[1] for line in lines[1:]] == ["height", "weight"]
    assert float(lines[1][2]) > float(lines[2][2]) > 0
    assert all(character.isprintable() or character in "\t\n" for character in out)


def test_json_is_all_that_is_printed(sift, people, n_people):
    code, out, err = sift("select", people, "--target", "sex", "-k", 2, "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert names(document) == ["height", "weight"]
    assert document["complete"] is True
    assert document["n_rows_seen"] == n_people
    assert document["n_features"] == 10
    assert document["method"] == "joint:forward"
    assert document["parameters"]["n_features_to_select"] == 2


@pytest.mark.parametrize("method", ["t_score", "fisher", "mutual_info", "chi2", "gini"])
def test_every_screening_method_finds_them(sift, people, method):
    code, out, _ = sift("select", people, "--target", "sex", "-k", 2, "--method", f"screen:{method}", "--json")
    assert code == 0
    assert names(json.loads(out)) == ["height", "weight"]


def test_out_gets_a_selection_a_trace_and_a_report(sift, people, n_people, tmp_path):
    out = tmp_path / "runs" / "first"
    code, _, _ = sift("select", people, "--target", "sex", "-k", 2, "--batch-size", 500, "-o", out, "--json")
    assert code == 0
    assert sorted(path.name for path in out.iterdir()) == ["report.html", "selection.json", "trace.parquet"]
    assert names(json.loads((out / "selection.json").read_text())) == ["height", "weight"]
    trace = Trace.read(out / "trace.parquet")
    assert trace.table["row"].to_pylist() == list(range(500, n_people + 1, 500))
    assert (trace.run.kind, trace.run.target, trace.run.complete) == ("rows", "sex", True)
    assert trace.run.parameters["n_features_to_select"] == 2
    report = (out / "report.html").read_text()
    assert "people.csv" in report
    assert "height" in report


def test_a_fraction_of_the_features(sift, people):
    code, out, _ = sift("select", people, "--target", "sex", "-k", "0.3", "--json")
    assert code == 0
    assert len(json.loads(out)["selected"]) == 3


@pytest.mark.filterwarnings("default")  # as a user has it
def test_more_features_than_there_are_is_said(sift, people):
    command = ("select", people, "--target", "sex", "--method", "joint:forward")
    code, out, err = sift(*command, "-k", 11)
    assert code == 0
    assert len(out.splitlines()) == 1 + 10
    assert err == "Warning: 11 features were asked for and there are 10: all of them are selected, so ask for fewer.\n"
    assert sift(*command, "-k", 10)[2] == ""
    names = [line.split("\t")[1] for line in out.splitlines()[2:]]
    code, out, err = sift(*command, "-k", 2, *(f"--ignore={name}" for name in names))
    assert (code, len(out.splitlines())) == (0, 2)
    assert err == "Warning: 2 features were asked for and there is only one: it is selected, so ask for fewer.\n"


def test_parameters_by_option_and_by_name(sift, people):
    options = ["--fading", 0.999, "--eps", 0.01, "--bins", 4, "--missing", "skip", "--set", "new_features=add"]
    code, out, _ = sift("select", people, "--target", "sex", "--method", "screen:chi2", "--json", *options)
    assert code == 0
    given = json.loads(out)["parameters"]
    assert (given["fading"], given["eps"], given["n_bins"]) == (0.999, 0.01, 4)
    assert (given["missing"], given["new_features"]) == ("skip", "add")


LONGER_STEPS = [f"--set={text}" for text in ("initial_sigma=0.1", "learning_rate_mu=1", "epochs=10", "scale=minmax")]


@pytest.mark.parametrize("method", ["fires", "fires:ann", "fires:sdt", "ofs", "efs", "fsds"])
def test_the_methods_of_the_fires_paper_answer_the_same_twice(sift, people, method):
    command = ["select", people, "--target", "sex", "-k", 3, "--method", method, "--batch-size", 500]
    code, out, _ = sift(*command)
    assert code == 0
    assert len(out.splitlines()) == 1 + 3
    assert sift(*command)[1] == out


@pytest.mark.compiled
@pytest.mark.parametrize("method", ["fires", "fires:ann", "fires:sdt"])
def test_fires_finds_what_depends_on_the_label(sift, people, method):
    options = [] if method == "fires" else ["--set", "aggregation=squares", *LONGER_STEPS]
    command = [
        "select",
        people,
        "--target",
        "sex",
        "-k",
        2,
        "--method",
        method,
        "--batch-size",
        100,
        "--json",
        *options,
    ]
    code, out, _ = sift(*command)
    assert code == 0
    assert sorted(names(json.loads(out))) == ["height", "weight"]


@pytest.mark.parametrize("word", ["None", "null"])
def test_none_may_be_spelt_as_in_python(sift, people, word):
    command = ["select", people, "--target", "sex", "--method", "fires", "--json", "--set", f"scale={word}"]
    code, out, _ = sift(*command)
    assert code == 0
    assert json.loads(out)["parameters"]["scale"] is None


def test_missing_values_are_refused_or_skipped(sift, people):
    lines = people.read_text().splitlines()
    lines[10] = "," + lines[10].partition(",")[2]
    people.write_text("\n".join(lines) + "\n")
    code, out, err = sift("select", people, "--target", "sex")
    assert (code, out) == (1, "")
    assert "noise_0" in err
    assert "NaN" in err
    code, out, _ = sift("select", people, "--target", "sex", "-k", 2, "--missing", "skip", "--json")
    assert code == 0
    assert names(json.loads(out)) == ["height", "weight"]


def test_standard_input(process, people):
    run = process("select", "-", "--target", "sex", "-k", 2, "--json", "--quiet")
    out, err = run.communicate(people.read_text(), timeout=240)
    assert (run.returncode, err) == (0, "")
    assert names(json.loads(out)) == ["height", "weight"]
    assert json.loads(out)["data"] == "standard input"


def test_a_compressed_file(sift, people):
    packed = people.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(people.read_bytes()))
    code, out, _ = sift("select", packed, "--target", "sex", "-k", 2, "--json")
    assert code == 0
    assert names(json.loads(out)) == ["height", "weight"]


def test_a_saved_selector_can_be_loaded(sift, people, tmp_path):
    from streamsift.persist import load

    code, _, _ = sift("select", people, "--target", "sex", "-k", 2, "--save", tmp_path / "selector.sift")
    assert code == 0
    assert list(load(tmp_path / "selector.sift").selection().names) == ["height", "weight"]


def test_a_file_sorted_by_its_label_gives_no_warning(sift, people):
    header, *rows = people.read_text().splitlines()
    people.write_text("\n".join([header, *sorted(rows, key=lambda row: row[-1])]) + "\n")
    code, out, err = sift("select", people, "--target", "sex", "-k", 2, "--json")
    assert (code, err) == (0, "")
    assert names(json.loads(out)) == ["height", "weight"]


def test_control_characters_in_names_are_spelt_out(sift, people):
    text = people.read_text().replace("height", "hei\x1b[2Jght", 1)
    people.write_text(text)
    code, out, _ = sift("select", people, "--target", "sex", "-k", 1)
    assert code == 0
    assert "\x1b" not in out
    assert "hei\\x1b[2Jght" in out


def test_a_terminal_gets_a_live_view_and_a_table(process, people):
    master, slave = os.openpty()
    environment = {"TERM": "xterm-256color"}
    streams = {"stdin": slave, "stdout": slave, "stderr": slave}
    run = process("select", people, "--target", "sex", "-k", 2, env=environment, **streams)
    os.close(slave)
    shown = b""
    with contextlib.suppress(OSError):  # reading fails once the process has closed its end
        while piece := os.read(master, 4096):
            shown += piece
    os.close(master)
    assert run.wait(timeout=240) == 0
    text = shown.decode()
    live, final = text[: text.rindex("\x1b[?25h")], text[text.rindex("\x1b[?25h") :]
    assert "\x1b[?25l" in live  # the cursor is hidden while the view is live
    assert "rows" in live
    assert "height" in final
    assert "weight" in final


def test_libsvm_needs_no_target_and_other_formats_do(sift, people, tmp_path):
    path = tmp_path / "rows.libsvm"
    path.write_text("1 1:0.5 3:1\n0 2:1\n1 1:1 2:2\n0 3:1\n")
    code, out, _ = sift("select", path, "-k", 1, "--json")
    assert (code, names(json.loads(out))) == (0, ["x0"])
    code, _, err = sift("select", people, "-k", 1)
    assert code == 2
    assert "Missing option '--target'" in err


@pytest.mark.parametrize("method", ["screen:t_score", "investing", "etana"])
def test_columns_can_be_left_out_or_read_as_text(sift, people, method):
    options = ["--target", "sex", "--method", method, "--json"]
    code, out, _ = sift("select", people, *options, "--ignore", "height", "--ignore", "noise_0")
    document = json.loads(out)
    assert (code, document["ignore"]) == (0, ["height", "noise_0"])
    assert "height" not in out.replace('"height",\n    "noise_0"', "")
    table = people.read_text().splitlines()
    people.write_text("\n".join([table[0], "tall" + table[1][table[1].index(",") :], *table[2:]]) + "\n")
    code, _, err = sift("select", people, *options)
    assert (code, "Line 2" in err, "--categorical noise_0" in err) == (1, True, True)
    assert sift("select", people, *options, "--ignore", "noise_0")[0] == 0


@pytest.fixture
def numeric(tmp_path):
    """A table whose target is a number that depends on `a`."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 200))
    rows = [f"{x:.4f},{z:.4f},{x + 0.1 * e:.4f}" for x, z, e in zip(a, b, rng.normal(size=200), strict=True)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,y", *rows]) + "\n")
    return path


def test_a_column_method_with_a_numeric_target_is_printed_and_saved(sift, numeric, tmp_path):
    from streamsift.persist import load

    saved = tmp_path / "f"
    code, out, _ = sift("select", numeric, "--target", "y", "--method", "investing", "--save", saved)
    assert code == 0
    assert out.splitlines()[1].split("\t")[:2] == ["1", "a"]
    again = load(saved)
    assert again.selected_ == ["a"]
    assert not hasattr(again, "classes_")


@pytest.mark.parametrize("method", ["screen:t_score", "investing", "etana"])
@pytest.mark.parametrize("as_json", [False, True])
def test_a_result_that_cannot_be_saved_is_printed_all_the_same(sift, people, tmp_path, method, as_json):
    saved = tmp_path / "folder"
    saved.mkdir()  # a folder is in the way of the file
    options = ["--json"] if as_json else []
    code, out, err = sift("select", people, "--target", "sex", "--method", method, "--save", saved, *options)
    assert code == 1
    assert "height" in out
    assert err.endswith(f"Error: The selector cannot be saved to {str(saved)!r}: is a directory.\n")


@pytest.mark.parametrize(("method", "kind"), [("screen:t_score", "rows"), ("osfs", "columns"), ("etana", "instances")])
def test_every_kind_of_run_writes_the_same_files(sift, people, tmp_path, method, kind):
    out = tmp_path / "run"
    code, printed, _ = sift("select", people, "--target", "sex", "--method", method, "-o", out, "--json")
    assert code == 0
    assert sorted(path.name for path in out.iterdir()) == ["report.html", "selection.json", "trace.parquet"]
    document = json.loads((out / "selection.json").read_text())
    assert document == json.loads(printed)
    assert (document["kind"], document["complete"]) == (kind, True)
    trace = Trace.read(out / "trace.parquet")
    assert trace.run.kind == kind
    found = {name: value for name, value in trace.result.items() if name != "why"}  # explanations are for the report
    assert {name: document[name] for name in found} == found


def test_prices_are_for_methods_that_buy_features(sift, people, tmp_path):
    prices = tmp_path / "prices.csv"
    names = people.read_text().split("\n", 1)[0].split(",")[:-1]
    prices.write_text("\n".join(["feature,price", *(f"{name},{0.5 if name == 'height' else 0.01}" for name in names)]))
    for method in ("screen:t_score", "osfs"):
        code, _, err = sift("select", people, "--target", "sex", "--method", method, "--costs", prices)
        assert (code, err) == (1, f"Error: --costs is for methods that buy features; {method!r} does not.\n")
    code, out, _ = sift("select", people, "--target", "sex", "--method", "etana", "--costs", prices, "--json")
    document = json.loads(out)
    assert code == 0
    assert document["bought"][0] == {"name": "weight", "share": 1.0, "price": 0.01}
    assert len(document["parameters"]["feature_cost"]) == 10


@pytest.mark.parametrize("method", ["investing", "osfs"])
def test_a_column_that_first_appears_late_in_a_libsvm_file(sift, tmp_path, method):
    """Such a file is read 65,536 rows at a time, and a batch is as wide as the largest index so far."""
    path = tmp_path / "wide.svm"
    path.write_text("0 1:1\n1 1:2\n" * 32_768 + "1 1:2 3:1\n" * 100)
    code, out, err = sift("select", path, "--method", method, "--json")
    assert code == 0, err
    document = json.loads(out)
    assert (document["n_features"], document["n_offered"]) == (3, 3)
    assert names(document) == ["x0"]

"""`streamsift compare` as a user runs it: the table, the files, going on after a kill, Ctrl-C, and wrong usage."""

from __future__ import annotations

import json
import re
import signal
import time

import pytest

from streamsift import catalog
from streamsift.cli.comparison_table import print_comparison
from streamsift.comparison.run_store import RunStore
from streamsift.runs.trace import Trace

METHODS = "screen:fisher,osfs,etana,random"
ALONE = ["--baselines", "none"]  # exactly the methods that a test names


def test_it_prints_a_ranked_table_and_writes_everything(sift, people, n_people, tmp_path):
    out = tmp_path / "out"
    code, table, notes = sift(
        "compare", people, "--target", "sex", "--methods", METHODS, "-k", 2, "--repeats", 3, "-o", out, *ALONE
    )
    assert code == 0
    lines = [line.split("\t") for line in table.splitlines()]
    assert lines[0][:4] == ["rank", "entry", "protocol", "accuracy"]
    assert [line[:3] for line in lines[1:]] == [
        ["1", "screen:fisher + naive_bayes", "prequential"],
        ["2", "random + naive_bayes", "prequential"],
        ["1", "osfs + naive_bayes", "columns"],
        ["1", "etana", "instances"],
    ]
    found = json.loads((out / "comparison.json").read_text("utf-8"))
    assert found["complete"]
    assert (found["n_rows"], found["n_features"], found["n_classes"], found["repeats"]) == (n_people, 10, 2, 3)
    assert float(lines[1][3]) == pytest.approx(found["entries"][0]["accuracy"], abs=1e-4)
    assert found["recommendation"] in notes
    assert found["tests"]["sentence"] in notes
    assert len(Trace.read(out / found["entries"][0]["trace"])) == n_people // 100
    page = (out / "report.html").read_text("utf-8")
    assert "screen:fisher + naive_bayes" in page
    assert len(list((out / "runs").glob("*.json"))) == 4 * 3 + 1
    assert not list(out.rglob("*.partial"))


def test_json_is_the_file_and_nothing_else(sift, people, tmp_path):
    out = tmp_path / "out"
    options = ["compare", people, "--target", "sex", "--methods", "ofs,random", "--repeats", 1, "-o", out, "--json"]
    code, text, notes = sift(*options)
    assert (code, notes) == (0, "")
    assert json.loads(text) == json.loads((out / "comparison.json").read_text("utf-8"))
    assert json.loads(text)["tests"]["kind"] == "over time"  # one repeat is enough
    before = {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    assert sift(*options)[0] == 0  # all runs are there
    assert before == {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}


def test_a_generated_stream_knows_its_oracle(sift):
    code, text, _ = sift(
        "compare",
        "generate:sea,irrelevant=5",
        "--rows",
        1000,
        "--methods",
        "oracle,random,abfs",
        "--repeats",
        1,
        "--json",
    )
    found = json.loads(text)
    assert code == 0
    assert (found["data"], found["target"]) == ("generate:sea,irrelevant=5", "label")
    assert found["n_rows"] == 1000
    assert {entry["method"]: entry["selection_accuracy"] for entry in found["entries"]}["oracle"] == 1.0


def test_a_failure_is_in_the_table_and_said(sift, people, monkeypatch):
    def fail(self, state, batch):
        raise RuntimeError("lost its way")

    monkeypatch.setattr(catalog.class_at(catalog.entry("ofs").target), "_learn", fail)
    options = ["compare", people, "--target", "sex", "--repeats", 1, *ALONE]
    code, table, notes = sift(*options, "--methods", "ofs,random")
    assert code == 0
    assert table.splitlines()[-1].split("\t")[1:3] == ["ofs + naive_bayes", "prequential"]
    assert table.splitlines()[-1].endswith("no\t1")
    assert "Failed: ofs + naive_bayes, repeat 1: RuntimeError: lost its way" in notes
    code, _, notes = sift(*options, "--methods", "ofs")
    assert code == 1
    assert "Error: no run could be finished." in notes


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--target", "sex", "--methods", "fire"], 1, "no method 'fire'. Did you mean 'fires'?"),
        (["--target", "sex", "--models", "nbb"], 1, "no model 'nbb'. Did you mean 'nb'?"),
        (["--target", "sex", "--methods", "oracle"], 1, "the true features are known of generated streams only"),
        (["--target", "age"], 1, "no target column 'age'"),
        (["--methods", "ofs"], 2, "--target"),
        (["--target", "sex", "--methods", "all"], 2, "leave --methods out"),
        (["--target", "sex", "--repeats", "0"], 2, "--repeats"),
        (["--target", "sex", "--batch-size", "2000"], 1, "fewer than 3 batches"),
        (["--target", "sex", "--methods", ","], 1, "nothing to compare"),
    ],
)
def test_wrong_usage_is_answered_in_a_sentence(sift, people, options, code, words):
    found, text, said = sift("compare", people, *options)
    assert (found, text) == (code, "")
    assert words in said


def test_standard_input_is_read_once_and_compared(process, sift, people, tmp_path):
    options = ["--target", "sex", "--methods", "screen:fisher,random", "--repeats", 2, "-k", 2, "--json"]
    (tmp_path / "temporary").mkdir()
    run = process("compare", "-", *options, "--quiet", env={"TMPDIR": str(tmp_path / "temporary")})
    text, said = run.communicate(people.read_text(), timeout=240)
    assert (run.returncode, said) == (0, "")
    found, wanted = json.loads(text), json.loads(sift("compare", people, *options)[1])
    assert found["data"] == "standard input"
    assert [entry["accuracies"] for entry in found["entries"]] == [entry["accuracies"] for entry in wanted["entries"]]
    assert list((tmp_path / "temporary").iterdir()) == []


def test_other_settings_need_another_folder(sift, people, tmp_path):
    options = ["compare", people, "--target", "sex", "--methods", "random", "--repeats", 1, "-o", tmp_path / "out"]
    assert sift(*options)[0] == 0
    code, _, said = sift(*options, "--seed", 1)
    assert code == 1
    assert "seed was 0 there and is 1 here" in said
    assert "Use another folder" in said


def test_lines_that_begin_with_their_label_need_no_target(sift, tmp_path):
    path = tmp_path / "rows.libsvm"
    path.write_text("".join(f"{k % 2} 1:{k % 7} 3:{k % 2 + 0.5}\n" for k in range(60)))
    code, table, _ = sift("compare", path, "--methods", "screen:fisher", "--repeats", 1, "--batch-size", 10)
    assert code == 0
    assert "screen:fisher + naive_bayes" in table


def test_help_has_examples(sift):
    code, text, _ = sift("compare", "--help")
    assert code == 0
    assert "streamsift compare people.csv --target income" in text


def test_a_terminal_gets_a_table_for_each_protocol_that_fits_into_it(capsys, monkeypatch):
    entry = {
        "name": "screen:fisher + naive_bayes", "protocol": "prequential", "rank": 1, "on_front": True, "accuracy": 0.9,
        "accuracy_sd": 0.01, "late_accuracy": 0.91, "stability": 1.0, "features": 10.0, "rows_per_second": 12345.0,
        "memory": 2048.0, "kind": "rows", "failures": ["repeat 1: lost", "repeat 2: lost"],
    }  # fmt: skip
    other = entry | {"name": "etana", "protocol": "instances", "stability": None, "failures": []}
    found = {"entries": [entry, other], "left_out": [], "tests_by_protocol": {}, "untested": "Not tested."}
    found |= {"recommendation": "Use it. It is good.", "n_features": 20}
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    for width, missing in ((200, set()), (95, {"memory"}), (60, {"memory", "rows/s", "late"})):
        monkeypatch.setenv("COLUMNS", str(width))
        print_comparison(found)
        table, notes = capsys.readouterr()
        headings = {"rank", "entry", "accuracy", "late", "stability", "features", "rows/s", "memory"}
        assert {heading for heading in headings if heading not in table} == missing
        assert table.index("Protocol prequential") < table.index("Protocol instances")
        assert ("No room" in notes) == bool(missing)
        assert "Not tested." in notes
        assert "Failed: screen:fisher + naive_bayes, repeats 1, 2: lost" in notes
        assert max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in table.splitlines()) <= width


def test_methods_that_all_select_everything_are_said_to_compare_nothing(sift, people):
    options = ["compare", people, "--target", "sex", "--methods", "screen:fisher,ofs,random", "--repeats", 1]
    sentence = "Every method selects all 10 columns: ask for fewer with -k."
    assert sentence in sift(*options, "--rows", 400)[2]
    assert sentence not in sift(*options, "--rows", 400, "-k", 3)[2]


def test_what_the_tests_say_names_the_protocol_where_there_are_several(sift, people):
    methods = "screen:fisher,random,osfs,saola"
    code, _, notes = sift("compare", people, "--target", "sex", "--methods", methods, "-k", 2, "--repeats", 3)
    assert code == 0
    assert notes.count("too few rows to") >= 2
    assert notes.index("Protocol prequential: ") < notes.index("Protocol columns: ")


@pytest.mark.filterwarnings("default")  # as a user has it
def test_more_features_than_there_are_is_said(sift, people):
    options = ["--target", "sex", "--methods", "screen:fisher", "--repeats", 1, "--rows", 400]
    code, _, notes = sift("compare", people, *options, "-k", 11)
    assert code == 0
    assert "Warning: 11 features were asked for and there are 10: methods that take a number select all" in notes


def test_settings_and_metric_of_the_command_line(sift, people):
    options = ["compare", people, "--target", "sex", "--repeats", 1, "--rows", 400, "-k", 2, "--json"]
    options += ["--methods", "screen:t_score(fading=0.9,eps=0.01),ofs", "--set", "screen:t_score.fading=0.98"]
    code, text, _ = sift(*options, "--metric", "kappa", "--baselines", "majority", "--budget", "5m")
    found = json.loads(text)
    assert code == 0
    assert {entry["method"] for entry in found["entries"]} == {
        "screen:t_score(fading=0.9, eps=0.01)", "screen:t_score(fading=0.98)", "ofs", "majority",
    }  # fmt: skip
    assert (found["metric"], found["budget"]["seconds"]) == ("kappa", 300.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set", "fading=0.98"], "not of the form METHOD.NAME=VALUE"),
        (["--budget", "soon"], "is no time: write 30s, 5m, 2h"),
        (["--metric", "auc"], "--metric"),
    ],
)
def test_settings_and_budgets_that_cannot_be_read_are_refused(sift, people, options, words):
    code, _, said = sift("compare", people, "--target", "sex", *options)
    assert code == 2
    assert words in said


def test_what_was_left_out_for_want_of_time_is_in_the_table(capsys, monkeypatch):
    entry = {
        "name": "ofs + naive_bayes", "protocol": "prequential", "rank": 1, "on_front": True, "accuracy": 0.9,
        "balanced_accuracy": 0.8, "accuracy_sd": 0.01, "late_accuracy": 0.91, "stability": 1.0, "features": 10.0,
        "rows_per_second": 12345.0, "memory": 2048.0, "kind": "rows", "failures": [],
    }  # fmt: skip
    late = {"method": "osfs + naive_bayes", "reason": "about 4.2 h for 34,000 rows", "by": "budget", "estimate": 15e3}
    found = {"entries": [entry], "left_out": [late], "tests_by_protocol": {}, "untested": None, "metric": "accuracy"}
    found |= {"recommendation": "Use it.", "budget": {"sentence": "2 of 5 repeats were begun."}}
    for terminal in (False, True):
        monkeypatch.setattr("sys.stdout.isatty", lambda terminal=terminal: terminal)
        monkeypatch.setenv("COLUMNS", "150")
        print_comparison(found | {"metric": "balanced_accuracy"})
        table, notes = capsys.readouterr()
        assert "left out: about 4.2 h for 34,000 rows" in table
        assert "osfs + naive_bayes" in table
        assert ("balanced accuracy" if terminal else "balanced_accuracy\t") in table
        assert "2 of 5 repeats were begun." in notes


# -- interrupted and killed -------------------------------------------------------------------------------------

LONG = [
    "--baselines",
    "none",
    "--target",
    "sex",
    "--methods",
    "screen:fisher,ofs,random",
    "--models",
    "perceptron",
    "--repeats",
    200,
]


def wait_for_runs(out, wanted):
    """Wait until so many runs are finished; returns their files."""
    for _ in range(2400):
        found = [path for path in (out / "runs").glob("*.json") if path.name != "settings.json"]
        if len(found) >= wanted:
            return found
        time.sleep(0.05)
    pytest.fail("no run was finished in two minutes")


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_leaves_a_partial_report(process, people, tmp_path, jobs):
    out = tmp_path / "out"
    (tmp_path / "temporary").mkdir()
    run = process("compare", people, *LONG, "--jobs", jobs, "-o", out, env={"TMPDIR": str(tmp_path / "temporary")})
    wait_for_runs(out, 3)
    assert list((tmp_path / "temporary").glob("streamsift-spool-*"))
    run.send_signal(signal.SIGINT)
    table, said = run.communicate(timeout=240)
    assert run.returncode == 130
    assert "Interrupted after" in said
    assert "Traceback" not in said
    assert len(table.splitlines()) == 4
    found = json.loads((out / "comparison.json").read_text("utf-8"))
    assert not found["complete"]
    assert sum(len(entry["accuracies"]) for entry in found["entries"]) >= 3
    assert (out / "report.html").is_file()
    assert not list((tmp_path / "temporary").glob("streamsift-spool-*"))


def test_an_interrupt_just_after_a_run_was_kept_reports_the_run(sift, people, tmp_path, monkeypatch):
    add = RunStore.add

    def interrupted(store, run, found):
        add(store, run, found)
        raise KeyboardInterrupt

    monkeypatch.setattr(RunStore, "add", interrupted)
    code, table, said = sift("compare", people, *LONG[:-1], 2, "-o", tmp_path / "out")
    assert code == 130
    assert "Interrupted after 1 of 6 runs" in said
    assert [line[:2] for line in table.splitlines()[1:] if line[:1].isdigit()] == ["1\t"]  # the run that was kept


def test_a_killed_comparison_goes_on_where_it_stopped(process, sift, people, tmp_path):
    out = tmp_path / "out"
    run = process("compare", people, *LONG, "-o", out)
    kept = wait_for_runs(out, 3)
    run.kill()
    run.wait()
    before = {path: path.stat().st_mtime_ns for path in kept}
    code, text, _ = sift("compare", people, *LONG[:-1], 2, "-o", out, "--json")
    assert code == 0
    found = json.loads(text)
    assert found["complete"]
    assert [len(entry["accuracies"]) for entry in found["entries"]] == [2, 2, 2]
    assert before == {path: path.stat().st_mtime_ns for path in kept}

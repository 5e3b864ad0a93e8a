"""methods, demo, reproduce, completion, --version and --help."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from streamsift import __version__, catalog
from streamsift.cli.main import cli

HEAVY = ("numba", "sklearn", "pyarrow", "bokeh", "scipy", "rich", "jinja2")


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from streamsift.cli.errors import run; from streamsift.cli.main import cli; run(cli, ['--help']);"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("verb", [[], *([verb] for verb in cli.commands)])
def test_every_verb_has_help_with_examples(sift, verb):
    code, out, err = sift(*verb, "--help")
    assert (code, err) == (0, "")
    assert "Examples:" in out
    assert "streamsift " in out


def test_the_defaults_that_help_shows_are_those_of_the_methods():
    shown = {option.name: option.show_default for option in cli.commands["select"].params if not option.required}
    screener = catalog.make("screen:mutual_info").get_params()
    for name in catalog.names():
        method = catalog.make(name)
        usual = getattr(method, "usual_rule", method.get_params().get("n_features_to_select", 10))
        assert shown["count"] == "fdr:0.05 for joint:forward and screen:*, else 10"
        assert str(usual) == ("fdr:0.05" if name.startswith(("screen:", "joint:forward")) else "10")
    assert [shown["missing"], shown["eps"], shown["bins"]] == [
        screener["missing"], str(screener["eps"]), str(screener["n_bins"])
    ]  # fmt: skip
    assert shown["fading"].startswith(f"{screener['fading']:g},")


def test_version(sift):
    assert sift("--version") == (0, f"streamsift {__version__}\n", "")


def test_methods_lists_the_catalog(sift):
    code, out, _ = sift("methods")
    assert code == 0
    assert [line.split("\t")[0] for line in out.splitlines()[1:]] == catalog.names()
    code, out, _ = sift("methods", "--json")
    assert code == 0
    assert [entry["name"] for entry in json.loads(out)] == catalog.names()
    assert all(entry["summary"] and entry["paper"] and entry["kind"] for entry in json.loads(out))
    targets = {entry["name"]: entry["targets"] for entry in json.loads(out)}
    assert (targets["joint:forward"], targets["efs"], targets["fsds"]) == ("both", "classes", "none")
    code, out, _ = sift("methods")
    assert {line.split("\t")[0]: line.split("\t")[2] for line in out.splitlines()[1:]} == targets
    code, out, _ = sift("methods", "--json")
    assert {entry["name"]: entry["note"] for entry in json.loads(out)}["fsds"].startswith("Here for comparison:")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(sift, shell):
    code, out, err = sift("completion", shell)
    assert (code, err) == (0, "")
    assert "_STREAMSIFT_COMPLETE" in out


def test_method_names_are_completed(process):
    words = {"_STREAMSIFT_COMPLETE": "bash_complete", "COMP_WORDS": "streamsift select x.csv --method screen:m"}
    run = process(env=words | {"COMP_CWORD": "4"})
    out, _ = run.communicate(timeout=240)
    assert "screen:mutual_info" in out
    assert "screen:t_score" not in out


def test_the_demo_follows_the_drift_and_writes_its_report(process, tmp_path):
    run = process("demo")
    out, err = run.communicate(timeout=240)
    assert (run.returncode, err) == (0, "")
    assert "\x1b" not in out
    found = {line.split("\t")[0]: float(line.split("\t")[1].rstrip("%")) for line in out.splitlines()[1:3]}
    assert found["fading 0.999"] > found["no fading"] + 30
    report = (tmp_path / "elsewhere" / "streamsift-demo" / "report.html").read_text()
    assert "Are the true features found?" in report
    assert "streamsift-demo/report.html" in out


def test_unknown_papers_and_figures(sift, tmp_path):
    code, _, err = sift("reproduce", "screaning", "--figure", 3, "-o", tmp_path)
    assert code == 1
    assert "Did you mean 'screening'?" in err
    code, _, err = sift("reproduce", "screening", "--table", 12, "-o", tmp_path)
    assert code == 1
    assert "Did you mean 'table 2'" in err


def test_reproduce_prints_and_draws(sift, tmp_path, monkeypatch, scale):
    from streamsift.reproduce.screening.figure import EXHIBITS, figure_3

    monkeypatch.setitem(EXHIBITS, "figure 3", partial(figure_3, scores=("t_score",)))
    rows = 2000 if scale == 1.0 else 1000
    code, out, err = sift("reproduce", "screening", "--figure", 3, "--rows", rows, "-o", tmp_path)
    assert code == 0
    assert "prints no numbers" in err
    lines = [line.split("\t") for line in out.splitlines()]
    assert lines[0][:3] == ["l", "score", "fading"]
    assert len(lines) == 1 + 4 * 2
    drawn = (tmp_path / "screening-figure-3.html").read_text()
    assert "A shift every 2,000 rows" in drawn
    stored = json.loads((tmp_path / "screening-figure-3.json").read_text())
    assert stored["rows"] == lines[1:]


def test_an_interrupted_reproduction_goes_on(process, sift, tmp_path):
    out, kept = tmp_path / "out", tmp_path / "out" / "runs" / "abfs"
    options = ["reproduce", "abfs", "--figure", 5, "--rows", 1000, "-o", out]
    run = process(*options)
    deadline = time.monotonic() + 120
    while not list(kept.glob("*.json")) and time.monotonic() < deadline:
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=240)
    assert run.returncode == 130
    assert f"Finished runs are kept in {out / 'runs'}: the same command goes on." in said
    before = {path: path.stat().st_mtime_ns for path in kept.glob("*.json")}
    assert 0 < len(before) < 14
    assert sift(*options)[0] == 0
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert len(list(kept.glob("*.json"))) == 14
    # What this process has measured already is kept in another folder, too.
    assert sift(*options[:-1], tmp_path / "other")[0] == 0
    assert len(list((tmp_path / "other" / "runs" / "abfs").glob("*.json"))) == 14

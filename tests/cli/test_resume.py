"""`select --checkpoint`, `--resume` and `--load` as a user meets them: what is said, and what is refused."""

from __future__ import annotations

import json
import os
import signal

import pytest
from tests.cli.test_interrupts import GIVE_UP, ended, wait_for

from streamsift import Screener, persist

pytestmark = pytest.mark.filterwarnings("default")  # as a user has it


@pytest.fixture
def calm(sift, people):
    """The document of a run without checkpoints."""
    code, out, _ = sift(*asked(people), "--json")
    assert code == 0
    return json.loads(out)


def asked(people):
    return "select", people, "--target", "sex", "-k", 2, "--method", "screen:fisher", "--batch-size", 100


def selected(text):
    return [(row["name"], row["score"]) for row in json.loads(text)["selected"]]


def test_from_the_first_run_to_the_last(sift, people, tmp_path, calm, n_people):
    path, others = tmp_path / "run.ckpt", sorted(os.listdir(tmp_path))
    keeping = "--checkpoint", path
    code, out, err = sift(*asked(people), *keeping, "--resume", "--json")
    assert (code, err) == (0, f"There is no checkpoint {path} yet: starting from the beginning.\n")
    assert selected(out) == [(row["name"], row["score"]) for row in calm["selected"]]
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "run.ckpt"])
    before = path.read_bytes()
    code, out, err = sift(*asked(people), *keeping)
    assert (code, out) == (1, "")
    assert (
        err
        == f"Error: The checkpoint '{path}' is there already: add --resume to go on from it, or name another file.\n"
    )
    assert path.read_bytes() == before
    code, out, err = sift(*asked(people), *keeping, "--resume", "--json")
    assert (code, err) == (0, f"Going on from {path}, after {n_people:,} rows.\n")
    assert selected(out) == [(row["name"], row["score"]) for row in calm["selected"]]
    code, out, err = sift(*asked(people), *keeping, "--resume", "--quiet")
    assert (code, err) == (0, "")


@pytest.mark.parametrize("option", [["--every", "5s"], ["--resume"]])
def test_options_that_need_a_checkpoint(sift, people, option):
    code, _, err = sift(*asked(people), *option)
    assert code == 2
    assert f"{option[0]} needs --checkpoint FILE" in err


def test_wrong_uses_of_a_checkpoint(sift, people, tmp_path):
    path = tmp_path / "run.ckpt"
    code, _, err = sift(*asked(people), "--checkpoint", path, "--every", "often")
    assert (code, err) == (1, "Error: 'often' is no distance between checkpoints: write 60s, 5m, 2h or 10000rows.\n")
    code, _, err = sift(*asked(people), "--checkpoint", "/dev/null")
    assert (code, "not a file that a checkpoint can be read from again" in err) == (1, True)
    code, _, err = sift(*asked(people), "--checkpoint", path, "--save", path)
    assert (code, err) == (1, "Error: --save and --checkpoint name the same file: give two.\n")
    code, _, err = sift(*asked(people), "--checkpoint", people, "--resume")
    assert (code, "is damaged or not a saved selector" in err) == (1, True)
    persist.save(Screener().fit([[0.0], [1.0]], [0, 1]), path)
    code, _, err = sift(*asked(people), "--checkpoint", path, "--resume")
    assert (code, err) == (
        1,
        f"Error: {path} is a saved selector but no checkpoint of a run: go on from it with --load.\n",
    )
    path.unlink()
    assert sift(*asked(people), "--checkpoint", path)[0] == 0
    code, _, err = sift(*asked(people), "--checkpoint", path, "--resume", "--fading", 0.5)
    assert (code, "was written by a run with fading=1.0, and now it is 0.5" in err) == (1, True)


def test_a_file_that_has_grown(sift, people, tmp_path):
    path = tmp_path / "run.ckpt"
    assert sift(*asked(people), "--checkpoint", path)[0] == 0
    with people.open("a") as file:
        file.write(people.read_text().splitlines()[-1] + "\n")
    code, _, err = sift(*asked(people), "--checkpoint", path, "--resume")
    assert code == 1
    assert err.startswith(f"Error: people.csv has grown since {path} was written")
    assert f"--load {path}" in err


def test_two_runs_do_not_share_a_checkpoint(process, sift, people, tmp_path):
    path = tmp_path / "run.ckpt"
    run = process("select", "-", "--target", "sex", "--checkpoint", path)
    wait_for(run, lambda: (tmp_path / ".run.ckpt.streamsift-lock").exists())
    code, _, err = sift(*asked(people), "--checkpoint", path)
    assert (code, f"is being written to by process {run.pid}" in err) == (1, True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_writes_a_checkpoint_and_says_how_to_go_on(process, sift, people, tmp_path, calm, number):
    path, arguments = tmp_path / "run.ckpt", ["-" if part == people else part for part in asked(people)]
    run = process(*arguments, "--checkpoint", path, "--every", "2h", "--out", tmp_path / "out")
    header, rows = people.read_text().split("\n", 1)
    run.stdin.write(header + "\n" + rows * 12)  # more than a block and a pipeful: then nothing more comes
    run.stdin.flush()  # returns when all but a pipeful is read, and so the first block is learnt
    assert not path.exists()
    code, err = ended(run, number)
    assert code == 128 + number
    assert err.rstrip().endswith(f"The same command with --resume goes on from {path}.")
    assert path.exists()
    assert not [name for name in os.listdir(tmp_path) if "lock" in name or "partial" in name]
    again = process(*arguments, "--checkpoint", path, "--resume", "--json")
    out, err = again.communicate(header + "\n" + rows * 12, timeout=5 * GIVE_UP)
    assert (again.returncode, err) == (0, err)
    once = tmp_path / "once.csv"
    once.write_text(header + "\n" + rows * 12)
    wanted = sift(*[once if part == people else part for part in asked(people)], "--json")[1]
    assert selected(out) == selected(wanted)


# -- going on with new data -------------------------------------------------------------------------------------------


@pytest.fixture
def halves(people, tmp_path):
    lines = people.read_text().splitlines(keepends=True)
    paths = tmp_path / "first.csv", tmp_path / "second.csv"
    paths[0].write_text("".join(lines[:501]))
    paths[1].write_text("".join([lines[0], *lines[501:]]))
    return paths


@pytest.mark.parametrize("option", ["--save", "--checkpoint"])
def test_new_data_for_a_saved_selector(sift, people, halves, tmp_path, option, n_people):
    path = tmp_path / "saved"
    how = ["--target", "sex", "--batch-size", 100, "--json"]
    assert sift("select", halves[0], *how, "-k", 2, "--method", "screen:fisher", option, path)[0] == 0
    code, out, err = sift("select", halves[1], *how, "--load", path)
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert (document["method"], document["n_rows_seen"]) == ("screen:fisher", n_people)
    wanted = selected(sift(*asked(people), "--json")[1])
    assert dict(selected(out)) == pytest.approx(dict(wanted))
    same = ["-k", 2, "--method", "screen:fisher", "--set", "criterion=fisher"]
    code, again, err = sift("select", halves[1], *how, "--load", path, *same)
    assert (code, err, selected(again)) == (0, "", selected(out))


CONTRADICTIONS = [
    (["--method", "fires"], "holds 'screen:fisher', not 'fires'"),
    (["-k", 3], "was saved with n_features_to_select=2, which -k 3 contradicts"),
    (["--set", "min_rows=5"], "was saved with min_rows=None, which --set min_rows= 5 contradicts"),
    (["--costs", "prices.csv"], "--costs does not go with --load"),
    (["--target", "weight"], "has learnt the target 'sex', not 'weight'"),
    (["--ignore", "height"], "height"),
]


@pytest.mark.parametrize(("options", "words"), CONTRADICTIONS)
def test_what_contradicts_a_saved_selector(sift, halves, tmp_path, options, words):
    path = tmp_path / "saved"
    assert sift("select", halves[0], "--target", "sex", "-k", 2, "--method", "screen:fisher", "--save", path)[0] == 0
    target = [] if "--target" in options else ["--target", "sex"]
    code, out, err = sift("select", halves[1], "--load", path, *target, *options)
    assert (code, out) == (1, "")
    assert words in err
    assert err.count("\n") == 1


def test_there_is_nothing_to_load(sift, people, tmp_path):
    code, _, err = sift(*asked(people), "--load", tmp_path / "none")
    assert (code, err) == (1, f"Error: There is no saved selector {tmp_path / 'none'}: check the path.\n")

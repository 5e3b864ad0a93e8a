"""The limits of files as options of every verb that reads."""

from __future__ import annotations

import json

import pytest

from streamsift.cli import parameters
from streamsift.streams import files

VERBS = {
    "select": ["--method", "screen:t_score", "-k", "1"],
    "inspect": [],
    "compare": ["--methods", "screen:t_score", "--repeats", "1", "-k", "1"],
}


@pytest.mark.parametrize("verb", VERBS)
def test_limits_are_options_of_every_verb_that_reads(sift, people, verb):
    code, _, err = sift(verb, people, "--target", "sex", *VERBS[verb], "--max-columns", "2")
    assert code == 1
    assert "more than the 2 allowed: if that is right, raise the limit with --max-columns" in err
    code, _, err = sift(verb, people, "--target", "sex", *VERBS[verb], "--max-columns", "100", "--max-line", "1M")
    assert code == 0, err


def test_a_limit_reaches_column_methods_and_selection_json(sift, people, tmp_path):
    code, _, err = sift("select", people, "--target", "sex", "--method", "saola", "--max-name", "1")
    assert (code, "--max-name" in err) == (1, True)
    options = ["-k", "1", "--max-line", "64k", "-o", tmp_path / "run"]
    assert sift("select", people, "--target", "sex", *options)[0] == 0
    assert json.loads((tmp_path / "run" / "selection.json").read_text())["limits"] == {"longest_record": 65536}


@pytest.mark.parametrize("text", ["0", "-5", "many", "1.5", "", "9" * 30, "k"])
def test_a_limit_is_a_whole_number(sift, people, text):
    code, _, err = sift("select", people, "--target", "sex", "--max-index", text)
    assert (code, "is not a whole number from 1 on" in err) == (2, True)


def test_both_lists_of_limits_agree():
    assert parameters.LIMITS == files.LIMIT_OPTIONS
    defaults = vars(files.READ_LIMITS)
    shown = {option.name: option.show_default for option in _options() if option.name in parameters.LIMITS}
    assert {name: parameters.amount(None, None, text) for name, text in shown.items()} == {
        name: defaults[name] for name in parameters.LIMITS
    }


def _options():
    from streamsift.cli.select import select

    return select.params


def test_memory_that_runs_out_anywhere_is_no_defect_of_ours(capsys):
    import click

    from streamsift.cli.errors import run

    @click.command()
    def verb():
        raise MemoryError

    assert run(verb, []) == 1
    assert capsys.readouterr().err.startswith("Error: There is not enough memory for this: ")

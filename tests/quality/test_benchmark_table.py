"""`python -m benchmarks` fails when a wanted figure is missed by more than the noise it states."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import pytest
from benchmarks import __main__ as benchmarks
from benchmarks.table import NOISE, Row, conclude, show


def row(ratio, wanted=2.0, **options):
    return Row("speed", 1.0, ratio, "a peer", ratio, wanted, "s", **options)


@pytest.mark.parametrize(
    ("measured", "reached", "missed", "sign"),
    [
        (row(2.0), True, False, "✓"),
        (row(2.0 * (1 - NOISE) + 1e-9), False, False, "≈"),
        (row(2.0 * (1 - NOISE) - 1e-9), False, True, "✗"),
        (row(1.9, noise=0.01), False, True, "✗"),
        (row(1.2, noise=0.5), False, False, "≈"),
        (row(math.nan), False, True, "✗"),
        (row(0.0, wanted=None), True, False, "–"),
    ],
)
def test_a_figure_is_missed_only_beyond_its_noise(measured, reached, missed, sign):
    assert (measured.reached, measured.missed) == (reached, missed)
    assert sign in show("table", [measured]).splitlines()[-1].split("|")[5]
    assert measured.as_dict()["missed"] is missed


def test_the_table_states_the_noise():
    lines = show("table", [row(2.5), row(2.5, noise=0.03), row(2.5, wanted=None)]).splitlines()
    assert [line.split("|")[6].strip() for line in lines[2:]] == ["noise", "---", "10%", "3%", "–"]


def test_the_end_lists_what_is_missed():
    tables = {"one": [row(3.0), row(1.9)], "two": [row(1.0, note="10 rows"), row(0.1, wanted=None)]}
    words, code = conclude(tables)
    assert code == 1
    assert words.splitlines() == [
        "1 figure missed; 1 below what is wanted, but within the noise:",
        "two: speed (10 rows), against a peer: 1 where 2 is wanted (noise 10%)",
    ]
    assert conclude({"one": [row(3.0), row(1.9)]}) == (
        "No figure is missed; 1 below what is wanted, but within the noise.",
        0,
    )
    assert conclude({"one": []}) == ("No figure is missed.", 0)


@pytest.mark.parametrize("options", [[], ["--quick"]])
@pytest.mark.parametrize(("ratio", "code"), [(5.0, 0), (1.0, 1)])
def test_the_exit_code_says_it(monkeypatch, capsys, tmp_path, options, ratio, code):
    asked = []

    def run(quick):
        asked.append(quick)
        return [row(ratio)]

    monkeypatch.setattr(benchmarks.importlib, "import_module", lambda name: SimpleNamespace(run=run))
    out = tmp_path / "result.json"
    assert benchmarks.main(["evaluate", *options, "--out", str(out)]) == code
    assert asked == [bool(options)]
    shown = capsys.readouterr().out
    assert ("1 figure missed:\nevaluate: speed, against a peer" in shown) is (code == 1)
    assert json.loads(out.read_text())["rows"][0]["missed"] is (code == 1)

"""Command lines with hostile files and options, run within the worker: no exit 3, no traceback, one sentence."""

from __future__ import annotations

import contextlib
import io
import os
import random
import shutil
import sys
import tempfile
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from streamsift.cli.errors import run
from streamsift.cli.main import cli
from tests.fuzz.forked import Make, Use
from tests.fuzz.mutations import mutated
from tests.fuzz.readers import NEEDS_NO_TARGET, damaged
from tests.fuzz.seeds import corpus
from tests.fuzz.tally import ACCEPTED, REFUSED

VERBS = ("select", "select", "select", "inspect", "inspect", "report", "compare", "generate", "methods")

METHODS = ("screen:t_score", "screen:fisher", "screen:chi2", "screen:mutual_info", "ofs", "saola", "investing", "osfs",
           "etana", "abfs", "screen:t_scor", "", "screen:", "\x1b[31m", "oracle")  # fmt: skip
NAMES = ("a", "b", "c", "y", "Y", "", "\n", "no such", "\udcff", "x" * 5000, "=1")
NUMBERS = ("0", "1", "2", "-1", "0.5", "0.99", "1.5", "nan", "inf", "1e400", "1e-400", "10**9",
           "999999999999999999999", "x", "", "1_000", "٣")  # fmt: skip
ENCODINGS = (
    "latin-1",
    "utf-16",
    "utf-32",
    "cp1252",
    "utf-7",
    "idna",
    "rot13",
    "base64",
    "no such",
    "",
    "unicode_escape",
    "\x00",
)
READING = {
    "--categorical": NAMES,
    "--ignore": NAMES,
    "--sep": (",", ";", "tab", "", "ab", '"', "\n", "\x00", "é"),
    "--decimal": (".", ",", "x"),
    "--thousands": (",", ".", "space", "'", "", "12", "\x00"),
    "--na": ("-", "?", "", "1", "\udcff"),
    "--encoding": ENCODINGS,
    "--skip-unlabelled": (),
    "--json": (),
    "--quiet": (),
}
OPTIONS = {
    "select": READING
    | {
        "--method": METHODS,
        "--task": ("auto", "classification", "regression", "x"),
        "-k": NUMBERS,
        "--fading": NUMBERS,
        "--missing": ("error", "skip", "x"),
        "--eps": ("0.001", "0.01", *NUMBERS),
        "--bins": ("5", "2", *NUMBERS),
        "--set": ("n_bins=3", "fading=0.9", "x", "=", "fading=", "n_bins=1e9", "random_state=0", "alpha=nan"),
        "--costs": ("costs.csv", "no such", "."),
        "--batch-size": ("1", "3", "1000", *NUMBERS),
        "-o": ("out", "", "\x00", "file", "file/below"),
        "--save": ("saved", "", "\x00", ".", "file/below"),
    },
    "inspect": READING | {"--rows": NUMBERS, "--all": ()},
    "compare": READING
    | {
        "--baselines": ("none", "all", "x", ""),
        "--models": ("nb", "perceptron", "x", ""),
        "--set": ("screen:t_score.fading=0.9", "x.y=z", "ofs", "."),
        "-k": NUMBERS,
        "--label-delay": ("0", "3", *NUMBERS),
        "--rows": ("10", *NUMBERS),
        "--seed": NUMBERS,
        "--scale": ("standard", "none", "x"),
        "--metric": ("accuracy", "f1", "kappa", "x"),
    },
    "report": {"-o": ("report.html", "", "\x00", "file/below", ".")},
    "generate": {
        "--seed": NUMBERS,
        "--irrelevant": ("0", "2", "x", "-1"),
        "--redundant": ("0", "2", "x", "-1"),
        "--drift": ("abrupt", "gradual", "x"),
        "--drifts": ("1", "2", "40", "0", "x"),
        "--positions": ("10,20", "20,10", "5", "x", "", "-1", "99999999999999999999"),
        "--width": ("1", "10", "10000000000", "x"),
        "--noise": NUMBERS,
        "--share": NUMBERS,
        "--set": ("n_features=5", "x=1", "n_features=-1", "n_features=1e3", "="),
    },
    "methods": {"--json": (), "--x": ()},
}  # fmt: skip


def maker(kinds: Sequence[str] | None = None) -> Make:
    """Command lines of some verbs; None: of all that end soon."""
    return partial(_make, tuple(kinds or VERBS), _finished_runs())


def _finished_runs() -> dict[str, bytes]:
    """What `report` reads, by the name of the file; it also compiles what small runs need."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = folder / "a.csv"
        data.write_bytes(corpus()[".csv"][0])
        for method in METHODS[:10]:
            _call(
                [
                    "select",
                    str(data),
                    "--target",
                    "y",
                    "--method",
                    method,
                    "--missing",
                    "skip",
                    "-o",
                    str(folder / "run"),
                ]
            )
        compared = ["compare", str(data), "--target", "y", "--methods", "screen:t_score", "--repeats", "1"]
        _call([*compared, "--ignore", "e", "--batch-size", "4", "-o", str(folder / "compared")])
        found = (folder / "run" / "trace.parquet", folder / "compared" / "comparison.json")
        return {path.name: path.read_bytes() for path in found if path.exists()}


def _make(verbs: Sequence[str], runs: dict[str, bytes], number: int, seed: int) -> tuple[str, Use]:
    rng = random.Random(f"commands {seed} {number}")
    verb = rng.choice(verbs)
    name, data = _input(verb, runs, rng)
    arguments = [verb, name, *_options(verb, name, rng)]
    return verb, partial(_use, arguments, name, data)


def _input(verb: str, runs: dict[str, bytes], rng: random.Random) -> tuple[str, bytes]:
    """The name and the contents of the file."""
    if verb == "report":
        name = rng.choice(list(runs))
        return name, runs[name] if rng.random() < 0.02 else mutated(runs[name], rng)
    if verb == "generate":
        return rng.choice(("sea", "agr", "an", "bg1", "rbf", "linear_drift", "rtg", "x", "")), b""
    if verb == "methods":
        return rng.choice(("", "ofs", "--json", "x")), b""
    if rng.random() < 0.5:
        suffix = rng.choice(list(corpus()))
        return f"input{suffix}", rng.choice(corpus()[suffix])
    suffix, data = damaged(rng.randrange(10**9), 0, list(corpus()))
    return rng.choice((f"input{suffix}",) * 9 + ("-", "no such.csv", ".", "\x00.csv")), data


def _options(verb: str, name: str, rng: random.Random) -> list[str]:
    found: list[str] = []
    if verb in ("select", "inspect", "compare") and not name.endswith(NEEDS_NO_TARGET):
        found += ["--target", "y" if rng.random() < 0.9 else rng.choice(NAMES)]
    if verb == "select":
        found += ["--missing", "skip"]
    if verb == "compare":  # small, else it takes seconds
        found += [
            "--repeats",
            "1",
            "--batch-size",
            "4",
            "--ignore",
            "e",
            "--methods",
            rng.choice(("screen:t_score", "ofs,screen:fisher", "saola", "x", "")),
        ]
    if verb == "generate":
        found += [
            "--rows",
            rng.choice(("1", "40", "40", "0", "-1", "x")),
            "-o",
            rng.choice(("a.csv", "a.arrow", "-", "a.x", "")),
        ]
    options = OPTIONS[verb]
    for option in rng.sample(list(options), min(rng.choice((0, 0, 1, 1, 2, 3)), len(options))):
        if option in ("-o", "--save") and rng.random() < 0.7:
            continue  # a report takes a while
        found += [option, *([rng.choice(options[option])] if options[option] else [])]
    return found


def _use(arguments: list[str], name: str, data: bytes, folder: Path) -> str:
    here = folder / "here"
    shutil.rmtree(here, ignore_errors=True)
    here.mkdir()
    (here / "file").write_bytes(b"a file")
    (here / "costs.csv").write_bytes(b"a,1\nb,2\n")
    if data and name not in (".", "-", "") and "\x00" not in name:
        (here / name).write_bytes(data)
    os.chdir(here)
    usual, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(data))
    try:
        code, said = _call(arguments)
    finally:
        sys.stdin = usual
    words = f"{arguments!r:.300}: {said[-300:]!r}"
    assert code in (0, 1, 2), f"exit {code} of {words}"
    assert "Traceback" not in said, f"a traceback from {words}"
    if code == 1:
        errors = [line for line in said.splitlines() if line.startswith("Error: ")]
        assert len(errors) == 1, f"not one sentence from {words}"
        assert said.rstrip("\n").endswith(errors[0]), f"more than a sentence from {words}"
    return ACCEPTED if code == 0 else REFUSED


def _call(arguments: list[str]) -> tuple[int, str]:
    """The exit code of the command line and what it says to standard error."""
    said = io.StringIO()
    printed = io.TextIOWrapper(io.BytesIO())
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said), warnings.catch_warnings():
        code = run(cli, arguments)
    return code, said.getvalue()

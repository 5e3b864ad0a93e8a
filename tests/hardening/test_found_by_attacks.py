"""What attackers have found who looked for what the fuzzers do not make: a test for each."""

from __future__ import annotations

import copy
import csv
import io
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import SGDClassifier

from streamsift import (
    InputError,
    Joint,
    ParameterError,
    ReaderError,
    SavedStateError,
    Screener,
    catalog,
    load,
    open_stream,
    persist,
    save,
)
from streamsift.cli.errors import run
from streamsift.cli.main import cli
from streamsift.interop.stream_pipeline import StreamPipeline
from streamsift.report.trace_page import trace_page
from streamsift.runs.trace import Trace
from streamsift.streams.arrays import label_array
from streamsift.streams.prices import read_prices


def read(path: Path, data: bytes, **options: Any) -> Any:
    path.write_bytes(data)
    return list(open_stream(path, "y", **options).batches(100))


def one_sentence(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    """What is said by a command line that must be refused."""
    code = run(cli, [str(argument) for argument in arguments])
    said = capsys.readouterr().err
    assert (code, said.count("\n")) == (1, 1), said
    return said


# -- files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b', "y": 1}\n',
        b'{"a": ' * 20_000 + b"1" + b"}" * 20_000 + b"\n",
        b'{"a": ' + b"[\n" * 100_000 + b"]\n" * 100_000 + b"}\n",
    ],
)
def test_json_that_is_nested_until_the_stack_ends(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "first.jsonl").write_bytes(line)
    (tmp_path / "late.jsonl").write_bytes(b'{"a": 1, "y": 0}\n' * 100_000 + line)
    program = (
        "import sys\nfrom streamsift import ReaderError, open_stream\n"
        "for path in sys.argv[1:]:\n"
        "    try: list(open_stream(path, 'y').batches(1000))\n"
        "    except ReaderError as error: print(error)\n"
    )
    files = [str(tmp_path / name) for name in ("first.jsonl", "late.jsonl")]
    ended = subprocess.run([sys.executable, "-c", program, *files], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.count("\n"), ended.stderr) == (0, 2, "")


def test_brackets_inside_of_json_strings_are_no_lists(tmp_path: Path) -> None:
    line = b'{"a": "' + b'[\\"{' * 500 + b'", "y": 1}\n{"a": "u", "y": 0}\n'
    (batch,) = read(tmp_path / "a.jsonl", line)
    assert batch.y.tolist() == [1, 0]


def test_thousands_of_keys_are_looked_up_at_once(tmp_path: Path) -> None:
    keys = ", ".join(f'"k{number}": 1' for number in range(5000))
    stream_of = tmp_path / "a.jsonl"
    read(stream_of, b"{" + keys.encode() + b', "y": 0}\n')
    stream: Any = open_stream(stream_of, "y")
    assert isinstance(stream._known, frozenset)


@pytest.mark.parametrize("encoding", ["utf\0", "undefined", "rot13"])
def test_encodings_that_are_none(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(ParameterError, match="must be an encoding of text that Python knows"):
        read(tmp_path / "a.csv", b"a,y\n1,0\n", encoding=encoding)


@pytest.mark.parametrize(
    ("encoding", "data"),
    [("punycode", b"a,y\n1,0\n"), ("unicode_escape", b"a,y\n\\ud800,0\n"), ("utf-7", b"a,y\n+2AA-,0\n")],
)
def test_text_that_an_encoding_cannot_give(tmp_path: Path, encoding: str, data: bytes) -> None:
    with pytest.raises(ReaderError, match=r"is not .* text, .* cannot be decoded"):
        read(tmp_path / "a.csv", data, encoding=encoding)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".arff"])
def test_a_limit_of_names_can_be_raised(tmp_path: Path, suffix: str) -> None:
    name = b"a" * 20_000
    data = {
        ".csv": name + b",y\n1,u\n2,v\n",
        ".jsonl": b'{"' + name + b'": 1, "y": 0}\n',
        ".arff": b"@relation r\n@attribute " + name + b" real\n@attribute y {u,v}\n@data\n1,u\n",
    }[suffix]
    path = tmp_path / f"a{suffix}"
    with pytest.raises(ReaderError, match="raise the limit with --max-name"):
        read(path, data)
    (batch,) = read(path, data, limits={"longest_name": 50_000})
    assert len(batch.feature_names[0]) == 20_000


def npz_of_claims(path: Path, **shapes: tuple[str, tuple[int, ...]]) -> None:
    """An archive of zeros, of which each array is so large as it says."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for key, (kind, shape) in shapes.items():
            header = io.BytesIO()
            np.lib.format.write_array_header_1_0(header, {"descr": kind, "fortran_order": False, "shape": shape})
            n_bytes = int(np.prod(shape)) * np.dtype(kind).itemsize
            with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                member.write(header.getvalue())
                for start in range(0, n_bytes, 1 << 20):
                    member.write(bytes(min(1 << 20, n_bytes - start)))


@pytest.mark.parametrize(
    ("claims", "sentence"),
    [
        ({"X": ("<f8", (30, 2)), "y": ("|u1", (200_000_000,))}, "X has 30 rows but y has shape"),
        ({"X": ("<f8", (4, 2)), "y": ("<U12000000", (4,))}, "texts of 12,000,000 characters"),
        (
            {"X": ("<f8", (4, 2)), "y": ("<i8", (4,)), "feature_names": ("<U4", (12_000_000,))},
            "12000000 feature_names",
        ),
        (
            {
                "data": ("<f8", (4,)),
                "indices": ("<i8", (4,)),
                "indptr": ("<i8", (5,)),
                "shape": ("<i8", (25_000_000,)),
                "y": ("<i8", (4,)),
            },
            r"'shape' .* holds \(25000000,\)",
        ),
    ],
)
def test_small_archives_of_huge_arrays(tmp_path: Path, claims: dict[str, Any], sentence: str) -> None:
    """About 200 MB of zeros in each: nothing of it is read before it fits the other arrays."""
    path = tmp_path / "a.npz"
    npz_of_claims(path, **claims)
    assert path.stat().st_size < 2_000_000
    tracemalloc.start()
    with pytest.raises(ReaderError, match=sentence):
        open_stream(path)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < 20_000_000


@pytest.mark.parametrize(
    "data", [b"\xca\xfe,price\n", b"feature,price\na\xff,1\n", b'feature,price\n"' + b"a" * 200_000]
)
def test_prices_that_are_no_csv(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "prices.csv").write_bytes(data)
    with pytest.raises(ReaderError, match="is no CSV file in UTF-8") as caught:
        read_prices(tmp_path / "prices.csv", ["a"])
    assert len(str(caught.value)) < 400


def test_threads_that_read_headers_leave_the_limit_of_csv_as_it_was(tmp_path: Path) -> None:
    """Two of them could each take the limit of the other for the usual one."""
    (tmp_path / "a.csv").write_text("a,b,y\n" + "1,2,0\n2,2,1\n" * 20)
    usual = csv.field_size_limit()
    with ThreadPoolExecutor(8) as threads:
        for _ in threads.map(lambda _: open_stream(tmp_path / "a.csv", target="y"), range(200)):
            pass
    assert csv.field_size_limit() == usual


def test_a_trace_of_more_features_than_memory_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a page takes depends on the features that have a score, not on those that a file claims."""
    data = tmp_path / "a.csv"
    data.write_text("a,b,y\n" + "1,2,0\n2,2,1\n3,1,1\n" * 20)
    assert run(cli, ["select", str(data), "--target", "y", "-o", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    trace = Trace.read(tmp_path / "run" / "trace.parquet")
    wide = replace(trace, n_features=10**14)
    np.testing.assert_array_equal(wide.sizes(), trace.masks().sum(axis=1))
    assert wide.summary() == trace.summary()
    assert f"{10**14:,}" in trace_page(wide)


# -- JSON from elsewhere ----------------------------------------------------------------------------------------------

DEEP = "[" * 100_000


def test_a_comparison_that_is_nested_until_the_stack_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "comparison.json").write_text(DEEP)
    said = one_sentence(capsys, "report", tmp_path, "-o", tmp_path / "report.html")
    assert "is not JSON" in said


@pytest.mark.parametrize("value", [DEEP, "9" * 5000])
def test_values_of_options_that_json_cannot_read(
    value: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data = tmp_path / "a.csv"
    data.write_text("a,y\n" + "1,0\n2,1\n" * 20)
    assert run(cli, ["select", str(data), "--target", "y", "--set", f"max_pool={value}"]) in (1, 2)
    assert run(cli, ["compare", f"generate:sea,irrelevant={value}", "--rows", "100"]) in (1, 2)
    assert "Unexpected" not in capsys.readouterr().err


# -- saved files ------------------------------------------------------------------------------------------------------


def forged_pipeline(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    X[:, 0] += y
    steps = [("select", Screener("fisher", n_features_to_select=2)), ("learn", SGDClassifier(random_state=0))]
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    parts = persist.parts_of(StreamPipeline(steps).partial_fit(frame, y))
    facts, arrays = copy.deepcopy(parts.facts), dict(parts.arrays)
    change(facts, arrays)
    persist.write(path, persist.Parts(facts, arrays))


CHANGES: dict[str, Callable[[dict[str, Any], dict[str, Any]], Any]] = {
    "no names": lambda facts, _: facts.pop("feature_names"),
    "no class": lambda facts, _: facts["parameters"]["steps"][0].pop("class"),
    "a list for a class": lambda facts, _: facts["parameters"]["steps"][1].update({"class": []}),
    "a list for a name": lambda facts, _: facts["parameters"]["steps"][0]["feature_names"].__setitem__(1, [1, 2]),
    "no model": lambda _, arrays: arrays.update({"pipeline.learner_classes": np.array(0)}),
}


@pytest.mark.parametrize("change", list(CHANGES))
def test_forged_pipelines(tmp_path: Path, change: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pipeline"
    forged_pipeline(path, CHANGES[change])
    with pytest.raises(SavedStateError, match="damaged"):
        load(path)
    assert "damaged" in one_sentence(capsys, "inspect", path)


# -- numbers ----------------------------------------------------------------------------------------------------------


def test_a_target_that_is_too_large_is_not_called_missing() -> None:
    with pytest.raises(InputError, match=r"Row 1 has no target within 1e\+150 \(y is 1e\+308\)"):
        Joint(task="regression").partial_fit(np.eye(2), [1.0, 1e308])


@pytest.mark.parametrize("criterion", ["t_score", "fisher"])
@pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "sparse"])
def test_a_value_is_too_large_wherever_it_stands(criterion: str, form: Any) -> None:
    """One of many rows counted little in the sums of a batch, and the state could be saved but not loaded."""
    X = np.random.default_rng(0).normal(size=(120, 3))
    for value in (1.1e150, -1e151, 1e152):
        X[-1, 1] = value
        selector = Screener(criterion)
        with pytest.raises(InputError, match=r"Row 119, column 'x1' of X is too large"):
            selector.partial_fit(form(X), np.arange(120) % 2)
        selector.partial_fit(form(X[:100]), np.arange(100) % 2)
        with pytest.raises(InputError, match=r"Row 19 .*column 'x1' of X is too large"):
            selector.partial_fit(form(X[100:]), np.arange(20) % 2)


@pytest.mark.parametrize("criterion", ["t_score", "fisher"])
@pytest.mark.parametrize("form", [np.asarray, csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("weight", [None, 1e6])
def test_sums_of_large_values_never_overflow(tmp_path: Path, criterion: str, form: Any, weight: float | None) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.choice([-1e150, 1e150], (120, 3)), np.arange(120) % 2
    selector = Screener(criterion)
    if weight is not None:
        with pytest.raises(InputError, match="sums overflow"):
            selector.partial_fit(form(X), y, sample_weight=np.full(120, weight))
        X /= 1e10
    usual = Screener(criterion)
    for _ in range(30):
        selector.partial_fit(form(X), y, sample_weight=None if weight is None else np.full(120, weight))
        usual.partial_fit(form(np.sign(X)), y, sample_weight=None if weight is None else np.full(120, weight))
    np.testing.assert_allclose(selector.scores_, usual.scores_, rtol=1e-9, atol=1e-9)
    save(selector, tmp_path / "selector")
    np.testing.assert_array_equal(load(tmp_path / "selector").scores_, selector.scores_)


@pytest.mark.parametrize("size", [1e-140, 1e-100, 1e-80, 1e80, 1e100, 1e149])
def test_p_values_of_large_and_small_numbers(size: float) -> None:
    X, y = np.random.default_rng(0).normal(size=(200, 3)), np.arange(200) % 2
    X[:, 0] += y
    usual = Screener("t_score").fit(X, y)
    selector = Screener("t_score").fit(X * size, y)
    np.testing.assert_allclose(selector.pvalues_, usual.pvalues_, rtol=1e-9)
    np.testing.assert_allclose(selector.scores_, usual.scores_, rtol=1e-9)


def test_differences_whose_squares_vanish_separate_nothing() -> None:
    X, y = np.random.default_rng(0).normal(size=(200, 3)), np.arange(200) % 2
    X[:, 1:] *= 1e-160
    X[:, 0] += y
    selector = Screener("t_score", n_features_to_select="fdr:0.05").fit(X, y)
    assert (selector.selected_, selector.scores_[1:].tolist()) == (["x0"], [0.0, 0.0])


@pytest.mark.parametrize("method", ["investing", "saola", "screen:t_score", "joint:forward", "etana"])
def test_masked_labels_are_missing(method: str) -> None:
    X, y = np.random.default_rng(0).normal(size=(60, 3)).round(1), np.arange(60) % 2
    X[:, 0] += y
    masked = np.ma.masked_array(y, np.arange(60) == 7)
    if catalog.entry(method).kind != "rows":
        with pytest.raises(InputError, match=r"Row 7 .*(no label|NaN)"):
            catalog.make(method).fit(X, masked)
    else:
        found = catalog.make(method).fit(X, masked)
        assert (found.n_rows_seen_, found.classes_.tolist()) == (59, [0, 1])


@pytest.mark.parametrize("labels", [[1, pd.NA, 0], np.ma.masked_array([1, 0, 1], [0, 1, 0]), [1, None, 0]])
def test_labels_of_a_stream_that_are_missing(labels: Any) -> None:
    with pytest.raises(ReaderError, match="Row 1 has no label"):
        label_array(labels)

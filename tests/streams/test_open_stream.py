"""open_stream across formats: one table, many files, the same rows; and files that cannot be opened at all."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.streams.drain import drain

from streamsift.core.exceptions import ParameterError, ReaderError
from streamsift.streams import files, open_stream
from streamsift.streams.column_sources import open_columns
from streamsift.streams.files import own_copy
from streamsift.streams.open import FORMATS


def arff_text(frame: pd.DataFrame) -> str:
    header = "".join(f"@attribute {name} numeric\n" for name in frame.columns)
    rows = "\n".join(",".join(repr(value) for value in row) for row in frame.astype(float).to_numpy().tolist())
    return f"@relation r\n{header}@data\n{rows}\n"


def save_npz(frame: pd.DataFrame, path: Path) -> None:
    features = frame.drop(columns="label")
    np.savez(path, X=features.to_numpy(), y=frame["label"].to_numpy(), feature_names=list(features.columns))


def save_ipc_stream(frame: pd.DataFrame, path: Path) -> None:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


def save_libsvm(frame: pd.DataFrame, path: Path) -> None:
    rows = zip(frame["label"], frame[["a", "b", "c"]].to_numpy().tolist(), strict=True)
    path.write_text("".join(f"{label} 1:{a!r} 2:{b!r} 3:{c!r}\n" for label, (a, b, c) in rows))


SAVE: dict[str, Any] = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
    ".csv.gz": lambda frame, path: frame.to_csv(path, index=False, compression="gzip"),
    ".tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    ".txt": lambda frame, path: frame.to_csv(path, index=False, sep=";"),
    ".jsonl": lambda frame, path: path.write_text("".join(f"{json.dumps(row)}\n" for row in frame.to_dict("records"))),
    ".ndjson": lambda frame, path: path.write_text("".join(f"{json.dumps(row)}\n" for row in frame.to_dict("records"))),
    ".parquet": lambda frame, path: frame.to_parquet(path),
    ".feather": lambda frame, path: feather.write_feather(frame, str(path)),
    ".arrow": save_ipc_stream,
    ".ipc": save_ipc_stream,
    ".npz": save_npz,
    ".libsvm": save_libsvm,
    ".svm": save_libsvm,
    ".svmlight": save_libsvm,
    ".arff": lambda frame, path: path.write_text(arff_text(frame)),
    ".arff.gz": lambda frame, path: path.write_bytes(gzip.compress(arff_text(frame).encode())),
}


@settings(max_examples=15)
@given(seed=st.integers(0, 1000), n_rows=st.integers(1, 40), size=st.integers(1, 45))
def test_every_format_gives_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory, seed: int, n_rows: int, size: int
) -> None:
    folder = tmp_path_factory.mktemp("formats")
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.standard_normal((n_rows, 3)), columns=["a", "b", "c"])
    frame["label"] = rng.integers(0, 3, n_rows)
    assert set(FORMATS) <= set(SAVE)
    for suffix, save in SAVE.items():
        path = folder / f"data{suffix}"
        save(frame, path)
        for source in (path, str(path)):
            X, y = drain(open_stream(source, target="label"), size)
            np.testing.assert_array_equal(X, frame[["a", "b", "c"]].to_numpy(), err_msg=suffix)
            assert y == frame["label"].tolist(), suffix


@pytest.mark.parametrize("name", ["data.xlsx", "data", "data.parquet.gz", "data.gz", "archive.csv.bz2"])
def test_an_unknown_suffix(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"x")
    with pytest.raises(ReaderError) as raised:
        open_stream(path)
    assert str(raised.value) == (
        f"{path} has no suffix that names its format: known are .csv, .tsv, .txt, .jsonl, .ndjson, .arff, "
        ".libsvm, .svm, .svmlight (each also with .gz or .zst behind it) and .parquet, .arrow, .feather, .ipc, .npz."
    )


@pytest.mark.parametrize("suffix", [*FORMATS, ".csv.gz", ".csv.zst"])
def test_files_that_cannot_be_opened(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"data{suffix}"
    with pytest.raises(ReaderError, match=rf"^There is no file .*data{suffix}: check the path\.$"):
        open_stream(path, target="label")
    path.write_bytes(b"")
    with pytest.raises(ReaderError, match=rf"^.*data{suffix} is empty: there is nothing to read\.$"):
        open_stream(path, target="label")
    folder = tmp_path / f"folder{suffix}"
    folder.mkdir()
    with pytest.raises(ReaderError, match=rf"^.*folder{suffix} is a directory: name a file in it\.$"):
        open_stream(folder, target="label")
    os.mkfifo(tmp_path / f"pipe{suffix}")
    with pytest.raises(ReaderError, match=rf"pipe{suffix} is not a regular file: send it to standard input"):
        open_stream(tmp_path / f"pipe{suffix}", target="label")

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files.Path, "open", forbidden)
    with pytest.raises(ReaderError, match=r"cannot be opened: you have no permission to read it\.$"):
        open_stream(path, target="label")


def test_the_target_cannot_be_ignored(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,0\n2,1\n")
    with pytest.raises(ParameterError, match="'y' is the target and cannot be ignored"):
        open_stream(path, "y", ignore=["x", "y"])
    with pytest.raises(ParameterError, match="'y' is the target and cannot be ignored"):
        open_columns(tmp_path / "a.parquet", "y", ignore=["y"])


def test_options_are_refused_where_they_do_not_apply(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,label\n1,a\n")
    with pytest.raises(ParameterError, match=r"The option n_features does not apply to .csv files: only sep, decimal"):
        open_stream(tmp_path / "a.csv", target="label", n_features=3)
    (tmp_path / "a.svm").write_text("1 1:1\n")
    with pytest.raises(ParameterError, match=r"The option ignore does not apply to .svm files: only zero_based"):
        open_stream(tmp_path / "a.svm", ignore=["x"])


def test_reading_a_file_does_not_import_pandas(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,town,label\n1,Oslo,a\n2,,b\n")
    code = (
        "import sys; from streamsift.streams import open_stream\n"
        "assert sum(b.n_rows for b in open_stream(sys.argv[1], target='label').batches(1)) == 2\n"
        "assert 'pandas' not in sys.modules and 'polars' not in sys.modules and 'sklearn' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.csv")], check=True)


def test_a_real_pipe_to_standard_input() -> None:
    code = (
        "from streamsift.streams import open_stream\n"
        "print([(b.X.tolist(), b.y.tolist()) for b in open_stream('-', target='label').batches(2)])"
    )
    text = b"x,label\n1,a\n2,b\n3,a\n"
    done = subprocess.run([sys.executable, "-c", code], input=text, capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[([[1.0], [2.0]], ['a', 'b']), ([[3.0]], ['a'])]"


def test_blocks_for_other_threads_are_not_pythons_memory() -> None:
    block = b"1,a\n" * 10
    before = sys.getrefcount(block)
    copy = own_copy(block)
    assert copy.to_pybytes() == block
    assert sys.getrefcount(block) == before
    assert own_copy(b"").size == 0

"""Files are complete or not there, whatever happens on the way."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from streamsift.core.atomic import Draft, replacing, write_text


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_has_its_name_only_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
        assert sum(name.endswith(".partial") for name in names(tmp_path)) == 1
    assert path.read_text() == "new"
    assert names(tmp_path) == ["table.csv"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_is_said_in_one_sentence_and_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "table.csv"
    path.write_text("old")
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(
        OSError, match=r"^The file '.*table\.csv' cannot be written: no space left on device\.$"
    ) as found:
        write_text(path, "new")
    assert found.value.errno == 28
    assert path.read_text() == "old"
    assert names(tmp_path) == ["table.csv"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OSError(5, "Input/output error")])
def test_whatever_ends_the_block_leaves_no_partial_file(tmp_path: Path, error: Any) -> None:
    kind = error if isinstance(error, type) else type(error)

    def write_half() -> None:
        with replacing(tmp_path / "table.csv") as file:
            file.write(b"half of")
            raise error

    with pytest.raises(kind):
        write_half()
    assert names(tmp_path) == []


def test_a_missing_folder_and_a_folder_in_the_way_are_said(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"table\.csv' cannot be written: no such file or directory\.$"):
        write_text(tmp_path / "nowhere" / "table.csv", "a")
    with pytest.raises(OSError, match=r"cannot be written: is a directory\.$"):
        write_text(tmp_path, "a")


def test_a_device_is_written_to_and_stays_a_device(tmp_path: Path) -> None:
    link = tmp_path / "link.csv"
    link.symlink_to(os.devnull)
    for path in (Path(os.devnull), link):
        write_text(path, "gone")
        draft = Draft(path)
        draft.keep()
        draft.discard()
        assert stat.S_ISCHR(os.stat(path).st_mode)
    assert link.is_symlink()


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "through")
    reader.join(timeout=240)
    assert found == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_stays_a_link_and_a_long_name_is_no_trouble(tmp_path: Path) -> None:
    target, link = tmp_path / ("n" * 255), tmp_path / "link"
    link.symlink_to(target)
    write_text(link, "a")
    write_text(link, "b")
    assert link.is_symlink()
    assert target.read_text() == "b"


def test_two_drafts_of_one_file_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    with replacing(path) as one, replacing(path) as two:
        one.write(b"one")
        two.write(b"two")
    assert path.read_text() == "one"  # which was finished last
    assert names(tmp_path) == ["table.csv"]

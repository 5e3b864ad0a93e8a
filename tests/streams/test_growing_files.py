"""tail: a file that grows, its half lines, its positions, and what is refused."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from streamsift import ParameterError, ReaderError, SavedStateError, Screener
from streamsift.core.exceptions import ReadingNotice
from streamsift.streams import Unbounded, open_stream
from streamsift.streams.message_stream import MessageStream

HEADER = "a,colour,y\n"


def follow(path, **options) -> MessageStream:
    options = {"stop_after_idle": 0.0} | options
    return open_stream(Unbounded(f"tail:{path}", **options), target="y")


def first_behind(position, stream):
    stream.seek(position)
    return next(stream.batches(5))


def lines(first, last):
    return "".join(f"{k}.5,{'red' if k % 3 else 'blue'},{'yes' if k % 2 else 'no'}\n" for k in range(first, last))


def values(batches):
    return [batch.X[:, 0].tolist() for batch in batches]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(HEADER + lines(0, 10))
    return path


def append(path, text):
    with path.open("a") as file:
        file.write(text)


def test_reads_what_is_there_in_batches(log):
    batches = list(follow(log).batches(4))
    assert [batch.n_rows for batch in batches] == [4, 4, 2]
    assert batches[0].feature_names == ("a", "colour")
    assert batches[0].y.tolist() == ["no", "yes", "no", "yes"]
    assert batches[0].kinds.names == {1: ("blue", "red")}
    assert batches[0].X[:, 1].tolist() == [0.0, 1.0, 1.0, 0.0]


def test_the_same_rows_as_from_the_file(log):
    own = next(follow(log).batches(10))
    file = next(open_stream(log, target="y").batches(10))
    np.testing.assert_array_equal(own.X, file.X)
    np.testing.assert_array_equal(own.y, file.y)


def test_waits_for_the_other_half_of_a_line_and_for_a_full_batch(log):
    pauses = []

    def meanwhile(seconds):
        pauses.append(seconds)
        assert len(pauses) < 4
        append(log, {1: "10.", 2: "5,red,no\n11.5,re", 3: "d,yes\n"}[len(pauses)])

    stream = open_stream(Unbounded(f"tail:{log}"), target="y")
    stream._sleep = meanwhile
    batches = stream.batches(4)
    assert values([next(batches), next(batches), next(batches)])[2] == [8.5, 9.5, 10.5, 11.5]
    assert len(pauses) == 3
    batches.close()


def test_a_file_that_is_not_there_yet_is_waited_for(tmp_path):
    path = tmp_path / "later.jsonl"
    stream = open_stream(Unbounded(f"tail:{path}"), target="y")
    stream._sleep = lambda seconds: append(path, '{"a": 1, "y": 0}\n{"a": 2, "y": 1}\n')
    with pytest.warns(ReadingNotice, match=r"There is no file .*later\.jsonl yet: it is waited for"):
        batch = next(stream.batches(2))
    assert batch.X.tolist() == [[1.0], [2.0]]
    assert batch.y.tolist() == [0, 1]


def test_quoted_cells_may_hold_line_breaks(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b'\xef\xbb\xbfa;note;y\n1;"two\nlines; one cell";0\n2;plain;1\n3;"half')
    stream = follow(path)
    batch = next(stream.batches(10))
    assert batch.X[:, 0].tolist() == [1.0, 2.0]
    assert stream.categories == {"note": ("two\nlines; one cell", "plain")}
    assert batch.y.tolist() == [0, 1]


@pytest.mark.parametrize("n_before", [1, 2, 3])
def test_goes_on_from_a_position_with_what_came_since(log, n_before):
    text = log.read_text()
    append(log, lines(10, 20))
    whole = list(follow(log).batches(4))
    log.write_text(text)
    stream = follow(log)
    batches = stream.batches(4)
    for _ in range(min(n_before, 2)):
        next(batches)
    position = json.loads(json.dumps(stream.position()))
    batches.close()
    append(log, lines(10, 20))
    again = follow(log)
    again.seek(position)
    rest = list(again.batches(4))
    expected = whole[min(n_before, 2) :]
    assert values(rest) == values(expected)
    assert [b.kinds.names for b in rest] == [b.kinds.names for b in expected]
    assert again.position()["rows"] == 20


def test_a_position_before_the_first_batch(log):
    stream = follow(log)
    again = follow(log)
    again.seek(stream.position())
    assert values(again.batches(20)) == values(follow(log).batches(20))


def test_a_file_that_is_cut_off_is_refused(log):
    stream = open_stream(Unbounded(f"tail:{log}"), target="y")
    stream._sleep = lambda seconds: os.truncate(log, 20)
    batches = stream.batches(8)
    next(batches)
    with pytest.raises(ReaderError, match="was cut off while it was followed"):
        next(batches)


def test_a_file_that_is_rotated_is_refused_when_the_old_one_is_read(log):
    stream = open_stream(Unbounded(f"tail:{log}"), target="y")

    def rotate(seconds):
        append(log, lines(10, 12))
        log.rename(log.with_suffix(".old"))
        log.write_text(HEADER)

    stream._sleep = rotate
    batches = stream.batches(6)
    assert values([next(batches), next(batches)])[1] == [6.5, 7.5, 8.5, 9.5, 10.5, 11.5]
    with pytest.raises(ReaderError, match="was replaced by another file"):
        next(batches)
    old = follow(log.with_suffix(".old"))  # and can be gone on with under its new name
    old.seek(stream.position())
    assert values(old.batches(6)) == []


def test_another_file_at_a_position_is_refused(log):
    stream = follow(log)
    next(stream.batches(5))
    position = stream.position()
    for text in (HEADER + lines(1, 11), HEADER):
        log.write_text(text)
        again = follow(log)
        again.seek(position)
        with pytest.raises(ReaderError, match="is not the file that the checkpoint is about"):
            next(again.batches(5))
    log.unlink()
    again.seek(position)
    with pytest.raises(ReaderError, match="any more"):
        next(again.batches(5))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("rows", -1),
        ("place", 3),
        ("place", {"offset": -4, "line": 1, "known": ""}),
        ("place", {"offset": 4, "line": 1}),
        ("columns", None),
        ("columns", {"names": ["a"], "kinds": ["sort"], "label": None, "categories": {}, "undecided": []}),
        ("columns", {"names": ["a"], "kinds": ["number"], "label": None, "categories": {"7": ["x"]}, "undecided": []}),
        ("columns", {"names": ["a", "a"], "kinds": [None, None], "label": None, "categories": {}, "undecided": []}),
        ("dead_letters", {"count": 1}),
        ("sequence", "3"),
    ],
)
def test_a_damaged_position_is_refused(log, key, value):
    stream = follow(log)
    next(stream.batches(5))
    position = stream.position() | {key: value}
    with pytest.raises(SavedStateError, match="checkpoint is damaged"):
        first_behind(position, follow(log))


def test_compressed_files_folders_and_other_addresses_are_refused(tmp_path):
    with pytest.raises(ReaderError, match="is compressed"):
        follow(tmp_path / "log.csv.gz")
    with pytest.raises(ReaderError, match="name a file"):
        follow(tmp_path)
    with pytest.raises(ParameterError, match="has an end"):
        Unbounded("log.csv")
    with pytest.raises(ParameterError, match="seconds from 0 on"):
        Unbounded("tail:log.csv", stop_after_idle=-1)
    with pytest.raises(ParameterError, match="target="):
        open_stream(f"tail:{tmp_path / 'log.csv'}")
    with pytest.raises(ParameterError, match="does not apply"):
        open_stream(f"tail:{tmp_path / 'log.csv'}", target="y", encoding="latin-1")


# -- poison messages -----------------------------------------------------------------------------------------------

POISON = ['{"a": 1, "y"', "[1]", '{"a": "text", "y": 0}', '{"a": {"b": 1}, "y": 0}', '{"y": 0}', '{"a": 1e999, "y": 0}']


def poisoned(tmp_path):
    path = tmp_path / "log.jsonl"
    good = [f'{{"a": {k}, "b": "s", "y": {k % 2}}}' for k in range(12)]
    text = [line for k, row in enumerate(good) for line in ([row, POISON[k // 2]] if k % 2 else [row])]
    path.write_text("".join(f"{line}\n" for line in text))
    return path


def test_a_poison_message_without_a_file_for_it_is_an_error(tmp_path):
    with pytest.raises(ReaderError, match=r"Line 3 of .* is no row: it is not JSON; .*--dead-letters FILE"):
        list(follow(poisoned(tmp_path)).batches(4))


def test_poison_messages_are_skipped_counted_and_kept(tmp_path):
    bad = tmp_path / "bad.jsonl"
    stream = follow(poisoned(tmp_path), dead_letters=bad)
    with pytest.warns(ReadingNotice, match="6 messages were no rows and are in"):
        batches = list(stream.batches(5))
    assert [batch.n_rows for batch in batches] == [5, 5, 2]
    assert [a for batch in values(batches) for a in batch] == [float(k) for k in range(12)]
    assert stream.feature_names == ("a", "b")
    found = [json.loads(line) for line in bad.read_text().splitlines()]
    assert [letter["message"] for letter in found] == POISON
    assert found[2]["why"] == "its 'a' is 'text', where a number is expected"
    with pytest.raises(ParameterError, match="holds dead letters already"):
        list(follow(tmp_path / "log.jsonl", dead_letters=bad).batches(5))


def test_dead_letters_after_the_checkpoint_are_not_kept_twice(tmp_path):
    path, bad = poisoned(tmp_path), tmp_path / "bad.jsonl"
    stream = follow(path, dead_letters=bad)
    batches = stream.batches(4)
    next(batches)
    position = stream.position()
    next(batches)  # more of them are written, and no checkpoint
    batches.close()
    again = follow(path, dead_letters=bad)
    again.seek(position)
    with pytest.warns(ReadingNotice, match="6 messages"):
        list(again.batches(4))
    assert [json.loads(line)["message"] for line in bad.read_text().splitlines()] == POISON
    other = follow(path)
    other.seek(position)
    with pytest.raises(ParameterError, match="give the same --dead-letters"):
        list(other.batches(4))
    bad.write_text("")
    again.seek(position)
    with pytest.raises(SavedStateError, match="is shorter than"):
        list(again.batches(4))


def test_dead_letters_of_a_run_that_was_killed_before_its_first_checkpoint(tmp_path):
    path, bad = poisoned(tmp_path), tmp_path / "bad.jsonl"
    next(follow(path, dead_letters=bad).batches(4))
    left = bad.read_text()
    with pytest.warns(ReadingNotice) as notices:
        list(follow(path, dead_letters=bad, resumes=True).batches(4))
    assert "was moved to" in str(notices[0].message)
    assert (tmp_path / "bad.jsonl.old").read_text() == left != ""
    assert [json.loads(line)["message"] for line in bad.read_text().splitlines()] == POISON


def test_a_column_that_only_a_poison_message_has_is_none(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"a": 1, "y": 0}\n{"a": "x", "new": 1, "y": 0}\n{"a": 2, "y": 1}\n')
    stream = follow(path, dead_letters=tmp_path / "bad.jsonl")
    with pytest.warns(ReadingNotice, match="1 message was no row"):
        batch = next(iter(list(stream.batches(10))))
    assert batch.feature_names == ("a",)


def test_halves_of_characters_are_poison(tmp_path):
    """Found by the fuzzer: they ended in a UnicodeEncodeError."""
    path = tmp_path / "log.jsonl"
    half = [
        '{"a": "\\ud800", "y": 0}\n',
        '{"\\udfff": 1, "y": 0}\n',
        '{"a": "x", "y": 0}\n',
        '{"a": "\\ud83d\\ude00", "y": 1}\n',
    ]
    path.write_text("".join(half))
    stream = follow(path, dead_letters=tmp_path / "bad.jsonl")
    with pytest.warns(ReadingNotice, match="2 messages were no rows"):
        (batch,) = stream.batches(10)
    assert batch.kinds.names == {0: ("x", "\U0001f600")}


# -- schema change -------------------------------------------------------------------------------------------------


def test_late_features_and_late_classes(tmp_path):
    path = tmp_path / "log.jsonl"
    rng = np.random.default_rng(0)
    rows = [{"a": rng.normal(), "y": "no" if k % 2 else "yes"} for k in range(40)]
    rows += [
        {"a": rng.normal(), "late": float(k % 3), "kind": "x", "y": ["no", "yes", "new"][k % 3]} for k in range(60)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    selector = Screener(n_features_to_select=1, new_features="add", missing="skip")
    for batch in follow(path).batches(20):
        selector.partial_fit(batch)
    assert list(selector.feature_names_in_) == ["a", "late", "kind"]
    assert sorted(selector.classes_) == ["new", "no", "yes"]
    assert selector.selection().names == ("late",)


def test_lists_times_truths_and_missing_values(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(
        '{"v": [1, 2], "when": "2024-01-01T00:00:00", "on": true, "gap": null, "y": true}\n'
        '{"v": [3, 4], "when": "2024-01-01T00:00:10Z", "on": false, "gap": null, "y": false}\n'
        '{"v": [5, 6], "when": null, "gap": "x", "y": false}\n'
    )
    stream = follow(path)
    first, second = stream.batches(2)
    assert first.feature_names == ("v[0]", "v[1]", "when", "on", "gap")
    assert (first.X[1, 2] - first.X[0, 2]) == 10.0
    assert first.y.tolist() == [True, False]
    assert first.kinds.undecided == (4,)
    assert np.isnan(second.X[0, 2:4]).all()
    assert stream.categories == {"on": ("true", "false"), "gap": ("x",)}


def test_rows_without_a_label(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("a,y\n1,0\n2,\n3,1\n")
    kept = open_stream(Unbounded(f"tail:{path}", stop_after_idle=0), target="y", unlabelled="keep")
    assert next(kept.batches(9)).y.tolist() == [0, None, 1]
    skipped = open_stream(Unbounded(f"tail:{path}", stop_after_idle=0), target="y", unlabelled="skip")
    with pytest.warns(ReadingNotice, match="1 row without a label was skipped"):
        assert values(skipped.batches(9)) == [[1.0, 3.0]]
    with pytest.raises(ReaderError, match="it has no label 'y'"):
        list(follow(path).batches(9))


def test_options_for_columns(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("id,a,zip,y\n7,1,10,0\n8,?,20,1\n")
    stream = open_stream(
        Unbounded(f"tail:{path}", stop_after_idle=0), target="y", ignore=["id"], categorical=["zip"], sep=","
    )
    batch = next(stream.batches(9))
    assert batch.feature_names == ("a", "zip")
    assert stream.categories == {"zip": ("10", "20")}
    assert np.isnan(batch.X[1, 0])


# -- sequence numbers ----------------------------------------------------------------------------------------------


def test_rows_that_come_again_are_left_out(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("n,a,y\n" + "".join(f"{n},{n},{n % 2}\n" for n in (1, 2, 2, 3, 1, 2, 3, 7, 8)))
    stream = follow(path, sequence="n")
    with pytest.warns(ReadingNotice, match="4 rows came again and were left out"):
        assert values(stream.batches(2)) == [[1.0, 2.0], [3.0, 7.0], [8.0]]
    assert stream.feature_names == ("a",)
    assert stream.position()["sequence"] == 8


def test_a_number_that_is_none_is_poison(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"n": 1, "a": 1, "y": 0}\n{"n": 1.5, "a": 1, "y": 0}\n')
    with pytest.raises(ReaderError, match="its sequence number 'n' is no whole number"):
        list(follow(path, sequence="n").batches(2))
    with pytest.raises(ParameterError, match="cannot be the sequence number"):
        follow(path, sequence="y")
    with pytest.raises(ParameterError, match="only with sequence="):
        Unbounded("-")

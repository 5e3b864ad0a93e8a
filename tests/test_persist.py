"""Saved files: whole or not there at all, read back exactly, and never trusted."""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from streamsift import __version__, catalog, persist
from streamsift.checks.drivers import driver_of
from streamsift.checks.samples import same_answers, same_state, sample
from streamsift.core.exceptions import SavedStateError
from tests.contract.mean_gap import MeanGap


def fitted(labels: Any = None) -> MeanGap:
    X, y = sample(30)
    return MeanGap(n_features_to_select=2).partial_fit(X, y if labels is None else [labels[code] for code in y])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "selector.streamsift"
    persist.save(fitted(), path)
    return path


def rewritten(path: Path, *, sums: bool = True, **changes: bytes | None) -> Path:
    """The same file with some members replaced (dots in names are written __), or left out where None is given.

    A forger knows how to compute checksums, unless `sums` says otherwise.
    """
    new = {name.replace("__", "."): content for name, content in changes.items()}
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()} | new
    if sums:
        del members["SHA256SUMS"]
        listed = [(hashlib.sha256(content).hexdigest(), name) for name, content in members.items() if content]
        members["SHA256SUMS"] = "".join(f"{checksum}  {name}\n" for checksum, name in listed).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            if content is not None:
                archive.writestr(name, content)
    return path


def with_manifest(path: Path, **changes: Any) -> Path:
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json")) | changes
    return rewritten(path, manifest__json=json.dumps(manifest).encode())


def npy_bytes(array: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), **options)
    return buffer.getvalue()


# -- what is saved comes back -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", catalog.names())
def test_methods_of_the_catalog_are_found_by_name(name: str, tmp_path: Path) -> None:
    def make() -> Any:
        return catalog.make(name)

    driver = driver_of(make)
    X, y = driver.sample()
    targets = driver.targets(make, y)  # whole numbers, text, bools; for column methods also numbers
    if "numbers" not in targets:
        targets["classes that are fractions"] = y + 0.5
    for what, target in targets.items():
        method = driver.learn(make(), X, target)
        persist.save(method, tmp_path / "method")
        again = persist.load(tmp_path / "method")
        assert type(again) is type(method)
        assert again.get_params() == method.get_params()
        same_state(again.state_arrays(), method.state_arrays(), f"loading with a target of {what}")
        same_answers(driver.answer(again, X), driver.answer(method, X), f"loading with a target of {what}")
        if hasattr(method, "classes_"):
            assert [*map(type, again.classes_.tolist())] == [*map(type, method.classes_.tolist())]
            assert again.classes_.tolist() == method.classes_.tolist()


@pytest.mark.parametrize("name", catalog.names("columns"))
def test_a_numeric_target_is_saved_without_labels(name: str, tmp_path: Path) -> None:
    selector = catalog.make(name)
    if not selector.stream_tags().numeric_target:
        pytest.skip("the method explains classes only")
    X, _ = sample(n_classes=2)
    persist.save(selector.fit(X, X[:, 0] + 0.5 * X[:, 1]), tmp_path / "selector")
    again = persist.load(tmp_path / "selector")
    assert again.selected_ == selector.selected_ != []
    assert not hasattr(again, "classes_")


@pytest.mark.parametrize("name", catalog.names())
def test_a_state_without_labels_is_refused(name: str) -> None:
    def make() -> Any:
        return catalog.make(name)

    driver = driver_of(make)
    arrays = driver.learn(make(), *driver.sample()).state_arrays()
    del arrays["labels"]
    fresh = make()
    with pytest.raises(SavedStateError, match="lacks 'labels'"):
        fresh.load_state_arrays(arrays)
    with pytest.raises(NotFittedError):
        fresh.state_arrays()


@pytest.mark.parametrize(
    "labels",
    [("a", "b", "ü"), (True, False, 7), (0.5, 1.5, 2.5), (1, "1", 1.5), (2**70, -1, 0), ("\0", "x", "\0\0")],
    ids=["text", "bools", "floats", "mixed", "large", "zero bytes"],
)
def test_labels_keep_their_types(labels: tuple[Any, ...], tmp_path: Path) -> None:
    selector = fitted(labels)
    persist.save(selector, tmp_path / "selector")
    again = persist.load(tmp_path / "selector", method=MeanGap)
    kinds = [(type(label), label) for label in again.classes_.tolist()]
    assert kinds == [(type(label), label) for label in selector.classes_.tolist()]
    assert set(again.classes_.tolist()) == set(labels)


def test_numpy_scalars_are_saved_as_plain_numbers(tmp_path: Path) -> None:
    selector = MeanGap(n_features_to_select=np.int64(2)).partial_fit(*sample())
    persist.save(selector, tmp_path / "selector")
    assert persist.load(tmp_path / "selector", method=MeanGap).n_features_to_select == 2


def test_equal_states_give_equal_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        persist.save(fitted(), tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_the_arrays_are_plain_npy_files(file: Path) -> None:
    with np.load(file, allow_pickle=False) as archive:
        assert np.array_equal(archive["state.sums"], fitted().state_arrays()["state.sums"])
    with zipfile.ZipFile(file) as archive:
        assert archive.read("state.sums.npy")[:8] == b"\x93NUMPY\x01\x00"  # the version every reader knows


def test_the_manifest_says_who_wrote_it(file: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert manifest["streamsift"] == __version__
    assert manifest["method"] == "tests.contract.mean_gap:MeanGap"
    assert manifest["parameters"] == {"n_features_to_select": 2}


# -- what cannot be saved ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [((1, 2), (3, 4), (5,)), (b"a", b"b", b"c"), (float("inf"), "a", "b")])
def test_other_labels_are_refused_in_words(labels: tuple[Any, ...], tmp_path: Path) -> None:
    with pytest.raises(SavedStateError, match=r"The label .* cannot be saved: use numbers, text or bools"):
        persist.save(fitted(labels), tmp_path / "selector")
    assert list(tmp_path.iterdir()) == []


def test_other_parameters_are_refused_in_words(tmp_path: Path) -> None:
    selector = fitted().set_params(n_features_to_select={1: 2})
    with pytest.raises(SavedStateError, match=r"The parameter n_features_to_select=\{1: 2\} cannot be saved"):
        persist.save(selector, tmp_path / "selector")


def test_an_unfitted_selector_has_nothing_to_save(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        persist.save(MeanGap(), tmp_path / "selector")
    assert list(tmp_path.iterdir()) == []


# -- writing is all or nothing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(file: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    old = file.read_bytes()
    monkeypatch.setattr(*((persist.npy, "write_array") if step == "write" else (os, step)), fail)
    with pytest.raises(OSError, match="cannot be written: no space left"):
        persist.save(fitted("abc"), file)
    assert file.read_bytes() == old
    assert list(file.parent.iterdir()) == [file]


def test_an_interrupt_leaves_the_old_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    old = file.read_bytes()
    monkeypatch.setattr(persist.npy, "write_array", interrupt)
    with pytest.raises(KeyboardInterrupt):
        persist.save(fitted("abc"), file)
    assert file.read_bytes() == old
    assert list(file.parent.iterdir()) == [file]


def test_a_new_file_has_the_usual_permissions(file: Path) -> None:
    usual = file.parent / "usual"
    usual.write_bytes(b"")
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)


def test_a_link_stays_a_link(file: Path) -> None:
    link = file.parent / "link"
    link.symlink_to(file)
    persist.save(fitted("abc"), link)
    assert link.is_symlink()
    assert persist.load(file, method=MeanGap).classes_.tolist() == fitted("abc").classes_.tolist()


# -- reading trusts nothing -------------------------------------------------------------------------------------------


def test_every_truncation_is_refused(file: Path) -> None:
    whole = file.read_bytes()
    for length in [*range(0, len(whole), 97), len(whole) - 1]:
        file.write_bytes(whole[:length])
        with pytest.raises(SavedStateError):
            persist.load(file, method=MeanGap)


def test_every_flipped_byte_is_refused_or_harmless(file: Path) -> None:
    whole = bytearray(file.read_bytes())
    wanted = fitted().state_arrays()
    refused = 0
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        file.write_bytes(damaged)
        try:
            again = persist.load(file, method=MeanGap)
        except SavedStateError:
            refused += 1
        else:  # a byte that carries nothing, such as a date
            same_state(again.state_arrays(), wanted, f"byte {place} was flipped and read back as other numbers")
            assert again.n_features_to_select == 2
    assert refused > 0.7 * len(whole)


@pytest.mark.parametrize("content", [b"", b"x,y\n1,2\n", b"PK\x05\x06" + bytes(18), bytes(1000)])
def test_foreign_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "foreign").write_bytes(content)
    with pytest.raises(SavedStateError, match="foreign is"):
        persist.load(tmp_path / "foreign")


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        persist.load(tmp_path / "nothing")


def test_another_npz_file_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "numbers.npz", a=np.zeros(3))
    with pytest.raises(SavedStateError, match=r"not a saved selector: it has no manifest\.json"):
        persist.load(tmp_path / "numbers.npz")


@pytest.mark.parametrize(
    "target", ["subprocess:Popen", "streamsift.persist:save", "streamsift.core.rows:RowSelector", "x"]
)
def test_a_class_outside_the_catalog_is_refused(file: Path, target: str) -> None:
    with pytest.raises(SavedStateError, match=f"holds a {target}, which is no method of streamsift"):
        persist.load(with_manifest(file, method=target))


def test_an_outside_method_needs_its_class(file: Path) -> None:
    with pytest.raises(SavedStateError, match="pass method="):
        persist.load(file)
    with pytest.raises(SavedStateError, match=r"holds a tests\.contract\.mean_gap:MeanGap, not a builtins:dict"):
        persist.load(file, method=dict)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": "other"}, "another kind"),
        ({"format_version": 99}, "format version 99"),
        ({"parameters": {"n_features_to_select": -3}}, "must be an int"),
        ({"parameters": {"no_such": 1}}, "no_such"),
        ({"parameters": {"n_features_to_select__no_such": 1}}, "no_such"),
        ({"parameters": None}, "manifest is not complete"),
        ({"labels": [1, 1]}, "manifest is not complete"),
        ({"labels": [[1], [2]]}, "manifest is not complete"),
        ({"arrays": ["../../etc/passwd"]}, "is missing"),
        ({"arrays": ["n_features", "n_rows_seen"]}, "lacks 'state"),
        ({"arrays": []}, "lacks 'n_rows_seen'"),
        ({"feature_names": ["a", "b"]}, "5 features but 2 names"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(file: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(SavedStateError, match=words):
        persist.load(with_manifest(file, **changes), method=MeanGap)


def test_a_manifest_nested_without_end_is_refused(file: Path) -> None:
    with pytest.raises(SavedStateError, match="damaged"):
        persist.load(rewritten(file, manifest__json=b"[" * 100_000), method=MeanGap)


def test_a_huge_declared_shape_is_refused_before_memory_is_taken(file: Path) -> None:

    header = npy_bytes(np.zeros(3)).replace(b"'shape': (3,), }      ", b"'shape': (3333333,), }")
    assert b"3333333" in header
    with pytest.raises(SavedStateError, match=r"claims to be float64 of shape \(3333333,\)"):
        persist.load(rewritten(file, state__counts__npy=header), method=MeanGap)


def test_pickled_arrays_are_refused(file: Path) -> None:
    pickled = npy_bytes(np.array([None]), allow_pickle=True)
    with pytest.raises(SavedStateError, match="object"):
        persist.load(rewritten(file, state__counts__npy=pickled), method=MeanGap)


@pytest.mark.parametrize("array", [np.zeros(3, np.float32), np.zeros(3, np.int64), np.array("text")])
def test_arrays_of_another_type_are_refused(file: Path, array: Any) -> None:
    with pytest.raises(SavedStateError, match=r"'state.counts' is .* instead of an array of float64"):
        persist.load(rewritten(file, state__counts__npy=npy_bytes(array)), method=MeanGap)


def test_arrays_of_another_byte_order_are_read(file: Path) -> None:
    counts = fitted().state_arrays()["state.counts"]
    rewritten(file, state__counts__npy=npy_bytes(counts.astype(">f8")))
    assert np.array_equal(persist.load(file, method=MeanGap).state_arrays()["state.counts"], counts)


def test_a_file_larger_than_allowed_is_refused(file: Path) -> None:
    with pytest.raises(SavedStateError, match="more than the 100 allowed: pass a larger max_bytes"):
        persist.load(file, method=MeanGap, max_bytes=100)
    with zipfile.ZipFile(file) as archive:
        held = sum(info.file_size for info in archive.infolist())
    assert persist.load(file, method=MeanGap, max_bytes=held).n_rows_seen_ == fitted().n_rows_seen_
    with pytest.raises(SavedStateError, match=f"holds {held} bytes, more than the {held - 1} allowed"):
        persist.load(file, method=MeanGap, max_bytes=held - 1)


def test_a_zip_bomb_is_refused(file: Path) -> None:
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.npy", bytes(10_000_000))
    with pytest.raises(SavedStateError, match=r"bomb\.npy in it is compressed"):
        persist.load(file, method=MeanGap)


def test_a_member_of_another_file_is_refused(file: Path) -> None:
    other = npy_bytes(fitted().state_arrays()["state.counts"] + 1.0)
    with pytest.raises(SavedStateError, match=r"state\.counts\.npy in it does not have the checksum of its SHA256SUMS"):
        persist.load(rewritten(file, sums=False, state__counts__npy=other), method=MeanGap)
    persist.load(rewritten(file), method=MeanGap)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"SHA256SUMS": None}, "it has no SHA256SUMS"),
        ({"SHA256SUMS": b""}, "does not have the checksum"),
        ({"extra__txt": b"more"}, r"extra\.txt in it does not have the checksum"),
        ({"state__counts__npy": None}, r"state\.counts\.npy is missing"),
    ],
)
def test_every_member_needs_its_checksum(file: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(SavedStateError, match=words):
        persist.load(rewritten(file, sums=False, **changes), method=MeanGap)


def test_two_members_of_one_name_are_refused(file: Path) -> None:
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("state.counts.npy", npy_bytes(np.zeros(3)))
    with pytest.raises(SavedStateError, match="two members of one name"):
        persist.load(file, method=MeanGap)


def test_sha256sum_can_verify_the_members(file: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        archive.extractall(tmp_path / "members")
    command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    done = subprocess.run(command, cwd=tmp_path / "members", capture_output=True, text=True, check=True)
    assert done.stdout.count(": OK") == len(list((tmp_path / "members").iterdir())) - 1


# -- what a file says about itself ------------------------------------------------------------------------------------


def test_a_file_is_described_without_its_class(file: Path) -> None:
    found = persist.describe(file)
    assert (found.method, found.parameters) == ("tests.contract.mean_gap:MeanGap", {"n_features_to_select": 2})
    assert (found.streamsift, found.format_version) == (__version__, 1)
    assert found.n_bytes == file.stat().st_size
    assert list(found.sections) == ["selector"]


def test_other_sections_are_listed_and_do_not_disturb(file: Path) -> None:
    rewritten(file, **{"trace/steps__bin": b"12345", "source/position__json": b"{}"})
    found = persist.describe(file)
    assert {name: size for name, size in found.sections.items() if name != "selector"} == {"trace": 5, "source": 2}
    same_state(persist.load(file, method=MeanGap).state_arrays(), fitted().state_arrays(), "other sections")


def test_a_saved_file_is_known_by_its_first_bytes(file: Path, tmp_path: Path) -> None:
    assert persist.is_saved_file(file)
    np.savez(tmp_path / "numbers.npz", a=np.zeros(3))
    (tmp_path / "table.csv").write_text('manifest.json{"format": "streamsift')
    (tmp_path / "empty").write_bytes(b"")
    assert not any(persist.is_saved_file(tmp_path / name) for name in ("numbers.npz", "table.csv", "empty"))


def test_entries_that_overlap_are_refused(file: Path) -> None:
    with zipfile.ZipFile(file, "a") as archive:
        first = archive.getinfo("state.sums.npy")
        for copy in range(30):  # thirty names for the same bytes
            twin = zipfile.ZipInfo(f"twin{copy}.npy")
            twin.header_offset, twin.CRC = first.header_offset, first.CRC
            twin.file_size = twin.compress_size = first.file_size
            archive.filelist.append(twin)
        archive._didModify = True
    with pytest.raises(SavedStateError, match="more bytes than it has"):
        persist.load(file, method=MeanGap)


def test_numbers_of_all_sizes_can_be_loaded_again(tmp_path):
    """Their keys are so far apart that a difference of two would overflow."""
    X = np.array([[-1e300], [-1.0], [0.0], [1.0], [1e300]] * 40)
    path = tmp_path / "s"
    persist.save(catalog.make("screen:mutual_info").fit(X, np.arange(200) % 2), path)
    assert persist.load(path).n_rows_seen_ == 200

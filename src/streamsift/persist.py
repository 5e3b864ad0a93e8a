"""Save a selector to one file and load it again, without pickle: a file can hold numbers and text, never code.

The file is a zip without compression: `manifest.json` (format, versions, method, parameters, labels, feature names),
one .npy file per array of `state_arrays()`, and `SHA256SUMS`, the checksums of the others (docs/format.md). It goes
to a temporary file that replaces the old one only when complete. Reading trusts nothing: the class must be in the
catalog (or be handed over by the caller), every size is compared with the length of the file before memory is taken,
and the checksums are compared before anything is interpreted.
"""

from __future__ import annotations

import json
import math
import os
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar, overload

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from streamsift import __version__, catalog
from streamsift.core.atomic import replacing
from streamsift.core.checksums import CHECKSUMS, SummedArchive, onwards, refuse_other_checksums
from streamsift.core.constraints import check_parameters
from streamsift.core.contracts import HasState
from streamsift.core.exceptions import ParameterError, SavedStateError, UnknownNameError
from streamsift.core.npy import HeaderError, read_array

FORMAT = "streamsift selector"
FORMAT_VERSION = 1
MAX_BYTES = 4 * 2**30
MANIFEST = "manifest.json"
_START = b"PK\x03\x04", b"manifest.json{", b'"format": "streamsift'  # a zip, its first member, what that begins with

# Whatever zipfile, json and numpy's header reader raise on bytes that are not what they should be.
_DAMAGE = (
    zipfile.BadZipFile,
    EOFError,
    NotImplementedError,  # a zip feature Python lacks
    OverflowError,
    RecursionError,  # JSON nested without end
    RuntimeError,  # an encrypted zip
    SyntaxError,
    struct.error,
    ValueError,  # JSON, UTF-8, .npy headers
)

Arrays = dict[str, NDArray[Any]]
Method = TypeVar("Method")


class Saveable(HasState, Protocol):
    """What can be saved: every selector and classifier of streamsift, and whatever has the same three methods."""

    def get_params(self, deep: bool = True) -> dict[str, Any]: ...


def save(selector: Saveable, path: str | os.PathLike[str]) -> None:
    """Write a fitted selector to a file; an existing file is replaced only when the new one is complete.

    Parameters
    ----------
    selector : a fitted selector, or a StreamPipeline whose steps can all be saved
        Its parameters must be numbers, text, bools, None or lists of those, its labels numbers, text or bools.
    path : path
        Where to write.

    Raises
    ------
    SavedStateError
        When a parameter or a label is of another kind.
    OSError
        When writing fails; an older file at `path` is then still whole.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from streamsift import Screener
    >>> from streamsift.persist import load, save
    >>> selector = Screener(criterion="fisher").partial_fit([[0.0, 1.0], [1.0, 1.0], [0.1, 1.0]], ["no", "yes", "no"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(selector, Path(folder) / "selector.streamsift")
    ...     again = load(Path(folder) / "selector.streamsift")
    >>> again.partial_fit([[0.9, 1.0]], ["yes"]).n_rows_seen_
    4
    """
    write(path, parts_of(selector))


@dataclass(frozen=True)
class Parts:
    """What a saved file holds, or a section of it: facts that JSON keeps, and named arrays."""

    facts: dict[str, Any]
    arrays: Arrays


def parts_of(selector: Saveable) -> Parts:
    """What `save` writes of a selector, as it is now: copies, which do not follow what it learns later.

    >>> from streamsift import Screener
    >>> parts_of(Screener("fisher").fit([[0.0], [1.0]], ["no", "yes"])).facts["labels"]
    ['no', 'yes']
    """
    arrays = selector.state_arrays()
    labels, names = arrays.pop("labels"), arrays.pop("feature_names", None)
    parameters = plain_parameters(selector)
    facts = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "streamsift": __version__,
        "method": _target(type(selector)),
        "parameters": parameters,
        "labels": [plain_label(label) for label in labels.tolist()],
        "feature_names": None if names is None else names.tolist(),
    }
    return Parts(facts, arrays)


def write(path: str | os.PathLike[str], selector: Parts, sections: Mapping[str, Parts] | None = None) -> None:
    """Write a saved file: the parts of a selector and, each in a folder of its own, further sections.

    `load` reads the selector and leaves the sections alone; `read_section` reads one of them.

    >>> from streamsift import Screener
    >>> write(os.devnull, parts_of(Screener("fisher").fit([[0.0], [1.0]], ["no", "yes"])))
    """
    with replacing(path) as file, zipfile.ZipFile(onwards(file), "w", zipfile.ZIP_STORED) as archive:
        sums = SummedArchive(archive)
        _write_parts(sums, "", selector)
        for name, parts in (sections or {}).items():
            _write_parts(sums, f"{name}/", parts)
        sums.finish(_member(CHECKSUMS))


def _write_parts(sums: SummedArchive, folder: str, parts: Parts) -> None:
    facts = parts.facts | {"arrays": sorted(parts.arrays)}
    with sums.member(_member(folder + MANIFEST), large=False) as entry:
        entry.write(json.dumps(facts, allow_nan=False, indent=1).encode())  # a file is known by these bytes
    for name, array in sorted(parts.arrays.items()):
        with sums.member(_member(f"{folder}{name}.npy")) as entry:
            npy.write_array(entry, array, version=(1, 0), allow_pickle=False)


@overload
def load(path: str | os.PathLike[str], *, method: None = None, max_bytes: int = MAX_BYTES) -> Any: ...
@overload
def load(path: str | os.PathLike[str], *, method: type[Method], max_bytes: int = MAX_BYTES) -> Method: ...
def load(path: str | os.PathLike[str], *, method: type[Any] | None = None, max_bytes: int = MAX_BYTES) -> Any:
    """Read a selector written by `save`.

    Parameters
    ----------
    path : path
        The file.
    method : class, optional
        The class of the saved selector, for methods from outside; those of streamsift are found by name. A file that
        holds another method is refused, and a type checker knows what is returned.
    max_bytes : int, default=4 GiB
        A file that holds more is refused before memory is taken.

    Returns
    -------
    selector
        It goes on exactly as the saved one would have.

    Raises
    ------
    SavedStateError
        When the file is damaged, too large, of another kind or of another version.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from streamsift import Screener
    >>> from streamsift.persist import load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Screener(eps=0.01).fit([[0.0], [1.0]], ["no", "yes"]), Path(folder) / "selector.streamsift")
    ...     load(Path(folder) / "selector.streamsift", max_bytes=100_000)
    Screener(eps=0.01)
    """
    path = Path(path)
    with _opened(path) as archive:
        members = _checked_members(archive, path, max_bytes)
        manifest = _read_manifest(archive, members, path)
        arrays = {name: _read_array(archive, members, name) for name in manifest["arrays"]}
    return _rebuild(manifest, arrays, method, path)


def description(selector: Any) -> tuple[str, dict[str, Any]]:
    """The method and the parameters of a selector as JSON keeps them, for making one like it elsewhere.

    >>> from streamsift import OFS
    >>> description(OFS())[0]
    'streamsift.rows.ofs:OFS'
    """
    return _target(type(selector)), plain_parameters(selector)


def from_description(target: str, parameters: dict[str, Any]) -> Any:
    """A new selector of a method of streamsift, with these parameters.

    >>> from_description("streamsift.rows.screener:Screener", {"criterion": "fisher"})
    Screener(criterion='fisher')
    """
    return remade(catalog.class_at(target), parameters)


@dataclass(frozen=True)
class SavedFile:
    """What a saved file says about itself.

    `method` is the class ("module:Class"), `sections` the bytes of each part of the file: "selector", and whatever lies
    in a folder of its own.
    """

    method: str
    parameters: dict[str, Any]
    labels: list[Any]
    feature_names: list[str] | None
    streamsift: str
    format_version: int
    n_bytes: int
    sections: dict[str, int]


def describe(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> SavedFile:
    """What a file written by `save` holds, without making a selector of it; refused as `load` would refuse it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from streamsift import Screener
    >>> from streamsift.persist import describe, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Screener(eps=0.01).fit([[0.0], [1.0]], ["no", "yes"]), Path(folder) / "selector.streamsift")
    ...     found = describe(Path(folder) / "selector.streamsift")
    >>> found.method, found.parameters["eps"], found.labels
    ('streamsift.rows.screener:Screener', 0.01, ['no', 'yes'])
    """
    path = Path(path)
    with _opened(path) as archive:
        members = _checked_members(archive, path, max_bytes)
        manifest = _read_manifest(archive, members, path)
    sections: dict[str, int] = {}
    for name, info in members.items():
        folder, slash, _ = name.partition("/")
        section = folder if slash else "selector"
        sections[section] = sections.get(section, 0) + info.file_size
    return SavedFile(
        manifest["method"],
        manifest["parameters"],
        manifest["labels"],
        manifest["feature_names"],
        str(manifest.get("streamsift")),
        manifest["format_version"],
        path.stat().st_size,
        sections,
    )


def is_saved_file(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as `save` writes it; nothing else is looked at.

    >>> is_saved_file(__file__)
    False
    """
    with open(path, "rb") as file:
        head = file.read(200)
    zip_magic, first, says = _START
    return head.startswith(zip_magic) and head[30:].startswith(first) and says in head


def read_section(path: str | os.PathLike[str], section: str, *, max_bytes: int = MAX_BYTES) -> Parts | None:
    """A section of a saved file, checked as far as its form goes; None where the file has none of that name.

    >>> import tempfile
    >>> from streamsift import Screener
    >>> parts = parts_of(Screener("fisher").fit([[0.0], [1.0]], ["no", "yes"]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(f"{folder}/selector", parts, {"notes": Parts({"by": "me"}, {})})
    ...     read_section(f"{folder}/selector", "notes").facts
    {'by': 'me'}
    """
    path = Path(path)
    with _opened(path) as archive:
        members = _checked_members(archive, path, max_bytes)
        _read_manifest(archive, members, path)
        if f"{section}/{MANIFEST}" not in members:
            return None
        facts = json.loads(archive.read(members[f"{section}/{MANIFEST}"]))
        if not isinstance(facts, dict) or not all_of(facts.get("arrays"), (str,)):
            raise SavedStateError(f"{path} is damaged: the manifest of its section {section!r} is not complete.")
        arrays = {name: _read_array(archive, members, f"{section}/{name}") for name in facts.pop("arrays")}
    return Parts(facts, arrays)


# -- writing ----------------------------------------------------------------------------------------------------------


def _target(method: type[Any]) -> str:
    return f"{method.__module__}:{method.__qualname__}"


def _member(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))  # equal states give equal files


def _plain(value: Any) -> Any:
    """The value as JSON keeps it, or None when it cannot."""
    value = value.item() if isinstance(value, np.generic) else value
    finite = not isinstance(value, float) or math.isfinite(value)
    return value if isinstance(value, str | int | float) and finite else None  # a bool is an int here


def plain_parameters(selector: Any) -> dict[str, Any]:
    """The parameters as JSON keeps them; what is composed of others, such as a pipeline, says itself what they are.

    Examples
    --------
    >>> from streamsift import OFS
    >>> plain_parameters(OFS(n_features_to_select=3))["n_features_to_select"]
    3
    """
    if hasattr(selector, "saved_parameters"):
        own: dict[str, Any] = selector.saved_parameters()
        return own
    return {name: plain_parameter(name, value) for name, value in selector.get_params(deep=False).items()}


def plain_parameter(name: str, value: Any) -> Any:
    """A parameter as JSON keeps it; arrays, lists and tuples as lists.

    >>> plain_parameter("feature_cost", (1, 2.5))
    [1, 2.5]
    """
    if isinstance(value, np.ndarray | list | tuple):
        return [plain_parameter(name, item) for item in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, HasState) and hasattr(value, "get_params"):  # a selector inside of another object
        inner = {key: plain_parameter(key, item) for key, item in value.get_params(deep=False).items()}
        return {"method": _target(type(value)), "parameters": inner}
    plain = _plain(value)
    if plain is None and value is not None:
        raise SavedStateError(
            f"The parameter {name}={value!r} cannot be saved: use a number, text, a bool, None or a list of those."
        )
    return plain


def plain_label(label: Any) -> Any:
    """A label as JSON keeps it.

    Examples
    --------
    >>> plain_label(np.int64(3))
    3
    """
    plain = _plain(label)
    if plain is None:
        raise SavedStateError(f"The label {label!r} cannot be saved: use numbers, text or bools as labels.")
    return plain


# -- reading ----------------------------------------------------------------------------------------------------------


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    with path.open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                yield archive
        except SavedStateError:
            raise
        except _DAMAGE as error:
            raise SavedStateError(f"{path} is damaged or not a saved selector ({error}).") from error


def _checked_members(archive: zipfile.ZipFile, path: Path, max_bytes: int) -> dict[str, zipfile.ZipInfo]:
    """The members by name: not compressed, not more than allowed, and with the checksums written beside them."""
    members = {info.filename: info for info in archive.infolist()}
    if MANIFEST not in members:
        raise SavedStateError(f"{path} is not a saved selector: it has no {MANIFEST}.")
    for info in archive.infolist():
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise SavedStateError(f"{path} is not a saved selector: {info.filename} in it is compressed.")
    total = sum(info.file_size for info in archive.infolist())
    if total > max_bytes:
        raise SavedStateError(
            f"{path} holds {total} bytes, more than the {max_bytes} allowed: pass a larger max_bytes if you trust it."
        )
    if total > path.stat().st_size or any(
        info.header_offset < 0 for info in archive.infolist()
    ):  # entries that overlap
        raise SavedStateError(f"{path} is damaged: it claims to hold more bytes than it has.")
    if len(members) < len(archive.infolist()):
        raise SavedStateError(f"{path} is damaged: it has two members of one name.")
    refuse_other_checksums(archive, members, path)
    return members


def _read_manifest(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], path: Path) -> dict[str, Any]:
    manifest = json.loads(archive.read(members[MANIFEST]))
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise SavedStateError(f"{path} is not a saved selector: its manifest is of another kind.")
    if manifest.get("format_version") != FORMAT_VERSION:
        raise SavedStateError(
            f"{path} has format version {manifest.get('format_version')!r}, but streamsift {__version__} reads version "
            f"{FORMAT_VERSION}: load it with streamsift {manifest.get('streamsift')!r}."
        )
    names = manifest.get("feature_names")
    whole = (
        "feature_names" in manifest
        and isinstance(manifest.get("method"), str)
        and isinstance(manifest.get("parameters"), dict)
        and all_of(manifest.get("arrays"), (str,))
        and all_of(manifest.get("labels"), (str, int, float))
        and (names is None or all_of(names, (str,)))
    )
    if not whole:
        raise SavedStateError(f"{path} is damaged: its manifest is not complete.")
    return manifest


def all_of(values: Any, kinds: tuple[type, ...]) -> bool:
    """Whether this is a list of such values, each once.

    >>> all_of(["a", "b"], (str,)), all_of(["a", []], (str,))
    (True, False)
    """
    fine = isinstance(values, list) and all(isinstance(value, kinds) for value in values)
    return fine and len(set(values)) == len(values)


def _read_array(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], name: str) -> NDArray[Any]:
    info = members.get(f"{name}.npy")
    if info is None:
        raise SavedStateError(f"{archive.filename} is damaged: the array {name!r} is missing.")
    with archive.open(info) as entry:
        try:
            return read_array(entry, info.file_size)
        except HeaderError as error:
            raise SavedStateError(f"{archive.filename} is damaged: the array {name!r} {error}.") from error


def remade(method: type[Any], parameters: dict[str, Any]) -> Any:
    """A new object of a class with parameters from a file, checked; ParameterError or ValueError for bad ones.

    Examples
    --------
    >>> from streamsift import OFS
    >>> remade(OFS, {"n_features_to_select": 3})
    OFS(n_features_to_select=3)
    """
    if hasattr(method, "from_saved"):
        return method.from_saved(parameters)
    selector = method()
    unknown = sorted(parameters.keys() - selector.get_params(deep=False).keys())
    if unknown:
        raise ParameterError(f"There is no parameter {unknown[0]!r}.")
    selector.set_params(**{name: _parameter(value) for name, value in parameters.items()})
    check_parameters(method.__name__, selector.get_params(deep=False), selector.parameter_limits)
    return selector


def _parameter(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if value.keys() != {"method", "parameters"} or not isinstance(value["parameters"], dict):
        raise ParameterError("A parameter is neither a plain value nor a selector.")
    return remade(catalog.class_at(str(value["method"])), value["parameters"])


def _rebuild(manifest: dict[str, Any], arrays: Arrays, method: type[Any] | None, path: Path) -> Any:
    target, parameters = manifest["method"], manifest["parameters"]
    if method is not None and target != _target(method):
        raise SavedStateError(f"{path} holds a {target}, not a {_target(method)}.")
    try:
        method = catalog.class_at(target) if method is None else method
        selector = remade(method, parameters)
    except UnknownNameError as error:
        raise SavedStateError(
            f"{path} holds a {target}, which is no method of streamsift {__version__}: pass method=..., if it is yours."
        ) from error
    except (ParameterError, ValueError) as error:  # ValueError: the constructor or setter of a method from outside
        raise SavedStateError(f"{path} does not fit streamsift {__version__}: {error}") from error
    arrays["labels"] = np.empty(len(manifest["labels"]), object)
    arrays["labels"][:] = manifest["labels"]
    if manifest["feature_names"] is not None:
        arrays["feature_names"] = np.array(manifest["feature_names"])
    return selector.load_state_arrays(arrays)

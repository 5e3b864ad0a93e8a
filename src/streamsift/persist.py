"""Save a selector to one file and load it again, without pickle: a file can hold numbers and text, never code.

The file is a zip without compression: `manifest.json` (format, versions, method, parameters, labels, feature names) and
one .npy file per array of `state_arrays()`. Writing goes to a temporary file that replaces the old one only when it is
complete. Reading trusts nothing: the class must be in the catalog (or be handed over by the caller), and every size is
compared with the length of the file before memory is taken.
"""

from __future__ import annotations

import json
import math
import os
import struct
import zipfile
from pathlib import Path
from typing import Any, Protocol, TypeVar, overload

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from streamsift import __version__, catalog
from streamsift.core.atomic import replacing
from streamsift.core.constraints import check_parameters
from streamsift.core.contracts import HasState
from streamsift.core.exceptions import ParameterError, SavedStateError, UnknownNameError
from streamsift.core.npy import HeaderError, read_array

FORMAT = "streamsift selector"
FORMAT_VERSION = 1
MAX_BYTES = 4 * 2**30
MANIFEST = "manifest.json"

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
    selector : a fitted selector
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
    arrays = selector.state_arrays()
    labels, names = arrays.pop("labels"), arrays.pop("feature_names", None)
    parameters = selector.get_params(deep=False)
    manifest = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "streamsift": __version__,
        "method": _target(type(selector)),
        "parameters": {name: _plain_parameter(name, value) for name, value in parameters.items()},
        "labels": [_plain_label(label) for label in labels.tolist()],
        "feature_names": None if names is None else names.tolist(),
        "arrays": sorted(arrays),
    }
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_member(MANIFEST), json.dumps(manifest, allow_nan=False, indent=1))
        for name, array in sorted(arrays.items()):
            with archive.open(_member(f"{name}.npy"), "w", force_zip64=True) as entry:
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
    with path.open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                members = _checked_members(archive, path, max_bytes)
                manifest = _read_manifest(archive, members, path)
                arrays = {name: _read_array(archive, members, name) for name in manifest["arrays"]}
        except SavedStateError:
            raise
        except _DAMAGE as error:
            raise SavedStateError(f"{path} is damaged or not a saved selector ({error}).") from error
    return _rebuild(manifest, arrays, method, path)


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


def _plain_parameter(name: str, value: Any) -> Any:
    """A parameter as JSON keeps it; arrays, lists and tuples as lists."""
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain_parameter(name, item) for item in (value.tolist() if isinstance(value, np.ndarray) else value)]
    plain = _plain(value)
    if plain is None and value is not None:
        raise SavedStateError(
            f"The parameter {name}={value!r} cannot be saved: use a number, text, a bool, None or a list of those."
        )
    return plain


def _plain_label(label: Any) -> Any:
    plain = _plain(label)
    if plain is None:
        raise SavedStateError(f"The label {label!r} cannot be saved: use numbers, text or bools as labels.")
    return plain


# -- reading ----------------------------------------------------------------------------------------------------------


def _checked_members(archive: zipfile.ZipFile, path: Path, max_bytes: int) -> dict[str, zipfile.ZipInfo]:
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
        isinstance(manifest.get("method"), str)
        and isinstance(manifest.get("parameters"), dict)
        and _all_of(manifest.get("arrays"), (str,))
        and _all_of(manifest.get("labels"), (str, int, float))
        and (names is None or _all_of(names, (str,)))
    )
    if not whole:
        raise SavedStateError(f"{path} is damaged: its manifest is not complete.")
    return manifest


def _all_of(values: Any, kinds: tuple[type, ...]) -> bool:
    return isinstance(values, list) and all(isinstance(value, kinds) for value in values) and _distinct(values)


def _distinct(values: list[Any]) -> bool:
    return len(set(values)) == len(values)


def _read_array(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], name: str) -> NDArray[Any]:
    info = members.get(f"{name}.npy")
    if info is None:
        raise SavedStateError(f"{archive.filename} is damaged: the array {name!r} is missing.")
    with archive.open(info) as entry:
        try:
            return read_array(entry, info.file_size)
        except HeaderError as error:
            raise SavedStateError(f"{archive.filename} is damaged: the array {name!r} {error}.") from error


def _rebuild(manifest: dict[str, Any], arrays: Arrays, method: type[Any] | None, path: Path) -> Any:
    target, parameters = manifest["method"], manifest["parameters"]
    if method is not None and target != _target(method):
        raise SavedStateError(f"{path} holds a {target}, not a {_target(method)}.")
    try:
        method = catalog.class_at(target) if method is None else method
        selector = method()
        unknown = sorted(parameters.keys() - selector.get_params(deep=False).keys())
        if unknown:
            raise ParameterError(f"There is no parameter {unknown[0]!r}.")
        selector.set_params(**parameters)
        check_parameters(method.__name__, selector.get_params(deep=False), selector.parameter_limits)
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

"""What all tests share: the folder of shared data, the size of heavy tests, and where compiled kernels are kept."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

JIT = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"

SLOW_EXAMPLES = ("streamsift.instances.f_etana",)  # the same as the mark `compiled`, for examples in docstrings
# Examples in docstrings that need a package which is not in the extra `test`.
EXAMPLES_NEED = {"streamsift.interop.tsfresh.tsfresh_columns": "tsfresh"}

# The first example of a test may compile a kernel, so time says nothing; CI tries the same examples on every run.
settings.register_profile(
    "streamsift", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.register_profile("plain python", settings.get_profile("streamsift"), max_examples=10)
settings.load_profile("streamsift" if JIT else "plain python")


def pytest_configure(config: pytest.Config) -> None:
    """Give kernels a cache of their own for each state of their sources.

    numba notices a change of the file a kernel is in, but not one of the compile flags in another file. A folder named
    after the contents of all kernel files can never be stale, and an unchanged tree still starts warm.

    Linear algebra gets one thread in each worker of the suite: there are as many workers as processors, and threads
    that wait for each other on a busy machine take ten times as long.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    contents = hashlib.sha256()
    for path in sorted((ROOT / "src" / "streamsift" / "kernels").rglob("*.py")):
        contents.update(path.read_bytes())
    if not JIT:  # machine code divides by zero in silence, numpy scalars warn
        config.addinivalue_line("filterwarnings", r"ignore::RuntimeWarning:streamsift\.kernels")
    os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".pytest_cache" / "kernels" / contents.hexdigest()[:16]))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what is about many rows where there is no machine code, and examples whose package is not installed."""
    for item in items:
        package = EXAMPLES_NEED.get(item.name)
        if package and importlib.util.find_spec(package) is None:
            item.add_marker(pytest.mark.skip(reason=f"skipped: no {package}"))
        if not JIT and (item.get_closest_marker("compiled") or item.name.startswith(SLOW_EXAMPLES)):
            item.add_marker(pytest.mark.skip(reason="needs compiled kernels: too slow in plain Python"))


@pytest.fixture(autouse=True)
def small_net_in_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """A net of 100 nodes a layer draws some 100,000 numbers a batch, which takes plain Python seconds."""
    if not JIT:
        from streamsift.rows.fires import ANN, fires

        monkeypatch.setitem(fires._MODELS, "ann", ANN(layer_size=6))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data beside the repository."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("skipped: no ../shared")
    return folder


@pytest.fixture(scope="session")
def scale() -> float:
    """Multiply the number of rows of a heavy test by this: 1, or less where kernels run as plain Python."""
    return 1.0 if JIT else 0.05

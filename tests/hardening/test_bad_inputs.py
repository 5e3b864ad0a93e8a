"""All methods against all bad inputs, once as users have them and once with kernels that check every index."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from tests.hardening.bad_inputs import attack

from streamsift import catalog

# Each group takes about as long as the others to compile, which is what takes the time.
GROUPS = {
    "counting": [
        "screen:t_score",
        "screen:fisher",
        "screen:mutual_info",
        "screen:chi2",
        "screen:gini",
        "screen:correlation",
    ],
    "weights": ["fires", "fires:ann", "fires:sdt", "ofs", "efs", "fsds"],
    "trees": ["abfs", "etana", "f_etana"],
    "models": ["investing", *(f"investing:{rule}" for rule in ("alpha", "lord", "saffron", "addis")), "stepwise"],
    "penalties": [*(f"penalised:{rule}" for rule in ("aic", "bic", "ric"))],
    "together": [f"joint:{rule}" for rule in ("forward", "mrmr", "ols", "lasso", "elastic_net", "mcp", "fsa")],
    "dependence": ["osfs", "fast_osfs", "saola", "ofs_density", "ofs_a3m"],
}


@pytest.mark.parametrize("name", catalog.names())
def test_refused_or_harmless(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert attack(name) == []


def test_every_method_is_in_a_group() -> None:
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(catalog.names())


@pytest.mark.compiled
@pytest.mark.parametrize("group", list(GROUPS))
def test_no_kernel_leaves_its_arrays(group: str) -> None:
    """The whole matrix with NUMBA_BOUNDSCHECK=1: a kernel that reads or writes outside an array raises IndexError.

    That is other machine code, so it has a folder of its own beside the usual kernels, which the next run finds again.
    An index is checked in the same place however well the rest is optimised, and unoptimised code is compiled sooner.
    """
    root = Path(__file__).parents[2]
    kernels = f"{os.environ['NUMBA_CACHE_DIR']}-bounds"
    checked = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_OPT": "0", "NUMBA_CACHE_DIR": kernels}
    settings = checked | {"PYTHONPATH": f"{root / 'src'}:{root}"}
    command = [sys.executable, "-m", "tests.hardening.bad_inputs", *GROUPS[group]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | settings, cwd=root)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr

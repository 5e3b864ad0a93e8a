"""Values so small that their squares are 0: `select` says so instead of giving a silent score of 0."""

from __future__ import annotations

import numpy as np
import pytest

WORDS = "so small that their squares are 0 and so is the score: multiply them by 1e200, say."


def write(path, scale):
    """A column that tells the classes apart, times `scale`, one that does not, one of zeros and one without a value."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    rows = (f"{(2 * label + rng.normal()) * scale:.6e},{rng.normal():.6f},0,,{label}" for label in y)
    path.write_text("told,noise,none,empty,y\n" + "\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize("method", ["screen:fisher", "screen:t_score", "screen:correlation", "joint:forward"])
def test_a_score_that_is_0_because_of_the_scale_is_told(sift, tmp_path, method):
    data = write(tmp_path / "data.csv", 1e-300)
    code, _, err = sift("select", data, "--target", "y", "--method", method, "-k", 1, "--set", "missing=skip")
    assert code == 0
    assert f"The values of 'told' are below 1e-150, {WORDS}" in err
    assert (
        sift("select", data, "--target", "y", "--method", method, "-k", 1, "--set", "missing=skip", "--quiet")[2] == ""
    )


@pytest.mark.parametrize(("method", "scale"), [("screen:mutual_info", 1e-300), ("screen:fisher", 1e-100)])
def test_nothing_is_said_where_the_score_is_right(sift, tmp_path, method, scale):
    data = write(tmp_path / "data.csv", scale)
    code, out, err = sift("select", data, "--target", "y", "--method", method, "-k", 1, "--set", "missing=skip")
    assert code == 0
    assert "told" in out
    assert "squares" not in err


def test_several_columns_are_counted(sift, tmp_path):
    lines = (write(tmp_path / "data.csv", 1e-300)).read_text().splitlines()
    wide = [f"{line.split(',')[0]}{'2' if k == 0 else ''},{line}" for k, line in enumerate(lines)]
    (tmp_path / "wide.csv").write_text("\n".join(wide) + "\n")
    _, _, err = sift("select", tmp_path / "wide.csv", "--target", "y", "--method", "screen:fisher", "-k", 1, "--set",
                     "missing=skip")  # fmt: skip
    assert f"The values of 'told2' and 1 more are below 1e-150, {WORDS}" in err

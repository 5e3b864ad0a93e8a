"""The moving terminal of the README shows what `streamsift demo` shows now."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def texts(picture):
    """The words of each frame, whatever their colours."""
    frames = re.findall(r'<g class="frame.*?</g>', picture, re.DOTALL)
    return ["".join(re.findall(r"<(?:text|tspan)[^>]*>([^<]*)", frame)) for frame in frames]


def test_the_terminal_of_the_readme_is_that_of_the_demo():
    spec = importlib.util.spec_from_file_location("pictures", DOCS / "pictures.py")
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    now, then = texts(pictures.terminal()), texts((DOCS / "images" / "terminal.svg").read_text("utf-8"))
    assert len(now) > 10
    assert now == then, "python docs/pictures.py draws it again"

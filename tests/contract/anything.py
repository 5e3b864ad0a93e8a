"""A limit of parameters that limits nothing."""

from __future__ import annotations

from typing import Any


class Anything:
    def accepts(self, value: Any) -> bool:
        return True

    def describe(self) -> str:
        return "anything"

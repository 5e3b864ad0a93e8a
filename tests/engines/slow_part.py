"""Parts whose reading takes its time and leaves a mark, so that a worker can be killed meanwhile."""

from __future__ import annotations

import os
import time
from typing import Any


class Slow:
    """A part that takes its time, so that a worker can be killed while it reads."""

    def __init__(self, part: Any, mark: str) -> None:
        self.part, self.mark = part, mark

    def open(self, target: str | None, reading: dict[str, Any]) -> Any:
        with open(self.mark, "a") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(0.3)
        return self.part.open(target, reading)

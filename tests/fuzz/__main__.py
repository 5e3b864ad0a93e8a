"""Run one of the fuzzers: `python -m tests.fuzz NAME ...`."""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = ("states",)

if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
    sys.exit(f"usage: python -m tests.fuzz {{{','.join(NAMES)}}} ...")
sys.exit(import_module(f"tests.fuzz.{sys.argv[1]}").main(sys.argv[2:]))

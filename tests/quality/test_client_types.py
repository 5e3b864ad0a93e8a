"""A type checker must see through the public names: mypy over a client file refuses the marked lines, and no others."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import streamsift

ROOT = Path(__file__).resolve().parents[2]
CLIENT = Path(__file__).with_name("client_types.py")


def mypy(path: Path) -> str:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_mypy_refuses_the_marked_lines_of_a_client_and_no_others() -> None:
    said = mypy(CLIENT)
    found = re.findall(r"^(.+):(\d+): error: .*\[([\w-]+)\]$", said, re.MULTILINE)
    assert {Path(file).name for file, _, _ in found} == {CLIENT.name}, said
    lines = enumerate(CLIENT.read_text(encoding="utf-8").splitlines(), 1)
    marked = {(number, line.partition("# error: ")[2]) for number, line in lines if "# error: " in line}
    assert {(int(number), code) for _, number, code in found} == marked, said


def test_every_public_name_is_known_to_mypy_by_its_type(tmp_path: Path) -> None:
    client = tmp_path / "reveal.py"
    client.write_text(
        "import streamsift\n" + "".join(f"reveal_type(streamsift.{name})\n" for name in streamsift.__all__)
    )
    said = mypy(client)
    revealed = re.findall(r'Revealed type is "(.*)"$', said, re.MULTILINE)
    assert len(revealed) == len(streamsift.__all__), said
    assert "Any" not in revealed

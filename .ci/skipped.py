"""What pytest skipped for want of something that an installation can mend.

    python .ci/skipped.py RESULTS.xml

prints the files; RESULTS.xml is what `pytest --junitxml=RESULTS.xml --override-ini=junit_family=xunit1` writes. A
reason that no package can mend is left out: data beside the repository that is not there, or a mode of the compiler.

    FIRST_RESULTS=RESULTS.xml PYTHONPATH=.ci pytest -p skipped FILES

runs only those tests of the files that did not pass in that run.
"""

from __future__ import annotations

import os
import sys
import xml.etree.ElementTree as ET
from typing import Any

BEYOND_REPAIR = ("no ../shared", "compiled kernels", "plain Python")


def skipped_files(results: str) -> list[str]:
    """The files, sorted, each once."""
    found = set()
    for case in ET.parse(results).iter("testcase"):
        reasons = [f"{skip.get('message')} {skip.text}" for skip in case.iter("skipped")]
        if any(not any(words in reason for words in BEYOND_REPAIR) for reason in reasons):
            # A file that is skipped as a whole has no `file`, and its name is that of the module.
            found.add(case.get("file") or f"{(case.get('name') or '').replace('.', '/')}.py")
    return sorted(found)


def passed(results: str) -> set[tuple[str | None, str | None]]:
    """File and name of the tests that passed; a name that two classes share counts only if both did."""
    by_outcome: dict[bool, set[tuple[str | None, str | None]]] = {True: set(), False: set()}
    for case in ET.parse(results).iter("testcase"):
        by_outcome[len(case.findall("skipped")) == 0].add((case.get("file"), case.get("name")))
    return by_outcome[True] - by_outcome[False]


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leave out what passed in the first run."""
    before = passed(os.environ["FIRST_RESULTS"])
    left = [item for item in items if (item.location[0], item.name) not in before]
    config.hook.pytest_deselected(items=[item for item in items if item not in left])
    items[:] = left


if __name__ == "__main__":
    sys.stdout.writelines(f"{name}\n" for name in skipped_files(sys.argv[1]))

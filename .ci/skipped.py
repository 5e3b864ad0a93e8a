"""Print the test files in which pytest skipped something that an installation can mend.

    python .ci/skipped.py RESULTS.xml

RESULTS.xml is what `pytest --junitxml=RESULTS.xml --override-ini=junit_family=xunit1` writes. A reason that no package
can mend is left out: data beside the repository that is not there, or a mode of the compiler.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET

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


if __name__ == "__main__":
    sys.stdout.writelines(f"{name}\n" for name in skipped_files(sys.argv[1]))

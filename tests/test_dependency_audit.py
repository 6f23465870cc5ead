"""The audit of dependencies calls nothing clean that it has not asked about."""

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parents[1] / ".ci" / "audit.py"
if not PROGRAM.exists():
    pytest.skip("a source distribution has no folder .ci", allow_module_level=True)
spec = importlib.util.spec_from_file_location("audit_of_dependencies", PROGRAM)
assert spec is not None
assert spec.loader is not None
audit: Any = importlib.util.module_from_spec(spec)
spec.loader.exec_module(audit)

CLEAN = {"name": "numpy", "version": "2.0", "vulns": []}
BAD = {"name": "jinja2", "version": "1.0", "vulns": [{"id": "CVE-0000-1", "fix_versions": ["2.0"]}]}
UNKNOWN = {"name": "scipy", "skip_reason": "not found"}
OURS = {"name": "trueup", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("audited", "n_packages", "code", "said"),
    [
        ([CLEAN, OURS], 1, 0, "1 packages, no known vulnerability"),
        ([CLEAN, BAD], 2, 1, "jinja2 1.0: CVE-0000-1, fixed in 2.0"),
        ([BAD, UNKNOWN], 2, 1, "CVE-0000-1"),
        ([CLEAN, UNKNOWN], 2, 2, r"1 of 2 packages are unknown .*first: scipy"),
        ([CLEAN], 2, 2, "1 of 2 packages are unknown"),
        ([], 3, 2, "3 of 3 packages are unknown"),
        (None, 3, 2, "can't be reached"),
    ],
)
def test_a_package_that_was_not_audited_is_not_clean(audited: Any, n_packages: int, code: int, said: str) -> None:
    found, message = audit.verdict(audited, n_packages)
    assert found == code
    assert re.search(said, message)


def test_the_versions_are_written_without_hosts_or_paths(tmp_path: Path) -> None:
    count = audit.write_lock(tmp_path / "build" / "lock.txt")
    lines = (tmp_path / "build" / "lock.txt").read_text().splitlines()
    assert len(lines) == count
    assert lines == sorted(lines, key=lambda line: line.partition("==")[0])
    assert all(line.count("==") == 1 and "/" not in line and not line.startswith("trueup==") for line in lines)

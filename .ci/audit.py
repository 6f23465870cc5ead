"""Asks a vulnerability service about every package of this environment, and writes down what was asked about.

    python .ci/audit.py [--service pypi|osv] [--lock build/audited-packages.txt]

pip-audit passes over packages that the service does not know, and calls the rest clean: where the service is out of
reach behind a mirror, that is all of them. Here such a package is a failure, but for trueup itself.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

OWN = "trueup"
CLEAN, VULNERABLE, UNKNOWN = 0, 1, 2


def write_lock(path: Path) -> int:
    """Write the exact versions of this environment, one a line, and count them."""
    found = {dist.metadata["Name"].lower(): dist.version for dist in importlib.metadata.distributions()}
    lines = [f"{name}=={version}\n" for name, version in sorted(found.items()) if name != OWN]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines))
    return len(lines)


def ask(service: str) -> list[dict[str, Any]] | None:
    """What pip-audit found of each package; None if it could not ask."""
    command = [sys.executable, "-m", "pip_audit", "--local", "--progress-spinner=off", "--format=json"]
    done = subprocess.run([*command, f"--vulnerability-service={service}"], capture_output=True, text=True, check=False)
    try:
        return list(json.loads(done.stdout)["dependencies"])
    except (ValueError, KeyError):
        print(done.stderr.strip()[-500:], file=sys.stderr)
        return None


def verdict(audited: list[dict[str, Any]] | None, n_packages: int) -> tuple[int, str]:
    """The exit code, and what to say."""
    if audited is None:
        return UNKNOWN, "Nothing was audited: the vulnerability service can't be reached. Run this where it can."
    vulnerable = [package for package in audited if package.get("vulns")]
    unknown = [package["name"] for package in audited if "skip_reason" in package and package["name"].lower() != OWN]
    if vulnerable:
        lines = [
            f"{package['name']} {package['version']}: {found['id']}, fixed in {', '.join(found['fix_versions']) or '-'}"
            for package in vulnerable
            for found in package["vulns"]
        ]
        return VULNERABLE, "\n".join(lines)
    if unknown or len(audited) < n_packages:
        n_unknown = max(len(unknown), n_packages - len(audited))
        return UNKNOWN, (
            f"{n_unknown} of {n_packages} packages are unknown to the vulnerability service (first: "
            f"{unknown[0] if unknown else 'not named'}): this says nothing of them. Run this where it can be reached."
        )
    return CLEAN, f"{n_packages} packages, no known vulnerability."


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--service", choices=["pypi", "osv"], default="pypi")
    parser.add_argument("--lock", type=Path, default=Path("build/audited-packages.txt"))
    chosen = parser.parse_args()
    n_packages = write_lock(chosen.lock)
    code, said = verdict(ask(chosen.service), n_packages)
    print(f"{said}\nThe versions are in {chosen.lock}.")
    return code


if __name__ == "__main__":
    sys.exit(main())

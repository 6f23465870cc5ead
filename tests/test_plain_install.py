"""What works after a plain `pip install trueup`, without extras."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

tomllib = pytest.importorskip("tomllib")

EVALUATE = """
import sys, tempfile, trueup
from trueup.datasets import make_traffic
traffic = make_traffic(1_000)
quick = {"estimator": trueup.MCGrad(max_rounds=0), "comparison": {"max_depth": 1}}
evaluation = trueup.evaluate(traffic.X, traffic.y, traffic.scores, n_jobs=1, **quick)
with tempfile.TemporaryDirectory() as folder:
    assert "report.html" in evaluation.save(folder + "/clicks")
print(*sorted({name.split(".")[0] for name in sys.modules}))
"""


def needed_by(requirements: list[str], known: set[str]) -> set[str]:
    """Distributions that these requirements bring, with all that they need in turn; extras are left out."""
    for requirement in requirements:
        name = re.match(r"[\w.-]+", requirement)
        if name is None or "extra ==" in requirement:
            continue
        one = name[0].lower().replace("_", "-")
        if one not in known:
            known.add(one)
            try:
                needed_by(metadata.requires(one) or [], known)
            except metadata.PackageNotFoundError:  # for another platform
                known.discard(one)
    return known


def test_an_evaluation_and_its_report_need_no_extra() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    plain = needed_by(project["dependencies"], {"trueup"})
    done = subprocess.run([sys.executable, "-c", EVALUATE], capture_output=True, text=True, check=True)
    imported = set(done.stdout.split())
    assert {"altair", "jinja2", "vl_convert"} <= imported
    extras = {
        re.match(r"[\w-]+", requirement)[0]  # type: ignore[index]
        for requirements in project["optional-dependencies"].values()
        for requirement in requirements
    }
    of_extras = {name.lower().replace("_", "-") for name in extras} - plain
    distributions = metadata.packages_distributions()
    for module in imported & set(distributions):
        names = {name.lower().replace("_", "-") for name in distributions[module]}
        assert not names & of_extras, f"{module} comes with an extra"
    assert {"altair", "jinja2", "vl-convert-python"} <= plain

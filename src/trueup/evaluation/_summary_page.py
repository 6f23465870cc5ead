"""What many evaluations say together, as a page and as a table in a file."""

from __future__ import annotations

import csv
import io
import math
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from trueup._data import json_values
from trueup._report import made_with
from trueup.evaluation._summary import PERCENTILES, SHOWN_METRICS
from trueup.metrics import METRICS

if TYPE_CHECKING:
    from trueup.evaluation._summary import Summary

__all__ = ["summary_csv", "summary_html"]


def summary_csv(summary: Summary) -> str:
    """The models as a table in CSV, a line each."""
    rows = json_values(summary.rows())
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _harmless(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def _harmless(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: a text that looks like one gets an apostrophe in front."""
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def summary_html(summary: Summary) -> str:
    """One page with the percentiles, the models with links to their reports, and what failed."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    template = environment.from_string(_text("trueup.evaluation", "models.html.j2"))
    n_models = len(summary.models)
    page: str = template.render(
        title=f"{n_models} {'model' if n_models == 1 else 'models'} with and without calibration",
        style=_trusted(_text("trueup._report", "page.css")),
        verdicts=_verdicts(summary),
        metrics=[METRICS[name].title for name in SHOWN_METRICS],
        percentiles=_percentiles(summary),
        left_out=_left_out(summary),
        models=[_model(model) for model in summary.models],
        failures=list(summary.failures.items()),
        made=made_with(),
    )
    return page


def _verdicts(summary: Summary) -> str:
    told = ", ".join(f"{count} {verdict}" for verdict, count in summary.verdicts.items())
    failed = f"; {len(summary.failures)} could not be evaluated" if summary.failures else ""
    return f"Verdicts: {told}{failed}."


def _left_out(summary: Summary) -> str:
    n = len(summary.untrusted)
    if not n:
        return ""
    who = "1 model is" if n == 1 else f"{n:,} models are"
    return f"{who} left out of these figures because the data can't be trusted: {', '.join(summary.untrusted)}."


def _percentiles(summary: Summary) -> list[list[str]]:
    rows = [
        [f"{percentile}th", *(_change(summary.percentiles[metric][place]) for metric in SHOWN_METRICS)]
        for place, percentile in enumerate(PERCENTILES)
    ]
    shares = {"Models that improve": summary.improved, "Models that don't get worse": summary.not_worse}
    return rows + [
        [words, *(f"{100 * share[metric]:.1f} %" for metric in SHOWN_METRICS)] for words, share in shares.items()
    ]


def _model(model: Any) -> dict[str, Any]:
    return {
        "name": model.name,
        "link": None if model.report is None else quote(model.report),
        "verdict": model.verdict,
        "rows": f"{model.rows:,}",
        "warnings": model.warnings,
        "changes": [_change(model.change(metric)) if model.trusted else "–" for metric in SHOWN_METRICS],
    }


def _change(share: float) -> str:
    if math.isnan(share):
        return "–"
    return f"{100 * share:+.2f} %".replace("-", "−") if share else "0.00 %"


def _text(package: str, name: str) -> str:
    return resources.files(package).joinpath("templates", name).read_text("utf-8")


def _trusted(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)

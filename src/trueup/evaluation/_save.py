"""An evaluation as a folder of files: all of them, or none."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trueup._data import json_values, to_arrow
from trueup._runtime import atomic_folder

if TYPE_CHECKING:
    from trueup.evaluation._result import Evaluation

__all__ = ["FILES", "save"]

FILES = ("model.trueup", "report.html", "evaluation.json", "scored.parquet")


def save(
    evaluation: Evaluation,
    folder: str | os.PathLike[str],
    *,
    title: str,
    about: Mapping[str, Any] | None,
    report: bool,
) -> dict[str, str]:
    """Write the files to a temporary folder, which then becomes the folder."""
    import pyarrow.parquet as pq

    page = str(evaluation.to_html(title=title)) if report else None
    facts = evaluation.to_dict() | ({} if about is None else {"about": json_values(dict(about))})
    with atomic_folder(folder, FILES) as temporary:
        evaluation.serving.save(temporary / "model.trueup")
        if page is not None:
            (temporary / "report.html").write_text(page, encoding="utf-8")
        (temporary / "evaluation.json").write_text(json.dumps(facts, indent=1, allow_nan=False), encoding="utf-8")
        pq.write_table(to_arrow(evaluation.held_out), temporary / "scored.parquet")
        written = sorted(file.name for file in temporary.iterdir())
    return {name: os.path.join(folder, name) for name in written}

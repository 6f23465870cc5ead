"""The held-out rows as a table, and an evaluation as a folder of files: all of them, or none."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trueup._data import json_values, subtable, to_arrow, with_columns
from trueup._runtime import atomic_folder

if TYPE_CHECKING:
    from trueup.evaluation._result import Evaluation, HeldOutRows

__all__ = ["FILES", "save", "scored_rows"]

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


def scored_rows(held: HeldOutRows) -> Any:
    """All columns that were given, the arrays beside them, and ``calibrated``, in the caller's library.

    What came as an array is called ``label``, ``score``, ``weight``, ``time`` and ``group``. If the table has such a
    column already, the name gets an underscore.
    """
    rows, test = held.rows, held.test
    more: dict[str, Any] = {"y": ("label", rows.label_values(test)), "scores": ("score", rows.scores["scores"][test])}
    if rows.weights is not None:
        more["sample_weight"] = "weight", rows.weights[test]
    for role, name in (("time", "time"), ("groups", "group")):
        column = rows.given.column(role)
        if column is not None:
            more[role] = name, column.of_rows(test).objects()
    added = [one for role, one in more.items() if role not in rows.given.names]
    assert rows.given.table is not None
    taken = set(rows.given.table.names)
    columns = {}
    for wanted, values in (*added, ("calibrated", held.calibrated)):
        name = wanted
        while name in taken:
            name += "_"
        taken.add(name)
        columns[name] = values
    return with_columns(subtable(rows.given.X, test), columns)

"""The table of everything that was measured: on the screen, and in the README of this folder."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd

from measured import Measurement
from trueup._runtime import atomic_path

__all__ = ["as_text", "write_readme"]

README = Path(__file__).parent / "README.md"
_MARK = "<!-- What follows is generated: make bench -->"

Found = dict[str, dict[str, Any]]


def as_text(found: Found) -> str:
    """All measurements, for a terminal."""
    lines = [f"{'':<72}{'trueup':>12}{'mcgrad':>12}{'ratio':>8}"]
    for program in found.values():
        for entry in program["measurements"]:
            made = Measurement(**entry)
            theirs = f"{median(made.theirs):,.3f}" if made.theirs else ""
            ratio = f"{made.ratio:.1f}" if made.ratio is not None else ""
            what = f"{made.what} [{made.unit}]"
            lines.append(f"{what[:71]:<72}{median(made.ours):>12,.3f}{theirs:>12}{ratio:>8}")
    return "\n".join(lines)


def write_readme(found: Found) -> Path:
    """Put the tables below what is written by hand."""
    written = README.read_text(encoding="utf-8").split(_MARK)[0].rstrip()
    parts = [written, _MARK, *_sections(found)]
    with atomic_path(README) as path:
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return README


def _sections(found: Found) -> list[str]:
    sections = ["## Speed and memory", _machine(found), _costs(found)]
    if "fit_profile" in found:
        sections += ["## Where the time of a fit goes", _shares(found["fit_profile"])]
    if "fit_growth" in found:
        sections += ["## How the cost of a fit grows", _growth(found["fit_growth"])]
    if "quality" in found:
        sections += ["## Quality on the paper's eleven tasks", *_quality(found["quality"]["rows"])]
    return sections


def _machine(found: Found) -> str:
    facts = next(iter(found.values()))["machine"]
    busy = {name: program["cores busy with other work"] for name, program in found.items()}
    told = ", ".join(f"{name} {value}" for name, value in facts.items())
    most = max(busy, key=lambda name: busy[name])
    return (
        f"{told}. Medians, and quartiles in brackets; contestants took turns. Other work on the machine kept at most "
        f"{busy[most]:.1f} cores busy meanwhile (`{most}`, whose own busy process is counted if it starts one)."
    )


def _costs(found: Found) -> str:
    lines = ["| what | trueup | mcgrad | times less | |", "|---|---|---|---|---|"]
    for name, program in found.items():
        if name == "fit_growth":
            continue
        for entry in program["measurements"]:
            made = Measurement(**entry)
            ratio = "" if made.ratio is None else f"**{made.ratio:.1f}**"
            if made.goal is not None and made.ratio is not None:
                ratio += f" (goal {made.goal:g})"
            cells = [made.what, _spread(made.ours, made.unit), _spread(made.theirs, made.unit), ratio, made.note]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _spread(values: list[float], unit: str) -> str:
    if not values:
        return ""
    low, high = np.percentile(values, [25, 75])
    told = f"{_number(median(values))} {unit}"
    return told if len(values) == 1 else f"{told} ({_number(low)}–{_number(high)})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _shares(program: dict[str, Any]) -> str:
    table = pd.DataFrame(program["rows"])
    ways = table["way"].unique()
    lines = ["| processor time of a fit, 5 folds, by what it is spent on |" + "".join(f" {way} |" for way in ways)]
    lines.append("|---|" + "---|" * len(ways))
    wide = table.pivot_table(index="what", columns="way", values="share", sort=False)
    lines += [f"| {what} |" + "".join(f" {row[way]:.1%} |" for way in ways) for what, row in wide.iterrows()]
    seconds = table.groupby("way", sort=False)["seconds"].sum()
    return "\n".join([*lines, "| seconds of one thread |" + "".join(f" {seconds[way]:.1f} |" for way in ways)])


def _growth(program: dict[str, Any]) -> str:
    lines = [f"- {what}: {value:.2f}" for what, value in program["shares"].items()]
    lines += [f"- {made['what']}: {_number(median(made['ours']))} {made['unit']}" for made in program["measurements"]]
    return "\n".join([*lines, "", "`make bench` draws this as `results/full/fit_growth.png`."])


def _quality(rows: list[dict[str, Any]]) -> list[str]:
    figures = pd.DataFrame([row for row in rows if row["table"] == "figures"])
    lines = ["| task | | log loss | PRAUC | ECCE σ | MCE σ | rounds | seconds |", "|---|---|---|---|---|---|---|---|"]
    for row in figures.to_dict("records"):
        task = f"{row['task']} ({row['origin']})" if row["who"] == "base model" else ""
        lines.append(
            f"| {task} | {row['who']} | {row['log loss']:.4f} | {row['PRAUC']:.4f} | {row['ECCE σ']:.2f} | "
            f"{row['MCE σ']:.2f} | {row['rounds']} | {row['seconds']:.1f} |"
        )
    for who, mean in figures.groupby("who", sort=False).mean(numeric_only=True).iterrows():
        lines.append(
            f"| **mean** | {who} | {mean['log loss']:.4f} | {mean['PRAUC']:.4f} | {mean['ECCE σ']:.2f} | "
            f"{mean['MCE σ']:.2f} | {mean['rounds']:.1f} | {mean['seconds']:.1f} |"
        )
    against = pd.DataFrame([row for row in rows if row["table"] == "against"])
    counts = ["| trueup against | | better | equal within noise | worse |", "|---|---|---|---|---|"]
    for other, group in against.groupby("other", sort=False):
        for figure in ("log loss", "ECCE σ", "MCE σ"):
            seen = group[figure].value_counts()
            worse = group.loc[group[figure] == "worse", "task"].tolist()
            cells = [seen.get("better", 0), seen.get("equal", 0), f"{len(worse)} {', '.join(worse)}".strip()]
            counts.append(f"| {other} | {figure} | {' | '.join(map(str, cells))} |")
    return [
        "\n".join(lines),
        "Tasks on which it is better or worse by a paired bootstrap of the test rows:",
        "\n".join(counts),
    ]

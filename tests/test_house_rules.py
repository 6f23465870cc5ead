"""What the house asks of every file: one word for one thing, one name for one class, no long files, nothing twice."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "trueup"
MOST_LINES = 350
MOST_SHARED_LINES = 14

# The words that were replaced, and the one that we use. `docs/architecture.md` and the names in the code follow these.
REPLACED = {
    "predicted": r"\bpromised\b|scores? promises?\b",
    "observed": r"(what|that|[-−+] ?|and|how often it) happened\b|happened (rate|[-−])",
    "pattern": r"\bstor(y|ies)\b",
    "significance or confidence": r"\blevels?\b|(?<!callers)_levels?\b",
    "groups": r"cluster|--key\b|\bkey : |\bkey=None|\bkeys of (the )?rows|\bby_key\b",
    "segments": r"\bgroups of (the|an) audit|\bgroup_masks\b|\bworst (groups?|cells?)\b|audit\w* groups\b",
    "sketch": r"\bsave[-_]summary\b|\bSummaryAudit\b|\bSegmentSummary\b|mergeable summar|summar(y|ies) of fixed size",
    "training rows, validation rows": r"\bwatch(ed)?\b|rows that (watch|((did|do)(n't| not) )?gr[eo]w)\b",
    "fold, shard or partition": r"\b(engine|worker)'s (part|piece|side)\b|\bpieces? of (a|the|its) (table|frame)\b",
    "X, y, scores": r"\(y, p\b|\by, p, X\b|\bp: (ArrayLike|Any)\b",
    "pos_label": r"\bpositive_(class|label)=",
}
# Where such a word means something else.
OTHER_MEANINGS = {
    "pattern": ("src/trueup/cli/_demo",),  # `trueup demo` tells stories
    "significance or confidence": (
        "src/trueup/baselines/",  # level sets of the score
        "docs/decisions/baselines.md",
        "docs/decisions/model-file.md",
        "docs/decisions/README.md",
        "README.md",
        "SECURITY.md",  # of nested values
        "src/trueup/_model/_manifest.py",
        "src/trueup/distributed/_cluster.py",  # of a tree of sums
        "src/trueup/evaluation/_diagnosis/_of_scores.py",  # of scores that are too high everywhere
        "src/trueup/serving/_logs.py",
        "src/trueup/errors.py",  # of the stack
    ),
    "groups": (  # machines that work together
        "src/trueup/distributed/",
        "src/trueup/_fitting/",
        "src/trueup/calibration/",
        "src/trueup/cli/_fit.py",
        "src/trueup/errors.py",
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "docs/",
    ),
    "training rows, validation rows": (  # looking at types and at a file, again and again
        "src/trueup/_data/_stream.py",
        "src/trueup/serving/_slot.py",
        "docs/index.rst",
        "docs/serving.md",
    ),
}
ROOT = SOURCE.parents[1]


def files(pattern: str = "*.py") -> dict[str, str]:
    """The text of every source file by its name."""
    if not SOURCE.is_dir():
        pytest.skip("only a source tree has the files")
    return {path.relative_to(SOURCE).as_posix(): path.read_text("utf-8") for path in sorted(SOURCE.rglob(pattern))}


def prose() -> dict[str, str]:
    """The text of all that is ours and that a person reads: code, templates, pages, by its name."""
    if not SOURCE.is_dir():
        pytest.skip("only a source tree has the files")
    inside = (
        path for kind in ("py", "pyi", "j2", "js", "md", "cpp", "hpp") for path in (ROOT / "src").rglob(f"*.{kind}")
    )
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "docs" / "index.rst", *ROOT.glob("*.md")]
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in sorted([*inside, *pages])}


@pytest.mark.parametrize("word", REPLACED)
def test_replaced_words_are_gone(word: str) -> None:
    found = [
        f"{name}:{number}: {line.strip()}"
        for name, text in prose().items()
        if not name.startswith(OTHER_MEANINGS.get(word, ()))
        for number, line in enumerate(text.splitlines(), 1)
        if re.search(REPLACED[word], line, re.IGNORECASE)
    ]
    assert found == [], f"say {word}"


def test_no_class_has_the_name_of_another() -> None:
    places = defaultdict(list)
    for name, text in files().items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(name)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_file_is_long() -> None:
    assert {name: n for name, text in files().items() if (n := len(text.splitlines())) > MOST_LINES} == {}


def test_no_two_places_share_many_lines() -> None:
    seen: dict[tuple[str, ...], tuple[str, int]] = {}
    shared = []
    for name, text in files().items():
        imported = {
            number
            for node in ast.walk(ast.parse(text))
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        numbered = enumerate(text.splitlines(), 1)
        lines = [line.strip() for number, line in numbered if line.strip() and number not in imported]
        for start in range(len(lines) - MOST_SHARED_LINES):
            run = tuple(lines[start : start + MOST_SHARED_LINES + 1])
            other, place = seen.setdefault(run, (name, start))
            if (other, place) != (name, start):
                shared.append(f"{name} and {other}: {run[0]}")
    assert shared == []

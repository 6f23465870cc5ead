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

# The word that was replaced, and the one that we use. `docs/architecture.md` and the names in the code follow these.
REPLACED = {
    r"\bpromised\b|scores? promises?\b": "predicted",
    r"(what|that|[-−+] ?|and|how often it) happened\b|happened (rate|[-−])": "observed",
    r"\bstor(y|ies)\b": "pattern",
    r"\blevel=|\blevel:|\.level\b|--level\b|significant at level": "significance or confidence",
    r"--cluster\b|\bclusters?=|\bclusters? :|\bn_clusters=|--key\b": "groups",
    r"\bsave[-_]summary\b|\bSummaryAudit\b|\bSegmentSummary\b": "sketch",
}
# Where such a word means something else.
OTHER_MEANINGS = {
    "level": ("baselines/_levels.py", "baselines/_lsboost.py", "serving/_logs.py"),  # level sets, and levels of a log
}


def files(pattern: str = "*.py") -> dict[str, str]:
    """The text of every source file by its name."""
    if not SOURCE.is_dir():
        pytest.skip("only a source tree has the files")
    return {path.relative_to(SOURCE).as_posix(): path.read_text("utf-8") for path in sorted(SOURCE.rglob(pattern))}


@pytest.mark.parametrize("word", REPLACED)
def test_replaced_words_are_gone(word: str) -> None:
    allowed = next((places for meaning, places in OTHER_MEANINGS.items() if meaning in word), ())
    found = [
        f"{name}:{number}: {line.strip()}"
        for name, text in (files() | files("*.j2")).items()
        if not name.startswith(allowed or "?")
        for number, line in enumerate(text.splitlines(), 1)
        if re.search(word, line, re.IGNORECASE)
    ]
    assert found == [], f"say {REPLACED[word]}"


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

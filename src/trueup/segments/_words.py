"""How names and values are written, and what a written value means."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from typing import Any

import numpy as np

from trueup._data import Column, kind_of, plain
from trueup._model import OpaqueValue, ValueKind, plain_value
from trueup.errors import ColumnError

_KEYWORDS = frozenset({"and", "in", "is", "missing", "not", "or"})
_BARE_NAME = re.compile(r"[^\W\d]\w*")
_BARE_VALUE = re.compile(r"-?[\w.+/%:@-]+")


class Word(str):
    """A value as it stood in a text: what it means depends on the column that it is compared with."""

    __slots__ = ()


class QuotedWord(Word):
    """A value that stood in quotes, so that it is neither a number nor a boolean."""

    __slots__ = ()


def name_in_words(column: str) -> str:
    """A column's name as it is written, in backticks if need be."""
    if _BARE_NAME.fullmatch(column) and column.lower() not in _KEYWORDS:
        return column
    return "`" + column.replace("`", "``") + "`"


def value_in_words(value: Any) -> str:
    """A value as it is written, in quotes if need be."""
    text = _text(value)
    return text if _BARE_VALUE.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _text(value: Any) -> str:
    """A value as it is written, but for quotes."""
    if isinstance(value, np.generic):
        value = plain_value(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    if isinstance(value, dt.datetime):
        return value.isoformat()
    return value.text if isinstance(value, OpaqueValue) else str(value)


def in_json(value: Any) -> Any:
    """A value as one that JSON can hold."""
    if isinstance(value, np.generic):
        value = plain_value(value)
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return _text(value)


def meant_by(value: Any, column: Column) -> list[Any]:
    """A condition's value as a column of this kind holds it; of a mixed column, all values that are written so."""
    if isinstance(value, Word) and column.kind is ValueKind.MIXED:
        return [held for held in column.distinct() if _is_written(held, value)]
    try:
        meant = plain(column.name, _from_word(value, column.kind) if isinstance(value, Word) else value)
    except ValueError:
        meant = None
    if meant is None or (column.kind is not ValueKind.MIXED and kind_of(type(meant)) is not column.kind):
        raise ColumnError(
            f"Column {column.name!r} holds {column.kind.value}, and a condition compares it with {str(value)!r}."
        )
    return [meant]


def _is_written(held: Any, word: Word) -> bool:
    return _text(held) == word or (isinstance(held, bool) and str(int(held)) == word)  # where True is 1


def _from_word(word: Word, kind: ValueKind) -> Any:
    text = str(word)
    is_quoted = isinstance(word, QuotedWord)
    if kind is ValueKind.NUMBER and not is_quoted:
        number = float(text)
        return int(text) if re.fullmatch(r"[+-]?\d+", text) else number
    if kind is ValueKind.BOOLEAN and not is_quoted and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if kind is ValueKind.DATE:
        return dt.date.fromisoformat(text)
    if kind is ValueKind.DATETIME:
        return dt.datetime.fromisoformat(text)
    return text

"""Conditions from the words that stand for them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, NoReturn

from trueup.errors import ParameterError
from trueup.segments._conditions import Condition, Interval, Missing, OneOf, Segment
from trueup.segments._words import QuotedWord, Word

_TOKENS = re.compile(
    r"""\s*(?:
      (?P<name>`(?:[^`]|``)*`)
    | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<sign><=|>=|==|!=|<>|[=<>≤≥≠{}()\[\],])
    | (?P<word>[^\s`"'=<>!≤≥≠{}()\[\],]+)
    )""",
    re.VERBOSE,
)
_SIGNS = {"(": "{", "[": "{", ")": "}", "]": "}", "==": "=", "<=": "≤", ">=": "≥", "!=": "≠", "<>": "≠"}
_MIRRORED = {"<": ">", "≤": "≥", ">": "<", "≥": "≤"}


class _Token(NamedTuple):
    kind: str
    value: str


def parse_segment(text: str) -> Segment:
    """Return the segment that a text describes.

    Parameters
    ----------
    text : str
        Conditions joined by ``and``: ``country = NO``, ``device in {phone, tablet}``, ``browser not in {x, y}``,
        ``18 <= age < 25``, ``income > 1e5``, ``referrer is missing``, ``referrer is not missing``,
        ``age < 25 or missing``. A value with spaces stands in quotes, a column name with spaces in backticks.
        ``all rows`` is the segment without conditions.

    Returns
    -------
    Segment
        The segment. Whether ``1`` is a number or a text is up to the column that it is compared with.

    Examples
    --------
    >>> from trueup.segments import parse_segment
    >>> segment = parse_segment("country == 'NO' and 18 <= age < 25")
    >>> print(segment)
    country = NO and 18 ≤ age < 25
    >>> segment.mask({"country": ["NO", "NO"], "age": [18, 25]})
    array([ True, False])
    """
    if not isinstance(text, str):
        raise ParameterError(f"A condition must be a text, got {type(text).__name__}.")
    if text.split() == ["all", "rows"]:
        return Segment()
    return Segment(tuple(_Reader(text).conditions()))


class _Reader:
    """Reads tokens from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._place = 0

    def conditions(self) -> Iterator[Condition]:
        """All conditions, to the end of the text."""
        while True:
            condition = self._condition()
            if self._take_word("or"):
                if not self._take_word("missing") or isinstance(condition, Missing):
                    self._refuse("'or' can be followed by 'missing' only")
                condition = replace(condition, or_missing=True)
            yield condition
            if self._peek() is None:
                return
            if not self._take_word("and"):
                self._refuse("conditions are joined by 'and'")

    def _condition(self) -> Condition:
        first = self._operand()
        if self._take_word("is"):
            present = self._take_word("not")
            if not self._take_word("missing"):
                self._refuse("after 'is' comes 'missing' or 'not missing'")
            return Missing(first.value, excluded=present)
        excluded = self._take_word("not")
        if self._take_word("in"):
            return OneOf(first.value, self._set(), excluded)
        if excluded:
            self._refuse("after 'not' comes 'in'")
        return self._comparison(first)

    def _comparison(self, first: _Token) -> Condition:
        sign, second = self._sign(), self._operand()
        if sign in ("=", "≠"):
            return OneOf(first.value, (_meaning(second),), excluded=sign == "≠")
        following = self._peek()
        if following is not None and following.kind == "sign" and following.value not in "{},":
            return self._between(first, sign, second, self._sign(), self._operand())
        if _is_number(first) and not _is_number(second):
            first, sign, second = second, _MIRRORED[sign], first
        bound, includes = self._number(second), sign in ("≤", "≥")
        if sign in ("<", "≤"):
            return Interval(first.value, high=bound, includes_high=includes)
        return Interval(first.value, low=bound, includes_low=includes)

    def _between(self, low: _Token, left: str, name: _Token, right: str, high: _Token) -> Interval:
        if left in (">", "≥") and right in (">", "≥"):
            low, left, right, high = high, _MIRRORED[right], _MIRRORED[left], low
        if left not in ("<", "≤") or right not in ("<", "≤"):
            self._refuse("a range is written as 18 <= age < 25")
        return Interval(name.value, self._number(low), self._number(high), left == "≤", right == "≤")

    def _set(self) -> tuple[Word, ...]:
        self._expect("{")
        values = [_meaning(self._operand())]
        while self._peek() == _Token("sign", ","):
            self._place += 1
            values.append(_meaning(self._operand()))
        self._expect("}")
        return tuple(values)

    def _peek(self) -> _Token | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def _take_word(self, word: str) -> bool:
        token = self._peek()
        taken = token is not None and token.kind == "word" and token.value.lower() == word
        self._place += taken
        return taken

    def _operand(self) -> _Token:
        token = self._peek()
        if token is None or token.kind == "sign":
            if token is None:
                self._refuse("a name or a value is missing")
            if token.value in "{}" and token.value not in self._text:  # a bracket of another kind was typed
                self._refuse("brackets stand around sets only; leave them out elsewhere")
            self._refuse(f"unexpected {token.value!r}")
        self._place += 1
        return token

    def _sign(self) -> str:
        token = self._peek()
        if token is None or token.kind != "sign" or token.value in "{},":
            self._refuse("after a name comes =, ≠, <, ≤, >, ≥, 'in', 'not in' or 'is missing'")
        self._place += 1
        return token.value

    def _expect(self, sign: str) -> None:
        if self._peek() != _Token("sign", sign):
            self._refuse("a set is written as {a, b}")
        self._place += 1

    def _number(self, token: _Token) -> float:
        if not _is_number(token):
            self._refuse(f"{token.value!r} is not a number")
        value = float(token.value)
        return int(value) if value.is_integer() and abs(value) < 2**53 else value

    def _refuse(self, why: str) -> NoReturn:
        raise ParameterError(
            f'The condition {self._text!r} can\'t be read: {why}. Write for example "country = NO and age < 25".'
        )


def _tokens(text: str) -> Iterator[_Token]:
    place, end = 0, len(text.rstrip())
    while place < end:
        match = _TOKENS.match(text, place)
        if match is None:
            raise ParameterError(f"The condition {text!r} can't be read from {text[place:]!r} on.")
        place, kind = match.end(), str(match.lastgroup)
        value = match[kind]
        if kind == "name":
            value = value[1:-1].replace("``", "`")
        elif kind == "text":
            value = _unquoted(value, text)
        yield _Token(kind, _SIGNS.get(value, value) if kind == "sign" else value)


def _unquoted(quoted: str, text: str) -> str:
    """What stands in quotes: as in JSON in double ones, else a backslash before any character."""
    if quoted.startswith("'"):
        return re.sub(r"\\(.)", r"\1", quoted[1:-1])
    try:
        return str(json.loads(quoted, strict=False))
    except json.JSONDecodeError as error:
        why = f"{error.msg} in {quoted}. Write a backslash as two, or take single quotes"
        raise ParameterError(f"The condition {text!r} can't be read: {why}.") from error


def _meaning(token: _Token) -> Word:
    return QuotedWord(token.value) if token.kind == "text" else Word(token.value)


def _is_number(token: _Token) -> bool:
    if token.kind != "word":
        return False
    try:
        return float(token.value) == float(token.value)
    except ValueError:
        return False

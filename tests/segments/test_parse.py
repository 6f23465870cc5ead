"""Conditions from their words."""

from __future__ import annotations

import datetime as dt
import math
import re
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trueup.errors import ColumnError, ParameterError
from trueup.segments import Condition, Interval, Missing, OneOf, Segment, parse_segment


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("country = NO", OneOf("country", ("NO",))),
        ("country=NO", OneOf("country", ("NO",))),
        ("country == NO", OneOf("country", ("NO",))),
        ("  country\t=\nNO  ", OneOf("country", ("NO",))),
        ("country = 'NO'", OneOf("country", ("NO",))),
        ('country = "NO"', OneOf("country", ("NO",))),
        ("country ≠ NO", OneOf("country", ("NO",), excluded=True)),
        ("country != NO", OneOf("country", ("NO",), excluded=True)),
        ("country <> NO", OneOf("country", ("NO",), excluded=True)),
        ("country in {NO}", OneOf("country", ("NO",))),
        ("country IN {NO,SE}", OneOf("country", ("NO", "SE"))),
        ("country in (NO, SE)", OneOf("country", ("NO", "SE"))),
        ("country in ['NO', 'SE']", OneOf("country", ("NO", "SE"))),
        ("country not in {NO, 'South Africa'}", OneOf("country", ("NO", "South Africa"), excluded=True)),
        ("country = NO or missing", OneOf("country", ("NO",), or_missing=True)),
        ("country = missing", OneOf("country", ("missing",))),
        ("country = or or missing", OneOf("country", ("or",), or_missing=True)),
        ("country in {and, in, is, not}", OneOf("country", ("and", "in", "is", "not"))),
        ("zip = 05", OneOf("zip", ("05",))),
        ("x = -3", OneOf("x", ("-3",))),
        ("age < 25", Interval("age", high=25, includes_high=False)),
        ("age <= 25", Interval("age", high=25)),
        ("age ≤ 25", Interval("age", high=25)),
        ("age > 25", Interval("age", low=25)),
        ("age >= 25", Interval("age", low=25, includes_low=True)),
        ("25 > age", Interval("age", high=25, includes_high=False)),
        ("25 <= age", Interval("age", low=25, includes_low=True)),
        ("18 <= age < 25", Interval("age", 18, 25, includes_low=True, includes_high=False)),
        ("25 > age >= 18", Interval("age", 18, 25, includes_low=True, includes_high=False)),
        ("18<age<=25 or missing", Interval("age", 18, 25, or_missing=True)),
        ("income > 1e5", Interval("income", low=100_000)),
        ("x > -1.5e-05", Interval("x", low=-1.5e-5)),
        ("x > -inf", Interval("x", low=-math.inf)),
        ("x ≤ 1e+300", Interval("x", high=1e300)),
        ("inf < 3", Interval("inf", high=3, includes_high=False)),
        ("`18` < 25", Interval("18", high=25, includes_high=False)),
        ("age is missing", Missing("age")),
        ("age IS NOT missing", Missing("age", excluded=True)),
        ("`years of age` is missing", Missing("years of age")),
        ("`it``s` is missing", Missing("it`s")),
        ("'years of age' is missing", Missing("years of age")),
    ],
)
def test_every_spelling_is_read(text: str, condition: Condition) -> None:
    assert parse_segment(text) == Segment((condition,))


def test_numbers_keep_their_short_words() -> None:
    for words in ("x ≤ 1e+300", "x > 0.1", "18 ≤ x < 25.5", "x ≥ -inf", "x < 1e-05"):
        assert str(parse_segment(words)) == words


def test_conditions_are_read_in_order() -> None:
    segment = parse_segment("a = 1 or missing and b is not missing AND 1 < c < 2")
    assert [str(condition) for condition in segment.conditions] == ["a = 1 or missing", "b is not missing", "1 < c < 2"]


def test_all_rows_are_the_segment_without_conditions() -> None:
    assert parse_segment(str(Segment())) == Segment()
    assert parse_segment(" all  rows ") == Segment()


@pytest.mark.parametrize(
    ("quoted", "value"),
    [
        ("'two words'", "two words"),
        ('"a, b"', "a, b"),
        ('"{x}"', "{x}"),
        (r'"say \"hi\""', 'say "hi"'),
        (r"'it\'s'", "it's"),
        (r"'back\\slash'", "back\\slash"),
        (r'"a\nb"', "a\nb"),
        ('"a\nb\t"', "a\nb\t"),
        (r'"\u00e6"', "æ"),
        ("''", ""),
        ('""', ""),
    ],
)
def test_what_stands_in_quotes_is_the_value(quoted: str, value: str) -> None:
    segment = parse_segment(f"c = {quoted}")
    assert segment.mask({"c": [value, "other", None]}).tolist() == [True, False, False]


def test_what_a_word_means_is_up_to_the_column() -> None:
    assert parse_segment("c = 5").mask({"c": ["5", "05"]}).tolist() == [True, False]
    assert parse_segment("c = 05").mask({"c": ["5", "05"]}).tolist() == [False, True]
    assert parse_segment("c = 05").mask({"c": [5, 6]}).tolist() == [True, False]
    assert parse_segment("c = 5.0").mask({"c": [5, 6]}).tolist() == [True, False]
    assert parse_segment("c = 1e-5").mask({"c": [1e-5, 1]}).tolist() == [True, False]
    assert parse_segment("c = TRUE").mask({"c": [True, False]}).tolist() == [True, False]
    assert parse_segment("c = true").mask({"c": ["true", "TRUE"]}).tolist() == [True, False]
    assert parse_segment("c = 2024-01-05").mask({"c": [dt.date(2024, 1, 5), None]}).tolist() == [True, False]
    assert parse_segment("c = 2024-01-05").mask({"c": [dt.datetime(2024, 1, 5), None]}).tolist() == [True, False]
    noon = parse_segment("c = '2024-01-05 12:00:00'")
    assert noon.mask({"c": [dt.datetime(2024, 1, 5, 12), None]}).tolist() == [True, False]
    in_oslo = parse_segment("c = 2024-01-05T12:00:00+01:00")
    assert in_oslo.mask({"c": [dt.datetime(2024, 1, 5, 11), None]}).tolist() == [True, False]


def test_in_a_mixed_column_a_word_stands_for_all_that_is_written_so() -> None:
    X = {"c": [5, "5", True, 1, "true", None]}
    assert parse_segment("c = 5").mask(X).tolist() == [True, True, False, False, False, False]
    assert parse_segment("c = true").mask(X).tolist() == [False, False, True, True, True, False]
    assert parse_segment("c = 6").mask(X).tolist() == [False] * 6


@pytest.mark.parametrize(
    ("text", "column", "shown"),
    [
        ("c = NO", [1, 2], "holds numbers, and a condition compares it with 'NO'"),
        ("c = '5'", [5, 6], "holds numbers, and a condition compares it with '5'"),
        ("c = nan", [5, 6], "holds numbers, and a condition compares it with 'nan'"),
        ("c in {1, x}", [1, 2], "holds numbers, and a condition compares it with 'x'"),
        ("c = 1", [True, False], "holds booleans, and a condition compares it with '1'"),
        ("c = 'true'", [True, False], "holds booleans, and a condition compares it with 'true'"),
        ("c = soon", [dt.date(2024, 1, 5)], "holds dates, and a condition compares it with 'soon'"),
        ("c = 2024-13-05", [dt.date(2024, 1, 5)], "holds dates, and a condition compares it with '2024-13-05'"),
        ("c = noon", [dt.datetime(2024, 1, 5)], "holds datetimes, and a condition compares it with 'noon'"),
        ("c < 5", ["a", "b"], "holds strings"),
        ("c = " + "9" * 5_000, [1, 2], "holds numbers, and a condition compares it with '999"),
    ],
)
def test_a_word_that_means_nothing_in_the_column_names_it(text: str, column: Any, shown: str) -> None:
    with pytest.raises(ColumnError, match=re.escape(f"Column 'c' {shown}")):
        parse_segment(text).mask({"c": column})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "a name or a value is missing"),
        ("   ", "a name or a value is missing"),
        ("age", "after a name comes =, ≠, <, ≤, >, ≥, 'in', 'not in' or 'is missing'"),
        ("age 25", "after a name comes ="),
        ("age <", "a name or a value is missing"),
        ("< 25", "unexpected '<'"),
        ("age = = 25", "unexpected '='"),
        ("age = {25}", "unexpected '{'"),
        ("(age = 25)", "brackets stand around sets only; leave them out elsewhere"),
        ("age < 25 and", "a name or a value is missing"),
        ("and and and", "after a name comes ="),
        ("age < 25 income > 5", "conditions are joined by 'and'"),
        ("age < 25, income > 5", "conditions are joined by 'and'"),
        ("age < 25 or income > 5", "'or' can be followed by 'missing' only"),
        ("age is missing or missing", "'or' can be followed by 'missing' only"),
        ("age is 5", "after 'is' comes 'missing' or 'not missing'"),
        ("age is not 5", "after 'is' comes 'missing' or 'not missing'"),
        ("age not 5", "after 'not' comes 'in'"),
        ("age in 5", "a set is written as {a, b}"),
        ("age in {}", "unexpected '}'"),
        ("age in {5", "a set is written as {a, b}"),
        ("age in {5,}", "unexpected '}'"),
        ("age in {5 6}", "a set is written as {a, b}"),
        ("age < old", "'old' is not a number"),
        ("age < '25'", "'25' is not a number"),
        ("age < nan", "'nan' is not a number"),
        ("18 < age > 25", "a range is written as 18 <= age < 25"),
        ("18 < age = 25", "a range is written as 18 <= age < 25"),
        ("young < age < 25", "'young' is not a number"),
        ('c = "a\\q"', "Invalid \\escape in \"a\\q\". Write a backslash as two, or take single quotes"),
        ('c = "\\u12"', "Invalid \\uXXXX escape"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_shown_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(f"The condition {text!r} can't be read: {why}")):
        parse_segment(text)


@pytest.mark.parametrize(
    ("text", "rest"),
    [("age ! 5", "' ! 5'"), ("c = 'open", '" \'open"'), ("`open = 5", "'`open = 5'"), ('c = "a\\', "' \"a\\\\'")],
)
def test_what_is_no_word_at_all_is_shown_from_where_it_begins(text: str, rest: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(f"The condition {text!r} can't be read from {rest} on.")):
        parse_segment(text)


@pytest.mark.parametrize("thing", [None, 5, b"age < 25", ["age < 25"], Segment()])
def test_a_condition_that_is_no_text_is_refused(thing: Any) -> None:
    with pytest.raises(ParameterError, match=f"A condition must be a text, got {type(thing).__name__}"):
        parse_segment(thing)


def test_values_left_out_of_the_words_cannot_be_read_back() -> None:
    # Better no rows at all than rows without some of the values.
    with pytest.raises(ParameterError, match="a set is written as"):
        parse_segment(str(OneOf("n", tuple(range(9)))))


TOKENS = ["and", "or", "not", "in", "is", "missing", "x", "`a b`", "``", "'v w'", '"\\n"', '"', "'", "`", "\\"]
SIGNS = ["=", "==", "!=", "<>", "<", "<=", ">", ">=", "≤", "≥", "≠", "!", "{", "}", ",", "(", "]", "{a, b}", " ", "\n"]
NUMBERS = ["5", "-1.5", "1e999", "1_0", "inf", "nan", "٣", "0x1", "+", "-"]


@settings(max_examples=200)
@given(st.one_of(st.text(), st.lists(st.sampled_from(TOKENS + SIGNS + NUMBERS), max_size=9).map(" ".join)))
@example('x = "\x00"')
@example("x = '\\'")
@example('x = "\ud800"')
def test_any_text_is_a_segment_or_a_parameter_error(text: str) -> None:
    segment = None
    with suppress(ParameterError):
        segment = parse_segment(text)
    if segment is not None:
        assert parse_segment(str(segment)) == segment
        with suppress(ColumnError):  # no such column, or of another kind
            assert len(segment.mask({"x": [1, None], "a b": ["v w", None]})) == 2


NAMES = st.one_of(st.text(max_size=4), st.sampled_from(["and", "missing", "a b", "`", "``", "inf", "5", "é", "x y`z"]))
NUMBER = st.one_of(
    st.integers(-5, 5),
    st.integers(-(2**62), 2**62),
    st.floats(allow_nan=False),
    st.sampled_from([1e-5, -1e300, math.inf, -math.inf, 0.1 + 0.2, 2.0**53, 1e22]),
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "numbers": NUMBER,
    "strings": st.one_of(
        st.text(max_size=5), st.sampled_from(["05", "-3", "true", "or", "a,b", '"', "{}", "1e5", " "])
    ),
    "booleans": st.booleans(),
    "dates": st.dates(),
    "datetimes": st.datetimes(),
}


@st.composite
def table_and_conditions(draw: st.DrawFn) -> tuple[dict[str, list[Any]], Segment]:
    """A table of columns of any kind, and a segment of conditions on them."""
    kinds = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=3))
    names = draw(st.lists(NAMES, min_size=len(kinds), max_size=len(kinds), unique=True))
    columns: dict[str, list[Any]] = {}
    conditions: list[Condition] = []
    for name, kind in zip(names, kinds, strict=True):
        known = draw(st.lists(VALUES[kind], min_size=1, max_size=8))
        columns[name] = [*known, None, *draw(st.lists(st.sampled_from([*known, None]), min_size=7, max_size=7))][:9]
        some = st.lists(st.one_of(st.sampled_from(known), VALUES[kind]), min_size=1, max_size=8)
        flags = draw(st.tuples(st.booleans(), st.booleans()))
        form = draw(st.sampled_from(["one of", "missing"] + ["interval"] * 2 * (kind in ("numbers", "booleans"))))
        if form == "one of":
            conditions.append(OneOf(name, tuple(draw(some)), *flags))
        elif form == "missing":
            conditions.append(Missing(name, flags[0]))
        else:
            ends = draw(st.tuples(NUMBER, NUMBER))
            low, high = draw(st.sampled_from([ends, (ends[0], None), (None, ends[1])]))
            conditions.append(Interval(name, low, high, *flags, or_missing=draw(st.booleans())))
    return columns, Segment(tuple(draw(st.permutations(conditions))))


@settings(max_examples=100)
@given(table_and_conditions())
def test_the_words_of_a_segment_mean_its_rows(drawn: tuple[dict[str, list[Any]], Segment]) -> None:
    X, segment = drawn
    assert parse_segment(str(segment)).mask(X).tolist() == segment.mask(X).tolist()


# All written in different ways: what is written in one way is one value.
MIXED = [5, 0.5, "a", "05", "x y", b"z", dt.time(9, 30), dt.timedelta(days=1), dt.date(2024, 1, 5), 2**70, "true"]


@given(st.lists(st.sampled_from(MIXED), min_size=1, max_size=8), st.booleans(), st.booleans())
def test_the_words_of_a_segment_mean_its_rows_in_a_mixed_column(
    values: list[Any], excluded: bool, or_missing: bool
) -> None:
    segment, X = Segment((OneOf("c", tuple(values), excluded, or_missing),)), {"c": [*MIXED, None]}
    expected = [(value in values) ^ excluded for value in MIXED] + [or_missing]
    assert segment.mask(X).tolist() == expected
    assert parse_segment(str(segment)).mask(X).tolist() == expected

"""Conditions: their words, and the rows that meet them in columns of every kind."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped,unused-ignore]
import polars as pl
import pyarrow as pa
import pytest

from trueup.errors import ColumnError, ParameterError
from trueup.segments import Condition, Interval, Missing, OneOf, Segment, parse_segment

DAY, NEXT_DAY = dt.date(2024, 1, 5), dt.date(2024, 1, 6)
NOON, ONE = dt.datetime(2024, 1, 5, 12), dt.datetime(2024, 1, 5, 13, 0, 0, 500)

WORDS = [
    (OneOf("country", ("NO",)), "country = NO"),
    (OneOf("country", ("NO",), excluded=True), "country ≠ NO"),
    (OneOf("country", ("NO", "SE")), "country in {NO, SE}"),
    (OneOf("country", ("NO", "SE"), excluded=True), "country not in {NO, SE}"),
    (OneOf("country", ("NO",), or_missing=True), "country = NO or missing"),
    (OneOf("country", ("NO", "SE"), excluded=True, or_missing=True), "country not in {NO, SE} or missing"),
    (OneOf("n", tuple(range(8))), "n in {0, 1, 2, 3, 4, 5, 6, 7}"),
    (OneOf("n", tuple(range(9))), "n in {0, 1, 2, 3, 4, 5, 6, 7, … 1 more}"),
    (OneOf("n", tuple(range(2_008)), excluded=True), "n not in {0, 1, 2, 3, 4, 5, 6, 7, … 2,000 more}"),
    (Interval("age", high=25), "age ≤ 25"),
    (Interval("age", high=25, includes_high=False), "age < 25"),
    (Interval("age", low=18), "age > 18"),
    (Interval("age", low=18, includes_low=True), "age ≥ 18"),
    (Interval("age", 18, 25), "18 < age ≤ 25"),
    (Interval("age", 18, 25, includes_low=True, includes_high=False), "18 ≤ age < 25"),
    (Interval("age", 18, 25, or_missing=True), "18 < age ≤ 25 or missing"),
    (Missing("age"), "age is missing"),
    (Missing("age", excluded=True), "age is not missing"),
]


@pytest.mark.parametrize(("condition", "words"), WORDS)
def test_every_form_has_its_words(condition: Condition, words: str) -> None:
    assert str(condition) == words
    assert str(Segment((condition,))) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("NO", "NO"),
        ("", '""'),
        ("two words", '"two words"'),
        ("a,b", '"a,b"'),
        ("{x}", '"{x}"'),
        ('say "hi"', '"say \\"hi\\""'),
        ("it's", '"it\'s"'),
        ("back\\slash", '"back\\\\slash"'),
        ("two\nlines", '"two\\nlines"'),
        ("Ærø", "Ærø"),
        ("日本", "日本"),
        ("🙂", '"🙂"'),
        ("05", "05"),
        ("-", "-"),
        ("a/b", "a/b"),
        ("10%", "10%"),
        ("=", '"="'),
        (True, "true"),
        (np.False_, "false"),
        (5, "5"),
        (-3, "-3"),
        (2.0, "2"),
        (0.1, "0.1"),
        (-0.5, "-0.5"),
        (1e-5, "1e-05"),
        (1e16, "1e+16"),
        (1.25e20, "1.25e+20"),
        (123456789012345678, "123456789012345678"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (np.int64(7), "7"),
        (np.float64(2.5), "2.5"),
        (np.float32(0.1), "0.10000000149011612"),  # what a column of such numbers holds
        (DAY, "2024-01-05"),
        (NOON, "2024-01-05T12:00:00"),
        (ONE, "2024-01-05T13:00:00.000500"),
        (np.datetime64("2024-01-05"), "2024-01-05"),
        (pd.Timestamp(NOON), "2024-01-05T12:00:00"),
        (dt.time(9, 30), "09:30:00"),
        (dt.timedelta(days=1), '"1 day, 0:00:00"'),
    ],
)
def test_a_value_is_written_bare_where_that_is_clear_and_in_quotes_elsewhere(value: Any, words: str) -> None:
    assert str(OneOf("c", (value,))) == f"c = {words}"


@pytest.mark.parametrize("number", [np.float64(2.5), np.float32(2.5), 2.5])
def test_a_bound_reads_as_a_number_whatever_its_type(number: Any) -> None:
    assert str(Interval("x", high=number)) == "x ≤ 2.5"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("age", "age"),
        ("_age2", "_age2"),
        ("größe", "größe"),
        ("years of age", "`years of age`"),
        ("2nd", "`2nd`"),
        ("a-b", "`a-b`"),
        ("and", "`and`"),
        ("Missing", "`Missing`"),
        ("it`s", "`it``s`"),
        ("`", "````"),
        ("", "``"),
        (" ", "` `"),
        ("{x}", "`{x}`"),
        ("a\nb", "`a\nb`"),
        ("5", "`5`"),
    ],
)
def test_an_odd_column_name_stands_in_backticks(name: str, words: str) -> None:
    assert str(Missing(name)) == f"{words} is missing"
    assert parse_segment(f"{words} is missing") == Segment((Missing(name),))
    assert parse_segment(f"{words} = 1 and {words} < 2").columns == (name,)


def test_conditions_are_joined_by_and() -> None:
    segment = Segment((OneOf("country", ("NO",)), Interval("age", high=25), Missing("country", excluded=True)))
    assert str(segment) == "country = NO and age ≤ 25 and country is not missing"
    assert segment.columns == ("country", "age")


def test_no_conditions_are_all_rows() -> None:
    assert str(Segment()) == "all rows"
    assert Segment().mask({"age": [1, 2]}).tolist() == [True, True]


def test_a_name_stands_for_the_conditions() -> None:
    segment = Segment((Interval("age", high=25),), name="young")
    assert str(segment) == "young"
    assert segment.mask({"age": [20, 30]}).tolist() == [True, False]


def test_a_group_of_a_name_only_has_no_rows_to_look_up() -> None:
    with pytest.raises(ParameterError, match="The segment 'young' was given as a mask: it has no conditions"):
        Segment(name="young").mask({"age": [1]})


# Each column holds the value of the condition, another one, and nothing.
COLUMNS: dict[str, tuple[Any, Any]] = {
    "list of ints": ([1, 2, None], 1),
    "list of floats": ([0.5, 2.0, None], 0.5),
    "NaN": (np.array([0.5, 2, np.nan]), 0.5),
    "float32": (np.array([0.1, 2, np.nan], dtype=np.float32), np.float32(0.1)),
    "infinity": ([math.inf, 2.0, None], math.inf),
    "minus infinity": ([-math.inf, math.inf, None], -math.inf),
    "large ints": ([2**60 + 1, 2**60, None], 2**60 + 1),
    "ints beyond int64": ([2**70, 2**70 + 1, None], 2**70),
    "decimals": ([Decimal("0.5"), Decimal(2), None], 0.5),
    "pandas Int64": (pd.array([1, 2, None], dtype="Int64"), 1),
    "pandas Float64": (pd.Series([0.5, 2, None], dtype="Float64"), 0.5),
    "pandas numbers as categories": (pd.Categorical([1, 2, None]), 1),
    "polars ints": (pl.Series([1, 2, None]), 1),
    "polars UInt8": (pl.Series([1, 2, None], dtype=pl.UInt8), 1),
    "arrow ints": (pa.array([1, 2, None]), 1),
    "arrow large ints": (pa.array([2**60 + 1, 2**60, None]), 2**60 + 1),
    "arrow decimals": (pa.array([Decimal("0.10"), Decimal("2.00"), None]), 0.1),
    "strings": (["a", "b", None], "a"),
    "numpy objects": (np.array(["a", "b", None], dtype=object), "a"),
    "digits": (["05", "5", None], "05"),
    "pandas strings": (pd.Series(["a", "b", None], dtype="string"), "a"),
    "pandas objects": (pd.Series(["a", "b", None], dtype=object), "a"),
    "pandas categories": (pd.Series(["a", "b", None], dtype="category"), "a"),
    "pandas categories in order": (pd.Categorical(["a", "b", None], ["b", "a", "c"], ordered=True), "a"),
    "polars strings": (pl.Series(["a", "b", None]), "a"),
    "polars categories": (pl.Series(["a", "b", None], dtype=pl.Categorical), "a"),
    "polars enum": (pl.Series(["a", "b", None], dtype=pl.Enum(["b", "a"])), "a"),
    "arrow strings": (pa.array(["a", "b", None]), "a"),
    "arrow large strings": (pa.array(["a", "b", None], pa.large_string()), "a"),
    "arrow chunks": (pa.chunked_array([["a"], [], ["b", None]]), "a"),
    "arrow dictionary": (pa.array(["a", "b", None]).dictionary_encode(), "a"),
    "arrow dictionary with null": (pa.DictionaryArray.from_arrays([1, 2, 0], [None, "a", "b"]), "a"),
    "arrow chunks of dictionaries": (
        pa.chunked_array([pa.array(["a"]).dictionary_encode(), pa.array(["b", None]).dictionary_encode()]),
        "a",
    ),
    "booleans": ([True, False, None], True),
    "pandas boolean": (pd.array([False, True, None], dtype="boolean"), False),
    "polars booleans": (pl.Series([True, False, None]), True),
    "arrow booleans": (pa.array([True, False, None]), True),
    "dates": ([DAY, NEXT_DAY, None], DAY),
    "numpy days": (np.array([DAY, NEXT_DAY, None], dtype="datetime64[D]"), DAY),
    "polars dates": (pl.Series([DAY, NEXT_DAY, None]), DAY),
    "arrow dates": (pa.array([DAY, NEXT_DAY, None]), DAY),
    "arrow dates as categories": (pa.array([DAY, NEXT_DAY, None]).dictionary_encode(), DAY),
    "datetimes": ([ONE, NOON, None], ONE),
    "numpy microseconds": (np.array([ONE, NOON, None], dtype="datetime64[us]"), ONE),
    "pandas datetimes": (pd.Series([ONE, NOON, None], dtype="datetime64[ns]"), ONE),
    "pandas datetimes in a zone": (pd.Series([ONE, NOON, None], dtype="datetime64[ns, UTC]"), ONE),
    "polars datetimes": (pl.Series([ONE, NOON, None]), ONE),
    "arrow timestamps": (pa.array([ONE, NOON, None]), ONE),
    "mixed: a string": (["a", 1, None], "a"),
    "mixed: a number": ([1, "a", None], 1),
    "mixed: a float": ([0.5, "a", None], 0.5),
    "mixed: a boolean": ([True, "a", None], True),
    "mixed: a date": ([DAY, "a", None], DAY),
    "mixed: a datetime": ([NOON, DAY, None], NOON),
    "times of day": ([dt.time(9, 30), dt.time(9), None], dt.time(9, 30)),
    "durations": ([dt.timedelta(days=1), dt.timedelta(hours=1), None], dt.timedelta(days=1)),
    "bytes": ([b"a", b"b", None], b"a"),
    "pandas intervals": (pd.cut(pd.Series([1, 5, None]), [0, 3, 9]), pd.Interval(0, 3)),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_one_of_finds_its_rows_in_columns_of_every_kind(kind: str) -> None:
    values, wanted = COLUMNS[kind]
    for excluded, or_missing, expected in [
        (False, False, [True, False, False]),
        (False, True, [True, False, True]),
        (True, False, [False, True, False]),
        (True, True, [False, True, True]),
    ]:
        segment = Segment((OneOf("c", (wanted,), excluded, or_missing),))
        assert segment.mask({"c": values}).tolist() == expected
        # With the other value too, named twice.
        both = Segment((OneOf("c", (wanted, wanted), excluded, or_missing),))
        assert both.mask({"c": values}).tolist() == expected


@pytest.mark.parametrize("kind", COLUMNS)
def test_missing_is_found_in_columns_of_every_kind(kind: str) -> None:
    X = {"c": COLUMNS[kind][0]}
    assert Segment((Missing("c"),)).mask(X).tolist() == [False, False, True]
    assert Segment((Missing("c", excluded=True),)).mask(X).tolist() == [True, True, False]


@pytest.mark.parametrize("kind", [kind for kind in COLUMNS if kind != "pandas intervals"])
def test_words_mean_the_same_rows_in_columns_of_every_kind(kind: str) -> None:
    values, wanted = COLUMNS[kind]
    for excluded in (False, True):
        segment = Segment((OneOf("c", (wanted,), excluded),))
        again = parse_segment(str(segment)).mask({"c": values})
        assert again.tolist() == segment.mask({"c": values}).tolist()


def test_intervals_of_pandas_are_known_by_their_text() -> None:
    values, wanted = COLUMNS["pandas intervals"]
    assert parse_segment('c = "(0, 3]"').mask({"c": values}).tolist() == [True, False, False]
    assert str(OneOf("c", (wanted,))) == 'c = "(0, 3]"'


@pytest.mark.parametrize(
    "nothing",
    [
        [None, None],
        [None, math.nan],
        np.full(2, np.nan),
        np.array(["NaT", "NaT"], dtype="datetime64[s]"),
        pd.Series([None, None], dtype="string"),
        pd.Categorical([None, None]),
        pd.Categorical([None, None], ["a"]),
        pl.Series([None, None]),
        pl.Series([None, None], dtype=pl.Categorical),
        pa.array([None, None]),
        pa.array([None, None], pa.int8()),
        pa.array([None, None], pa.string()).dictionary_encode(),
    ],
    ids=lambda values: str(getattr(values, "dtype", getattr(values, "type", values))),
)
def test_where_all_is_missing_only_missing_holds(nothing: Any) -> None:
    X = {"c": nothing}
    assert Segment((Missing("c"),)).mask(X).tolist() == [True, True]
    assert Segment((Missing("c", excluded=True),)).mask(X).tolist() == [False, False]


@pytest.mark.parametrize("nothing", [[None, None], np.full(2, np.nan), pa.array([None, None], pa.float32())])
def test_what_is_missing_lies_in_no_interval_and_is_no_value(nothing: Any) -> None:
    X = {"c": nothing}
    for condition in (OneOf("c", (1,)), OneOf("c", (1,), excluded=True), Interval("c", high=5)):
        assert Segment((condition,)).mask(X).tolist() == [False, False]
    for condition in (OneOf("c", (1,), or_missing=True), Interval("c", low=5, or_missing=True)):
        assert Segment((condition,)).mask(X).tolist() == [True, True]


def test_no_rows_give_no_rows() -> None:
    for empty in ([], np.empty(0), pa.array([], pa.string()), pl.Series([], dtype=pl.Categorical)):
        for condition in (OneOf("c", ("a",)), Missing("c")):
            if not (isinstance(empty, np.ndarray) and isinstance(condition, OneOf)):
                assert Segment((condition,)).mask({"c": empty}).tolist() == []


@pytest.mark.parametrize(
    ("interval", "inside"),
    [
        (Interval("x", high=2), [1, 2]),
        (Interval("x", high=2, includes_high=False), [1]),
        (Interval("x", low=2), [3, math.inf]),
        (Interval("x", low=2, includes_low=True), [2, 3, math.inf]),
        (Interval("x", 1, 3), [2, 3]),
        (Interval("x", 1, 3, includes_low=True, includes_high=False), [1, 2]),
        (Interval("x", 2, 2, includes_low=True), [2]),
        (Interval("x", 2, 2), []),
        (Interval("x", 3, 1), []),
        (Interval("x", low=math.inf, includes_low=True), [math.inf]),
        (Interval("x", high=math.inf, includes_high=False), [1, 2, 3]),
        (Interval("x", low=np.int64(2)), [3, math.inf]),
    ],
    ids=str,
)
def test_bounds_are_inside_only_if_they_are_said_to_be(interval: Interval, inside: list[float]) -> None:
    numbers = np.array([1, 2, 3, np.inf, np.nan])
    assert numbers[Segment((interval,)).mask({"x": numbers})].tolist() == inside


def test_numbers_of_any_library_lie_in_intervals() -> None:
    segment = Segment((Interval("x", low=1),))
    for column in (
        [1, 2, None],
        pd.array([1, 2, None], dtype="Int64"),
        pd.Categorical([1, 2, None]),
        pl.Series([1, 2, None]),
        pa.array([1, 2, None], pa.int8()),
        pa.array([1, 2, None]).dictionary_encode(),
        [False, True, None],
    ):
        expected = [False, column[1] is not True, False]
        assert segment.mask({"x": column}).tolist() == expected


@pytest.mark.parametrize(
    ("column", "condition", "message"),
    [
        ([1, 2], OneOf("c", ("a",)), "Column 'c' holds numbers, and a condition compares it with 'a'"),
        ([1, 2], OneOf("c", ("1",)), "Column 'c' holds numbers, and a condition compares it with '1'"),
        ([1, 2], OneOf("c", (True,)), "Column 'c' holds numbers, and a condition compares it with 'True'"),
        ([1, 2], OneOf("c", (1, DAY)), "Column 'c' holds numbers, and a condition compares it with '2024-01-05'"),
        ([1, 2], OneOf("c", (math.nan,)), "Column 'c' holds numbers, and a condition compares it with 'nan'"),
        ([1, 2], OneOf("c", ([1],)), "Column 'c' holds numbers, and a condition compares it with '[1]'"),
        (["a", 1], OneOf("c", ([1],)), "mixed or unusual types, and a condition compares it with '[1]'"),
        (["a"], OneOf("c", (5,)), "Column 'c' holds strings, and a condition compares it with '5'"),
        (["a"], OneOf("c", (None,)), "Column 'c' holds strings, and a condition compares it with 'None'"),
        (["a", 1], OneOf("c", (None,)), "mixed or unusual types, and a condition compares it with 'None'"),
        ([True], OneOf("c", (1,)), "Column 'c' holds booleans, and a condition compares it with '1'"),
        ([DAY], OneOf("c", (NOON,)), "Column 'c' holds dates, and a condition compares it with '2024-01-05 12:00:00'"),
        ([NOON], OneOf("c", (DAY,)), "Column 'c' holds datetimes, and a condition compares it with '2024-01-05'"),
        (["a"], Interval("c", high=5), "Column 'c' holds strings"),
        ([DAY], Interval("c", low=5), "Column 'c' holds dates"),
        (["a", 1], Interval("c", 1, 2), "Column 'c' holds values of mixed or unusual types"),
    ],
)
def test_a_comparison_with_another_kind_names_the_column(column: Any, condition: Condition, message: str) -> None:
    with pytest.raises(ColumnError, match=re.escape(message)):
        Segment((condition,)).mask({"c": column})


def test_a_column_that_is_not_there_is_named() -> None:
    segment = Segment((Interval("agee", high=25), Missing("x y")))
    message = "age ≤ 25 and `x y` is missing: X has no column 'agee', 'x y'. Its columns are 'age', 'income'."
    with pytest.raises(ColumnError, match=re.escape(message.replace("age ≤", "agee ≤"))):
        segment.mask({"age": [1], "income": [2]})


def test_columns_without_names_go_by_their_place() -> None:
    assert parse_segment("x1 > 2").mask(np.array([[9, 2], [0, 3]])).tolist() == [False, True]


@pytest.mark.parametrize("values", ["NO", (), ["NO"], {"NO"}, None])
def test_values_are_a_tuple(values: Any) -> None:
    # The letters of "NO" would be two countries.
    with pytest.raises(ParameterError, match="OneOf needs a tuple of at least one value of 'country', got"):
        OneOf("country", values)


@pytest.mark.parametrize(
    "bounds",
    [
        {},
        {"low": "a"},
        {"high": math.nan},
        {"low": DAY},
        {"high": True},
        {"low": Decimal("2.5")},
        {"low": 1, "high": 10**400},
    ],
)
def test_bounds_are_numbers(bounds: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="An Interval of 'x' needs one or two numbers as bounds, got low="):
        Interval("x", **bounds)


def test_a_segment_as_a_dict_can_be_written_as_json() -> None:
    segment = Segment(
        (
            OneOf("c", (np.int64(1), np.True_, DAY, NOON, math.inf, 0.5, "a"), excluded=True),
            Interval("x", -math.inf, np.float64(2.5)),
            Missing("y"),
        )
    )
    facts = json.loads(json.dumps(segment.to_dict(), allow_nan=False))
    assert facts["words"] == str(segment)
    assert facts["conditions"] == [
        {
            "column": "c",
            "values": [1, True, "2024-01-05", "2024-01-05T12:00:00", "inf", 0.5, "a"],
            "excluded": True,
            "or_missing": False,
        },
        {
            "column": "x",
            "low": "-inf",
            "high": 2.5,
            "includes_low": False,
            "includes_high": True,
            "or_missing": False,
        },
        {"column": "y", "missing": True},
    ]
